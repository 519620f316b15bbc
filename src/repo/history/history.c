/* SPDX-License-Identifier: MIT
 *
 * Answer questions about history, by git: libgit2 before 1.7 fails at the boundary of a shallow
 * clone, and git has commit graphs. Only short walks, which usually suffice, are done in process.
 */
#include "ga/repo/history.h"
#include "repo/objects-internal.h"

#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"

/* A session's own commits, which are few, usually tell whether its branch is based on a commit. */
#define NEAR_COMMITS 64

bool ga_is_near_ancestor(struct ga_repo *r, const struct ga_oid *anc, const struct ga_oid *desc)
{
	cleanup_free char *grafts = ga_path_join(r->info.commondir, "info/grafts");
	struct ga_oid queue[NEAR_COMMITS] = { *desc };
	size_t n = 1;

	/* in a shallow clone, or with grafts, commits have other parents than they say */
	if (r->info.shallow || !access(grafts, F_OK))
		return false;
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit c = { .parents = NULL };

		if (ga_oid_equal(&queue[i], anc))
			return true;
		if (ga_commit_read(r, &queue[i], &c, GA_IGNORED))
			return false;
		for (size_t k = 0; k < c.n_parents && n < NEAR_COMMITS; k++)
			queue[n++] = c.parents[k];
	}
	return false;
}

int ga_is_ancestor(struct ga_repo *r, const struct ga_oid *anc, const struct ga_oid *desc,
		   struct ga_error *err)
{
	char a[GA_OID_HEXSZ + 1], d[GA_OID_HEXSZ + 1];
	const char *const args[] = { "merge-base", "--is-ancestor", ga_oid_hex(anc, a),
				     ga_oid_hex(desc, d), NULL };
	int status;
	struct ga_git g = GA_GIT(.args = args, .object_dir = r->quarantine);

	if (ga_is_near_ancestor(r, anc, desc))
		return 1;
	if (ga_git_run(r, &g, &status, err))
		return -1;
	if (status > 1)
		return ga_fail(err, GA_EFATAL, "cannot tell whether %s is an ancestor of %s", a, d);
	return status == 0;
}

int ga_merge_base(struct ga_repo *r, const struct ga_oid *a, const struct ga_oid *b,
		  struct ga_oid *ret, struct ga_error *err)
{
	char x[GA_OID_HEXSZ + 1], y[GA_OID_HEXSZ + 1];
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int status;
	const char *const args[] = { "merge-base", ga_oid_hex(a, x), ga_oid_hex(b, y), NULL };
	struct ga_git g = GA_GIT(.args = args, .out = &out);

	if (ga_git_run(r, &g, &status, err))
		return -1;
	if (status == 1)
		return 1;
	if (status || out.len < GA_OID_HEXSZ || !ga_oid_parse(out.ptr, GA_OID_HEXSZ, ret))
		return ga_fail(err, GA_EFATAL, "cannot find the merge base of %s and %s", x, y);
	return 0;
}

int ga_is_on_branch(struct ga_repo *r, const struct ga_oid *oid, const struct ga_oid *from,
		    bool sessions, bool *ret, struct ga_error *err)
{
	char hex[GA_OID_HEXSZ + 1], known[GA_OID_HEXSZ + 2] = "^";
	const char *args[] = { "rev-list", "-n", "1", ga_oid_hex(oid, hex), "--not", "--tags",
			       sessions ? "--remotes" : "--exclude=*/agent/*", "--remotes",
			       sessions ? "--branches" : "--exclude=agent/*",
			       "--branches", "--not", from ? known : NULL, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int status;
	struct ga_git g = GA_GIT(.args = args, .out = &out);

	if (from)
		(void)ga_oid_hex(from, known + 1);
	if (ga_git_run(r, &g, &status, err))
		return -1;
	/* git fails if the commit does not exist */
	*ret = !status && !out.len;
	return 0;
}

int ga_is_below_refs(struct ga_repo *r, const struct ga_oid *oid, const char *const *prefixes,
		     bool *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv args = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.out = &out);

	ga_strv_push_many(&args, "for-each-ref", "--count=1", "--contains", GA_HEX(oid), "--",
			  NULL);
	for (; *prefixes; prefixes++)
		ga_strv_push(&args, *prefixes);
	g.args = (const char *const *)args.v;
	if (ga_git_ok(r, &g, err))
		return -1;
	*ret = out.len > 0;
	return 0;
}

int ga_find_on_branches(struct ga_repo *r, const struct ga_oid *oids, size_t n,
			const struct ga_oid *from, size_t max, struct ga_oidmap *ret,
			struct ga_error *err)
{
	cleanup_free char *count = ga_strf("--max-count=%zu", max + 1);
	const char *const args[] = { "rev-list", count, "--stdin", "--not", "--tags",
				     "--exclude=*/agent/*", "--remotes", "--exclude=agent/*",
				     "--branches", NULL };
	cleanup_oidmap struct ga_oidmap here = GA_OIDMAP_INIT, alone = GA_OIDMAP_INIT;
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	const size_t line = GA_OID_HEXSZ + 1;
	int status;
	struct ga_git g = GA_GIT(.args = args, .out = &out);

	for (size_t i = 0; i < n; i++) {
		cleanup_error struct ga_error unreadable = GA_ERROR_INIT;

		if (ga_commit_exists(r, &oids[i], &unreadable) > 0 &&
		    ga_oidmap_add(&here, &oids[i], 0))
			ga_buf_addf(&in, "%s\n", GA_HEX(&oids[i]));
	}
	if (!in.len)
		return 0;
	ga_buf_addf(&in, "^%s\n", GA_HEX(from));
	g.in = in.ptr;
	g.in_len = in.len;
	if (ga_git_run(r, &g, &status, err))
		return -1;
	if (status || out.len / line > max)
		return 0;
	for (size_t pos = 0; pos + line <= out.len; pos += line) {
		struct ga_oid oid;

		if (ga_oid_parse(out.ptr + pos, GA_OID_HEXSZ, &oid))
			(void)ga_oidmap_add(&alone, &oid, 0);
	}
	for (size_t i = 0; i < n; i++)
		if (ga_oidmap_get(&here, &oids[i], NULL) && !ga_oidmap_get(&alone, &oids[i], NULL))
			(void)ga_oidmap_add(ret, &oids[i], 0);
	return 0;
}

void ga_rev_input(const struct ga_oid *tips, size_t n_tips, const struct ga_oid *hide,
		  size_t n_hide, struct ga_buf *out)
{
	for (size_t i = 0; i < n_tips; i++)
		ga_buf_addf(out, "%s\n", GA_HEX(&tips[i]));
	for (size_t i = 0; i < n_hide; i++)
		ga_buf_addf(out, "^%s\n", GA_HEX(&hide[i]));
}

static int parse_list(const struct ga_buf *out, struct ga_oid **ret, size_t *ret_n,
		      struct ga_error *err)
{
	size_t n = out->len / (GA_OID_HEXSZ + 1);
	cleanup_free struct ga_oid *v = ga_calloc(n ? n : 1, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		const char *line = out->ptr + i * (GA_OID_HEXSZ + 1);

		if (line[GA_OID_HEXSZ] != '\n' || !ga_oid_parse(line, GA_OID_HEXSZ, &v[i]))
			return ga_fail(err, GA_EFATAL, "cannot parse the output of git rev-list");
	}
	*ret = ga_steal(&v);
	*ret_n = n;
	return 0;
}

#define MAX_LINE 256 /* commits: reading them takes about as long as starting git */

/* If only commits with one parent lead from `tip` to `hide`, list them, oldest first. Returns 1 if
 * not, or if that is unknown. */
static int straight_line(struct ga_repo *r, const struct ga_oid *tip, const struct ga_oid *hide,
			 struct ga_oid *v, size_t *ret_n)
{
	struct ga_oid at = *tip;
	size_t n = 0;

	while (!ga_oid_equal(&at, hide)) {
		cleanup_commit struct ga_commit c = { 0 };

		if (n == MAX_LINE || ga_commit_read(r, &at, &c, GA_IGNORED) || c.n_parents != 1)
			return 1;
		v[MAX_LINE - ++n] = at;
		at = c.parents[0];
	}
	memmove(v, v + MAX_LINE - n, n * sizeof(*v));
	*ret_n = n;
	return 0;
}

int ga_rev_list_bounded(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
			const struct ga_oid *hide, size_t n_hide, size_t max, struct ga_oid **ret,
			size_t *ret_n, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	cleanup_free char *count = ga_strf("--max-count=%zu", max + 1);
	const char *const args[] = { "rev-list", "--topo-order", "--reverse", count, "--stdin",
				     NULL };
	cleanup_free struct ga_oid *line = NULL;
	struct ga_git g = GA_GIT(.args = args, .object_dir = r->quarantine, .out = &out);

	if (n_tips == 1 && n_hide == 1 && max >= MAX_LINE) {
		line = ga_calloc(MAX_LINE, sizeof(*line));
		if (!straight_line(r, tips, hide, line, ret_n)) {
			*ret = ga_steal(&line);
			return 0;
		}
	}
	ga_rev_input(tips, n_tips, hide, n_hide, &in);
	g.in = in.ptr;
	g.in_len = in.len;
	if (ga_git_ok(r, &g, err))
		return -1;
	if (out.len / (GA_OID_HEXSZ + 1) > max)
		return 1;
	return parse_list(&out, ret, ret_n, err);
}

int ga_rev_list(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
		const struct ga_oid *hide, size_t n_hide, size_t max, struct ga_oid **ret,
		size_t *ret_n, struct ga_error *err)
{
	int rc = ga_rev_list_bounded(r, tips, n_tips, hide, n_hide, max, ret, ret_n, err);

	return rc == 1 ? ga_fail(err, GA_EFATAL, "there are more than %zu commits", max) : rc;
}
