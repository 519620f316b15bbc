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
	 * them. Never NULL; often shared with a parent. */
	const struct ga_changes *over;
};

struct stand {
	struct ga_oid work, on;
	struct ga_changes carried; /* from `work` to `on`, once it was needed */
	bool have_carried;
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
	struct ga_changes **lists; /* all `over` there are */
	size_t n_lists, cap_lists;
};

/* The node of a commit, or NULL if it is known to the host. */
struct node *range_find(const struct range *g, const struct ga_oid *id);
/* Which of the range's stands the commit is, plus one; 0: none. */
size_t find_stand(const struct range *g, const struct ga_oid *id);
/* What a file of the commit's tree is; a directory counts as nothing. */
int file_entry(struct ga_repo *r, const struct ga_oid *tree, const char *path,
	       struct ga_entry *ret, struct ga_error *err);

/* Close values over collisions: a file that stays where the commit has a directory takes
 * the place of all that is in it, and the reverse. What gives way is added
 * to `over` as deleted. */
int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  struct ga_error *err);
/* Take the list over, or share the first parent's if it says the same. */
void set_over(struct range *g, struct node *n, struct ga_changes *over);

/* Write what `n` becomes with its list, its parents mapped and `c.tree` as its tree. */
int write_node(struct range *g, struct node *n, struct ga_error *err);

/* Carry the range over off its stands. */
int carry_over(struct range *g, struct ga_strv *left_out, struct ga_error *err);

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
