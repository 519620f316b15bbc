/* SPDX-License-Identifier: MIT
 *
 * The record of a landing: what it was about to do, written and synced before anything of the
 * user's is touched, and all that recovery and undo go by. A working tree has one of the landing
 * that is under way and one of that which was last:
 *
 *     <git dir>/git-agent/landing/{now,last}
 *
 * The first becomes the second when it has succeeded: giving a landing up leaves the last one to be
 * undone. The bytes of files that are applied, before and after, are objects in the session's own
 * object directory.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/land/land.h"
#include "ga/worktree/worktree.h"

enum record_phase {
	RECORD_MOVING,      /* git moves branch, index and files, or we write files */
	RECORD_HANDED_OVER, /* left to the user: a conflict, a refusing hook, --no-commit */
	RECORD_DONE,        /* from here on it is the last one */
	RECORD_UNDOING,
};

/* A file that is written beside what git moves: uncommitted changes. */
struct record_path {
	char *path;
	struct ga_work_stat before, after; /* mode 0: no file */
};

struct record {
	enum record_phase phase;
	char *session;  /* NULL: none was read or begun */
	char *objects;  /* absolute path of the session's object directory */
	enum ga_land_how how;
	bool part;      /* paths were named, or commits are still to be landed */
	char *branch;   /* full name of the branch that HEAD was on; NULL: detached */
	struct ga_oid head;   /* HEAD before; zero: unborn */
	struct ga_oid tip;    /* the session's commit; zero: nothing for git to move */
	struct ga_oid tree;   /* of the result, as it was judged */
	struct ga_oid commit; /* HEAD afterwards; zero: git will make it */
	struct record_path *v;
	size_t n, cap;
	struct ga_repo *store; /* a handle on `objects`, once it was needed */
};
#define RECORD_INIT { .session = NULL }
void record_release(struct record *r);
#define cleanup_record cleanup_(record_release)

/* Read the record of the landing that is under way, else of the last one. Returns 1 if there is
 * none. One that cannot be read is an error that names it. */
int record_read(const struct ga_repo *r, struct record *ret, struct ga_error *err);
/* The same for the working tree with this git directory. */
int record_read_in(const char *gitdir, struct record *ret, struct ga_error *err);
/* Write it, new or after a change; it is on the disk when this returns. With RECORD_DONE it takes
 * the place of the last one. */
int record_save(const struct ga_repo *r, const struct record *rec, struct ga_error *err);
/* Remove it, if it was written. */
int record_remove(const struct ga_repo *r, const struct record *rec, struct ga_error *err);

/* The handle through which objects are read and written. NULL with an error. */
struct ga_repo *record_store(const struct ga_repo *r, struct record *rec, struct ga_error *err);
/* Add a path. */
void record_add(struct record *rec, const char *path, const struct ga_work_stat *before,
		const struct ga_work_stat *after);
/* Put the files from number `first` on in their state after the landing or before it (`back`), each
 * in one step if it is in the other one. Those that are in neither are left alone, and added to
 * `left`. */
int record_apply(const struct ga_repo *r, struct record *rec, size_t first, bool back,
		 struct ga_strv *left, struct ga_error *err);
