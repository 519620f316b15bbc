/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: submodules, which are parts of a session.
 */
#ifndef PARTS_H
#define PARTS_H

#include "ga/capture.h"
#include "ga/start.h"
#include "base.h"

struct ga_part {
	char *path;               /* relative to the superproject */
	struct ga_start_env env;  /* the superproject's, but for repository, configuration, state
				   * directory and bwrap, which are its own */
	struct start_base base;
	struct ga_start start;
};
/* Parts of what stands on `b`: their repositories opened and their bases chosen, recursively. The
 * names no session may have because of them are added to `taken`, what is left out and why to
 * `b->scan.skipped`. */
int start_open_parts(struct ga_start_env *e, const struct ga_start_opts *o,
		     struct start_base *b, struct ga_start *st, struct ga_strv *taken,
		     struct ga_error *err);
void start_parts_release(struct ga_start *st);
/* The environment of a submodule's repository: the one that is checked out at `path` of `project`,
 * and, unless `id` is NULL, has that id; without its configuration. To be released on failure,
 * too. */
int start_part_env(const struct ga_start_env *e, const char *project, const char *path,
		   const char *id, struct ga_start_env *ret, struct ga_error *err);
void start_part_env_release(struct ga_start_env *e);
/* Once a session has its name: its parts get theirs, and go into its spec. */
int start_make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err);
/* Parts are in the same state, and ended with the same result. */
int start_save_parts(struct ga_start *st, struct ga_error *err);
/* What of them is to get to the disk later. */
void start_part_paths(const struct ga_start *st, struct ga_strv *ret);
void start_unlock_parts(struct ga_start *st);
/* Remove the parts of a session that never ran. */
int start_discard_parts(const struct ga_start_env *e, const struct ga_session *s,
			struct ga_error *err);
/* Capture the parts; what became of them goes to `ret`. */
int start_capture_parts(const struct ga_start_env *e, const struct ga_session *s,
			struct ga_sandbox **ended, struct ga_links *ret, struct ga_error *err);

#endif
