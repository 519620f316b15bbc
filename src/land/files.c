/* SPDX-License-Identifier: MIT
 *
 * Compare, replace and remove single files of the working tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/trace.h"
#include "files.h"

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
#define DEPTH_MAX 128

int land_open_root(const struct ga_repo *r, struct ga_error *err)
{
	int fd = open(ga_repo_info(r)->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree") : fd;
}

/* Does the error mean that nothing is there? ELOOP: a symlink above it, which is not followed. */
static bool is_nowhere(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

int land_open_here(int root, const char *path, struct land_here *ret)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;
	ssize_t n;

	ret->mode = 0;
	ret->fd = -1;
	if (fd < 0)
		return !is_nowhere(errno);
	if (fstat(fd, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", ret->target, sizeof(ret->target));
		if (n < 0)
			return 1;
		ret->size = (uint64_t)n;
	} else if (S_ISREG(st.st_mode)) {
		ret->fd = ga_openat_beneath(root, path, READ_FLAGS, 0);
		if (ret->fd < 0 || fstat(ret->fd, &st) || !S_ISREG(st.st_mode))
			return 1;
		ret->size = (uint64_t)st.st_size;
	} else {
		return 1;
	}
	ret->mode = st.st_mode & (S_IFMT | 07777);
	return 0;
}

void land_here_release(struct land_here *h)
{
	ga_cleanup_closep(&h->fd);
}

char *land_file_above(int root, const char *path)
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

bool land_dir_here(int root, const char *path)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISDIR(st.st_mode);
}

bool land_look_here(int root, const char *path, struct land_look *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };

	*ret = (struct land_look){ 0 };
	if (land_open_here(root, path, &h))
		return land_dir_here(root, path);
	ret->mode = h.mode;
	return !h.mode || !(h.fd < 0 ? ga_blob_id_of(h.target, h.size, &ret->oid, &ignored)
				     : ga_blob_id(h.fd, &ret->oid, &ignored));
}

bool land_look_equal(const struct land_look *a, const struct land_look *b)
{
	if (!a->mode || !b->mode)
		return !a->mode && !b->mode;
	return (a->mode & S_IFMT) == (b->mode & S_IFMT) && ga_oid_equal(&a->oid, &b->oid) &&
	       (S_ISLNK(a->mode) || !((a->mode ^ b->mode) & S_IXUSR));
}

mode_t land_perms(const struct stat *st, bool exec)
{
	mode_t m = st->st_mode & 0777;

	return exec ? m | ((m & 0444) >> 2) : m & ~(mode_t)0111;
}

int land_open_parent(int root, const char *path)
{
	cleanup_close int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	const char *p = path, *slash;

	while (at >= 0 && (slash = strchr(p, '/'))) {
		cleanup_free char *name = ga_strndup(p, (size_t)(slash - p));
		int next;

		if (mkdirat(at, name, 0777) && errno != EEXIST)
			return -1;
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		(void)close(at);
		at = next;
		p = slash + 1;
	}
	return ga_steal_fd(&at);
}

static int copy_link(const char *target, size_t n, int dir, const char *tmp, struct ga_error *err)
{
	cleanup_free char *text = ga_strndup(target, n);

	return symlinkat(text, dir, tmp) ? ga_fail_errno(err, GA_EFATAL, errno, "symlink") : 0;
}

/* Copy the file or link `name` in `from` to `tmp` in `dir`. For a link (by `mode`) the file may
 * hold the target. */
static int copy(int from, const char *name, int dir, const char *tmp, mode_t mode,
		struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_buf struct ga_buf target = GA_BUF_INIT;

	if (land_open_here(from, name, &h) || !h.mode)
		return ga_fail(err, GA_EFATAL, "cannot read the new content");
	if (h.fd < 0)
		return copy_link(h.target, h.size, dir, tmp, err);
	if (S_ISLNK(mode))
		return ga_read_fd(h.fd, PATH_MAX, &target, err) ||
		       copy_link(target.ptr, target.len, dir, tmp, err) ? -1 : 0;
	if (ga_copy_fd_to(h.fd, dir, tmp, err))
		return -1;
	return mode & 07777 && fchmodat(dir, tmp, mode & 07777, 0)
		   ? ga_fail_errno(err, GA_EFATAL, errno, "chmod")
		   : 0;
}

/* "" is the root itself. */
static int open_dir(int root, const char *path)
{
	return *path ? ga_openat_beneath(root, path, O_RDONLY | O_DIRECTORY, 0)
		     : fcntl(root, F_DUPFD_CLOEXEC, 3);
}

/* Remove the directories above the path that are empty now, as git does. */
static void remove_empty(int root, const char *path)
{
	for (cleanup_free char *dir = ga_path_parent(path), *up = NULL; *dir;) {
		cleanup_free char *parent = ga_path_parent(dir);
		cleanup_close int at = open_dir(root, parent);

		if (at < 0 || unlinkat(at, ga_path_base(dir), AT_REMOVEDIR))
			return;
		up = ga_steal(&parent);
		free(dir);
		dir = ga_steal(&up);
	}
}

/* Remove a directory that contains nothing but directories. If a file is in one of them, that
 * stays, and so do the directories above it. */
static int remove_hollow(int at, const char *name, unsigned depth)
{
	struct dirent *e;
	DIR *d;
	int fd, rc = 0;

	if (!unlinkat(at, name, AT_REMOVEDIR))
		return 0;
	if ((errno != ENOTEMPTY && errno != EEXIST) || depth >= DEPTH_MAX)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		ga_cleanup_closep(&fd);
		return -1;
	}
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = remove_hollow(fd, e->d_name, depth + 1);
	(void)closedir(d);
	return rc || unlinkat(at, name, AT_REMOVEDIR) ? -1 : 0;
}

int land_remove_hollow(int root, const char *path)
{
	cleanup_free char *parent = ga_path_parent(path);
	cleanup_close int dir = open_dir(root, parent);

	return dir < 0 ? -1 : remove_hollow(dir, ga_path_base(path), 0);
}

/* Rename the copy into place. Git, too, removes a directory without files that is in the way. */
static int settle(int dir, const char *tmp, const char *name)
{
	if (!renameat(dir, tmp, dir, name))
		return 0;
	if (errno != EISDIR || remove_hollow(dir, name, 0)) {
		errno = EISDIR;
		return -1;
	}
	return renameat(dir, tmp, dir, name);
}

static int check_still(int root, const char *path, const struct land_look *over,
		       struct ga_error *err)
{
	struct land_look is;

	if (!over || (land_look_here(root, path, &is) && land_look_equal(&is, over)))
		return 0;
	return ga_fail(err, GA_ELOSE, "it was changed meanwhile");
}

int land_put(const struct land_copy *c, int root, const char *path, const struct land_look *over,
	     struct ga_error *err)
{
	cleanup_close int dir = land_open_parent(root, path);
	cleanup_free char *q = ga_escape(path);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the directory of '%s'", q);
	if (!copy(c->from, c->name, dir, c->part, c->mode, err) &&
	    !ga_fault_stop("land:part", err) && !check_still(root, path, over, err) &&
	    settle(dir, c->part, ga_path_base(path)))
		(void)ga_fail_errno(err, errno == EISDIR ? GA_ELOSE : GA_EFATAL, errno, "rename");
	if (!err->msg)
		return 0;
	(void)unlinkat(dir, c->part, 0);
	return ga_error_wrap(err, "cannot write '%s'", q);
}

void land_sweep(int root, const char *path, const char *part)
{
	cleanup_free char *parent = ga_path_parent(path), *at = ga_path_join(parent, part);
	cleanup_close int dir = open_dir(root, parent);

	if (dir >= 0 && !unlinkat(dir, part, 0))
		remove_empty(root, at);
}

int land_remove(int root, const char *path, const struct land_look *over, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(path), *q = ga_escape(path);
	cleanup_close int dir = open_dir(root, parent);

	if (dir < 0 && is_nowhere(errno))
		return 0;
	if (check_still(root, path, over, err))
		return ga_error_wrap(err, "cannot remove '%s'", q);
	if (dir < 0 || (unlinkat(dir, ga_path_base(path), 0) && errno != ENOENT))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", q);
	remove_empty(root, path);
	return 0;
}
