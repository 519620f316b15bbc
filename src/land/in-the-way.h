/* SPDX-License-Identifier: MIT
 *
 * Checks for what is in the way of a landing (in-the-way.c), and of commits that are applied one by
 * one (on-the-way.c).
 */
#ifndef GA_LAND_IN_THE_WAY_H
#define GA_LAND_IN_THE_WAY_H

#include "land-internal.h"

/* Does the merge write this path: is it in l->changes, or in conflict? Not if it only moves a
 * submodule: git leaves the submodule's working tree alone, wherever that is; the user may have
 * merged there first. */
bool way_overwrites(const struct land *l, const char *path);

/* Find marked paths that are changed: a git merge that comes upon one of them, or stops for any
 * reason, puts the whole working tree back to HEAD (2.38 and newer). */
int way_hidden(struct land *l, struct land_found *f, struct ga_error *err);

/* Find what stands where a file is to come, or where any of l->changes puts one. git merge
 * overwrites ignored files without a word, and refuses to overwrite other untracked ones; neither
 * may happen to a file of the user's. */
int way_added(struct land *l, int root, const char *path, struct land_found *f,
	      struct ga_error *err);
int way_untracked(struct land *l, struct land_found *f, struct ga_error *err);
/* Does a file replace a submodule? Git removes the submodule's directory then, without looking at
 * what is in it. It leaves the directory if nothing comes, or a directory does. way_submodule()
 * finds one that is not empty. */
bool way_replaces(const struct ga_entry *old, const struct ga_entry *new);
int way_submodule(struct land *l, int root, const char *path, struct land_found *f,
		  struct ga_error *err);
/* Find what is in the way of one change, by way_added() or way_submodule(). */
int way_changed(struct land *l, int root, const struct ga_change *c, struct land_found *f,
		struct ga_error *err);

/* The hint for uncommitted changes in these paths, as what git stashes, and what it would remove,
 * depends on them. Caller frees. */
char *way_put_away(const struct land *l, const struct land_found *f, const struct ga_strv *paths,
		   const char *then);
/* Those of f->changed that are marked. Git shows no change of them, commits none and stashes none,
 * so that the hint has to be another one: WAY_UNMARK, and what to do then. */
void way_marked(const struct land_found *f, struct ga_strv *ret);
#define WAY_NO_MARK "'git update-index --no-assume-unchanged FILE' (or --no-skip-worktree)"
#define WAY_UNMARK "git was told not to look there: " WAY_NO_MARK ", see to it, then "

int way_refuse_untracked(const struct ga_strv *paths, struct ga_error *err);
/* Sorts f->filled and f->blocked. */
int way_refuse_blocked(struct land_found *f, struct ga_error *err);
int way_refuse_overwritten(const struct land_found *f, const char *hint, struct ga_error *err);

#endif
