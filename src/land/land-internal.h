/* SPDX-License-Identifier: MIT
 *
 * The steps of a landing as values: request -> proposal -> record. In the order in which they
 * are taken:
 *
 *     propose.c           what would land, made in objects only
 *     judge.c             flags: of the session, and of what would be on the user's branch
 *     preflight.c         would git refuse; do hooks, an editor or a conflict take part
 *     uncommitted.c       what the session did to uncommitted work
 *     record.c            written before anything is touched
 *     move.c              git moves the branch, under a lock
 *     settle.c
 *                         after a failure or a kill: complete it, or roll it back
 *     undo.c land.c       undo; continue and abort of what was left to the user
 */
#pragma once

#include "ga/land/land.h"
#include "record.h"

struct land_lock;

/* What is asked for. All members are set, but `opts` for undo and `report`, `opts` and `ret` for
 * abort. */
struct landing {
	struct ga_repo *repo;
	struct ga_session *s;
	struct ga_report *report;
	const struct ga_land_opts *opts;
	const struct ga_gitconfig *config;
	const struct land_lock *lock;
	struct ga_land_result *ret;
};
/* land.c: fill in lock (none for a dry run) and configuration, and do it. */
int land_locked(const struct landing *asked,
		int (*what)(const struct landing *l, struct ga_error *err), struct ga_error *err);

/* What would land. */
struct proposal {
	enum ga_land_how how;
	struct ga_oid head;  /* HEAD; zero: unborn */
	char *branch;        /* full name of HEAD's branch; NULL: detached */
	struct ga_oid tip;   /* the session's branch; zero: it has none */
	struct ga_oid old;   /* the tree of HEAD; that of no files if it is unborn */
	struct ga_oid tree;  /* the tree of the result */
	struct ga_oid commit; /* the result, if it exists: the tip, or that of a rebase */
	struct ga_oid *steps; /* the commits of a rebase, oldest first */
	size_t n_steps;
	struct ga_changes changes;  /* from `old` to `tree` */
	struct ga_strv conflicts;   /* paths that git would leave to the user, sorted */
	bool moves;          /* git has something to land */
	bool needs_git;      /* a hook, an editor or a conflict takes part: git has to merge */
	bool part;           /* something of the session remains to be landed */
};
#define PROPOSAL_INIT { .branch = NULL }
void proposal_release(struct proposal *p);
#define cleanup_proposal cleanup_(proposal_release)

/* propose.c: GA_ELOSE, in git's words, if it cannot be made. Writes objects only. */
int land_propose(const struct landing *l, struct proposal *ret, struct ga_error *err);
/* The session's branch by its name, as git shows it in conflicts; or the commit, if the name means
 * anything else. The caller frees it. */
char *land_name_tip(const struct landing *l, const struct proposal *p);
/* The session's branch; zero if it has landed, or has no commits, and was deleted. */
int land_read_branch(struct ga_repo *r, const struct ga_session *s, struct ga_oid *ret,
		     struct ga_error *err);
/* Refuse (GA_ELOSE) a branch that was moved to where it lacks the session's last commit, and would
 * pass for all of it. One that the user has rewritten is fine if what is on it counts
 * (`rewritten`); else all of it has to have arrived. */
int land_check_moved(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		     bool rewritten, struct ga_error *err);
/* Is the path, or a directory above it, one of those that were asked for? */
bool land_is_requested(const struct landing *l, const char *path);

/* judge.c: GA_EFLAGS while a flag is undecided, of the session or of what would be on the
 * branch. What was found is stored with the report, so that it can be decided. */
int land_judge(const struct landing *l, const struct proposal *p, struct ga_error *err);
/* The rules on what git, hooks or the user made instead of the proposal: name new flags. */
int land_judge_made(const struct landing *l, const struct record *rec, struct ga_error *err);
/* Store the report: what was found, so that it can be decided, or what is still to be applied. */
int land_save_report(const struct landing *l, struct ga_error *err);

/* preflight.c: fail with GA_ELOSE, naming paths and the remedy, if git would refuse or a setting
 * forbids it. */
int land_check(const struct landing *l, const struct proposal *p, struct ga_error *err);
/* Does a hook, an editor or a conflict take part in the landing, so that git has to merge? */
bool land_needs_git(const struct landing *l, const struct proposal *p);
/* Git goes from one tree to another; `changes` are those in between. */
struct land_step {
	struct ga_oid from, to;
	const struct ga_changes *changes;
	const struct ga_strv *conflicts; /* paths that it would leave in conflict */
	bool merges;      /* git merges ... */
	bool forward;     /* ... or only fast-forwards, and touches nothing when it refuses */
	const char *then; /* what to do after a remedy: "land again" */
};
/* GA_ELOSE, naming paths and the remedy, if git would refuse that, or if an operation is in
 * progress. */
int land_preflight(const struct landing *l, const struct land_step *s, struct ga_error *err);
/* If there are paths, fail with GA_ELOSE: "WHAT: PATHS", and the hint "REMEDY, then THEN". */
int land_refuse(const struct ga_strv *paths, const char *what, const char *remedy,
		const char *then, struct ga_error *err);

/* uncommitted.c: add to the record what each path of the uncommitted part becomes, or fail
 * (GA_ELOSE) if one cannot be applied. */
int land_plan_uncommitted(const struct landing *l, struct record *rec, struct ga_error *err);

/* The message of the commit; `log`: with the list of commits (merge.log). */
int land_message(const struct landing *l, const struct proposal *p, bool log, struct ga_buf *ret,
		 struct ga_error *err);

/* move.c: make the commit, if git need not merge (rec->commit). */
int land_make_commit(const struct landing *l, const struct proposal *p, struct record *rec,
		     struct ga_error *err);
/* Let git update branch, index and files; the record is saved. Fills rec->commit, unless the
 * landing is left to the user: GA_ECONFLICT, or 0 with ret->uncommitted. After any other failure
 * git may have stopped in the middle (land_settle()). */
int land_move(const struct landing *l, const struct proposal *p, struct record *rec,
	      struct ga_error *err);
/* The commit that git made of the landing, looked for from HEAD on: its parents tell. Returns 1
 * if there is none. */
int land_find_made(struct ga_repo *r, const struct record *rec, struct ga_oid *ret,
		   struct ga_error *err);
/* Run git in the user's working tree as the user would. It inherits the lock. */
enum land_io {
	LAND_QUIET,    /* its output is shown if it succeeds, else stored in `why` */
	LAND_SHOW,     /* its output and that of hooks goes to standard error at once */
	LAND_TERMINAL, /* ... and it has the terminal */
};
int land_run(const struct landing *l, const char *const *args, enum land_io io, int *ret_status,
	     struct ga_buf *why, struct ga_error *err);

/* move.c: one landing, undo, continue or abort at a time in a working tree: a file that they, and
 * every git that they start, have locked. It says that one is running: if it still does while it is
 * not locked, that one was killed, and so may have been its git: its locks are removed. */
struct land_lock {
	struct ga_repo *repo;
	int fd;
	bool failed; /* a git may have been killed: set before land_unlock() */
};
#define LAND_LOCK_INIT { .fd = -1 }
int land_lock(struct ga_repo *r, struct land_lock *ret, struct ga_error *err);
void land_unlock(struct land_lock *l);
/* Remove lock files that our killed git left. */
int land_remove_locks(const struct land_lock *l, struct ga_error *err);

/* settle.c: complete or roll back a landing or an undo that was interrupted. A merge that git left
 * to the user stays. Fills `rec` with the record that remains; returns 1 if there is none.
 * `*ret_settled` tells what was done. */
enum land_settled { LAND_SETTLED_NOTHING, LAND_SETTLED_COMPLETED, LAND_SETTLED_ROLLED_BACK };
int land_settle(const struct landing *l, struct record *rec, enum land_settled *ret_settled,
		struct ga_error *err);
/* After a failure of git or our own, with `err` set: complete it or roll it back at once. Returns
 * -1. */
int land_recover(const struct landing *l, struct record *rec, struct ga_error *err);
/* Roll back what git did of the landing, HEAD being where it was, and remove the record. Returns as
 * record_read(), which it ends with. */
int land_roll_back_landing(const struct landing *l, struct record *rec, struct ga_error *err);
/* Remove what git, killed in its last steps, left of the merge or the squash. */
int land_clear_state(const struct landing *l, const struct record *rec, struct ga_error *err);
/* Does this git directory have a merge in progress, or a squash to be committed, of this
 * landing? */
bool land_is_left(const char *gitdir, const struct record *rec);
bool land_is_merging(const char *gitdir, const struct record *rec);

/* Fail if the record is of another session, as `what` ("undo") needs this one's. */
int land_check_session(const struct ga_session *s, const struct record *rec, const char *what,
		       struct ga_error *err);

/* The tree of a commit; that of no files for zero: an unborn branch. */
int land_tree_of(struct ga_repo *r, const struct ga_oid *commit, struct ga_oid *ret,
		 struct ga_error *err);
