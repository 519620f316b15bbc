/* SPDX-License-Identifier: MIT
 *
 * A landing's note as it is read again: what there was before, and what came of it. note.c writes
 * it, note-read.c reads it; undo.c and recover.c go by it.
 */
#ifndef GA_LAND_UNDO_H
#define GA_LAND_UNDO_H

#include "land-internal.h"

#define UNDO_BEGUN "begun" /* beside the record */

struct undo_file {
	char *path;
	mode_t had;       /* before */
	struct land_look will; /* after */
	bool left;        /* it was not written: somebody had changed it */
};

struct undo {
	struct ga_oid head;    /* before */
	char *ref;             /* the branch HEAD was on; "" none */
	char *worktree;        /* in which it was: land_worktree() */
	enum ga_state state;   /* of the session, before */
	struct ga_oid landed;  /* what had brought it before; zero: nothing */
	int dir;               /* where the note is */
	bool begun;            /* undoing, or doing it, was begun before, and did not get to its
				* end: each part is as it was before or after */
	bool any_mode;         /* permissions are no difference: land_ignores_modes() */
	bool by_path;          /* beside uncommitted work: this is known as well */
	bool hidden;           /* git was at work, and did not get to its end: there are files
				* to be put back (hidden.c) */
	struct ga_oid commit;  /* HEAD after */
	struct ga_oid index, index_after; /* what git says of it */
	struct ga_strv left_out;
	struct undo_file *files;
	size_t n, cap;
};
#define UNDO_INIT { .dir = -1 }
void undo_release(struct undo *u);

/* Read the last note of the session (fills l->notes, l->note), past those of landings that had not
 * touched anything yet: 0; 1, `err` untouched: there is none, or (l->note) one of nothing, below
 * which none counts; -1: it cannot be read. */
int undo_read(struct land *l, struct undo *u, struct ga_error *err);

/* The same of note l->note, if that landing did not come to its end by itself; 1: it did. */
int undo_read_interrupted(struct land *l, struct undo *u, struct ga_error *err);

/* Refuse to undo here what has files, or a HEAD on no branch, of another working tree. */
int undo_check_here(const struct land *l, const struct undo *u, struct ga_error *err);

/* The id that is noted as `name`; false: none is. */
bool undo_noted(const struct undo *u, const char *name, struct ga_oid *ret);

/* recover.c: is l->head (l->head_tree, l->tip) what the landing of that note made, which was killed
 * before the session said so? 1 yes. */
int undo_is_made(struct land *l, const struct undo *u, struct ga_error *err);

/* The last note and its number, if that is so of it, and HEAD was elsewhere when it began: 1. */
int undo_read_killed(struct land *l, struct undo *u, unsigned *ret, struct ga_error *err);

/* Does it stand there as `want` says, or as file `i` was before? What cannot be looked at does not.
 */
bool undo_stands(int root, const char *path, const struct land_look *want);
bool undo_is_back(int root, const struct undo *u, size_t i);

/* undo-index.c: refuse what was staged since. And the index as it was, with the marks of now: the
 * name of a file to be installed. Caller frees; NULL on failure. */
int undo_check_index(struct land *l, const struct undo *u, struct ga_error *err);
char *undo_make_index(struct land *l, const struct undo *u, struct ga_error *err);

/* only.c: files of which that note has a copy that is in no other place: neither in the working
 * tree, the index or HEAD, nor where the landing began or was going, nor is there what it made of
 * them. */
int undo_only_copies(struct land *l, const struct undo *u, struct ga_strv *ret,
		     struct ga_error *err);

/* Put back what `u->hidden` says; the note is one of a landing that came to its end, or of nothing.
 * 1: HEAD is where it was before. */
int undo_hidden(struct land *l, struct undo *u, struct ga_error *err);

/* After undo_read() returned -1: could a landing that is noted there have been left half done, with
 * something to be put back? */
bool undo_may_have_begun(const struct undo *u);

/* ga_land_undo() for who has the lock of land_begin(). */
int undo_last(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
	      struct ga_error *err);

/* Parts of files go that were left when the landing, or taking it back, was cut short. */
void undo_sweep(int root, const struct undo *u);

/* Put everything back, whatever of it was done, if nothing else happened since; the session is what
 * it was before, and saved, and the note is gone. */
int undo_take_back(struct land *l, struct undo *u, struct ga_error *err);

#endif
