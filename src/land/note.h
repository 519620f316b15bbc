/* SPDX-License-Identifier: MIT
 *
 * The note of a landing (note.c), as it is written; undo.h has how it is read again.
 */
#ifndef GA_LAND_NOTE_H
#define GA_LAND_NOTE_H

#include "land-internal.h"

#define LAND_NOTES "undo" /* in the directory of the session */
#define LAND_NOTE_MAX ((size_t)64 << 20) /* of any file in a note */
#define LAND_NOTE_MAGIC "git-agent landing 3"
/* What makes it a note; once written, it stays as it is. */
#define LAND_NOTE_RECORD "record"
/* Files of a note beside its record. "work": what a landing beside uncommitted work adds to it.
 * "lock": the inode of the index lock that it took. "done": the landing came to its end, by itself
 * (empty) or because the user went on without it. */
#define LAND_NOTE_WORK "work"
#define LAND_NOTE_HIDDEN "hidden" /* hidden.c */
#define LAND_NOTE_LOCK "lock"
#define LAND_NOTE_DONE "done"
/* The name under which files are written before they are renamed into place, in any directory. */
#define LAND_NOTE_PART "part"
/* Files of the record that were not written, since somebody had changed them: paths, each ended by
 * a NUL. */
#define LAND_NOTE_LEFT "left"
/* The commit that git is to bring; the tree that is committed of a merge that the user resolved;
 * HEAD after any merge of git's. */
#define LAND_NOTE_GIT "git"
#define LAND_NOTE_RESOLVED "resolved"
#define LAND_NOTE_MADE "made"
/* The branch that this is on, if HEAD was switched to it meanwhile; it counts instead of that in
 * the record. */
#define LAND_NOTE_SWITCHED "switched"
/* That HEAD, if commits of the user's own are among those of a rebase: it is not to be undone
 * then. */
#define LAND_NOTE_OWN "own"
/* Open the directory of this landing's note. A descriptor. */
int land_note_open(const struct land *l, struct ga_error *err);
/* That name, which is recorded before it is used, so that what a crash leaves behind can be told
 * from the user's files. Caller frees; NULL on failure. The second only reads it: NULL if there is
 * none. */
char *land_note_part(int note, struct ga_error *err);
char *land_note_read_part(int note);
/* Make the directory of this landing's note, if there is none yet (fills notes, note). */
int land_note_dir(struct land *l, struct ga_error *err);
/* Keep staged entries that the landing replaces in the index on a ref, as nothing else refers to
 * them. */
int land_keep_staged(struct land *l, struct ga_error *err);
/* Write the note, before anything is touched (fills notes, note). If in the end nothing was
 * touched, it is removed, and the one before it is the last one again. */
int land_note(struct land *l, struct ga_error *err);
void land_note_forget(struct land *l);
/* Record that this file was not written, so that undoing leaves it, too. */
int land_note_left(struct land *l, const char *path, struct ga_error *err);
/* Record that git begins to bring l->tip; what is about to be committed; HEAD, before the session
 * is saved as landed. If a crash comes in between, nothing else tells what the landing made from
 * what the user committed since. */
int land_note_git(struct land *l, struct ga_error *err);
int land_note_resolved(struct land *l, const struct ga_oid *tree, struct ga_error *err);
int land_note_made(struct land *l, struct ga_error *err);
/* Is HEAD on another branch by now than when it was noted? 1 yes; sets `*ret` to its name, "" is
 * none. */
int land_is_switched(const struct land *l, char **ret, struct ga_error *err);
int land_note_own(struct land *l, struct ga_error *err);
/* Lock a file of the note before git writes anything of the landing (LAND_NOTE_RECORD) or of its
 * undoing (UNDO_BEGUN): sets l->git_lock, by which undo_check_ended() tells whether git is still at
 * work. Two files, as what a hook of the landing left running keeps nobody from undoing it.
 * land_let_go() gives the lock back. */
int land_hold(struct land *l, const char *name, struct ga_error *err);
void land_let_go(struct land *l);
/* Record that the landing came to its end, if it has a note: it stays below later ones, whatever
 * becomes of them. */
int land_note_done(struct land *l, struct ga_error *err);
/* The directory that the notes are in; the number of the last, 0 if there is none; remove one. */
char *land_notes(const struct ga_session *s);
int land_note_last(const char *notes, unsigned *ret, struct ga_error *err);
int land_note_remove(struct land *l, unsigned n, struct ga_error *err);
/* The ref of land_keep_staged(). Caller frees. */
char *land_note_ref(const struct land *l, unsigned n);

#endif
