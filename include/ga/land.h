/* SPDX-License-Identifier: MIT
 *
 * Bringing a session's branch into the branch the user is on (landing), undoing that, and the
 * user's verdicts on flags. The caller holds the session's lock.
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
	GA_LAND_MERGE,   /* a merge commit, even where HEAD could be fast-forwarded */
	GA_LAND_SQUASH,  /* one commit of the user's with all changes */
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
	/* Ignored paths that were left behind and are to be brought as files; may be NULL. */
	const struct ga_strv *ignored;
	bool force;          /* they may overwrite what differs here */
	const struct ga_limits *limits; /* limits on reading them */
	const struct ga_risk_paths *risk; /* the setting `risk`; NULL: nothing is configured */
	const struct ga_gitconfig *config; /* git's configuration, as read just now; NULL: it is
					    * read here */
};

struct ga_land_result {
	struct ga_oid commit;        /* HEAD after the landing */
	char *switched;              /* the branch that it landed on, by its full name ("": none),
				      * if HEAD was switched to it meanwhile; NULL: it was not */
	bool taken_back;             /* an interrupted landing was taken back before this one */
	struct ga_strv new_flags;    /* raised by what git or a hook made of it: "path: reason",
				      * quoted */
	bool uncommitted;            /* the commit is left to the user */
	bool rest;                   /* other paths, or commits, have yet to be landed */
	bool nothing;                /* there was nothing to land */
	struct ga_strv brought;      /* paths brought as uncommitted edits */
	struct ga_strv not_brought;  /* they overlap with the user's work: "path: reason", quoted */
	struct ga_left_list ignored; /* what was brought of the ignored paths, by path as given */
	struct ga_strv ignored_flags; /* what rules said of that: "path: reason", quoted */
};
#define GA_LAND_RESULT_INIT { 0 }
void ga_land_result_release(struct ga_land_result *r);

/* Merge agent/<name> into HEAD with git (in the way `o->how` says, with the user's hooks and
 * signing), then bring the paths that could not be separated from the user's work as uncommitted
 * edits. What is merged is the commit that was checked, by its id, even if the branch moves
 * meanwhile.
 *
 * Where uncommitted work overlaps with the merge, or with `o->paths`, each path is merged on its
 * own for working tree, index and commit, before anything is touched: either all of it is done, or
 * GA_ELOSE and nothing. The commit contains none of the uncommitted work, and what was staged stays
 * staged.
 *
 * GA_EFLAGS while blocking flags are open, or if the rules, run again on the result of the merge
 * with the host as it is now, raise new ones. Those are added to `report` and, unless this is a dry
 * run, stored with it, so that they can be decided. If nothing else raised them, they block only
 * landings that bring their entry, and any landing of a branch that has it. The rules also run on
 * what results in index and working tree, where lines of the user's stand beside the agent's;
 * there, what was accepted of the agent's version stays accepted, except what is critical.
 *
 * GA_ELOSE, with nothing touched, if staged or uncommitted work overlaps, if an untracked file
 * (ignored or not) would be overwritten, if another operation is in progress, or if the branch was
 * moved to where it lacks the session's own commits. With GA_LAND_REBASE every commit overwrites
 * the paths it touches, even if the sum of all commits does not change them. GA_ECONFLICT if the
 * merge is left for the user to finish. An earlier landing of this session that was killed is taken
 * back first (ret->taken_back).
 *
 * Ignored paths (`o->ignored`, each a file or a directory) are copied from the session's layers
 * into the working tree after the merge, with checks of their own: GA_EFLAGS as long as a rule
 * finds something high or critical that was not accepted, which is stored in the report like the
 * rest; GA_ELOSE if something different is there and `force` is not set. Special files, names of
 * git's, and links that lead out of the project or into a git dir are refused. Set-id bits are
 * dropped. Nothing is touched unless all can be brought. If the session has landed already, they
 * are all that is brought.
 *
 * If git stops without leaving a state of its own, everything is restored; the error's hint says
 * so, or names what could not be. Files that git was told to pass over (marks of the index) and
 * that are changed are backed up meanwhile, up to a GiB; GA_ELOSE for more. A backup that could not
 * be restored stays in the session's directory, and every function here except a dry run tries
 * again before anything else.
 *
 * If a landing of another session was killed half way in this working tree, it must first be taken
 * back, by ga_land_abort() of that session (GA_ELOSE); until then nothing is undone or continued
 * either.
 *
 * In one working tree only one landing, undo, continuation or abort is at work at a time: a second
 * one is refused with GA_EFATAL.
 *
 * On success `s` is LANDED and saved; paths that were brought are removed from s->left_out, so that
 * landing again tries only the others. Needs git 2.38. */
int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err);

/* Finish a landing that was left to the user (GA_ECONFLICT): make the commit, unless the user made
 * it and no others follow, then bring what comes as uncommitted edits. GA_ECONFLICT again if that
 * is still not possible. If in a rebase git cannot begin a later commit, what was resolved stays
 * committed: call this again, or abort. GA_ELOSE, with nothing touched, if something of the user's
 * is in the way of a later commit. GA_EFLAGS if flags block what was resolved, as in ga_land(); for
 * a rebase also if they block its result, whose commits then stay. What is finished is what was to
 * be brought when the landing began: commits that came to the session since have not landed, and
 * the session keeps its state (ret->rest). A merge that the user began counts as one, commits that
 * the user cherry-picks do not. A squash leaves no trace of what it was and has to be finished by
 * hand. */
int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		     const struct ga_risk_paths *risk, struct ga_land_result *ret,
		     struct ga_error *err);
/* Is such a landing waiting to be finished in this working tree? False if that cannot be read. */
bool ga_land_waits(struct ga_repo *r, struct ga_session *s);
/* Give it up instead: everything is restored to its state before the landing, as by `git merge
 * --abort`, except that what was staged meanwhile and is none of it stays staged. The same for a
 * landing that was killed, except that what git was doing then is git's to take back. GA_ELOSE,
 * with nothing touched, if files made since are in the way of a rebase that goes back, or commits
 * that the user made meanwhile; then ga_land_undo() is refused too. */
int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* Take the last landing of a session back: HEAD's branch, index and working tree as they were,
 * including files that were brought or overwritten, while uncommitted work elsewhere stays. `s`
 * gets its former state and is saved; what the session made since has not landed. `*ret_head` is
 * HEAD afterwards.
 *
 * GA_ELOSE, with nothing touched, if anything else happened since: HEAD is on another branch or
 * commit, something is staged, or a file that came with the landing was changed. A file that is
 * gone by now is not in the way, and one that the landing did not write because somebody had
 * changed it stays. GA_ELOSE also, with everything else taken back, if a file is changed while this
 * is at work: once it is moved away, calling this again completes the undo.
 *
 * It is an error if ga_land() brought nothing of the session, if the user finished the merge
 * without ga_land_continue(), or if its work arrived in another way, which ga_land() then recorded.
 * If it is killed, calling it again completes it. */
int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err);

/* Fail (GA_ELOSE) while a landing of the session was interrupted and the user has neither taken it
 * back nor gone on from it, or while files that it backed up could not be restored: then the
 * session's directory holds the only copy of some of the user's work; or while marks of the index
 * have to be set again in another working tree. GA_EFATAL if nobody can tell. Touches nothing. */
int ga_land_check_over(struct ga_repo *r, struct ga_session *s, struct ga_error *err);

/* Set the marks of the index (assume-unchanged, skip-worktree) again that a landing of the session
 * took off in this working tree and that it could not restore because git, or the user, was left to
 * finish. Call this before the session is removed, as nothing else knows of them. Adds to
 * `*ret_unmerged` the paths that have conflicts and cannot be marked. Does nothing if there are
 * none. */
int ga_land_settle_marks(struct ga_repo *r, struct ga_session *s, struct ga_strv *ret_unmerged,
			 struct ga_error *err);

/* The object printed by `land --json` (docs/json.md). New reference. */
json_t *ga_land_json(const struct ga_session *s, const struct ga_land_result *r, bool dry_run);

/* Has the session's branch arrived, in whatever way: merged; squashed or brought otherwise, so that
 * merging it would change nothing, now or at some commit since; commit by commit, rebased or
 * cherry-picked; or with lines changed on the way, if the commit says that it was made of the
 * branch (as that of `git merge --squash` does), has author, date and subject of one of its
 * commits, or adds nearly all the lines that the branch adds to each file, and at least ten? Looked
 * for in HEAD, in the branch the session started from, in the remote-tracking refs of their
 * upstreams, and in origin's first branch. Commits that somebody added to the branch on a remote
 * count as its own. If the branch was moved to where it lacks the session's last commit (s->tip),
 * that commit has to have arrived as well.
 *
 * It has not arrived while something is held back or stands on uncommitted work, which no branch
 * can bring; nor if all of it was taken back since; nor where it already was before the session
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
	GA_LANDED_CHANGED,
};
/* "merged", "squashed", "picked", "changed"; "not". */
const char *ga_landed_name(enum ga_landed_how how);
struct ga_arrival {
	enum ga_landed_how how;
	char *where; /* full name of the ref that has it; NULL: not in one that was looked at */
};
#define GA_ARRIVAL_INIT { GA_LANDED_NOT, NULL }
void ga_arrival_release(struct ga_arrival *a);
int ga_arrived(struct ga_repo *r, const struct ga_session *s, struct ga_arrival *ret,
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
	bool held;               /* it is about what is held back of the file, not what is on the
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
 * their directory. What is flagged for its place alone (left behind, and not looked into yet) is
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
