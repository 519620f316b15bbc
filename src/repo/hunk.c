/* SPDX-License-Identifier: MIT */
#include "ga/hunk.h"

#include <stdint.h>
#include <string.h>

#include "ga/diff.h"

void ga_hunks_release(struct ga_hunks *h)
{
	ga_buf_release(&h->text);
	free(h->edits);
	free(h->v);
	*h = (struct ga_hunks)GA_HUNKS_INIT;
}

/* ---- reading ------------------------------------------------------------ */

/* The next line of each version, counted from 0. */
struct place {
	size_t old, new;
};

static bool parse_number(const char **p, size_t *ret)
{
	size_t n = 0;

	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		if (n > SIZE_MAX / 20)
			return false;
		n = n * 10 + (size_t)(**p - '0');
	}
	*ret = n;
	return true;
}

/* Parse "A,B" or "A": the first line, counted from 1, and the number of lines. If that is 0, A is
 * the line before them. */
static bool parse_range(const char **p, size_t *ret_at)
{
	size_t at, n = 1;

	if (!parse_number(p, &at))
		return false;
	if (**p == ',') {
		(*p)++;
		if (!parse_number(p, &n))
			return false;
	}
	if (n && !at)
		return false;
	*ret_at = n ? at - 1 : at;
	return true;
}

static bool parse_header(const char *p, struct place *ret)
{
	if (strncmp(p, "@@ -", 4) != 0)
		return false;
	p += 4;
	if (!parse_range(&p, &ret->old) || strncmp(p, " +", 2) != 0)
		return false;
	p += 2;
	return parse_range(&p, &ret->new) && !strncmp(p, " @@", 3);
}

static void begin_hunk(struct ga_hunks *h, size_t at)
{
	GA_GROW(h->v, h->n, h->cap);
	h->v[h->n++] = (struct ga_hunk){ .first = h->n_edits, .at = at };
}

static void begin_edit(struct ga_hunks *h, const struct place *here, size_t at)
{
	GA_GROW(h->edits, h->n_edits, h->cap_edits);
	h->edits[h->n_edits++] =
	    (struct ga_edit){ .old_at = here->old, .new_at = here->new, .at = at };
	h->v[h->n - 1].n++;
}

/* Take one line of a hunk. `*in`: the line before it is part of an edit. */
static bool add_line(struct ga_hunks *h, size_t at, size_t len, struct place *here, bool *in)
{
	char kind = h->text.ptr[at];
	struct ga_edit *e;

	if (!h->n)
		return false;
	if (kind == '\\') {
		/* "\ No newline at end of file", about the line before it */
		if (*in)
			h->edits[h->n_edits - 1].len += len;
		return true;
	}
	if (kind != '+' && kind != '-' && kind != ' ')
		return false;
	if (kind == ' ') {
		*in = false;
		here->old++;
		here->new++;
		return true;
	}
	if (!*in)
		begin_edit(h, here, at);
	*in = true;
	e = &h->edits[h->n_edits - 1];
	e->len = at + len - e->at;
	if (kind == '-') {
		e->old_n++;
		here->old++;
	} else {
		e->new_n++;
		here->new++;
	}
	return true;
}

int ga_hunks_parse(struct ga_hunks *h)
{
	struct place here = { 0, 0 };
	bool in = false;

	for (size_t at = 0; at < h->text.len;) {
		const char *p = h->text.ptr + at, *nl = memchr(p, '\n', h->text.len - at);
		size_t len = nl ? (size_t)(nl - p) + 1 : h->text.len - at;

		if (*p == '@') {
			in = false;
			if (!parse_header(p, &here))
				return -1;
			begin_hunk(h, at);
		} else if (!add_line(h, at, len, &here, &in)) {
			return -1;
		}
		at += len;
		h->v[h->n - 1].len = at - h->v[h->n - 1].at;
	}
	return 0;
}

static bool has_lines(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC || e->mode == GA_MODE_NONE;
}

int ga_hunks_read(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		  struct ga_hunks *ret, struct ga_error *err)
{
	int rc;

	if (!has_lines(old) || !has_lines(new))
		return 1;
	rc = ga_diff_hunks(r, old, new, false, &ret->text, err);
	if (rc)
		return rc < 0 ? -1 : 1;
	if (ga_hunks_parse(ret))
		return ga_fail(err, GA_EFATAL, "cannot tell the parts of a comparison");
	return !ret->n_edits;
}

/* ---- writing ------------------------------------------------------------ */

static size_t count_lines(const char *p, size_t n, char kind)
{
	size_t count = 0;

	for (const char *end = p + n; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		count += *p == kind;
		p = nl ? nl + 1 : end;
	}
	return count;
}

static void put_range(struct ga_buf *out, char sign, size_t at, size_t n)
{
	ga_buf_addf(out, " %c%zu,%zu", sign, n ? at + 1 : at, n);
}

void ga_hunks_edit_text(const struct ga_hunks *h, const struct ga_hunk *hunk, size_t edit,
			struct ga_buf *out)
{
	const struct ga_edit *e = &h->edits[edit];
	const char *text = h->text.ptr, *nl = memchr(text + hunk->at, '\n', hunk->len);
	size_t body = nl ? (size_t)(nl - text) + 1 : hunk->at + hunk->len;
	size_t from = edit > hunk->first ? e[-1].at + e[-1].len : body;
	size_t to = edit + 1 < hunk->first + hunk->n ? e[1].at : hunk->at + hunk->len;
	size_t before = count_lines(text + from, e->at - from, ' ');
	size_t around = before + count_lines(text + e->at + e->len, to - e->at - e->len, ' ');

	ga_buf_adds(out, "@@");
	put_range(out, '-', e->old_at - before, e->old_n + around);
	put_range(out, '+', e->new_at - before, e->new_n + around);
	ga_buf_adds(out, " @@\n");
	ga_buf_add(out, text + from, to - from);
}

/* A position in a text. */
struct position {
	const char *at, *end;
	size_t n; /* lines before `at` */
};

/* Move to line `n` and return where it begins. NULL if there are fewer lines, or it was passed
 * already. */
static const char *go_to(struct position *l, size_t n)
{
	while (l->n < n && l->at < l->end) {
		const char *nl = memchr(l->at, '\n', (size_t)(l->end - l->at));

		l->at = nl ? nl + 1 : l->end;
		l->n++;
	}
	return l->n == n ? l->at : NULL;
}

int ga_hunks_undo(const struct ga_hunks *h, const bool *undo, const struct ga_buf *old,
		  const struct ga_buf *new, struct ga_buf *out)
{
	struct position was = { old->ptr, old->ptr + old->len, 0 };
	struct position is = { new->ptr, new->ptr + new->len, 0 };
	size_t start = out->len;
	const char *done = new->ptr;

	for (size_t i = 0; i < h->n_edits; i++) {
		const struct ga_edit *e = &h->edits[i];
		const char *from = go_to(&is, e->new_at), *to = go_to(&is, e->new_at + e->new_n);
		const char *put = go_to(&was, e->old_at), *end = go_to(&was, e->old_at + e->old_n);

		if (!from || !to || !put || !end) {
			ga_buf_truncate(out, start);
			return -1;
		}
		if (!undo[i])
			continue;
		ga_buf_add(out, done, (size_t)(from - done));
		ga_buf_add(out, put, (size_t)(end - put));
		done = to;
	}
	ga_buf_add(out, done, (size_t)(is.end - done));
	return 0;
}
