/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what a session stands on, and what of it is kept out of its sight.
 */
#ifndef BASE_H
#define BASE_H

#include "ga/exposure.h"
#include "ga/snapshot.h"
#include "ga/start.h"

/* Where the session will stand. */
struct start_base {
	struct ga_oid onto, base;
	char *onto_ref;
	bool trusted;        /* no agent content that was not landed */
	size_t carried;
	size_t max_shared;   /* ignored directories that can be */
	struct ga_scan scan;
	struct ga_exposure secrets;
	struct ga_strv hidden;  /* paths that are kept out, sorted ... */
	struct ga_strv clear;   /* ... and those of them that git's filters open at checkout */
	struct ga_strv objects; /* loose objects of what is in them, hidden as well ... */
	struct ga_strv stored;  /* ... and paths of what git has stored where it cannot be */
};
void start_base_release(struct start_base *b);

/* Refuse working trees no session can stand in: home and what contains it. */
int start_check_project(const struct ga_start_env *e, struct ga_error *err);
int start_choose_base(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		      struct start_base *ret, struct ga_error *err);

/* include.c: leave no more of what is ignored in `scan` than the session is to show. */
int start_narrow_ignored(struct ga_start_env *e, const struct ga_start_opts *o,
			 struct ga_scan *scan, struct ga_error *err);

/* secrets.c: fill b->secrets and b->hidden; `carried`: uncommitted work is shown as well. A dry
 * run keeps nothing on the disk. */
int start_find_secrets(struct ga_start_env *e, const struct ga_start_opts *o, bool dry,
		       bool carried, struct start_base *b, struct ga_error *err);
bool start_is_hidden(const struct start_base *b, const char *path);
size_t start_count_hidden(const struct start_base *b, const struct ga_strv *paths);
/* What a session that is there would show of secrets now, with its branch at `tip`. */
int start_look_again(struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct ga_session *s, const struct ga_oid *tip, struct start_base *b,
		     struct ga_error *err);
/* Once the base is there: fill b->objects and b->stored. */
int start_hide_objects(struct ga_start_env *e, struct start_base *b, struct ga_error *err);
/* Lines for the banner, parts included. */
void start_describe_secrets(const struct start_base *b, struct ga_start *st);
/* Lay whiteouts over what is hidden in the shared directory `dir`, into `mask`, made if it needs
 * to be. */
int start_mask_shared(const struct start_base *b, int project, const char *dir, const char *mask,
		      struct ga_error *err);
/* And over the rest, into `extras`: for a session with the working tree beneath whiteouts, or
 * what the base has; for all what is committed of files that a filter opens. */
int start_mask_project(struct ga_start_env *e, const struct ga_session *s,
		       const struct start_base *b, const struct ga_oid *tree, int project,
		       int extras, struct ga_error *err);

/* The base of a submodule is the commit that the superproject's base has for it. What is not
 * committed in it stays outside: `*ret_dirty` paths. Returns 1 and why for people if the submodule
 * cannot be a part of the session. */
int start_choose_part_base(struct ga_start_env *e, const struct ga_start_opts *o,
			   const struct ga_oid *commit, struct start_base *ret, size_t *ret_dirty,
			   const char **ret_why, struct ga_error *err);

#endif
