/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/sys/fd.h"

/* A tree that an agent made may be deeper than any stack or descriptor table, so the walk holds
 * only two directories: the current one and the top. Files of a directory are unlinked, and its
 * non-empty subdirectories are moved up to the top, to be emptied there: no depth limit, no
 * recursion, no "..". A missing entry is not an error, because two commands may remove the same
 * tree. */
struct rm {
	int top;           /* directory that everything is moved up to */
	dev_t dev;
	unsigned long seq; /* for temporary names in it */
};

/* How often to retry when another command has moved something to the top. */
#define LATE_MAX 100

/* st_dev does not reveal a bind mount of the same file system. */
static bool is_mount_root(int fd)
{
	struct statx stx;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &stx) &&
	       (stx.stx_attributes_mask & stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static int open_dir(int at, const char *name, dev_t dev)
{
	cleanup_close int fd = -1;
	struct stat st;

	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES) {
		/* mode 000, as overlayfs gives work/work: it is ours, so we may change it */
		cleanup_close int p = openat(at, name,
					     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		cleanup_free char *proc = ga_strf("/proc/self/fd/%d", p);

		if (p < 0 || chmod(proc, 0700))
			return -1;
		fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (st.st_dev != dev || is_mount_root(fd)) {
		errno = EXDEV; /* a mount: deleting would affect another place */
		return -1;
	}
	/* moving a directory needs write permission on the directory itself */
	if ((st.st_mode & 0700) != 0700 && fchmod(fd, 0700))
		return -1;
	return ga_steal_fd(&fd);
}

/* Move the directory `name` up to the top, under a free name. */
static int move_up(struct rm *rm, int fd, const char *name)
{
	cleanup_close int sub = open_dir(fd, name, rm->dev);

	if (sub < 0)
		return errno == ENOENT ? 0 : -1;
	for (;;) {
		cleanup_free char *to = ga_strf(".rm-%lu", rm->seq++);

		if (!renameat2(fd, name, rm->top, to, RENAME_NOREPLACE) || errno == ENOENT)
			return 0;
		if (errno != EEXIST)
			return -1;
	}
}

/* Empty the directory `fd`: files are unlinked, directories moved to the top
 * (or removed there, if `fd` is the top's own child and they are empty). */
static int empty_dir(struct rm *rm, int fd)
{
	cleanup_dir DIR *d = ga_dir_of(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	struct dirent *e;
	int rc = d ? 0 : -1;

	while (!rc && (e = ga_dir_next(d))) {
		if (!unlinkat(fd, e->d_name, 0))
			continue;
		if (errno != EISDIR && errno != EPERM) {
			rc = errno == ENOENT ? 0 : -1;
			continue;
		}
		if (!unlinkat(fd, e->d_name, AT_REMOVEDIR))
			continue;
		if (errno == ENOTDIR) {
			errno = EPERM; /* a file after all: immutable, or somebody else's */
			rc = -1;
			continue;
		}
		rc = move_up(rm, fd, e->d_name);
	}
	return !rc && errno ? -1 : rc;
}

/* Empty every directory at the top by one level, which moves its subdirectories to the top. Sets
 * `*again` if there were any. */
static int pass(struct rm *rm, bool *again)
{
	cleanup_dir DIR *d = ga_dir_of(openat(rm->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	int rc = d ? 0 : -1;

	while (!rc && (e = ga_dir_next(d))) {
		cleanup_close int sub = -1;
		bool is_dir;

		if (!unlinkat(rm->top, e->d_name, 0) || errno == ENOENT)
			continue;
		is_dir = errno == EISDIR || errno == EPERM;
		if (is_dir && !unlinkat(rm->top, e->d_name, AT_REMOVEDIR))
			continue;
		*again = true;
		if (is_dir)
			sub = open_dir(rm->top, e->d_name, rm->dev);
		if (sub < 0 && errno == ENOENT)
			continue;
		if (sub < 0 && errno == ENOTDIR)
			errno = EPERM; /* a file after all: immutable, or somebody else's */
		if (sub < 0 || empty_dir(rm, sub) ||
		    (unlinkat(rm->top, e->d_name, AT_REMOVEDIR) && errno != ENOTEMPTY &&
		     errno != ENOENT))
			rc = -1;
	}
	return !rc && errno ? -1 : rc;
}

int ga_rmtree_at(int dirfd, const char *name, struct ga_error *err)
{
	cleanup_close int top = -1;
	struct stat st;
	struct rm rm;
	bool again;
	int late = 0;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT
			       ? 0
			       : ga_fail_path(err, errno, "stat", name);
	if (!S_ISDIR(st.st_mode)) {
		if (unlinkat(dirfd, name, 0) && errno != ENOENT)
			return ga_fail_path(err, errno, "remove", name);
		return 0;
	}
	top = open_dir(dirfd, name, st.st_dev);
	if (top < 0)
		return ga_fail_path(err, errno, "open", name);
	rm = (struct rm){ .top = top, .dev = st.st_dev };
	do {
		again = false;
		if (pass(&rm, &again))
			return ga_fail_path(err, errno, "remove what is in", name);
		if (again || !unlinkat(dirfd, name, AT_REMOVEDIR) || errno == ENOENT)
			continue;
		if (errno != ENOTEMPTY || late++ == LATE_MAX)
			return ga_fail_path(err, errno, "remove", name);
		/* another command may have moved something up since */
		again = true;
	} while (again);
	return 0;
}
