/* SPDX-License-Identifier: MIT
 *
 * Render diffs: which files, in which order, and how much of each. Every byte that comes from a
 * blob or a name goes through the quoting functions before it is put, and the only escape sequences
 * are those of the palette.
 */
#include <stdio.h>
#include <string.h>

#include "ga/base/out.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/review/review.h"
#include "review-internal.h"

#define KEY "agent.colour"

/* Have git translate a colour, as its diff does. 1: it is not a colour. */
static int translate(const struct ga_repo *r, const char *value, char ret[GA_SGR_MAX],
		     struct ga_error *err)
{
	static const char *const args[] = { "config", "--get-color", KEY, NULL };
	cleanup_free char *set = ga_strf(KEY "=%s", value);
	const char *const config[] = { set, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.config = config;
	g.out = &out;
	if (ga_git_run(r, &g, &status, err))
		return -1;
	return status || snprintf(ret, GA_SGR_MAX, "%s", out.ptr) >= GA_SGR_MAX;
}

int ga_palette_read(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_palette *ret,
		    struct ga_error *err)
{
	static const struct {
		const char *key, *former, *otherwise; /* git's default */
	} slots[GA_PAINTS] = {
		[GA_PAINT_META] = { "color.diff.meta", NULL, "\033[1m" },
		[GA_PAINT_FRAG] = { "color.diff.frag", NULL, "\033[36m" },
		[GA_PAINT_OLD] = { "color.diff.old", NULL, "\033[31m" },
		[GA_PAINT_NEW] = { "color.diff.new", NULL, "\033[32m" },
		[GA_PAINT_CONTEXT] = { "color.diff.context", "color.diff.plain", "" },
	};

	for (size_t i = 0; i < GA_PAINTS; i++) {
		const char *v = ga_gitconfig_get(c, slots[i].key);
		cleanup_free char *q = NULL;
		int rc;

		if (!v && slots[i].former)
			v = ga_gitconfig_get(c, slots[i].former);
		(void)snprintf(ret->sgr[i], GA_SGR_MAX, "%s", slots[i].otherwise);
		rc = v ? translate(r, v, ret->sgr[i], err) : 0;
		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		q = ga_escape(v);
		return ga_fail(err, GA_EFATAL, "'%s' in git's configuration is not a colour: '%s'"
			       GA_HINT "'git config --show-origin %s' says where it is set",
			       slots[i].key, q, slots[i].key);
	}
	return 0;
}

/* So many blanks in a row push what follows them off the screen. */
#define BLANK_RUN 64

#define NOTE GA_PAINTS /* our own remark about what is not shown: in no colour */

struct diff {
	struct ga_repo *repo;
	const struct ga_palette *palette;
	struct ga_out *out;
};

/* `safe` is escaped for a terminal, and has no newline at its end. */
static void put(struct diff *d, unsigned paint, const char *safe)
{
	const char *sgr = d->palette && paint < GA_PAINTS ? d->palette->sgr[paint] : "";

	ga_buf_addf(&d->out->text, "%s%s%s\n", sgr, safe, *sgr ? "\033[m" : "");
}

static void section(struct diff *d, const char *title)
{
	cleanup_free char *text = ga_strf("==== %s", title);

	ga_buf_addch(&d->out->text, '\n');
	put(d, GA_PAINT_META, text);
}

/* Length in bytes of the blank (of any script) at `s`; 0: not a blank. */
static size_t blank_at(const char *s, size_t n)
{
	uint32_t c;
	size_t len;

	len = n ? ga_utf8_decode(s, n, &c) : 0;
	return len && ga_is_blank(c) ? len : 0;
}

/* A long run of blanks inside a line is replaced by its length, because code after a thousand
 * spaces would be off the screen. Trailing blanks hide nothing. */
static void add_text(struct ga_buf *out, const char *s, size_t n)
{
	while (n) {
		size_t text = 0, blank = 0, run = 0, len;

		while (text < n && !blank_at(s + text, n - text))
			text++;
		ga_quote_add_text(out, s, text);
		s += text;
		n -= text;
		for (; (len = blank_at(s + blank, n - blank)); run++)
			blank += len;
		if (run >= BLANK_RUN && blank < n)
			ga_buf_addf(out, "\\x20{%zu}", run);
		else
			ga_buf_add(out, s, blank);
		s += blank;
		n -= blank;
	}
}

/* Frees `safe`. */
static void put_own(struct diff *d, unsigned paint, char *safe)
{
	put(d, paint, safe);
	free(safe);
}

static unsigned paint_of(char c)
{
	if (c == '@')
		return GA_PAINT_FRAG;
	return c == '+' ? GA_PAINT_NEW : c == '-' ? GA_PAINT_OLD : GA_PAINT_CONTEXT;
}

static void put_hunks(struct diff *d, const struct ga_buf *hunks)
{
	const char *p = hunks->ptr, *end = p + hunks->len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		cleanup_buf struct ga_buf line = GA_BUF_INIT;

		add_text(&line, p, n);
		put(d, paint_of(*p), line.ptr);
		p += n + (nl != NULL);
	}
}

/* ---- one file ----------------------------------------------------------- */

static char *side_name(const char *side, const char *path)
{
	cleanup_free char *joined = ga_strf("%s/%s", side, path);

	return ga_quote(joined);
}

static void put_file_header(struct diff *d, const struct ga_change *c, bool hunks)
{
	cleanup_free char *a = side_name("a", c->path), *b = side_name("b", c->path);

	put_own(d, GA_PAINT_META, ga_strf("diff --git %s %s", a, b));
	if (!c->old.mode) {
		put_own(d, GA_PAINT_META, ga_strf("new file mode %06o", c->new.mode));
	} else if (!c->new.mode) {
		put_own(d, GA_PAINT_META, ga_strf("deleted file mode %06o", c->old.mode));
	} else if (c->old.mode != c->new.mode) {
		put_own(d, GA_PAINT_META, ga_strf("old mode %06o", c->old.mode));
		put_own(d, GA_PAINT_META, ga_strf("new mode %06o", c->new.mode));
	}
	if (!ga_oid_equal(&c->old.oid, &c->new.oid))
		put_own(d, GA_PAINT_META,
			ga_strf("index %.12s..%.12s", GA_HEX(&c->old.oid), GA_HEX(&c->new.oid)));
	if (hunks) {
		put_own(d, GA_PAINT_META, ga_strf("--- %s", c->old.mode ? a : "/dev/null"));
		put_own(d, GA_PAINT_META, ga_strf("+++ %s", c->new.mode ? b : "/dev/null"));
	}
}

static void put_too_long(struct diff *d, const struct ga_change *c)
{
	if (!c->old.mode || !c->new.mode)
		put_own(d, NOTE,
			ga_strf("longer than %zu MiB: not shown", GA_DIFF_BLOB_MAX >> 20));
	else
		put_own(d, NOTE,
			ga_strf("longer than %zu MiB, or more than %zu lines may differ: not "
				"shown; 'git diff %.12s %.12s' does", GA_DIFF_BLOB_MAX >> 20,
				GA_DIFF_LINES_MAX, GA_HEX(&c->old.oid), GA_HEX(&c->new.oid)));
}

static void put_binary(struct diff *d, struct ga_buf *hunks)
{
	size_t rest = hunks->len > GA_DIFF_BINARY_MAX ? hunks->len - GA_DIFF_BINARY_MAX : 0;

	put(d, NOTE, hunks->len ? "binary: shown escaped" : "binary");
	ga_buf_truncate(hunks, hunks->len - rest);
	put_hunks(d, hunks);
	if (rest)
		put_own(d, NOTE, ga_strf("... %zu more bytes are not shown", rest));
}

static int put_contents(struct diff *d, const struct ga_change *c, bool flagged,
			struct ga_error *err)
{
	cleanup_buf struct ga_buf hunks = GA_BUF_INIT;
	const struct ga_entry none = { GA_MODE_NONE, ga_oid_none };
	bool absent = ga_diff_is_absent(d->repo, &c->old);
	int kind;

	/* a NUL byte must not hide the content of a flagged file */
	kind = ga_diff_hunks(d->repo, absent ? &none : &c->old, &c->new, flagged, &hunks, err);
	if (kind < 0)
		return -1;
	put_file_header(d, c, hunks.len > 0);
	if (absent)
		put(d, NOTE, "the old version is absent from this partial "
				 "clone and could not be fetched: nothing is compared with it");
	if (kind == GA_DIFF_BINARY)
		put_binary(d, &hunks);
	else if (kind == GA_DIFF_ABSENT)
		put(d, NOTE, "absent from this partial clone: not shown, and "
				 "not fetched, as only the agent's commits ask for it");
	else if (kind != GA_DIFF_SHOWN)
		put_too_long(d, c);
	else
		put_hunks(d, &hunks);
	return 0;
}

static int put_file(struct diff *d, const struct ga_change *c, bool flagged, struct ga_error *err)
{
	return put_contents(d, c, flagged, err) ? -1 : ga_out_offer(d->out, err);
}

/* ---- a list of changes -------------------------------------------------- */

/* Put the changes to paths in `first` (NULL: none), which are flagged, and then the others. */
static int put_changes(struct diff *d, const struct ga_changes *changes,
		       const struct ga_strv *first, struct ga_error *err)
{
	cleanup_free bool *done = ga_calloc(changes->n + 1, sizeof(*done));
	int rc = 0;

	for (size_t i = 0; !rc && first && i < first->n; i++) {
		const struct ga_change *c = ga_changes_find(changes, first->v[i]);

		if (!c || done[c - changes->v])
			continue;
		done[c - changes->v] = true;
		rc = put_file(d, c, true, err);
	}
	for (size_t i = 0; !rc && i < changes->n; i++)
		if (!done[i])
			rc = put_file(d, &changes->v[i], false, err);
	return rc;
}

/* Held changes come first, as the worst. `ret`: there are any. */
static int put_held(struct diff *d, const struct ga_report *r, const struct ga_strv *first,
		    bool *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;

	if (review_held(d->repo, r, &changes, err))
		return -1;
	*ret = changes.n > 0;
	if (!*ret)
		return 0;
	section(d, "held: not on the branch until accepted");
	return put_changes(d, &changes, first, err);
}

int review_left_out(struct ga_repo *repo, const struct ga_report *r, struct ga_changes *ret,
		    struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (!r->left_out.n || ga_oid_is_zero(&r->seen))
		return 0;
	if (ga_tree_diff(repo, &r->shown, &r->seen, &all, err))
		return -1;
	for (size_t i = 0; i < r->left_out.n; i++) {
		const struct ga_change *c = ga_changes_find(&all, r->left_out.v[i]);

		if (c)
			(void)ga_changes_add(ret, c->path, &c->old, &c->new);
	}
	ga_changes_sort(ret);
	return 0;
}

/* Changes that are not on the branch but are landed: the agent's edits to files that had
 * uncommitted changes of the user. */
static int put_left_out(struct diff *d, const struct ga_report *r, struct ga_error *err)
{
	cleanup_changes struct ga_changes some = GA_CHANGES_INIT;

	if (review_left_out(d->repo, r, &some, err))
		return -1;
	if (!some.n)
		return 0;
	section(d, "uncommitted changes: on no branch until landing applies them");
	/* all of them as if flagged: shown even if binary */
	return put_changes(d, &some, &r->left_out, err);
}

int ga_review_diff(struct ga_repo *repo, const struct ga_report *r,
		   const struct ga_palette *palette_or_null, struct ga_out *out,
		   struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv first = GA_STRV_INIT;
	struct diff d = { repo, palette_or_null, out };
	bool held;
	int rc;

	ga_buf_addch(&out->text, '\n');
	/* flags are sorted, so the files with the worst come first */
	for (size_t i = 0; i < r->flags.n; i++)
		ga_strv_push(&first, r->flags.v[i].path);
	if (ga_tree_diff(repo, &r->base, review_end(r), &changes, err) ||
	    put_held(&d, r, &first, &held, err))
		return -1;
	if (held && changes.n)
		section(&d, "on the branch");
	rc = put_changes(&d, &changes, &first, err);
	return rc ? rc : put_left_out(&d, r, err);
}

const struct ga_oid *ga_review_commit(const struct ga_report *r)
{
	return ga_oid_is_zero(&r->held) ? &r->tip : &r->held;
}

int ga_review_since(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *then,
		    const struct ga_palette *palette_or_null, struct ga_out *out,
		    struct ga_error *err)
{
	const struct ga_oid *now = ga_review_commit(r);
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_error struct ga_error gone = GA_ERROR_INIT;
	struct diff d = { repo, palette_or_null, out };
	struct ga_oid base, old;
	size_t same = 0;
	int rc = 0;

	if (ga_oid_is_zero(then) || ga_oid_is_zero(now) || ga_oid_equal(then, now) ||
	    ga_commit_tree(repo, then, &old, &gone))
		return 0;
	if (ga_commit_tree(repo, &r->base, &base, err) ||
	    ga_tree_diff(repo, &old, now, &changes, err))
		return -1;
	section(&d, "changed since the last review");
	for (size_t i = 0; !rc && i < changes.n; i++) {
		struct ga_entry was;

		/* what the base has now was undone, or came with the base */
		rc = ga_tree_file(repo, &base, changes.v[i].path, &was, err);
		if (rc || ga_entry_equal(&was, &changes.v[i].new))
			same++;
		else
			rc = put_file(&d, &changes.v[i], false, err);
	}
	if (rc)
		return rc;
	if (same) {
		cleanup_free char *n = ga_count(same, "file is", "files are");
		cleanup_free char *text = ga_strf("(%s as in the base now)", n);

		put(&d, NOTE, text);
	}
	section(&d, "all of it");
	return 0;
}

int ga_review_tree_diff(struct ga_repo *repo, const struct ga_oid *old_tree,
			const struct ga_oid *new_tree, const struct ga_palette *palette_or_null,
			struct ga_out *out, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct diff d = { repo, palette_or_null, out };

	if (ga_tree_diff(repo, old_tree, new_tree, &changes, err))
		return -1;
	return put_changes(&d, &changes, NULL, err);
}

int ga_review_file_diff(struct ga_repo *repo, const struct ga_change *c, bool flagged,
			const struct ga_palette *palette_or_null, struct ga_out *out,
			struct ga_error *err)
{
	struct diff d = { repo, palette_or_null, out };

	return put_file(&d, c, flagged, err);
}

const char *review_status(const struct ga_change *c)
{
	if (c->old.mode == GA_MODE_NONE)
		return "added";
	if (c->new.mode == GA_MODE_NONE)
		return "deleted";
	/* a file, symlink or submodule became another of these; the executable bit is not a type */
	return (c->old.mode & 0170000) != (c->new.mode & 0170000) ? "typechange" : "modified";
}
