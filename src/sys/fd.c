/* SPDX-License-Identifier: MIT */
#include "ga/sys/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/fs.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"

#define PROBE_CHUNK ((size_t)64 << 10)
#define ALMOST_NOTHING (16u << 10) /* bytes; not enough for a ref and its lock file */

void ga_cleanup_closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

/* Return openat2's error for a symlink as the last component: openat() with O_NOFOLLOW opens the
 * link itself (O_PATH) or fails with ENOTDIR (O_DIRECTORY). */
static int refuse_link(int at, const char *name, int fd)
{
	cleanup_close int opened = fd;
	struct stat st;

	if (fd < 0 && errno != ENOTDIR)
		return -1;
	if (fd >= 0 ? fstat(fd, &st) : fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISLNK(st.st_mode)) {
		errno = ENOTDIR;
		return ga_steal_fd(&opened);
	}
	errno = ELOOP;
	return -1;
}

/* One component at a time, for kernels before 5.6 and for filters that refuse openat2. Each step
 * opens a directory without following symlinks, so a racing rename can move us but not lead us
 * through a link. */
static int open_stepwise(int dirfd, const char *path, int flags, mode_t mode)
{
	cleanup_close int at = fcntl(dirfd, F_DUPFD_CLOEXEC, 3);
	const char *p = path;

	if (at < 0)
		return -1;
	for (;;) {
		size_t n = strcspn(p, "/");
		cleanup_free char *name = ga_strndup(p, n);
		int next;

		if (!n || !strcmp(name, "..")) {
			errno = EXDEV;
			return -1;
		}
		if (!p[n]) {
			next = openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
			/* with both flags, the caller wants the link itself */
			if ((flags & O_PATH) && (flags & O_NOFOLLOW))
				return next;
			return refuse_link(at, name, next);
		}
		next = refuse_link(at, name,
				   openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
		if (next < 0)
			return -1;
		(void)close(at);
		at = next;
		p += n + 1;
	}
}

int ga_openat_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
	/* O_TMPFILE includes the bit of O_DIRECTORY */
	bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = creates ? mode : 0, /* openat2 fails with EINVAL on a mode if nothing can be
					     * created */
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_stepwise(dirfd, path, flags, mode);
	return fd;
}

bool ga_leads_out(int dirfd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	cleanup_close int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	/* without openat2 symlinks cannot be followed safely, so refuse them */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = ga_openat_beneath(dirfd, path, O_PATH, 0);
	return fd < 0 && (errno == EXDEV || errno == ELOOP);
}

int ga_read_most(int fd, size_t max, struct ga_buf *out)
{
	ssize_t n = 1;

	for (size_t left = max; n && left; left -= (size_t)n) {
		size_t room = left < 65536 ? left : 65536;

		n = TEMP_FAILURE_RETRY(read(fd, ga_buf_reserve(out, room), room));
		if (n < 0)
			return -1;
		out->len += (size_t)n;
		out->ptr[out->len] = '\0';
	}
	return 0;
}

int ga_read_fd(int fd, size_t max, struct ga_buf *out, struct ga_error *err)
{
	size_t start = out->len;

	if (ga_read_most(fd, max < SIZE_MAX ? max + 1 : max, out))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read");
	if (out->len - start > max)
		return ga_fail(err, GA_EFATAL, "longer than %zu bytes", max);
	return 0;
}

int ga_read_beneath(int dirfd, const char *path, size_t max, struct ga_buf *out,
		    struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
								 O_NOCTTY, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	if ((uint64_t)st.st_size > max)
		return 1;
	if (ga_read_fd(fd, max, out, err))
		return ga_error_wrap(err, "cannot read '%s'", path);
	return 0;
}

int ga_read_file_at(int dirfd, const char *path, size_t max, struct ga_buf *out,
		    struct ga_error *err)
{
	cleanup_close int fd =
		openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", path);
	if (fstat(fd, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot stat '%s'", path);
	if (!S_ISREG(st.st_mode))
		return ga_fail(err, GA_EFATAL, "'%s' is not a regular file", path);
	if (ga_read_fd(fd, max, out, err))
		return ga_error_wrap(err, "cannot read '%s'", path);
	return 0;
}

char *ga_boot_id(void)
{
	struct ga_buf id = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 4096, &id, GA_IGNORED))
		ga_buf_clear(&id);
	ga_buf_chomp(&id);
	return ga_buf_steal(&id);
}

int ga_write_full(int fd, const void *p, size_t n)
{
	const char *s = p;

	while (n) {
		ssize_t k = TEMP_FAILURE_RETRY(write(fd, s, n));

		if (k < 0)
			return -1;
		s += k;
		n -= (size_t)k;
	}
	return 0;
}

void ga_write_out(int fd)
{
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int ga_fsync(int fd)
{
	struct stat st;

	if (!fsync(fd))
		return 0;
	if (errno != EINVAL)
		return -1;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
		return 0;
	errno = EINVAL;
	return -1;
}

int ga_write_new(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		 struct ga_error *err)
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	cleanup_close int fd = openat(dirfd, path, flags, mode);

	if (fd < 0 || ga_write_full(fd, p, n))
		return ga_fail_path(err, errno, "write", path);
	return 0;
}

int ga_random(void *p, size_t n, struct ga_error *err)
{
	if (getrandom(p, n, 0) != (ssize_t)n)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot get random bytes");
	return 0;
}

static int replace(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		   int (*first)(void *, struct ga_error *), void *payload, struct ga_error *err)
{
	cleanup_free char *tmp = NULL;
	cleanup_close int fd = -1;
	uint64_t r;
	int rc;

	if (ga_random(&r, sizeof(r), err))
		return -1;
	tmp = ga_strf("%s.%016llx.tmp", path, (unsigned long long)r);
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return ga_fail_path(err, errno, "create", path);
	if (ga_write_full(fd, p, n) || fsync(fd))
		rc = ga_fail_path(err, errno, "write", path);
	else
		rc = first ? first(payload, err) : 0;
	if (!rc && renameat(dirfd, tmp, dirfd, path))
		rc = ga_fail_path(err, errno, "write", path);
	if (rc)
		(void)unlinkat(dirfd, tmp, 0);
	return rc;
}

int ga_write_atomic_after(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
			  int (*first)(void *, struct ga_error *), void *payload,
			  struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(path);
	cleanup_close int dir = -1;

	if (replace(dirfd, path, p, n, mode, first, payload, err))
		return -1;
	dir = openat(dirfd, *parent ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || ga_fsync(dir))
		return ga_fail_path(err, errno, "sync the directory of", path);
	return 0;
}

int ga_write_atomic(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		    struct ga_error *err)
{
	return ga_write_atomic_after(dirfd, path, p, n, mode, NULL, NULL, err);
}

void ga_cleanup_dirp(DIR **d)
{
	int saved = errno;

	if (*d)
		(void)closedir(*d);
	errno = saved;
}

DIR *ga_dir_of(int fd)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int saved = errno;

	if (!d && fd >= 0)
		(void)close(fd);
	errno = saved;
	return d;
}

struct dirent *ga_dir_next(DIR *d)
{
	struct dirent *e = NULL;

	errno = 0;
	while (d && (e = readdir(d)) && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")))
		;
	return e;
}

bool ga_dir_is_empty(const char *path)
{
	cleanup_dir DIR *d = opendir(path);

	return (d || errno == ENOENT) && !ga_dir_next(d);
}

/* mkdir() that accepts an existing directory, or a symlink to one. */
static int make_dir(const char *path, mode_t mode)
{
	struct stat st;

	if (!mkdir(path, mode))
		return 0;
	if (errno != EEXIST)
		return -1;
	if (stat(path, &st))
		st.st_mode = 0;
	errno = EEXIST;
	return S_ISDIR(st.st_mode) ? 0 : -1;
}

int ga_mkdir_p(const char *path, mode_t mode, struct ga_error *err)
{
	cleanup_free char *parent = NULL;

	if (!make_dir(path, mode))
		return 0;
	if (errno == ENOENT) {
		parent = ga_path_parent(path);
		if (*parent && strcmp(parent, path)) {
			if (ga_mkdir_p(parent, mode, err))
				return -1;
			if (!make_dir(path, mode))
				return 0;
		}
	}
	return ga_fail_path(err, errno, "create directory", path);
}

int ga_make_parents(int at, const char *path, struct ga_strv *made, struct ga_error *err)
{
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(p - path));

		if (!mkdirat(at, dir, 0755)) {
			if (made)
				ga_strv_push(made, dir);
		} else if (errno != EEXIST) {
			return ga_fail_path(err, errno, "create", dir);
		}
	}
	return 0;
}

static int copy_bytes(int src, int dst)
{
	char buf[65536];
	ssize_t n;

	if (!ioctl(dst, FICLONE, src))
		return 0;
	for (;;) {
		n = copy_file_range(src, NULL, dst, NULL, 1 << 30, 0);
		if (n == 0)
			return 0;
		if (n < 0)
			break;
	}
	/* not supported between these file systems: copy by hand, from where it stopped */
	while ((n = TEMP_FAILURE_RETRY(read(src, buf, sizeof(buf)))) > 0)
		if (ga_write_full(dst, buf, (size_t)n))
			return -1;
	return n ? -1 : 0;
}

int ga_copy_fd_to(int src, int dirfd, const char *name, struct ga_error *err)
{
	cleanup_close int dst = -1;
	struct timespec ts[2];
	struct stat st;

	if (fstat(src, &st))
		return ga_fail_path(err, errno, "stat the source of", name);
	dst = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (dst < 0)
		return ga_fail_path(err, errno, "create", name);
	ts[0] = st.st_atim;
	ts[1] = st.st_mtim;
	if (copy_bytes(src, dst) || fchmod(dst, st.st_mode & 0777) || futimens(dst, ts)) {
		int saved = errno;

		(void)unlinkat(dirfd, name, 0);
		return ga_fail_path(err, saved, "copy", name);
	}
	return 0;
}

int ga_memfd(const char *name, const void *p, size_t n, struct ga_error *err)
{
	cleanup_close int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ga_write_full(fd, p, n) || lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a memory file");
	return ga_steal_fd(&fd);
}

int ga_flock(int fd, bool exclusive, bool wait, struct ga_error *err)
{
	int op = (exclusive ? LOCK_EX : LOCK_SH) | (wait ? 0 : LOCK_NB);

	if (!TEMP_FAILURE_RETRY(flock(fd, op)))
		return 0;
	return errno == EWOULDBLOCK ? 1 : ga_fail_errno(err, GA_EFATAL, errno, "cannot lock");
}

void ga_funlock(int fd)
{
	(void)flock(fd, LOCK_UN);
}

int ga_scratch_file(const char *dir, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, "tmp_XXXXXX");
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* not every file system supports O_TMPFILE */
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return ga_fail_path(err, errno, "make a file in", dir);
	(void)unlink(path);
	return fd;
}

int ga_probe_write(const char *dir, size_t n, struct ga_error *err)
{
	cleanup_free char *zeros = NULL;
	cleanup_close int fd = ga_scratch_file(dir, err);

	if (fd < 0)
		return -1;
	zeros = ga_calloc(PROBE_CHUNK, 1);
	while (n) {
		size_t some = n < PROBE_CHUNK ? n : PROBE_CHUNK;

		if (ga_write_full(fd, zeros, some))
			break;
		n -= some;
	}
	if (n || fsync(fd))
		return ga_fail_path(err, errno, "write in", dir);
	return 0;
}

bool ga_disk_below(const char *dir, uint64_t bytes)
{
	struct statvfs fs;

	return !statvfs(dir, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize < bytes;
}

bool ga_disk_full(const char *dir)
{
	struct statvfs fs;

	return ga_disk_below(dir, ALMOST_NOTHING) ||
	       (!statvfs(dir, &fs) && fs.f_files && !fs.f_favail);
}

bool ga_explain_full(struct ga_error *err, const char *dir)
{
	static const char words[] = "no space left";
	cleanup_free char *was = NULL;

	if (!ga_means_no_space(err->msg) && !ga_disk_full(dir))
		return false;
	if (strncmp(err->msg, words, sizeof(words) - 1)) {
		was = ga_steal(&err->msg);
		err->msg = ga_strf("%s: %s", words, was);
	}
	return true;
}

bool ga_same_content(int a, int b)
{
	enum { AT_ONCE = 64 * 1024 };
	cleanup_free char *x = ga_malloc(AT_ONCE), *y = ga_malloc(AT_ONCE);
	struct stat sa, sb;
	off_t at = 0;
	ssize_t n, m;

	if (fstat(a, &sa) || fstat(b, &sb) || !S_ISREG(sa.st_mode) || !S_ISREG(sb.st_mode) ||
	    sa.st_size != sb.st_size)
		return false;
	do {
		n = pread(a, x, AT_ONCE, at);
		m = n > 0 ? pread(b, y, (size_t)n, at) : n;
		if (n < 0 || m != n || memcmp(x, y, (size_t)n) != 0)
			return false;
		at += n;
	} while (n);
	return at == sa.st_size;
}

bool ga_unix_address(int fd, const char *name, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d%s", fd, name);
	if (n > 0 && n < (int)sizeof(ret->sun_path))
		return true;
	errno = ENAMETOOLONG;
	return false;
}
