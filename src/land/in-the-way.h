/* SPDX-License-Identifier: MIT
 *
 * Looks at what is in the way, of a landing (in-the-way.c) and of commits that are made again one
 * by one (on-the-way.c).
 */
#ifndef GA_LAND_IN_THE_WAY_H
#define GA_LAND_IN_THE_WAY_H

#include "land-internal.h"

/* Is it one of l->changes, or in conflict? A merge that moves a submodule leaves its working tree
 * alone, wherever that is: the user may have merged there first. */
bool way_overwrites(const struct land *l, const char *path);

/* Paths that git was told to take for unchanged, and are not: a merge of git's that comes upon one
 * of them, or stops for whatever reason, puts the whole working tree back to HEAD (2.38 and
 * newer). */
int way_hidden(struct land *l, struct land_found *f, struct ga_error *err);

/* What stands where a file is to come, or where any of l->changes puts one. git merge overwrites
 * ignored files without a word and untracked ones not at all; neither may happen to a file of the
 * user's. */
int way_added(struct land *l, int root, const char *path, struct land_found *f,
	      struct ga_error *err);
int way_untracked(struct land *l, struct land_found *f, struct ga_error *err);
/* Does a file come in place of a submodule? Git takes away all that is in it then, and looks at
 * none of it. Where nothing comes, or a directory, it is left. And has it something in it? */
bool way_replaces(const struct ga_entry *old, const struct ga_entry *new);
int way_submodule(struct land *l, int root, const char *path, struct land_found *f,
		  struct ga_error *err);
/* What one change would come upon, with either of these. */
int way_changed(struct land *l, int root, const struct ga_change *c, struct land_found *f,
		struct ga_error *err);

int way_refuse_untracked(const struct ga_strv *paths, struct ga_error *err);
/* Sorts what it names. */
int way_refuse_blocked(struct land_found *f, struct ga_error *err);
int way_refuse_overwritten(const struct land_found *f, const char *hint, struct ga_error *err);

#endif
