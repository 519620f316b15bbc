/* SPDX-License-Identifier: MIT */
#include "cli/compare.h"

#include <string.h>

#include "cli/sessions.h"
#include "ga/repo/objects.h"

#define SESSIONS_MAX 50 /* that are compared with each other */

int cli_compare_begin(struct cli *c, struct cli_compare *ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	int rc = ga_repo_head(c->env.repo, &ret->head, &branch, err);

	ret->has_head = !rc;
	return rc < 0 ? -1 : 0;
}

void cli_compare_release(struct cli_compare *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->v[i].name);
		ga_changes_release(&x->v[i].changes);
	}
	free(x->v);
	*x = (struct cli_compare)CLI_COMPARE_INIT;
}

static int count(struct cli *c, const struct ga_oid *tip, const struct ga_oid *has, size_t n,
		 size_t *ret, struct ga_error *err)
{
	cleanup_free struct ga_oid *list = NULL;
	int rc = ga_rev_list_bounded(c->env.repo, tip, 1, has, n, CLI_COMMITS_MAX, &list, ret, err);

	if (rc > 0)
		*ret = CLI_COMMITS_MAX;
	return rc < 0 ? -1 : 0;
}

static int count_behind(struct cli *c, const struct cli_compare *x, const struct ga_session *s,
			size_t *ret, struct ga_error *err)
{
	const struct ga_oid has[] = { *ga_session_branch_base(s), s->result.tip };

	if (!x->has_head)
		return 0;
	return count(c, &x->head, has, ga_oid_is_zero(&s->result.tip) ? 1 : 2, ret, err);
}

/* What it changes, kept for the comparison with others if there is room. */
static int count_work(struct cli *c, struct cli_compare *x, const struct ga_session *s,
		      struct cli_counts *ret, struct ga_error *err)
{
	const struct ga_oid *tip = ga_oid_is_zero(&s->result.held) ? &s->result.tip
								   : &s->result.held;
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct ga_oid old, new;

	if (ga_oid_is_zero(tip))
		return 0;
	if (count(c, tip, ga_session_own_base(s), 1, &ret->commits, err) ||
	    ga_commit_tree(c->env.repo, ga_session_own_base(s), &old, err) ||
	    ga_commit_tree(c->env.repo, tip, &new, err) ||
	    ga_tree_diff(c->env.repo, &old, &new, &changes, err))
		return -1;
	ret->files = changes.n;
	if (x->n == SESSIONS_MAX)
		return 0;
	GA_GROW(x->v, x->n, x->cap);
	x->v[x->n++] = (struct cli_compared){ ga_strdup(s->name), changes };
	changes = (struct ga_changes)GA_CHANGES_INIT;
	return 0;
}

int cli_compare_add(struct cli *c, struct cli_compare *x, const struct ga_session *s,
		    struct cli_counts *ret, struct ga_error *err)
{
	*ret = (struct cli_counts){ .behind = 0 };
	if (s->state == GA_STATE_LANDED)
		return 0;
	return count_behind(c, x, s, &ret->behind, err) || count_work(c, x, s, ret, err) ? -1 : 0;
}

/* The first path that both change, both being sorted by path; NULL: there is none. */
static const char *both(const struct ga_changes *a, const struct ga_changes *b)
{
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		int d = strcmp(a->v[i].path, b->v[k].path);

		if (!d)
			return a->v[i].path;
		i += d < 0;
		k += d > 0;
	}
	return NULL;
}

void cli_compare_overlaps(const struct cli_compare *x, size_t i, struct ga_strv *ret)
{
	for (size_t k = 0; k < x->n; k++) {
		const char *path = k == i ? NULL : both(&x->v[i].changes, &x->v[k].changes);

		if (!path)
			continue;
		ga_strv_push(ret, x->v[k].name);
		ga_strv_push(ret, path);
	}
}
