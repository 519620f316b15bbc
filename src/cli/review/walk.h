/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of `review -i`.
 */
#pragma once

#include "cli/review.h"
#include "ga/repo/history.h"

enum choice { LEAVE, ACCEPT, REJECT, PARTS };

/* Edits with one verdict: those of a hunk, or one of them. */
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
	bool refused;   /* applying the verdicts was refused; try again */
	bool abandoned; /* the terminal hung up: do nothing */
};

/* Print a diff or a part of one through the user's interactive.diffFilter, limited to the lines
 * that fit the screen. The filter also gets `head`, the diff's header, which is not printed. */
void walk_print_diff(struct cli_walk *w, const struct ga_buf *head, const struct ga_buf *diff);
/* Print the whole diff of `s`. */
int walk_diff(struct cli_walk *w, const struct step *s, struct ga_out *out, struct ga_error *err);
/* The previous verdict, for a prompt: "accepted, ". */
const char *walk_choice_text(enum choice c);

/* Review the parts of `s`. 1: it has none, which the user was told. */
int walk_parts(struct cli_walk *w, struct step *s, struct ga_error *err);
