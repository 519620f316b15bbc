/* SPDX-License-Identifier: MIT
 *
 * A landing that git left to the user, in an ordinary state of git's: said so, gone on with, or
 * given up.
 */
#include <string.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "land-internal.h"

int land_unmerged(struct land *l, struct ga_strv *ret, struct ga_error *err)
{
	const char *const args[] = { "diff", "--name-only", "--no-ext-diff", "--no-renames",
				     "--diff-filter=U", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

/* git began the merge and left it: a conflict, or the commit was refused. */
int land_fail_left(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (land_unmerged(l, &paths, err))
		return -1;
	if (!paths.n) {
		(void)ga_fail(
		    err, GA_ECONFLICT,
		    "the merge is done but was not committed: a hook or signing refused it");
		return ga_hint(err, "'git agent land --continue %s' tries again, --abort goes back",
			       l->s->name);
	}
	list = land_list(&paths);
	(void)ga_fail(err, GA_ECONFLICT, "%s agent/%s conflicts in %s",
		      l->rebase ? "rebasing" : "merging", l->s->name, list);
	return ga_hint(err, "resolve, 'git add', then 'git agent land --continue %s'; or --abort "
			    "to go back", l->s->name);
}

/* Is it a merge of this branch that is in progress, or are its commits made again? */
static int check_left(struct land *l, struct ga_error *err)
{
	const char *operation = ga_repo_operation(l->repo);
	struct land_refs refs;
	struct ga_oid oid;
	int rc = 0;

	l->rebase = !operation || !strcmp(operation, "cherry-pick");
	if (land_refs_read(l->repo, l->s, &refs, err))
		return -1;
	if (l->rebase) {
		rc = land_rebase_left(l, &refs.branch, err);
	} else if (!strcmp(operation, "merge")) {
		rc = land_read_ref(l, "MERGE_HEAD", &oid, err);
		rc = rc < 0 ? -1 : !rc && ga_oid_equal(&oid, &refs.branch);
	}
	l->tip = refs.branch;
	if (rc)
		return rc < 0 ? -1 : 0;
	(void)ga_fail(err, GA_EFATAL, "no landing of agent/%s was left to be finished", l->s->name);
	return ga_hint(err, "'git status' tells what is in progress");
}

/* Commits that were resolved to what is there are left out, and that may be all of them. */
static int finish_rebase(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL, *hint = NULL;
	struct ga_oid tree;

	if (land_rebase_continue(l, err) ||
	    ga_repo_head(l->repo, &l->ret->commit, &branch, err) ||
	    ga_commit_tree(l->repo, &l->ret->commit, &tree, err))
		return -1;
	hint = ga_strf("it has not landed; 'git agent land %s' lands it anew", l->s->name);
	return land_check_brought(l, &tree, hint, err);
}

/* It brings something, and is known for the user's when it is committed. */
static int check_resolved(struct land *l, struct ga_error *err)
{
	struct ga_oid tree;

	return land_index_tree(l, NULL, &tree, err) ||
	       land_check_brought(l, &tree, "'git commit' makes that merge all the same, "
					    "'git agent land --abort' goes back", err) ||
	       land_note_resolved(l, &tree, err) ? -1 : 0;
}

int land_finish(struct land *l, struct ga_error *err)
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
	if (check_resolved(l, err) || land_run_git(l, args, NULL, 0, &status, &why, err))
		return -1;
	return status ? land_fail_left(l, err) : 0;
}

int land_check_left(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid tip_tree;

	if (ga_repo_head(l->repo, &l->head, &branch, err) || check_left(l, err) ||
	    ga_commit_tree(l->repo, &l->head, &l->head_tree, err) ||
	    ga_commit_tree(l->repo, &l->tip, &tip_tree, err))
		return -1;
	/* for what git says: are these names that may go to a terminal? */
	return ga_tree_diff(l->repo, &l->head_tree, &tip_tree, &l->changes, err);
}

static int abort_left(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "merge", "--abort", NULL };
	struct ga_git g = GA_GIT_INIT;

	if (l->rebase)
		return land_rebase_abort(l, err);
	if (ga_commit_tree(l->repo, &l->head, &l->head_tree, err) ||
	    land_check_way_back(l, &l->head_tree, err))
		return -1;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	return ga_git_ok(l->repo, &g, err);
}

int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	struct land l = { .repo = r, .s = s };
	cleanup_free char *branch = NULL;
	cleanup_close int lock = land_begin(r, err);
	int rc = lock < 0 || land_mark_again(&l, err) ? -1 : land_recover(&l, false, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_repo_head(r, &l.head, &branch, err) || check_left(&l, err))
		return -1;
	return abort_left(&l, err) || land_mark_again(&l, err) ? -1 : 0;
}
