/* SPDX-License-Identifier: MIT
 *
 * The diff: which files, in which order, and how much of each. Every byte that comes from a blob or
 * a name goes through the quoting functions before diff-text.c gets it.
 */
#include <inttypes.h>
#include <string.h>

#include "ga/clock.h"
#include "ga/diff.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "review-diff.h"

/* So many blanks in a row push what follows them off the screen. */
#define BLANK_RUN 64
/* How long a diff program of the user may take for one file. */
#define PROGRAM_MS 10000

/* Length in bytes of the blank (of any script) at `s`; 0: there is none. */
static size_t blank_at(const char *s, size_t n)
{
	uint32_t c;
	size_t len;

	len = n ? ga_utf8_decode(s, n, &c) : 0;
	return len && ga_is_blank(c) ? len : 0;
}

/* A long run of blanks inside a line is written as its length: nobody would see code that follows a
 * thousand spaces. Trailing blanks hide nothing. */
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
static void put_own(struct review_diff *d, unsigned paint, char *safe)
{
	review_diff_line(d, paint, safe);
	free(safe);
}

static unsigned paint_of(char c)
{
	if (c == '@')
		return GA_PAINT_FRAG;
	return c == '+' ? GA_PAINT_NEW : c == '-' ? GA_PAINT_OLD : GA_PAINT_CONTEXT;
}

void review_diff_hunks(struct review_diff *d, const struct ga_buf *hunks)
{
	const char *p = hunks->ptr, *end = p + hunks->len;
	/* output of git begins with a header of its own */
	bool head = !strncmp(p, "diff --git ", 11);

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		cleanup_buf struct ga_buf line = GA_BUF_INIT;

		head = head && *p != '@';
		add_text(&line, p, n);
		review_diff_line(d, head ? GA_PAINT_META : paint_of(*p), line.ptr);
		p += n + (nl != NULL);
	}
}

/* ---- one file ----------------------------------------------------------- */

static char *side_name(const char *side, const char *path)
{
	cleanup_free char *joined = ga_strf("%s/%s", side, path);

	return ga_quote(joined);
}

static void put_file_header(struct review_diff *d, const struct ga_change *c, bool hunks)
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

/* Put the file as git shows it, with the programs of the user's configuration. If one fails, put
 * nothing: what git wrote may be incomplete. After one that hung none is started again. */
static int put_by_git(struct review_diff *d, const struct ga_change *c, struct ga_error *err)
{
	cleanup_free char *spec = ga_strf(":(top,literal)%s", c->path);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *args[] = { "diff",
			       "--no-color",
			       "--no-renames",
			       "--src-prefix=a/",
			       "--dst-prefix=b/",
			       d->opts->ext_diff ? "--ext-diff" : "--no-ext-diff",
			       d->opts->textconv ? "--textconv" : "--no-textconv",
			       GA_HEX(&d->old_tree),
			       GA_HEX(&d->new_tree),
			       "--",
			       spec,
			       NULL };
	int64_t began;

	g.args = args;
	g.work_tree = ga_repo_info(d->repo)->workdir;
	g.out = &out;
	g.timeout_ms = PROGRAM_MS;
	if (d->hung)
		return ga_fail(err, GA_EFATAL, "one took too long for an earlier file");
	began = ga_now_ms();
	if (ga_git_ok(d->repo, &g, err)) {
		d->hung = ga_now_ms() - began >= PROGRAM_MS;
		return -1;
	}
	review_diff_hunks(d, &out);
	return 0;
}

static void put_failed(struct review_diff *d, const struct ga_error *failed)
{
	cleanup_free char *why = ga_escape(failed->msg);

	put_own(d, REVIEW_NOTE, ga_strf("shown without your diff programs: %s", why));
}

static void put_too_long(struct review_diff *d, const struct ga_change *c)
{
	if (!c->old.mode || !c->new.mode)
		put_own(d, REVIEW_NOTE,
			ga_strf("longer than %zu MiB: not shown", GA_DIFF_BLOB_MAX >> 20));
	else
		put_own(d, REVIEW_NOTE,
			ga_strf("longer than %zu MiB, or more than %zu lines may differ: not "
				"shown; 'git diff %.12s %.12s' does", GA_DIFF_BLOB_MAX >> 20,
				GA_DIFF_LINES_MAX, GA_HEX(&c->old.oid), GA_HEX(&c->new.oid)));
}

/* Put the beginning of a binary file. */
static void put_binary(struct review_diff *d, struct ga_buf *hunks)
{
	size_t rest = hunks->len > GA_DIFF_BINARY_MAX ? hunks->len - GA_DIFF_BINARY_MAX : 0;

	review_diff_line(d, REVIEW_NOTE, hunks->len ? "binary: shown escaped" : "binary");
	ga_buf_truncate(hunks, hunks->len - rest);
	review_diff_hunks(d, hunks);
	if (rest)
		put_own(d, REVIEW_NOTE, ga_strf("... %zu more bytes are not shown", rest));
}

static int put_contents(struct review_diff *d, const struct ga_change *c, bool flagged,
			struct ga_error *err)
{
	cleanup_buf struct ga_buf hunks = GA_BUF_INIT;
	cleanup_error struct ga_error failed = GA_ERROR_INIT;
	const struct ga_entry none = { GA_MODE_NONE, ga_oid_none };
	bool absent = ga_diff_is_absent(d->repo, &c->old);
	int kind;

	if ((d->opts->ext_diff || d->opts->textconv) && !put_by_git(d, c, &failed))
		return 0;
	/* a NUL byte must not hide the content of a flagged file */
	kind = ga_diff_hunks(d->repo, absent ? &none : &c->old, &c->new, flagged, &hunks, err);
	if (kind < 0)
		return -1;
	put_file_header(d, c, hunks.len > 0);
	if (failed.msg)
		put_failed(d, &failed);
	if (absent)
		review_diff_line(d, REVIEW_NOTE, "the old version is absent from this partial "
				 "clone and could not be fetched: nothing is compared with it");
	if (kind == GA_DIFF_BINARY)
		put_binary(d, &hunks);
	else if (kind == GA_DIFF_ABSENT)
		review_diff_line(d, REVIEW_NOTE, "absent from this partial clone: not shown, and "
				 "not fetched, as only the agent's commits ask for it");
	else if (kind != GA_DIFF_SHOWN)
		put_too_long(d, c);
	else
		review_diff_hunks(d, &hunks);
	return 0;
}

int review_diff_file(struct review_diff *d, const struct ga_change *c, bool flagged,
		     struct ga_error *err)
{
	return put_contents(d, c, flagged, err) ? -1 : ga_out_offer(d->out, err);
}

/* ---- a list of changes -------------------------------------------------- */

/* Put the changes to paths in `first` (NULL: none), which are flagged, and then the others. */
static int put_changes(struct review_diff *d, const struct ga_changes *changes,
		       const struct ga_strv *first, struct ga_error *err)
{
	cleanup_free bool *done = ga_calloc(changes->n + 1, sizeof(*done));
	int rc = 0;

	for (size_t i = 0; !rc && first && i < first->n; i++) {
		const struct ga_change *c = ga_changes_find(changes, first->v[i]);

		if (!c || done[c - changes->v])
			continue;
		done[c - changes->v] = true;
		rc = review_diff_file(d, c, true, err);
	}
	for (size_t i = 0; !rc && i < changes->n; i++)
		if (!done[i])
			rc = review_diff_file(d, &changes->v[i], false, err);
	return rc;
}

/* What is held comes before all else: it is the worst. `ret`: there is any. */
static int put_held(struct review_diff *d, const struct ga_report *r, const struct ga_strv *first,
		    bool *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;

	if (review_held(d->repo, r, &d->old_tree, &d->new_tree, &changes, err))
		return -1;
	*ret = changes.n > 0;
	if (!*ret)
		return 0;
	review_diff_section(d, "held: not on the branch until accepted");
	return put_changes(d, &changes, first, err);
}

int review_left_out(struct ga_repo *repo, const struct ga_report *r, struct ga_oid *ret_old,
		    struct ga_oid *ret_new, struct ga_changes *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (!r->left_out.n || ga_oid_is_zero(&r->seen))
		return 0;
	*ret_new = r->seen;
	if (ga_commit_tree(repo, &r->shown, ret_old, err) ||
	    ga_tree_diff(repo, ret_old, ret_new, &all, err))
		return -1;
	for (size_t i = 0; i < r->left_out.n; i++) {
		const struct ga_change *c = ga_changes_find(&all, r->left_out.v[i]);

		if (c)
			(void)ga_changes_add(ret, c->path, &c->old, &c->new);
	}
	ga_changes_sort(ret);
	return 0;
}

/* What is not on the branch either but landing brings: the agent's changes to files that had
 * uncommitted changes of the user when it started. */
static int put_left_out(struct review_diff *d, const struct ga_report *r, struct ga_error *err)
{
	cleanup_changes struct ga_changes some = GA_CHANGES_INIT;

	if (review_left_out(d->repo, r, &d->old_tree, &d->new_tree, &some, err))
		return -1;
	if (!some.n)
		return 0;
	review_diff_section(d, "uncommitted changes: on no branch until landing brings them");
	/* all of them as if flagged: shown even if binary */
	return put_changes(d, &some, &r->left_out, err);
}

int review_diff_all(struct review_diff *d, const struct ga_report *r, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv first = GA_STRV_INIT;
	bool held;
	int rc;

	/* flags are sorted, so the files with the worst come first */
	for (size_t i = 0; i < r->n_flags; i++)
		ga_strv_push(&first, r->flags[i].path);
	if (review_trees(d->repo, r, &d->old_tree, &d->new_tree, err) ||
	    ga_tree_diff(d->repo, &d->old_tree, &d->new_tree, &changes, err) ||
	    put_held(d, r, &first, &held, err) ||
	    /* back from those of what is held */
	    review_trees(d->repo, r, &d->old_tree, &d->new_tree, err))
		return -1;
	if (held && changes.n)
		review_diff_section(d, "on the branch");
	rc = put_changes(d, &changes, &first, err);
	return rc ? rc : put_left_out(d, r, err);
}

int review_diff_trees(struct review_diff *d, const struct ga_oid *old_tree,
		      const struct ga_oid *new_tree, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;

	if (ga_tree_diff(d->repo, old_tree, new_tree, &changes, err))
		return -1;
	return put_changes(d, &changes, NULL, err);
}
