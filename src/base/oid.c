/* SPDX-License-Identifier: MIT */
#include "ga/base/oid.h"

#include <string.h>

#include "ga/base/alloc.h"

static int hexval(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool ga_oid_parse(const char *hex, size_t n, struct ga_oid *ret)
{
	struct ga_oid oid;

	if (strnlen(hex, n) != GA_OID_HEXSZ)
		return false;
	for (size_t i = 0; i < GA_OID_RAWSZ; i++) {
		int hi = hexval(hex[2 * i]), lo = hexval(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		oid.id[i] = (unsigned char)(hi << 4 | lo);
	}
	*ret = oid;
	return true;
}

char *ga_oid_hex(const struct ga_oid *oid, char out[GA_OID_HEXSZ + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < GA_OID_RAWSZ; i++) {
		out[2 * i] = digits[oid->id[i] >> 4];
		out[2 * i + 1] = digits[oid->id[i] & 15];
	}
	out[GA_OID_HEXSZ] = '\0';
	return out;
}

bool ga_oid_equal(const struct ga_oid *a, const struct ga_oid *b)
{
	return !memcmp(a->id, b->id, GA_OID_RAWSZ);
}

int ga_oid_cmp(const struct ga_oid *a, const struct ga_oid *b)
{
	return memcmp(a->id, b->id, GA_OID_RAWSZ);
}

const struct ga_oid ga_oid_none;

bool ga_oid_is_zero(const struct ga_oid *oid)
{
	return ga_oid_equal(oid, &ga_oid_none);
}

bool ga_entry_equal(const struct ga_entry *a, const struct ga_entry *b)
{
	return a->mode == b->mode && (!a->mode || ga_oid_equal(&a->oid, &b->oid));
}

void ga_changes_release(struct ga_changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].path);
	free(c->v);
	*c = (struct ga_changes)GA_CHANGES_INIT;
}

struct ga_change *ga_changes_add(struct ga_changes *c, const char *path, const struct ga_entry *old,
				 const struct ga_entry *new)
{
	GA_GROW(c->v, c->n, c->cap);
	c->v[c->n] = (struct ga_change){ .path = ga_strdup(path), .old = *old, .new = *new };
	return &c->v[c->n++];
}

static int compare(const void *a, const void *b)
{
	const struct ga_change *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void ga_changes_sort(struct ga_changes *c)
{
	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), compare);
}

const struct ga_change *ga_changes_find(const struct ga_changes *c, const char *path)
{
	const struct ga_change key = { .path = (char *)(uintptr_t)path };

	return c->n ? bsearch(&key, c->v, c->n, sizeof(*c->v), compare) : NULL;
}

void ga_oidmap_release(struct ga_oidmap *m)
{
	free(m->v);
	*m = (struct ga_oidmap)GA_OIDMAP_INIT;
}

/* The slot of `oid`, or the free one where it belongs: ids are hashes
 * already, so their first bytes spread well. */
static struct ga_oidmap_slot *find(const struct ga_oidmap *m, const struct ga_oid *oid)
{
	size_t i;

	memcpy(&i, oid->id, sizeof(i));
	for (i &= m->cap - 1;; i = (i + 1) & (m->cap - 1))
		if (!m->v[i].value || ga_oid_equal(&m->v[i].oid, oid))
			return &m->v[i];
}

static void grow(struct ga_oidmap *m)
{
	struct ga_oidmap bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : 64 };

	bigger.v = ga_calloc(bigger.cap, sizeof(*bigger.v));
	for (size_t i = 0; i < m->cap; i++)
		if (m->v[i].value)
			*find(&bigger, &m->v[i].oid) = m->v[i];
	free(m->v);
	*m = bigger;
}

bool ga_oidmap_add(struct ga_oidmap *m, const struct ga_oid *oid, size_t value)
{
	struct ga_oidmap_slot *slot;

	if (m->n >= m->cap / 2)
		grow(m);
	slot = find(m, oid);
	if (slot->value)
		return false;
	*slot = (struct ga_oidmap_slot){ *oid, value + 1 };
	m->n++;
	return true;
}

bool ga_oidmap_get(const struct ga_oidmap *m, const struct ga_oid *oid, size_t *ret)
{
	const struct ga_oidmap_slot *slot = m->cap ? find(m, oid) : NULL;

	if (!slot || !slot->value)
		return false;
	if (ret)
		*ret = slot->value - 1;
	return true;
}
