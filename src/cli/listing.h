/* SPDX-License-Identifier: MIT
 *
 * Sessions as `git agent list` shows them: one row each, read once; only running sessions are
 * polled.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli.h"
#include "ga/review/review.h"
#include "ga/run/control.h"

/* Sessions that have not landed, compared with the current branch and each other by commits and
 * paths, without a merge. */
struct cli_compare {
	struct ga_oid head;
	bool has_head;
	struct cli_compared {
		char *name;
		struct ga_changes changes; /* its branch compared with its base */
	} *v;
	size_t n, cap;
};
#define CLI_COMPARE_INIT { .has_head = false }

#define CLI_COMMITS_MAX 999
struct cli_counts {
	size_t behind;         /* commits of the current branch that it does not have, */
	/* its commits, both with this limit, and files that they change, held ones included */
	size_t commits, files;
};

struct cli_row {
	struct ga_session s;
	struct ga_report r;
	struct ga_control_peer peer; /* of one that runs and answers */
	struct cli_counts counts;
	char *elsewhere;          /* status on the host s.id.remote; NULL: local */
	bool running;
	bool unfinished, conflicts; /* its landing must be continued; unmerged files */
	/* ended without work: what it has instead; host not answering: its last status and when;
	 * else "" */
	char *idle;
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
/* Update the status of running sessions. */
void cli_listing_update(struct cli_listing *l);

/* A line for each, of at most 80 columns. */
void cli_listing_print(const struct cli_listing *l, FILE *f);
/* After the rows: next commands of the first few, and sessions that change the same paths. */
void cli_listing_print_more(const struct cli_listing *l, FILE *f);
json_t *cli_listing_json(const struct cli_listing *l);
