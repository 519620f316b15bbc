/* SPDX-License-Identifier: MIT
 *
 * Reading trees from their bytes: libgit2's own parser refuses some that old repositories have, and
 * building its objects takes longer than walking the bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/repo/objects.h"
#include "repo/objects-internal.h"

int ga_tree_next(const char **p, const char *end, struct ga_tree_item *ret)
{
	const char *s = *p, *nul;
	uint32_t mode = 0;

	if (s == end)
		return 0;
	for (; s < end && *s != ' '; s++) {
		if (*s < '0' || *s > '7' || mode > 0177777)
			return -1;
		mode = mode << 3 | (uint32_t)(*s - '0');
	}
	if (s == end)
		return -1;
	s++;
	nul = memchr(s, '\0', (size_t)(end - s));
	if (!nul || nul == s || end - nul <= GA_OID_RAWSZ)
		return -1;
	ret->name = s;
	ret->len = (size_t)(nul - s);
	ret->mode = mode;
	memcpy(ret->oid.id, nul + 1, GA_OID_RAWSZ);
	*p = nul + 1 + GA_OID_RAWSZ;
	return 1;
}

uint32_t ga_canonical_mode(uint32_t mode)
{
	switch (mode & 0170000) {
	case 0100000:
		return mode & 0100 ? GA_MODE_EXEC : GA_MODE_FILE;
	case GA_MODE_LINK:
		return GA_MODE_LINK;
	case GA_MODE_TREE:
		return GA_MODE_TREE;
	default:
		return GA_MODE_GITLINK;
	}
}

void ga_tree_reader_release(struct ga_tree_reader *t)
{
	git_odb_object_free(t->obj);
	*t = (struct ga_tree_reader)GA_TREE_READER_INIT;
}

int ga_tree_open(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_reader *ret,
		 struct ga_error *err)
{
	const struct ga_packed *o = oid ? ga_batch_find(r, oid) : NULL;
	struct ga_tree_reader t = GA_TREE_READER_INIT;

	if (o && o->type == GIT_OBJECT_TREE) {
		t.p = o->data;
		t.end = t.p + o->n;
		t.oid = *oid;
	} else if (oid) {
		if (ga_odb_read(r, oid, GIT_OBJECT_TREE, &t.obj, err))
			return -1;
		t.p = git_odb_object_data(t.obj);
		t.end = t.p + git_odb_object_size(t.obj);
		t.oid = *oid;
	}
	*ret = t;
	return 0;
}

int ga_tree_read(struct ga_tree_reader *t, struct ga_tree_item *ret, struct ga_error *err)
{
	int rc = ga_tree_next(&t->p, t->end, ret);

	if (rc < 0)
		return ga_fail(err, GA_EFATAL, "tree %s is malformed", GA_HEX(&t->oid));
	return rc;
}

void ga_tree_level_release(struct ga_tree_level *l)
{
	free(l->v);
	free(l->names);
	*l = (struct ga_tree_level)GA_TREE_LEVEL_INIT;
}

static int parse(const char *data, size_t n, struct ga_tree_level *ret)
{
	struct ga_tree_item it;
	const char *p;
	size_t cap = 0;
	int rc;

	/* the object is copied once as a whole, and names point into the copy */
	ret->names = ga_memdup(data, n);
	p = ret->names;
	while ((rc = ga_tree_next(&p, ret->names + n, &it)) > 0) {
		GA_GROW(ret->v, ret->n, cap);
		ret->v[ret->n++] = (struct ga_level_entry){
			it.name, { ga_canonical_mode(it.mode), it.oid }
		};
	}
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const struct ga_level_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool is_sorted(const struct ga_tree_level *l)
{
	for (size_t i = 1; i < l->n; i++)
		if (strcmp(l->v[i - 1].name, l->v[i].name) > 0)
			return false;
	return true;
}

int ga_tree_level_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_level *ret,
		       struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;

	*ret = (struct ga_tree_level)GA_TREE_LEVEL_INIT;
	if (!oid)
		return 0;
	if (ga_odb_read(r, oid, GIT_OBJECT_TREE, &obj, err))
		return -1;
	if (parse(git_odb_object_data(obj), git_odb_object_size(obj), ret)) {
		ga_tree_level_release(ret);
		return ga_fail(err, GA_EFATAL, "tree %s is malformed", GA_HEX(oid));
	}
	/* git's order differs only where the name of a directory begins another name */
	if (!is_sorted(ret))
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

struct ga_entry ga_tree_level_find(const struct ga_tree_level *l, const char *name)
{
	struct ga_level_entry key = { .name = name };
	const struct ga_level_entry *e =
		l->n ? bsearch(&key, l->v, l->n, sizeof(*l->v), by_name) : NULL;

	return e ? e->entry : (struct ga_entry){ 0 };
}

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
