/* SPDX-License-Identifier: MIT */
#include "ga/repo/hunk.h"

#include <string.h>

#include "repo/objects-internal.h"

void ga_hunks_release(struct ga_hunks *h)
{
	ga_buf_release(&h->text);
	free(h->edits);
	free(h->v);
	*h = (struct ga_hunks)GA_HUNKS_INIT;
}

struct reading {
	struct ga_hunks *h;
	size_t old, new; /* the next line of each version, counted from 0 */
	bool in;         /* the line before is part of an edit */
};

static void begin_hunk(struct reading *x, const git_diff_hunk *hunk, size_t at)
{
	struct ga_hunks *h = x->h;

	GA_GROW(h->v, h->n, h->cap);
	h->v[h->n++] = (struct ga_hunk){ .first = h->n_edits, .at = at };
	/* of no lines, the line before them is given */
	x->old = (size_t)hunk->old_start - (hunk->old_lines > 0);
	x->new = (size_t)hunk->new_start - (hunk->new_lines > 0);
	x->in = false;
}

static void begin_edit(struct reading *x, size_t at)
{
	struct ga_hunks *h = x->h;

	GA_GROW(h->edits, h->n_edits, h->cap_edits);
	h->edits[h->n_edits++] =
	    (struct ga_edit){ .old_at = x->old, .new_at = x->new, .at = at };
	h->v[h->n - 1].n++;
	x->in = true;
}

static int take_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		     const git_diff_line *line, void *payload)
{
	struct reading *x = payload;
	struct ga_hunks *h = x->h;
	bool old = line->origin == GIT_DIFF_LINE_DELETION;
	bool new = line->origin == GIT_DIFF_LINE_ADDITION;
	bool both = line->origin == GIT_DIFF_LINE_CONTEXT;
	size_t at = h->text.len;

	(void)ga_diff_add_line(delta, hunk, line, &h->text);
	if (h->text.len == at)
		return 0;
	if (line->origin == GIT_DIFF_LINE_HUNK_HDR)
		begin_hunk(x, hunk, at);
	else if ((old || new) && !x->in)
		begin_edit(x, at);
	x->in &= !both;
	x->old += old || both;
	x->new += new || both;
	h->v[h->n - 1].len = h->text.len - h->v[h->n - 1].at;
	if (x->in) {
		struct ga_edit *e = &h->edits[h->n_edits - 1];

		e->old_n += old;
		e->new_n += new;
		/* with git's remark that there is no newline */
		e->len = h->text.len - e->at;
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
	struct reading x = { .h = ret };
	int rc;

	if (!has_lines(old) || !has_lines(new))
		return 1;
	rc = ga_diff_print(r, old, new, false, take_line, &x, err);
	return rc < 0 ? -1 : rc || !ret->n_edits;
}

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
