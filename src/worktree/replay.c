/* SPDX-License-Identifier: MIT
 *
 * A rebase in memory: commits are made again, each by one merge with its parent as the base.
 */
#include <string.h>
#include <time.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/worktree/work.h"

#define COMMITS_MAX 1000000

/* A commit with the tree that there is so far and the parent of the commit that is made again: then
 * that parent is the base of git's merge of the two. */
static int make_ours(struct ga_repo *r, const struct ga_oid *tree, const struct ga_oid *parent,
		     const char *who, struct ga_oid *ret, struct ga_error *err)
{
	struct ga_oid parents[] = { *parent };
	cleanup_free char *author = ga_strdup(who), *committer = ga_strdup(who);
	cleanup_free char *none = ga_strdup(""), *message = ga_strdup("replay\n");
	struct ga_commit c = { .tree = *tree, .parents = parents, .n_parents = 1, .author = author,
			       .committer = committer, .extra = none, .message = message };

	return ga_commit_write(r, &c, ret, err);
}

static int fail_conflict(const struct ga_oid *commit, const struct ga_strv *conflicts,
			 struct ga_error *err)
{
	cleanup_free char *list = ga_quote_list(conflicts, GA_LISTED);

	(void)ga_fail(err, GA_ELOSE, "commit %.10s conflicts in %s", GA_HEX(commit), list);
	return ga_hint(err, "'git cherry-pick %.10s' leaves the conflict for you to resolve; or "
		       "land with --merge", GA_HEX(commit));
}

/* The tree of `c` on top of `cur`. */
static int apply(struct ga_repo *r, const struct ga_oid *oid, const struct ga_commit *c,
		 const struct ga_oid *cur, const char *who, struct ga_oid *ret,
		 struct ga_error *err)
{
	cleanup_strv struct ga_strv conflicts = GA_STRV_INIT;
	struct ga_oid base, ours;

	if (ga_commit_tree(r, &c->parents[0], &base, err))
		return -1;
	*ret = ga_oid_equal(&base, cur) ? c->tree : *cur;
	if (ga_oid_equal(&base, cur) || ga_oid_equal(&base, &c->tree))
		return 0;
	if (make_ours(r, cur, &c->parents[0], who, &ours, err) ||
	    ga_work_merge_trees(r, GA_HEX(&ours), GA_HEX(oid), ret, &conflicts, err))
		return -1;
	return conflicts.n ? fail_conflict(oid, &conflicts, err) : 0;
}

/* "Name <mail> seconds zone" as the three variables by which git commit-tree is told the author. */
static void push_author(struct ga_strv *env, const char *author)
{
	const char *lt = strstr(author, " <"), *gt = lt ? strstr(lt, "> ") : NULL;

	if (!gt)
		return;
	ga_strv_pushf(env, "GIT_AUTHOR_NAME=%.*s", (int)(lt - author), author);
	ga_strv_pushf(env, "GIT_AUTHOR_EMAIL=%.*s", (int)(gt - lt - 2), lt + 2);
	ga_strv_pushf(env, "GIT_AUTHOR_DATE=%s", gt + 2);
}

int ga_work_replay(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *tip,
		   const struct ga_oid *base, const struct ga_oid *onto, struct ga_oid **ret,
		   size_t *ret_n, struct ga_error *err)
{
	const struct ga_oid hide[] = { *onto, base ? *base : *onto };
	cleanup_free struct ga_oid *v = NULL, *made = NULL;
	cleanup_free char *who = NULL;
	struct ga_oid tree, cur = *onto;
	size_t n = 0, n_made = 0;

	if (ga_rev_list(r, tip, 1, hide, 2, COMMITS_MAX, &v, &n, err) ||
	    ga_commit_tree(r, onto, &tree, err) ||
	    ga_repo_signature(r, c, time(NULL), &who, err))
		return -1;
	made = ga_calloc(n + 1, sizeof(*made));
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit old = { .n_parents = 0 };
		cleanup_strv struct ga_strv env = GA_STRV_INIT;
		struct ga_oid new;

		if (ga_commit_read(r, &v[i], &old, err))
			return -1;
		if (old.n_parents != 1)
			continue;
		if (apply(r, &v[i], &old, &tree, who, &new, err))
			return -1;
		if (ga_oid_equal(&new, &tree))
			continue;
		tree = new;
		push_author(&env, old.author);
		if (ga_work_commit(r, c, &tree, &cur, 1, &env, old.message, &made[n_made], err))
			return -1;
		cur = made[n_made++];
	}
	*ret = ga_steal(&made);
	*ret_n = n_made;
	return 0;
}
