/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what a session stands on, and what of it is kept out of its sight.
 */
#ifndef BASE_H
#define BASE_H

#include "ga/repo/snapshot.h"
#include "ga/secret/exposure.h"
#include "ga/start/start.h"

/* What a session will stand on. `onto`, `base`, `onto_ref`, `trusted`: as in ga/session/session.h.
 * */
struct start_base {
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
void start_base_release(struct start_base *b);

/* Refuse a working tree that contains the user's home, or that overlaps with the agents' home or
 * the state directory. */
int start_check_project(const struct ga_start_env *e, struct ga_error *err);
/* Choose what a new session stands on. A `dry` run makes no commit. */
/* Commit the scanned work, which start_choose_base() leaves to do, once there is a session. */
int start_take_snapshot(struct ga_start_env *e, const char *objects, struct start_base *b,
			struct ga_error *err);
int start_choose_base(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		      struct start_base *ret, struct ga_error *err);

/* include.c: remove from `scan` the ignored paths that the session is not to show. */
int start_narrow_ignored(struct ga_start_env *e, const struct ga_start_opts *o,
			 struct ga_scan *scan, struct ga_error *err);

/* secrets.c: fill b->secrets and b->hidden; `carried`: uncommitted work is shown as well. A dry
 * run keeps nothing on the disk. */
int start_find_secrets(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		       bool carried, struct start_base *b, struct ga_error *err);
bool start_is_hidden(const struct start_base *b, const char *path);
size_t start_count_hidden(const struct start_base *b, const struct ga_strv *paths);
/* base.c: fill `b` with the secrets that an existing session would show now, with its branch at
 * `tip`. */
int start_look_again(struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct ga_session *s, const struct ga_oid *tip, struct start_base *b,
		     struct ga_error *err);
/* secrets.c: once b->base is known, fill b->objects and b->stored. */
int start_hide_objects(struct ga_start_env *e, struct start_base *b, struct ga_error *err);
/* Add lines to the banner, about parts too. */
void start_describe_secrets(const struct start_base *b, struct ga_start *st);
/* Make whiteouts in the layer `mask` for what is hidden in the shared directory `dir`. The layer is
 * made if there is any. */
int start_mask_shared(const struct start_base *b, int project, const char *dir, const char *mask,
		      struct ga_error *err);
/* The same for what is hidden elsewhere, in the layer `extras`. A live session, with the working
 * tree beneath, gets what the base has there, or a whiteout; in any session, files that a filter
 * decrypts are replaced by what is committed. */
int start_mask_project(struct ga_start_env *e, const struct ga_session *s,
		       const struct start_base *b, const struct ga_oid *tree, int project,
		       int extras, struct ga_error *err);

/* base.c: the base of a submodule is `commit`, the one that the superproject's base names. What is
 * not committed in it, `*ret_dirty` paths, stays outside. Returns 1 and the reason, for people, if
 * the submodule cannot be a part of the session. */
int start_choose_part_base(struct ga_start_env *e, const struct ga_start_opts *o,
			   const struct ga_oid *commit, struct start_base *ret, size_t *ret_dirty,
			   const char **ret_why, struct ga_error *err);

#endif
