/* SPDX-License-Identifier: MIT
 *
 * Bringing a session's branch into the branch the user is on.
 */
#ifndef GA_LAND_H
#define GA_LAND_H

#include "ga/error.h"
#include "ga/repo.h"
#include "ga/report.h"
#include "ga/session.h"

struct ga_land_opts {
	bool dry_run;
	const char *message; /* -m */
};

struct ga_land_result {
	struct ga_oid commit;        /* HEAD afterwards */
	bool nothing;                /* there was nothing to land */
	struct ga_strv brought;      /* paths brought as uncommitted edits */
	struct ga_strv not_brought;  /* paths that overlap with the user's work: "path: reason" */
};
#define GA_LAND_RESULT_INIT { 0 }
void ga_land_result_release(struct ga_land_result *r);

/* Merge agent/<name> into HEAD with git (no-ff, the user's hooks and signing),
 * then bring the paths that could not be separated from the user's work as uncommitted edits.
 * GA_EFLAGS while high or critical flags are open or the rules, run again on the
 * merge result, find new ones; GA_ELOSE when git would overwrite uncommitted
 * work (nothing touched); GA_ECONFLICT when an ordinary conflict is left. */
int ga_land(struct ga_repo *r, struct ga_session *s, const struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err);

/* Has the session's tip arrived in HEAD by whatever way: ancestor, or merging it changes nothing? 1 yes. */
int ga_landed(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Accept or reject flags of these paths (all open ones when `paths` is empty and
 * `all`): verdicts bind to the entry; accepting held paths adds a commit to the branch that brings them, rejecting
 * one that restores the base content. Updates branch, held and report refs together, and `s`, `report`. */
int ga_decide(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	      const struct ga_strv *paths, bool all, bool accept, bool critical_too, struct ga_error *err);

#endif
