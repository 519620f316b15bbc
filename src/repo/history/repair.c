/* SPDX-License-Identifier: MIT
 *
 * Remove broken refs of a session, which are empty or name an unreadable commit: git cannot delete
 * the former, and its gc and fsck fail on both.
 */
#include "ga/repo/history.h"
#include "repo/objects-internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include "ga/base/path.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"

#define MAX_COMMITS 64 /* commits of a history that are read */
#define CHUNK 65536
#define MAX_CORRUPT 1000 /* objects that are removed, one by one */

/* Is the file of a loose object cut short, or no stream of zlib's? libgit2 1.5 never ends when it
 * reads one that is cut short. */
static bool is_cut(const char *path)
{
	cleanup_free unsigned char *out = ga_malloc(CHUNK);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	z_stream z = { 0 };
	int rc = Z_OK;

	if (access(path, R_OK) || ga_read_file_at(AT_FDCWD, path, UINT32_MAX, &b, GA_IGNORED) ||
	    inflateInit(&z) != Z_OK)
		return false;
	z.next_in = (const unsigned char *)b.ptr;
	z.avail_in = (uInt)b.len;
	while (rc == Z_OK) {
		z.next_out = out;
		z.avail_out = CHUNK;
		rc = inflate(&z, Z_NO_FLUSH);
	}
	(void)inflateEnd(&z);
	return rc != Z_STREAM_END;
}

/* Can the object be read? A damaged loose object is removed, or git would keep it when the object
 * is written again. */
static bool is_readable(struct ga_repo *r, const struct ga_oid *oid)
{
	cleanup_free char *path = ga_strf("%s/%.2s/%s", r->objects, GA_HEX(oid), GA_HEX(oid) + 2);
	cleanup_odb_object git_odb_object *obj = NULL;
	git_oid id = ga_to_git_oid(oid);

	if (!is_cut(path) && !git_odb_read(&obj, r->odb, &id))
		return true;
	if (!access(path, R_OK))
		(void)unlink(path);
	return false;
}

bool ga_commit_readable(struct ga_repo *r, const struct ga_oid *commit, const struct ga_oid *base)
{
	struct ga_oid at = *commit;

	for (int i = 0; i < MAX_COMMITS; i++) {
		cleanup_commit struct ga_commit c = { .parents = NULL };

		if (!is_readable(r, &at) || ga_commit_read(r, &at, &c, GA_IGNORED) ||
		    !is_readable(r, &c.tree))
			return false;
		if (ga_oid_equal(&at, base) || !c.n_parents || r->info.shallow)
			break;
		at = c.parents[0];
	}
	return true;
}

/* Remove the file of a ref that cannot be read, and its log, which git reads as well. */
static void remove_broken(struct ga_repo *r, const char *name, struct ga_strv *ret)
{
	cleanup_free char *path = ga_path_join(r->info.commondir, name);
	cleanup_free char *log = ga_strf("%s/logs/%s", r->info.commondir, name);
	cleanup_error struct ga_error broken = GA_ERROR_INIT;
	struct ga_oid oid;

	if (ga_ref_read(r, name, &oid, &broken) >= 0 || unlink(path))
		return;
	(void)unlink(log);
	ga_strv_push(ret, name);
}

static void remove_broken_below(struct ga_repo *r, const char *space, struct ga_strv *ret)
{
	cleanup_free char *path = ga_path_join(r->info.commondir, space);
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		cleanup_free char *name = ga_path_join(space, e->d_name);

		/* a lock is no ref, and a git that is running may hold it */
		if (e->d_name[0] == '.' || ga_ends_in(e->d_name, ".lock"))
			continue;
		if (e->d_type == DT_DIR)
			remove_broken_below(r, name, ret);
		else
			remove_broken(r, name, ret);
	}
}

int ga_refs_repair(struct ga_repo *r, const char *branch, const char *space,
		   const struct ga_oid *base, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *prefix = ga_strf("%s/", space);
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	struct ga_oid oid;

	remove_broken(r, branch, ret);
	remove_broken_below(r, space, ret);
	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++)
		if (!ga_commit_readable(r, &refs.v[i].oid, base))
			ga_ref_updates_add(&u, refs.v[i].name, &refs.v[i].oid, NULL);
	if (!ga_ref_read(r, branch, &oid, err) && !ga_commit_readable(r, &oid, base))
		ga_ref_updates_add(&u, branch, &oid, NULL);
	for (size_t i = 0; i < u.n; i++)
		ga_strv_pushf(ret, "%s %s", GA_HEX(&u.v[i].old), u.v[i].name);
	return ga_refs_update(r, &u, "agent: damaged", err);
}

/* The id in "... loose object ID (stored in ...) is corrupt". */
static bool find_corrupt(const char *said, struct ga_oid *ret)
{
	static const char what[] = "loose object ";
	const char *at = said ? strstr(said, what) : NULL;

	return at && ga_oid_parse(at + sizeof(what) - 1, GA_OID_HEXSZ, ret);
}

/* List all objects; those that are missing come as "?ID". A tree that is damaged ends git: then it
 * is removed, so that it is missing. */
static int list_objects(struct ga_repo *r, const struct ga_buf *in, struct ga_buf *out,
			struct ga_error *err)
{
	static const char *const args[] = { "rev-list", "--objects", "--missing=print", "--stdin",
					    NULL };

	for (int tries = 0;; tries++) {
		cleanup_buf struct ga_buf said = GA_BUF_INIT;
		struct ga_oid oid;
		int status;
		struct ga_git g = GA_GIT(.args = args, .in = in->ptr, .in_len = in->len,
					 .out = out, .errout = &said);

		ga_buf_clear(out);
		if (ga_git_run(r, &g, &status, err))
			return -1;
		if (!status)
			return tries > 0;
		if (tries == MAX_CORRUPT || !find_corrupt(said.ptr, &oid) || is_readable(r, &oid))
			return 1;
	}
}

int ga_refs_check(struct ga_repo *r, const char *branch, const char *space,
		  const struct ga_oid *base, struct ga_error *err)
{
	cleanup_free char *prefix = ga_strf("%s/", space);
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	const bool partial = ga_repo_is_partial(r);
	struct ga_oid oid;
	int damaged;

	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++)
		ga_buf_addf(&in, "%s\n", GA_HEX(&refs.v[i].oid));
	if (!ga_ref_read(r, branch, &oid, err))
		ga_buf_addf(&in, "%s\n", GA_HEX(&oid));
	ga_buf_addf(&in, "^%s\n", GA_HEX(base));
	damaged = list_objects(r, &in, &out, err);
	for (char *p = out.ptr, *next; damaged >= 0 && p && *p; p = next) {
		next = strchr(p, '\n');
		next = next ? next + 1 : NULL;
		/* a partial clone can fetch missing objects */
		if (*p == '?')
			damaged |= !partial;
		else if (ga_oid_parse(p, GA_OID_HEXSZ, &oid) && !is_readable(r, &oid))
			damaged |= !partial;
	}
	return damaged;
}
