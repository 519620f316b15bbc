/* SPDX-License-Identifier: MIT
 *
 * Flagged content that only commits between base and tip have: one of the agent's commits brought
 * it, and a later one removed it.
 */
#include <stdlib.h>

#include "ga/repo/objects.h"
#include "ga/review/report.h"

#define PAST_SCANNED 100000  /* commits */
#define PAST_LOOKUPS 200000  /* paths looked up in them, in all */

void ga_past_release(struct ga_past *p)
{
	free(p->v);
	*p = (struct ga_past)GA_PAST_INIT;
}

/* What the path of a flag is at the base and at the tip. */
struct ends {
	struct ga_entry base, tip;
};

/* Mark the flags whose content the tip does not have as unknown; returns how many, or -1. */
static int list_gone(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *tip,
		     struct ga_past *p, struct ends *ends, struct ga_error *err)
{
	struct ga_oid base_tree, tree;
	int n = 0;

	if (ga_commit_tree(repo, &r->base, &base_tree, err) ||
	    ga_commit_tree(repo, tip, &tree, err))
		return -1;
	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];

		if (!*f->path || f->held || f->left || f->verdict == GA_VERDICT_ACCEPTED ||
		    f->entry.mode == GA_MODE_NONE)
			continue;
		if (ga_tree_entry(repo, &base_tree, f->path, &ends[i].base, err) ||
		    ga_tree_entry(repo, &tree, f->path, &ends[i].tip, err))
			return -1;
		p->v[i].unknown = !ga_entry_equal(&ends[i].tip, &f->entry);
		p->v[i].others = p->v[i].unknown;
		n += p->v[i].unknown;
	}
	return n;
}

/* Note `commit` for each marked flag whose path it has. A report names a rule once for a path, with
 * one of the versions that the path had, so a commit counts with any but those of base and tip. */
static int look(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *commit,
		const struct ends *ends, struct ga_past *p, struct ga_error *err)
{
	struct ga_oid tree;

	if (ga_commit_tree(repo, commit, &tree, err))
		return -1;
	for (size_t i = 0; i < r->n_flags; i++) {
		struct ga_past_flag *at = &p->v[i];
		struct ga_entry had;

		if (!at->unknown)
			continue;
		if (ga_tree_entry(repo, &tree, r->flags[i].path, &had, err))
			return -1;
		if (ga_entry_equal(&had, &r->flags[i].entry))
			at->others = false;
		if (had.mode == GA_MODE_NONE || had.mode == GA_MODE_TREE ||
		    ga_entry_equal(&had, &ends[i].base) || ga_entry_equal(&had, &ends[i].tip))
			continue;
		if (at->n < GA_PAST_COMMITS)
			at->commits[at->n] = *commit;
		at->n++;
	}
	return 0;
}

int ga_report_past(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *tip,
		   struct ga_past *ret, struct ga_error *err)
{
	cleanup_free struct ends *ends = ga_calloc(r->n_flags + 1, sizeof(*ends));
	cleanup_free struct ga_oid *commits = NULL;
	size_t n = 0;
	int gone, rc;

	ga_past_release(ret);
	ret->v = ga_calloc(r->n_flags + 1, sizeof(*ret->v));
	ret->n = r->n_flags;
	if (ga_oid_is_zero(tip))
		return 0;
	gone = list_gone(repo, r, tip, ret, ends, err);
	if (gone <= 0)
		return gone;
	rc = ga_rev_list_bounded(repo, tip, 1, &r->base, 1, PAST_SCANNED, &commits, &n, err);
	if (rc || n > PAST_LOOKUPS / (size_t)gone)
		return rc < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		if (look(repo, r, &commits[i], ends, ret, err))
			return -1;
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].unknown = false;
	return 0;
}

bool ga_past_any(const struct ga_past_flag *p)
{
	return p->n || p->unknown;
}

void ga_past_text(const struct ga_past_flag *p, struct ga_buf *out)
{
	if (p->unknown)
		ga_buf_adds(out, "not at the tip; maybe in commits on the way: too many to read");
	else if (p->others)
		ga_buf_adds(out, "in no commit as it is; other versions in commits on the way:");
	else
		ga_buf_adds(out, "in commits on the way only:");
	for (size_t i = 0; i < p->n && i < GA_PAST_COMMITS; i++)
		ga_buf_addf(out, " %.12s", GA_HEX(&p->commits[i]));
	if (p->n > GA_PAST_COMMITS)
		ga_buf_addf(out, " and %zu more", p->n - GA_PAST_COMMITS);
	if (!p->unknown && !p->others)
		ga_buf_adds(out, "; 'git agent land --squash' leaves them out");
}
