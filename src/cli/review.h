/* SPDX-License-Identifier: MIT
 *
 * Verdicts on a session's changes, from the command line or interactively.
 */
#pragma once

#include "cli.h"
#include "ga/land/land.h"
#include "ga/review/review.h"

/* The verdicts to apply, and their options. */
struct cli_verdict {
	struct ga_decision decision;
	const char *remark;   /* what the agent of the next resume is told of what is rejected */
	bool decided;         /* the verdicts were applied; a later failure does not undo them */
};

/* An interactive review. It keeps the answers: if applying them is refused, the user need not
 * repeat them. */
struct cli_walk;
int cli_walk_begin(struct cli *c, struct cli_walk **ret, struct ga_error *err);
void cli_walk_free(struct cli_walk *w);
/* Walk over `items`, which it takes over, and fill `ret`. After cli_walk_refused(), items that have
 * not changed have their answers already. 1: nothing to do. */
int cli_walk(struct cli_walk *w, const struct ga_report *r, struct ga_review_items *items,
	     struct cli_verdict *ret, struct ga_error *err);
/* After a refusal, ask whether to try again. 1: no. */
int cli_walk_refused(struct cli_walk *w, struct ga_error *err);
