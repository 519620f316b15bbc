/* SPDX-License-Identifier: MIT
 *
 * Bringing a session's branch into the branch the user is on, and what the user
 * decides about flags. The caller holds the session's lock.
 */
#ifndef GA_LAND_H
#define GA_LAND_H

#include <jansson.h>
#include <stdbool.h>

#include "ga/error.h"
#include "ga/limits.h"
#include "ga/repo.h"
#include "ga/report.h"
#include "ga/session.h"
#include "ga/strv.h"

enum ga_land_how {
	GA_LAND_MERGE,   /* a merge commit, also where HEAD could simply move on */
	GA_LAND_SQUASH,  /* one commit of the user's, with all changes */
	GA_LAND_REBASE,  /* the branch's commits made again on HEAD, merges left out */
	GA_LAND_FF_ONLY, /* HEAD moves on to the branch; refused where it cannot */
};

struct ga_land_opts {
	enum ga_land_how how;
	bool dry_run;        /* check everything, change nothing in working tree, index and refs */
	bool edit;           /* the message goes through the user's editor */
	bool no_commit;      /* stop before the commit, which is the user's to make; then the
			      * session has not landed. For GA_LAND_MERGE and GA_LAND_SQUASH */
	/* Only these and what is beneath them, as one commit of the user's (GA_LAND_SQUASH);
	 * NULL: all. The session has landed when nothing remains; undoing names it until then */
	const struct ga_strv *paths;
	const char *message; /* -m; NULL: "Merge agent/<name>", or "Squash agent/<name>" and the
			      * subjects of its commits. For those two */
	/* Ignored paths that were left behind and are to be brought as files; may be NULL. */
	const struct ga_strv *ignored;
	bool force;          /* these may overwrite what differs here */
	const struct ga_limits *limits; /* of reading them */
	const struct ga_risk_paths *risk; /* what rules are told; NULL: nothing is configured */
	const struct ga_gitconfig *config; /* git's, as it was read just now; NULL: read here */
};

struct ga_land_result {
	struct ga_oid commit;        /* HEAD afterwards */
	bool taken_back;             /* one that had been interrupted, before this one */
	bool uncommitted;            /* it is left to be committed */
	bool rest;                   /* other paths, or commits, remain to be landed */
	bool nothing;                /* there was nothing to land */
	struct ga_strv brought;      /* paths brought as uncommitted edits */
	struct ga_strv not_brought;  /* overlapping with the user's work: "path: reason", quoted */
	struct ga_left_list ignored; /* what of the ignored paths was brought, by path as given */
	struct ga_strv ignored_flags; /* and what rules said of it: "path: reason", quoted */
};
#define GA_LAND_RESULT_INIT { 0 }
void ga_land_result_release(struct ga_land_result *r);

/* Merge agent/<name> into HEAD with git (as `o->how` says, the user's hooks and signing),
 * then bring the paths that could not be separated from the user's work as uncommitted edits.
 * What is merged is the commit that was checked, by id, whatever happens to the branch meanwhile.
 *
 * Where uncommitted work is in the way, or with `paths`, each path is merged on its own, in working
 * tree, index and commit, before anything is touched: all of it is done, or GA_ELOSE and nothing
 * is. The commit has none of that work, and what was staged stays so.
 *
 * GA_EFLAGS while flags are open that block, or when the rules, run again on the
 * result of the merge with the host as it is now, find new ones; these are added to
 * `report` and, unless it is a dry run, stored with it, so that they can be decided. So they are on
 * what comes of it in index and working tree, beside lines of the user's; what was accepted of the
 * agent's version is known then, but for what is critical. GA_ELOSE
 * (nothing touched) when staged or uncommitted work overlaps, a file git does not track, ignored
 * ones too, would be overwritten, another operation is in progress, or the branch was moved back to
 * where the session's own commits are not. With GA_LAND_REBASE each commit overwrites what it
 * touches, whatever comes of all of them. One of this session that
 * was killed is taken back first (ret->taken_back). GA_ECONFLICT when the merge
 * is left to be finished by the user.
 *
 * Ignored paths (`o->ignored`, each a file or a directory) are copied from the session's layers
 * into the working tree, after the merge and under checks of their own: GA_EFLAGS as long as a
 * rule finds something high or critical that was not accepted, which is stored in the report
 * like the rest; GA_ELOSE when something that differs stands there, and not `force`. Special
 * files, names of git's, links that lead out of the project or into a git dir are refused. Set-id
 * bits do not come along. Nothing is touched unless all can come. Of a session that has
 * landed they are all that is brought.
 *
 * Where git stops without a state of its own all is put back; the error's hint says so, or names
 * what could not be. Files that git was told not to look at, and that are changed, are kept
 * meanwhile: a GiB of them, GA_ELOSE for more. A copy that could not be put back stays in the
 * session's directory, and every function here but a dry run tries again before anything else.
 *
 * One of another session that was killed half way here is to be taken back first (GA_ELOSE), by
 * ga_land_abort() of that one; nor is anything undone or gone on with until then.
 *
 * Two landings, or what undoes, goes on with or gives up one, are never at work in one working
 * tree: the second is refused, GA_EFATAL.
 *
 * On success `s` is LANDED and saved; paths that were brought leave s->left_out, so
 * that landing again tries only the others. Needs git 2.38. */
int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err);

/* Finish a landing that was left to the user (GA_ECONFLICT): the commit, unless they made that
 * themselves and others are to come, then what is brought as uncommitted edits. GA_ECONFLICT again
 * if it is still not possible. Where commits are made again and git cannot begin a later one, what
 * was resolved stays committed: call it again, or abort. GA_ELOSE (nothing touched) where
 * something of the user's is in the way of a later one. GA_EFLAGS where flags block what was
 * resolved, as in ga_land(); of a rebase also what came of it, and then its commits stay. What is
 * finished is what was brought when it began: commits that came to the session since have not
 * landed, and it stays as it was (ret->rest). A merge that the user began counts as one, commits
 * that they pick do not. A squash leaves no sign of what it was: it is finished by hand. */
int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		     const struct ga_risk_paths *risk, struct ga_land_result *ret,
		     struct ga_error *err);
/* Does one wait to be finished in this working tree? What cannot be read does not. */
bool ga_land_waits(struct ga_repo *r, struct ga_session *s);
/* Or give it up: everything is as it was before, as `git merge --abort` has it. So is one that was
 * killed, but what git was at work on then is git's to take back. GA_ELOSE, nothing touched, where
 * files that were made since stand in the way of a rebase that goes back. */
int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* Take the last landing of a session back: HEAD's branch, index and working tree as they were,
 * files that were brought or overwritten among them, and uncommitted work elsewhere as it is. `s`
 * is what it was before, and saved; what was made in it since has not landed. GA_ELOSE, nothing
 * touched, when anything else happened since: HEAD is on another branch or commit, something is
 * staged, or a file that came with it was changed. One that is gone is not in the way, and one that
 * was not written, as somebody had changed it, stays. GA_ELOSE too, and all else is taken back,
 * where a file is changed while this is at work: called again when it was moved away, it comes to
 * its end. `*ret_head` is where HEAD is afterwards. A session from which ga_land() brought nothing
 * is an error, and so is one whose merge the user finished without ga_land_continue(), or that
 * arrived otherwise since, which ga_land() then noted. Killed on
 * the way, it comes to its end when it is called again. */
int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err);

/* Fails (GA_ELOSE) while a landing of the session was interrupted and is neither taken back nor
 * gone on from by the user, or files that it kept could not be put back: its directory has work of
 * the user's that is nowhere else; or while marks are to be set again in another working tree.
 * GA_EFATAL where nobody can tell. Touches nothing. */
int ga_land_check_over(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* Set marks of the index again (assume-unchanged, skip-worktree) that a landing of the session took
 * off in this working tree, and which git, or the user, was left to finish: before the session
 * goes, as nothing else knows of them. Adds to `*ret_unmerged` what has conflicts, and cannot be
 * marked. With nothing to be set there is nothing to do. */
int ga_land_settle_marks(struct ga_repo *r, struct ga_session *s, struct ga_strv *ret_unmerged,
			 struct ga_error *err);

/* The object of `land --json` (docs/json.md). New reference. */
json_t *ga_land_json(const struct ga_session *s, const struct ga_land_result *r, bool dry_run);

/* Has the session's branch arrived, by whatever way: merged; squashed or brought otherwise, so that
 * merging it would change nothing, now or at some commit since; commit by commit, rebased or
 * cherry-picked; or with lines changed on the way, where the commit says that it was made of
 * it (as that of `git merge --squash` does), has author, date and subject of one of its own, or
 * adds nearly all the lines that it adds to each file, and ten or more in all?
 * In HEAD, in the branch that it started from, in what is fetched of their upstreams, and in
 * origin's first branch. Commits that somebody put on top of it on a remote count as its own. Where
 * the branch was moved to something without the session's last commit (s->tip), that has to have
 * arrived as well.
 *
 * Not while something is held back, or stands on uncommitted work, which no branch can bring; nor
 * when all of it was taken back since, nor where it was before the session began (by the dates of
 * commits; of one that was fetched that is not asked). Being on the session's own branch is no
 * arrival. Runs git with nothing of the user's but refs and objects, for a bounded time; of what
 * changed in too many commits or paths to be looked at it says that it has not arrived. What was
 * found is kept beside the state file, and said again until one of these refs moves. */
enum ga_landed_how {
	GA_LANDED_NOT,
	GA_LANDED_MERGED,
	GA_LANDED_SQUASHED,
	GA_LANDED_PICKED,
	GA_LANDED_CHANGED,
};
/* "merged", "squashed", "picked", "changed"; "not". */
const char *ga_landed_name(enum ga_landed_how how);
struct ga_arrival {
	enum ga_landed_how how;
	char *where; /* full name of the ref that has it; NULL: of none that was looked at */
};
#define GA_ARRIVAL_INIT { GA_LANDED_NOT, NULL }
void ga_arrival_release(struct ga_arrival *a);
int ga_arrived(struct ga_repo *r, const struct ga_session *s, struct ga_arrival *ret,
	       struct ga_error *err);
/* 1 if it has. */
int ga_landed(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Was the session's branch, which is at `branch`, moved by hand to where the last commit that we
 * know of (s->tip) is not, or is that gone? 1 yes. */
int ga_branch_lacks(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    struct ga_error *err);

/* Parts of one file that are rejected. */
struct ga_hunk_choice {
	struct ga_change change; /* as it was reviewed; its path is owned */
	bool held;               /* what is held back of it, not what is on the branch */
	bool *undo;              /* by edit of ga_hunks_read() */
	size_t n;
};

/* What the user decides, all of it at once. Paths are relative to the root; a directory stands for
 * everything beneath it, unless they are `exact`: then "" is the session as a whole. */
struct ga_decision {
	struct ga_strv accept, reject;
	bool accept_all;   /* every open flag */
	bool critical_too;
	const struct ga_risk_paths *risk; /* as it is configured now; NULL: nothing is. Borrowed */
	bool exact;
	struct ga_oid reviewed;       /* where the branch was then; zero: wherever it is */
	struct ga_hunk_choice *hunks; /* of paths that are not in `reject` */
	size_t n_hunks;
};
#define GA_DECISION_INIT { .accept = GA_STRV_INIT, .reject = GA_STRV_INIT }
void ga_decision_release(struct ga_decision *d);
#define cleanup_decision cleanup_(ga_decision_release)
/* Copies everything. */
void ga_decision_add_hunks(struct ga_decision *d, const struct ga_change *c, bool held,
			   const bool *undo, size_t n);

/* Accept and reject.
 *
 * Accepting: the verdict binds to path and entry; held paths are brought to the
 * branch by one commit (three-way of held's parent, the branch and held). Critical
 * and held paths only with `critical_too`, and then by their own name or `accept_all`, never by
 * their directory's. What is flagged for its place alone, left behind and not looked into yet, is
 * not accepted: there is no entry the verdict could bind to. Nor is what `risk` blocks: GA_EFLAGS
 * if it was named, and it stays open with `accept_all`.
 *
 * Rejecting: one commit puts the paths (flagged or not) back to what the base has; held ones are
 * dropped from `held`; left-out ones are not brought any more. Of a file of which parts are
 * rejected that commit, or `held`, has the rest; flags of the file are rejected, and rules run
 * on the rest: what they find is accepted if the path is, and else open.
 *
 * With both, what is rejected goes first. What is still held becomes a child of the new tip, unless
 * one of its paths was changed on the branch too: then it stays a child of the commit it stood on.
 * `held` goes when nothing is left.
 *
 * Branch, held and report are updated together, comparing old values, then `s` is saved;
 * `s` and `report` are as afterwards. `*rejected_or_null` (to be empty) is what was rejected: from
 * each path as it is now to what the agent had. Nothing changes on failure. The branch must not be
 * checked out if it has to move. GA_ELOSE when something is rejected while a landing waits to be
 * finished, which has it. GA_ECONFLICT when a path that is accepted was also changed on
 * the branch since, and when the branch, or a file of which parts are rejected, is not what was
 * reviewed. */
int ga_decide(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	      const struct ga_decision *what, struct ga_changes *rejected_or_null,
	      struct ga_error *err);

#endif
