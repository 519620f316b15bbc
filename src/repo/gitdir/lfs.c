/* SPDX-License-Identifier: MIT */
#include "ga/repo/lfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/sys/fd.h"

#define CHUNK ((size_t)1 << 17)

/* git-lfs looks for its name, or one that it had before, before it parses; and no pointer is
 * without an oid. */
bool ga_lfs_is_pointer(const char *text, size_t n)
{
	static const char *const names[] = { "git-lfs", "git-media", "hawser" };
	static const char oid[] = "oid sha256:";

	if (n > GA_LFS_POINTER_MAX)
		n = GA_LFS_POINTER_MAX;
	if (!memmem(text, n, oid, sizeof(oid) - 1))
		return false;
	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (memmem(text, n, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_version(const char *value)
{
	static const char *const known[] = { "https://git-lfs.github.com/spec/v1",
					     "https://hawser.github.com/spec/v1",
					     "http://git-media.io/v/2" };

	for (size_t i = 0; i < GA_NELEMS(known); i++)
		if (!strcmp(value, known[i]))
			return true;
	return false;
}

static bool parse_oid(const char *value, struct ga_lfs_pointer *p)
{
	static const char kind[] = "sha256:";

	if (*p->oid || strncmp(value, kind, sizeof(kind) - 1) != 0)
		return false;
	value += sizeof(kind) - 1;
	if (strlen(value) != GA_SHA256_HEXSZ ||
	    strspn(value, "0123456789abcdef") != GA_SHA256_HEXSZ)
		return false;
	memcpy(p->oid, value, GA_SHA256_HEXSZ + 1);
	return true;
}

/* Parse "key value", any line but the first. Keys other than these two belong to extensions. */
static bool parse_line(const char *line, struct ga_lfs_pointer *p, bool *sized)
{
	if (!strncmp(line, "oid ", 4))
		return parse_oid(line + 4, p);
	if (strncmp(line, "size ", 5) != 0)
		return strchr(line, ' ') != NULL;
	if (*sized)
		return false;
	*sized = true;
	return ga_parse_u64(line + 5, INT64_MAX, &p->size);
}

bool ga_lfs_parse(const char *text, size_t n, struct ga_lfs_pointer *ret)
{
	static const char first[] = "version ";
	cleanup_free char *copy = NULL;
	struct ga_lfs_pointer p = { .size = 0 };
	bool begun = false, sized = false;
	char *rest, *line;

	if (n > GA_LFS_POINTER_MAX || memchr(text, '\0', n))
		return false;
	copy = rest = ga_strndup(text, n);
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		if (begun && !parse_line(line, &p, &sized))
			return false;
		if (!begun && (strncmp(line, first, sizeof(first) - 1) != 0 ||
			       !is_version(line + sizeof(first) - 1)))
			return false;
		begun = true;
	}
	if (!*p.oid || !sized)
		return false;
	*ret = p;
	return true;
}

char *ga_lfs_store(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	const char *set = ga_gitconfig_get(c, "lfs.storage");

	if (set && *set == '/')
		return ga_strdup(set);
	return ga_path_join(ga_repo_info(r)->commondir, set && *set ? set : "lfs");
}

char *ga_lfs_object(const char *oid)
{
	return ga_strf("objects/%.2s/%.2s/%s", oid, oid + 2, oid);
}

enum ga_lfs_have ga_lfs_find(const char *store, const struct ga_lfs_pointer *p)
{
	cleanup_free char *object = ga_lfs_object(p->oid), *path = ga_path_join(store, object);
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT || errno == ENOTDIR ? GA_LFS_ABSENT : GA_LFS_ODD;
	return S_ISREG(st.st_mode) && (uint64_t)st.st_size == p->size ? GA_LFS_HERE : GA_LFS_ODD;
}

/* Read some bytes. -1 is an I/O error, which callers treat as a missing file. */
static ssize_t read_some(int fd, unsigned char *chunk, size_t n)
{
	return TEMP_FAILURE_RETRY(read(fd, chunk, n));
}

/* Does the file have the size and SHA-256 that the pointer names? */
static bool has_checksum(int fd, const struct ga_lfs_pointer *p)
{
	cleanup_free unsigned char *chunk = ga_malloc(CHUNK);
	char hex[GA_SHA256_HEXSZ + 1];
	uint64_t left = p->size;
	struct ga_sha sum;
	ssize_t n;

	ga_sha256_init(&sum);
	/* one byte more than its size, to notice a longer file */
	while ((n = read_some(fd, chunk, left < CHUNK ? (size_t)left + 1 : CHUNK)) > 0) {
		if ((uint64_t)n > left)
			return false;
		ga_sha_add(&sum, chunk, (size_t)n);
		left -= (uint64_t)n;
	}
	ga_sha256_end_hex(&sum, hex);
	return !n && !left && !strcmp(hex, p->oid);
}

static bool was_written(const struct stat *a, const struct stat *b)
{
	return a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
	       a->st_mtim.tv_nsec != b->st_mtim.tv_nsec ||
	       a->st_ctim.tv_sec != b->st_ctim.tv_sec || a->st_ctim.tv_nsec != b->st_ctim.tv_nsec;
}

/* Returns 1 if the file is not what it was when its checksum was computed. */
static int copy(int from, int to, const struct stat *summed, struct ga_error *err)
{
	cleanup_free unsigned char *chunk = ga_malloc(CHUNK);
	uint64_t left = (uint64_t)summed->st_size;
	struct stat now;
	ssize_t n;

	if (lseek(from, 0, SEEK_SET))
		return 1;
	while ((n = read_some(from, chunk, CHUNK)) > 0) {
		if ((uint64_t)n > left)
			return 1;
		left -= (uint64_t)n;
		if (ga_write_full(to, chunk, (size_t)n))
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot write an LFS object");
	}
	return n || left || fstat(from, &now) || was_written(summed, &now);
}

/* Create the directories of the object. Those that must be synced for it to be found after a crash
 * are added to `dirs`. */
static int make_dirs(const char *store, const char *object, struct ga_strv *dirs,
		     struct ga_error *err)
{
	cleanup_free char *below = ga_path_parent(object), *dir = ga_path_join(store, below);
	cleanup_free char *tmp = ga_path_join(store, "tmp");

	if (ga_mkdir_p(dir, 0777, err) || ga_mkdir_p(tmp, 0777, err))
		return -1;
	ga_strv_push(dirs, dir);
	for (unsigned i = 0; i < 4; i++) { /* "xx", "objects", the store and its parent */
		char *up = ga_path_parent(dirs->v[dirs->n - 1]);

		ga_strv_take(dirs, up);
	}
	return 0;
}

/* Rename it into place, but never replace an existing file, which is the user's. */
static int put(const char *store, const char *object, const char *tmp, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(store, object);

	if (!linkat(AT_FDCWD, tmp, AT_FDCWD, path, 0) || errno == EEXIST)
		return 0;
	return ga_fail_path(err, errno, "make", path);
}

int ga_lfs_add(const char *store, const struct ga_lfs_pointer *p, int fd, struct ga_strv *dirs,
	       struct ga_error *err)
{
	cleanup_free char *object = ga_lfs_object(p->oid);
	/* git-lfs removes files with such names that were left behind, after an hour */
	cleanup_free char *tmp = ga_strf("%s/tmp/%s-XXXXXX", store, p->oid);
	cleanup_close int to = -1;
	mode_t mask = umask(0);
	struct stat st;
	int rc;

	(void)umask(mask);
	/* checked before a byte is written: the agent chooses the size */
	if (fstat(fd, &st) || !has_checksum(fd, p))
		return 1;
	if (make_dirs(store, object, dirs, err))
		return -1;
	to = mkostemp(tmp, O_CLOEXEC);
	if (to < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a file in '%s/tmp'",
				     store);
	rc = copy(fd, to, &st, err);
	if (!rc && (fchmod(to, 0666 & ~mask) || fsync(to)))
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot write an LFS object");
	if (!rc)
		rc = put(store, object, tmp, err);
	(void)unlink(tmp);
	return rc;
}
