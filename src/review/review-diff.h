/* SPDX-License-Identifier: MIT
 *
 * The diff of a review.
 */
#ifndef GA_REVIEW_DIFF_H
#define GA_REVIEW_DIFF_H

#include "ga/out.h"
#include "review-internal.h"

#define REVIEW_NOTE GA_PAINTS /* our own remark about what is not shown: in no colour */

struct review_diff {
	struct ga_repo *repo;
	const struct ga_review_opts *opts;
	struct ga_out *out;
	struct ga_oid old_tree, new_tree; /* what is being compared */
	bool hung;        /* a program of the user did, for an earlier file */
};

/* The diff of a session, flagged files first, and that of two trees. Return 0, 1 if nobody reads
 * the output any more, or -1. */
int review_diff_all(struct review_diff *d, const struct ga_report *r, struct ga_error *err);
int review_diff_trees(struct review_diff *d, const struct ga_oid *old_tree,
		      const struct ga_oid *new_tree, struct ga_error *err);
/* diff-text.c: one line, and a title of its own. Both are escaped for a terminal and have no newline
 * at the end. */
void review_diff_line(struct review_diff *d, unsigned paint, const char *safe);
void review_diff_section(struct review_diff *d, const char *title);
/* Hunks without a file's header. */
void review_diff_hunks(struct review_diff *d, const struct ga_buf *hunks);
/* One file. */
int review_diff_file(struct review_diff *d, const struct ga_change *c, bool flagged,
		     struct ga_error *err);

#endif
