/* SPDX-License-Identifier: MIT
 *
 * The list of changes that a user can accept or reject.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "ga/repo/objects.h"
#include "review-internal.h"

void ga_review_items_release(struct ga_review_items *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].change.path);
	free(l->v);
	*l = (struct ga_review_items){NULL, 0, 0};
}

/* Add a change to the list, and its path to `seen`, whose keys are the list's own strings. */
static void add(struct ga_review_items *l, struct ga_strmap *seen, const struct ga_change *c,
		enum ga_review_where where, bool flagged)
{
	struct ga_review_item *item;

	GA_GROW(l->v, l->n, l->cap);
	item = &l->v[l->n++];
	*item = (struct ga_review_item){.change = *c, .where = where, .flagged = flagged};
	item->change.path = ga_strdup(c->path);
	ga_strmap_add(seen, item->change.path, strlen(item->change.path), 0);
}

struct lists {
	struct ga_changes branch, held, left_out;
};

static void lists_release(struct lists *l)
{
	ga_changes_release(&l->branch);
	ga_changes_release(&l->held);
	ga_changes_release(&l->left_out);
}

/* Add the change to a flagged path, from where it is. What is held comes before what the
 * branch has of the same path. */
static void add_flagged(struct ga_review_items *ret, struct ga_strmap *seen, const struct lists *l,
			const struct ga_report_flag *f)
{
	const struct {
		const struct ga_changes *in;
		enum ga_review_where where;
	} places[] = {
		{&l->held, GA_REVIEW_HELD},
		{&l->branch, GA_REVIEW_BRANCH},
		{&l->left_out, GA_REVIEW_LEFT_OUT},
	};
	char *path = f->path;
	const struct ga_change none = {.path = path};

	if (ga_strmap_first(seen, path, strlen(path)) >= 0)
		return;
	for (size_t i = 0; !f->left && i < GA_NELEMS(places); i++) {
		const struct ga_change *c = ga_changes_find(places[i].in, path);

		if (c) {
			add(ret, seen, c, places[i].where, true);
			return;
		}
	}
	/* already decided, and what was rejected is nowhere any more */
	if (f->verdict != GA_VERDICT_OPEN || f->left)
		return;
	add(ret, seen, &none, GA_REVIEW_ELSEWHERE, true);
}

static void add_rest(struct ga_review_items *ret, struct ga_strmap *seen,
		     const struct ga_changes *c, enum ga_review_where where)
{
	for (size_t i = 0; i < c->n; i++)
		if (ga_strmap_first(seen, c->v[i].path, strlen(c->v[i].path)) < 0)
			add(ret, seen, &c->v[i], where, false);
}

int ga_review_items(struct ga_repo *repo, const struct ga_report *r, struct ga_review_items *ret,
		    struct ga_error *err)
{
	cleanup_(lists_release) struct lists l = {
		GA_CHANGES_INIT, GA_CHANGES_INIT, GA_CHANGES_INIT};
	cleanup_strmap struct ga_strmap seen = GA_STRMAP_INIT;
	struct ga_oid old, new;

	if (review_trees(repo, r, &old, &new, err) ||
	    ga_tree_diff(repo, &old, &new, &l.branch, err) ||
	    review_held(repo, r, &old, &new, &l.held, err) ||
	    review_left_out(repo, r, &old, &new, &l.left_out, err))
		return -1;
	for (size_t i = 0; i < r->n_flags; i++)
		add_flagged(ret, &seen, &l, &r->flags[i]);
	add_rest(ret, &seen, &l.branch, GA_REVIEW_BRANCH);
	add_rest(ret, &seen, &l.held, GA_REVIEW_HELD);
	add_rest(ret, &seen, &l.left_out, GA_REVIEW_LEFT_OUT);
	return 0;
}

static const char *where_text(const struct ga_review_item *item)
{
	switch (item->where) {
	case GA_REVIEW_HELD:
		return " (held)";
	case GA_REVIEW_LEFT_OUT:
		return " (uncommitted)";
	case GA_REVIEW_ELSEWHERE:
		return " (no change on the branch)";
	case GA_REVIEW_BRANCH:
		break;
	}
	return "";
}

void ga_review_item_text(const struct ga_report *r, const struct ga_review_item *item, bool colour,
			 struct ga_buf *out)
{
	const char *path = item->change.path;
	cleanup_free char *q = ga_quote(*path ? path : ".");

	review_paint(out, colour, RC_BOLD, q);
	ga_buf_addf(out, "%s\n", where_text(item));
	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];

		if (strcmp(f->path, path) != 0 || f->left)
			continue;
		ga_buf_adds(out, "  ");
		review_paint(out, colour, review_severity_colour(f->severity),
			     ga_severity_name(f->severity));
		ga_buf_adds(out, f->verdict == GA_VERDICT_OPEN ? ": " : " (");
		if (f->verdict != GA_VERDICT_OPEN)
			ga_buf_addf(out, "%s): ", ga_verdict_name(f->verdict));
		review_put_reason(out, f->reason, f->id);
		ga_buf_addch(out, '\n');
	}
}
