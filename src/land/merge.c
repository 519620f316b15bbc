/* SPDX-License-Identifier: MIT
 *
 * The merge itself: git's, first in memory, then in the user's working tree.
 */
#include <string.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "land-internal.h"

/* `git merge-tree --write-tree` answers with the tree's id, a NUL, and more when
 * there are conflicts (status 1). It runs in the user's working tree because the
 * attributes and merge drivers there are those the real merge will go by; all of
 * them are the user's own, nothing of the branch is checked out yet. */
int land_preview(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "merge-tree", "--write-tree", "--no-messages", "-z",
				     GA_HEX(&l->head), GA_HEX(&l->tip), NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.out = &out;
	g.errout = &why;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	if (status > 1 || !ga_oid_parse(out.ptr, strlen(out.ptr), &l->merged)) {
		cleanup_buf struct ga_buf line = GA_BUF_INIT;

		ga_quote_add(&line, why.ptr, strcspn(why.ptr, "\n"));
		(void)ga_fail(err, GA_EFATAL, "git cannot compute the merge%s%s",
			      line.len ? ": " : "", line.ptr);
		return ga_hint(err, "git 2.38 or newer is needed to land");
	}
	l->conflicts = status == 1;
	if (ga_tree_diff(l->repo, &l->head_tree, &l->merged, &l->changes, err))
		return -1;
	/* squashed, cherry-picked or done again by hand: all of it is there */
	l->merge = l->changes.n || l->conflicts;
	return 0;
}

/* May git's own messages, which name paths as they are, go to a terminal? */
static bool names_are_plain(const struct ga_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		cleanup_buf struct ga_buf q = GA_BUF_INIT;

		ga_quote_add(&q, c->v[i].path, strlen(c->v[i].path));
		if (strcmp(q.ptr, c->v[i].path) != 0)
			return false;
	}
	return true;
}

static int unmerged(struct land *l, struct ga_strv *ret, struct ga_error *err)
{
	const char *const args[] = { "diff", "--name-only", "--no-ext-diff", "--no-renames",
				     "--diff-filter=U", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *path;
	size_t pos = 0;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.out = &out;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

/* git began the merge and left it: a conflict, or the commit was refused. */
static int fail_left(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (unmerged(l, &paths, err))
		return -1;
	if (!paths.n) {
		(void)ga_fail(
		    err, GA_ECONFLICT,
		    "the merge is done but was not committed: a hook or signing refused it");
		return ga_hint(err, "'git commit' tries again, 'git merge --abort' goes back");
	}
	list = land_list(&paths);
	(void)ga_fail(err, GA_ECONFLICT, "merging agent/%s conflicts in %s", l->s->name, list);
	return ga_hint(err,
		       "resolve, 'git add' and 'git commit'%s; or 'git merge --abort' to go back",
		       l->s->left_out.n ? ", then land again for what is uncommitted" : "");
}

/* git did not begin. The working tree was looked at before, so this is a race or
 * something only git knows. */
static int fail_refused(struct land *l, int status, const struct ga_buf *why, struct ga_error *err)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	ga_quote_add(&line, why->ptr, strcspn(why->ptr, "\n"));
	(void)ga_fail(err, status == 128 ? GA_EFATAL : GA_ELOSE,
		      "git refused to merge agent/%s%s%s", l->s->name, line.len ? ": " : "",
		      line.ptr);
	return ga_hint(err, "nothing was committed; 'git status' tells whether files were touched");
}

int land_merge(struct land *l, struct ga_error *err)
{
	cleanup_free char *own = ga_strf("Merge agent/%s", l->s->name);
	const char *message = l->opts->message ? l->opts->message : own;
	/* what the user's configuration says otherwise would give another result
	 * than the one that was checked */
	const char *const args[] = { "merge", "--no-ff", "--commit", "--no-squash", "--no-edit",
				     "--no-autostash", "--quiet", "-m", message,
				     GA_HEX(&l->tip), NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	cleanup_free char *branch = NULL;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	g.show_stderr = names_are_plain(&l->changes);
	g.errout = g.show_stderr ? NULL : &why;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	if (status)
		return ga_repo_operation(l->repo) ? fail_left(l, err)
						  : fail_refused(l, status, &why, err);
	if (ga_repo_head(l->repo, &l->ret->commit, &branch, err))
		return -1;
	return 0;
}
