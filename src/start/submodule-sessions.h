/* SPDX-License-Identifier: MIT
 *
 * Submodules, which are parts of a session.
 */
#ifndef SUBMODULE_SESSIONS_H
#define SUBMODULE_SESSIONS_H

#include "ga/start/start.h"

struct ga_part {
	char *path;               /* relative to the superproject */
	struct ga_env env;  /* the superproject's, but for repository, configuration, state
				   * directory and bwrap, which are its own */
	struct ga_view_base base;
	struct ga_start start;
};
/* submodule-sessions.c: open the repositories of the submodules of `b`, and choose their bases,
 * recursively. Adds to `taken` the names that no session may have because of them, and to
 * b->scan.skipped what is left out and why. */
int start_open_parts(struct ga_env *e, const struct ga_start_opts *o, struct ga_view_base *b,
		     struct ga_start *st, struct ga_strv *taken, struct ga_error *err);
/* session.c */
void start_part_release(struct ga_part *p);
/* submodule-lookup.c: the environment of the submodule's repository at `path` of `project` and,
 * unless `id` is NULL, has that id; without git's configuration. To be released on failure too. */
int start_part_env(const struct ga_env *e, const char *project, const char *path,
		   const char *id, struct ga_env *ret, struct ga_error *err);
void start_part_env_release(struct ga_env *e);
/* submodule-sessions.c: save the parts with the session's state and result. */
int start_save_parts(struct ga_start *st, struct ga_error *err);
/* Add the paths of theirs that have to get to the disk later. */
void start_part_paths(const struct ga_start *st, struct ga_strv *ret);
void start_unlock_parts(struct ga_start *st);

#endif
