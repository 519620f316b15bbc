/* SPDX-License-Identifier: MIT */
#include "ga/base/strmap.h"

#include <string.h>
#include <sys/random.h>

#include "ga/base/alloc.h"

enum { FEW = 8 }; /* slots of a map that has no seed yet */

void ga_strmap_release(struct ga_strmap *m)
{
	free(m->slots);
	free(m->nodes);
	*m = (struct ga_strmap)GA_STRMAP_INIT;
}

static uint64_t hash_of(uint64_t seed, const char *key, size_t len)
{
	uint64_t h = seed ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* The slot of a key, or the free one where it belongs. */
static struct ga_strmap_slot *slot_of(const struct ga_strmap *m, const char *key, size_t len,
				      uint64_t hash)
{
	size_t i = hash & (m->n_slots - 1);

	while (m->slots[i].key) {
		struct ga_strmap_slot *s = &m->slots[i];

		if (s->hash == hash && s->len == len && !memcmp(s->key, key, len))
			break;
		i = (i + 1) & (m->n_slots - 1);
	}
	return &m->slots[i];
}

static void grow(struct ga_strmap *m)
{
	struct ga_strmap_slot *old = m->slots;
	size_t n_old = m->n_slots;

	/* Without randomness the map still works, but colliding keys could be chosen. A few of
	 * them do not matter, and most maps have few. */
	if (n_old == FEW && !m->seed && getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) < 0)
		m->seed = (uint64_t)(uintptr_t)m;
	m->n_slots = n_old ? n_old * 2 : FEW;
	m->slots = ga_calloc(m->n_slots, sizeof(*m->slots));
	for (size_t i = 0; i < n_old; i++) {
		struct ga_strmap_slot *s;

		if (!old[i].key)
			continue;
		if (n_old == FEW)
			old[i].hash = hash_of(m->seed, old[i].key, old[i].len);
		s = slot_of(m, old[i].key, old[i].len, old[i].hash);
		*s = old[i];
	}
	free(old);
}

void ga_strmap_add(struct ga_strmap *m, const char *key, size_t len, uint32_t value)
{
	struct ga_strmap_slot *s;
	uint64_t hash;

	if (m->n * 2 >= m->n_slots)
		grow(m);
	hash = hash_of(m->seed, key, len);
	s = slot_of(m, key, len, hash);
	if (!s->key) {
		*s = (struct ga_strmap_slot){ key, len, hash, -1, -1 };
		m->n++;
	}
	GA_GROW(m->nodes, m->n_nodes, m->cap_nodes);
	m->nodes[m->n_nodes] = (struct ga_strmap_node){ value, -1 };
	if (s->last >= 0)
		m->nodes[s->last].next = (int32_t)m->n_nodes;
	else
		s->first = (int32_t)m->n_nodes;
	s->last = (int32_t)m->n_nodes++;
}

int32_t ga_strmap_first(const struct ga_strmap *m, const char *key, size_t len)
{
	const struct ga_strmap_slot *s;

	if (!m->n)
		return -1;
	s = slot_of(m, key, len, hash_of(m->seed, key, len));
	return s->key ? s->first : -1;
}
