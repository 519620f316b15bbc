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

/* One landing. */
struct land {
	struct ga_repo *repo;
	struct ga_session *s;
	struct ga_report *report;
	const struct ga_land_opts *opts;
	struct ga_land_result *ret;
	struct ga_gitconfig config;
	struct ga_oid head, head_tree;
	struct ga_oid held;       /* zero if nothing is */
	bool merge;               /* there is something to merge */
	struct ga_oid tip;        /* what is merged */
	struct ga_oid merged;     /* the tree that gives, conflict markers and all */
	bool conflicts;
	struct ga_changes changes; /* head_tree -> merged */
	struct ga_oid base_tree, carried_tree; /* for left-out paths */
	struct land_carries carries;
	char *notes;               /* what undoing goes by ... */
	unsigned note;             /* ... and which of it is about this landing */
	bool rest_only;            /* it has landed: nothing but ignored paths is brought */
	struct ga_left_files ignored;
	struct ga_entry *ignored_had, *ignored_will; /* of each, here and in the session */
};

/* The refs of a session as they are now; zero where there is none. A branch that is
 * gone although the session has it is an error, unless it has landed. */
struct land_refs {
	struct ga_oid branch, held, report;
};
int land_refs_read(struct ga_repo *r, const struct ga_session *s, struct land_refs *ret,
		   struct ga_error *err);

/* Names for a message: the first few, quoted, then how many more. Caller frees. */
char *land_list(const struct ga_strv *paths);

/* merge.c: what merging would give (fills merge, merged, conflicts, changes), and doing it. */
int land_preview(struct land *l, struct ga_error *err);
int land_merge(struct land *l, struct ga_error *err);
/* A merge that was left to the user: is it this one (fills tip, head, head_tree)? And its
 * commit. */
int land_check_left(struct land *l, struct ga_error *err);
int land_finish(struct land *l, struct ga_error *err);
/* Can it be done in the way that was asked for? */
int land_check_how(struct land *l, struct ga_error *err);

/* check.c */
int land_check_flags(struct land *l, struct ga_error *err);
int land_check_worktree(struct land *l, struct ga_error *err);

/* Add what was found to the stored report, so that it can be decided about. */
int land_store_report(struct land *l, struct ga_error *err);
void land_reopen(struct ga_report *r, const struct ga_flags *found);
/* What 'exit 2' says. */
int land_refuse(const struct ga_strv *paths, const char *what, const char *hint,
		struct ga_error *err);

/* ignored.c: the same for ignored paths. */
int land_ignored_check(struct land *l, struct ga_error *err);
int land_ignored_write(struct land *l, struct ga_error *err);

/* note.c: what stands at a path of the working tree. */
/* note.c: something to read that stands at a path: a file, or the target of a link. */
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

#define LAND_NOTE_MAGIC "git-agent landing 1"
/* Note what is there, before anything is touched (fills notes, note). Where nothing was touched in
 * the end the note before it is the note again. */
int land_note(struct land *l, struct ga_error *err);
void land_note_forget(struct land *l);
/* The directory notes are in; the last one's number, 0 if there is none; and away with one. */
char *land_notes(const struct ga_session *s);
int land_note_last(const char *notes, unsigned *ret, struct ga_error *err);
int land_note_remove(const char *notes, unsigned n, struct ga_error *err);

/* Open the directory of `path` beneath `root`, making what is missing. -1 with errno. */
int land_open_parent(int root, const char *path);

/* carry.c: decide about all left-out paths before anything is touched, then write. */
int land_carry_decide(struct land *l, struct ga_error *err);
int land_carry_write(struct land *l, struct ga_error *err);
void land_carries_release(struct land_carries *c);
/* The agent's changes to left-out paths that are still to be brought. */
int land_carry_changes(struct land *l, struct ga_changes *ret, struct ga_error *err);

#endif
