/* SPDX-License-Identifier: MIT
 *
 * The steps from trees and commits to what is published.
 */
#ifndef CAPTURE_RESULT_H
#define CAPTURE_RESULT_H

#include "capture-internal.h"
#include "ga/capture/rewrite.h"

struct outcome {
	char *committer;            /* "Name <mail> seconds zone" */
	struct ga_strv early;       /* sorted paths of ref files that existed before ... */
	struct ga_sync_beside *syncing_early, *syncing; /* ... whose sync, like that of what was
							 * written since, is under way; or NULL */
	struct ga_host_facts facts;
	bool have_facts;
	struct ga_refs_job *refs;   /* the git that updates refs, waiting for commands; or NULL */
	struct ga_classified rest;  /* changes in the commit of what the agent left uncommitted */
	struct ga_oid tree;         /* what the layers show, with what is `newer` */
	struct ga_changes newer;    /* changes of the user's that the agent's history lacks, from
				     * what the layers show */
	struct ga_oid history;      /* tip of the agent's commits and that commit; == base: nothing
				     * was done */
	struct ga_oid carried;      /* that tip before the uncommitted work was taken out; zero:
				     * there was none */
	struct ga_strv left_out, renamed; /* see struct ga_session */
	struct ga_strv hold_always;
	struct ga_rewrite rewrite;
	struct ga_report *report;   /* the caller's */
	struct ga_oid report_id;
};
void outcome_release(struct outcome *o);

/* Author and committer of the tool's commits: the user, at the session's end. */
int make_committer(struct capture *c, struct outcome *o, struct ga_error *err);

/* Gather what makes paths dangerous on this host, unless that is done. */
int need_facts(struct capture *c, struct outcome *o, struct ga_error *err);
/* Begin to sync the refs that the start made, which did not wait for that. */
void sync_early(struct capture *c, struct outcome *o);
/* Wait for that sync. Also to be called before any fork: a child that is forked while a thread runs
 * may find locks held that nobody will ever release (an allocator's, a sanitizer's). */
int end_sync_early(struct outcome *o, struct ga_error *err);
/* Start the git that updates refs, unless that is done. */
int need_refs(struct capture *c, struct outcome *o, struct ga_error *err);

/* Make a commit of what the layers have and the agent did not commit, if there is anything
 * (message.c). */
int commit_rest(struct capture *c, struct outcome *o, struct ga_error *err);

/* Note names and dates in the agent's commits that are not the user's own (message.c). */
int note_claims(struct capture *c, struct outcome *o, struct ga_error *err);

/* Take the user's uncommitted work out of everything that may become a ref, and find what the agent
 * did to it (wip.c). */
int leave_wip(struct capture *c, struct outcome *o, struct ga_error *err);

/* Gather paths of the history that a merge would overwrite on the host. */
int gather_holds(struct capture *c, struct outcome *o, struct ga_error *err);

/* Add the flags of what earlier runs published and is still on the branch to `r` (former.c), with
 * the verdicts they had when this run began, whether this one was captured before or not. If that
 * cannot be told, its commits are flagged anew. */
int add_former(struct capture *c, const struct outcome *o, struct ga_report *r,
	       struct ga_error *err);

/* Fill the report, keeping verdicts given before, and write it as an object. */
int make_report(struct capture *c, struct outcome *o, struct ga_error *err);

/* The changes to refs (plan.c). */
struct plan {
	struct ga_ref_updates u;
	struct ga_strv stand; /* refs that have their value already, but maybe not on the disk
			       * yet */
};
#define PLAN_INIT { GA_REF_UPDATES_INIT, GA_STRV_INIT }
void plan_release(struct plan *p);
/* Is there anything to be published as a branch? Not if nothing was changed, nor if everything that
 * was has to be kept off it. */
bool anything(const struct capture *c, const struct outcome *o);
/* Refs whose names clash with new ones are removed when this returns. */
int make_plan(struct capture *c, const struct outcome *o, struct plan *p, struct ga_error *err);
/* Does the session have a result? If it only has its base, nobody need wait for that to be on the
 * disk. */
bool has_result(const struct capture *c, const struct plan *p);

/* Update all refs together, then remove .keep files and the worktree entry, then save the state. */
int publish(struct capture *c, struct outcome *o, struct ga_error *err);

#endif
