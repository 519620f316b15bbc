/* SPDX-License-Identifier: MIT
 *
 * What the files of src/land share. Two words beyond those of ga/land.h: the note of a landing is
 * what it records beside the session before it touches anything, for undoing it (note.c); a marked
 * path is one whose index entry is assume-unchanged or skip-worktree.
 */
#ifndef GA_LAND_INTERNAL_H
#define GA_LAND_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/land.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/report.h"
#include "ga/session.h"
#include "files.h"

/* A path to be brought into the working tree without a commit. */
struct land_carry {
	char *path;
	bool moved, gone;     /* land_carry_is_moved(), land_carry_is_gone() */
	bool refused;         /* not brought */
	struct ga_entry was, made; /* what the agent began with, and what it made of it */
	struct ga_entry had;  /* the file in the working tree, as git would store it */
	struct ga_entry will; /* what it becomes; equal to `had`: nothing to do */
	struct ga_buf seen;   /* its bytes and stat when it was read, if there is a file ... */
	struct stat st;
	struct ga_buf bytes;  /* ... and the bytes to write */
};
struct land_carries {
	struct land_carry *v;
	size_t n, cap;
};

/* The user's files that l->changes could affect, by what they are (in-the-way.c). */
struct land_found {
	struct ga_strv all;      /* all tracked paths with changes, staged or not; sorted */
	struct ga_strv staged;   /* the index differs from HEAD; any path, since git refuses to
				  * merge then */
	struct ga_strv intended; /* intent-to-add (git add -N) */
	struct ga_strv unmerged;
	struct ga_strv changed;  /* changed, not staged, and would be overwritten */
	struct ga_strv hidden;   /* marked and changed, but not one that would be overwritten */
	struct ga_strv marked;   /* all marked paths that are in the working tree, each behind its
				  * letter in `git ls-files -v` */
	struct ga_strv files;    /* untracked files at the very path where a file is to come */
	struct ga_strv blocked;  /* untracked files above or beneath such a path */
	struct ga_strv filled;   /* submodules that files replace, and that are not empty */
};
void land_found_release(struct land_found *f);

struct work;

/* Where a landing can put lines of the session's into a file that has uncommitted lines of the
 * user's; indices of land.beside. */
enum land_beside {
	LAND_COMMITTED,
	LAND_STAGED,
	LAND_EDITED, /* in the working tree */
	LAND_BESIDES,
};

/* One landing. */
struct land {
	struct ga_repo *repo;
	struct ga_session *s;
	struct ga_report *report;
	const struct ga_land_opts *opts;
	struct ga_land_result *ret;
	struct ga_gitconfig config; /* the caller's own, if opts->config is set */
	struct ga_oid head, head_tree;
	struct ga_oid held;       /* what is held back; zero: nothing */
	bool merge;               /* there is something to merge */
	bool rest;                /* more is left to land: paths that were not asked for, later
				   * commits */
	struct ga_oid tip;        /* the commit that is merged */
	bool moved;               /* it lacks the session's own commits, which have landed before */
	struct ga_oid merged;     /* the resulting tree, with conflict markers if there are
				   * conflicts */
	bool rebase;              /* the branch's commits are applied again, by cherry-pick */
	bool listed;              /* `picks` is filled: one id a line */
	struct ga_buf picks;
	bool later;               /* a rebase is being continued: what the user resolved stays */
	bool unplain;             /* what git says of the picks must not go to a terminal as is */
	bool conflicts;
	struct ga_strv conflicted; /* the paths that have them, sorted */
	struct ga_changes changes; /* head_tree -> merged */
	struct ga_oid onto_tree, base_tree, carried_tree; /* for left-out paths:
							   * land_carry_changes() */
	uint64_t compared;         /* bytes compared for land_carry_may_be(), of at most
				    * COMPARED_MAX */
	struct land_carries carries;
	const struct ga_strv *tracked; /* paths that count as tracked, sorted; NULL: those of
					* head_tree */
	struct ga_index_marks marks;
	int git_lock;                  /* held by every git that is to bring something, and by what
					* that runs, as long as they live; 0: none */
	struct timespec looked;        /* before git was asked what is changed */
	bool unstaged;                 /* the tree recorded in the index is HEAD's: nothing is
					* staged */
	struct ga_process_job *staged; /* git, which tells whether anything is; NULL: not asked */
	struct ga_buf staged_why;      /* its messages, which are not used */
	struct work *work;         /* the plan for landing path by path; NULL: git merges */
	/* Results for paths where they are neither the merged version nor the agent's. */
	struct ga_changes beside[LAND_BESIDES];
	struct ga_strv hidden;     /* as in land_found; git would put these back to HEAD where its
				    * merge stops */
	struct ga_strv marked;     /* as in land_found */
	bool hidden_lost;          /* some of `hidden` could not be restored: the note has the only
				    * copy */
	char *notes;               /* the directory of the session's notes; NULL: not known yet
				    * ... */
	unsigned note;             /* ... and the number of this landing's */
	char *ref;                 /* the branch in it, that HEAD was on; "": none; NULL: no note */
	unsigned killed;           /* the note of a killed landing, kept until this one's is
				    * written; 0: none */
	char *instead;             /* a hint, given once what git did is taken back; or NULL */
	bool rest_only;            /* the session has landed: only ignored paths are brought */
	struct {
		struct ga_left_files files;
		struct ga_entry *had, *will; /* of each file: what is here, and what the session
					      * has */
		struct land_look *seen;      /* what is here, when it was checked */
	} ignored;
};

/* The refs of a session as they are now; zero where there is none. A branch that is missing is an
 * error if the session has commits, unless it has landed. */
struct land_refs {
	struct ga_oid branch, held, report;
};
int land_refs_read(struct ga_repo *r, const struct ga_session *s, struct land_refs *ret,
		   struct ga_error *err);

/* Lock the working tree: two landings at once would mix up what git does there. Returns the lock, a
 * descriptor, or -1; also if another process holds it. */
int land_begin(struct ga_repo *r, struct ga_error *err);

/* Refuse a branch that was moved back by hand, to before the session's last commit.
 * land_fail_moved() only fails, with the error for a branch that lacks commits of the session's. */
int land_check_moved_back(struct ga_repo *r, const struct ga_session *s,
			  const struct ga_oid *branch, struct ga_error *err);
int land_fail_moved(const struct ga_session *s, struct ga_error *err);

/* Names for a message: the first few, quoted, then how many more. Caller frees. */
char *land_list(const struct ga_strv *paths);

/* merge.c: compute the merge (fills merge, merged, conflicts, conflicted, changes); check that it
 * can be done as `opts->how` says; do it. */
int land_preview(struct land *l, struct ga_error *err);
int land_check_how(struct land *l, struct ga_error *err);
int land_merge(struct land *l, struct ga_error *err);
/* Can the path be shown on a terminal without quoting? And what git may repeat of a file that is
 * brought there: only that of attributes is more than its path. */
bool land_is_plain(const char *path);
bool land_says_plain(struct land *l, const char *path, const struct ga_entry *e);
/* Fail if the result `tree` is HEAD's: nothing was brought, and the session must not count as
 * landed. */
int land_check_brought(struct land *l, const struct ga_oid *tree, const char *hint,
		       struct ga_error *err);
/* Set ret->commit to HEAD once git has committed, whatever hooks of the user's made of it. */
int land_read_result(struct land *l, struct ga_error *err);
/* made.c: git ended with `status`. If it was interrupted in a hook that runs once it has committed,
 * the landing has come to its end all the same: sets it to 0, and removes git's state of the
 * merge. */
int land_heed_commit(struct land *l, int *status, struct ga_error *err);
/* Go back as land_go_back() does, to where git began. That is l->head, unless somebody
 * committed between our check and git's start. Refused if somebody, or a hook, committed on top of
 * what git made. */
int land_take_made(struct land *l, const char *how, struct ga_error *err);
/* Set ret->commit to HEAD. If git did not begin at l->head, what it made is taken back, and this
 * fails. land_check_on_head() fails if the parent of ret->commit is not l->head, and leaves that
 * commit in place. */
int land_check_made(struct land *l, const char *how, struct ga_error *err);
int land_check_on_head(struct land *l, struct ga_error *err);
/* Is `commit` the commit `of` applied again, on top of `at`? 1 yes. Told by the author's address
 * and date, which git keeps even if the commit was resolved and made by hand. */
int land_is_made_again(struct land *l, const struct ga_oid *commit, const struct ga_oid *of,
		       const struct ga_oid *at, struct ga_error *err);
/* Is any commit after l->head up to `head` not by an author of l->picks, or a merge? 1 yes: the
 * user committed it while a rebase waited for them. */
int land_has_own(struct land *l, const struct ga_oid *head, struct ga_error *err);
/* Add the hint for a HEAD that has moved: `why`, and how to go back to where git began. */
int land_hint_moved(struct land *l, const char *why, struct ga_error *err);
/* Run one git command in the user's working tree, with their hooks and, if opts->edit, their
 * editor. Its messages go to the terminal, or to `why` if they could name paths that need
 * quoting. */
/* `keep_fd` of a git that brings or takes back something: the lock of land_hold(), or -1. */
int land_held_by(const struct land *l);
int land_run_git(struct land *l, const char *const *args, const void *in, size_t n,
		 int *ret_status, struct ga_buf *why, struct ga_error *err);
/* Did a signal end git, as the exit status tells? */
bool land_is_interrupted(int status);
/* The first line of git's messages that is not advice, quoted. Caller frees. */
char *land_first_line(const struct ga_buf *why);

/* message.c: the message of the commit: the one given, or one made from the session. */
int land_message(struct land *l, struct ga_buf *ret, struct ga_error *err);

/* The most bytes that marked files with changes may have together. */
#define LAND_HIDDEN_MAX ((uint64_t)1 << 30)
/* hidden.c: check that l->hidden are no more than that. Copy them into the note and onto the disk,
 * before git begins. Put back those that git wrote as in l->head_tree, or removed: a file that is
 * neither that nor what it was is an error, which names its copy, and sets l->hidden_lost: the note
 * must stay then. Settle: put back, and remove the copies once all are as they were. The last two
 * do nothing if the note has none. */
int land_check_hidden(struct land *l, struct ga_error *err);
int land_keep_hidden(struct land *l, struct ga_error *err);
int land_put_hidden_back(struct land *l, struct ga_error *err);
int land_settle_hidden(struct land *l, struct ga_error *err);
/* marks.c: take the marks of l->marked, except l->hidden, off the index before git begins, after
 * writing a list of all of them beside the session; set them again by that list. Without any,
 * neither does anything. The note has the marks as well: of a landing that is continued, those that
 * are still to be set. Before it is undone, those of paths that the index lacks by now are added to
 * l->marked. */
int land_note_marks(struct land *l, struct ga_error *err);
int land_unmark(struct land *l, struct ga_error *err);
int land_unmark_gone(struct land *l, struct ga_error *err);
/* Before git continues: take off the marks that the index has now, except those of changed files,
 * and keep in the list what is still to be set. */
int land_unmark_left(struct land *l, struct ga_error *err);
/* Fail if another working tree, which still exists, has such a list. */
int land_check_marks_elsewhere(struct land *l, struct ga_error *err);
int land_mark_again(struct land *l, struct ga_error *err);
/* restore.c: after git stopped without a state of its own: put back l->hidden, and whatever else
 * git had done of l->changes, to l->head_tree. The error names what could not be restored. */
int land_restore(struct land *l, struct ga_error *err);
/* `git reset HOW` to l->head, unless that would overwrite untracked files, which hooks, filters or
 * the user may have made since. What was staged since stays staged, unless it is part of l->changes
 * or of the tip. The hint says how to do it by hand. */
int land_go_back(struct land *l, const char *how, struct ga_error *err);
/* Fail since git did not go back to the tree `to`, saying `why`: name the files with uncommitted
 * changes that are in its way. The hint says how they are put away, and what to do then. */
int land_fail_back(struct land *l, const struct ga_oid *to, const struct ga_buf *why,
		   const char *away, const char *then, struct ga_error *err);
/* What else is staged than what git did. Git would drop both; so it is unstaged before git goes
 * back, which leaves it in the files, and staged again after. */
struct land_aside {
	struct ga_changes staged;
	struct ga_strv intended; /* those of them that are intent-to-add */
};
void land_aside_release(struct land_aside *a);
int land_set_aside(struct land *l, struct land_aside *ret, struct ga_error *err);
int land_stage_again(struct land *l, const struct land_aside *a, struct ga_error *err);
/* Is the file or link at `path` what git writes for `e`, or, unless `whole`, the beginning of that?
 * Execute bits do not matter. */
bool land_is_written(struct land *l, int root, const char *path, const struct ga_entry *e,
		     bool whole);
/* The same for an open file and a blob, with what the path's attributes have git do: filters, line
 * ends, encodings. */
bool land_is_rendered(struct land *l, int fd, const char *path, const struct ga_oid *oid,
		      bool whole);

#define LAND_TODO_MAX ((size_t)64 << 20) /* of sequencer/todo, git's list of the commits still to
					  * apply */
/* rebase.c: land_merge() by applying the commits again. */
int land_rebase(struct land *l, struct ga_error *err);
/* Before that: fail if something of the user's is in the way of any of these commits. */
int land_rebase_check_way(struct land *l, struct ga_error *err);
int land_rebase_continue(struct land *l, struct ga_error *err);
/* Is a rebase of the commits of `tip`, up to `last`, waiting here? 1 yes; fills l->head with where
 * it began. */
int land_rebase_left(struct land *l, const struct ga_oid *tip, const struct ga_oid *last,
		     struct ga_error *err);
/* left.c: run the command of git's that gives up what waits and goes back to the tree `to`, unless
 * that would overwrite untracked files. */
int land_abort_by(struct land *l, const char *command, const struct ga_oid *to,
		  struct ga_error *err);
/* Give such a rebase up; refuse to begin one while git has a cherry-pick in progress. */
int land_rebase_abort(struct land *l, struct ga_error *err);
int land_rebase_check_free(struct land *l, struct ga_error *err);

/* left.c: fail because git left the merge to the user, saying why: conflicts, or a refused commit.
 * Fail unless what waits here is this landing (fills tip, head, head_tree, changes, rebase, rest);
 * make its commit; list the paths in conflict. */
int land_fail_left(struct land *l, struct ga_error *err);
/* Why there is no commit although nothing is in conflict. */
const char *land_why_uncommitted(const struct land *l);
int land_check_left(struct land *l, struct ga_error *err);
int land_finish(struct land *l, struct ga_error *err);
int land_unmerged(struct land *l, struct ga_strv *ret, struct ga_error *err);

/* common.c: the id that git prints for `args`, or that a ref has in this working tree. 1: git
 * prints none. */
int land_ask_id(struct land *l, const char *const *args, struct ga_oid *ret, struct ga_error *err);
int land_read_ref(struct land *l, const char *name, struct ga_oid *ret, struct ga_error *err);
/* Where HEAD and the tip parted. 1: they have no merge base, or several. */
int land_merge_base(struct land *l, struct ga_oid *ret, struct ga_error *err);
/* What a merge takes for renamed from `base`, a name of git's for a commit or tree, to HEAD: adds
 * the old path and the new one of each, in turn. */
int land_renames(struct land *l, const char *base, struct ga_strv *ret, struct ga_error *err);
/* Is core.fileMode false, so that permissions are no difference? Asks git. */
bool land_ignores_modes(struct land *l);
/* Fail if git has an operation in progress; the hint says to do `then` after it. */
int land_check_operation(struct land *l, const char *then, struct ga_error *err);
/* Does git wait for the user? Its list of commits may be all that tells of a stopped rebase. */
bool land_is_to_go_on(const struct land *l);
/* The name of this working tree in the repository; "" is the main one. Borrowed from `l`. */
const char *land_worktree(const struct land *l);
/* The git directory of the working tree of that name, and where its files are; NULL: it does not
 * exist any more, by the same signs as for git. Caller frees. */
char *land_worktree_gitdir(const struct land *l, const char *worktree);
char *land_worktree_path(const struct land *l, const char *worktree);
/* The file NAME in the session's directory of which each working tree has its own: the path of this
 * one's (caller frees), and the names of all working trees that have one. */
char *land_own_file(const struct land *l, const char *name);
int land_worktrees_with(const struct land *l, const char *name, struct ga_strv *ret,
			struct ga_error *err);
/* Is HEAD still at l->head? The second fails if not. */
bool land_stays(const struct land *l);
int land_check_stays(const struct land *l, struct ga_error *err);
/* Move HEAD's branch, or a detached HEAD; files and index stay as they are. */
int land_move_head(struct land *l, const char *why, const struct ga_oid *to,
		   const struct ga_oid *from, struct ga_error *err);

/* paths.c: keep only what opts->paths ask for (narrows changes, conflicted, merged; fills rest). */
int land_narrow(struct land *l, struct ga_error *err);
bool land_is_wanted(const struct land *l, const char *path);
bool land_wants_all(const struct land *l);

/* flags.c: GA_EFLAGS while flags block: of what is merged; and, once that is planned, of files
 * where it comes to stand beside uncommitted lines of the user's. */
int land_check_flags(struct land *l, struct ga_error *err);
/* Flags that were found now are refused, and in a dry run nothing was stored that a review could
 * show: hint at that, if so. Returns -1. */
int land_hint_unstored(const struct land *l, struct ga_error *err);
int land_check_beside(struct land *l, struct ga_error *err);
/* Store the report with what was found, so that it can be decided. Open rejected flags again that
 * were found again. */
int land_store_report(struct land *l, struct ga_error *err);
void land_reopen(struct ga_report *r, const struct ga_flags *found);
/* converts.c: would git, adding these bytes, store others because of line ends or $Id$? Could
 * filters or encodings convert any of the changed paths? */
bool land_bytes_convert(const struct ga_buf *b);
bool land_may_convert(struct land *l, int root);
/* in-the-way.c: find what is in the way; unmerged paths, and what is `blocked` or `filled`, are
 * refused at once. Git can be asked earlier whether anything is staged, to run in parallel with
 * other work. */
int land_ask_staged(struct land *l, struct ga_error *err);
void land_ask_staged_abandon(struct land *l);
int land_find_work(struct land *l, struct land_found *ret, struct ga_error *err);
/* Refuse whatever is in the way; fills l->hidden and l->marked. */
int land_check_worktree(struct land *l, struct ga_error *err);
/* A directory stands where a file is to come. Does it contain anything that is not tracked
 * (l->head_tree, or l->tracked), and is not among the paths that go, which are sorted? 1, with a
 * name in `ret`. */
int land_untracked_below(struct land *l, int root, const char *path,
			 const struct ga_strv *going_or_null, struct ga_strv *ret,
			 struct ga_error *err);

/* options.c: will git follow options that the user configured for merges into this branch
 * (branch.NAME.mergeoptions)? */
bool land_has_options(struct land *l);
/* Find what stands where git could put a file of the session's because of these options.
 * land_options_put_away(): 1: they name strategies and something is uncommitted, which git would
 * stash and restore between them, losing its permissions. land_options_check_left(): fail if git
 * left a merge other than the one that was checked; the caller takes it back and gives l->instead
 * as hint. */
int land_options_in_the_way(struct land *l, struct land_found *f, struct ga_error *err);
int land_options_put_away(struct land *l, struct ga_error *err);
int land_options_check_left(struct land *l, struct ga_error *err);
/* What git makes of HEAD with these options, except conflicts; merges again, in a directory of
 * ours. Sorted. */
int land_options_merge(struct land *l, struct ga_changes *ret, struct ga_error *err);

/* on-the-way.c: fail if anything is in the way of these commits, one id a line, as they are applied
 * one by one, even where a later one reverts an earlier one: uncommitted changes to what they
 * touch, and files where `tree`, that of the index, has none. Git itself overwrites ignored files;
 * and where it stops, what stood there could not be told from what it wrote. */
int land_check_on_the_way(struct land *l, const struct ga_oid *tree, const struct ga_buf *commits,
			  struct ga_error *err);
/* Refuse untracked files that stand where going back to the tree `to` puts some: git overwrites
 * ignored ones. */
int land_check_way_back(struct land *l, const struct ga_oid *to, struct ga_error *err);

/* work-plan.c: plan a landing beside uncommitted work, or refuse it (fills l->work); do it
 * (work-apply.c); record why a file could not be brought (carry.c). */
int land_work_plan(struct land *l, const struct land_found *f, struct ga_error *err);
/* Is any left-out path to be landed this way: could it be committed now, or is it a symlink? 1
 * yes. */
int land_work_wanted(struct land *l, struct ga_error *err);
int land_work_apply(struct land *l, struct ga_error *err);
void land_work_release(struct land *l);
void land_carry_refuse(struct land *l, const char *path, const char *why);
#define LAND_CARRY_APART "it is there under another name, which is not brought"
#define LAND_CARRY_PLACE "what comes in its place is not brought"
/* Remove these from s->left_out. Sorts `paths`. */
void land_carry_done(struct land *l, struct ga_strv *paths);

/* Fail with GA_ELOSE: "WHAT: PATHS", and the hint. */
int land_refuse(const struct ga_strv *paths, const char *what, const char *hint,
		struct ga_error *err);

/* ignored.c: check the ignored paths that are to be brought, then copy them. */
int land_ignored_check(struct land *l, struct ga_error *err);
int land_ignored_write(struct land *l, struct ga_error *err);
/* ignored-flags.c: run the rules on these and add what they find to the report: `tree` is the
 * result with them, `only` has nothing else, `changes` brings them. GA_EFLAGS while something high
 * or critical is not accepted. */
int land_ignored_judge(struct land *l, const struct ga_oid *tree, const struct ga_oid *only,
		       const struct ga_changes *changes, struct ga_error *err);

/* recover.c: restore what the last note says, however much of the landing was done: for one that
 * failed on the way. */
int land_take_back(struct land *l, struct ga_error *err);
/* Take back a landing that was killed, if there is one: 1. If the user has gone on since, its note
 * is marked as done. If git was at work on it, the files that hidden.c kept are put back, and if
 * HEAD is where it was and git has no operation in progress, what git had done is taken back as
 * well. With `only_look` such a landing is an error, if anything was kept. It always is one if
 * nobody can tell whether there is such a landing, or if it was on a branch, or in a working tree,
 * where the user is not now. */
int land_recover(struct land *l, bool only_look, struct ga_error *err);
/* Fail if a landing of another session was killed in this working tree and nothing happened since:
 * nothing may land on, or be undone beside, what it left half done. The caller has the lock of
 * land_begin(). */
int land_check_others(const struct land *l, struct ga_error *err);
/* The session's work arrived in another way, and HEAD is about to be recorded as the landing.
 * Undoing that must not use the note of an earlier landing, unless it is of the one that made HEAD:
 * so a note without a record is put above them. They stay, with the copies that they have. */
int land_forget_earlier(struct land *l, struct ga_error *err);

/* Run git in the working tree, on the index file `index` (NULL: the user's). */
int land_ask_git(struct land *l, const char *const *args, const char *index,
		 const struct ga_buf *in, struct ga_buf *out, struct ga_error *err);
/* The same for a list whose items end with a NUL: added to `ret`, which is sorted, each once.
 */
int land_ask_list(struct land *l, const char *const *args, const char *index, struct ga_strv *ret,
		  struct ga_error *err);

/* scratch.c: on `index`, a file of ours: add entries, in lines of land_scratch_line(); add files of
 * the working tree, converted as git does given these entries, and list them as `git ls-files -s
 * -z` does; write out all that is in it, beneath `dir`. The last two return 1, with an error, if
 * git fails, which it does at the first file that it cannot convert. */
void land_scratch_line(struct ga_buf *lines, const struct ga_entry *e, const char *path);
int land_scratch_fill(struct land *l, const char *index, const struct ga_buf *lines,
		      struct ga_error *err);
int land_scratch_read(struct land *l, const char *index, const struct ga_buf *paths,
		      struct ga_buf *ret, struct ga_error *err);
int land_scratch_write(struct land *l, const char *index, const char *dir, struct ga_error *err);

/* index.c: the file of the user's index; the content of an index (NULL: the user's) as one id, that
 * of what `git ls-files -s` prints. */
char *land_index_file(const struct land *l);
int land_index_id(struct land *l, const char *index, struct ga_oid *ret, struct ga_error *err);
/* Parse a line of that, "mode id stage TAB path". Returns the path, or NULL. */
const char *land_index_entry(const char *line, struct ga_entry *ret);
/* Parse a line of `git diff-index --raw --no-abbrev -z` or of diff-tree, ":mode mode id id letter":
 * what the path was, or what it becomes. */
bool land_raw_entry(const char *line, bool old, struct ga_entry *ret);
/* What is staged against HEAD, except conflicts: in the working tree `tree` whose git directory the
 * option `where` names (NULL: the user's). Sorted. */
int land_staged(struct land *l, const char *where, const char *tree, struct ga_changes *ret,
		struct ga_error *err);
/* Parse a line of `git ls-files -s -v`: a letter for the entry's marks, a blank, a line as above.
 * The letter stands for skip-worktree, assume-unchanged, both, or neither. */
const char *land_index_marked(const char *line, struct ga_entry *ret);
bool land_is_skipped(char letter);
bool land_is_assumed(char letter);
/* The tree of an index (NULL: the user's). */
int land_index_tree(struct land *l, const char *index, struct ga_oid *ret, struct ga_error *err);
/* Lock the user's index as git does. The lock is recorded in `note`, so that nobody else's is ever
 * removed. */
int land_lock_index(struct land *l, int note, struct ga_error *err);
/* Fail if the index is locked. Git, unable to write the index, would leave a merge in progress that
 * has merged nothing. */
int land_check_unlocked(struct land *l, struct ga_error *err);
void land_unlock_index(struct land *l, int note);
/* Make `file` the index, which is locked; that unlocks it. */
int land_install_index(struct land *l, int note, const char *file, struct ga_error *err);

/* carry.c: decide about all left-out paths before anything is touched, then write them. */
int land_carry_decide(struct land *l, struct ga_error *err);
int land_carry_write(struct land *l, struct ga_error *err);
void land_carries_release(struct land_carries *c);
/* The agent's changes to the paths that are still left out (fills onto_tree, base_tree,
 * carried_tree). */
int land_carry_changes(struct land *l, struct ga_changes *ret, struct ga_error *err);
/* Is such a path left out only because it contains uncommitted work of the user's that had another
 * name, and had none of its own? 1 yes. */
int land_carry_is_moved(struct land *l, const struct ga_change *c, struct ga_error *err);
/* Does the change remove a file with uncommitted work? That may be under another name then. */
bool land_carry_is_gone(const struct ga_entry *had, const struct ga_entry *made);
/* Can that work, of the removed file `path`, be in `made`, a file that is moved in that sense? No
 * if none of its uncommitted lines is there. `had` is what the agent began with. */
bool land_carry_may_be(struct land *l, const char *path, const struct ga_entry *had,
		       const struct ga_entry *made);

#endif
