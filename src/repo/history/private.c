/* SPDX-License-Identifier: MIT
 *
 * Read and write the private object directory of a session, whose objects no ref of the repository
 * reaches and no other session reads.
 */
#include "repo/objects-internal.h"

#include <errno.h>
#include <unistd.h>

#include <git2/sys/repository.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"

static int fail_open(const char *objects, struct ga_error *err)
{
	return ga_fail_git(err, "cannot open the objects in '%s'", objects);
}

static void set_odb(struct ga_repo *r, git_odb *odb, git_odb *own)
{
	if (r->own != r->odb)
		git_odb_free(r->own);
	git_odb_free(r->odb);
	ga_batch_free(r->batch); /* after the object database, whose backend it was */
	r->batch = NULL;
	r->odb = odb;
	r->own = own;
}

int ga_repo_use_private(struct ga_repo *r, const char *objects, struct ga_error *err)
{
	cleanup_free char *packs = ga_path_join(objects, "pack");
	cleanup_free char *common = ga_path_join(r->info.commondir, "objects");
	git_odb *odb = NULL, *own = NULL;

	if (r->private)
		return 0;
	if (r->quarantine)
		GA_BUG("an import under way");
	if (ga_mkdir_p(packs, 0700, err))
		return -1;
	if (git_odb_open(&own, objects) || git_odb_open(&odb, objects) ||
	    git_odb_add_disk_alternate(odb, common) || git_repository_set_odb(r->repo, odb)) {
		(void)fail_open(objects, err);
		git_odb_free(odb);
		git_odb_free(own);
		return -1;
	}
	set_odb(r, odb, own);
	free(r->objects);
	r->objects = ga_strdup(objects);
	r->private = true;
	return 0;
}

int ga_repo_open_private(const struct ga_repo *r, const char *objects, struct ga_repo **ret,
			 struct ga_error *err)
{
	cleanup_repo struct ga_repo *p = NULL;

	if (ga_repo_open_as_is(r->info.workdir, &p, err))
		return -1;
	p->info.id = r->info.id ? ga_strdup(r->info.id) : NULL;
	if (ga_repo_use_private(p, objects, err))
		return -1;
	*ret = ga_steal(&p);
	return 0;
}

/* What only the directory has must still be written to the repository. And if it is removed while
 * it is read, libgit2 no longer finds new objects. */
static int read_also(struct ga_repo *r, const char *objects, struct ga_error *err)
{
	bool gone = access(objects, F_OK) && errno == ENOENT;
	git_odb *odb = NULL, *own = NULL;

	if (git_odb_open(&own, r->objects) || git_odb_open(&odb, r->objects) ||
	    (!gone && git_odb_add_disk_alternate(odb, objects)) ||
	    git_repository_set_odb(r->repo, odb)) {
		(void)fail_open(objects, err);
		git_odb_free(odb);
		git_odb_free(own);
		return -1;
	}
	set_odb(r, odb, own);
	free(r->reads);
	r->reads = gone ? NULL : ga_strdup(objects);
	return 0;
}

int ga_repo_read_private(struct ga_repo *r, const char *objects, struct ga_error *err)
{
	bool gone = access(objects, F_OK) && errno == ENOENT;

	return r->private || (gone && !r->reads) ? 0 : read_also(r, objects, err);
}

int ga_repo_leave_private(struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *objects = NULL;

	if (!r->private)
		return 0;
	objects = r->objects;
	r->objects = ga_path_join(r->info.commondir, "objects");
	r->private = false;
	return read_also(r, objects, err);
}

static int adopt_object(struct ga_repo *r, const struct ga_oid *oid, git_object_t type,
			struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;
	git_oid id = ga_to_git_oid(oid), same;

	if (git_odb_exists(r->own, &id))
		return 0;
	if (ga_odb_read(r, oid, type, &obj, err))
		return -1;
	if (git_odb_write(&same, r->own, git_odb_object_data(obj), git_odb_object_size(obj), type))
		return ga_fail_git(err, "cannot copy object %s", GA_HEX(oid));
	return 0;
}

static int adopt_tree(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		      unsigned depth, struct ga_error *err);

static int adopt_item(struct ga_repo *r, const struct ga_oid *old, const struct ga_tree_item *it,
		      unsigned depth, struct ga_error *err)
{
	struct ga_entry was = { 0 };
	bool below;

	if (ga_canonical_mode(it->mode) == GA_MODE_GITLINK)
		return 0;
	if (old && ga_tree_find(r, old, it->name, it->len, &was, err))
		return -1;
	if (was.mode && ga_oid_equal(&was.oid, &it->oid))
		return 0;
	if (!ga_item_is_tree(it))
		return adopt_object(r, &it->oid, GIT_OBJECT_BLOB, err);
	below = was.mode == GA_MODE_TREE;
	return adopt_tree(r, below ? &was.oid : NULL, &it->oid, depth + 1, err);
}

static int adopt_tree(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		      unsigned depth, struct ga_error *err)
{
	cleanup_tree_reader struct ga_tree_reader t = GA_TREE_READER_INIT;
	struct ga_tree_item it;
	int rc;

	if (depth > GA_TREE_DEPTH_MAX)
		return ga_fail(err, GA_EFATAL, "directories are nested too deep");
	if (ga_tree_open(r, new, &t, err))
		return -1;
	while ((rc = ga_tree_read(&t, &it, err)) > 0)
		if (adopt_item(r, old, &it, depth, err))
			return -1;
	return rc ? -1 : adopt_object(r, new, GIT_OBJECT_TREE, err);
}

int ga_private_adopt(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		     struct ga_error *err)
{
	return r->private ? adopt_tree(r, old, new, 0, err) : 0;
}

int ga_private_publish(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
		       const struct ga_oid *hide, size_t n_hide, struct ga_strv *keeps,
		       struct ga_error *err)
{
	static const char *const config[] = { "core.fsync=pack,pack-metadata", NULL };
	cleanup_free char *common = ga_path_join(r->info.commondir, "objects"), *stem = NULL;
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	struct ga_quarantine *q;
	int rc;
	struct ga_git g = GA_GIT(.config = config);

	if (!r->private || !n_tips)
		return 0;
	if (ga_quarantine_begin_in(common, &q, err))
		return -1;
	ga_rev_input(tips, n_tips, hide, n_hide, &in);
	stem = ga_path_join(q->packs, "pack");
	/* git renames what it wrote there, and the private one may be on another file system */
	g.object_dir = q->path;
	g.args = (const char *const[]){ "pack-objects", "--revs", "-q", "--non-empty",
					"--window=0", "--no-use-bitmap-index", stem,
					ga_repo_is_partial(r) ? "--exclude-promisor-objects" : NULL,
					NULL };
	g.in = in.ptr;
	g.in_len = in.len;
	rc = ga_git_ok(r, &g, err) || ga_quarantine_move(q, keeps, err) ? -1 : 0;
	ga_quarantine_free(q);
	return rc;
}
