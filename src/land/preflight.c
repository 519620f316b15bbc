/* SPDX-License-Identifier: MIT
 *
 * Would git do it? Asked before anything is touched: a merge that git refuses late has been seen to
 * delete untracked files.
 */
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "landing.h"

#define PATHSPECS 500 /* so many paths are named to git, of more it lists all */
#define OVERWRITTEN "your uncommitted changes would be overwritten"

static int fail_operation(const char *operation, const char *then, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "%s %s is in progress in this working tree",
		      ga_repo_operation_article(operation), operation);
	return ga_hint(err, "finish or abort it, then %s", then);
}

static int check_operation(struct ga_repo *r, const char *then, struct ga_error *err)
{
	cleanup_free char *stash = ga_path_join(ga_repo_info(r)->gitdir, "MERGE_AUTOSTASH");
	cleanup_free char *lock = ga_path_join(ga_repo_info(r)->gitdir, "index.lock");
	const char *operation = ga_repo_operation(r);

	if (operation)
		return fail_operation(operation, then, err);
	if (!access(lock, F_OK)) {
		cleanup_free char *q = ga_escape(lock);

		(void)ga_fail(err, GA_EFATAL, "another git has locked the index: '%s'", q);
		return ga_hint(err, "wait until it has finished; if there is none, remove that "
			       "file");
	}
	if (access(stash, F_OK))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "changes that a merge stashed wait to be applied");
	return ga_hint(err, "'git merge --continue' or --abort, then %s", then);
}

/* Run git in the user's working tree as the user would. */
static int ask(struct ga_repo *r, const char *const *args, int *ret_status, struct ga_buf *out,
	       struct ga_buf *why, struct ga_error *err)
{
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(r)->workdir;
	g.as_user = true;
	g.out = out;
	g.errout = why;
	return ga_git_run(r, &g, ret_status, err);
}

/* Whether `git read-tree -m -u` would go from one tree to the other. */
static int ask_read_tree(struct ga_repo *r, const struct ga_oid *from, const struct ga_oid *to,
			 int *ret_status, struct ga_buf *why, struct ga_error *err)
{
	const char *const args[] = { "read-tree", "-n", "-m", "-u", GA_HEX(from), GA_HEX(to),
				     NULL };

	ga_buf_clear(why);
	return ask(r, args, ret_status, NULL, why, err);
}

/* ---- why not ------------------------------------------------------------------------------ */

/* Of the paths that git lists, those that would be changed (NULL: all), or, if there are sorted
 * others, these. */
static int add_overlap(struct ga_repo *r, const char *const *args, const struct ga_changes *changes,
		       const struct ga_strv *others, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;
	int status;

	if (ask(r, args, &status, &out, &why, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		if (others ? ga_strv_find(others, path) >= 0
			   : !changes || ga_changes_find(changes, path))
			ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

/* A submodule that is checked out, where a file is to come: git removes all that is in it. */
static bool is_filled(const struct ga_repo *r, const struct ga_changes *changes,
		      const struct ga_change *c)
{
	cleanup_free char *dir = ga_path_join(ga_repo_info(r)->workdir, c->path);
	bool replaced = c->new.mode != GA_MODE_NONE && c->new.mode != GA_MODE_GITLINK;

	for (cleanup_free char *at = ga_path_parent(c->path), *up = NULL; *at && !replaced;) {
		const struct ga_change *above = ga_changes_find(changes, at);

		replaced = above && above->new.mode != GA_MODE_NONE;
		up = ga_path_parent(at);
		free(at);
		at = ga_steal(&up);
	}
	return c->old.mode == GA_MODE_GITLINK && replaced && !ga_dir_is_empty(dir);
}

/* Find what is at an added path, or above a changed one, and is no directory. */
static void find_untracked(const struct ga_repo *r, const struct ga_changes *changes,
			   struct ga_strv *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int root = land_open_root(r, &ignored);

	for (size_t i = 0; root >= 0 && i < changes->n; i++) {
		const char *path = changes->v[i].path;
		cleanup_free char *above = land_file_above(root, path);
		struct land_look now;

		if (above)
			ga_strv_push(ret, above);
		else if (changes->v[i].new.mode && !changes->v[i].old.mode &&
			 (!land_look_here(root, path, &now) || now.mode))
			ga_strv_push(ret, path);
	}
	ga_strv_sort_unique(ret);
}

int land_refuse(const struct ga_strv *paths, const char *what, const char *remedy,
		const char *then, struct ga_error *err)
{
	cleanup_free char *list = land_list_paths(paths);

	(void)ga_fail(err, GA_ELOSE, "%s: %s", what, list);
	return ga_hint(err, "%s, then %s", remedy, then);
}

/* Git overwrites ignored files: whatever is not tracked where a file is to come is refused. */
static int check_untracked(struct ga_repo *r, const struct ga_changes *changes, const char *then,
			   struct ga_error *err)
{
	static const char *const literal[] = { "GIT_LITERAL_PATHSPECS=1", NULL };
	cleanup_strv struct ga_strv found = GA_STRV_INIT, args = GA_STRV_INIT;
	cleanup_strv struct ga_strv untracked = GA_STRV_INIT, tracked = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *path;
	size_t pos = 0;

	for (size_t i = 0; i < changes->n; i++)
		if (is_filled(r, changes, &changes->v[i]))
			ga_strv_push(&untracked, changes->v[i].path);
	find_untracked(r, changes, &found);
	if (!found.n && !untracked.n)
		return 0;
	ga_strv_push_many(&args, "ls-files", "-z", "--", NULL);
	ga_strv_extend(&args, &found);
	g.args = (const char *const *)args.v;
	g.env = literal;
	g.work_tree = ga_repo_info(r)->workdir;
	g.out = &out;
	if (found.n && ga_git_ok(r, &g, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(&tracked, path);
	ga_strv_sort_unique(&tracked);
	for (size_t i = 0; i < found.n; i++)
		if (ga_strv_find(&tracked, found.v[i]) < 0)
			ga_strv_push(&untracked, found.v[i]);
	return !untracked.n ? 0 :
	       land_refuse(&untracked, "untracked files would be overwritten",
			   "move or remove them", then, err);
}

static const char *const modified[] = { "diff-files", "--name-only", "-z", NULL };

static int explain(struct ga_repo *r, const struct ga_oid *from, const struct ga_changes *changes,
		   const char *then, const struct ga_buf *why, struct ga_error *err)
{
	const char *const staged[] = { "diff-index", "--cached", "--name-only", "-z",
				       GA_HEX(from), "--", NULL };
	cleanup_strv struct ga_strv mine = GA_STRV_INIT, untracked = GA_STRV_INIT;
	cleanup_free char *line = ga_git_last_line(why);

	if (add_overlap(r, modified, changes, NULL, &mine, err) ||
	    add_overlap(r, staged, changes, NULL, &mine, err))
		return -1;
	if (mine.n)
		return land_refuse(&mine, OVERWRITTEN,
			      "commit them or 'git stash'", then, err);
	find_untracked(r, changes, &untracked);
	if (untracked.n)
		return land_refuse(&untracked, "untracked files would be overwritten",
			      "move or remove them", then, err);
	(void)ga_fail(err, GA_ELOSE, "git refuses: %s", line ? line : "no reason given");
	return ga_hint(err, "see 'git status'; then %s", then);
}

/* For some conflicts between files and directories git makes an entry without an object, and fails
 * when it has written half of the files. */
static int check_entries(const struct ga_changes *changes, struct ga_error *err)
{
	for (size_t i = 0; i < changes->n; i++) {
		cleanup_free char *q = ga_escape(changes->v[i].path);

		if (changes->v[i].new.mode && ga_oid_is_zero(&changes->v[i].new.oid)) {
			(void)ga_fail(err, GA_ELOSE, "git cannot merge '%s'", q);
			return ga_hint(err, "resolve it with 'git merge' or 'git cherry-pick'");
		}
	}
	return 0;
}

/* Of the files that would be changed, find those that are modified. One that is missing blocks
 * nothing. */
static int find_modified(struct ga_repo *r, const struct ga_changes *changes, struct ga_strv *ret,
			 struct ga_error *err)
{
	cleanup_strv struct ga_strv args = GA_STRV_INIT;

	ga_strv_push_many(&args, "diff-files", "--name-only", "--diff-filter=d",
			  "--ignore-submodules", "-z", "--", NULL);
	for (size_t i = 0; i < changes->n && changes->n <= PATHSPECS; i++)
		ga_strv_pushf(&args, ":(top,literal)%s", changes->v[i].path);
	return add_overlap(r, (const char *const *)args.v, changes, NULL, ret, err);
}

static int refresh(struct ga_repo *r, struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_buf struct ga_buf ignored = GA_BUF_INIT;
	int unneeded;

	return ask(r, args, &unneeded, NULL, &ignored, err);
}

/* A fast-forward is all or nothing, so only what there are better words for is asked. A file that
 * was only touched looks modified until the index is refreshed. */
static int check_forward(struct ga_repo *r, const struct ga_changes *changes, const char *then,
			 struct ga_error *err)
{
	cleanup_strv struct ga_strv mine = GA_STRV_INIT;

	if (find_modified(r, changes, &mine, err))
		return -1;
	if (mine.n) {
		ga_strv_release(&mine);
		if (refresh(r, err) || find_modified(r, changes, &mine, err))
			return -1;
	}
	return !mine.n ? 0
	       : land_refuse(&mine, OVERWRITTEN, "commit them or 'git stash'", then, err);
}

int land_preflight(struct ga_repo *r, const struct ga_oid *from, const struct ga_oid *to,
		   const struct ga_changes *changes, bool forward, const char *then,
		   struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status = 0;

	if (check_operation(r, then, err) || check_entries(changes, err))
		return -1;
	/* files that are marked do not show as modified */
	if (forward && !ga_repo_index_marked(r))
		return check_forward(r, changes, then, err) ||
		       check_untracked(r, changes, then, err) ? -1 : 0;
	if (ask_read_tree(r, from, to, &status, &why, err) ||
	    (status && (refresh(r, err) || ask_read_tree(r, from, to, &status, &why, err))))
		return -1;
	return status ? explain(r, from, changes, then, &why, err)
		      : check_untracked(r, changes, then, err);
}

/* ---- settings ----------------------------------------------------------------------------- */

/* Git merges only without staged changes. Where it fast-forwards, those that are what lands would
 * become part of it, and an undo would take them away. */
static int check_staged(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	bool merges = land_needs_git(l, p);
	const char *const args[] = { "diff-index", "--cached", "--name-only", "-z",
				     GA_HEX(&p->head), "--", NULL };
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct ga_oid tree;

	if (!ga_repo_index_tree(l->repo, &tree) && ga_oid_equal(&tree, &p->old))
		return 0;
	if (add_overlap(l->repo, args, merges ? NULL : &p->changes, NULL, &paths, err))
		return -1;
	return !paths.n ? 0 :
	       land_refuse(&paths, merges ? "git merges only without staged changes"
					  : "staged changes to files that land",
			   "commit them or 'git restore --staged .'", "land again", err);
}

/* Git lets a modified file be where it leaves a conflict, and giving that up resets it. */
static int check_conflicts(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	if (!p->conflicts.n)
		return 0;
	if (add_overlap(l->repo, modified, NULL, &p->conflicts, &paths, err))
		return -1;
	return !paths.n ? 0 : land_refuse(&paths, "conflicts in files that you have modified",
					  "commit them or 'git stash'", "land again", err);
}

static bool names_strategy(const char *options)
{
	for (const char *s = options; s && *s; s += strcspn(s, " \t")) {
		s += strspn(s, " \t");
		if (!strncmp(s, "-s", 2) || !strncmp(s, "-X", 2) || !strncmp(s, "--strategy", 10))
			return true;
	}
	return false;
}

int land_check_settings(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	static const char *const commit[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
					      "post-commit", NULL };

	if (ga_gitconfig_bool(l->config, "merge.verifysignatures", false)) {
		(void)ga_fail(err, GA_ELOSE, "merge.verifySignatures is set, and the commits of an "
			      "agent have no signature");
		return ga_hint(err, "'git config --unset merge.verifySignatures', then land "
			       "again");
	}
	if (names_strategy(land_merge_options(l->config, p->branch))) {
		(void)ga_fail(err, GA_ELOSE, "branch.%s.mergeOptions names a merge strategy",
			      p->branch + strlen("refs/heads/"));
		return ga_hint(err, "landing always merges with 'ort': 'git merge agent/%s' uses "
			       "yours", l->s->name);
	}
	if (l->opts->paths && land_has_hook(l->repo, l->config, commit)) {
		(void)ga_fail(err, GA_ELOSE, "a commit of some paths would pass by your commit "
			      "hooks");
		return ga_hint(err, "'git agent land --squash %s' runs them on all of it",
			       l->s->name);
	}
	return ga_oid_is_zero(&p->head) ? 0
	       : check_staged(l, p, err) || check_conflicts(l, p, err) ? -1 : 0;
}
