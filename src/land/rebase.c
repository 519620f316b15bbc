/* SPDX-License-Identifier: MIT
 *
 * The session's commits applied again on HEAD, by git cherry-pick: the user stays on their branch,
 * and a conflict leaves an ordinary state of git's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/trace.h"
#include "left-note.h"
#include "rebase.h"

/* Where a directory was renamed, git would move files that commits add to it, to paths that none of
 * them names and nobody has checked. */
#define PICK "-c", "merge.directoryRenames=false", "cherry-pick"

/* The commits that `git rebase` would take: no merges, and none whose patch HEAD has. For that git
 * compares all commits that only one side has, so it is asked once. */
static int list(struct land *l, struct ga_error *err)
{
	cleanup_free char *range = ga_strf("%s...%s", GA_HEX(&l->head), GA_HEX(&l->tip));
	const char *const args[] = { "rev-list", "--reverse", "--topo-order", "--no-merges",
				     "--right-only", "--cherry-pick", range, NULL };
	struct ga_git g = GA_GIT_INIT;

	if (l->listed)
		return 0;
	l->picks = (struct ga_buf)GA_BUF_INIT;
	g.args = args;
	g.out = &l->picks;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	l->listed = true;
	return 0;
}

/* Before git runs: its messages name files that it cannot write, even if a later commit removes
 * them. */
static int look_at_names(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "diff-tree", "--stdin", "--no-commit-id", "--root",
					    "-r", "--no-renames", "--raw", "--no-abbrev", "-z",
					    NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line, *path;
	struct ga_entry e;
	size_t pos = 0;

	if (list(l, err) ||
	    (l->picks.len && land_ask_git(l, args, NULL, &l->picks, &out, err)))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)) && (path = ga_buf_next0(&out, &pos)))
		l->unplain |= !land_raw_entry(line, false, &e) || !land_says_plain(l, path, &e);
	return 0;
}

int land_rebase_check_way(struct land *l, struct ga_error *err)
{
	return list(l, err) || land_check_on_the_way(l, &l->head_tree, &l->picks, err) ? -1 : 0;
}

/* Is nothing left of the commit that is being applied to HEAD? 1 yes. */
static int is_empty(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--quiet", "HEAD", NULL };
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	return status == 0;
}

/* Put into l->changes what applying this commit on l->head_tree writes, as far as that can be told
 * path by path, in place of what all commits together make of those paths. */
static int add_pick(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .n_parents = 0 };
	cleanup_changes struct ga_changes own = GA_CHANGES_INIT, all = GA_CHANGES_INIT;
	struct ga_oid before;

	if (ga_commit_read(l->repo, pick, &c, err) ||
	    (c.n_parents && ga_commit_tree(l->repo, &c.parents[0], &before, err)) ||
	    ga_tree_diff(l->repo, c.n_parents ? &before : NULL, &c.tree, &own, err))
		return -1;
	for (size_t i = 0; i < own.n; i++) {
		const struct ga_change *o = &own.v[i];
		struct ga_entry here, will;
		int rc;

		if (ga_tree_entry(l->repo, &l->head_tree, o->path, &here, err))
			return -1;
		if (here.mode == GA_MODE_TREE)
			here = (struct ga_entry){ .mode = GA_MODE_NONE };
		rc = ga_merge_entry(l->repo, &o->old, &here, &o->new, &will, err);
		if (rc < 0)
			return -1;
		(void)ga_changes_add(&all, o->path, &here, rc ? &o->new : &will);
	}
	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *o = &l->changes.v[i];

		if (!ga_changes_find(&own, o->path))
			(void)ga_changes_add(&all, o->path, &o->old, &o->new);
	}
	ga_changes_sort(&all);
	ga_changes_release(&l->changes);
	l->changes = all;
	all = (struct ga_changes)GA_CHANGES_INIT;
	return 0;
}

/* Take back what git wrote of the commit at which it stopped; the commits before it stay. */
static int take_pick_back(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	struct land here = { .repo = l->repo, .s = l->s, .opts = l->opts, .tip = l->tip,
			     .rebase = true, .notes = l->notes, .note = l->note };
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	cleanup_free char *branch = NULL;
	int rc;

	if (ga_repo_head(l->repo, &here.head, &branch, err) ||
	    ga_commit_tree(l->repo, &here.head, &here.head_tree, err))
		return -1;
	if (land_preview(&here, err) || (!ga_oid_is_zero(pick) && add_pick(&here, pick, err)))
		rc = land_put_hidden_back(&here, &second) ? ga_error_wrap(err, "%s", second.msg)
							  : -1;
	else
		rc = land_restore(&here, err);
	l->hidden_lost |= here.hidden_lost;
	ga_changes_release(&here.changes);
	ga_strv_release(&here.conflicted);
	return rc;
}

/* Go back to where the rebase began, dropping the commits that were made, unless files are in the
 * way. An abort, which has no opts, has checked the commits made since (check_own()), and drops all
 * of them. */
static int go_back(struct land *l, struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	/* restored files are new ones with the same bytes, which git could take for changed; the
	 * refresh fails if any file is changed, which does not matter */
	(void)land_ask_git(l, refresh, NULL, NULL, NULL, &ignored);
	return l->opts ? land_take_made(l, "--merge", err) : land_go_back(l, "--merge", err);
}

static int quit(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "cherry-pick", "--quit", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (land_run_git(l, args, NULL, 0, &status, &why, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "git cherry-pick --quit failed") : 0;
}

/* Git stopped before the user resolved anything: take all of it back. */
static int fail_first(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT, second = GA_ERROR_INIT;
	cleanup_error struct ga_error third = GA_ERROR_INIT;
	bool left = take_pick_back(l, pick, &failed), stays = go_back(l, &second);

	if (!quit(l, &third) && !left && !stays)
		return ga_hint(err, "nothing was committed, and files are as they were");
	if (stays) {
		if (second.code != GA_EFATAL)
			err->code = GA_ELOSE;
		return ga_hint(err, "%s%s%s; %s", failed.msg ? failed.msg : "", left ? "; " : "",
			       second.msg, second.hint ? second.hint : "see 'git status'");
	}
	return ga_hint(err, "nothing was committed; %s; %s", left ? failed.msg : third.msg,
		       failed.hint ? failed.hint : "see 'git status'");
}

/* What the user resolved is committed, and stays. */
static int fail_later(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT, unwritten = GA_ERROR_INIT;
	const char *more, *sep;
	int rc;

	if (ga_oid_is_zero(pick))
		return ga_hint(err, "'git log %s..' shows what is committed", GA_HEX(&l->head));
	rc = take_pick_back(l, pick, &failed);
	more = rc ? failed.msg : "";
	sep = rc ? "; " : "";
	if (rebase_note_stopped(l, pick, false, &unwritten))
		return ga_hint(err, "what you resolved is committed; %s%s%s; 'git cherry-pick "
			       "%.10s', then 'git cherry-pick --continue', goes on", more, sep,
			       unwritten.msg, GA_HEX(pick));
	return ga_hint(err, "what you resolved is committed; %s%ssee to that, then 'git agent land "
		       "--continue %s' goes on, or --abort goes back", more, sep, l->s->name);
}

/* Git stopped, but not at a commit that the user could resolve; or it was not run to its end. */
static int fail_stopped(struct land *l, const struct ga_oid *only, struct ga_error *err)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	struct ga_oid pick = *only;

	if (rebase_next(l, &pick, &unread) < 0)
		return ga_hint(err, "%s; 'git log %s..' shows what is committed, and 'git "
			       "cherry-pick --abort' goes back", unread.msg, GA_HEX(&l->head));
	return l->later ? fail_later(l, &pick, err) : fail_first(l, &pick, err);
}

static int fail_refused(struct land *l, int status, const struct ga_buf *why,
			const struct ga_oid *only, struct ga_error *err)
{
	cleanup_free char *line = land_first_line(why);

	if (land_is_interrupted(status))
		(void)ga_fail(err, GA_ELOSE, "git was interrupted, rebasing agent/%s", l->s->name);
	else
		(void)ga_fail(err, status == 128 ? GA_EFATAL : GA_ELOSE,
		      l->later ? "git refused to make the next commit of agent/%s%s%s"
			       : "git refused to merge agent/%s%s%s",
		      l->s->name, *line ? ": " : "", line);
	return fail_stopped(l, only, err);
}

/* ---- going on ------------------------------------------------------------------------ */

/* Run a git command that makes commits. If it could not be run, and left no state to continue from,
 * what was done is taken back. */
static int pick(struct land *l, const char *const *args, const struct ga_buf *in,
		const struct ga_oid *only, int *ret_status, struct ga_buf *why,
		struct ga_error *err)
{
	if (!land_run_git(l, args, in ? in->ptr : NULL, in ? in->len : 0, ret_status, why, err) &&
	    !ga_fault_stop("land:pick", err))
		return 0;
	return ga_repo_operation(l->repo)
		       ? ga_hint(err, "'git agent land --continue %s' goes on, --abort goes back",
				 l->s->name)
		       : fail_stopped(l, only, err);
}

/* Record the commit: if the user commits it by hand, git has no state left to tell which it was. */
static int fail_conflict(struct land *l, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid next;
	int rc = rebase_next(l, &next, &ignored);

	/* git has no list for a single commit */
	if (rc > 0)
		rc = land_read_ref(l, "CHERRY_PICK_HEAD", &next, &ignored);
	if (!rc)
		(void)rebase_note_stopped(l, &next, true, &ignored);
	return land_fail_left(l, err);
}

/* Go on to the end, skipping commits of which nothing is left, as a rebase does. `only`: the
 * commit, if there is but one; zero: there are several. */
static int go_on(struct land *l, int status, const struct ga_oid *only, struct ga_buf *why,
		 struct ga_error *err)
{
	static const char *const skip[] = { PICK, "--skip", NULL };

	while (status) {
		cleanup_strv struct ga_strv paths = GA_STRV_INIT;
		int rc;

		/* interrupted, it may have nothing to show of a commit that is not empty */
		if (!ga_repo_operation(l->repo) || land_is_interrupted(status))
			return fail_refused(l, status, why, only, err);
		if (land_unmerged(l, &paths, err))
			return -1;
		rc = paths.n ? 0 : is_empty(l, err);
		if (rc <= 0)
			return rc < 0 ? -1 : fail_conflict(l, err);
		ga_buf_clear(why);
		if (pick(l, skip, NULL, only, &status, why, err))
			return -1;
	}
	return 0;
}

int land_rebase(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { PICK, "--strategy=ort", "--allow-empty",
					    "--stdin", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_oid only = { { 0 } };
	int status;

	if (look_at_names(l, err))
		return -1;
	if (!l->picks.len)
		return 0;
	if (l->picks.len == GA_OID_HEXSZ + 1)
		(void)ga_oid_parse(l->picks.ptr, GA_OID_HEXSZ, &only);
	if (land_left_note(l, true, err) || land_check_stays(l, err))
		return -1;
	if (pick(l, args, &l->picks, &only, &status, &why, err))
		return -1;
	return go_on(l, status, &only, &why, err);
}

/* Apply the commit that git could not begin alone, first: git's --continue would take it for
 * committed by hand, and skip it. */
static int make_next(struct land *l, const struct ga_oid *next, int *ret_status, struct ga_buf *why,
		     struct ga_error *err)
{
	const char *const args[] = { PICK, "--strategy=ort", "--allow-empty",
				     GA_HEX(next), NULL };

	return pick(l, args, NULL, next, ret_status, why, err);
}

/* What was staged since git stopped is the user's, and would be lost if what git did had to be
 * taken back. */
static int check_unstaged(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "diff-index", "--cached", "--name-only", "--no-renames",
					    "--no-ext-diff", "-z", "HEAD", NULL };
	cleanup_strv struct ga_strv staged = GA_STRV_INIT;

	if (land_ask_list(l, args, NULL, &staged, err))
		return -1;
	return staged.n ? land_refuse(&staged, "staged changes are in the way",
				      "unstage them with 'git restore --staged', then go on",
				      err) : 0;
}

/* Is anything in the way of the commits to come? The user may have changed files since git
 * stopped. */
static int check_later(struct land *l, bool begun, struct ga_error *err)
{
	cleanup_buf struct ga_buf commits = GA_BUF_INIT;
	struct ga_oid tree;

	if (rebase_list_later(l, begun, &commits, err))
		return -1;
	return commits.len && (land_index_tree(l, NULL, &tree, err) ||
			       land_check_on_the_way(l, &tree, &commits, err)) ? -1 : 0;
}

static int go_on_later(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { PICK, "--continue", NULL };
	static const struct ga_oid none;
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *todo = rebase_file(l, "todo");
	struct ga_oid next, began;
	int status = 0, rc;
	enum next is;

	if (rebase_find_next(l, &next, &is, &began, err) ||
	    (is != NEXT_STOPS && check_unstaged(l, err)) ||
	    check_later(l, is != NEXT_TO_DO, err))
		return -1;
	if (is == NEXT_TO_DO) {
		if (make_next(l, &next, &status, &why, err))
			return -1;
		if (status)
			return go_on(l, status, &none, &why, err);
	}
	/* it was the last one: git is done */
	if (is != NEXT_STOPS && access(todo, F_OK))
		return 0;
	if (is == NEXT_STOPS) {
		rc = is_empty(l, err);
		/* resolved to no change */
		if (rc)
			return rc < 0 ? -1 : go_on(l, 1, &none, &why, err);
	}
	if (pick(l, args, NULL, &none, &status, &why, err))
		return -1;
	return go_on(l, status, &none, &why, err);
}

int land_rebase_continue(struct land *l, struct ga_error *err)
{
	cleanup_free char *stopped = rebase_stopped_file(l);

	l->later = true;
	if (look_at_names(l, err) || go_on_later(l, err))
		return -1;
	(void)unlink(stopped);
	return 0;
}

static int fail_not_back(struct land *l, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "git did not go back to where your branch was, as it has "
		      "moved since");
	return ga_hint(err, "'git reset --keep %s' goes back", GA_HEX(&l->head));
}

/* Fail if the user committed anything besides what they resolved: it would be dropped as well, also
 * by git's own --abort, which takes whatever it went on from for its own. */
static int check_own(struct land *l, enum next is, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(l->repo, &head, &branch, err) || list(l, err)
			 ? -1
			 : ga_is_ancestor(l->repo, &l->head, &head, err);

	if (rc > 0)
		rc = land_has_own(l, &head, err);
	if (rc <= 0)
		return rc;
	(void)ga_fail(err, GA_ELOSE, "you have committed something else since it was begun");
	if (is == NEXT_STOPS)
		return ga_hint(err, "'git agent land --continue %s' goes on once it is resolved; "
			       "'git cherry-pick --abort' goes back before that as well",
			       l->s->name);
	return ga_hint(err, "'git agent land --continue %s' goes on; 'git cherry-pick --quit', "
		       "then 'git reset --keep %.10s', goes back before that as well",
		       l->s->name, GA_HEX(&l->head));
}

static int abort_pick(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head, to;

	if (ga_commit_tree(l->repo, &l->head, &to, err) ||
	    land_abort_by(l, "cherry-pick", &to, err) ||
	    ga_repo_head(l->repo, &head, &branch, err))
		return -1;
	/* git only warns of that */
	return ga_oid_equal(&head, &l->head) ? 0 : fail_not_back(l, err);
}

/* What was staged while it waited stays, unless it is part of the commit at which git stopped. */
static int abort_stopped(struct land *l, const struct ga_oid *next, struct ga_error *err)
{
	cleanup_(land_aside_release) struct land_aside aside = { .staged = GA_CHANGES_INIT };
	cleanup_free char *branch = NULL;
	struct land here = *l;
	int rc = -1;

	here.changes = (struct ga_changes)GA_CHANGES_INIT;
	here.conflicted = (struct ga_strv)GA_STRV_INIT;
	if (!ga_repo_head(l->repo, &here.head, &branch, err) &&
	    !ga_commit_tree(l->repo, &here.head, &here.head_tree, err) &&
	    !land_preview(&here, err) && !add_pick(&here, next, err) &&
	    !land_set_aside(&here, &aside, err))
		rc = abort_pick(l, err);
	ga_changes_release(&here.changes);
	ga_strv_release(&here.conflicted);
	return land_stage_again(l, &aside, err) ? -1 : rc;
}

int land_rebase_abort(struct land *l, struct ga_error *err)
{
	cleanup_free char *stopped = rebase_stopped_file(l);
	struct ga_oid next, began;
	enum next is;
	int rc;

	if (rebase_find_next(l, &next, &is, &began, err) || check_own(l, is, err))
		return -1;
	/* git's own --abort would leave HEAD where it is */
	if (is == NEXT_STOPS)
		rc = abort_stopped(l, &next, err);
	else
		rc = check_unstaged(l, err) || go_back(l, err) || quit(l, err) ? -1 : 0;
	if (!rc)
		(void)unlink(stopped);
	return rc;
}

int land_rebase_check_free(struct land *l, struct ga_error *err)
{
	cleanup_free char *todo = rebase_file(l, "todo");

	if (access(todo, F_OK) && errno == ENOENT)
		return 0;
	(void)ga_fail(err, GA_ELOSE, "a cherry-pick is in progress in this working tree");
	return ga_hint(err, "finish or abort it ('git agent land --continue' or --abort, if it is "
		       "a landing), then land again");
}
