/* SPDX-License-Identifier: MIT
 *
 * From trees and commits to what is published.
 */
#ifndef CAPTURE_RESULT_H
#define CAPTURE_RESULT_H

#include "capture-internal.h"
#include "ga/rewrite.h"

struct outcome {
	char *committer;            /* "Name <mail> seconds zone" */
	struct ga_strv early;       /* paths of refs that existed before, sorted, ... */
	struct ga_sync_beside *syncing_early, *syncing; /* ... which, like what was written since,
							 * are being synced; or NULL */
	struct ga_host_facts facts;
	bool have_facts;
	struct ga_refs_job *refs;   /* git, started and waiting to be told what to do; or NULL */
	struct ga_classified rest;  /* what the commit for the rest changes */
	struct ga_oid history;      /* the agent's commits and one for the rest; == base: nothing */
	bool made_rest;             /* there is one for the rest */
	struct ga_strv hold_always;
	struct ga_rewrite rewrite;
	struct ga_report *report;   /* the caller's */
	struct ga_oid former_tip;   /* tip that the report has which exists already; zero: none */
	struct ga_oid report_id;
};
void outcome_release(struct outcome *o);

/* Author and committer of the tool's commits: the user, at the session's end. */
int make_committer(struct capture *c, struct outcome *o, struct ga_error *err);

/* Gather what the host has that makes paths dangerous, unless that is done. */
int need_facts(struct capture *c, struct outcome *o, struct ga_error *err);
/* Begin to sync the refs that the start made, which did not wait for that. */
void sync_early(struct capture *c, struct outcome *o);
/* Wait for that. Also needed before any fork: a child that is made while a thread runs may find
 * locks held that nobody will ever release (an allocator's, a sanitizer's). */
int end_sync_early(struct outcome *o, struct ga_error *err);
/* Start the git that changes the refs, unless that is done. */
int need_refs(struct capture *c, struct outcome *o, struct ga_error *err);

/* One more commit if the layers hold more than the agent committed (message.c). */
int commit_rest(struct capture *c, struct outcome *o, struct ga_error *err);

/* Note names and dates in the agent's commits that are not the user's own (claims.c). */
int note_claims(struct capture *c, struct outcome *o, struct ga_error *err);

/* Gather paths of the history that a merge would overwrite on the host. */
int gather_holds(struct capture *c, struct outcome *o, struct ga_error *err);

/* Add the flags of what earlier runs published and is still on the branch to `r` (former.c), with
 * the verdicts they had when this run began, whether this one was captured before or not. If that
 * cannot be told, its commits are flagged anew. */
int add_former(struct capture *c, const struct outcome *o, struct ga_report *r,
	       struct ga_error *err);

/* Fill the report, keeping verdicts given before, and write it as an object. */
int make_report(struct capture *c, struct outcome *o, struct ga_error *err);

/* What is done to the refs (plan.c). */
struct plan {
	struct ga_ref_updates u;
	struct ga_strv stand; /* these have their value already, but may not be on the disk yet */
};
#define PLAN_INIT { GA_REF_UPDATES_INIT, GA_STRV_INIT }
void plan_release(struct plan *p);
/* Is there to be a branch? Not when nothing was changed, nor for commits of which
 * nothing may be on it. */
bool anything(const struct capture *c, const struct outcome *o);
/* What is in the way of new refs is off its place when this returns. */
int make_plan(struct capture *c, const struct outcome *o, struct plan *p, struct ga_error *err);
/* A session that did nothing has its base and no more, which nobody need wait for. */
bool has_result(const struct capture *c, const struct plan *p);

/* All refs together, then .keep files and worktree entry, then the state. */
int publish(struct capture *c, struct outcome *o, struct ga_error *err);

#endif
