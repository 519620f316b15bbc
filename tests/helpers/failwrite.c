/* SPDX-License-Identifier: MIT
 *
 * Preloaded into git-agent and the git processes that it starts: makes the n-th call that writes
 * to a file system fail. All processes count together, in a file.
 *
 *     FAILWRITE_COUNT=FILE   a file of at least 8 bytes: the count so far
 *     FAILWRITE_AT=N         the call that fails (0: none, only count)
 *     FAILWRITE_ERRNO=E      with this error
 *     FAILWRITE_STICKY=1     and every one after it fails as well, as on a full disk
 *
 * Pipes, terminals and /proc do not count. What libc writes by itself (stdio, mkstemp) is counted
 * when it is opened. Removing a name or changing a mode or a time needs no space: such calls fail
 * only with the errors of a broken disk (EIO) and of a read-only file system (EROFS).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t *count;
static uint64_t at;
static int with;
static bool sticky;

static uint64_t number(const char *name)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAILWRITE_COUNT");
	void *map;
	int fd;

	/* stage and bwrap write to memory only, in namespaces of their own */
	if (!path || (strcmp(program_invocation_short_name, "git-agent") != 0 &&
		      strcmp(program_invocation_short_name, "git") != 0))
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (map == MAP_FAILED)
		return;
	at = number("FAILWRITE_AT");
	with = (int)number("FAILWRITE_ERRNO");
	sticky = number("FAILWRITE_STICKY");
	count = map;
}

static bool is_turn(void)
{
	uint64_t n;

	if (!count)
		return false;
	n = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
	return at && (sticky ? n >= at : n == at);
}

static bool fails(void)
{
	if (!is_turn())
		return false;
	errno = with;
	return true;
}

/* The same for a call that needs no space. */
static bool change_fails(void)
{
	if (!is_turn() || (with != EIO && with != EROFS))
		return false;
	errno = with;
	return true;
}

static bool fd_on_disk(int fd)
{
	struct statfs fs;
	struct stat st;
	int saved = errno;
	bool disk = count && !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
		    !fstatfs(fd, &fs) && fs.f_type != PROC_SUPER_MAGIC;

	errno = saved;
	return disk;
}

static bool on_disk(const char *path)
{
	return strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
}

static bool fd_fails(int fd)
{
	return fd_on_disk(fd) && fails();
}

static bool path_fails(const char *path)
{
	return on_disk(path) && fails();
}

static bool fd_change_fails(int fd)
{
	return fd_on_disk(fd) && change_fails();
}

static bool path_change_fails(const char *path)
{
	return on_disk(path) && change_fails();
}

/* Find libc's function that ours replaces. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

#define WRAP(cond, ret, name, params, args) \
	ret name params; \
	ret name params \
	{ \
		static __typeof__(&name) next; \
		/* once for each function */ \
		if (!next) \
			next = NEXT(name); \
		if (cond) \
			return (ret)-1; \
		return next args; \
	}

WRAP(fd_fails(fd), ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
WRAP(fd_fails(fd), ssize_t, pwrite, (int fd, const void *p, size_t n, off_t o), (fd, p, n, o))
WRAP(fd_fails(fd), ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t o), (fd, p, n, o))
WRAP(fd_fails(fd), ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
WRAP(fd_fails(fd), int, fsync, (int fd), (fd))
WRAP(fd_fails(fd), int, fdatasync, (int fd), (fd))
WRAP(fd_fails(fd), int, ftruncate, (int fd, off_t n), (fd, n))
WRAP(fd_fails(fd), int, ftruncate64, (int fd, off64_t n), (fd, n))
WRAP(fd_fails(fd), int, fallocate, (int fd, int m, off_t o, off_t n), (fd, m, o, n))
WRAP(fd_fails(fd), int, fallocate64, (int fd, int m, off64_t o, off64_t n), (fd, m, o, n))
WRAP(fd_fails(out), ssize_t, copy_file_range,
     (int in, off64_t *io, int out, off64_t *oo, size_t n, unsigned f), (in, io, out, oo, n, f))
WRAP(fd_fails(out), ssize_t, sendfile, (int out, int in, off_t *o, size_t n), (out, in, o, n))
WRAP(fd_fails(out), ssize_t, sendfile64, (int out, int in, off64_t *o, size_t n), (out, in, o, n))
WRAP(path_fails(b), int, rename, (const char *a, const char *b), (a, b))
WRAP(path_fails(b), int, renameat, (int x, const char *a, int y, const char *b), (x, a, y, b))
WRAP(path_fails(b), int, renameat2, (int x, const char *a, int y, const char *b, unsigned f), (x, a, y, b, f))
WRAP(path_fails(b), int, link, (const char *a, const char *b), (a, b))
WRAP(path_fails(b), int, linkat, (int x, const char *a, int y, const char *b, int f), (x, a, y, b, f))
WRAP(path_fails(b), int, symlink, (const char *a, const char *b), (a, b))
WRAP(path_fails(p), int, mkdir, (const char *p, mode_t m), (p, m))
WRAP(path_fails(p), int, mkdirat, (int d, const char *p, mode_t m), (d, p, m))
WRAP(path_change_fails(p), int, unlink, (const char *p), (p))
WRAP(path_change_fails(p), int, unlinkat, (int d, const char *p, int f), (d, p, f))
WRAP(path_change_fails(p), int, rmdir, (const char *p), (p))
WRAP(fd_change_fails(fd), int, fchmod, (int fd, mode_t m), (fd, m))
WRAP(fd_change_fails(fd), int, futimens, (int fd, const struct timespec t[2]), (fd, t))
WRAP(path_change_fails(p), int, chmod, (const char *p, mode_t m), (p, m))
WRAP(path_change_fails(p), int, fchmodat, (int d, const char *p, mode_t m, int f), (d, p, m, f))
WRAP(path_change_fails(p), int, utimensat, (int d, const char *p, const struct timespec t[2], int f), (d, p, t, f))
WRAP(path_fails(p), int, mkstemp, (char *p), (p))
WRAP(path_fails(p), int, mkstemp64, (char *p), (p))
WRAP(path_fails(p), int, mkostemp, (char *p, int f), (p, f))
WRAP(path_fails(p), int, mkostemp64, (char *p, int f), (p, f))

char *mkdtemp(char *p)
{
	return path_fails(p) ? NULL : NEXT(mkdtemp)(p);
}

FILE *fopen(const char *restrict p, const char *restrict mode)
{
	return strpbrk(mode, "wa+") && path_fails(p) ? NULL : NEXT(fopen)(p, mode);
}

FILE *fopen64(const char *restrict p, const char *restrict mode)
{
	return strpbrk(mode, "wa+") && path_fails(p) ? NULL : NEXT(fopen64)(p, mode);
}

static bool open_fails(const char *p, int flags)
{
	return ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) && path_fails(p);
}

#define WRAP_OPEN(name, params, last, args) \
	int name params \
	{ \
		static __typeof__(&name) next; \
		mode_t mode = 0; \
		va_list ap; \
		/* once for each function */ \
		if (!next) \
			next = NEXT(name); \
		if (open_fails(p, flags)) \
			return -1; \
		va_start(ap, last); \
		if (flags & (O_CREAT | O_TMPFILE)) \
			mode = va_arg(ap, mode_t); \
		va_end(ap); \
		return next args; \
	}

WRAP_OPEN(open, (const char *p, int flags, ...), flags, (p, flags, mode))
WRAP_OPEN(open64, (const char *p, int flags, ...), flags, (p, flags, mode))
WRAP_OPEN(openat, (int d, const char *p, int flags, ...), flags, (d, p, flags, mode))
WRAP_OPEN(openat64, (int d, const char *p, int flags, ...), flags, (d, p, flags, mode))
