/* SPDX-License-Identifier: MIT
 *
 * Compare, replace and remove single files of the working tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "ga/worktree/worktree.h"

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
#define PART ".git-agent-part" /* suffix of a file that is being written */

int ga_work_open(const struct ga_repo *r, struct ga_error *err)
{
	int fd = open(ga_repo_info(r)->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree") : fd;
}

/* Does the error mean that nothing is there? ELOOP: a symlink above it, which is not followed. */
static bool is_missing_error(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

mode_t ga_work_mode(uint32_t mode)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return mode == GA_MODE_LINK ? S_IFLNK | 0777
				    : S_IFREG | ((mode == GA_MODE_EXEC ? 0777 : 0666) & ~mask);
}

void ga_work_file_release(struct ga_work_file *f)
{
	ga_buf_release(&f->bytes);
}

char *ga_work_file_above(int root, const char *path)
{
	for (const char *p = path; (p = strchr(p, '/')); p++) {
		cleanup_free char *at = ga_strndup(path, (size_t)(p - path));
		struct stat st;

		if (fstatat(root, at, &st, AT_SYMLINK_NOFOLLOW))
			return NULL;
		if (!S_ISDIR(st.st_mode))
			return ga_steal(&at);
	}
	return NULL;
}

bool ga_work_is_dir(int root, const char *path)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISDIR(st.st_mode);
}

/* Open what is at the path: 0, with the link's target in `target` if it is one; 1 for anything that
 * is neither file nor link, or cannot be read. `*ret_fd` is -1 but for a file. */
static int open_entry(int root, const char *path, struct ga_work_stat *ret, struct ga_buf *target,
		      int *ret_fd)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;
	ssize_t n;

	*ret = (struct ga_work_stat){ 0 };
	if (fd < 0)
		return !is_missing_error(errno);
	if (fstat(fd, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", ga_buf_reserve(target, PATH_MAX), PATH_MAX);
		if (n < 0 || n == PATH_MAX)
			return 1;
		target->len = (size_t)n;
		target->ptr[n] = '\0';
	} else {
		*ret_fd = S_ISREG(st.st_mode) ? ga_openat_beneath(root, path, READ_FLAGS, 0) : -1;
		if (*ret_fd < 0 || fstat(*ret_fd, &st) || !S_ISREG(st.st_mode))
			return 1;
	}
	ret->mode = st.st_mode & (S_IFMT | 07777);
	return 0;
}

bool ga_work_stat(int root, const char *path, struct ga_work_stat *ret)
{
	cleanup_buf struct ga_buf target = GA_BUF_INIT;
	cleanup_close int fd = -1;

	if (open_entry(root, path, ret, &target, &fd)) {
		*ret = (struct ga_work_stat){ 0 };
		return ga_work_is_dir(root, path);
	}
	return !ret->mode || !(fd < 0 ? ga_blob_id_of(target.ptr, target.len, &ret->oid, GA_IGNORED)
				      : ga_blob_id(fd, &ret->oid, GA_IGNORED));
}

bool ga_work_read(int root, const char *path, size_t max, struct ga_work_file *ret)
{
	cleanup_close int fd = -1;

	return !open_entry(root, path, &ret->look, &ret->bytes, &fd) &&
	       (fd < 0 || !ga_read_fd(fd, max, &ret->bytes, GA_IGNORED)) &&
	       !ga_blob_id_of(ret->bytes.ptr, ret->bytes.len, &ret->look.oid, GA_IGNORED);
}

bool ga_work_stat_equal(const struct ga_work_stat *a, const struct ga_work_stat *b)
{
	if (!a->mode || !b->mode)
		return !a->mode && !b->mode;
	return (a->mode & S_IFMT) == (b->mode & S_IFMT) && ga_oid_equal(&a->oid, &b->oid) &&
	       (S_ISLNK(a->mode) || !((a->mode ^ b->mode) & S_IXUSR));
}

/* Rename it into place. Like git, remove a directory without files that blocks the path. */
static int settle(int dir, const char *name)
{
	if (!renameat(dir, PART, dir, name))
		return 0;
	if (errno != EISDIR || ga_remove_hollow_beneath(dir, name)) {
		errno = EISDIR;
		return -1;
	}
	return renameat(dir, PART, dir, name);
}

static int check_still(int root, const char *path, const struct ga_work_stat *over,
		       struct ga_error *err)
{
	struct ga_work_stat is;

	return ga_work_stat(root, path, &is) && ga_work_stat_equal(&is, over)
		       ? 0
		       : ga_fail(err, GA_ELOSE, "it has changed since");
}

static int write_part(const struct ga_work_file *f, int dir, struct ga_error *err)
{
	if (S_ISLNK(f->look.mode))
		return symlinkat(f->bytes.ptr, dir, PART)
			       ? ga_fail_errno(err, GA_EFATAL, errno, "symlink") : 0;
	if (ga_write_new(dir, PART, f->bytes.ptr, f->bytes.len, 0600, err))
		return -1;
	return fchmodat(dir, PART, f->look.mode & 07777, 0)
		       ? ga_fail_errno(err, GA_EFATAL, errno, "chmod") : 0;
}

int ga_work_put(const struct ga_work_file *f, int root, const char *path,
		const struct ga_work_stat *over, struct ga_error *err)
{
	cleanup_close int dir = ga_open_parent_beneath(root, path, true);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the directory of '%s'",
				     path);
	if (!write_part(f, dir, err) && !ga_fault_stop("land:part", err) &&
	    !check_still(root, path, over, err) && settle(dir, ga_path_base(path)))
		(void)ga_fail_errno(err, errno == EISDIR ? GA_ELOSE : GA_EFATAL, errno, "rename");
	if (!err->msg)
		return 0;
	(void)unlinkat(dir, PART, 0);
	return ga_error_wrap(err, "cannot write '%s'", path);
}

void ga_work_sweep(int root, const char *path)
{
	cleanup_close int dir = ga_open_parent_beneath(root, path, false);

	if (dir >= 0 && !unlinkat(dir, PART, 0))
		ga_remove_empty_above(root, path);
}

int ga_work_remove(int root, const char *path, const struct ga_work_stat *over,
		   struct ga_error *err)
{
	cleanup_close int dir = ga_open_parent_beneath(root, path, false);

	if (dir < 0 && is_missing_error(errno))
		return 0;
	if (check_still(root, path, over, err))
		return ga_error_wrap(err, "cannot remove '%s'", path);
	if (dir < 0 || (unlinkat(dir, ga_path_base(path), 0) && errno != ENOENT))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", path);
	ga_remove_empty_above(root, path);
	return 0;
}
