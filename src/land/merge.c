/* SPDX-License-Identifier: MIT
 *
 * The merge itself: git's, first in memory, then in the user's working tree.
 */
#include <string.h>
#include <unistd.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "land-internal.h"

#define SUBJECTS 100 /* of commits, in one message */
#define COMMITS_MAX 1000000

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
	const char *side;
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
	/* "mode id stage TAB path", a line for each side */
	for (size_t pos = strlen(out.ptr) + 1; l->conflicts && (side = ga_buf_next0(&out, &pos));) {
		const char *tab = strchr(side, '\t');

		if (tab)
			ga_strv_push(&l->conflicted, tab + 1);
	}
	ga_strv_sort_unique(&l->conflicted);
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

int land_unmerged(struct land *l, struct ga_strv *ret, struct ga_error *err)
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

/* git did not begin. The working tree was looked at before, so this is a race or
 * something only git knows. */
int land_fail_refused(struct land *l, int status, const struct ga_buf *why, struct ga_error *err)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	ga_quote_add(&line, why->ptr, strcspn(why->ptr, "\n"));
	(void)ga_fail(err, status == 128 ? GA_EFATAL : GA_ELOSE,
		      "git refused to merge agent/%s%s%s", l->s->name, line.len ? ": " : "",
		      line.ptr);
	return ga_hint(err, "nothing was committed; 'git status' tells whether files were touched");
}

/* git staged what it could of a squash, and left it. */
static int fail_squash(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (land_unmerged(l, &paths, err))
		return -1;
	list = land_list(&paths);
	(void)ga_fail(err, GA_ECONFLICT, "squashing agent/%s conflicts in %s", l->s->name, list);
	return ga_hint(err, "resolve, 'git add' and 'git commit'; or 'git reset --merge' to go "
			    "back");
}

/* One git command that brings the branch, or a part of that. */
int land_run_git(struct land *l, const char *const *args, const void *in, size_t n,
		 int *ret_status, struct ga_buf *why, struct ga_error *err)
{
	static const char *const env[] = { "GIT_EDITOR=:", NULL };
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	g.show_stderr = names_are_plain(&l->changes);
	g.errout = g.show_stderr ? NULL : why;
	g.in = in;
	g.in_len = n;
	if (l->opts && l->opts->edit) {
		g.in_fd = STDIN_FILENO;
		g.out_fd = STDOUT_FILENO;
	} else {
		g.env = env;
	}
	return ga_git_run(l->repo, &g, ret_status, err);
}

static int run_git(struct land *l, const char *const *args, int *ret_status, struct ga_buf *why,
		   struct ga_error *err)
{
	return land_run_git(l, args, NULL, 0, ret_status, why, err);
}

static int merge(struct land *l, const char *const *args, struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (run_git(l, args, &status, &why, err))
		return -1;
	if (!status)
		return 0;
	if (ga_repo_operation(l->repo))
		return land_fail_left(l, err);
	/* of a squash there is no sign but what is unmerged */
	if (l->opts->how == GA_LAND_SQUASH && l->conflicts)
		return fail_squash(l, err);
	return land_fail_refused(l, status, &why, err);
}

/* "Squash agent/NAME" and the subjects, which are the agent's words: safe to show. */
static int squash_message(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	size_t n = 0;

	ga_buf_addf(ret, "Squash agent/%s\n\n", l->s->name);
	if (ga_rev_list(l->repo, &l->tip, 1, &l->head, 1, COMMITS_MAX, &commits, &n, err))
		return -1;
	for (size_t i = 0; i < n && i < SUBJECTS; i++) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };

		if (ga_commit_read(l->repo, &commits[i], &c, err))
			return -1;
		ga_buf_adds(ret, "* ");
		ga_quote_add_text(ret, c.message, strcspn(c.message, "\n"));
		ga_buf_addch(ret, '\n');
	}
	if (n > SUBJECTS)
		ga_buf_addf(ret, "* and %zu more\n", n - SUBJECTS);
	return 0;
}

static void part_message(struct land *l, struct ga_buf *ret)
{
	ga_buf_addf(ret, "Land a part of agent/%s\n\n", l->s->name);
	for (size_t i = 0; i < l->opts->paths->n && i < SUBJECTS; i++) {
		const char *path = l->opts->paths->v[i];

		ga_buf_adds(ret, "* ");
		ga_quote_add(ret, path, strlen(path));
		ga_buf_addch(ret, '\n');
	}
}

int land_message(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	if (l->opts->message)
		ga_buf_adds(ret, l->opts->message);
	else if (l->opts->paths)
		part_message(l, ret);
	else if (l->opts->how == GA_LAND_SQUASH)
		return squash_message(l, ret, err);
	else
		ga_buf_addf(ret, "Merge agent/%s", l->s->name);
	return 0;
}

static int squash(struct land *l, struct ga_error *err)
{
	/* --ff: with merge.ff as "false" or "only" git would refuse */
	const char *const stage[] = { "merge", "--ff", "--squash", "--no-autostash", "--quiet",
				      GA_HEX(&l->tip), NULL };
	cleanup_buf struct ga_buf message = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *commit[] = { "commit", "--quiet", "-m", NULL, l->opts->edit ? "-e" : NULL,
				 NULL };
	int status;

	if (land_message(l, &message, err))
		return -1;
	commit[3] = message.ptr;
	if (merge(l, stage, err))
		return -1;
	if (l->opts->no_commit)
		return 0;
	if (run_git(l, commit, &status, &why, err))
		return -1;
	if (!status)
		return 0;
	(void)ga_fail(err, GA_ECONFLICT,
		      "the changes are staged but not committed: a hook or signing refused it");
	return ga_hint(err, "'git commit' tries again, 'git reset --merge' goes back");
}

static int merge_commit(struct land *l, struct ga_error *err)
{
	cleanup_buf struct ga_buf message = GA_BUF_INIT;
	/* what the user's configuration says otherwise would give another result
	 * than the one that was checked */
	const char *args[] = { "merge", "--no-ff",
				     l->opts->no_commit ? "--no-commit" : "--commit",
				     "--no-squash", l->opts->edit ? "--edit" : "--no-edit",
				     "--no-autostash", "--quiet", "-m", NULL, NULL, NULL };

	if (land_message(l, &message, err))
		return -1;
	args[8] = message.ptr;
	args[9] = GA_HEX(&l->tip);
	return merge(l, args, err);
}

static int fast_forward(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "merge", "--ff-only", "--no-squash", "--no-autostash",
				     "--quiet", GA_HEX(&l->tip), NULL };

	return merge(l, args, err);
}

int land_check_how(struct land *l, struct ga_error *err)
{
	int rc = l->opts->how == GA_LAND_FF_ONLY ? ga_is_ancestor(l->repo, &l->head, &l->tip, err)
						 : 1;

	if (rc)
		return rc < 0 ? -1 : 0;
	(void)ga_fail(err, GA_EFATAL, "your branch has commits that agent/%s lacks: it cannot move "
				      "on to it", l->s->name);
	return ga_hint(err, "'git agent land --merge' or '--squash' brings it");
}

int land_merge(struct land *l, struct ga_error *err)
{
	static int (*const ways[])(struct land *l, struct ga_error *err) = {
		[GA_LAND_MERGE] = merge_commit,
		[GA_LAND_SQUASH] = squash,
		[GA_LAND_REBASE] = land_rebase,
		[GA_LAND_FF_ONLY] = fast_forward,
	};
	cleanup_free char *branch = NULL;

	if (ways[l->opts->how](l, err))
		return -1;
	return ga_repo_head(l->repo, &l->ret->commit, &branch, err) ? -1 : 0;
}

/* ---- one that was left ------------------------------------------------------------ */

/* 1: there is no such ref of this working tree. */
int land_read_ref(struct land *l, const char *name, struct ga_oid *ret, struct ga_error *err)
{
	const char *const args[] = { "rev-parse", "--quiet", "--verify", name, NULL };

	return land_ask_id(l, args, ret, err);
}

/* Is it a merge of this branch that is in progress, or are its commits made again? */
static int check_left(struct land *l, bool *ret_rebase, struct ga_error *err)
{
	const char *operation = ga_repo_operation(l->repo);
	struct land_refs refs;
	struct ga_oid oid;
	int rc = 0;

	*ret_rebase = operation && !strcmp(operation, "cherry-pick");
	if (land_refs_read(l->repo, l->s, &refs, err))
		return -1;
	if (*ret_rebase) {
		rc = land_rebase_left(l, &refs.branch, err);
	} else if (operation && !strcmp(operation, "merge")) {
		rc = land_read_ref(l, "MERGE_HEAD", &oid, err);
		rc = rc < 0 ? -1 : !rc && ga_oid_equal(&oid, &refs.branch);
	}
	l->tip = refs.branch;
	if (rc)
		return rc < 0 ? -1 : 0;
	(void)ga_fail(err, GA_EFATAL, "no landing of agent/%s was left to be finished", l->s->name);
	return ga_hint(err, "'git status' tells what is in progress");
}

int land_finish(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "commit", "--quiet", "--no-edit", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *branch = NULL;
	int status;

	if (land_unmerged(l, &paths, err))
		return -1;
	if (!paths.n && l->rebase)
		return land_rebase_continue(l, err) ||
		       ga_repo_head(l->repo, &l->ret->commit, &branch, err) ? -1 : 0;
	if (paths.n || run_git(l, args, &status, &why, err))
		return paths.n ? land_fail_left(l, err) : -1;
	if (status)
		return land_fail_left(l, err);
	return ga_repo_head(l->repo, &l->ret->commit, &branch, err) ? -1 : 0;
}

int land_check_left(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	bool rebase;

	if (ga_repo_head(l->repo, &l->head, &branch, err) || check_left(l, &rebase, err))
		return -1;
	l->rebase = rebase;
	return ga_commit_tree(l->repo, &l->head, &l->head_tree, err);
}

int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	const char *args[] = { "merge", "--abort", NULL };
	struct land l = { .repo = r, .s = s };
	cleanup_free char *branch = NULL;
	struct ga_git g = GA_GIT_INIT;
	int rc = land_recover(&l, false, err);
	bool rebase;

	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_repo_head(r, &l.head, &branch, err) || check_left(&l, &rebase, err))
		return -1;
	if (rebase)
		args[0] = "cherry-pick";
	g.args = args;
	g.work_tree = ga_repo_info(r)->workdir;
	g.user_hooks = true;
	return ga_git_ok(r, &g, err);
}
