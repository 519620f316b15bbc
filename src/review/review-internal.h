/* SPDX-License-Identifier: MIT
 *
 * Shared by the renderings of a report.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/history.h"
#include "ga/review/review.h"

/* One commit as listings show it; raw bytes, not escaped. */
struct review_commit {
	struct ga_oid id;
	char *author;  /* "Name <mail>" */
	char *date;    /* 2031-01-31T12:34:56+01:00, or NULL if the header makes no sense */
	char *subject; /* first line of the message */
};
struct review_commits {
	struct review_commit *v;
	size_t n;
};

/* Shared by all renderings: the commits base..tip, oldest first, and content that only these
 * have. */
struct review_facts {
	struct review_commits commits;
	struct ga_past past;
};
#define cleanup_facts cleanup_(review_facts_release)
void review_facts_release(struct review_facts *f);
int review_facts_read(struct ga_repo *repo, const struct ga_report *r, struct review_facts *ret,
		      struct ga_error *err);

/* "added", "deleted", "typechange" or "modified". */
const char *review_status(const struct ga_change *c);
const char *review_no_lines(const struct ga_diff_lines *l);

/* What a report compares its base with: the tip, or the base when there is none. */
const struct ga_oid *review_end(const struct ga_report *r);

/* The held changes: the commit that holds them against its parent; empty if nothing is held. */
int review_held(struct ga_repo *repo, const struct ga_report *r, struct ga_changes *ret,
		struct ga_error *err);

/* The agent's changes to paths that were left out of the branch; empty if there are none. */
int review_left_out(struct ga_repo *repo, const struct ga_report *r, struct ga_changes *ret,
		    struct ga_error *err);

/* "accepted", "held", "open" ... */
const char *review_flag_state(const struct ga_flag *f);

json_t *review_left_json(const struct ga_report *r);
/* The flags of leftovers: those of the report, and those raised by names and kinds of its lines. */
void review_left_flags(const struct ga_report *r, struct ga_flags *ret);
/* Those of a place: a line of the report, or a directory that covers several lines. */
void review_flags_inside(const struct ga_flags *all, const char *place, struct ga_flags *ret);
/* The high and critical ones of a place: each rule once, the worst first. */
void review_place_flags(const struct ga_flags *all, const char *place, struct ga_flags *ret);
/* Put a line for each of at most `max` places, and one with the number of its flags; returns how
 * many places there are. */
size_t review_put_places(struct ga_buf *out, const struct ga_report *r, size_t max);

enum review_colour { RC_NONE, RC_BOLD, RC_RED, RC_GREEN, RC_YELLOW, RC_CYAN, RC_DIM };

enum review_colour review_severity_colour(enum ga_severity s);
/* Append the first line of a flag's reason, and its rule. Both were quoted when they were made,
 * but a report is input. */
void review_put_reason(struct ga_buf *out, const char *reason, const char *rule);
/* Append text in a colour; plain if `colour` is false. The text must be escaped already. */
void review_paint(struct ga_buf *out, bool colour, enum review_colour c, const char *text);
