/* SPDX-License-Identifier: MIT
 *
 * Renames of files with uncommitted work, as git finds them: one `git diff-tree` for all commits.
 */
#include "ga/session/wip.h"
#include "rewrite-internal.h"

/* Beyond so many candidates git only compares by content as a whole. */
#define RENAMES "-l1000"

/* A line for each commit: its parents and the stand that it is based on, to compare it with. */
static void add_commits(struct range *g, struct ga_buf *in)
{
	for (size_t i = g->n_stands; i < g->n; i++) {
		struct node *n = &g->v[i];

		for (size_t k = 0; k < n->c.n_parents; k++) {
			const struct node *p = range_find(g, &n->c.parents[k]);

			if (p && p->stand > n->stand)
				n->stand = p->stand;
		}
		if (!n->c.n_parents)
			continue;
		ga_buf_adds(in, GA_HEX(&n->id));
		for (size_t k = 0; k < n->c.n_parents; k++)
			ga_buf_addf(in, " %s", GA_HEX(&n->c.parents[k]));
		if (n->stand)
			ga_buf_addf(in, " %s", GA_HEX(&g->v[n->stand - 1].id));
		ga_buf_addch(in, '\n');
	}
}

/* Returns 1 if git does not manage it in time, or lacks an object of a partial clone. */
static int list_renames(struct range *g, bool exact, unsigned ms, const struct ga_buf *in,
			struct ga_buf *out, struct ga_error *err)
{
	const char *const args[] = { "diff-tree", "--stdin", "-r", "-m", "-z", "--name-status",
				     "--no-commit-id", "--no-ext-diff", "--no-textconv",
				     "--no-rename-empty", "--diff-filter=R", RENAMES,
				     exact ? "-M100%" : "-M50%", NULL };
	cleanup_error struct ga_error late = GA_ERROR_INIT;
	struct ga_git g1 = GA_GIT(.args = args, .in = in->ptr, .in_len = in->len, .out = out,
				  .timeout_ms = exact ? 0 : ms);

	if (exact)
		return ga_git_ok(g->r, &g1, err);
	return ga_git_ok(g->r, &g1, &late) ? 1 : 0;
}

/* Add where the paths were moved to. Of several that follow one another, in whatever order, all. */
static void add_moved(const struct ga_buf *out, struct ga_strv *paths)
{
	size_t had;

	do {
		const char *kind, *from, *to;
		size_t pos = 0;

		had = paths->n;
		while ((kind = ga_buf_next0(out, &pos)) && (from = ga_buf_next0(out, &pos)) &&
		       (to = ga_buf_next0(out, &pos)))
			if (*kind == 'R' && ga_wip_has(paths, from) && !ga_wip_has(paths, to)) {
				ga_strv_push(paths, to);
				ga_strv_sort_unique(paths);
			}
	} while (paths->n > had);
}

int find_moved(struct range *g, unsigned ms, struct ga_strv *paths, bool *ret_exact,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	int rc = 1;

	add_commits(g, &in);
	if (!in.len || !paths->n)
		return 0;
	*ret_exact = ga_repo_is_partial(g->r);
	if (!*ret_exact)
		rc = list_renames(g, false, ms, &in, &out, err);
	if (rc > 0) {
		*ret_exact = true;
		ga_buf_clear(&out);
		rc = list_renames(g, true, 0, &in, &out, err);
	}
	if (!rc)
		add_moved(&out, paths);
	return rc;
}
