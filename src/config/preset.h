/* SPDX-License-Identifier: MIT
 *
 * User-defined agents among the presets.
 */
#ifndef CONFIG_PRESET_H
#define CONFIG_PRESET_H

#include "ga/config/preset.h"

/* By name, or NULL; by number below own->n. */
const struct ga_preset *preset_find_own(const struct ga_presets *own, const char *name);
const struct ga_preset *preset_own_at(const struct ga_presets *own, size_t i);

#endif
