/* SPDX-License-Identifier: MIT
 *
 * What capture left in a session's layers, file by file. Hostile input as ever: by descriptor,
 * beneath the layer, no symlink followed, under the limits of the walk.
 */
#ifndef GA_LEFTBEHIND_H
#define GA_LEFTBEHIND_H

#include "ga/error.h"
#include "ga/left.h"
#include "ga/limits.h"
#include "ga/repo.h"
#include "ga/session.h"
#include "ga/strv.h"

/* Every file that the lines of a report stand for, sorted; with `only`, those at and beneath
 * these paths. Ignored directories are gone through; of the other kinds the line is all there is
 * to tell. What was removed in a shared directory is no file. A directory that cannot be
 * listed, or goes beyond a limit, is there itself, as GA_LEFT_UNREADABLE or GA_LEFT_LIMIT. */
int ga_left_behind(struct ga_repo *r, const struct ga_session *s, const struct ga_limits *limits,
		   const struct ga_left_list *lines, const struct ga_strv *only,
		   struct ga_left_files *ret, struct ga_error *err);

/* Open a path of the project in the layer that has it. A descriptor, or -1 with errno. */
int ga_left_open(const struct ga_session *s, const char *path, int flags);

#endif
