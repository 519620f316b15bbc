/* SPDX-License-Identifier: MIT
 *
 * Move a directory entry by entry, in a process of its own with the rights of the command: whatever
 * others rename meanwhile, it can do nothing that the command could not.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "renames-internal.h"

/* Two descriptors per level. Capture does not go as deep. */
#define MAX_DEPTH 250
/* How often a directory is read again if others keep writing to it. */
#define MAX_PASSES 16

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A file with several names, and the name under which it is in the copy. */
struct seen {
	uint64_t ino;
	unsigned major, minor;
	char path[]; /* relative to the copy */
};

/* What was copied. */
struct copy {
	int root; /* the copy, while it is filled and then while the original is emptied */
	void *seen; /* tsearch(3) */
	char path[PATH_MAX];
	size_t len;
};

static int stat_entry(int at, const char *name, struct statx *ret)
{
	if (statx(at, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_BASIC_STATS | STATX_MNT_ID, ret))
		return errno;
	/* a mount point can be neither linked nor moved */
	return ret->stx_attributes & STATX_ATTR_MOUNT_ROOT ? EBUSY : 0;
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Are these two names of one file? An overlay reports for each name the inode number of the layer
 * it came from; everything else comes from the one inode, whose ctime changed with the linking. */
static bool is_same_file(const struct statx *a, const struct statx *b)
{
	return a->stx_nlink > 1 && a->stx_nlink == b->stx_nlink && a->stx_mode == b->stx_mode &&
	       a->stx_size == b->stx_size && same_time(&a->stx_mtime, &b->stx_mtime) &&
	       same_time(&a->stx_ctime, &b->stx_ctime);
}

/* Open a directory that we own, whatever its mode: renaming it requires no rights within it. */
static int open_dir(int at, const char *name, mode_t mode, mode_t need, int *ret)
{
	if ((mode & need) != need && fchmodat(at, name, (mode & 07777) | need, 0))
		return EACCES;
	*ret = openat(at, name, DIR_FLAGS);
	return *ret < 0 ? errno : 0;
}

static DIR *open_again(int dir)
{
	int fd = openat(dir, ".", DIR_FLAGS), e;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d || fd < 0)
		return d;
	e = errno;
	(void)close(fd);
	errno = e;
	return NULL;
}

/* The next name; NULL at the end or, with errno, for an error. It belongs to `d`, which the caller
 * closes: gcc 12's analyzer takes the result for the only reference to it. */
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif
static const char *next_name(DIR *d)
{
	for (;;) {
		const struct dirent *e;

		errno = 0;
		e = readdir(d);
		if (!e || (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")))
			return e ? e->d_name : NULL;
	}
}
#pragma GCC diagnostic pop

/* Call `f` for each name in the directory; takes over the descriptor. */
static int for_each_name(int fd, int (*f)(void *p, int dir, const char *name), void *p)
{
	DIR *d = fdopendir(fd);
	const char *name;
	int rc = 0;

	if (!d) {
		rc = errno;
		(void)close(fd);
		return rc;
	}
	while (!rc && (name = next_name(d)) != NULL)
		rc = f(p, fd, name);
	if (!rc)
		rc = errno;
	(void)closedir(d);
	return rc;
}

/* ---- removing what was made */

static int remove_entry(void *p, int dir, const char *name)
{
	int fd;

	(void)p;
	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return errno;
	if (!open_dir(dir, name, 0, S_IRWXU, &fd))
		(void)for_each_name(fd, remove_entry, NULL);
	return unlinkat(dir, name, AT_REMOVEDIR) ? errno : 0;
}

/* ---- linking */

static int by_inode(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	return x->minor == y->minor ? 0 : x->minor < y->minor ? -1 : 1;
}

/* Link a further name of a file to its copy: the kernel would copy up each name separately, and
 * they would become several files. */
static int link_again(struct copy *c, const struct statx *st, int src, int dst, const char *name)
{
	size_t n = strlen(name), size = sizeof(struct seen) + c->len + n + 2;
	struct seen *key = malloc(size), **found;

	if (!key)
		return ENOMEM;
	*key = (struct seen){ st->stx_ino, st->stx_dev_major, st->stx_dev_minor };
	(void)snprintf(key->path, size - sizeof(*key), "%s%s", c->path, name);
	found = tsearch(key, &c->seen, by_inode);
	if (!found)
		return ENOMEM;
	if (*found == key)
		return linkat(src, name, dst, name, 0) ? errno : 0;
	free(key);
	return linkat(c->root, (*found)->path, dst, name, 0) ? errno : 0;
}

static int copy_xattr(int src, int dst, const char *name)
{
	char *value = malloc(XATTR_SIZE_MAX);
	ssize_t n = value ? fgetxattr(src, name, value, XATTR_SIZE_MAX) : -1;
	int rc = 0;

	/* attributes outside "user." may be made by the file system itself */
	if (n >= 0 && fsetxattr(dst, name, value, (size_t)n, 0) && !strncmp(name, "user.", 5))
		rc = errno;
	free(value);
	return rc;
}

static int copy_xattrs(int src, int dst)
{
	char *names = malloc(XATTR_LIST_MAX);
	ssize_t n = names ? flistxattr(src, names, XATTR_LIST_MAX) : -1;
	int rc = 0;

	for (char *p = names; !rc && n > 0 && p < names + n; p += strlen(p) + 1)
		rc = copy_xattr(src, dst, p);
	free(names);
	return rc;
}

/* Set owner, attributes, mode and times of a directory once it is filled. */
static int copy_attributes(int src, int dst, const struct statx *st)
{
	const struct timespec times[2] = {
		{ st->stx_atime.tv_sec, st->stx_atime.tv_nsec },
		{ st->stx_mtime.tv_sec, st->stx_mtime.tv_nsec },
	};
	struct statx now;
	int rc;

	if (statx(dst, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &now))
		return errno;
	if ((now.stx_uid != st->stx_uid || now.stx_gid != st->stx_gid) &&
	    fchown(dst, st->stx_uid, st->stx_gid))
		return EPERM;
	rc = copy_xattrs(src, dst);
	if (rc)
		return rc;
	return fchmod(dst, st->stx_mode & 07777) || futimens(dst, times) ? errno : 0;
}

static int fill(struct copy *c, int src, int dst, unsigned depth);

/* Copy what a directory contains, then its own attributes. */
static int copy_into(struct copy *c, int at, const char *name, const struct statx *st, int dst,
		     unsigned depth)
{
	const mode_t need = S_IRUSR | S_IXUSR;
	int src, rc = open_dir(at, name, st->stx_mode, need, &src);

	if (rc)
		return rc;
	rc = fill(c, src, dst, depth);
	if (!rc)
		rc = copy_attributes(src, dst, st);
	if ((st->stx_mode & need) != need)
		(void)fchmod(src, st->stx_mode & 07777);
	(void)close(src);
	return rc;
}

static int copy_dir(struct copy *c, int src, int dst, const char *name, const struct statx *st,
		    unsigned depth)
{
	size_t len = c->len, n = strlen(name);
	int new, rc;

	if (depth == MAX_DEPTH || len + n + 2 > sizeof(c->path))
		return ENAMETOOLONG;
	if (mkdirat(dst, name, S_IRWXU))
		return errno;
	new = openat(dst, name, DIR_FLAGS);
	if (new < 0)
		return errno;
	memcpy(c->path + len, name, n);
	memcpy(c->path + len + n, "/", 2);
	c->len = len + n + 1;
	rc = copy_into(c, src, name, st, new, depth + 1);
	c->path[len] = '\0';
	c->len = len;
	(void)close(new);
	return rc;
}

static int copy_entry(struct copy *c, int src, int dst, const char *name, unsigned depth)
{
	struct statx st;
	int rc = stat_entry(src, name, &st);

	if (rc == ENOENT)
		return 0;
	if (rc)
		return rc;
	if (S_ISDIR(st.stx_mode))
		return copy_dir(c, src, dst, name, &st, depth);
	if (st.stx_nlink > 1)
		return link_again(c, &st, src, dst, name);
	return linkat(src, name, dst, name, 0) ? errno : 0;
}

static int fill(struct copy *c, int src, int dst, unsigned depth)
{
	DIR *d = open_again(src);
	const char *name;
	int rc = 0;

	if (!d)
		return errno;
	while (!rc && (name = next_name(d)) != NULL)
		rc = copy_entry(c, src, dst, name, depth);
	if (!rc)
		rc = errno;
	(void)closedir(d);
	return rc;
}

/* Make a directory `to` with the content of `from`. */
static int make_copy(struct copy *c, const struct rename_end *from, int at, const char *to)
{
	struct statx st;
	int rc = stat_entry(from->at, from->name, &st);

	if (!rc && mkdirat(at, to, S_IRWXU))
		rc = errno;
	if (rc)
		return rc;
	*c = (struct copy){ .root = openat(at, to, DIR_FLAGS) };
	rc = c->root < 0 ? errno : copy_into(c, from->at, from->name, &st, c->root, 0);
	if (rc)
		(void)remove_entry(NULL, at, to);
	if (c->root >= 0)
		(void)close(c->root);
	return rc;
}

/* ---- emptying what was copied */

static int empty(struct copy *c, int src, int dst, unsigned depth);

/* Is this a further name of a file below, and `there` the one that was linked from its copy? Not if
 * something else has that name. */
static bool linked_again(struct copy *c, const struct statx *st, const struct statx *there)
{
	const struct seen key = { st->stx_ino, st->stx_dev_major, st->stx_dev_minor };
	struct seen *const *found = st->stx_nlink > 1 ? tfind(&key, &c->seen, by_inode) : NULL;
	struct statx first;

	return found && !statx(c->root, (*found)->path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
			       &first) &&
	       is_same_file(&first, there);
}

/* Both names are of one file, or this one was created after the copy and is moved, too. */
static int follow_file(struct copy *c, int src, int dst, const char *name, const struct statx *st)
{
	struct statx there;

	/* renaming to another name of the same file would do nothing */
	if (statx(dst, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &there) ||
	    (!is_same_file(st, &there) && !linked_again(c, st, &there)))
		return renameat(src, name, dst, name) && errno != ENOENT ? errno : 0;
	return unlinkat(src, name, 0) && errno != ENOENT ? errno : 0;
}

/* Move the remaining entries of `from` into its copy, which already has its final mode. */
static int move_rest(struct copy *c, int from_at, const char *from, const struct statx *st,
		     int to_at, const char *to, unsigned depth)
{
	bool closed = !(st->stx_mode & S_IXUSR);
	int src, dst, rc = open_dir(from_at, from, st->stx_mode, S_IRWXU, &src);

	if (rc)
		return rc;
	if (closed && fchmodat(to_at, to, (st->stx_mode & 07777) | S_IXUSR, 0))
		rc = errno;
	dst = openat(to_at, to, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!depth)
		c->root = dst;
	if (!rc)
		rc = dst < 0 ? errno : empty(c, src, dst, depth);
	if (dst >= 0)
		(void)close(dst);
	if (closed && fchmodat(to_at, to, st->stx_mode & 07777, 0) && !rc)
		rc = errno;
	(void)close(src);
	return rc;
}

static int follow_dir(struct copy *c, int src, int dst, const char *name, const struct statx *st,
		      unsigned depth)
{
	int rc;

	if (depth == MAX_DEPTH)
		return ENAMETOOLONG;
	if (mkdirat(dst, name, st->stx_mode & 07777) && errno != EEXIST)
		return errno;
	rc = move_rest(c, src, name, st, dst, name, depth + 1);
	if (!rc && unlinkat(src, name, AT_REMOVEDIR) && errno != ENOENT && errno != ENOTEMPTY)
		rc = errno;
	return rc;
}

/* One pass over a directory. Returns 0, or ENOTEMPTY if something was in it. */
static int pass(struct copy *c, int src, int dst, unsigned depth)
{
	DIR *d = open_again(src);
	const char *name;
	bool any = false;
	int rc = 0;

	if (!d)
		return errno;
	while (!rc && (name = next_name(d)) != NULL) {
		struct statx st;

		any = true;
		rc = stat_entry(src, name, &st);
		if (rc == ENOENT)
			rc = 0;
		else if (!rc)
			rc = S_ISDIR(st.stx_mode) ? follow_dir(c, src, dst, name, &st, depth)
					 : follow_file(c, src, dst, name, &st);
	}
	if (!rc)
		rc = errno;
	(void)closedir(d);
	return rc ? rc : any ? ENOTEMPTY : 0;
}

static int empty(struct copy *c, int src, int dst, unsigned depth)
{
	int rc = ENOTEMPTY;

	for (unsigned i = 0; rc == ENOTEMPTY && i < MAX_PASSES; i++)
		rc = pass(c, src, dst, depth);
	return rc;
}

/* ---- putting it in place */

/* Check that a directory at the target is empty. (A file there was found by the kernel; it
 * looks into directories only when it renames.) */
static int check_target(const struct rename_end *to)
{
	int fd = openat(to->at, to->name, DIR_FLAGS);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const char *name;

	/* one that may not be read is checked by the final rename */
	if (!d)
		return 0;
	name = next_name(d);
	(void)closedir(d);
	return name ? ENOTEMPTY : 0;
}

static int put_in_place(const struct rename_call *c, struct copy *copy, const char *temporary)
{
	struct statx st;
	int rc;

	if (renameat2(c->to.at, temporary, c->to.at, c->to.name, c->flags)) {
		rc = errno;
		(void)remove_entry(NULL, c->to.at, temporary);
		return rc;
	}
	rc = stat_entry(c->from.at, c->from.name, &st);
	if (!rc)
		rc = move_rest(copy, c->from.at, c->from.name, &st, c->to.at, c->to.name, 0);
	if (!rc && unlinkat(c->from.at, c->from.name, AT_REMOVEDIR) && errno != ENOENT)
		rc = errno;
	return rc;
}

int rename_move(const struct rename_call *c, const char *temporary)
{
	struct copy copy = { .seen = NULL };
	int rc = check_target(&c->to);

	if (!rc)
		rc = make_copy(&copy, &c->from, c->to.at, temporary);
	if (!rc)
		rc = put_in_place(c, &copy, temporary);
	tdestroy(copy.seen, free);
	/* what cannot be linked or created: EXDEV lets the caller try another way */
	return rc == EPERM || rc == EOVERFLOW || rc == EMLINK || rc == ENAMETOOLONG ? EXDEV : rc;
}
