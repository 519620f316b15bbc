/* SPDX-License-Identifier: MIT
 *
 * The sessions of a repository as `git agent list` shows them: a row each, read at once, of which
 * only what a running session does is looked at again.
 */
#ifndef LISTING_H
#define LISTING_H

#include <jansson.h>
#include <stdio.h>

#include "cli.h"
#include "ga/review/review.h"
#include "ga/run/live.h"

/* Sessions that have not landed, compared with the current branch and with each other by their
 * commits and paths alone: nothing is merged. */
struct cli_compare {
	struct ga_oid head;
	bool has_head;
	struct cli_compared {
		char *name;
		struct ga_changes changes; /* of its branch against what it started from */
	} *v;
	size_t n, cap;
};
#define CLI_COMPARE_INIT { .has_head = false }

#define CLI_COMMITS_MAX 999
struct cli_counts {
	size_t behind;         /* commits of the current branch that it does not have, */
	size_t commits, files; /* commits that it made, at most so many of both, and files that
				* they change; what is held counts */
};

struct cli_row {
	struct ga_session s;
	struct ga_report r;
	struct ga_live_peer peer; /* of one that runs and answers */
	struct cli_counts counts;
	char *elsewhere;          /* what it does on the host s.id.remote; NULL: it is here */
	bool running;
	bool unfinished, conflicts; /* a landing of it waits to be finished; files are unmerged */
	char *idle;               /* of one that has ended: that it has no work, and what it has
				   * instead; of one whose host is silent: what it did last and
				   * when; else "" */
	char *next;               /* a line with its next command; "" if there is none */
};
struct cli_listing {
	struct cli_row *v;
	size_t n, cap;
	struct cli_compare compare;
};
#define CLI_LISTING_INIT { .compare = CLI_COMPARE_INIT }
void cli_listing_release(struct cli_listing *l);
#define cleanup_listing cleanup_(cli_listing_release)

/* Read all sessions; one that was interrupted is captured first. One that cannot be read is left
 * out, the error is printed, and the status of `c` is that of the error. */
int cli_listing_read(struct cli *c, struct cli_listing *ret, struct ga_error *err);
/* Look again at what those that run are doing. */
void cli_listing_look(struct cli_listing *l);

/* A line for each, of at most 80 columns. */
void cli_listing_print(const struct cli_listing *l, FILE *f);
/* Behind it, for users: the next commands of the first few, and who changes the same paths. */
void cli_listing_print_more(const struct cli_listing *l, FILE *f);
json_t *cli_listing_json(const struct cli_listing *l);

#endif
