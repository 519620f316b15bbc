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
	struct ga_strv early;       /* paths of refs that were there, sorted, ... */
	struct ga_sync_beside *syncing_early, *syncing; /* ... which, and what was written since,
							 * are on their way to the disk; or NULL */
	struct ga_host_facts facts;
	bool have_facts;
	struct ga_refs_job *refs;   /* git, started and waiting for what it is to do; or NULL */
	struct ga_classified rest;  /* what the commit for the rest changes */
	struct ga_oid history;      /* the agent's commits and one for the rest; == base: nothing */
	bool made_rest;             /* there is one for the rest */
	struct ga_strv hold_always;
	struct ga_rewrite rewrite;
	struct ga_report *report;   /* the caller's */
	struct ga_oid former_tip;   /* of the report that is there already; zero: none */
	struct ga_oid report_id;
};
void outcome_release(struct outcome *o);

/* Author and committer of the tool's commits: the user, at the session's end. */
int make_committer(struct capture *c, struct outcome *o, struct ga_error *err);

/* What the host has that makes paths dangerous. */
int need_facts(struct capture *c, struct outcome *o, struct ga_error *err);
/* Have the refs that the start made get to the disk: it need not have waited for that. */
void sync_early(struct capture *c, struct outcome *o);
/* Wait for that. Before any fork too: a child that is made while a thread runs may find locks which
 * nobody will ever open (an allocator's, a sanitizer's). */
int end_sync_early(struct outcome *o, struct ga_error *err);
/* Start what changes the refs, if it was not. */
int need_refs(struct capture *c, struct outcome *o, struct ga_error *err);

/* One more commit if the layers hold more than the agent committed (message.c). */
int commit_rest(struct capture *c, struct outcome *o, struct ga_error *err);

/* Names and dates of the agent's commits that are not the user's own (claims.c): noted. */
int note_claims(struct capture *c, struct outcome *o, struct ga_error *err);

/* Paths of the history that a merge would write over on the host. */
int gather_holds(struct capture *c, struct outcome *o, struct ga_error *err);

/* Flags of what earlier runs published and is still on the branch go to `r` (former.c), with the
 * verdicts they had when this one began. It makes no difference whether this one was captured
 * before. If nobody can say which they were, its commits are flagged once more. */
int add_former(struct capture *c, const struct outcome *o, struct ga_report *r,
	       struct ga_error *err);

/* Fill the report, keeping verdicts given before, and write it as an object. */
int make_report(struct capture *c, struct outcome *o, struct ga_error *err);

/* All refs together, then .keep files and worktree entry, then the state. */
int publish(struct capture *c, struct outcome *o, struct ga_error *err);

#endif
