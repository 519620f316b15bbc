/* SPDX-License-Identifier: MIT
 *
 * What the files of src/land share.
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

/* A path to be brought into the working tree without a commit. */
struct land_carry {
	char *path;
	bool moved, gone;     /* it has work of another name; or goes, and may be there then */
	bool away;            /* such a one that is not brought */
	struct ga_entry was, made; /* what the agent began with, and made of it */
	struct ga_entry had;  /* what the working tree has, as git would store it */
	struct ga_entry will; /* what it gets; the same as `had`: nothing to do */
	struct ga_buf seen;   /* the file's bytes as read, if there was one ... */
	struct stat st;
	struct ga_buf bytes;  /* ... and what is written */
};
struct land_carries {
	struct land_carry *v;
	size_t n, cap;
};

/* What of the user's is in the way of l->changes. */
struct land_found {
	struct ga_strv all;      /* tracked paths that are staged or changed at all, sorted */
	struct ga_strv staged;   /* in the index differs from HEAD: wherever, as git has it */
	struct ga_strv intended; /* added in intent only */
	struct ga_strv unmerged;
	struct ga_strv changed;  /* not staged, and would be overwritten */
	struct ga_strv hidden;   /* changed, not in the way, and git was told not to look */
	struct ga_strv marked;   /* each that git was told not to look at, behind the letter that
				  * `git ls-files -v` has for it */
	struct ga_strv files;    /* not tracked, where a file is to come */
	struct ga_strv blocked;  /* not tracked, in the way otherwise */
	struct ga_strv filled;   /* submodules that become files, with something in them */
};
void land_found_release(struct land_found *f);

/* How a file stands in the working tree: its bytes as they are, not as git would store them. */
struct land_look {
	mode_t mode; /* type and permissions; 0: nothing is there */
	struct ga_oid oid;
};

struct work;

/* Where lines of the session's come beside lines of the user's. */
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
	struct ga_gitconfig config; /* of the caller's, if that gave one */
	struct ga_oid head, head_tree;
	struct ga_oid held;       /* zero if nothing is */
	bool merge;               /* there is something to merge */
	bool rest;                /* and something that was not asked for */
	struct ga_oid tip;        /* what is merged */
	bool moved;               /* the session's own commits are not in it, and have landed */
	struct ga_oid merged;     /* the tree that gives, conflict markers and all */
	bool rebase;              /* its commits are made again ... */
	bool listed;              /* ... these, one id a line ... */
	struct ga_buf picks;
	bool later;               /* ... and some of that the user resolved */
	bool unplain;             /* ... and have paths on the way that no terminal gets */
	bool conflicts;
	struct ga_strv conflicted; /* these paths */
	struct ga_changes changes; /* head_tree -> merged */
	struct ga_oid onto_tree, base_tree, carried_tree; /* for left-out paths */
	uint64_t compared;         /* what that took, of COMPARED_MAX */
	struct land_carries carries;
	const struct ga_strv *tracked; /* by git, sorted; NULL: what head_tree has */
	struct ga_index_marks marks;
	struct timespec looked;        /* when git was asked what is changed */
	bool unstaged;                 /* the index says itself that nothing is staged */
	struct ga_process_job *staged; /* git, asked whether anything is; NULL: it was not */
	struct ga_buf staged_why;      /* its messages, which nobody looks at */
	struct work *work;         /* path by path, beside uncommitted work; NULL: git does it */
	/* What it makes of paths, where that is neither as merged nor as the agent had it. */
	struct ga_changes beside[LAND_BESIDES];
	struct ga_strv hidden;     /* what a merge of git's that stops would put back */
	struct ga_strv marked;     /* as of land_found: those, and others */
	bool hidden_lost;          /* and that could not be taken back: the note has it */
	char *notes;               /* what undoing goes by ... */
	unsigned note;             /* ... and which of it is about this landing */
	unsigned killed;           /* this one stays until that is written; 0: none */
	char *instead;             /* what to do, once what git did is taken back; or NULL */
	bool rest_only;            /* it has landed: nothing but ignored paths is brought */
	struct {
		struct ga_left_files files;
		struct ga_entry *had, *will; /* of each, here and in the session */
		struct land_look *seen;      /* and how it stood here */
	} ignored;
};

/* The refs of a session as they are now; zero where there is none. A branch that is
 * gone although the session has it is an error, unless it has landed. */
struct land_refs {
	struct ga_oid branch, held, report;
};
int land_refs_read(struct ga_repo *r, const struct ga_session *s, struct land_refs *ret,
		   struct ga_error *err);

/* One landing at a time in a working tree: git merges of two would mix. Returns a descriptor that
 * is the lock, -1 if somebody else has it. */
int land_begin(struct ga_repo *r, struct ga_error *err);

/* Refuse a branch that was put back, by hand, to before commits of the session's; and say so of one
 * that was put elsewhere. */
int land_check_moved_back(struct ga_repo *r, const struct ga_session *s,
			  const struct ga_oid *branch, struct ga_error *err);
int land_fail_moved(const struct ga_session *s, struct ga_error *err);

/* Names for a message: the first few, quoted, then how many more. Caller frees. */
char *land_list(const struct ga_strv *paths);

/* merge.c: what merging would give (fills merge, merged, conflicts, changes), whether it can be
 * done in the way that was asked for, and doing it. */
int land_preview(struct land *l, struct ga_error *err);
int land_check_how(struct land *l, struct ga_error *err);
int land_merge(struct land *l, struct ga_error *err);
/* May it go to a terminal as it is? */
bool land_is_plain(const char *path);
/* Refuse a result that is what there was before: it would count as landed. */
int land_check_brought(struct land *l, const struct ga_oid *tree, const char *hint,
		       struct ga_error *err);
/* HEAD when it is committed: what hooks of the user's made of it is theirs. */
int land_read_result(struct land *l, struct ga_error *err);
/* made.c: go back to where git began, which is l->head unless somebody committed between our look
 * and git, as land_go_back() does; refused where the user committed on top. */
int land_take_made(struct land *l, const char *how, struct ga_error *err);
/* Fills ret->commit. Where git did not begin at l->head what it made is taken back, and that is an
 * error. The same of the one commit ret->commit, which stays. */
int land_check_made(struct land *l, const char *how, struct ga_error *err);
int land_check_on_head(struct land *l, struct ga_error *err);
/* Is `commit` that one made again, on top of `at`? 1 yes. Git keeps the author and when they wrote
 * it, also where it is resolved and committed by hand. */
int land_is_made_again(struct land *l, const struct ga_oid *commit, const struct ga_oid *of,
		       const struct ga_oid *at, struct ga_error *err);
/* Is anything between l->head and `head` of somebody else than the authors of l->picks? 1 yes: the
 * user committed it while a rebase waited for them. */
int land_has_own(struct land *l, const struct ga_oid *head, struct ga_error *err);
/* The hint where HEAD is elsewhere by now: `why`, and how one goes back to where git began. */
int land_hint_moved(struct land *l, const char *why, struct ga_error *err);
/* What git is told in the user's working tree, and what it is when git did not begin. */
int land_run_git(struct land *l, const char *const *args, const void *in, size_t n,
		 int *ret_status, struct ga_buf *why, struct ga_error *err);
/* What git says is wrong, shown safely. Caller frees. */
char *land_first_line(const struct ga_buf *why);

/* message.c: that of the commit, as it was given or as it is made. */
int land_message(struct land *l, struct ga_buf *ret, struct ga_error *err);

/* Files that git was told not to look at, and that are changed, may have so many bytes together. */
#define LAND_HIDDEN_MAX ((uint64_t)1 << 30)
/* hidden.c: are l->hidden no more than that? Keep them in the note, on the disk before git begins.
 * Put back those that are as l->head_tree has them, or are gone; where one is neither that nor as
 * it was, that is an error which names its copy, and l->hidden_lost: then the note must stay.
 * Settling does that and, when all are as they were, removes the copies. With nothing kept in
 * the note there is nothing to do. */
int land_check_hidden(struct land *l, struct ga_error *err);
int land_keep_hidden(struct land *l, struct ga_error *err);
int land_put_hidden_back(struct land *l, struct ga_error *err);
int land_settle_hidden(struct land *l, struct ga_error *err);
/* marks.c: take the marks of l->marked, but for l->hidden, off the index before git begins, and set
 * all of them again: with nothing to be set there is nothing to do. The note has them as well, of a
 * landing that is gone on with those that are still to be set, and before it is undone those count
 * as marked that the index does not have any more. */
int land_note_marks(struct land *l, struct ga_error *err);
int land_unmark(struct land *l, struct ga_error *err);
int land_unmark_gone(struct land *l, struct ga_error *err);
/* Before git goes on: take off those of the index as well as it is now, but of files that are
 * changed, and keep in the list what is still to be set. */
int land_unmark_left(struct land *l, struct ga_error *err);
/* Refuse a list of another working tree that is still there. */
int land_check_marks_elsewhere(struct land *l, struct ga_error *err);
int land_mark_again(struct land *l, struct ga_error *err);
/* restore.c: put these back, and what else git had done of l->changes, from l->head_tree, when it
 * stopped without a state of its own. What cannot be is named by the error. */
int land_restore(struct land *l, struct ga_error *err);
/* Branch, index and files back to l->head by `git reset`, unless that would overwrite files that
 * git does not track: hooks and filters, or the user, may have made some since. What they staged
 * since, and is none of what l->changes or the tip bring, stays staged. The hint says how it is
 * done by hand. */
int land_go_back(struct land *l, const char *how, struct ga_error *err);
/* Does the file or link stand there as git writes it, or, unless `whole`, as it begins to? Execute
 * bits do not matter. */
bool land_is_written(struct land *l, int root, const char *path, const struct ga_entry *e,
		     bool whole);
/* Is an open file that, with what attributes of the path have git do: filters, line ends,
 * encodings? */
bool land_is_rendered(struct land *l, int fd, const char *path, const struct ga_oid *oid,
		      bool whole);

#define LAND_TODO_MAX ((size_t)64 << 20) /* git's list of commits that are still to be made */
/* rebase.c: the same by making commits again. */
int land_rebase(struct land *l, struct ga_error *err);
/* Before that: is something of the user's in the way of any of them? */
int land_rebase_check_way(struct land *l, struct ga_error *err);
int land_rebase_continue(struct land *l, struct ga_error *err);
/* Is it commits of that tip that are being made again, up to `last`? 1 yes; fills head. */
int land_rebase_left(struct land *l, const struct ga_oid *tip, const struct ga_oid *last,
		     struct ga_error *err);
/* Give that up. And refuse to begin where git is at one already. */
int land_rebase_abort(struct land *l, struct ga_error *err);
int land_rebase_check_free(struct land *l, struct ga_error *err);

/* left.c: git began and left it to the user, which is said: a conflict, or the commit was refused.
 * Is what was left this landing (fills tip, head, head_tree, rebase)? And its commit. */
int land_fail_left(struct land *l, struct ga_error *err);
/* Why there is no commit of what is all resolved. */
const char *land_why_uncommitted(const struct land *l);
int land_check_left(struct land *l, struct ga_error *err);
int land_finish(struct land *l, struct ga_error *err);
int land_unmerged(struct land *l, struct ga_strv *ret, struct ga_error *err);
/* left-note.c: what is brought is noted before git begins, which may leave it: by the time that the
 * user finishes it the branch may be elsewhere. Each working tree has a note of its own. */
struct land_left {
	char *worktree;      /* as of land_worktree() */
	bool rebase;
	struct ga_oid tip;
	struct ga_oid last;  /* of the commits that are made again */
};
void land_left_release(struct land_left *left);
int land_left_note(struct land *l, struct ga_error *err);
void land_left_forget(struct land *l);
/* 1: nothing was noted. */
int land_left_read(const struct land *l, struct land_left *ret, struct ga_error *err);
/* One that is still there to be finished, in any working tree, or in any other than this. 1: there
 * is none. And refuse one. */
int land_left_find(const struct land *l, bool elsewhere, struct land_left *ret,
		   struct ga_error *err);
int land_left_check_none(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* common.c: the one id that git prints for `args`, or for a ref of this working tree. 1: it has
 * none to print. */
int land_ask_id(struct land *l, const char *const *args, struct ga_oid *ret, struct ga_error *err);
int land_read_ref(struct land *l, const char *name, struct ga_oid *ret, struct ga_error *err);
/* Was git told that permissions mean nothing here (core.fileMode)? Asks git. */
bool land_ignores_modes(struct land *l);
/* Refuse an operation of git's in progress; `then` is what to do when it is over. */
int land_check_operation(struct land *l, const char *then, struct ga_error *err);
/* What the repository calls this working tree: "" is the main one. Of `l` while it lives. */
const char *land_worktree(const struct land *l);
/* Of one that is called so, where its git directory and the files are; NULL: it is not there any
 * more, as git would have it. Caller frees. */
char *land_worktree_gitdir(const struct land *l, const char *worktree);
char *land_worktree_path(const struct land *l, const char *worktree);
/* The file of the session that is of this working tree, as each has its own of that name. And which
 * have one. Caller frees. */
char *land_own_file(const struct land *l, const char *name);
int land_worktrees_with(const struct land *l, const char *name, struct ga_strv *ret,
			struct ga_error *err);
/* Is HEAD still where it was when this began? And refuse to go on where it is not. */
bool land_stays(const struct land *l);
int land_check_stays(const struct land *l, struct ga_error *err);
/* Move HEAD's branch, or HEAD where it is on none; files and index stay. */
int land_move_head(struct land *l, const char *why, const struct ga_oid *to,
		   const struct ga_oid *from, struct ga_error *err);

/* paths.c: only what was asked for (narrows changes, conflicted, merged; fills rest). */
int land_narrow(struct land *l, struct ga_error *err);
bool land_is_wanted(const struct land *l, const char *path);

/* flags.c: GA_EFLAGS while some block: of what is merged, and, when that was planned, of what comes
 * of it beside lines of the user's. */
int land_check_flags(struct land *l, struct ga_error *err);
int land_check_beside(struct land *l, struct ga_error *err);
/* Add what was found to the stored report, so that it can be decided about. */
int land_store_report(struct land *l, struct ga_error *err);
void land_reopen(struct ga_report *r, const struct ga_flags *found);
/* converts.c: would git make other bytes of these as it adds them, by attributes that take no
 * command; could attributes have it convert any of the changed paths otherwise? */
bool land_bytes_convert(const struct ga_buf *b);
bool land_may_convert(struct land *l, int root);
/* in-the-way.c: look for what is in the way; unmerged paths and what is `blocked` or `filled` are
 * refused at once. Whether anything is staged can be asked before, so that git finds out beside
 * other work. */
int land_ask_staged(struct land *l, struct ga_error *err);
void land_ask_staged_abandon(struct land *l);
int land_find_work(struct land *l, struct land_found *ret, struct ga_error *err);
/* Refuse anything; fills hidden, marked. */
int land_check_worktree(struct land *l, struct ga_error *err);
/* A directory stands where a file is to come. Is there anything in it that l->head_tree does not
 * have? 1 and a name in `ret`. */
int land_untracked_below(struct land *l, int root, const char *path, struct ga_strv *ret,
			 struct ga_error *err);

/* options.c: are there options of the user's that git is going to go by? */
bool land_has_options(struct land *l);
/* What stands where git could put a file of the session's by options of the user's for
 * merges. 1: they name strategies, and something is uncommitted, which git would take out of the
 * working tree and put back from a stash between them: its permissions would be others. And refuse
 * a merge that git left, other than what was judged: it is to be taken back, and l->instead says
 * what to do. */
int land_options_in_the_way(struct land *l, struct land_found *f, struct ga_error *err);
int land_options_put_away(struct land *l, struct ga_error *err);
int land_options_check_left(struct land *l, struct ga_error *err);
/* What git makes of HEAD by them, without conflicts: it merges once more, elsewhere. Sorted. */
int land_options_merge(struct land *l, struct ga_changes *ret, struct ga_error *err);

/* on-the-way.c: refuse what these commits, one id a line, would come upon as they are made again
 * one by one, also where a later one takes back what an earlier one did: uncommitted changes in
 * what they touch, and what stands where `tree`, that of the index, has nothing. Git itself
 * overwrites ignored files, and where it stops what stood there before may look like what it
 * wrote. */
int land_check_on_the_way(struct land *l, const struct ga_oid *tree, const struct ga_buf *commits,
			  struct ga_error *err);
/* Refuse files that the index does not have, where going back to that tree puts some: git
 * overwrites ignored ones there. */
int land_check_way_back(struct land *l, const struct ga_oid *to, struct ga_error *err);

/* work-plan.c: what landing beside uncommitted work gives, refused where it cannot be (fills
 * l->work); doing it (work-apply.c); and why a file could not be brought (carry.c). */
int land_work_plan(struct land *l, const struct land_found *f, struct ga_error *err);
/* Could a path that is on no branch be committed now? 1 yes. */
int land_work_wanted(struct land *l, struct ga_error *err);
int land_work_apply(struct land *l, struct ga_error *err);
void land_work_release(struct land *l);
void land_carry_refuse(struct land *l, const char *path, const char *why);
#define LAND_CARRY_APART "it is there under another name, which is not brought"
/* They are left out no more. Sorts them. */
void land_carry_done(struct land *l, struct ga_strv *paths);

/* What 'exit 2' says. */
int land_refuse(const struct ga_strv *paths, const char *what, const char *hint,
		struct ga_error *err);

/* ignored.c: the same for ignored paths. */
int land_ignored_check(struct land *l, struct ga_error *err);
int land_ignored_write(struct land *l, struct ga_error *err);
/* ignored-flags.c: run the rules on them and add what they say to the report: `tree` is what would
 * be there with them, `only` has nothing else, `changes` brings them. GA_EFLAGS while something
 * severe was not accepted. */
int land_ignored_judge(struct land *l, const struct ga_oid *tree, const struct ga_oid *only,
		       const struct ga_changes *changes, struct ga_error *err);

/* files.c: something to read that stands at a path: a file, or the target of a link. */
struct land_here {
	mode_t mode; /* type and permissions; 0: nothing is there */
	int fd;      /* of a file */
	uint64_t size;
	char target[PATH_MAX];
};
/* Returns 1 for anything else, and for what cannot be read. */
int land_open_here(int root, const char *path, struct land_here *ret);
void land_here_release(struct land_here *h);
int land_open_root(const struct ga_repo *r, struct ga_error *err);

bool land_dir_here(int root, const char *path);
/* Can files be made, and taken away, in that directory, or where it would have to be made? */
bool land_may_write(int root, const char *dir);

/* False for what cannot be looked at. A directory is no file: nothing. */
bool land_look_here(int root, const char *path, struct land_look *ret);
/* Permissions but for the owner's right to execute are no difference: an umask may do that. */
bool land_look_equal(const struct land_look *a, const struct land_look *b);
/* Whatever they are, as where git was told not to go by them (land_ignores_modes()). */
bool land_look_same(const struct land_look *a, const struct land_look *b);

/* Permissions of a file that replaces another: who may read that one may read it, and execute it
 * if it is executable. */
mode_t land_perms(const struct stat *st, bool exec);
/* Open the directory of `path` beneath `root`, making what is missing. -1 with errno. */
int land_open_parent(int root, const char *path);
/* A copy of the file or link `name` in `from`, made as `part` beside where it goes. It gets the
 * permissions of `mode` unless there are none; of a link the file may hold the target. */
struct land_copy {
	int from;
	const char *name;
	mode_t mode;
	const char *part;
};
/* Put it at `path`: what stands there goes when the copy is whole, a directory with nothing but
 * directories in it too. Where that is not `over` any more, unless NULL, nothing is touched:
 * GA_ELOSE. What somebody writes in the moment between that look and the rename goes. */
int land_put(const struct land_copy *c, int root, const char *path, const struct land_look *over,
	     struct ga_error *err);
/* Away with such a part that was left when writing `path` was cut short. */
void land_sweep(int root, const char *path, const char *part);
/* Away with what is there, as before if it is `over`, and with directories that are empty then.
 * Nothing there is fine. */
int land_remove(int root, const char *path, const struct land_look *over, struct ga_error *err);

#define LAND_NOTES "undo" /* in the directory of the session */
#define LAND_NOTE_MAX ((size_t)64 << 20) /* any file of one */
#define LAND_NOTE_MAGIC "git-agent landing 3"
/* Beside the record: what a landing beside uncommitted work noted, and the inode of the lock of the
 * index that it took; of any, that it came to its end, by itself (empty) or because the user went
 * on without it. */
#define LAND_NOTE_WORK "work"
#define LAND_NOTE_HIDDEN "hidden" /* hidden.c */
#define LAND_NOTE_LOCK "lock"
#define LAND_NOTE_DONE "done"
/* The name of what is only a part of a file yet, in any directory. */
#define LAND_NOTE_PART "part"
/* Files of the record that were not written, since somebody had changed them: paths that end in
 * NUL. */
#define LAND_NOTE_LEFT "left"
/* And of a merge that the user resolved, the tree that is committed; of any that git made, HEAD
 * then. */
#define LAND_NOTE_RESOLVED "resolved"
#define LAND_NOTE_MADE "made"
/* Or that HEAD, where commits of the user's own came in between: they are not to be undone. */
#define LAND_NOTE_OWN "own"
/* The directory of this landing's note: a descriptor. */
int land_note_open(const struct land *l, struct ga_error *err);
/* The name for parts of files, which is noted before it is used, so that what a crash leaves can be
 * told from the user's files. Caller frees; NULL on failure. To read it only: NULL where there is
 * none. */
char *land_note_part(int note, struct ga_error *err);
char *land_note_read_part(int note);
/* Make the directory of the next note (fills notes, note). */
int land_note_dir(struct land *l, struct ga_error *err);
/* Entries of the index that will be on nothing else go on a ref. */
int land_keep_staged(struct land *l, struct ga_error *err);
/* Note what is there, before anything is touched (fills notes, note). Where nothing was touched in
 * the end the note before it is the note again. */
int land_note(struct land *l, struct ga_error *err);
void land_note_forget(struct land *l);
/* This one was left as it is, so undoing leaves it, too. */
int land_note_left(struct land *l, const char *path, struct ga_error *err);
/* Before it is committed, and before the session says that it landed: should that not come about,
 * nothing else tells what was made from what the user committed since. */
int land_note_resolved(struct land *l, const struct ga_oid *tree, struct ga_error *err);
int land_note_made(struct land *l, struct ga_error *err);
int land_note_own(struct land *l, struct ga_error *err);
/* It came to its end, if one was noted: the note stays below those of the next ones, whatever comes
 * of them. */
int land_note_done(struct land *l, struct ga_error *err);
/* The directory notes are in; the last one's number, 0 if there is none; and away with one. */
char *land_notes(const struct ga_session *s);
int land_note_last(const char *notes, unsigned *ret, struct ga_error *err);
int land_note_remove(struct land *l, unsigned n, struct ga_error *err);
/* The ref of land_keep_staged(). Caller frees. */
char *land_note_ref(const struct land *l, unsigned n);

/* recover.c: put what the last note says back, whatever of it was done: for a landing that failed
 * on the way. */
int land_take_back(struct land *l, struct ga_error *err);
/* Take back one that was killed, if there is one: 1. Of one that went on by itself since, the note
 * is settled. Of one that was killed while git was at work what hidden.c kept is put back, and it
 * is 2 if HEAD is where it was and git left nothing to be gone on with. With `only_look` that
 * there is one is an error, and so is always that nobody can tell whether there is. */
int land_recover(struct land *l, bool only_look, struct ga_error *err);
/* Refuse one of another session that was killed in this working tree, where nothing else happened
 * since: what it has half done is nothing to land on, nor to undo beside. For who has the lock of
 * land_begin(). */
int land_check_others(const struct land *l, struct ga_error *err);
/* What is there arrived otherwise, and HEAD is about to be noted as what brought it: no note of an
 * earlier landing is what undoing that could go by, unless it is of one that brought just this.
 * They stay, with the copies they have, below a note of nothing. */
int land_forget_earlier(struct land *l, struct ga_error *err);

/* Run git in the working tree, on the index `index` (NULL: the user's). */
int land_ask_git(struct land *l, const char *const *args, const char *index,
		 const struct ga_buf *in, struct ga_buf *out, struct ga_error *err);

/* scratch.c: on `index`, which is a file of ours: put entries in it, lines as of
 * land_scratch_line(); what git stores of files of the working tree as it adds them to that, by
 * which it decides about line ends, as `git ls-files -s -z` says it; and what it writes of all that
 * is in it, beneath `dir`. 1, and an error: git says no to one of them, and stopped. */
void land_scratch_line(struct ga_buf *lines, const struct ga_entry *e, const char *path);
int land_scratch_fill(struct land *l, const char *index, const struct ga_buf *lines,
		      struct ga_error *err);
int land_scratch_read(struct land *l, const char *index, const struct ga_buf *paths,
		      struct ga_buf *ret, struct ga_error *err);
int land_scratch_write(struct land *l, const char *index, const char *dir, struct ga_error *err);

/* index.c: where the user's index is, and what `git ls-files` says of one (NULL: the user's), as
 * one id. */
char *land_index_file(const struct land *l);
int land_index_id(struct land *l, const char *index, struct ga_oid *ret, struct ga_error *err);
/* A line of it: "mode id stage TAB path". The path, NULL for no such line. */
const char *land_index_entry(const char *line, struct ga_entry *ret);
/* A line of `git diff-index --raw --no-abbrev -z` or of diff-tree, ":mode mode id id letter": what
 * the path was, or becomes. */
bool land_raw_entry(const char *line, bool old, struct ga_entry *ret);
/* What is staged, from HEAD on, but for what has conflicts: in that working tree, of the git
 * directory that the option `where` names (NULL: the user's). Sorted. */
int land_staged(struct land *l, const char *where, const char *tree, struct ga_changes *ret,
		struct ga_error *err);
/* A line of `git ls-files -s -v`: a letter for what the entry is marked with, a blank, that line.
 * And what the letter says: skip-worktree, assume-unchanged; it can be both. */
const char *land_index_marked(const char *line, struct ga_entry *ret);
bool land_is_skipped(char letter);
bool land_is_assumed(char letter);
/* The tree that is committed of it. */
int land_index_tree(struct land *l, const char *index, struct ga_oid *ret, struct ga_error *err);
/* Lock it as git does, noted in `note`, so that nobody else's lock is ever removed. */
int land_lock_index(struct land *l, int note, struct ga_error *err);
/* Before git merges, which would leave a merge of nothing where it cannot write the index. */
int land_check_unlocked(struct land *l, struct ga_error *err);
void land_unlock_index(struct land *l, int note);
/* The file becomes the index, which is locked, and is not any more. */
int land_install_index(struct land *l, int note, const char *file, struct ga_error *err);

/* carry.c: decide about all left-out paths before anything is touched, then write. */
int land_carry_decide(struct land *l, struct ga_error *err);
int land_carry_write(struct land *l, struct ga_error *err);
void land_carries_release(struct land_carries *c);
/* The agent's changes to left-out paths that are still to be brought. */
int land_carry_changes(struct land *l, struct ga_changes *ret, struct ga_error *err);
/* Of one of these: is it left out for what it has of the user's work under another name, and was
 * none itself? 1 yes. */
int land_carry_is_moved(struct land *l, const struct ga_change *c, struct ga_error *err);
/* Or does it take away a file with uncommitted work, which may be there under another name? */
bool land_carry_is_gone(const struct ga_entry *had, const struct ga_entry *made);
/* Can it be there as that, which was left out for what it has of another name? Not where no line of
 * its uncommitted work is in it. `had` is what the agent began with. */
bool land_carry_may_be(struct land *l, const char *path, const struct ga_entry *had,
		       const struct ga_entry *made);

#endif
