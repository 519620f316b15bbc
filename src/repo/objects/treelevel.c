/* SPDX-License-Identifier: MIT */
#include "ga/repo/treelevel.h"

#include <stdlib.h>
#include <string.h>

#include "repo/objects-internal.h"

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
