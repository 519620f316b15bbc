/* SPDX-License-Identifier: MIT
 *
 * Reading trees from their bytes: libgit2's own parser refuses some that old repositories have, and
 * building its objects takes longer than walking the bytes.
 */
#include "repo/objects-internal.h"

#include <string.h>

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
