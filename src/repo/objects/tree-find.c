/* SPDX-License-Identifier: MIT
 *
 * Looking up one name in a tree. A large tree that is asked a second time is cached: reading a
 * directory once for each of its files takes too long.
 */
#include "repo/objects-internal.h"

#include <string.h>

#include "ga/repo/treelevel.h"

#define SLOTS 8
/* Smaller trees are read from their beginning each time. */
#define LARGE ((size_t)4096)
/* Bytes of all cached trees together; a single one may have more. */
#define KEPT_MAX ((size_t)128 << 20)

struct ga_tree_slots {
	struct slot {
		struct ga_oid oid;
		uint64_t used;   /* 0: free */
		size_t n_bytes;
		struct ga_tree_level level; /* without names: looked up only once so far */
	} v[SLOTS];
	uint64_t now;
};

static void empty_slot(struct slot *s)
{
	ga_tree_level_release(&s->level);
	*s = (struct slot){ .used = 0 };
}

void ga_tree_slots_free(struct ga_tree_slots *t)
{
	for (size_t i = 0; t && i < SLOTS; i++)
		empty_slot(&t->v[i]);
	free(t);
}

static struct slot *find_slot(struct ga_tree_slots *t, const struct ga_oid *oid)
{
	for (size_t i = 0; t && i < SLOTS; i++)
		if (t->v[i].used && ga_oid_equal(&t->v[i].oid, oid)) {
			t->v[i].used = ++t->now;
			return &t->v[i];
		}
	return NULL;
}

/* Note a tree that is asked for the first time. It is not cached yet: there may be no second
 * time. */
static void take_slot(struct ga_repo *r, const struct ga_oid *oid, size_t n_bytes)
{
	struct slot *oldest;

	if (!r->trees)
		r->trees = ga_calloc(1, sizeof(*r->trees));
	oldest = &r->trees->v[0];
	for (size_t i = 1; i < SLOTS; i++)
		if (r->trees->v[i].used < oldest->used)
			oldest = &r->trees->v[i];
	empty_slot(oldest);
	oldest->oid = *oid;
	oldest->n_bytes = n_bytes;
	oldest->used = ++r->trees->now;
}

static void bound_slots(struct ga_tree_slots *t, const struct slot *but)
{
	size_t sum = but->n_bytes;

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &t->v[i];

		if (s == but || !s->level.names)
			continue;
		sum += s->n_bytes;
		if (sum <= KEPT_MAX)
			continue;
		sum -= s->n_bytes;
		empty_slot(s);
	}
}

int ga_tree_find(struct ga_repo *r, const struct ga_oid *tree, const char *name, size_t len,
		 struct ga_entry *ret, struct ga_error *err)
{
	cleanup_tree_reader struct ga_tree_reader t = GA_TREE_READER_INIT;
	struct slot *s = find_slot(r->trees, tree);
	struct ga_tree_item it;
	bool found = false;
	int rc = 0;

	*ret = (struct ga_entry){ 0 };
	if (s) {
		cleanup_free char *key = ga_strndup(name, len);

		if (!s->level.names && ga_tree_level_read(r, tree, &s->level, err))
			return -1;
		bound_slots(r->trees, s);
		*ret = ga_tree_level_find(&s->level, key);
		return 0;
	}
	if (ga_tree_open(r, tree, &t, err))
		return -1;
	if ((size_t)(t.end - t.p) >= LARGE)
		take_slot(r, tree, (size_t)(t.end - t.p));
	while (!found && (rc = ga_tree_read(&t, &it, err)) > 0)
		found = it.len == len && !memcmp(it.name, name, len);
	if (found)
		*ret = (struct ga_entry){ ga_canonical_mode(it.mode), it.oid };
	return rc < 0 ? -1 : 0;
}
