/* SPDX-License-Identifier: MIT
 *
 * Landing path by path, where uncommitted work is in the way or only some paths are to land: first
 * the results are computed as values (work-plan.c, work-read.c), then committed (work-commit.c),
 * then put in place (work-apply.c). Until then nothing of the user's is touched.
 */
#ifndef GA_LAND_WORK_H
#define GA_LAND_WORK_H

#include "land-internal.h"

/* Why a path cannot land. */
enum work_hurdle {
	WORK_FREE,
	WORK_EDITED,    /* what is to land overlaps with changes in the working tree */
	WORK_STAGED,    /* or with those in the index */
	WORK_UNTRACKED, /* an untracked file stands there */
	WORK_CONFLICT,  /* it conflicts with HEAD */
	WORK_SUBMODULE, /* a submodule comes or goes */
	WORK_CONVERTED, /* .gitattributes would change, by which git converts files */
	WORK_DRIVER,    /* the user has configured a merge driver for it, which only git runs */
};

struct work_path {
	char *path;
	/* what they are; GA_MODE_NONE: nothing. An intent-to-add entry counts as nothing */
	struct ga_entry head, index, work;
	struct ga_entry merged;       /* what git's merge makes of it ... */
	bool conflict;                /* ... with a conflict */
	bool left_out;                /* it is on no branch, as it builds on uncommitted work */
	bool moved;                   /* which had another name: land_carry_is_moved() */
	bool carried;                 /* `had` and `made` tell what the agent did to it */
	struct ga_entry had, made;    /* what the agent began with, uncommitted work included, and
				       * what it made of that */
	struct ga_entry onto, tip;    /* committed where the branches parted, and at the tip */
	bool flagged_skip, flagged_valid; /* its marks: skip-worktree, assume-unchanged */
	bool absent;                  /* a sparse checkout leaves it out: it is not written */
	bool intended;                /* it is intent-to-add */
	bool untracked;               /* the index does not have it, but something is there */
	struct stat st;               /* of what is there */
	struct land_look seen;        /* its type, permissions and bytes, from before `work` was
				       * read ... */
	bool is_seen;                 /* ... if they could be read */
	char *beside;                 /* an index entry above or beneath it that is not one of these
				       * paths; NULL: there is none */
	/* what they become */
	struct ga_entry to_commit, to_index, to_work;
	bool lines;                   /* one of these has lines of more than one version */
	enum work_hurdle hurdle;
	struct land_look will;        /* the file as it is written */
};
struct work {
	struct work_path *v;
	size_t n, cap;
	struct ga_changes away;       /* those that are `moved` and not brought */
	struct ga_oid tree, commit;   /* the commit and its tree; HEAD's: there is nothing to
				       * commit */
	char *dir;                    /* the directory of the note */
	struct stat index_seen;       /* the index as it was when reading began */
};

/* May a path that is left out of the branch be committed? */
enum work_may {
	WORK_MAY_NOT,
	WORK_MAY,     /* if the uncommitted work that it builds on is in HEAD by now */
	WORK_MAY_ALL, /* even if that work had another name: all that the session began with is in
		       * HEAD */
};
/* Set `to_commit` to what can be committed of it then; 1: nothing can be. */
int work_commits(struct ga_repo *r, struct work_path *p, enum work_may may, struct ga_error *err);
/* Decide what one path becomes. Writes nothing but objects, for merged lines. */
int work_decide(struct ga_repo *r, struct work_path *p, enum work_may may, struct ga_error *err);

/* Fill `index` and `work` of all paths. Those not in `dirty`, which is sorted, are as in the index.
 * Uses files in w->dir. */
int work_read(struct land *l, const struct land_found *f, const struct ga_strv *dirty,
	      struct ga_error *err);

/* work-check.c: look at what is there, before it is read; check that the results fit into the index
 * (else that is their hurdle), and into the working tree; and that every path to be written is
 * still what was seen, and is kept so in the note. If one of these refuses, nothing was touched. */
void work_see(struct work *w, int root);
void work_check_index(struct work *w);
int work_check_place(struct land *l, struct ga_error *err);
int work_check_meanwhile(struct land *l, int root, int note, struct ga_error *err);

/* work-sparse.c: mark the new paths that a sparse checkout leaves out (sets flagged_skip,
 * absent). */
int work_leave_out(struct land *l, struct ga_error *err);

/* Make the commit, with the user's hooks, signing and editor. It is on no branch yet. */
int work_commit(struct land *l, struct ga_error *err);
/* Run the post-commit and post-merge hooks, whose status does not matter. */
void work_after(struct land *l);

/* Write the resulting files into the note, beneath w->dir (fills `will`). */
int work_render(struct land *l, struct ga_error *err);
/* Write the resulting index as w->dir/index.new, and keep the present one as w->dir/index. */
int work_make_index(struct land *l, struct ga_error *err);
bool work_is_written(const struct work_path *p);
/* Find a path in the sorted list, or NULL; the index of the first path beneath a directory, or
 * after where that would be. */
struct work_path *work_find(struct work *w, const char *path);
size_t work_beneath(const struct work *w, const char *dir);

#endif
