/* SPDX-License-Identifier: MIT
 *
 * Bringing a session's branch into the branch the user is on (landing), undoing that, and the
 * user's verdicts on flags. The caller holds the session's lock.
 */
#ifndef GA_LAND_H
#define GA_LAND_H

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
	bool with_base;      /* also commits that the session is based on and HEAD lacks */
	bool skip_uncommitted; /* do not bring what the session did to uncommitted work */
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
	bool rolled_back;            /* an interrupted landing was rolled back before this one */
	struct ga_strv new_flags;    /* raised by what git or a hook made of it: "path: reason",
				      * quoted */
	bool uncommitted;            /* the commit is left to the user */
	bool rest;                   /* other paths, or commits, have yet to be landed */
	bool nothing;                /* there was nothing to land */
	struct ga_strv brought;      /* paths brought as uncommitted edits */
	struct ga_strv not_brought;  /* paths that were not: "path: reason", quoted */
};
#define GA_LAND_RESULT_INIT { 0 }
void ga_land_result_release(struct ga_land_result *r);

/* Land agent/<name> on HEAD: judge in memory what would land, ask git whether it could, let git
 * move branch, index and files with the user's hooks and signing, then bring what the session
 * did to uncommitted work as uncommitted changes. What lands is the commit that was judged, by
 * its id.
 *
 * GA_EFLAGS while flags of the session are undecided, or if the rules, run on the result with
 * the host as it is now, raise flags that no verdict of the same rule and path covers. Those are
 * stored in the report, unless this is a dry run, so that they can be decided.
 *
 * GA_ELOSE, with nothing touched, if git would refuse: an operation is in progress, uncommitted
 * changes or untracked files (ignored or not) would be overwritten, changes are staged and git
 * has to merge; if the branch was moved to where it lacks the session's own commits, or is based
 * on commits that HEAD lacks (unless `with_base`); if a change to uncommitted work conflicts.
 * GA_ECONFLICT if git left a merge to the user: a conflict, a hook that refused. GA_EPART if it
 * has landed, but a file that was to be brought has changed since.
 *
 * A record of the working tree's last landing is kept in <git dir>/git-agent/landing. Whatever
 * was killed or failed in the middle is completed or rolled back by the next of these functions
 * in that working tree (but not by a dry run, GA_ELOSE). One of them runs at a time: GA_EFATAL
 * for another.
 *
 * On success `s` is LANDED and saved, unless a part is still to be landed (ret->rest). Needs git
 * 2.38. */
int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err);

/* Finish a landing that was left to the user: git commit, with `message` if it is given (NULL:
 * git's), then what comes as uncommitted changes. GA_ECONFLICT again if git does not commit.
 * Also for one that the user committed by plain git. Flags of what was committed are named
 * (ret->new_flags). */
int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		     const struct ga_risk_paths *risk, const char *message,
		     struct ga_land_result *ret, struct ga_error *err);
/* Give it up, as `git merge --abort` does (a squash: `git reset --merge`); or roll back a
 * landing that was killed. */
int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* Undo the last landing of this working tree: files that were brought, then HEAD's branch, index
 * and files as git switches to another commit, so that uncommitted work elsewhere stays. `s` has
 * not landed then, and is saved. `*ret_head` is HEAD afterwards; zero: unborn.
 *
 * GA_ELOSE, with nothing touched, if HEAD is not at the landing any more (the hint is git's
 * command for it), if git would refuse, or if a file that was brought has changed. */
int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err);
/* The session of the last landing in this working tree. Returns 1 if there is none. The caller
 * frees it. */
int ga_land_last(struct ga_repo *r, char **ret_session, struct ga_error *err);

/* The names of the sessions of which a landing, in any working tree, is neither finished nor given
 * up, sorted; and, unless it is NULL, of those of them of which files are unmerged there. Touches
 * nothing. */
int ga_land_unfinished(struct ga_repo *r, struct ga_strv *ret, struct ga_strv *ret_conflicts,
		       struct ga_error *err);
/* Fail (GA_ELOSE) while a landing of the session, in any working tree, is neither finished nor
 * given up. Touches nothing. */
int ga_land_check_ended(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Has the session's branch arrived, in whatever way: merged; squashed or brought otherwise, so that
 * merging it would change nothing, now or at some commit since; or commit by commit, rebased or
 * cherry-picked, by patch id? Not if lines were changed by then. Looked for in HEAD, in the
 * branch the session started from, in the remote-tracking refs of their upstreams, and in origin's
 * first branch. Commits that somebody added to the branch on a remote count as its own. If the
 * branch was moved to where it lacks the session's last commit (s->tip), that commit has to have
 * arrived as well.
 *
 * It has not arrived while something is held or is based on uncommitted work, which no branch
 * can bring; nor if all of it was reverted since; nor where it already was before the session
 * began (by the dates of commits; not asked of a session that was fetched). HEAD being on the
 * session's own branch is no arrival. Runs git, reading nothing of the user's but refs and objects,
 * for a bounded time; if the changes are in too many commits or paths to look at, the answer is
 * that it has not arrived. The answer is cached beside the state file until one of these refs
 * moves. */
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
	char *where; /* full name of the ref that has it; NULL: not in one that was looked at */
};
#define GA_ARRIVAL_INIT { GA_LANDED_NOT, NULL }
void ga_arrival_release(struct ga_arrival *a);
int ga_arrived(struct ga_repo *r, const struct ga_session *s, struct ga_arrival *ret,
	       struct ga_error *err);
/* Does a branch, remote branch or tag have what arrived, and not only HEAD, detached, or the commit
 * that a superproject names? 1 yes. */
int ga_arrival_lasts(struct ga_repo *r, const struct ga_session *s, const struct ga_arrival *a,
		     struct ga_error *err);
/* The answer alone: 1 if it has arrived, 0 if not. */
int ga_landed(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Was the session's branch, which is at `branch`, moved by hand to where it lacks the last commit
 * that we know of (s->tip), or is that commit gone? 1 yes, 0 no. */
int ga_branch_lacks(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    struct ga_error *err);

/* Edits of one file that are rejected. */
struct ga_hunk_choice {
	struct ga_change change; /* as it was reviewed; its path is owned */
	bool held;               /* it is about what is held of the file, not what is on the
				  * branch */
	bool *undo;              /* by index of the edits of ga_hunks_read() */
	size_t n;
};

/* What the user decides, all of it at once. Paths are relative to the root; a directory stands for
 * everything beneath it, unless `exact` is set: then "" is the session as a whole. */
struct ga_decision {
	struct ga_strv accept, reject;
	bool accept_all;   /* every open flag */
	bool critical_too;
	const struct ga_risk_paths *risk; /* the setting `risk` as configured now; NULL: nothing.
					   * Borrowed */
	bool exact;
	struct ga_oid reviewed;       /* where the branch was when it was reviewed; zero: does not
				       * matter */
	struct ga_hunk_choice *hunks; /* for paths that are not in `reject` */
	size_t n_hunks;
};
#define GA_DECISION_INIT { .accept = GA_STRV_INIT, .reject = GA_STRV_INIT }
void ga_decision_release(struct ga_decision *d);
#define cleanup_decision cleanup_(ga_decision_release)
/* Add the edits of one file that are rejected. Copies everything. */
void ga_decision_add_hunks(struct ga_decision *d, const struct ga_change *c, bool held,
			   const bool *undo, size_t n);

/* Carry out a decision.
 *
 * Accepting: the verdict binds to path and entry; held paths are brought to the branch by one
 * commit (a three-way merge of held's parent, the branch and held). Critical and held paths are
 * accepted only with `critical_too`, and then by their own name or `accept_all`, never by that of
 * their directory. What is flagged for its place alone (leftovers that were not looked into yet) is
 * not accepted: there is no entry the verdict could bind to. Nor is what `risk` blocks: GA_EFLAGS
 * if it was named; with `accept_all` it stays open.
 *
 * Rejecting: one commit restores the paths (flagged or not) to what the base has; held ones are
 * dropped from `held`; left-out ones are no longer brought. GA_EFATAL for a flagged path with none
 * of that to be done, if landing on HEAD would change it all the same: the hint names the path of
 * the session's that lands there, if it is known. If edits of a file are rejected, that commit, or
 * `held`, contains the file without them; flags of the file are rejected and rules run on the rest:
 * what they find is accepted if the path is accepted, else open.
 *
 * With both, rejecting comes first. What is still held becomes a child of the new tip, unless one
 * of its paths was changed on the branch too: then it stays a child of the commit it was on. `held`
 * is deleted when nothing is left in it.
 *
 * Branch, held and report are updated together, comparing old values, then `s` is saved; `s` and
 * `report` hold the new state. `*rejected_or_null` (initially empty) receives what was rejected:
 * from each path as it is now to what the agent had. Nothing changes on failure. If the branch has
 * to move, it must not be checked out. GA_ELOSE if something is rejected that a landing waiting to
 * be finished contains. GA_ECONFLICT if an accepted path was also changed on the branch since, and
 * if the branch, or a file of which edits are rejected, is not what was reviewed. */
int ga_decide(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	      const struct ga_decision *what, struct ga_changes *rejected_or_null,
	      struct ga_error *err);

#endif
