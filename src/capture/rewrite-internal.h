/* SPDX-License-Identifier: MIT
 *
 * What the two steps of rewriting share: a range of commits in memory, each with what it becomes.
 */
#ifndef GA_REWRITE_INTERNAL_H
#define GA_REWRITE_INTERNAL_H

#include "ga/objects.h"
#include "ga/oidmap.h"
#include "ga/rewrite.h"

struct node {
	struct ga_oid id;
	struct ga_commit c; /* without its texts, which can be long: writing it reads them */
	struct ga_oid new_id, new_tree;
	size_t stand; /* index in range.stands, plus one, of the latest that it is based on; 0: of
		       * none */
	bool unclean; /* its texts have to be made safe to show */
	/* The paths whose value in the new tree differs from that in c.tree, with the new value;
	 * sorted. New trees cannot be read before the pack is complete: this tells what they
	 * contain. Never NULL; often shared with a parent; emptied once no child needs it. */
	const struct ga_changes *over;
	struct over_list *list; /* the shared list that has `over`; NULL if that is empty */
	bool differs;           /* `over` had any paths */
	size_t children;        /* number of children in the range that are still to be done */
};

struct stand {
	struct ga_oid work, on;
	struct ga_changes carried; /* from `work` to `on`, loaded when first needed ... */
	struct ga_oid work_tree, on_tree;
	bool have_carried;
	struct replayed {          /* for each of `carried`: what a commit had, and what that
				    * became */
		struct ga_entry is, want;
		bool known, left_out, summed;
	} *replayed;
	struct origins *origins;   /* ... and content that was made from it, once that was asked
				    * for; or NULL */
	struct ga_oid empty;       /* the empty blob */
};

/* The commits to be mapped, parents first. All others are known to the host and stay as they
 * are. */
struct range {
	struct ga_repo *r;
	const struct ga_rewrite_opts *o;
	struct stand *stands; /* opts.stands, and base with onto as the last */
	size_t n_stands;
	struct ga_pack *pack;
	struct node *v;
	size_t n;
	struct ga_oidmap index;
	bool texts; /* texts are checked, and made safe to show */
	uint64_t merges; /* what is left of opts.merges */
	size_t n_unsure; /* size of ga_rewrite.unsure when it last had no duplicates */
};

/* The node of a commit, or NULL if it is known to the host. */
struct node *range_find(const struct range *g, const struct ga_oid *id);
/* Which of the range's stands the commit is, plus one; 0: none. */
size_t find_stand(const struct range *g, const struct ga_oid *id);
/* The entry of a file in a commit's tree; a directory counts as none. */
int file_entry(struct ga_repo *r, const struct ga_oid *tree, const char *path,
	       struct ga_entry *ret, struct ga_error *err);

/* ---- rewrite-over.c: the lists of the nodes ------------------------------------------ */

/* Close values over collisions: a file that keeps its place although the commit has a directory
 * there displaces all that is in it, and the reverse. What is displaced is added to `over` as
 * deleted; `*ret_any`: there was any. */
int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  bool *ret_any, struct ga_error *err);
/* Give the node this list, or its first parent's if that is the same. Takes `over`. */
void set_over(const struct range *g, struct node *n, struct ga_changes *over, bool collided);
void share_over(struct node *n, const struct node *with);
void leave_over(struct node *n);
/* Does the list have values because of others? Then it has to be made anew for each commit. */
bool over_collided(const struct node *n);
/* Is any changed path above or beneath one of the list? Then there may be collisions. */
bool over_meets(const struct ga_changes *over, const struct ga_changes *changes);
/* Give the node its parent's list, with `fresh` for the paths that the commit changed. */
void follow_over(const struct range *g, struct node *n, const struct node *p,
		 const struct ga_changes *changes, const struct ga_changes *fresh);
/* count_children() is called before a step, leave_parents() after each commit of it: this frees
 * lists that no child needs any more. */
void count_children(struct range *g);
void leave_parents(const struct range *g, const struct node *n);

/* Write the commit that `n` becomes, with `over` applied to `c.tree` and its parents mapped. */
int write_node(struct range *g, struct node *n, struct ga_error *err);

/* Carry the range over from its stands; fills left_out and unsure. */
int carry_over(struct range *g, struct ga_rewrite *ret, struct ga_error *err);

/* ---- rewrite-origin.c: what is made of the user's work ------------------------------ */

void origins_free(struct origins *o);
struct origin_query {
	const struct ga_entry *is;
	const struct ga_entry *was; /* what the path had before: those lines are its own */
	size_t but;                 /* the carried path that it is itself; SIZE_MAX: none */
	bool followed;              /* in a parent it was the user's work: then one line of that
				     * suffices */
};
/* Is it a carried file under another name? Returns 1 if so, 2 if there is too much to compare. A
 * file that is found counts as an origin itself from then on. */
int judge_origin(struct range *g, struct stand *s, const struct origin_query *q,
		 struct ga_error *err);
/* Record that the host has this content in a commit, so that it is nobody's secret. */
int origin_is_known(struct range *g, struct stand *s, const struct ga_oid *blob,
		    struct ga_error *err);

/* ---- rewrite-lines.c ---------------------------------------------------------------- */

struct line {
	uint64_t hash;
	uint32_t len; /* of its bytes */
	bool says;    /* it has more than brackets and blanks */
};
/* The lines of a text, sorted by hash. */
struct lines {
	struct line *v;
	size_t n;
	size_t bytes; /* read */
};
void lines_release(struct lines *l);
#define cleanup_lines cleanup_(lines_release)
/* Returns 1, without lines, if the blob is binary (`bytes` is its size then) or longer than
 * `max`. */
int lines_read(struct ga_repo *r, const struct ga_oid *blob, size_t max, struct lines *ret,
	       struct ga_error *err);
/* Is half of the longer text in the other, by git's measure for renames? */
bool lines_similar(const struct lines *a, const struct lines *b);
/* The lines of `to` that `from` does not have and that say anything, each once. */
void lines_added(const struct lines *from, const struct lines *to, struct lines *ret);
/* Is any line of `of` also in `in`, and not in `but`? */
bool lines_any(const struct lines *of, const struct lines *in, const struct lines *but);

/* Get the flags of everything that `tree` has and opts.since does not. */
int flag_since(struct range *g, const struct ga_oid *tree, struct ga_flags *ret,
	       struct ga_error *err);

/* Hold back what is critical. Flags of changes made by single commits are added to `ret`. */
int hold_back(struct range *g, struct ga_rewrite *ret, struct ga_error *err);

/* Make a commit's texts safe to show. True if anything had to be changed. */
bool clean_commit(struct ga_commit *c);
/* Remove headers that no longer hold once the commit is another. */
void drop_signatures(struct ga_commit *c);

#endif
