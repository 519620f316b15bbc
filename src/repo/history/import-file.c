/* SPDX-License-Identifier: MIT
 *
 * Check single files that git itself reads from trees: .gitmodules and .gitattributes.
 */
#include <string.h>

#include <git2/sys/path.h>

#include "ga/base/out.h"
#include "ga/base/path.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"
#include "repo/objects-internal.h"

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
static bool is_spelling_of(const char *name, const char *plain, git_path_gitfile which)
{
	size_t n = strlen(name);

	if (!(name[0] & 0x80) && !strchr(".gG", name[0]))
		return false;
	return ga_path_component_folds_to(name, n, plain) ||
	       git_path_is_gitfile(name, n, which, GIT_PATH_FS_GENERIC) > 0;
}

bool ga_name_means_gitmodules(const char *name)
{
	return is_spelling_of(name, ".gitmodules", GIT_PATH_GITFILE_GITMODULES);
}

bool ga_name_means_gitattributes(const char *name)
{
	return is_spelling_of(name, ".gitattributes", GIT_PATH_GITFILE_GITATTRIBUTES);
}

bool ga_import_needs_check(const char *name, const char *data, size_t n)
{
	return ga_name_means_gitmodules(name) ||
	       (ga_name_means_gitattributes(name) && (n >= LONG_FILE || has_long_line(data, n)));
}

int ga_import_probe(const struct ga_repo *r, uint64_t bytes, struct ga_error *err)
{
	return ga_probe_write(r->objects, (size_t)(bytes < PROBE_MAX ? bytes : PROBE_MAX), err);
}

static int ask_git(struct ga_repo *r, const struct ga_buf *pack, char **ret_reason,
		   struct ga_error *err)
{
	/* generous: the pack is ours, and holds two objects */
	static const struct ga_import_limits l = {
		.max_pack_bytes = 1 << 30,
		.max_object_bytes = 1 << 30,
		.max_total_bytes = 1 << 30,
		.max_objects = 2,
		.timeout_ms = PATIENCE_MS,
	};
	cleanup_close int fd = ga_memfd("git-agent-file", pack->ptr, pack->len, err);
	struct ga_import *im = NULL;
	int rc;

	if (fd < 0 || ga_import_begin(r, &l, GA_PROGRESS_NEVER, &im, err))
		return -1;
	rc = ga_import_pack(im, fd, ret_reason, err);
	ga_import_free(im);
	return rc;
}

int ga_import_check_file(struct ga_repo *r, const char *name, const char *data, size_t n,
			 char **ret_reason, struct ga_error *err)
{
	/* under its plain name: which other spellings are recognised differs between versions of
	 * git */
	const char *plain = ga_name_means_gitmodules(name) ? ".gitmodules" : ".gitattributes";
	cleanup_buf struct ga_buf pack = GA_BUF_INIT, index = GA_BUF_INIT, tree = GA_BUF_INIT;
	cleanup_free char *stem = NULL, *first = NULL;
	struct ga_packed v[] = {
		{ .type = GIT_OBJECT_BLOB, .data = (void *)(uintptr_t)data, .n = n },
		{ .type = GIT_OBJECT_TREE }
	};
	int rc;

	if (ga_blob_id_of(data, n, &v[0].oid, err))
		return -1;
	ga_buf_addf(&tree, "100644 %s", plain);
	ga_buf_addch(&tree, '\0');
	ga_buf_add(&tree, v[0].oid.id, GA_OID_RAWSZ);
	v[1].data = tree.ptr;
	v[1].n = tree.len;
	stem = ga_pack_bytes(v, 2, &pack, &index);
	rc = ask_git(r, &pack, &first, err);
	if (rc != 1)
		return rc;
	/* a failing disk must not count against the file: git must object to it twice */
	if (ga_import_probe(r, pack.len, err))
		return -1;
	rc = ask_git(r, &pack, ret_reason, err);
	if (rc == 1 && strcmp(first, *ret_reason) != 0)
		return ga_fail(err, GA_EFATAL, "cannot have a file judged: %s", *ret_reason);
	return rc;
}
