/* SPDX-License-Identifier: MIT
 *
 * The state of one decision while it is carried out.
 */
#pragma once

#include "ga/base/strmap.h"
#include "ga/risk/risk.h"
#include "land-internal.h"

/* The refs and trees that a decision changes. */
struct decided {
	struct ga_oid branch, held_ref, report_ref; /* where the refs are; zero: missing */
	struct ga_oid tip, tip_tree; /* of the branch or, without one, s->id.onto */
	struct ga_oid base_tree;
	struct ga_oid under, under_tree; /* the parent of `held` */
	struct ga_changes held;        /* what `held` changes against that */
};

/* What was chosen (decide-choose.c). */
struct chosen {
	struct ga_strmap accepts, rejects; /* the paths that were given, normalized */
	struct ga_strmap flagged;      /* paths of flags, to their indices */
	enum ga_verdict *verdict;      /* by index of the report's flags; open: no new verdict */
	/* sorted once all are chosen: */
	struct ga_strv accept, reject; /* held paths that are accepted, rejected */
	struct ga_strv restore;        /* paths of the branch that are restored to the base */
	struct ga_strv unlist;         /* left-out paths that are rejected */
	struct ga_strv by_name;        /* critical or held ones, not named themselves or without
					* critical_too */
	struct ga_strv blocked;        /* matched, but `risk` blocks them */
	struct ga_strv leftovers;      /* matched, but in no commit */
	bool any;                      /* the paths given matched something */
};

struct decision {
	struct ga_repo *repo;
	struct ga_session *s;
	struct ga_report *report;
	const struct ga_decision *what;
	char *committer;
	struct decided at;
	struct chosen chosen;
	struct ga_changes undone;      /* from the result to what was rejected */
	struct ga_oid new_tip, new_tip_tree, new_held;
};

bool decide_held(const struct decision *d, const char *path);
bool decide_flagged(const struct decision *d, const char *path);

/* decide-choose.c: choose the flags and paths that the decision is about. */
int decide_choose(struct decision *d, struct ga_error *err);
