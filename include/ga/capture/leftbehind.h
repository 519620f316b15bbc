/* SPDX-License-Identifier: MIT
 *
 * What capture left in a session's layers, file by file. The layers are hostile input: they are
 * read by descriptor, beneath the layer, without following a symlink, and under the limits of the
 * walk.
 */
#ifndef GA_LEFTBEHIND_H
#define GA_LEFTBEHIND_H

#include "ga/base/error.h"
#include "ga/base/left.h"
#include "ga/config/limits.h"
#include "ga/session/session.h"

/* List every file that the entries `lines` of a report stand for, sorted. Ignored directories are
 * walked; for the other kinds the entry itself is all there is to tell. What was deleted in a
 * shared directory is no file. A directory that cannot be listed or exceeds a limit is listed
 * itself, as GA_LEFT_UNREADABLE or GA_LEFT_LIMIT. */
int ga_left_behind(struct ga_repo *r, const struct ga_session *s, const struct ga_limits *limits,
		   const struct ga_left_list *lines, struct ga_left_files *ret,
		   struct ga_error *err);

#endif
