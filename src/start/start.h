/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow.
 */
#ifndef START_H
#define START_H

#include "ga/refs.h"
#include "ga/snapshot.h"
#include "ga/start.h"

/* Where the session will stand. */
struct start_base {
	struct ga_oid onto, base;
	char *onto_ref;
	bool trusted;        /* no agent content that was not landed */
	size_t carried;
	struct ga_scan scan;
};
void start_base_release(struct start_base *b);

/* Refuse working trees no session can stand in: home and what contains it. */
int start_check_project(const struct ga_start_env *e, struct ga_error *err);
int start_choose_base(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		      struct start_base *ret, struct ga_error *err);

/* Fill extras/ and shared/ of the session: mount points, copies of single ignored
 * files, one upper for each shared directory. Adds to s->shared and s->skipped. */
int start_make_layers(struct ga_start_env *e, struct ga_session *s, const struct start_base *b,
		      struct ga_error *err);

/* The git dir's upper layer, with `visible` for its refs; for a live session with an
 * index of its own. */
int start_make_gitdir(struct ga_start_env *e, const struct ga_session *s,
		      const struct ga_refs *visible, struct ga_error *err);

/* What the sandbox of a session looks like: first what does not depend on the session, then its
 * layers; `base` NULL for a live session. Fresh work directories are made. `preset` may be NULL. */
int start_make_surroundings(struct ga_start_env *e, const char *command, struct ga_spec *ret,
			    struct ga_error *err);
int start_make_trees(struct ga_start_env *e, const struct ga_session *s, const struct ga_base *base,
		     const struct ga_preset *preset, struct ga_spec *ret, struct ga_error *err);

/* Paths inside the session directory; caller frees. */
/* A new, empty directory; it goes with the session. */
char *start_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err);
char *start_dir(const struct ga_session *s, const char *what);

#endif
