/* SPDX-License-Identifier: MIT
 *
 * Devices of the host that the setting `devices` shows inside. A word of it is "kvm", "dri",
 * "nvidia", or a path below /dev: a character device, or a directory with such devices.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/strv.h"

/* Is this such a word, whether or not the device exists? */
bool ga_device_ok(const char *word);

/* Append the paths of the character devices that exist for a word, sorted. No others: what is
 * written to a block device is written beneath the file systems on it. */
void ga_devices_find(const char *word, struct ga_strv *ret);
