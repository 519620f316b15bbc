/* SPDX-License-Identifier: MIT
 *
 * What git is told to bring, recorded before git begins, as git may leave it to the user and the
 * branch may have moved when they finish. Each working tree has its own record.
 */
#ifndef GA_LAND_LEFT_NOTE_H
#define GA_LAND_LEFT_NOTE_H

#include "land-internal.h"

struct land_left {
	char *worktree;      /* as of land_worktree() */
	bool rebase;
	struct ga_oid tip;
	struct ga_oid last;  /* the last of the commits that are applied again; zero: none */
};
void land_left_release(struct land_left *left);
char *land_left_file(const struct land *l);
/* Without `sync` it is land_note(), called after this, that gets it to the disk. */
int land_left_note(struct land *l, bool sync, struct ga_error *err);
void land_left_forget(struct land *l);
/* 1: there is no record. */
int land_left_read(const struct land *l, struct land_left *ret, struct ga_error *err);
/* Find a landing that still waits to be finished, in any working tree or in any other than this
 * one. 1: there is none. land_left_check_none() fails if there is one. */
int land_left_find(const struct land *l, bool elsewhere, struct land_left *ret,
		   struct ga_error *err);
int land_left_check_none(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

#endif
