/* SPDX-License-Identifier: MIT
 *
 * A landing that git left to the user, in an ordinary state of git's: telling the user, continuing
 * it, giving it up.
 */
#include <string.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/signals.h"
#include "left-note.h"
#include "note.h"
#include "landing.h"

int land_unmerged(struct land *l, struct ga_strv *ret, struct ga_error *err)
{
	const char *const args[] = { "diff", "--name-only", "--no-ext-diff", "--no-renames",
				     "--diff-filter=U", "-z", NULL };

	return land_ask_list(l, args, NULL, ret, err);
}

/* Did git resolve all conflicts there were (rerere.autoupdate)? In a rebase nobody knows which
 * commits had any. */
static bool is_resolved(const struct land *l)
{
	return l->rebase ? ga_gitconfig_bool(&l->config, "rerere.autoupdate", false)
			 : l->conflicts;
}

/* In a rebase l->head is where the first commit began, so HEAD has moved anyway. */
const char *land_why_uncommitted(const struct land *l)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_free char *to = NULL;

	if (!l->rebase && !land_stays(l) && land_is_switched(l, &to, &unread) > 0)
		return "HEAD was switched to another branch meanwhile";
	if (!l->rebase && !land_stays(l))
		return "you, or a hook of yours, committed meanwhile";
	return l->opts && l->opts->edit
		       ? "the editor, a hook or signing refused it, or was interrupted"
		       : "a hook or signing refused it, or was interrupted";
}

int land_fail_left(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (land_unmerged(l, &paths, err))
		return -1;
	if (!paths.n && is_resolved(l)) {
		(void)ga_fail(err, GA_ECONFLICT, "git resolved the conflicts of agent/%s as "
			      "before (rerere)%s", l->s->name,
			      l->rebase ? ", or a hook or signing refused the commit"
					: ", and did not commit that");
		return ga_hint(err, "look at it with 'git diff HEAD', then 'git agent land "
			       "--continue %s'; or --abort to go back", l->s->name);
	}
	if (!paths.n) {
		(void)ga_fail(err, GA_ECONFLICT, "the merge is done but was not committed: %s",
			      land_why_uncommitted(l));
		return ga_hint(err, "'git agent land --continue %s' tries again, --abort goes back",
			       l->s->name);
	}
	list = land_list(&paths);
	(void)ga_fail(err, GA_ECONFLICT, "%s agent/%s conflicts in %s",
		      l->rebase ? "rebasing" : "merging", l->s->name, list);
	return ga_hint(err, "resolve, 'git add', then 'git agent land --continue %s'; or --abort "
			    "to go back", l->s->name);
}

/* Is nothing left to the user here, not even what a squash leaves, which is staged or in
 * conflict? */
static bool is_settled(struct land *l)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	struct ga_oid index, head;

	return !land_is_to_go_on(l) && !land_index_tree(l, NULL, &index, &unread) &&
	       !ga_commit_tree(l->repo, &l->head, &head, &unread) && ga_oid_equal(&index, &head);
}

static int fail_none(struct land *l, struct ga_error *err)
{
	cleanup_(land_left_release) struct land_left left = { .worktree = NULL };
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_free char *path = NULL, *q = NULL;

	(void)ga_fail(err, GA_EFATAL, "no landing of agent/%s was left to be finished", l->s->name);
	if (land_left_find(l, true, &left, &unread))
		return is_settled(l)
			       ? ga_hint(err, "nothing is in progress here; 'git agent land %s' "
					 "lands it, or notes that you have committed it",
					 l->s->name)
			       : ga_hint(err, "'git status' tells what is in progress");
	path = land_worktree_path(l, left.worktree);
	q = ga_quote_shell(path ? path : left.worktree);
	return ga_hint(err, "not in this working tree; one was in %s", q);
}

/* Is the operation in progress a merge of the session's branch, as it was then or is now, or a
 * rebase of its commits? For a rebase only the record tells which commits were to come. */
static int check_left(struct land *l, struct ga_error *err)
{
	cleanup_(land_left_release) struct land_left left = { .worktree = NULL };
	const char *operation = ga_repo_operation(l->repo);
	int rc = land_left_read(l, &left, err);
	struct land_refs refs;
	bool noted = !rc && !strcmp(left.worktree, land_worktree(l));

	l->rebase = !operation || !strcmp(operation, "cherry-pick");
	if (rc < 0 || land_refs_read(l->repo, l->s, &refs, err))
		return -1;
	rc = 0;
	if (l->rebase) {
		l->tip = left.tip;
		rc = noted && left.rebase ? land_rebase_left(l, &left.tip, &left.last, err) : 0;
	} else if (!strcmp(operation, "merge")) {
		rc = land_read_ref(l, "MERGE_HEAD", &l->tip, err);
		rc = rc < 0 ? -1 : !rc && (ga_oid_equal(&l->tip, &refs.branch) ||
					   (noted && ga_oid_equal(&l->tip, &left.tip)));
	}
	if (rc <= 0)
		return rc < 0 ? -1 : fail_none(l, err);
	/* commits that came to the branch since have not landed */
	rc = ga_oid_is_zero(&refs.branch) || ga_oid_equal(&l->tip, &refs.branch)
		     ? ga_branch_lacks(l->repo, l->s, &l->tip, err)
		     : 1;
	l->rest = rc > 0;
	return rc < 0 ? -1 : 0;
}

/* Nobody has checked what the user resolved; and since the landing began, other things may have
 * been accepted or rejected. */
static int judge(struct land *l, const struct ga_oid *tree, const char *hint, struct ga_error *err)
{
	struct ga_changes all = l->changes;
	int rc;

	l->merged = *tree;
	l->changes = (struct ga_changes)GA_CHANGES_INIT;
	rc = ga_tree_diff(l->repo, &l->head_tree, tree, &l->changes, err) ||
	     land_check_flags(l, err) ? -1 : 0;
	ga_changes_release(&l->changes);
	l->changes = all;
	if (!rc || err->code != GA_EFLAGS)
		return rc;
	return ga_hint_instead(err, "'git agent review %s', then --accept their paths; %s",
			       l->s->name, hint);
}

static int judge_resolved(struct land *l, struct ga_oid *ret_tree, struct ga_error *err)
{
	cleanup_free char *hint = ga_strf("'git agent land --continue %s' goes on then, --abort "
					  "goes back, to reject them", l->s->name);

	return land_index_tree(l, NULL, ret_tree, err) || judge(l, ret_tree, hint, err) ? -1 : 0;
}

/* Commits that the user resolved to no change are left out, and that may be all of them. */
static int finish_rebase(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL, *hint = NULL, *back = NULL;
	struct ga_oid tree;
	int own;

	if (judge_resolved(l, &tree, err) || land_rebase_continue(l, err) ||
	    ga_repo_head(l->repo, &l->ret->commit, &branch, err) ||
	    ga_commit_tree(l->repo, &l->ret->commit, &tree, err))
		return -1;
	hint = ga_strf("it has not landed; 'git agent land %s' lands it anew", l->s->name);
	back = ga_strf("its commits are made: 'git reset --keep %.10s' goes back, 'git agent land "
		       "%s' notes them", GA_HEX(&l->head), l->s->name);
	if (land_check_brought(l, &tree, hint, err) || judge(l, &tree, back, err))
		return -1;
	own = land_has_own(l, &l->ret->commit, err);
	return own < 0 || (own && land_note_own(l, err)) ? -1 : 0;
}

/* Check that it brings something, and record its tree, by which the commit is recognized. */
static int check_resolved(struct land *l, struct ga_error *err)
{
	struct ga_oid tree;

	return judge_resolved(l, &tree, err) ||
	       land_check_brought(l, &tree, "'git commit' makes that merge all the same, "
					    "'git agent land --abort' goes back", err) ||
	       land_note_resolved(l, &tree, err) ? -1 : 0;
}

static int commit(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "commit", "--quiet", "--no-edit", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	int status;

	if (land_unmerged(l, &paths, err))
		return -1;
	if (paths.n)
		return land_fail_left(l, err);
	if (l->rebase)
		return finish_rebase(l, err);
	if (check_resolved(l, err) || land_run_git(l, args, NULL, 0, &status, &why, err) ||
	    land_heed_commit(l, &status, err))
		return -1;
	return status ? land_fail_left(l, err) : 0;
}

int land_finish(struct land *l, struct ga_error *err)
{
	if (commit(l, err))
		return -1;
	land_left_forget(l);
	return 0;
}

int land_check_left(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid tip_tree;

	if (ga_repo_head(l->repo, &l->head, &branch, err) || check_left(l, err) ||
	    ga_commit_tree(l->repo, &l->head, &l->head_tree, err) ||
	    ga_commit_tree(l->repo, &l->tip, &tip_tree, err))
		return -1;
	/* whether git's messages may go to the terminal is told by these names */
	return ga_tree_diff(l->repo, &l->head_tree, &tip_tree, &l->changes, err);
}

int land_abort_by(struct land *l, const char *command, const struct ga_oid *to,
		  struct ga_error *err)
{
	const char *const args[] = { command, "--abort", NULL };
	cleanup_free char *then = ga_strf("'git agent land --abort %s' goes back", l->s->name);
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	if (land_check_way_back(l, to, err))
		return -1;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.errout = &why;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	/* with conflicts in the index, git stashes nothing */
	return status ? land_fail_back(l, to, &why, "move them away", then, err) : 0;
}

/* The user may have begun a merge that is none for us, as of histories with nothing in common. */
static int preview(struct land *l, struct ga_error *err)
{
	return land_preview(l, err) ? ga_hint(err, "'git merge --abort' goes back, and drops all "
					      "that is staged") : 0;
}

/* What was staged while it waited stays, unless it is part of the merge: users who resolve a
 * conflict may add all they have. */
static int abort_left(struct land *l, struct ga_error *err)
{
	static const struct ga_land_opts merge = { .how = GA_LAND_MERGE };
	cleanup_(land_aside_release) struct land_aside aside = { .staged = GA_CHANGES_INIT };
	struct land there = { .repo = l->repo, .s = l->s, .head = l->head, .tip = l->tip,
			      .opts = &merge, .merge = true };
	int rc;

	if (l->rebase)
		return land_rebase_abort(l, err);
	rc = ga_gitconfig_load(there.repo, &there.config, err) ||
			     ga_commit_tree(there.repo, &there.head, &there.head_tree, err) ||
			     preview(&there, err) || land_set_aside(&there, &aside, err)
		     ? -1
		     : land_abort_by(&there, "merge", &there.head_tree, err);
	if (land_stage_again(&there, &aside, err))
		rc = -1;
	ga_gitconfig_release(&there.config);
	ga_changes_release(&there.changes);
	ga_strv_release(&there.conflicted);
	return rc;
}

/* Git drops the marks of files that it restores, also those that the user set since: the list keeps
 * them. */
static int abort_marked(struct land *l, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	int rc = land_unmark_left(l, err) || abort_left(l, err) ? -1 : 0;

	if (!rc)
		land_left_forget(l);
	return land_mark_again(l, rc ? &second : err) || rc ? -1 : 0;
}

int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	if (land_is_new())
		return land_new_abort(r, s, err);
	struct land l = { .repo = r, .s = s };
	cleanup_free char *branch = NULL;
	cleanup_close int lock = land_begin(r, err);
	struct ga_outlived outlived;
	int rc;

	ga_outlive_terminal(&outlived);
	rc = lock < 0 || land_mark_again(&l, err) ? -1 : land_recover(&l, false, err);
	if (!rc)
		rc = ga_repo_head(r, &l.head, &branch, err) || check_left(&l, err) ||
				     abort_marked(&l, err) ? -1 : 0;
	ga_heed_terminal(&outlived);
	ga_strv_release(&l.hidden);
	ga_strv_release(&l.marked);
	return rc < 0 ? -1 : 0;
}
