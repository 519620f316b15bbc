/* SPDX-License-Identifier: MIT
 *
 * A landing's note as it is read again: what was there before, and what became of it. note.c writes
 * it, note-read.c reads it, undo.c and recover.c act on it.
 */
#ifndef GA_LAND_UNDO_H
#define GA_LAND_UNDO_H

#include "land-internal.h"

#define UNDO_BEGUN "begun" /* a file beside the record: `begun` of struct undo */

struct undo_file {
	char *path;
	mode_t had;       /* type and permissions before the landing; 0: nothing was there */
	struct land_look will; /* what the landing was to make of it */
	bool left;        /* it was not written, as somebody had changed it */
};

struct undo {
	struct ga_oid head;    /* HEAD before the landing */
	char *ref;             /* the branch that HEAD was on; "": none */
	char *worktree;        /* where it was, as of land_worktree() */
	enum ga_state state;   /* of the session, before the landing */
	struct ga_oid landed;  /* its `landed` before; zero: it had not landed */
	int dir;               /* the directory of the note */
	bool begun;            /* the landing or its undoing was interrupted: each part may be as
				* before or as after */
	bool over;             /* the landing came to its end */
	bool any_mode;         /* land_ignores_modes() */
	bool by_path;          /* it landed path by path (work.h), and the note has `commit`,
				* `index` and `index_after` */
	bool hidden;           /* git was interrupted, and files may have to be put back
				* (hidden.c) */
	bool at_work;          /* git was to bring `tip`, and did not come to its end */
	struct ga_oid tip;
	struct ga_oid commit;  /* HEAD after the landing */
	struct ga_oid index, index_after; /* as of land_index_id(), before and after */
	struct ga_strv left_out;
	struct undo_file *files;
	size_t n, cap;
};
#define UNDO_INIT { .dir = -1 }
void undo_release(struct undo *u);

/* Read the last note of the session that has a record, passing over those of landings that had
 * touched nothing yet (fills l->notes, l->note). Returns 0; 1, with `err` untouched: there is none,
 * or (l->note is not 0) it stops at one without a record that bars those below it
 * (land_forget_earlier()); -1: it cannot be read. */
int undo_read(struct land *l, struct undo *u, struct ga_error *err);

/* Read note number l->note, if that landing did not come to its end by itself; 1: it did, or
 * touched nothing. */
int undo_read_interrupted(struct land *l, struct undo *u, struct ga_error *err);

/* Fail if the landing was in another working tree, unless it only merged on a branch, which can be
 * undone wherever that branch is checked out. */
int undo_check_here(const struct land *l, const struct undo *u, struct ga_error *err);

/* Read the id in the file `name` of the note; false: there is none. */
bool undo_noted(const struct undo *u, const char *name, struct ga_oid *ret);

/* recover.c: is l->head (with l->head_tree, l->tip) the result of the landing of this note, which
 * was killed before it was recorded in the session? 1 yes. */
int undo_is_made(struct land *l, const struct undo *u, struct ga_error *err);

/* Read the last note and its number, if it is such a landing's and HEAD was elsewhere when it
 * began: 1. */
int undo_read_killed(struct land *l, struct undo *u, unsigned *ret, struct ga_error *err);

/* Is what stands at the path `want`? Or what file `i` was before the landing? What cannot be read
 * is neither. */
bool undo_stands(int root, const char *path, const struct land_look *want);
bool undo_is_back(int root, const struct undo *u, size_t i);

/* undo-index.c: fail if something was staged since. Make the index as it was before, with the marks
 * that are set now, as a file to be installed: caller frees the name; NULL on failure. */
int undo_check_index(struct land *l, const struct undo *u, struct ga_error *err);
char *undo_make_index(struct land *l, const struct undo *u, struct ga_error *err);

/* only.c: files of which the note has the only copy: it is neither in the working tree, the index
 * or HEAD, nor where the landing began or on its branch, and neither is what the landing made of
 * it. */
int undo_only_copies(struct land *l, const struct undo *u, struct ga_strv *ret,
		     struct ga_error *err);

/* Put back the files that `u->hidden` is about; after that the note is like that of a landing that
 * came to its end, or of one that changed nothing. 1: HEAD is where it was before. */
int undo_hidden(struct land *l, struct undo *u, struct ga_error *err);

/* killed.c: fail if the git of a landing, or of an undoing, that was killed is alive, or what that
 * git runs. Waits up to 3 seconds. */
int undo_check_ended(const struct land *l, const struct undo *u, struct ga_error *err);
/* Is HEAD still where it was when git began, without any state of git's? 1 yes. If so: take back
 * what git had written and staged of `u->tip`. */
int undo_is_at_work(struct land *l, const struct undo *u, struct ga_error *err);
int undo_at_work(struct land *l, const struct undo *u, struct ga_error *err);
/* An undoing was interrupted (u->begun) while git took back what it had merged: put all of that
 * back to l->head, where it landed. */
int undo_restore(struct land *l, const struct undo *u, struct ga_error *err);
/* Is what was interrupted completed by taking it back, without merging again? */
bool undo_is_begun(const struct undo *u);

/* After undo_read() returned -1: can the landing of that note have been left half done, with
 * something to be put back? */
bool undo_may_have_begun(const struct undo *u);

/* ga_land_undo() for a caller that has the lock of land_begin(). */
int undo_last(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
	      struct ga_error *err);

/* Remove parts of files that were left when the landing, or its undoing, was interrupted. */
void undo_sweep(int root, const struct undo *u);

/* Restore everything, however much of the landing was done, if nothing else happened since. The
 * session becomes what it was and is saved; the note is removed. */
int undo_take_back(struct land *l, struct undo *u, struct ga_error *err);

#endif
