/* SPDX-License-Identifier: MIT
 *
 * The id of a repository: <common git dir>/git-agent/id has 16 hex digits and, on the lines after
 * them, the common git dir that they were made for. A repository that was moved keeps its id; one
 * that was copied gets a new one.
 */
#include "repo/repo-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"

#define ID_LEN 16
#define ID_FILE_MAX ((size_t)64 << 10)

struct id_file {
	char id[ID_LEN + 1];
	char *owner; /* the common git dir it was written for */
};

static void id_file_release(struct id_file *f)
{
	free(f->owner);
	f->owner = NULL;
}

/* Returns 1 if there is none, or it does not look like ours. */
static int read_id(const char *commondir, struct id_file *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(commondir, "git-agent/id");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (ga_read_file_at(AT_FDCWD, path, ID_FILE_MAX, &b, err))
		return -1;
	ga_buf_chomp(&b);
	if (b.len < ID_LEN + 2 || b.ptr[ID_LEN] != '\n' ||
	    strspn(b.ptr, "0123456789abcdef") != ID_LEN)
		return 1;
	memcpy(ret->id, b.ptr, ID_LEN);
	ret->id[ID_LEN] = '\0';
	ret->owner = ga_strdup(b.ptr + ID_LEN + 1);
	return 0;
}

/* Does the directory that the id was written for still exist, with the same id, and is it another
 * one than ours? A bind mount shows one directory at two paths. */
static bool owner_lives(const struct id_file *f, const char *commondir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(id_file_release) struct id_file theirs = { "", NULL };
	struct stat a, b;

	if (!f->owner || stat(f->owner, &a) || stat(commondir, &b))
		return false;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return false;
	return !read_id(f->owner, &theirs, &ignored) && !strcmp(theirs.id, f->id);
}

static int write_id(const char *dir, const char *id, const char *commondir, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, "id");
	cleanup_free char *text = ga_strf("%s\n%s\n", id, commondir);

	return ga_write_atomic(AT_FDCWD, path, text, strlen(text), 0644, err);
}

static int new_id(char id[ID_LEN + 1], struct ga_error *err)
{
	uint64_t rnd;

	if (ga_random(&rnd, sizeof(rnd), err))
		return -1;
	(void)snprintf(id, ID_LEN + 1, "%016" PRIx64, rnd);
	return 0;
}

static bool is_ours(const struct id_file *f, const char *commondir)
{
	return f->owner && !strcmp(f->owner, commondir);
}

/* Make an id, or correct the directory it is for: needed once, and after a move. Under a lock,
 * since two first sessions may start at once. */
static int settle_id(const char *commondir, struct id_file *f, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(commondir, "git-agent");
	cleanup_free char *lock = ga_path_join(dir, "lock");
	cleanup_close int fd = -1;
	int rc;

	if (ga_mkdir_p(dir, 0755, err))
		return -1;
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", lock);
	if (ga_flock(fd, true, true, err) < 0)
		return -1;
	id_file_release(f);
	rc = read_id(commondir, f, err);
	if (rc < 0)
		return -1;
	if (!rc && is_ours(f, commondir))
		return 0;
	if ((rc || owner_lives(f, commondir)) && new_id(f->id, err))
		return -1;
	return write_id(dir, f->id, commondir, err);
}

int ga_repo_load_id(struct ga_repo_info *info, struct ga_error *err)
{
	cleanup_(id_file_release) struct id_file f = { "", NULL };
	int rc = read_id(info->commondir, &f, err);

	if (rc < 0)
		return -1;
	if ((rc || !is_ours(&f, info->commondir)) && settle_id(info->commondir, &f, err))
		return ga_error_wrap(err, "cannot give repository '%s' an id", info->commondir);
	info->id = ga_strdup(f.id);
	return 0;
}
