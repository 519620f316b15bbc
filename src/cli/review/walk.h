/* SPDX-License-Identifier: MIT
 *
 * What the files of `review -i` share.
 */
#ifndef WALK_H
#define WALK_H

#include "cli/review.h"
#include "ga/repo/history.h"

enum choice { LEAVE, ACCEPT, REJECT, PARTS };

/* Edits that are decided about together: those of a hunk, or one of them. */
struct part {
	size_t hunk, first, n;
	enum choice choice;
};

struct step {
	const struct ga_review_item *item;
	enum choice choice;
	bool kept;           /* answered in an earlier walk, and not changed since */
	struct ga_hunks hunks;
	bool read;           /* `hunks` was read */
	struct part *parts;  /* once it was split */
	size_t n_parts, cap_parts;
	char *remark;
};

struct cli_walk {
	struct cli *c;
	const struct ga_report *report;
	struct ga_review_items items;
	const struct ga_palette *palette; /* `colours`, or NULL: none */
	struct ga_palette colours;
	const char *filter;               /* interactive.diffFilter, or NULL */
	bool single_key, ask_remarks;
	struct step *steps;
	size_t n;
	bool refused;   /* what was decided was refused, and is to be tried again */
	bool abandoned; /* the terminal is gone: do nothing */
};

/* Print as many lines of a diff, or a part of one, as leave room on the screen for what is
 * around them; the user's interactive.diffFilter goes over it first (difffilter.c). The filter also
 * gets `head`, what comes before it, which is not printed. */
void walk_print_diff(struct cli_walk *w, const struct ga_buf *head, const struct ga_buf *diff);
/* Write all of the diff of `s`. */
int walk_diff(struct cli_walk *w, const struct step *s, struct ga_out *out, struct ga_error *err);
/* What was decided before, for a prompt: "accepted, ". */
const char *walk_choice_text(enum choice c);

/* Decide about the parts of `s`, and so about `s`. 1: it has none, which the user was told. */
int walk_parts(struct cli_walk *w, struct step *s, struct ga_error *err);

#endif
