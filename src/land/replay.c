/* SPDX-License-Identifier: MIT
 *
 * --rebase: the commits of the session made again on top of HEAD, in memory, each by one merge with
 * its parent as the base.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "landing.h"

#define COMMITS_MAX 1000000

/* A commit with the tree that there is so far and the parent of the commit that is made again: then
 * that parent is the base of git's merge of the two. */
static int make_ours(const struct landing *l, const struct ga_oid *tree,
		     const struct ga_oid *parent, const char *who, struct ga_oid *ret,
		     struct ga_error *err)
{
	struct ga_oid parents[] = { *parent };
	cleanup_free char *author = ga_strdup(who), *committer = ga_strdup(who);
	cleanup_free char *none = ga_strdup(""), *message = ga_strdup("replay\n");
	struct ga_commit c = { .tree = *tree, .parents = parents, .n_parents = 1, .author = author,
			       .committer = committer, .extra = none, .message = message };

	return ga_commit_write(l->repo, &c, ret, err);
}

static int fail_conflict(const struct landing *l, const struct ga_oid *commit,
			 const struct ga_strv *conflicts, struct ga_error *err)
{
	cleanup_free char *list = ga_quote_list(conflicts);

	(void)ga_fail(err, GA_ELOSE, "commit %.10s of agent/%s conflicts in %s", GA_HEX(commit),
		      l->s->name, list);
	return ga_hint(err, "'git cherry-pick %.10s' leaves the conflict for you to resolve; or "
		       "land with --merge", GA_HEX(commit));
}

/* The tree of `c` on top of `cur`. */
static int apply(const struct landing *l, const struct ga_oid *oid, const struct ga_commit *c,
		 const struct ga_oid *cur, const char *who, struct ga_oid *ret,
		 struct ga_error *err)
{
	cleanup_strv struct ga_strv conflicts = GA_STRV_INIT;
	struct ga_oid base, ours;

	if (ga_commit_tree(l->repo, &c->parents[0], &base, err))
		return -1;
	*ret = ga_oid_equal(&base, cur) ? c->tree : *cur;
	if (ga_oid_equal(&base, cur) || ga_oid_equal(&base, &c->tree))
		return 0;
	if (make_ours(l, cur, &c->parents[0], who, &ours, err) ||
	    ga_work_merge_trees(l->repo, GA_HEX(&ours), GA_HEX(oid), ret, &conflicts, err))
		return -1;
	return conflicts.n ? fail_conflict(l, oid, &conflicts, err) : 0;
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

static int make_again(const struct landing *l, const struct ga_commit *c, const struct ga_oid *tree,
		      struct ga_oid *cur, struct ga_error *err)
{
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	const struct ga_oid parent = *cur;

	push_author(&env, c->author);
	return ga_work_commit(l->repo, l->config, tree, &parent, 1, &env, c->message, cur, err);
}

int land_replay(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	struct ga_oid hide[] = { p->head, l->s->id.onto };
	bool base = !l->opts->with_base && ga_commit_here(l->repo, &l->s->id.onto, err) > 0;
	cleanup_free struct ga_oid *v = NULL;
	cleanup_free char *who = NULL;
	struct ga_oid cur = p->head;
	size_t n = 0;

	if (err->msg ||
	    ga_rev_list(l->repo, &p->tip, 1, hide, 1 + base, COMMITS_MAX, &v, &n, err) ||
	    ga_repo_signature(l->repo, l->config, time(NULL), &who, err))
		return -1;
	p->tree = p->old;
	p->steps = ga_calloc(n + 1, sizeof(*p->steps));
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };
		struct ga_oid tree;

		if (ga_commit_read(l->repo, &v[i], &c, err))
			return -1;
		if (c.n_parents != 1)
			continue;
		if (apply(l, &v[i], &c, &p->tree, who, &tree, err))
			return -1;
		if (ga_oid_equal(&tree, &p->tree))
			continue;
		if (make_again(l, &c, &tree, &cur, err))
			return -1;
		p->tree = tree;
		p->steps[p->n_steps++] = cur;
	}
	p->commit = cur;
	return 0;
}
