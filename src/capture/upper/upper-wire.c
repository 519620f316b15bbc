/* SPDX-License-Identifier: MIT
 *
 * The result on its way from the child: one function for each type, which the child calls to write
 * it and the parent to read it. Both are the same program, so numbers are passed as they are in
 * memory, and strings with their length. The reader still checks bounds, since a child can be
 * killed in the middle of a record.
 */
#include <string.h>

#include "capture/upper-internal.h"

static void carry(struct wire *w, void *p, size_t n)
{
	if (w->out) {
		ga_buf_add(w->b, p, n);
		return;
	}
	w->bad |= n > w->b->len - w->pos;
	if (w->bad) {
		memset(p, 0, n);
		return;
	}
	memcpy(p, w->b->ptr + w->pos, n);
	w->pos += n;
}

static uint64_t number(struct wire *w, uint64_t v)
{
	carry(w, &v, sizeof(v));
	return v;
}

/* The number of records of at least `least` bytes each, which bounds it by the bytes there are. */
static size_t count(struct wire *w, size_t n, size_t least)
{
	n = number(w, n);
	w->bad |= !w->out && n > (w->b->len - w->pos) / least;
	return w->bad ? 0 : n;
}

/* May be NULL. The reader's is new. */
static void string(struct wire *w, char **s)
{
	uint64_t n = number(w, w->out && *s ? strlen(*s) + 1 : 0); /* 0: NULL */

	if (w->out) {
		ga_buf_adds(w->b, *s ? *s : "");
		return;
	}
	*s = NULL;
	w->bad |= n && (n - 1 > w->b->len - w->pos || memchr(w->b->ptr + w->pos, '\0', n - 1));
	if (!n || w->bad)
		return;
	*s = ga_strndup(w->b->ptr + w->pos, n - 1);
	w->pos += n - 1;
}

static void path(struct wire *w, char **s)
{
	string(w, s);
	w->bad |= !*s;
}

static void strv(struct wire *w, struct ga_strv *sv)
{
	size_t n = count(w, sv->n, sizeof(uint64_t));

	for (size_t i = 0; i < n && !w->bad; i++) {
		char *s = w->out ? sv->v[i] : NULL;

		path(w, &s);
		if (!w->out && s)
			ga_strv_take(sv, s);
	}
}

static void changes(struct wire *w, struct ga_changes *l)
{
	size_t n = count(w, l->n, sizeof(uint64_t) + 2 * sizeof(struct ga_entry));

	for (size_t i = 0; i < n && !w->bad; i++) {
		struct ga_change c = w->out ? l->v[i] : (struct ga_change){ .path = NULL };

		path(w, &c.path);
		carry(w, &c.old, sizeof(c.old));
		carry(w, &c.new, sizeof(c.new));
		if (w->out)
			continue;
		if (!w->bad)
			(void)ga_changes_add(l, c.path, &c.old, &c.new);
		free(c.path);
	}
}

static enum ga_left_kind kind(struct wire *w, enum ga_left_kind k)
{
	uint64_t v = number(w, (uint64_t)k);

	w->bad |= v > GA_LEFT_LIMIT;
	return (enum ga_left_kind)v;
}

static void left(struct wire *w, struct ga_left_list *l)
{
	size_t n = count(w, l->n, 4 * sizeof(uint64_t));

	for (size_t i = 0; i < n && !w->bad; i++) {
		struct ga_left e = w->out ? l->v[i] : (struct ga_left){ .path = NULL };

		path(w, &e.path);
		e.kind = kind(w, e.kind);
		e.count = number(w, e.count);
		e.bytes = number(w, e.bytes);
		if (w->out)
			continue;
		if (!w->bad)
			ga_left_add(l, e.path, e.kind, e.count, e.bytes);
		free(e.path);
	}
}

void wire_files(struct wire *w, struct ga_left_files *l)
{
	size_t n = count(w, l->n, 4 * sizeof(uint64_t));

	for (size_t i = 0; i < n && !w->bad; i++) {
		struct ga_left_file e = w->out ? l->v[i] : (struct ga_left_file){ .path = NULL };

		path(w, &e.path);
		e.kind = kind(w, e.kind);
		e.mode = (mode_t)number(w, e.mode);
		e.bytes = number(w, e.bytes);
		if (w->out)
			continue;
		if (!w->bad)
			ga_left_files_add(l, e.path, e.kind, e.mode, e.bytes);
		free(e.path);
	}
}

void wire_result(struct wire *w, struct ga_upper_result *r)
{
	carry(w, &r->tree, sizeof(r->tree));
	changes(w, &r->changes);
	left(w, &r->left);
	strv(w, &r->newly_ignored);
	strv(w, &r->newly_ignored_by);
	w->bad |= r->newly_ignored.n != r->newly_ignored_by.n;
	strv(w, &r->set_id);
	strv(w, &r->linked);
	strv(w, &r->notes);
	string(w, &r->keep);
	r->met = number(w, r->met);
}

void wire_listed(struct wire *w, struct ga_upper_files *f)
{
	f->bytes = number(w, f->bytes);
	strv(w, &f->open);
	strv(w, &f->closed);
	strv(w, &f->barred);
	strv(w, &f->unsure);
}

void wire_error(struct wire *w, struct ga_error *err)
{
	uint64_t code = number(w, (uint64_t)err->code);
	char *msg = err->msg, *hint = err->hint;

	path(w, &msg);
	string(w, &hint);
	w->bad |= code == GA_OK || code > GA_EUSAGE;
	if (w->out)
		return;
	*err = (struct ga_error){ .code = (enum ga_code)code, .msg = msg, .hint = hint };
	if (w->bad)
		ga_error_release(err);
}
