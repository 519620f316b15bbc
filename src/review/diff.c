/* SPDX-License-Identifier: MIT
 *
 * The diff for the pager. Every byte that comes from a blob or a name goes through
 * the quoting functions; the only escape sequences in the output are our own.
 */
#include <inttypes.h>
#include <string.h>

#include "ga/diff.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "review-internal.h"

/* Of one file, of one file that is binary but flagged, and of a whole diff. */
#define FILE_SHOWN ((size_t)1 << 20)
#define BINARY_SHOWN ((size_t)16 << 10)
#define TOTAL_SHOWN ((size_t)64 << 20)
/* Blanks in a row that push what follows them off a screen. */
#define BLANK_RUN 64

struct diff {
	struct ga_repo *repo;
	struct ga_buf *out;
	bool colour;
	size_t end;       /* `out` does not grow beyond this */
	size_t not_shown; /* files, for that reason */
};

/* A long run of blanks inside a line is written as its length: code behind a
 * thousand spaces is where nobody looks. Trailing blanks hide nothing. */
static void add_text(struct ga_buf *out, const char *s, size_t n)
{
	while (n) {
		size_t text = 0, blank = 0;

		while (text < n && s[text] != ' ' && s[text] != '\t')
			text++;
		ga_quote_add_text(out, s, text);
		s += text;
		n -= text;
		while (blank < n && (s[blank] == ' ' || s[blank] == '\t'))
			blank++;
		if (blank >= BLANK_RUN && blank < n)
			ga_buf_addf(out, "\\x20{%zu}", blank);
		else
			ga_buf_add(out, s, blank);
		s += blank;
		n -= blank;
	}
}

static enum review_colour line_colour(char c)
{
	switch (c) {
	case '@':
		return RC_CYAN;
	case '+':
		return RC_GREEN;
	case '-':
		return RC_RED;
	default:
		return RC_NONE;
	}
}

/* Escape hunks line by line, at most about `max` bytes; says what it cut. */
static void add_hunks(struct diff *d, const struct ga_buf *hunks, size_t max)
{
	const char *p = hunks->ptr, *end = p + hunks->len;
	size_t stop = d->out->len + max, rest = 0;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		cleanup_buf struct ga_buf line = GA_BUF_INIT;

		if (d->out->len >= stop) {
			rest++;
		} else {
			size_t shown = n < max ? n : max;

			add_text(&line, p, shown);
			if (shown < n)
				ga_buf_addf(&line, " ... %zu bytes more in this line", n - shown);
			review_paint(d->out, d->colour, line_colour(*p), line.ptr);
			ga_buf_addch(d->out, '\n');
		}
		p += n + (nl != NULL);
	}
	if (rest)
		ga_buf_addf(d->out, "... %zu more lines of this file are not shown\n", rest);
}

/* ---- one file ----------------------------------------------------------- */

static char *side_name(const char *side, const char *path)
{
	cleanup_free char *joined = ga_strf("%s/%s", side, path);

	return ga_quote(joined);
}

/* Takes over `line`. */
static void bold_line(struct diff *d, char *line)
{
	review_paint(d->out, d->colour, RC_BOLD, line);
	ga_buf_addch(d->out, '\n');
	free(line);
}

static void add_file_header(struct diff *d, const struct ga_change *c, bool hunks)
{
	cleanup_free char *a = side_name("a", c->path), *b = side_name("b", c->path);

	bold_line(d, ga_strf("diff --git %s %s", a, b));
	if (!c->old.mode) {
		bold_line(d, ga_strf("new file mode %06o", c->new.mode));
	} else if (!c->new.mode) {
		bold_line(d, ga_strf("deleted file mode %06o", c->old.mode));
	} else if (c->old.mode != c->new.mode) {
		bold_line(d, ga_strf("old mode %06o", c->old.mode));
		bold_line(d, ga_strf("new mode %06o", c->new.mode));
	}
	if (!ga_oid_equal(&c->old.oid, &c->new.oid))
		bold_line(d,
			  ga_strf("index %.12s..%.12s", GA_HEX(&c->old.oid), GA_HEX(&c->new.oid)));
	if (hunks) {
		bold_line(d, ga_strf("--- %s", c->old.mode ? a : "/dev/null"));
		bold_line(d, ga_strf("+++ %s", c->new.mode ? b : "/dev/null"));
	}
}

static int add_file(struct diff *d, const struct ga_change *c, bool flagged, struct ga_error *err)
{
	cleanup_buf struct ga_buf hunks = GA_BUF_INIT;
	size_t max = FILE_SHOWN, room;
	int kind;

	if (d->out->len >= d->end) {
		d->not_shown++;
		return 0;
	}
	kind = ga_diff_hunks(d->repo, &c->old, &c->new, false, &hunks, err);
	if (kind < 0)
		return -1;
	if (kind == 1 && flagged) {
		/* nothing flagged stays out of sight for a NUL byte in it */
		max = BINARY_SHOWN;
		if (ga_diff_hunks(d->repo, &c->old, &c->new, true, &hunks, err) < 0)
			return -1;
	}
	add_file_header(d, c, hunks.len > 0);
	if (kind == 1)
		ga_buf_addf(d->out, "binary%s\n", hunks.len ? ": shown escaped" : "");
	else if (kind == 2)
		ga_buf_addf(d->out, "longer than %zu MiB: not shown\n", GA_DIFF_BLOB_MAX >> 20);
	room = d->end > d->out->len ? d->end - d->out->len : 0;
	if (max > room)
		max = room;
	add_hunks(d, &hunks, max);
	return 0;
}

/* ---- a list of changes -------------------------------------------------- */

static int add_changes(struct diff *d, const struct ga_changes *changes,
		       const struct ga_strv *first, struct ga_error *err)
{
	cleanup_free bool *done = ga_calloc(changes->n + 1, sizeof(*done));

	for (size_t i = 0; first && i < first->n; i++) {
		const struct ga_change *c = ga_changes_find(changes, first->v[i]);

		if (!c || done[c - changes->v])
			continue;
		done[c - changes->v] = true;
		if (add_file(d, c, true, err))
			return -1;
	}
	for (size_t i = 0; i < changes->n; i++)
		if (!done[i] && add_file(d, &changes->v[i], false, err))
			return -1;
	return 0;
}

static void add_rest(struct diff *d)
{
	if (d->not_shown)
		ga_buf_addf(d->out, "... %zu more file%s not shown: the diff is too long\n",
			    d->not_shown, d->not_shown == 1 ? " is" : "s are");
}

static void section(struct diff *d, const char *title)
{
	ga_buf_addch(d->out, '\n');
	bold_line(d, ga_strf("==== %s", title));
}

int ga_review_tree_diff(struct ga_repo *repo, const struct ga_oid *old_tree,
			const struct ga_oid *new_tree, const struct ga_strv *first_or_null,
			bool colour, struct ga_buf *out, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct diff d = {repo, out, colour, out->len + TOTAL_SHOWN, 0};

	if (ga_tree_diff(repo, old_tree, new_tree, &changes, err) ||
	    add_changes(&d, &changes, first_or_null, err))
		return -1;
	add_rest(&d);
	return 0;
}

static int add_held(struct diff *d, const struct ga_report *r, const struct ga_strv *first,
		    struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;

	if (review_held(d->repo, r, &changes, err))
		return -1;
	if (!changes.n)
		return 0;
	section(d, "held back: not on the branch until accepted");
	return add_changes(d, &changes, first, err);
}

/* What is not on the branch either but comes with landing: the agent's changes to
 * paths whose uncommitted state it had started from. */
static int add_left_out(struct diff *d, const struct ga_report *r, struct ga_error *err)
{
	cleanup_free char *base_ref = ga_strf(GA_SESSION_REFS "%s/base", r->session);
	cleanup_free char *carried_ref = ga_strf(GA_SESSION_REFS "%s/carried", r->session);
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, some = GA_CHANGES_INIT;
	struct ga_oid base, carried;
	int rc;

	if (!r->left_out.n)
		return 0;
	rc = ga_ref_read(d->repo, base_ref, &base, err);
	if (!rc)
		rc = ga_ref_read(d->repo, carried_ref, &carried, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_commit_tree(d->repo, &base, &base, err) ||
	    ga_commit_tree(d->repo, &carried, &carried, err) ||
	    ga_tree_diff(d->repo, &base, &carried, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_has(&r->left_out, all.v[i].path))
			(void)ga_changes_add(&some, all.v[i].path, &all.v[i].old, &all.v[i].new);
	if (!some.n)
		return 0;
	section(d, "left out of the branch: changes on top of your uncommitted work");
	/* all of them unusual: shown even when binary */
	return add_changes(d, &some, &r->left_out, err);
}

int ga_review_diff(struct ga_repo *repo, const struct ga_report *r, bool colour, struct ga_buf *out,
		   struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct diff d = {repo, out, colour, out->len + TOTAL_SHOWN, 0};
	cleanup_strv struct ga_strv first = GA_STRV_INIT;
	struct ga_oid old, new;

	/* flags are sorted: the worst come first here too */
	for (size_t i = 0; i < r->n_flags; i++)
		ga_strv_push(&first, r->flags[i].path);
	if (review_trees(repo, r, &old, &new, err) || ga_tree_diff(repo, &old, &new, &changes, err))
		return -1;
	ga_buf_addch(out, '\n');
	if (add_changes(&d, &changes, &first, err) || add_held(&d, r, &first, err) ||
	    add_left_out(&d, r, err))
		return -1;
	add_rest(&d);
	return 0;
}
