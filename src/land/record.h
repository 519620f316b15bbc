/* SPDX-License-Identifier: MIT
 *
 * The record of a landing: what it was about to do, written and synced before anything of the
 * user's is touched, and all that recovery and undo go by. One working tree has one record of
 * the landing that is under way or was last: the directory with the highest number in
 *
 *     <git dir>/git-agent/landing/<number>/{record,N.before,N.after,moving,undoing}
 *
 * The one before it stays until it has succeeded: giving a landing up leaves the last one to be
 * undone. /
 */
#ifndef LAND_RECORD_H
#define LAND_RECORD_H

#include <stdbool.h>

#include "files.h"
#include "ga/error.h"
#include "ga/land.h"
#include "ga/oid.h"

enum record_phase {
	RECORD_MOVING,      /* git moves branch, index and files, or we bring files */
	RECORD_HANDED_OVER, /* left to the user: a conflict, a refusing hook, --no-commit */
	RECORD_DONE,
	RECORD_UNDOING,
};

/* A file that is brought beside what git moves: uncommitted changes, ignored files. */
struct record_path {
	char *path;
	struct land_look before, after; /* mode 0: no file */
	bool kept; /* what it becomes is in N.after; else the caller has it */
};

struct record {
	char *dir;      /* absolute path of its directory; NULL: none was read or made */
	unsigned number;
	enum record_phase phase;
	char *session;
	enum ga_land_how how;
	bool part;      /* paths were named, or commits are still to be landed */
	char *branch;   /* full name of the branch that HEAD was on; NULL: detached */
	struct ga_oid head;   /* HEAD before; zero: unborn */
	struct ga_oid tip;    /* the session's commit; zero: nothing for git to move */
	struct ga_oid tree;   /* of the result, as it was judged */
	struct ga_oid commit; /* HEAD afterwards; zero: git will make it */
	struct record_path *v;
	size_t n, cap;
};
#define RECORD_INIT { .dir = NULL }
void record_release(struct record *r);
#define cleanup_record cleanup_(record_release)

/* Read the record with the highest number. Returns 1 if there is none. One that cannot be read
 * is an error that names it. */
int record_read(const struct ga_repo *r, struct record *ret, struct ga_error *err);
/* The same for the working tree with this git directory. */
int record_read_in(const char *gitdir, struct record *ret, struct ga_error *err);

/* Make the directory of a new record, with the next number, and fill `dir` and `number`.
 * Nothing counts as recorded before record_save(). */
int record_begin(const struct ga_repo *r, struct record *rec, struct ga_error *err);
/* Write it, new or after a change; it is on the disk when this returns. */
int record_save(const struct record *rec, struct ga_error *err);
/* Remove it, if it was begun: the one before counts again. */
int record_remove(struct record *rec, struct ga_error *err);
/* It has succeeded: remove those before it. */
void record_forget_earlier(const struct record *rec);

/* Add a path, with its old and new state, and keep a copy of the old one;
 * `bytes`: of the new one, too (NULL: the caller has it). Before record_save().
 * Without a directory nothing is kept: for a dry run. */
int record_add(struct record *rec, int root, const char *path, const struct land_look *before,
	       const struct land_look *after, const struct ga_buf *bytes, struct ga_error *err);
/* Put the file in its state before (`back`) or after the landing, in one step, if it is in the
 * other one. Returns 0 if it is there now, 1 if it is in neither, and so left alone. */
int record_put(const struct record *rec, int root, size_t i, bool back, struct ga_error *err);

/* Take the lock that every git which works on the landing inherits, so that a recovery knows
 * whether one is still running. A descriptor, or -1. */
int record_lock(const struct record *rec, struct ga_error *err);
/* Fail (GA_EFATAL) while such a git is running; one that was killed with us is given a moment to
 * end. */
int record_check_ended(const struct record *rec, struct ga_error *err);

#endif
