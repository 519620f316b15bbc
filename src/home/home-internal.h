/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "ga/base/error.h"
#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/preset.h"
#include "ga/home/home.h"
#include "ga/sandbox/plan.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

/* Write the file `rel` beneath the directory `home`, making the directories above it (0700). No
 * link is followed; one in place of the file itself is replaced. Does not wait for the disk. */
int home_write(int home, const char *rel, const void *p, size_t n, mode_t mode,
	       struct ga_error *err);

/* home.c: ga_home_open() for the home that sessions share, whatever home_mode. */
int home_open_shared(const struct ga_env *e, int *ret_lock, struct ga_error *err);

/* Remove the mount points of sandboxes from all homes, if `lock`, that of the homes, can be made
 * exclusive. Returns whether that was tried: the lock may be lost then, or exclusive. */
bool home_sweep(const struct ga_env *e, int lock);

/* Synchronise logins between the agents' home and another: the one that changed last replaces an
 * older or missing one. */
int home_share_logins(const struct ga_env *e, const char *other, struct ga_error *err);
