/* SPDX-License-Identifier: MIT
 *
 * The list of changes that a user can accept or reject.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "ga/repo/history.h"
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

/* Add the change of a flagged path, a held one before one on the branch. */
static void add_flagged(struct ga_review_items *ret, struct ga_strmap *seen, const struct lists *l,
			const struct ga_flag *f)
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
	/* already decided; rejected changes exist nowhere */
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

	if (ga_tree_diff(repo, &r->base, review_end(r), &l.branch, err) ||
	    review_held(repo, r, &l.held, err) || review_left_out(repo, r, &l.left_out, err))
		return -1;
	for (size_t i = 0; i < r->flags.n; i++)
		add_flagged(ret, &seen, &l, &r->flags.v[i]);
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
	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];

		if (strcmp(f->path, path) != 0 || f->left)
			continue;
		ga_buf_adds(out, "  ");
		review_paint(out, colour, review_severity_colour(f->severity),
			     ga_severity_name(f->severity));
		ga_buf_adds(out, f->verdict == GA_VERDICT_OPEN ? ": " : " (");
		if (f->verdict != GA_VERDICT_OPEN)
			ga_buf_addf(out, "%s): ", ga_verdict_name(f->verdict));
		review_put_reason(out, f->reason, f->rule);
		ga_buf_addch(out, '\n');
	}
}

/* ---- feedback ---- */

/* A name in a patch. One with a space is quoted: some readers of patches take it for the end. */
static char *patch_name(const char *side, const char *path)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	bool quotes = ga_quote_git_add(&name, path) || strchr(path, ' ');

	return ga_strf(quotes ? "\"%s/%s\"" : "%s/%s", side, name.ptr);
}

static void put_header(struct ga_buf *out, const struct ga_change *c, bool hunks)
{
	cleanup_free char *a = patch_name("a", c->path), *b = patch_name("b", c->path);

	ga_buf_addf(out, "diff --git %s %s\n", a, b);
	if (!c->old.mode)
		ga_buf_addf(out, "new file mode %06o\n", c->new.mode);
	else if (!c->new.mode)
		ga_buf_addf(out, "deleted file mode %06o\n", c->old.mode);
	else if (c->old.mode != c->new.mode)
		ga_buf_addf(out, "old mode %06o\nnew mode %06o\n", c->old.mode, c->new.mode);
	if (hunks)
		ga_buf_addf(out, "--- %s\n+++ %s\n", c->old.mode ? a : "/dev/null",
			    c->new.mode ? b : "/dev/null");
}

/* Did a file become a link or a submodule, or the reverse? A patch removes one and adds the other,
 * as git's do. */
static bool changes_type(const struct ga_change *c)
{
	return c->old.mode && c->new.mode && (c->old.mode & 0170000) != (c->new.mode & 0170000);
}

static int put_patch(struct ga_repo *repo, const struct ga_change *c, struct ga_buf *out,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf hunks = GA_BUF_INIT;
	const struct ga_entry none = {0};
	bool binary;
	int kind;

	if (changes_type(c)) {
		const struct ga_change gone = {c->path, c->old, none};
		const struct ga_change made = {c->path, none, c->new};

		return put_patch(repo, &gone, out, err) || put_patch(repo, &made, out, err) ?
			       -1 : 0;
	}
	kind = ga_diff_hunks(repo, &c->old, &c->new, false, &hunks, err);
	if (kind < 0)
		return -1;
	binary = kind == GA_DIFF_BINARY || memchr(hunks.ptr, '\0', hunks.len);
	if (kind || binary || out->len + hunks.len > GA_FEEDBACK_PATCHES) {
		cleanup_free char *q = ga_quote(c->path);

		ga_buf_addf(out, "# %s: %s, put back as a whole\n", q,
			    binary ? "binary" : kind == GA_DIFF_ABSENT ? "a version is absent" :
			    "too long to be shown");
		return 0;
	}
	put_header(out, c, hunks.len > 0);
	ga_buf_add(out, hunks.ptr, hunks.len);
	return 0;
}

int ga_feedback(struct ga_repo *repo, const char *session, const struct ga_changes *rejected,
		const char *remark, struct ga_buf *out, struct ga_error *err)
{
	ga_buf_addf(out,
		    "This was rejected in the review of session %s, and is not on agent/%s any "
		    "more.\nEach patch leads from a file as it is now back to what it was. Lines "
		    "that begin\nwith \"> \" are the reviewer's.\n\n",
		    session, session);
	for (const char *p = remark; *p;) {
		size_t n = strcspn(p, "\n");

		ga_buf_addf(out, "> %.*s\n", (int)n, p);
		p += n + (p[n] == '\n');
	}
	for (size_t i = 0; i < rejected->n; i++) {
		ga_buf_addch(out, '\n');
		if (put_patch(repo, &rejected->v[i], out, err))
			return -1;
	}
	ga_buf_addch(out, '\n');
	return 0;
}
