/* SPDX-License-Identifier: MIT
 *
 * Deciding about what a session did, on the command line and step by step.
 */
#ifndef REVIEW_H
#define REVIEW_H

#include "cli.h"
#include "ga/land/land.h"
#include "ga/review/review.h"

/* What is asked to be decided, and what goes with it. */
struct cli_verdict {
	struct ga_decision decision;
	struct ga_remarks remarks;
	const char *feedback; /* file that what is rejected is appended to, or NULL: with a
			       * remark, the session keeps it for its next resume */
	bool decided;         /* it was carried out; what failed after that does not undo it */
};
#define CLI_VERDICT_INIT { .decision = GA_DECISION_INIT, .remarks = GA_REMARKS_INIT }

/* Deciding with the user, on the terminal. It keeps the answers: if carrying them out is refused,
 * the user need not give them again. */
struct cli_walk;
int cli_walk_begin(struct cli *c, bool ask_remarks, struct cli_walk **ret, struct ga_error *err);
void cli_walk_free(struct cli_walk *w);
/* Walk over `items`, which it takes over, and fill `ret`. After cli_walk_refused(), items that have
 * not changed have their answers already. 1: there is nothing to be done. */
int cli_walk(struct cli_walk *w, const struct ga_report *r, struct ga_review_items *items,
	     struct cli_verdict *ret, struct ga_error *err);
/* Carrying it out was refused: ask whether to try again. 1: no. */
int cli_walk_refused(struct cli_walk *w, struct ga_error *err);

#endif
