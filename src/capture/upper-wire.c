/* SPDX-License-Identifier: MIT
 *
 * The result on its way from the child. Both are the same program, so numbers are passed as they
 * are in memory, and strings with their length. The reader still checks bounds, since a child can
 * be killed in the middle of a record.
 */
#include <string.h>

#include "upper-internal.h"

static void put(struct ga_buf *b, const void *p, size_t n)
{
	ga_buf_add(b, p, n);
}

void wire_put_u64(struct ga_buf *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static void put_str(struct ga_buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	wire_put_u64(b, s ? n + 1 : 0); /* 0: NULL */
	put(b, s ? s : "", n);
}

static int get(const struct ga_buf *b, size_t *pos, void *p, size_t n)
{
	if (n > b->len - *pos)
		return -1;
	memcpy(p, b->ptr + *pos, n);
	*pos += n;
	return 0;
}

int wire_get_u64(const struct ga_buf *b, size_t *pos, uint64_t *ret)
{
	return get(b, pos, ret, sizeof(*ret));
}

/* Read a count of records of at least `least` bytes each, which bounds it by the bytes there
 * are. */
static int get_count(const struct ga_buf *b, size_t *pos, size_t least, uint64_t *ret)
{
	return wire_get_u64(b, pos, ret) || *ret > (b->len - *pos) / least ? -1 : 0;
}

static int get_str(const struct ga_buf *b, size_t *pos, char **ret)
{
	uint64_t n;

	if (wire_get_u64(b, pos, &n))
		return -1;
	*ret = NULL;
	if (!n)
		return 0;
	if (n - 1 > b->len - *pos || memchr(b->ptr + *pos, '\0', n - 1))
		return -1;
	*ret = ga_strndup(b->ptr + *pos, n - 1);
	*pos += n - 1;
	return 0;
}

void wire_put_strv(struct ga_buf *b, const struct ga_strv *sv)
{
	wire_put_u64(b, sv->n);
	for (size_t i = 0; i < sv->n; i++)
		put_str(b, sv->v[i]);
}

int wire_get_strv(const struct ga_buf *b, size_t *pos, struct ga_strv *sv)
{
	uint64_t n;

	if (get_count(b, pos, sizeof(uint64_t), &n))
		return -1;
	while (n--) {
		char *s;

		if (get_str(b, pos, &s) || !s)
			return -1;
		ga_strv_take(sv, s);
	}
	return 0;
}

static void put_changes(struct ga_buf *b, const struct ga_changes *c)
{
	wire_put_u64(b, c->n);
	for (size_t i = 0; i < c->n; i++) {
		put_str(b, c->v[i].path);
		put(b, &c->v[i].old, sizeof(c->v[i].old));
		put(b, &c->v[i].new, sizeof(c->v[i].new));
	}
}

static int get_changes(const struct ga_buf *b, size_t *pos, struct ga_changes *c)
{
	uint64_t n;

	if (get_count(b, pos, sizeof(uint64_t) + 2 * sizeof(struct ga_entry), &n))
		return -1;
	while (n--) {
		cleanup_free char *path = NULL;
		struct ga_entry old, new;

		if (get_str(b, pos, &path) || !path || get(b, pos, &old, sizeof(old)) ||
		    get(b, pos, &new, sizeof(new)))
			return -1;
		(void)ga_changes_add(c, path, &old, &new);
	}
	return 0;
}

static void put_left(struct ga_buf *b, const struct ga_left_list *l)
{
	wire_put_u64(b, l->n);
	for (size_t i = 0; i < l->n; i++) {
		put_str(b, l->v[i].path);
		wire_put_u64(b, (uint64_t)l->v[i].kind);
		wire_put_u64(b, l->v[i].count);
		wire_put_u64(b, l->v[i].bytes);
	}
}

static int get_left(const struct ga_buf *b, size_t *pos, struct ga_left_list *l)
{
	uint64_t n;

	if (get_count(b, pos, 4 * sizeof(uint64_t), &n))
		return -1;
	while (n--) {
		cleanup_free char *path = NULL;
		uint64_t kind, count, bytes;

		if (get_str(b, pos, &path) || !path || wire_get_u64(b, pos, &kind) ||
		    wire_get_u64(b, pos, &count) || wire_get_u64(b, pos, &bytes) ||
		    kind > GA_LEFT_LIMIT)
			return -1;
		ga_left_add(l, path, (enum ga_left_kind)kind, count, bytes);
	}
	return 0;
}

void wire_put_files(struct ga_buf *b, const struct ga_left_files *f)
{
	wire_put_u64(b, f->n);
	for (size_t i = 0; i < f->n; i++) {
		put_str(b, f->v[i].path);
		wire_put_u64(b, (uint64_t)f->v[i].kind);
		wire_put_u64(b, f->v[i].mode);
		wire_put_u64(b, f->v[i].bytes);
	}
}

int wire_get_files(const struct ga_buf *b, size_t *pos, struct ga_left_files *f)
{
	uint64_t n;

	if (get_count(b, pos, 4 * sizeof(uint64_t), &n))
		return -1;
	while (n--) {
		cleanup_free char *path = NULL;
		uint64_t kind, mode, bytes;

		if (get_str(b, pos, &path) || !path || wire_get_u64(b, pos, &kind) ||
		    wire_get_u64(b, pos, &mode) || wire_get_u64(b, pos, &bytes) ||
		    kind > GA_LEFT_LIMIT)
			return -1;
		ga_left_files_add(f, path, (enum ga_left_kind)kind, (mode_t)mode, bytes);
	}
	return 0;
}

void wire_put_result(struct ga_buf *b, const struct ga_upper_result *r)
{
	put(b, &r->tree, sizeof(r->tree));
	put_changes(b, &r->changes);
	put_left(b, &r->left);
	wire_put_strv(b, &r->newly_ignored);
	wire_put_strv(b, &r->newly_ignored_by);
	wire_put_strv(b, &r->set_id);
	wire_put_strv(b, &r->linked);
	wire_put_strv(b, &r->notes);
	put_str(b, r->keep);
	wire_put_u64(b, r->met);
}

int wire_get_result(const struct ga_buf *b, size_t *pos, struct ga_upper_result *r)
{
	return get(b, pos, &r->tree, sizeof(r->tree)) || get_changes(b, pos, &r->changes) ||
			       get_left(b, pos, &r->left) ||
			       wire_get_strv(b, pos, &r->newly_ignored) ||
			       wire_get_strv(b, pos, &r->newly_ignored_by) ||
			       r->newly_ignored.n != r->newly_ignored_by.n ||
			       wire_get_strv(b, pos, &r->set_id) ||
			       wire_get_strv(b, pos, &r->linked) ||
			       wire_get_strv(b, pos, &r->notes) ||
			       get_str(b, pos, &r->keep) || wire_get_u64(b, pos, &r->met)
		       ? -1
		       : 0;
}

void wire_put_listed(struct ga_buf *b, struct ga_upper_files *f)
{
	struct ga_strv *const all[] = { &f->open, &f->closed, &f->barred, &f->unsure };

	wire_put_u64(b, f->bytes);
	for (size_t i = 0; i < GA_NELEMS(all); i++) {
		ga_strv_sort_unique(all[i]);
		wire_put_strv(b, all[i]);
	}
}

int wire_get_listed(const struct ga_buf *b, size_t *pos, struct ga_upper_files *f)
{
	return wire_get_u64(b, pos, &f->bytes) || wire_get_strv(b, pos, &f->open) ||
			       wire_get_strv(b, pos, &f->closed) ||
			       wire_get_strv(b, pos, &f->barred) ||
			       wire_get_strv(b, pos, &f->unsure)
		       ? -1
		       : 0;
}

void wire_put_error(struct ga_buf *b, const struct ga_error *err)
{
	wire_put_u64(b, (uint64_t)err->code);
	put_str(b, err->msg);
	put_str(b, err->hint);
}

int wire_get_error(const struct ga_buf *b, size_t *pos, struct ga_error *err)
{
	cleanup_free char *msg = NULL, *hint = NULL;
	uint64_t code;

	if (wire_get_u64(b, pos, &code) || get_str(b, pos, &msg) || !msg ||
	    get_str(b, pos, &hint) || code == GA_OK || code > GA_EUSAGE)
		return -1;
	(void)ga_fail(err, (enum ga_code)code, "%s", msg);
	if (hint)
		(void)ga_hint(err, "%s", hint);
	return 0;
}
