/* SPDX-License-Identifier: MIT
 *
 * What the files of `review -i` share.
 */
#ifndef WALK_H
#define WALK_H

#include "ga/hunk.h"
#include "verdict.h"

enum choice { LEAVE, ACCEPT, REJECT, PARTS };

/* Edits that are decided about together: those of a hunk, or one of them. */
struct part {
	size_t hunk, first, n;
	enum choice choice;
};

struct step {
	const struct ga_review_item *item;
	enum choice choice;
	bool kept;           /* asked in a walk before, and as it was then */
	struct ga_hunks hunks;
	bool read;           /* `hunks` were looked for */
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
	bool refused;   /* what was decided was, and is to be tried again */
	bool abandoned; /* the terminal is gone: nothing is to be done */
};

/* Lines that leave room for what stands around them. */
void walk_print_top(const char *text);
/* The same of a diff, or of a part of one behind `head`, which is not printed, as the user's
 * interactive.diffFilter has it (difffilter.c). */
void walk_print_diff(struct cli_walk *w, const struct ga_buf *head, const struct ga_buf *diff);
/* All of the diff of `s`. */
int walk_diff(struct cli_walk *w, const struct step *s, struct ga_out *out, struct ga_error *err);
/* What was decided, before what is asked: "accepted, " */
const char *walk_choice_text(enum choice c);

/* Decide about the parts of `s`, and of it by these. 1: it has none, which was said. */
int walk_parts(struct cli_walk *w, struct step *s, struct ga_error *err);

#endif
