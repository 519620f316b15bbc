/* SPDX-License-Identifier: MIT */
#include "ga/base/oidmap.h"

#include <string.h>

#include "ga/base/alloc.h"

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
