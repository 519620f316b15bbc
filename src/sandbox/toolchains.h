/* SPDX-License-Identifier: MIT
 *
 * The toolchain table, for the files of this folder.
 */
#pragma once

#include <stddef.h>

#include "ga/base/strv.h"

/* Which directories of the table exist below `home`; adds them to `ret`, relative to it. */
void sandbox_toolchains(const char *home, struct ga_strv *ret);

/* The directory of the table that `rel` is inside of, or NULL. */
const char *sandbox_toolchain_above(const char *rel);

/* A row of environments.def. */
struct sandbox_environment {
	const char *marker, *like, *names;
};
/* The next row, from number `*i` on, whose marker is in `dir`, or NULL. Moves `*i` on. */
const struct sandbox_environment *sandbox_environment_at(const char *dir, size_t *i);

/* A file or directory, relative to home, that may hold credentials. A '*' in its path matches any
 * one name; with `if_has` it counts only if it contains these bytes outside XML comments. */
struct sandbox_mask {
	const char *path, *if_has;
};
size_t sandbox_masks(const struct sandbox_mask **ret);
