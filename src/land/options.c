/* SPDX-License-Identifier: MIT
 *
 * The user can configure options for merges into the branch that they are on
 * (branch.NAME.mergeoptions). By these git can merge differently from the merge in memory, which
 * knows none of them: not follow a renamed file, take one side, use another strategy. The result as
 * a whole is checked when it is there (merge.c). This is for what cannot wait until then: files
 * that git would write on the way, uncommitted work that it would stash while it tries one strategy
 * after another, and a merge that git leaves to the user.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "in-the-way.h"

/* The key, if it is set and git will follow it, or NULL. Caller frees. */
static char *find(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *ref = NULL, *key = NULL;
	struct ga_oid head;
	const char *branch, *options;

	if (!l->opts || !l->merge ||
	    (l->opts->how != GA_LAND_MERGE && l->opts->how != GA_LAND_SQUASH) ||
	    ga_repo_head(l->repo, &head, &ref, &ignored) || !ref)
		return NULL;
	branch = ga_ref_branch(ref);
	key = ga_strf("branch.%s.mergeoptions", branch ? branch : ref);
	options = ga_gitconfig_get(&l->config, key);
	return options && *options ? ga_steal(&key) : NULL;
}

bool land_has_options(struct land *l)
{
	cleanup_free char *key = find(l);

	return key;
}

int land_options_in_the_way(struct land *l, struct land_found *f, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	cleanup_free char *key = find(l);
	cleanup_close int root = -1;
	struct ga_oid tip;

	if (!key)
		return 0;
	root = land_open_root(l->repo, err);
	if (root < 0 || ga_commit_tree(l->repo, &l->tip, &tip, err) ||
	    ga_tree_diff(l->repo, &l->head_tree, &tip, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (way_changed(l, root, &all.v[i], f, err))
			return -1;
	return 0;
}

/* ---- strategies --------------------------------------------------------------------------- */

/* "-s ours", "-nsours", "--strategy=ours", abbreviated as git allows. What only looks like it, as
 * the value of another option, counts too, which errs on the safe side. */
static bool is_strategy(const char *word)
{
	size_t n = strcspn(word, "=");

	if (*word != '-')
		return false;
	if (word[1] == '-')
		return n >= strlen("--str") && !strncmp(word, "--strategy", n);
	/* letters of options whose value is the rest of the word */
	word += 1 + strcspn(word + 1, "sXmFS");
	return *word == 's';
}

static bool names_strategy(const char *options)
{
	cleanup_free char *words = ga_strdup(options);

	for (char *c = words; *c; c++)
		if (strchr("'\"\\\t\n", *c))
			*c = ' ';
	for (char *word = words, *end; *word; word = end) {
		word += strspn(word, " ");
		end = word + strcspn(word, " ");
		if (*end)
			*end++ = '\0';
		if (is_strategy(word))
			return true;
	}
	return false;
}

int land_options_put_away(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "diff", "--quiet", "--no-ext-diff", "--no-textconv",
					    "--ignore-submodules=dirty", "HEAD", "--", NULL };
	cleanup_free char *key = find(l);
	struct ga_git g = GA_GIT_INIT;
	int status;

	if (!key || !names_strategy(ga_gitconfig_get(&l->config, key)))
		return 0;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	return ga_git_run(l->repo, &g, &status, err) ? -1 : status != 0;
}

/* ---- a merge that was left ---------------------------------------------------------------- */

/* Paths that git merged, but not to what was checked; and paths that it could not merge, which was
 * not expected. */
static int find_otherwise(struct land *l, struct ga_strv *ret, struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--name-only", "--no-renames",
				     "--no-ext-diff", "-z", GA_HEX(&l->merged), "--", NULL };
	cleanup_strv struct ga_strv unmerged = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	if (land_unmerged(l, &unmerged, err) || (unmerged.n && land_ask_git(l, args, NULL, NULL,
									    &out, err)))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		if (ga_strv_find(&l->conflicted, path) < 0)
			ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

int land_options_check_left(struct land *l, struct ga_error *err)
{
	/* git leaves it, and the user's next commit message would begin with it */
	cleanup_free char *message = ga_path_join(ga_repo_info(l->repo)->gitdir, "SQUASH_MSG");
	cleanup_free char *key = find(l), *list = NULL, *setting = NULL, *word = NULL;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	if (!key)
		return 0;
	if (find_otherwise(l, &paths, err))
		return -1;
	if (!paths.n)
		return 0;
	list = land_list(&paths);
	setting = ga_strf("%s=", key);
	word = ga_quote_shell(setting);
	(void)ga_fail(err, GA_ELOSE, "git merges agent/%s otherwise than was checked: %s",
		      l->s->name, list);
	free(l->instead);
	l->instead = ga_strf("nothing was committed, and files are as they were; 'git -c %s agent "
			     "land %s' merges without options of the branch", word, l->s->name);
	if (l->opts->how == GA_LAND_SQUASH)
		(void)unlink(message);
	return -1;
}

/* ---- the same once more ------------------------------------------------------------------- */

/* A git directory like that of a linked working tree: it has a HEAD of its own, equal to the
 * user's, and all else is the repository's. */
static int make_gitdir(struct land *l, const char *dir, struct ga_error *err)
{
	cleanup_free char *head = ga_path_join(dir, "HEAD"), *ref = NULL, *line = NULL;
	cleanup_free char *common = ga_path_join(dir, "commondir");
	const char *commondir = ga_repo_info(l->repo)->commondir;
	struct ga_oid oid;
	int rc = ga_repo_head(l->repo, &oid, &ref, err);

	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_EFATAL, "this branch has no commit");
	line = ref ? ga_strf("ref: %s\n", ref) : ga_strf("%s\n", GA_HEX(&oid));
	return ga_mkdir_p(dir, 0700, err) ||
	       ga_write_new(AT_FDCWD, head, line, strlen(line), 0600, err) ||
	       ga_write_new(AT_FDCWD, common, commondir, strlen(commondir), 0600, err) ? -1 : 0;
}

/* Merge there, in a working tree that has nothing but what git writes. */
static int merge_in(struct land *l, const char *dir, struct ga_changes *ret, struct ga_error *err)
{
	cleanup_free char *gitdir = ga_path_join(dir, "git"), *tree = ga_path_join(dir, "tree");
	cleanup_free char *where = ga_strf("--git-dir=%s", gitdir);
	bool squash = l->opts->how == GA_LAND_SQUASH;
	const char *const fill[] = { where, "read-tree", "HEAD", NULL };
	const char *const merge[] = { where, "merge", "-s", "ort", squash ? "--ff" : "--no-ff",
				      squash ? "--squash" : "--no-squash", "--no-commit",
				      "--no-autostash", "--quiet", GA_HEX(&l->tip), NULL };
	struct ga_git g = GA_GIT_INIT;
	int status;

	if (make_gitdir(l, gitdir, err) || ga_mkdir_p(tree, 0700, err))
		return -1;
	g.work_tree = tree;
	g.args = fill;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	g.args = merge;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	/* 1: with conflicts */
	if (status > 1)
		return ga_fail(err, GA_EFATAL,
			       "git cannot merge once more, to tell what it staged");
	return land_staged(l, where, tree, ret, err);
}

int land_options_merge(struct land *l, struct ga_changes *ret, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/merge.%d", l->s->dir, (int)getpid());
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	int rc = ga_rmtree_at(AT_FDCWD, dir, err) || merge_in(l, dir, ret, err) ? -1 : 0;

	return ga_rmtree_at(AT_FDCWD, dir, rc ? &second : err) || rc ? -1 : 0;
}
