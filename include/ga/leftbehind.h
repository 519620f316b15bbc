/* SPDX-License-Identifier: MIT
 *
 * What capture left in a session's layers, file by file. The layers are hostile input: they are
 * read by descriptor, beneath the layer, without following a symlink, and under the limits of the
 * walk.
 */
#ifndef GA_LEFTBEHIND_H
#define GA_LEFTBEHIND_H

#include "ga/error.h"
#include "ga/left.h"
#include "ga/limits.h"
#include "ga/repo.h"
#include "ga/session.h"
#include "ga/strv.h"

/* List every file that the entries `lines` of a report stand for, sorted; with `only`, just those
 * at and beneath these paths. Ignored directories are walked; for the other kinds the entry itself
 * is all there is to tell. What was deleted in a shared directory is no file. A directory that
 * cannot be listed or exceeds a limit is listed itself, as GA_LEFT_UNREADABLE or GA_LEFT_LIMIT. */
int ga_left_behind(struct ga_repo *r, const struct ga_session *s, const struct ga_limits *limits,
		   const struct ga_left_list *lines, const struct ga_strv *only,
		   struct ga_left_files *ret, struct ga_error *err);

/* Open a path of the project in whichever layer has it. Returns a descriptor, or -1 with errno. */
int ga_left_open(const struct ga_session *s, const char *path, int flags);

#endif
