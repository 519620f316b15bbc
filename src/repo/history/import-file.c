/* SPDX-License-Identifier: MIT
 *
 * Files that git itself reads from trees, and whose content `git fsck` therefore checks. The
 * installed git is asked, by a pack of the one file and a tree that names it, so that what this git
 * refuses is refused, and nothing else.
 */
#include "repo/objects-internal.h"

#include <string.h>

#define ZLIB_CONST
#include <git2/sys/path.h>
#include <zlib.h>

#include "ga/base/path.h"
#include "ga/base/sha.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"

#define PATIENCE_MS 60000
/* In .gitattributes git refuses lines of 2048 bytes, and 100 MiB in all. A file that is far from
 * these limits is not worth a process. */
#define LONG_LINE 1024
#define LONG_FILE ((size_t)1 << 20)
#define PROBE_MAX ((uint64_t)64 << 20) /* bytes written at most to see whether any can be */

static bool has_long_line(const char *p, size_t n)
{
	const char *end = p + n;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if ((nl ? nl : end) - p >= LONG_LINE)
			return true;
		p = nl ? nl + 1 : end;
	}
	return false;
}

/* Does `name` mean `plain` on some file system? libgit2 knows the short names that NTFS may make of
 * it. Nearly all names are dismissed by their first byte; characters that HFS+ ignores are never
 * ASCII. */
static bool means(const char *name, const char *plain, git_path_gitfile which)
{
	size_t n = strlen(name);

	if (!(name[0] & 0x80) && !strchr(".gG", name[0]))
		return false;
	return ga_path_component_folds_to(name, n, plain) ||
	       git_path_is_gitfile(name, n, which, GIT_PATH_FS_GENERIC) > 0;
}

bool ga_name_means_gitmodules(const char *name)
{
	return means(name, ".gitmodules", GIT_PATH_GITFILE_GITMODULES);
}

bool ga_name_means_gitattributes(const char *name)
{
	return means(name, ".gitattributes", GIT_PATH_GITFILE_GITATTRIBUTES);
}

bool ga_import_minds_file(const char *name, const char *data, size_t n)
{
	return ga_name_means_gitmodules(name) ||
	       (ga_name_means_gitattributes(name) && (n >= LONG_FILE || has_long_line(data, n)));
}

static void put_object(struct ga_buf *pack, git_object_t type, const void *data, size_t n)
{
	unsigned char c = (unsigned char)((unsigned)type << 4 | (n & 15));
	uLongf len = compressBound(n);
	size_t size = n >> 4;

	for (; size; size >>= 7) {
		ga_buf_addch(pack, (char)(c | 0x80));
		c = size & 0x7f;
	}
	ga_buf_addch(pack, (char)c);
	if (compress2((Bytef *)ga_buf_reserve(pack, len), &len, data, n, Z_BEST_SPEED) != Z_OK)
		GA_BUG("compress2");
	pack->len += len;
	pack->ptr[pack->len] = '\0';
}

static int make_pack(const char *name, const char *data, size_t n, struct ga_buf *pack,
		     struct ga_error *err)
{
	static const char head[] = { 'P', 'A', 'C', 'K', 0, 0, 0, 2, 0, 0, 0, 2 };
	cleanup_buf struct ga_buf tree = GA_BUF_INIT;
	unsigned char sum[GA_SHA1_RAWSZ];
	struct ga_sha s;
	struct ga_oid oid;

	if (ga_blob_id_of(data, n, &oid, err))
		return -1;
	ga_buf_addf(&tree, "100644 %s", name);
	ga_buf_addch(&tree, '\0');
	ga_buf_add(&tree, oid.id, GA_OID_RAWSZ);
	ga_buf_add(pack, head, sizeof(head));
	put_object(pack, GIT_OBJECT_BLOB, data, n);
	put_object(pack, GIT_OBJECT_TREE, tree.ptr, tree.len);
	ga_sha1_init(&s);
	ga_sha_add(&s, pack->ptr, pack->len);
	ga_sha_end(&s, sum);
	ga_buf_add(pack, sum, sizeof(sum));
	return 0;
}

static int ask(struct ga_repo *r, const struct ga_buf *pack, char **ret_reason,
	       struct ga_error *err)
{
	/* generous: the pack is ours, and holds two objects */
	static const struct ga_import_limits l = {
		.max_pack_bytes = 1 << 30, .max_object_bytes = 1 << 30, .max_total_bytes = 1 << 30,
		.max_objects = 2, .timeout_ms = PATIENCE_MS,
	};
	cleanup_close int fd = ga_memfd("git-agent-file", pack->ptr, pack->len, err);
	struct ga_import *im = NULL;
	int rc;

	if (fd < 0 || ga_import_begin(r, &l, &im, err))
		return -1;
	rc = ga_import_pack(im, fd, ret_reason, err);
	ga_import_free(im);
	return rc;
}

int ga_import_probe(const struct ga_repo *r, uint64_t bytes, struct ga_error *err)
{
	return ga_probe_write(r->objects, (size_t)(bytes < PROBE_MAX ? bytes : PROBE_MAX), err);
}

int ga_import_judge_file(struct ga_repo *r, const char *name, const char *data, size_t n,
			 char **ret_reason, struct ga_error *err)
{
	/* under its plain name: which other spellings are recognised differs between versions of
	 * git */
	const char *plain = ga_name_means_gitmodules(name) ? ".gitmodules" : ".gitattributes";
	cleanup_buf struct ga_buf pack = GA_BUF_INIT;
	cleanup_free char *first = NULL;
	int rc;

	if (make_pack(plain, data, n, &pack, err))
		return -1;
	rc = ask(r, &pack, &first, err);
	if (rc != 1)
		return rc;
	/* a failing disk must not count against the file: git's objection must be the same twice */
	if (ga_import_probe(r, pack.len, err))
		return -1;
	rc = ask(r, &pack, ret_reason, err);
	if (rc == 1 && strcmp(first, *ret_reason) != 0)
		return ga_fail(err, GA_EFATAL, "cannot have a file judged: %s", *ret_reason);
	return rc;
}
