/* SPDX-License-Identifier: MIT
 *
 * What the two steps of rewriting share: a range of commits in memory, each
 * with what becomes of it.
 */
#ifndef GA_REWRITE_INTERNAL_H
#define GA_REWRITE_INTERNAL_H

#include "ga/objects.h"
#include "ga/oidmap.h"
#include "ga/rewrite.h"

struct node {
	struct ga_oid id;
	struct ga_commit c;
	struct ga_oid new_id, new_tree;
	size_t stand; /* of range.stands, the latest that it stands on, plus one; 0: on none */
	bool changed; /* its texts are not what was read */
	/* Paths whose value in the new tree is not that of c.tree, with that value; sorted.
	 * New trees cannot be read before the pack is in: this says what is in
	 * them. Never NULL; often shared with a parent; empty again once all children were seen. */
	const struct ga_changes *over;
	struct over_list *list; /* ... which that is in; NULL: in none, for there are no paths */
	bool differs;           /* there were some */
	size_t children;        /* in the range, to come */
};

struct stand {
	struct ga_oid work, on;
	struct ga_changes carried; /* from `work` to `on`, once it was needed ... */
	struct ga_oid work_tree, on_tree;
	bool have_carried;
	struct replayed {          /* of each of these, what a commit had and what it became */
		struct ga_entry is, want;
		bool known, left_out, summed;
	} *replayed;
	struct origins *origins;   /* ... and once it was asked what is made of it; or NULL */
	struct ga_oid empty;       /* the empty blob */
};

/* Commits to be mapped, parents first. What is not among them is known to the
 * host and stays as it is. */
struct range {
	struct ga_repo *r;
	const struct ga_rewrite_opts *o;
	struct stand *stands; /* opts.stands, and base with onto as the last */
	size_t n_stands;
	struct ga_pack *pack;
	struct node *v;
	size_t n;
	struct ga_oidmap index;
	uint64_t merges; /* what is left of opts.merges */
	size_t n_unsure; /* of ga_rewrite.unsure, when each was there once */
};

/* The node of a commit, or NULL if it is known to the host. */
struct node *range_find(const struct range *g, const struct ga_oid *id);
/* Which of the range's stands the commit is, plus one; 0: none. */
size_t find_stand(const struct range *g, const struct ga_oid *id);
/* What a file of the commit's tree is; a directory counts as nothing. */
int file_entry(struct ga_repo *r, const struct ga_oid *tree, const char *path,
	       struct ga_entry *ret, struct ga_error *err);

/* ---- rewrite-over.c: the lists of the nodes ------------------------------------------ */

/* Close values over collisions: a file that stays where the commit has a directory takes
 * the place of all that is in it, and the reverse. What gives way is added
 * to `over` as deleted; `*ret_any`: there was any. */
int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  bool *ret_any, struct ga_error *err);
/* Take the list over, or share the first parent's if it says the same. */
void set_over(const struct range *g, struct node *n, struct ga_changes *over, bool collided);
void share_over(struct node *n, const struct node *with);
void leave_over(struct node *n);
/* Are there values in the list because of others? Then it is to be made anew for each commit. */
bool over_collided(const struct node *n);
/* Does any changed path lie above or beneath one of the list? Then there may be collisions. */
bool over_meets(const struct ga_changes *over, const struct ga_changes *changes);
/* The parent's list, with `fresh` for what the commit changed. */
void follow_over(const struct range *g, struct node *n, const struct node *p,
		 const struct ga_changes *changes, const struct ga_changes *fresh);
/* Before a step; and after each commit of it: what no child needs any more goes. */
void count_children(struct range *g);
void leave_parents(const struct range *g, const struct node *n);

/* Write what `n` becomes with its list, its parents mapped and `c.tree` as its tree. */
int write_node(struct range *g, struct node *n, struct ga_error *err);

/* Carry the range over off its stands: fills left_out and unsure. */
int carry_over(struct range *g, struct ga_rewrite *ret, struct ga_error *err);

/* ---- rewrite-origin.c: what is made of the user's work ------------------------------ */

void origins_free(struct origins *o);
struct origin_query {
	const struct ga_entry *is;
	const struct ga_entry *was; /* what the path had before, whose lines are its own */
	size_t but;                 /* the carried path that it is itself; SIZE_MAX: none */
	bool followed;              /* it was the user's work in a parent: a line of that will do */
};
/* Is it a carried file under another name? 1 yes; 2 nobody knows, for there is too much to compare.
 * What is found is an origin of more. */
int judge_origin(struct range *g, struct stand *s, const struct origin_query *q,
		 struct ga_error *err);
/* The host has that content in a commit: it is nobody's secret. */
int origin_is_known(struct range *g, struct stand *s, const struct ga_oid *blob,
		    struct ga_error *err);

/* ---- rewrite-lines.c ---------------------------------------------------------------- */

struct line {
	uint64_t hash;
	uint32_t len; /* of its bytes */
	bool says;    /* more than brackets and blanks */
};
/* Of a text, sorted by hash. */
struct lines {
	struct line *v;
	size_t n;
	size_t bytes; /* read */
};
void lines_release(struct lines *l);
#define cleanup_lines cleanup_(lines_release)
/* Returns 1, with no lines, for what is binary (then `bytes` were read) or longer than `max`. */
int lines_read(struct ga_repo *r, const struct ga_oid *blob, size_t max, struct lines *ret,
	       struct ga_error *err);
/* Is half of the longer one in the other, as git counts renames? */
bool lines_similar(const struct lines *a, const struct lines *b);
/* Those of `to` that `from` does not have and that say anything, each once. */
void lines_added(const struct lines *from, const struct lines *to, struct lines *ret);
/* Is any line of `of` in `in` and not in `but`? */
bool lines_any(const struct lines *of, const struct lines *in, const struct lines *but);

/* The flags of all that `tree` has and opts.since has not. */
int flag_since(struct range *g, const struct ga_oid *tree, struct ga_flags *ret,
	       struct ga_error *err);

/* Hold back what is critical. Flags of what the commits themselves change go to `ret`. */
int hold_back(struct range *g, struct ga_rewrite *ret, struct ga_error *err);

/* Make a commit's texts safe to show. True if anything had to be changed. */
bool clean_commit(struct ga_commit *c);
/* Remove headers that no longer hold once the commit is another. */
void drop_signatures(struct ga_commit *c);

#endif
