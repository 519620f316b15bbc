/* SPDX-License-Identifier: MIT
 *
 * Deciding about what a session did, on the command line and step by step.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "cli.h"
#include "ga/land.h"
#include "ga/report.h"

/* What is asked to be decided, and what goes with it. */
struct cli_verdict {
	struct ga_decision decision;
	struct ga_remarks remarks;
	const char *feedback; /* file that what is rejected is appended to, or NULL */
};
#define CLI_VERDICT_INIT { .decision = GA_DECISION_INIT, .remarks = GA_REMARKS_INIT }
void cli_verdict_release(struct cli_verdict *v);
#define cleanup_verdict cleanup_(cli_verdict_release)

/* Reject the hunks that `list` ("1,3-4") names, as the diff of `path` counts them. */
int cli_reject_hunks(struct cli *c, const struct ga_review_items *items, const char *path,
		     const char *list, struct cli_verdict *v, struct ga_error *err);

/* Make it true; what was rejected goes to the file. */
int cli_decide(struct cli *c, struct ga_session *s, struct ga_report *r,
	       const struct cli_verdict *v, struct ga_error *err);

/* Walk over `items` with the user, on the terminal. 1: there is nothing to be done. */
int cli_walk(struct cli *c, const struct ga_report *r, const struct ga_review_items *items,
	     struct cli_verdict *ret, struct ga_error *err);

#endif
