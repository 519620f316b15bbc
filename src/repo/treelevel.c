/* SPDX-License-Identifier: MIT */
#include "ga/treelevel.h"

#include <stdlib.h>

#include "repo-internal.h"

void ga_tree_level_release(struct ga_tree_level *l)
{
	free(l->v);
	free(l->names);
	*l = (struct ga_tree_level)GA_TREE_LEVEL_INIT;
}

/* "mode name NUL id": the mode in octal. Old trees hold modes such as 100664,
 * which mean what their executable bit says. */
static const char *parse_mode(const char *p, const char *end, uint32_t *ret)
{
	uint32_t mode = 0;

	for (; p < end && *p >= '0' && *p <= '7' && mode < 0400000; p++)
		mode = mode << 3 | (uint32_t)(*p - '0');
	if (p == end || *p != ' ')
		return NULL;
	switch (mode & 0170000) {
	case 0100000:
		*ret = mode & 0100 ? GA_MODE_EXEC : GA_MODE_FILE;
		return p + 1;
	case GA_MODE_TREE:
	case GA_MODE_LINK:
	case GA_MODE_GITLINK:
		*ret = mode & 0170000;
		return p + 1;
	default:
		return NULL;
	}
}

static int parse(const char *data, size_t n, struct ga_tree_level *ret)
{
	const char *p, *end;
	size_t cap = 0;

	/* the names stay where they are: the object is copied once as a whole */
	ret->names = ga_memdup(data, n ? n : 1);
	p = ret->names;
	end = p + n;
	while (p < end) {
		struct ga_level_entry e = { 0 };
		const char *nul;

		p = parse_mode(p, end, &e.entry.mode);
		nul = p ? memchr(p, '\0', (size_t)(end - p)) : NULL;
		if (!nul || nul == p || end - nul - 1 < GA_OID_RAWSZ)
			return -1;
		e.name = ret->names + (p - ret->names);
		memcpy(e.entry.oid.id, nul + 1, GA_OID_RAWSZ);
		p = nul + 1 + GA_OID_RAWSZ;
		GA_GROW(ret->v, ret->n, cap);
		ret->v[ret->n++] = e;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct ga_level_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int ga_tree_level_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_level *ret,
		       struct ga_error *err)
{
	char hex[GA_OID_HEXSZ + 1];
	git_odb_object *obj = NULL;
	git_oid id;
	int rc;

	*ret = (struct ga_tree_level)GA_TREE_LEVEL_INIT;
	if (!oid)
		return 0;
	id = ga_to_git_oid(oid);
	if (git_odb_read(&obj, r->odb, &id))
		return ga_fail_git(err, "cannot read tree '%s'", ga_oid_hex(oid, hex));
	rc = git_odb_object_type(obj) == GIT_OBJECT_TREE
		     ? parse(git_odb_object_data(obj), git_odb_object_size(obj), ret)
		     : -1;
	git_odb_object_free(obj);
	if (rc) {
		ga_tree_level_release(ret);
		return ga_fail(err, GA_EFATAL, "object '%s' is not a well-formed tree", ga_oid_hex(oid, hex));
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

struct ga_entry ga_tree_level_find(const struct ga_tree_level *l, const char *name)
{
	struct ga_level_entry key = { .name = (char *)(uintptr_t)name };
	const struct ga_level_entry *e =
		l->n ? bsearch(&key, l->v, l->n, sizeof(*l->v), by_name) : NULL;

	return e ? e->entry : (struct ga_entry){ 0 };
}
