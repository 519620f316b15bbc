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
	bool decided;         /* it is true, whatever failed behind that */
};
#define CLI_VERDICT_INIT { .decision = GA_DECISION_INIT, .remarks = GA_REMARKS_INIT }
void cli_verdict_release(struct cli_verdict *v);
#define cleanup_verdict cleanup_(cli_verdict_release)

/* Reject the hunks that `list` ("1,3-4") names, as the diff of `path` counts them; with `keep`
 * all others, and accept the path as it is then. */
int cli_decide_hunks(struct cli *c, const struct ga_review_items *items, const char *path,
		     const char *list, bool keep, struct cli_verdict *v, struct ga_error *err);

/* Make it true; what was rejected goes to the file. */
int cli_decide(struct cli *c, struct ga_session *s, struct ga_report *r, struct cli_verdict *v,
	       struct ga_error *err);

/* Deciding with the user, on the terminal. What was answered stays in it: if it is refused when it
 * is made true, nobody has to answer again. */
struct cli_walk;
int cli_walk_begin(struct cli *c, bool ask_remarks, struct cli_walk **ret, struct ga_error *err);
void cli_walk_free(struct cli_walk *w);
/* Walk over `items`, which it takes over. After cli_walk_refused() answers to what is as it was are
 * there already. 1: there is nothing to be done. */
int cli_walk(struct cli_walk *w, const struct ga_report *r, struct ga_review_items *items,
	     struct cli_verdict *ret, struct ga_error *err);
/* It was refused. Once more? 1: no. */
int cli_walk_refused(struct cli_walk *w, struct ga_error *err);

#endif
