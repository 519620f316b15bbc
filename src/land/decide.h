/* SPDX-License-Identifier: MIT
 *
 * One decision on its way.
 */
#ifndef GA_LAND_DECIDE_H
#define GA_LAND_DECIDE_H

#include "ga/risk.h"
#include "ga/strmap.h"
#include "land-internal.h"

struct decision {
	struct ga_repo *repo;
	struct ga_session *s;
	struct ga_report *report;
	const struct ga_decision *what;
	struct ga_strmap accepts, rejects; /* what was given, as decide-choose.c matches it */
	struct ga_strmap flagged;          /* paths of flags, to their indices */

	struct land_refs refs;
	char *committer;
	struct ga_oid tip, tip_tree; /* of the branch, or of what it would stand on */
	struct ga_oid base_tree;
	struct ga_oid under, under_tree; /* the parent of `held` */
	struct ga_changes held;        /* what `held` has beyond it */
	enum ga_verdict *verdict;      /* by flag; open: none now */
	/* sorted once all of them are chosen: */
	struct ga_strv bring, give_up; /* held paths accepted, rejected */
	struct ga_strv restore;        /* branch paths put back */
	struct ga_strv unlist;         /* left-out paths not to be brought */
	struct ga_strv by_name;        /* critical ones only their directory was given for */
	struct ga_strv blocked;        /* what is never accepted, and was meant */
	struct ga_strv unseen;         /* what was left behind, and nobody has looked into */
	bool any;                      /* the paths given meant something */
	struct ga_changes cut, cut_held; /* of the branch and of `held`: what is there, and the same
					  * without the parts that were rejected */
	struct ga_flags found;         /* what rules say of these */
	struct ga_changes undone;      /* from what there is afterwards to what was rejected */

	struct ga_oid new_tip, new_tip_tree, new_held;
};

bool decide_held(const struct decision *d, const char *path);
bool decide_flagged(const struct decision *d, const char *path);

/* decide-choose.c: which flags and paths are meant. */
int decide_choose(struct decision *d, struct ga_error *err);
/* Is what stands at the path accepted, if that is `grave`: critical or held back? Never what is
 * configured so. */
bool decide_accepts(const struct decision *d, const char *path, const struct ga_entry *e,
		    bool grave);

/* decide-hunks.c: write files without the parts that are rejected; `held` has them then. */
int decide_cut(struct decision *d, struct ga_error *err);
/* Run the rules on these, as they are on the branch and in `held`, and put what they say into the
 * report. */
int decide_classify(struct decision *d, struct ga_error *err);
void decide_add_found(const struct decision *d, struct ga_report *r);

#endif
