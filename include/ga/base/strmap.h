/* SPDX-License-Identifier: MIT
 *
 * A map from strings to numbers, with several numbers per string. Keys are borrowed: they must
 * outlive the map. The hash is seeded, so that keys cannot be chosen to collide.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ga_strmap {
	struct ga_strmap_slot {
		const char *key;
		size_t len;
		uint64_t hash;
		int32_t first, last; /* indices of the key's nodes */
	} *slots;
	size_t n, n_slots;
	struct ga_strmap_node {
		uint32_t value;
		int32_t next; /* -1: the last */
	} *nodes;
	size_t n_nodes, cap_nodes;
	uint64_t seed;
};
#define GA_STRMAP_INIT { .slots = NULL }

void ga_strmap_release(struct ga_strmap *m);
#define cleanup_strmap cleanup_(ga_strmap_release)
/* Add a value to those of a key of `len` bytes. */
void ga_strmap_add(struct ga_strmap *m, const char *key, size_t len, uint32_t value);
/* The index of the key's first node, -1 if it has none. Its nodes follow in the order in which they
 * were added. */
int32_t ga_strmap_first(const struct ga_strmap *m, const char *key, size_t len);
