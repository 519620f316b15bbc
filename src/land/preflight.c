/* SPDX-License-Identifier: MIT
 *
 * Check that git would land it, before anything is touched: a merge that git refuses late has been
 * seen to delete untracked files.
 */
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"
#include "land-internal.h"

#define PATHSPECS 500 /* up to so many paths are passed to git; else it lists all */

static int check_operation(struct ga_repo *r, const char *then, struct ga_error *err)
{
	cleanup_free char *lock = ga_path_join(ga_repo_info(r)->gitdir, "index.lock");
	const char *operation = ga_repo_operation(r);

	if (operation)
		return ga_fail(err, GA_ELOSE, "%s %s is in progress in this working tree"
			       GA_HINT "finish or abort it, then %s",
			       ga_repo_operation_article(operation), operation, then);
	if (access(lock, F_OK))
		return 0;
	return ga_fail(err, GA_EFATAL, "another git has locked the index: '%s'"
		       GA_HINT "wait until it has finished; if there is none, remove that file",
		       lock);
}

int land_refuse(const struct ga_strv *paths, const char *what, const char *remedy,
		const char *then, struct ga_error *err)
{
	cleanup_free char *list = NULL;

	if (!paths->n)
		return 0;
	list = ga_quote_list(paths, GA_LISTED);
	return ga_fail(err, GA_ELOSE, "%s: %s"
		       GA_HINT "%s, then %s", what, list, remedy, then);
}

/* Of the paths that git lists, those that the landing touches: these changes (NULL: any), or
 * conflicts. */
static int list(const struct landing *l, const char *const *args, const struct ga_changes *changes,
		const struct ga_strv *conflicts, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;
	int status;

	ga_strv_release(ret);
	if (ga_work_git(l->repo, args, NULL, &status, &out, &why, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		if (!changes || ga_changes_find(changes, path) ||
		    ga_strv_find(conflicts, path) >= 0)
			ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

/* Git merges only without staged changes. A fast-forward is blocked by those to files that land:
 * where they equal what lands, they would become part of it, and an undo would remove them. */
static int check_staged(const struct landing *l, const struct land_step *s, struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--name-only", "-z",
				     GA_HEX(&s->from), "--", NULL };
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct ga_oid tree;

	if (!ga_repo_index_tree(l->repo, &tree) && ga_oid_equal(&tree, &s->from))
		return 0;
	if (list(l, args, s->merges ? NULL : s->changes, s->conflicts, &paths, err))
		return -1;
	return land_refuse(&paths, s->merges ? "git merges only without staged changes"
					     : "staged changes would be overwritten",
			   "commit them or 'git restore --staged .'", s->then, err);
}

/* Files that are modified are refused, but a missing one blocks nothing; git itself would let one
 * be where it leaves a conflict, and giving that up resets it. A file that was only touched looks
 * modified until the index is refreshed. */
static int check_modified(const struct landing *l, const struct land_step *s, struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_strv struct ga_strv args = GA_STRV_INIT, paths = GA_STRV_INIT;
	cleanup_buf struct ga_buf ignored = GA_BUF_INIT;
	int unneeded;

	ga_strv_push_many(&args, "diff-files", "--name-only", "--diff-filter=d",
			  "--ignore-submodules", "-z", "--", NULL);
	if (s->changes->n + s->conflicts->n <= PATHSPECS) {
		for (size_t i = 0; i < s->changes->n; i++)
			ga_strv_pushf(&args, ":(top,literal)%s", s->changes->v[i].path);
		for (size_t i = 0; i < s->conflicts->n; i++)
			ga_strv_pushf(&args, ":(top,literal)%s", s->conflicts->v[i]);
	}
	for (int refreshed = 0; refreshed < 2; refreshed++)
		if ((refreshed && ga_work_git(l->repo, refresh, NULL, &unneeded, NULL, &ignored,
					      err)) ||
		    list(l, (const char *const *)args.v, s->changes, s->conflicts, &paths, err))
			return -1;
		else if (!paths.n)
			return 0;
	return land_refuse(&paths, "your uncommitted changes would be overwritten",
			   "commit them or 'git stash'", s->then, err);
}

/* Aborting a conflict would reset them. */
static int check_marked(const struct landing *l, const struct land_step *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv found = GA_STRV_INIT;

	if (s->conflicts->n && ga_work_find_marked(l->repo, s->conflicts, &found, err))
		return -1;
	return land_refuse(&found, "files marked assume-unchanged or skip-worktree would conflict",
			   "'git update-index --no-assume-unchanged --no-skip-worktree' them, "
			   "commit or stash", s->then, err);
}

/* A directory in place of a file, or a submodule where one is to come: git may remove its files. */
static bool is_filled(const struct ga_repo *r, int root, const struct ga_changes *changes,
		      const struct ga_change *c)
{
	cleanup_free char *dir = ga_path_join(ga_repo_info(r)->workdir, c->path);
	bool full = c->old.mode && c->old.mode != GA_MODE_GITLINK && ga_work_is_dir(root, c->path);

	for (size_t i = 0; c->old.mode == GA_MODE_GITLINK && i < changes->n; i++)
		full |= changes->v[i].new.mode && changes->v[i].new.mode != GA_MODE_GITLINK &&
			    ga_path_inside(c->path, changes->v[i].path);
	return full && !ga_dir_is_empty(dir);
}

/* Git overwrites ignored files: whatever is not tracked where a file is to come is refused, and
 * what is in place of a directory. */
static int check_untracked(const struct landing *l, const struct land_step *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv found = GA_STRV_INIT;
	cleanup_close int root = ga_work_open(l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < s->changes->n; i++) {
		const struct ga_change *c = &s->changes->v[i];
		cleanup_free char *above = ga_work_file_above(root, c->path);
		const struct ga_change *in = above ? ga_changes_find(s->changes, above) : NULL;
		bool comes = c->new.mode && !c->old.mode;
		struct ga_work_stat now;

		if (above && !(in && in->old.mode))
			ga_strv_push(&found, above);
		else if (is_filled(l->repo, root, s->changes, c) ||
			 (comes && !above && (!ga_work_stat(root, c->path, &now) || now.mode)))
			ga_strv_push(&found, c->path);
	}
	ga_strv_sort_unique(&found);
	return land_refuse(&found, "untracked files would be overwritten", "move or remove them",
			   s->then, err);
}

static int check_git(const struct landing *l, const struct land_step *s, struct ga_error *err)
{
	const char *const args[] = { "read-tree", "-n", "-m", "-u", GA_HEX(&s->from),
				     GA_HEX(&s->to), NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	int status = 0;

	if (ga_work_git(l->repo, args, NULL, &status, NULL, &why, err) || !status)
		return err->msg ? -1 : 0;
	line = ga_git_last_line(&why);
	return ga_fail(err, GA_ELOSE, "git refuses: %s"
		       GA_HINT "see 'git status'; then %s", line ? line : "no reason given",
		       s->then);
}

/* For some conflicts between files and directories git makes an entry without an object, and fails
 * when it has written half of the files. */
static int check_entries(const struct ga_changes *changes, struct ga_error *err)
{
	for (size_t i = 0; i < changes->n; i++) {
		if (changes->v[i].new.mode && ga_oid_is_zero(&changes->v[i].new.oid))
			return ga_fail(err, GA_ELOSE, "git cannot merge '%s'"
				       GA_HINT "resolve it with 'git merge' or 'git cherry-pick'",
				       changes->v[i].path);
	}
	return 0;
}

/* A fast-forward is all or nothing, so git need not be asked; but what is marked does not show as
 * modified. */
int land_preflight(const struct landing *l, const struct land_step *s, struct ga_error *err)
{
	struct ga_index_state look = { .marked = true, .touched = true };

	if (s->forward)
		ga_repo_check_index(l->repo, s->changes, &look);
	return check_operation(l->repo, s->then, err) || check_entries(s->changes, err) ||
	       check_staged(l, s, err) || (look.touched && check_modified(l, s, err)) ||
	       check_marked(l, s, err) || check_untracked(l, s, err) ||
	       (look.marked && check_git(l, s, err)) ? -1 : 0;
}

/* branch.NAME.mergeOptions of HEAD's branch, or NULL. */
static const char *merge_options(const struct ga_gitconfig *c, const char *branch)
{
	const char *name = ga_ref_branch(branch);
	cleanup_free char *key = name ? ga_strf("branch.%s.mergeoptions", name) : NULL;

	return key ? ga_gitconfig_get(c, key) : NULL;
}

bool land_needs_git(const struct landing *l, const struct proposal *p)
{
	static const char *const merge[] = { "pre-merge-commit", "prepare-commit-msg",
					     "commit-msg", NULL };
	static const char *const squash[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
					      "post-commit", NULL };
	enum ga_land_how how = l->opts->how;

	if (how == GA_LAND_REBASE || how == GA_LAND_FF_ONLY || l->opts->paths)
		return false;
	return l->opts->edit || l->opts->no_commit || p->conflicts.n ||
	       merge_options(l->config, p->branch) ||
	       ga_repo_has_hook(l->repo, l->config, how == GA_LAND_SQUASH ? squash : merge);
}

static bool has_strategy(const char *options)
{
	for (const char *s = options; s && *s; s += strcspn(s, " \t")) {
		s += strspn(s, " \t");
		if (!strncmp(s, "-s", 2) || !strncmp(s, "-X", 2) || !strncmp(s, "--strategy", 10))
			return true;
	}
	return false;
}

static int check_settings(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	static const char *const commit[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
					      "post-commit", NULL };

	if (ga_gitconfig_bool(l->config, "merge.verifysignatures", false))
		return ga_fail(err, GA_ELOSE, "merge.verifySignatures is set, and the commits of "
			       "an agent have no signature"
			       GA_HINT "'git config --unset merge.verifySignatures', then land "
			       "again");
	if (has_strategy(merge_options(l->config, p->branch)))
		return ga_fail(err, GA_ELOSE, "branch.%s.mergeOptions names a merge strategy"
			       GA_HINT "landing always merges with 'ort': 'git merge agent/%s' "
			       "uses yours", p->branch + strlen("refs/heads/"), l->s->name);
	if (l->opts->paths && ga_repo_has_hook(l->repo, l->config, commit))
		return ga_fail(err, GA_ELOSE, "a commit of some paths would bypass your commit "
			       "hooks"
			       GA_HINT "'git agent land --squash %s' runs them on all of it",
			       l->s->name);
	return 0;
}

int land_check(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	const struct land_step step = { .from = p->old, .to = p->tree, .changes = &p->changes,
					.conflicts = &p->conflicts, .merges = p->needs_git,
					.forward = !p->needs_git && !l->opts->dry_run,
					.then = "land again" };

	return check_settings(l, p, err) || land_preflight(l, &step, err) ? -1 : 0;
}
