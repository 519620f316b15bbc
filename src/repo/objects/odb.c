/* SPDX-License-Identifier: MIT
 *
 * Objects of any type: reading, writing, and whether they are there.
 */
#include "repo/objects-internal.h"

#include <git2/sys/odb_backend.h>

void ga_cleanup_odb_objectp(git_odb_object **o)
{
	git_odb_object_free(*o);
}

/* Was an object missed, and is it worth another look? A `git gc` may just have packed it anew. */
static bool look_again(const struct ga_repo *r, int rc, int *looks)
{
	return rc == GIT_ENOTFOUND && ++*looks < 3 && !ga_odb_refresh(r);
}

int ga_odb_read_header(const struct ga_repo *r, const git_oid *id, size_t *size,
		       git_object_t *type)
{
	int looks = 0, rc;

	do
		rc = git_odb_read_header(size, type, r->odb, id);
	while (look_again(r, rc, &looks));
	return rc;
}

int ga_odb_read(struct ga_repo *r, const struct ga_oid *oid, git_object_t type,
		git_odb_object **ret, struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;
	git_oid id = ga_to_git_oid(oid);
	int looks = 0, rc;

	do
		rc = git_odb_read(&obj, r->odb, &id);
	while (look_again(r, rc, &looks));
	if (rc)
		return ga_fail_git(err, "cannot read object %s", GA_HEX(oid));
	if (git_odb_object_type(obj) != type)
		return ga_fail(err, GA_EFATAL, "object %s is a %s, not a %s", GA_HEX(oid),
			       git_object_type2string(git_odb_object_type(obj)),
			       git_object_type2string(type));
	*ret = ga_steal(&obj);
	return 0;
}

int ga_odb_write(struct ga_repo *r, git_object_t type, const void *data, size_t n,
		 struct ga_oid *ret, struct ga_error *err)
{
	bool later = ga_batch_is_open(r);
	git_oid id;

	if (later ? git_odb_hash(&id, data, n, type) : git_odb_write(&id, r->own, data, n, type))
		return ga_fail_git(err, "cannot write a %s", git_object_type2string(type));
	*ret = ga_from_git_oid(&id);
	if (later && !ga_odb_has(r, &id))
		ga_batch_add(r, type, ret, data, n);
	return 0;
}

/* That the object exists is not enough: a `git gc` running now would remove it if it is old and
 * unreferenced. So its mtime is renewed; where that is not possible (another user's file, a
 * read-only alternate) the object is written again, as git does. */
bool ga_odb_has(const struct ga_repo *r, const git_oid *id)
{
	size_t n = git_odb_num_backends(r->own);
	struct ga_oid oid = ga_from_git_oid(id);

	if (ga_batch_find(r, &oid))
		return true;
	for (size_t i = 0; i < n; i++) {
		git_odb_backend *b = NULL;

		if (!git_odb_get_backend(&b, r->own, i) && b->freshen && !b->freshen(b, id))
			return true;
	}
	return false;
}

bool ga_collided(void)
{
	const git_error *e = git_error_last();

	return e && e->klass == GIT_ERROR_SHA;
}
