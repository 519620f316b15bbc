/* SPDX-License-Identifier: MIT
 *
 * The diff as text for a pager. The only escape sequences in it are those of the palette.
 */
#include "ga/objects.h"
#include "ga/parse.h"
#include "review-diff.h"

void review_diff_line(struct review_diff *d, unsigned paint, const char *safe)
{
	const struct ga_palette *p = d->opts->palette;
	const char *sgr = p && paint < GA_PAINTS ? p->sgr[paint] : "";

	ga_buf_addf(&d->out->text, "%s%s%s\n", sgr, safe, *sgr ? "\033[m" : "");
}

void review_diff_section(struct review_diff *d, const char *title)
{
	cleanup_free char *text = ga_strf("==== %s", title);

	ga_buf_addch(&d->out->text, '\n');
	review_diff_line(d, GA_PAINT_META, text);
}

static const struct ga_review_opts plain;

static struct review_diff begin(struct ga_repo *repo, const struct ga_review_opts *o,
				struct ga_out *out)
{
	return (struct review_diff){ .repo = repo, .opts = o ? o : &plain, .out = out };
}

int ga_review_diff(struct ga_repo *repo, const struct ga_report *r, const struct ga_review_opts *o,
		   struct ga_out *out, struct ga_error *err)
{
	struct review_diff d = begin(repo, o, out);

	ga_buf_addch(&out->text, '\n');
	return review_diff_all(&d, r, err);
}

const struct ga_oid *ga_review_commit(const struct ga_report *r)
{
	return ga_oid_is_zero(&r->held) ? &r->tip : &r->held;
}

int ga_review_since(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *then,
		    const struct ga_review_opts *o, struct ga_out *out, struct ga_error *err)
{
	const struct ga_oid *now = ga_review_commit(r);
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_error struct ga_error gone = GA_ERROR_INIT;
	struct review_diff d = begin(repo, o, out);
	struct ga_oid base;
	size_t same = 0;
	int rc = 0;

	if (ga_oid_is_zero(then) || ga_oid_is_zero(now) || ga_oid_equal(then, now) ||
	    ga_commit_tree(repo, then, &d.old_tree, &gone))
		return 0;
	if (ga_commit_tree(repo, now, &d.new_tree, err) ||
	    ga_commit_tree(repo, &r->base, &base, err) ||
	    ga_tree_diff(repo, &d.old_tree, &d.new_tree, &changes, err))
		return -1;
	review_diff_section(&d, "changed since the last review");
	for (size_t i = 0; !rc && i < changes.n; i++) {
		struct ga_entry was;

		/* what the base has now was undone, or came with the base */
		rc = ga_tree_file(repo, &base, changes.v[i].path, &was, err);
		if (rc || ga_entry_equal(&was, &changes.v[i].new))
			same++;
		else
			rc = review_diff_file(&d, &changes.v[i], false, err);
	}
	if (rc)
		return rc;
	if (same) {
		cleanup_free char *n = ga_count(same, "file is", "files are");
		cleanup_free char *text = ga_strf("(%s as in the base now)", n);

		review_diff_line(&d, REVIEW_NOTE, text);
	}
	review_diff_section(&d, "all of it");
	return 0;
}

int ga_review_tree_diff(struct ga_repo *repo, const struct ga_oid *old_tree,
			const struct ga_oid *new_tree, const struct ga_review_opts *o,
			struct ga_out *out, struct ga_error *err)
{
	struct review_diff d = begin(repo, o, out);

	return review_diff_trees(&d, old_tree, new_tree, err);
}

int ga_review_file_diff(struct ga_repo *repo, const struct ga_change *c, bool flagged,
			const struct ga_review_opts *o, struct ga_out *out, struct ga_error *err)
{
	struct review_diff d = begin(repo, o, out);

	return review_diff_file(&d, c, flagged, err);
}

void ga_review_hunks_text(const struct ga_buf *hunks, const struct ga_palette *palette_or_null,
			  struct ga_buf *out)
{
	const struct ga_review_opts o = { .palette = palette_or_null };
	struct ga_out to = { .text = *out };
	struct review_diff d = begin(NULL, &o, &to);

	review_diff_hunks(&d, hunks);
	*out = to.text;
}
