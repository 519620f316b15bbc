/* SPDX-License-Identifier: MIT
 *
 * Landing where uncommitted work is in the way, or only some paths are to land: path by path, as
 * values first (work-plan.c, work-read.c), then a commit of it (work-commit.c), then done
 * (work-apply.c). Until then nothing of the user's is touched.
 */
#ifndef GA_LAND_WORK_H
#define GA_LAND_WORK_H

#include "land-internal.h"

/* Why a path cannot land. */
enum work_hurdle {
	WORK_FREE,
	WORK_EDITED,    /* its change and that of the working tree overlap */
	WORK_STAGED,    /* or that of the index */
	WORK_UNTRACKED, /* a file git does not track stands there */
	WORK_CONFLICT,  /* it conflicts with what is committed */
	WORK_SUBMODULE, /* a submodule comes or goes */
	WORK_CONVERTED, /* attributes would change by which git converts files */
	WORK_DRIVER,    /* the user has a way of merging it that needs git */
};

struct work_path {
	char *path;
	/* as they are; GA_MODE_NONE where there is nothing. An entry that is only intended to be
	 * added is nothing */
	struct ga_entry head, index, work;
	struct ga_entry merged;       /* what git's merge gives ... */
	bool conflict;                /* ... with a conflict */
	bool left_out;                /* on no branch, as it stands on uncommitted work */
	bool moved;                   /* and has some of another name: land_carry_is_moved() */
	bool carried;                 /* it stood on uncommitted work, */
	struct ga_entry had, made;    /* this: and the agent made that of it */
	struct ga_entry onto, tip;    /* committed before the agent began, and what it committed */
	bool flagged_skip, flagged_valid; /* of the index: skip-worktree, assume-unchanged */
	bool absent;                  /* a sparse checkout leaves it out: it is not written */
	bool intended;                /* to be added */
	bool untracked;               /* neither HEAD nor index has it, and something is there */
	struct stat st;               /* of what is there */
	struct land_look seen;        /* and as it was when reading began, ... */
	bool is_seen;                 /* ... if that could be looked at */
	char *beside;                 /* an entry above or beneath it in the index, which is none
				       * of these; NULL: there is none */
	/* what they become */
	struct ga_entry to_commit, to_index, to_work;
	bool lines;                   /* somewhere lines were merged */
	enum work_hurdle hurdle;
	struct land_look will;        /* the file as it is written */
};
struct work {
	struct work_path *v;
	size_t n, cap;
	struct ga_changes away;       /* has work of another name, and is not brought */
	struct ga_oid tree, commit;   /* what is committed; equal to HEAD's: nothing is */
	char *dir;                    /* where the note is */
	struct stat index_seen;       /* the index as it was when reading began */
};

/* May a path that is left out of the branch be committed? */
enum work_may {
	WORK_MAY_NOT,
	WORK_MAY,     /* where what it stands on is, */
	WORK_MAY_ALL, /* which is all of the uncommitted work: of another name as well */
};
/* And what is committed of it then, `to_commit`; 1: nothing can be. */
int work_commits(struct ga_repo *r, struct work_path *p, enum work_may may, struct ga_error *err);
/* What one path becomes: values alone, but for merged lines, which are written as objects. */
int work_decide(struct ga_repo *r, struct work_path *p, enum work_may may, struct ga_error *err);

/* Fill index and work of all. What is not among what was found, sorted in `dirty`, is as in the
 * index. Uses files in w->dir. */
int work_read(struct land *l, const struct land_found *f, const struct ga_strv *dirty,
	      struct ga_error *err);

/* work-check.c: see what stands there, before it is read. Do all fit in the index (or it is their
 * hurdle), and in the working tree? Both are refused with nothing touched. And is all that is
 * written as it was seen, and kept so in the note? */
void work_see(struct work *w, int root);
void work_check_index(struct work *w);
int work_check_place(struct land *l, struct ga_error *err);
int work_check_meanwhile(struct land *l, int root, int note, struct ga_error *err);

/* The commit, with the user's hooks, signing and editor, on no branch yet. */
int work_commit(struct land *l, struct ga_error *err);
/* Hooks after the fact; what they answer does not matter. */
void work_after(struct land *l);

/* Write files as they will be beneath w->dir, for the note (fills `will`). */
int work_render(struct land *l, struct ga_error *err);
/* Write the index as it will be as w->dir/index.new, and what is there as w->dir/index. */
int work_make_index(struct land *l, struct ga_error *err);
bool work_is_written(const struct work_path *p);
/* The path in a sorted list, or NULL. And the first that is beneath a directory, or behind that. */
struct work_path *work_find(struct work *w, const char *path);
size_t work_beneath(const struct work *w, const char *dir);

#endif
