/* SPDX-License-Identifier: MIT
 *
 * Land a session's branch on the branch that is checked out, undo that, and carry out the user's
 * verdicts on flags. The caller holds the session's lock.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"
#include "ga/review/review.h"
#include "ga/session/session.h"

enum ga_land_how {
	GA_LAND_MERGE,   /* a merge commit, even where HEAD could be fast-forwarded */
	GA_LAND_SQUASH,  /* one commit with all changes */
	GA_LAND_REBASE,  /* the branch's commits, without merges, applied again on HEAD */
	GA_LAND_FF_ONLY, /* HEAD is fast-forwarded to the branch; refused where it cannot be */
};

struct ga_land_opts {
	enum ga_land_how how;
	bool dry_run;        /* check everything, change nothing in working tree, index and refs */
	bool edit;           /* open the message in the user's editor */
	/* For GA_LAND_MERGE and GA_LAND_SQUASH: stop before the commit, which the user makes; the
	 * session has not landed then. */
	bool no_commit;
	bool with_base;      /* also land commits that the session is based on and HEAD lacks */
	bool skip_uncommitted; /* do not apply the session's changes to uncommitted work */
	/* Land only these paths and what lies beneath them ("": the top), as one commit of the
	 * user's (GA_LAND_SQUASH); NULL: all. The session has landed once nothing remains; until
	 * then undoing it names the paths. */
	const struct ga_strv *paths;
	/* -m, for those two; NULL: "Merge agent/<name>", or "Squash agent/<name>" and the subjects
	 * of its commits. */
	const char *message;
	const struct ga_risk_paths *risk; /* the setting `risk`; NULL: nothing is configured */
	const struct ga_gitconfig *config; /* git's configuration, as read just now; NULL: it is
					    * read here */
};

struct ga_land_result {
	struct ga_oid commit;        /* HEAD after the landing */
	bool rolled_back;            /* an interrupted landing was rolled back first */
	struct ga_strv new_flags;    /* flags on git's or a hook's result: "path: reason", quoted */
	bool uncommitted;            /* the commit is left to the user */
	bool rest;                   /* other paths, or commits, have yet to be landed */
	bool nothing;                /* there was nothing to land */
	struct ga_strv applied;      /* paths applied as uncommitted changes */
	struct ga_strv not_applied;  /* paths that could not be: "path: reason", quoted */
};
#define GA_LAND_RESULT_INIT { 0 }
void ga_land_result_release(struct ga_land_result *r);

/* Land agent/<name> on HEAD: run the rules in memory on what would land, check that git would
 * accept it, let git update branch, index and files with the user's hooks and signing, then apply
 * the session's changes to uncommitted work as uncommitted changes. What lands is the commit that
 * was checked, by its id.
 *
 * GA_EFLAGS while flags of the session are undecided, or if the rules, run on the result with the
 * present host, raise flags that no verdict of the same rule and path covers. Those are stored
 * in the report, unless this is a dry run, so that they can be decided.
 *
 * GA_ELOSE, with nothing touched, if git would refuse: an operation is in progress, uncommitted
 * changes or untracked files (ignored or not) would be overwritten, changes are staged and git has
 * to merge; if the branch was moved to where it lacks the session's own commits, or is based on
 * commits that HEAD lacks (unless `with_base`); if a change to uncommitted work conflicts.
 * GA_ECONFLICT if git left a merge in progress: a conflict, or a hook refused. GA_EPART if it has
 * landed, but a file to be changed without a commit has been modified since.
 *
 * A record of the working tree's last landing is kept in <git dir>/git-agent/landing. A landing
 * that was killed or failed in the middle is completed or rolled back by the next of these
 * functions in that working tree (but not by a dry run, GA_ELOSE). Only one of them runs at a time:
 * GA_EFATAL for another.
 *
 * On success `s` is LANDED and saved, unless a part is still to be landed (ret->rest). Needs git
 * 2.38. */
int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err);

/* Continue a landing that was left to the user, even if the user has committed it by plain git: git
 * commit, with `message` (NULL: git's), then the uncommitted changes. GA_ECONFLICT again if git
 * does not commit. ret->new_flags gets the flags on the commit. */
int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		     const struct ga_risk_paths *risk, const char *message,
		     struct ga_land_result *ret, struct ga_error *err);
/* Abort it, as `git merge --abort` does (a squash: `git reset --merge`); or roll back a landing
 * that was killed. */
int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* Undo the last landing of this working tree: its uncommitted changes, then HEAD's branch, index
 * and files, as git switches to another commit, so that uncommitted work elsewhere stays. `s` is
 * saved as not landed. `*ret_head` is HEAD afterwards; zero: unborn.
 *
 * GA_ELOSE, with nothing touched, if HEAD is no longer at the landing (the hint is a git command),
 * if git would refuse, or if a file with its uncommitted changes has been modified. */
int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err);
/* The session of the last landing in this working tree. Returns 1 if there is none. The caller
 * frees it. */
int ga_land_last(struct ga_repo *r, char **ret_session, struct ga_error *err);

/* The names, sorted, of the sessions with a landing in progress in any working tree; and, unless it
 * is NULL, of those with unmerged files there. Touches nothing. */
int ga_land_unfinished(struct ga_repo *r, struct ga_strv *ret, struct ga_strv *ret_conflicts,
		       struct ga_error *err);
/* Fail (GA_ELOSE) while a landing of the session is in progress in any working tree. Touches
 * nothing. */
int ga_land_check_ended(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Is the session's branch integrated: merged; squashed, so that merging it would change nothing,
 * now or at some commit since; or rebased or cherry-picked, each commit by patch id? Not if lines
 * were changed by then. The candidates are HEAD, the branch the session started from, the
 * remote-tracking refs of their upstreams, and origin's first branch. Commits that somebody added
 * to the branch on a remote count as its own. If the branch was moved and lacks the session's last
 * commit (s->tip), that commit must be integrated as well.
 *
 * It is not integrated while something is held or is based on uncommitted work, which no branch
 * has; nor if all of it was reverted since; nor where a ref had it before the session began (by
 * commit dates; not checked for a fetched session). HEAD on the session's own branch does not
 * count. Runs git on refs and objects alone, for a bounded time; with too many commits or paths to
 * check the answer is GA_LANDED_NOT. The answer is cached in the session's directory until one of
 * these refs moves. */
enum ga_landed_how {
	GA_LANDED_NOT,
	GA_LANDED_MERGED,
	GA_LANDED_SQUASHED,
	GA_LANDED_PICKED,
};
/* "merged", "squashed", "picked"; "not". */
const char *ga_landed_name(enum ga_landed_how how);
struct ga_arrival {
	enum ga_landed_how how;
	char *where; /* full name of the ref that has it; NULL: none of the candidates */
};
#define GA_ARRIVAL_INIT { GA_LANDED_NOT, NULL }
void ga_arrival_release(struct ga_arrival *a);
int ga_find_arrival(struct ga_repo *r, const struct ga_session *s, struct ga_arrival *ret,
		    struct ga_error *err);
/* Returns 1 if a branch, remote branch or tag has it, and not only a detached HEAD or the commit
 * that a superproject names. */
int ga_arrival_lasts(struct ga_repo *r, const struct ga_session *s, const struct ga_arrival *a,
		     struct ga_error *err);
/* ga_find_arrival() alone: 1 if it is integrated, 0 if not. */
int ga_landed(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Returns 1 if the session's branch, which is at `branch`, lacks its last captured commit (s->tip)
 * since somebody moved it, or that commit is missing; else 0. */
int ga_branch_lacks(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    struct ga_error *err);

/* All that the user accepts and rejects at once. Paths are relative to the root; a directory means
 * everything beneath it, unless `exact` is set: then "" is the session as a whole. */
struct ga_decision {
	struct ga_strv accept, reject;
	bool accept_all;   /* every open flag */
	bool critical_too;
	const struct ga_risk_paths *risk; /* the setting `risk` as configured now; NULL: nothing.
					   * Borrowed */
	bool exact;
	struct ga_oid reviewed;       /* the branch's tip when it was reviewed; zero: not checked */
};
#define GA_DECISION_INIT { .accept = GA_STRV_INIT, .reject = GA_STRV_INIT }
void ga_decision_release(struct ga_decision *d);
#define cleanup_decision cleanup_(ga_decision_release)
/* Carry out a decision.
 *
 * Accepting: the verdict binds to path and entry; held paths are added to the branch by one commit
 * (a three-way merge of held's parent, the branch and held). Critical and held paths are accepted
 * only with `critical_too`, and then by their own name or `accept_all`, never by that of their
 * directory. Leftovers flagged by path alone are not accepted: there is no entry to bind the
 * verdict to. Nor is what `risk` blocks: GA_EFLAGS if it was named; with `accept_all` it stays
 * open.
 *
 * Rejecting: one commit restores the base's version of the paths (flagged or not); held ones are
 * dropped from `held`; left-out ones no longer land. GA_EFATAL for a flagged path to which none of
 * that applies, but which landing on HEAD would change: the hint names the session's path that
 * lands there, if it is known. If edits of a file are rejected, that commit, or `held`, contains
 * the file without them; flags of the file are rejected and rules run on the rest: what they find
 * is accepted if the path is accepted, else open.
 *
 * Rejecting comes first. What is still held becomes a child of the new tip, unless one of its paths
 * was changed on the branch too: then it keeps its parent. `held` is deleted once it is empty.
 *
 * Branch, held and report are updated together, comparing old values, then `s` is saved; `s` and
 * `report` hold the new state. `*rejected_or_null` (initially empty) receives what was rejected:
 * from each path as it is now to what the agent had. Nothing changes on failure. If the branch has
 * to move, it must not be checked out. GA_ELOSE if something is rejected while a landing with it is
 * in progress. GA_ECONFLICT if an accepted path was also changed on the branch since, and if the
 * branch is not what was reviewed. */
int ga_decide(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	      const struct ga_decision *what, struct ga_changes *rejected_or_null,
	      struct ga_error *err);
