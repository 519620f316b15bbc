/* SPDX-License-Identifier: MIT
 *
 * Looking up one name in a tree. A large tree that is asked a second time is cached, with the
 * offsets of its entries: reading a directory once for each of its files takes too long.
 */
#include "objects-internal.h"

#include <string.h>

#include "ga/path.h"

#define SLOTS 8
/* Smaller trees are read from their beginning each time. */
#define LARGE ((size_t)4096)
/* Bytes of all cached trees together; a single one may have more. */
#define KEPT_MAX ((size_t)128 << 20)

struct ga_tree_slots {
	struct slot {
		struct ga_oid oid;
		uint64_t used;   /* 0: free */
		char *bytes;     /* NULL: looked up only once so far */
		size_t n_bytes;
		uint32_t *at;    /* offsets of its entries */
		size_t n;
	} v[SLOTS];
	uint64_t now;
};

static void empty_slot(struct slot *s)
{
	free(s->bytes);
	free(s->at);
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
static void take_slot(struct ga_repo *r, const struct ga_oid *oid)
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
	oldest->used = ++r->trees->now;
}

static void bound_slots(struct ga_tree_slots *t, const struct slot *but)
{
	size_t sum = but->n_bytes;

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &t->v[i];

		if (s == but)
			continue;
		sum += s->n_bytes;
		if (sum <= KEPT_MAX)
			continue;
		sum -= s->n_bytes;
		empty_slot(s);
	}
}

static int compare(const struct ga_tree_item *a, const struct ga_tree_item *b)
{
	return ga_path_tree_cmp(a->name, a->len, ga_item_is_tree(a), b->name, b->len,
				ga_item_is_tree(b));
}

/* Cache a tree. False if its entries are not in git's order, or it is malformed or too long; then
 * it has to be read from its beginning. */
static bool fill_slot(struct slot *s, const char *bytes, const char *end)
{
	struct ga_tree_item it, last = { .len = 0 };
	const char *p = bytes, *at = p;
	size_t cap = 0;
	int rc = (size_t)(end - bytes) > UINT32_MAX ? -1 : 1;

	while (rc > 0 && (at = p, rc = ga_tree_next(&p, end, &it)) > 0) {
		if (last.len && compare(&last, &it) >= 0)
			rc = -1;
		GA_GROW(s->at, s->n, cap);
		s->at[s->n++] = (uint32_t)(at - bytes);
		last = it;
	}
	if (!rc) {
		s->n_bytes = (size_t)(end - bytes);
		s->bytes = ga_memdup(bytes, s->n_bytes);
		return true;
	}
	free(s->at);
	s->at = NULL;
	s->n = 0;
	return false;
}

static bool search(const struct slot *s, const char *name, size_t len, uint32_t mode,
		   struct ga_tree_item *ret)
{
	const struct ga_tree_item key = { .name = name, .len = len, .mode = mode };
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const char *p = s->bytes + s->at[mid];
		int c;

		if (ga_tree_next(&p, s->bytes + s->n_bytes, ret) != 1)
			GA_BUG("a tree that was read cannot be read");
		c = compare(&key, ret);
		/* an entry of the other kind may compare equal, but its name has another length */
		if (!c)
			return ret->len == len;
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

static bool search_both(const struct slot *s, const char *name, size_t len,
			struct ga_tree_item *ret)
{
	return search(s, name, len, GA_MODE_FILE, ret) || search(s, name, len, GA_MODE_TREE, ret);
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
	if (!s || !s->bytes) {
		if (ga_tree_open(r, tree, &t, err))
			return -1;
		if (!s && (size_t)(t.end - t.p) >= LARGE)
			take_slot(r, tree);
		if (s && fill_slot(s, t.p, t.end))
			bound_slots(r->trees, s);
	}
	if (s && s->bytes)
		found = search_both(s, name, len, &it);
	else
		while (!found && (rc = ga_tree_read(&t, &it, err)) > 0)
			found = it.len == len && !memcmp(it.name, name, len);
	if (found)
		*ret = (struct ga_entry){ ga_canonical_mode(it.mode), it.oid };
	return rc < 0 ? -1 : 0;
}
