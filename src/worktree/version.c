/* SPDX-License-Identifier: MIT
 *
 * Versions of a file of the working tree: from an object, as an object, and three of them merged.
 */

#include "ga/repo/objects.h"
#include "ga/worktree/work.h"

int ga_work_from_entry(struct ga_repo *r, const struct ga_gitconfig *c, const char *path,
		       const struct ga_entry *e, bool converted, struct ga_work_file *ret,
		       struct ga_error *err)
{
	int rc;

	if (!e->mode)
		return 0;
	if (e->mode != GA_MODE_LINK && converted)
		rc = ga_work_checked_out(r, c, path, &e->oid, &ret->bytes, err);
	else
		rc = ga_blob_read(r, &e->oid, GA_WORK_FILE_MAX, &ret->bytes, err);
	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_ELOSE, "a file is too large");
	ret->look.mode = ga_work_mode(e->mode);
	return ga_blob_id_of(ret->bytes.ptr, ret->bytes.len, &ret->look.oid, err);
}

int ga_work_store(struct ga_repo *r, const struct ga_work_file *f, struct ga_entry *ret,
		  struct ga_error *err)
{
	ret->mode = !f->look.mode ? GA_MODE_NONE
		    : S_ISLNK(f->look.mode) ? GA_MODE_LINK
		    : f->look.mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
	return ret->mode ? ga_blob_write(r, f->bytes.ptr, f->bytes.len, &ret->oid, err) : 0;
}

/* The permissions of the file that is replaced, but for whether it may be executed: by those who
 * may read it. */
static void keep_permissions(struct ga_work_file *f, const struct ga_work_file *now)
{
	mode_t m = now->look.mode & 0777;

	if (S_ISREG(f->look.mode) && S_ISREG(now->look.mode))
		f->look.mode = S_IFREG | (f->look.mode & S_IXUSR ? m | ((m & 0444) >> 2)
								 : m & ~(mode_t)0111);
}

int ga_work_merge(struct ga_repo *r, const struct ga_work_file *now,
		  const struct ga_work_file *base, const struct ga_work_file *theirs,
		  struct ga_work_file *ret, struct ga_error *err)
{
	struct ga_entry n = { 0 }, b = { 0 }, t = { 0 }, made;
	int rc = ga_work_store(r, now, &n, err) || ga_work_store(r, base, &b, err) ||
		 ga_work_store(r, theirs, &t, err)
			 ? -1 : ga_merge_entry(r, &b, &n, &t, &made, err);

	if (rc || !made.mode)
		return rc;
	ret->look.mode = ga_work_mode(made.mode);
	ret->look.oid = made.oid;
	keep_permissions(ret, now);
	return ga_blob_read(r, &made.oid, GA_WORK_FILE_MAX, &ret->bytes, err);
}
