/* SPDX-License-Identifier: MIT
 *
 * What a session is based on, and what of it is kept out of its sight.
 */
#ifndef GA_BASE_H
#define GA_BASE_H

#include "ga/repo/snapshot.h"
#include "ga/secret/exposure.h"
#include "ga/session/session.h"
#include "ga/view/env.h"

/* What of the project the user wants shown. */
struct ga_view_opts {
	const char *base_rev;
	bool live;
	enum ga_dirty dirty;
	bool hide_ignored; /* show no ignored file, instead of all of them or those that
			    * .worktreeinclude lists */
	const struct ga_strv *expose; /* absolute paths of secrets to show nevertheless */
};

/* What a session is based on. `onto`, `base`, `onto_ref`, `trusted`: as in ga/session/session.h. */
struct ga_view_base {
	struct ga_oid onto, base;
	char *onto_ref;
	bool trusted;
	size_t carried;         /* uncommitted paths in `base` */
	size_t max_shared;      /* how many ignored directories can be shared */
	struct ga_scan scan;
	struct ga_exposure secrets;
	struct ga_strv hidden;  /* paths of secrets that are kept out, sorted ... */
	struct ga_strv clear;   /* ... and those of them that git's filters decrypt at checkout */
	struct ga_strv objects; /* loose objects with the content of these, hidden as well ... */
	struct ga_strv stored;  /* ... and paths whose content git has where it cannot be hidden */
};
void ga_view_base_release(struct ga_view_base *b);

/* Refuse a working tree that contains the user's home, or that overlaps with the agents' home or
 * the state directory. */
int ga_view_check_project(const struct ga_env *e, struct ga_error *err);
/* Commit the scanned work, which ga_view_choose_base() leaves to do, once there is a session. */
int ga_view_take_snapshot(struct ga_env *e, const char *objects, struct ga_view_base *b,
			  struct ga_error *err);
/* Choose what a new session is based on. A `dry` run makes no commit. */
int ga_view_choose_base(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			struct ga_view_base *ret, struct ga_error *err);

/* Fill b->secrets and b->hidden; `carried`: uncommitted work is shown as well. A dry run keeps
 * nothing on the disk. */
int ga_view_find_secrets(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			 bool carried, struct ga_view_base *b, struct ga_error *err);
/* Fill `b` with the secrets that an existing session would show now, with its branch at `tip`. */
int ga_view_look_again(struct ga_env *e, const struct ga_view_opts *o, const struct ga_session *s,
		       const struct ga_oid *tip, struct ga_view_base *b, struct ga_error *err);
/* The base of a submodule is `commit`, the one that the superproject's base names. What is not
 * committed in it, `*ret_dirty` paths, stays outside. Returns 1 and the reason, for users, if the
 * submodule cannot be a part of the session. */
int ga_view_choose_part_base(struct ga_env *e, const struct ga_view_opts *o,
			     const struct ga_oid *commit, struct ga_view_base *ret,
			     size_t *ret_dirty, const char **ret_why, struct ga_error *err);

/* What a session that is not to run here would be based on: HEAD or o->base_rev, and a snapshot of
 * uncommitted work on top, in the object directory `objects` (the handle of `e` uses that from then
 * on); the same commit if there is none. Adds to `notes` what stays here, for users. */
int ga_view_choose(struct ga_env *e, const struct ga_view_opts *o, const char *objects,
		   struct ga_oid *ret_onto, struct ga_oid *ret_base, struct ga_strv *notes,
		   struct ga_error *err);

#endif
