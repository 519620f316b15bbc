/* SPDX-License-Identifier: MIT
 *
 * The review of a session as a value, its stored form on
 * refs/agent/<name>/report, and its renderings.
 */
#ifndef GA_REPORT_H
#define GA_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/risk.h"
#include "ga/session.h"
#include "ga/upper.h"

enum ga_verdict { GA_VERDICT_OPEN, GA_VERDICT_ACCEPTED, GA_VERDICT_REJECTED };

struct ga_report_flag {
	char *id, *category, *path, *reason;
	enum ga_severity severity;
	struct ga_entry entry;
	bool held;
	enum ga_verdict verdict; /* bound to (path, entry) */
};

struct ga_report {
	char *session;
	struct ga_strv command;
	struct ga_oid base, tip, held;  /* base: what the branch stands on */
	struct ga_report_flag *flags;
	size_t n_flags, cap_flags;
	struct ga_left_list left;
	struct ga_strv notes;
	struct ga_strv left_out;
};
#define GA_REPORT_INIT { 0 }
void ga_report_release(struct ga_report *r);
#define cleanup_report cleanup_(ga_report_release)

/* Add flags; `held_paths` says which are held. A flag already there with the same rule, path and entry keeps its verdict. */
void ga_report_add_flags(struct ga_report *r, const struct ga_flags *f, const struct ga_strv *held_paths);

/* The stored form: one JSON object. Written as a commit (parent: the former report, or none) whose
 * tree has one blob "report.json"; not yet on the ref: the caller updates it with the others. */
int ga_report_write(struct ga_repo *repo, const struct ga_report *r, const char *committer,
		    const struct ga_oid *parent_or_null, struct ga_oid *ret, struct ga_error *err);
/* Returns 1 if the session has none. */
int ga_report_read(struct ga_repo *repo, const struct ga_session *s, struct ga_report *ret,
		   struct ga_error *err);

/* Open high or critical flags. */
size_t ga_report_open(const struct ga_report *r);

/* The object of `review --format=json` (docs/json.md). New reference. */
json_t *ga_report_json(struct ga_repo *repo, const struct ga_report *r, struct ga_error *err);

/* Header, flags, held, left behind, diffstat as text; everything of the agent's escaped. */
int ga_report_text(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		   bool colour, struct ga_buf *out, struct ga_error *err);

#endif
