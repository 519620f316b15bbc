/* SPDX-License-Identifier: MIT
 *
 * Shared by the steps of rewriting: a range of commits in memory, each with its rewritten id.
 */
#pragma once

#include "ga/base/oid.h"
#include "ga/capture/rewrite.h"
#include "ga/repo/objects.h"

struct node {
	struct ga_oid id;
	struct ga_commit c; /* without its texts, which can be long: writing it reads them */
	struct ga_oid new_id, new_tree;
	size_t stand; /* index in range.v, plus one, of the latest snapshot that it is based on; 0:
		       * none */
	size_t last;  /* index in range.v of its last child there; 0: none */
	bool unclean; /* its texts have to be made safe to show */
	/* The paths whose value in the new tree differs from that in c.tree, with the new value;
	 * sorted. New trees cannot be read before the pack is complete: this tells what they
	 * contain. Emptied once no child needs it. */
	struct ga_changes over;
};

/* The commits to be mapped, parents first, after the snapshots, whose nodes map to their parents.
 * All others are known to the host and are not rewritten. */
struct range {
	struct ga_repo *r;
	const struct ga_rewrite_opts *o; /* for holding, else NULL */
	const struct ga_strv *wip;       /* for uncommitted work, else NULL */
	struct ga_oid base;              /* an ancestor of this is not asked for a value */
	struct ga_pack *pack;
	struct node *v;
	size_t n, cap, n_wip_bases;
	struct ga_oidmap index;
	bool texts; /* texts are checked, and made safe to show */
	struct ga_strv *claimed; /* gets trailers that look like the tool's own, or NULL */
};

/* The node of a commit, or NULL if it is known to the host. */
struct node *range_find(const struct range *g, const struct ga_oid *id);
/* The rewritten id of a commit, or its own. */
struct ga_oid range_mapped(const struct range *g, const struct ga_oid *id);

/* Write the new commit of `n`, with `over` applied to `c.tree` and its parents mapped. */
int write_node(struct range *g, struct node *n, struct ga_error *err);

/* ---- rewrite-write.c ----------------------------------------------------------------- */

/* Close sorted values of one tree over collisions with another: a file that keeps its place
 * although `tree` has a directory there displaces all that is in it, and the reverse. What is
 * displaced is added to `over` as deleted. */
int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  struct ga_error *err);

/* ---- rewrite-hold.c ------------------------------------------------------------------ */

/* Give each commit of the range its parent's value where it may not have its own: in the paths of
 * range.wip, or in what is critical. In the latter case flags of changes made by single commits are
 * added to `ret`, else it is NULL. */
int hold_back(struct range *g, struct ga_rewrite *ret, struct ga_error *err);
/* Get the flags of everything that `tree` has and opts.since does not. */
int flag_since(struct range *g, const struct ga_oid *tree, struct ga_flags *ret,
	       struct ga_error *err);

/* ---- rewrite-moved.c ----------------------------------------------------------------- */

/* Add to `paths` what git finds as renames of them in the commits of the range. `*ret_exact`: only
 * of unchanged files. */
int find_moved(struct range *g, unsigned ms, struct ga_strv *paths, bool *ret_exact,
	       struct ga_error *err);

/* ---- rewrite-text.c ------------------------------------------------------------------ */

/* Make a commit's texts safe to show. True if anything had to be changed. */
bool clean_commit(struct ga_commit *c);
/* Add the keys of the message's trailers that only git agent writes. */
void find_claimed(const struct ga_commit *c, struct ga_strv *keys);
