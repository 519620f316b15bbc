/* SPDX-License-Identifier: MIT
 *
 * The diff of a review, independent of its form (text or HTML).
 */
#ifndef GA_REVIEW_DIFF_H
#define GA_REVIEW_DIFF_H

#include "ga/out.h"
#include "review-internal.h"

enum review_line {
	REVIEW_META, /* part of a file's header */
	REVIEW_HUNK,
	REVIEW_NEW,
	REVIEW_OLD,
	REVIEW_CONTEXT,
	REVIEW_NOTE, /* our own remark about what is not shown */
};

struct review_diff;

/* How a diff is put. Titles and lines are escaped for a terminal and have no newline at the end;
 * the path of a change is not escaped. */
struct review_form {
	void (*section)(struct review_diff *d, const char *title);
	void (*begin)(struct review_diff *d, const struct ga_change *c); /* may be NULL ... */
	void (*line)(struct review_diff *d, enum review_line kind, const char *safe);
	void (*end)(struct review_diff *d); /* ... and so may this */
};

struct review_diff {
	struct ga_repo *repo;
	const struct review_form *form;
	const struct ga_review_opts *opts;
	struct ga_out *out;
	struct ga_oid old_tree, new_tree; /* what is being compared */
	size_t n;         /* for the form: files so far */
	bool hung;        /* a program of the user did, for an earlier file */
};

/* The diff of a session, flagged files first, and that of two trees. Return 0, 1 if nobody reads
 * the output any more, or -1. */
int review_diff_all(struct review_diff *d, const struct ga_report *r, struct ga_error *err);
int review_diff_trees(struct review_diff *d, const struct ga_oid *old_tree,
		      const struct ga_oid *new_tree, struct ga_error *err);
/* Hunks without a file's header. */
void review_diff_hunks(struct review_diff *d, const struct ga_buf *hunks);
/* One file. */
int review_diff_file(struct review_diff *d, const struct ga_change *c, bool flagged,
		     struct ga_error *err);

#endif
