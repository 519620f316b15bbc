/* SPDX-License-Identifier: MIT
 *
 * Serve announced calls: renames, and removals of mount points. Their paths are in the memory of
 * the caller, which can change them at any time: no answer gives the caller more than its own
 * rights.
 *
 * Only the supervisor knows which mounts are shared directories, and can remove one
 * (src/run/control/shares.c): both are requests over the control socket, which name the mount by
 * its device number, never by a path.
 *
 * A file written into the directory while it is removed would be lost: so its write permission is
 * removed first, and then it must be empty.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "init.h"
#include "renames-internal.h"

#define PAGE 4096u

/* Read page by page: the next page may not be mapped. */
static bool call_read_path(pid_t pid, uint64_t at, char path[PATH_MAX])
{
	size_t n = 0;

	while (n < PATH_MAX) {
		size_t room = PAGE - (size_t)((at + n) % PAGE);
		struct iovec ours = { path + n, room < PATH_MAX - n ? room : PATH_MAX - n };
		struct iovec theirs = { (void *)(uintptr_t)(at + n), ours.iov_len };
		ssize_t got = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);

		if (got <= 0)
			return false;
		if (memchr(path + n, '\0', (size_t)got))
			return *path != '\0';
		n += (size_t)got;
	}
	return false;
}

/* Open what a relative path is relative to, O_PATH; AT_FDCWD for an absolute one, -1: none. */
static int call_open_at(pid_t pid, int fd, const char *path)
{
	char link[64];

	if (*path == '/')
		return AT_FDCWD;
	if (fd == AT_FDCWD)
		(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	else
		(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, fd);
	return open(link, O_PATH | O_CLOEXEC);
}

unsigned rename_filters(const char *pid)
{
	char path[64], text[4096];
	const char *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strstr(text, "\nSeccomp_filters:");
	return p ? (unsigned)strtoul(p + strlen("\nSeccomp_filters:"), NULL, 10) : 0;
}

/* Does the process have the rights that we have? Not if it confined itself further, by another root
 * or by filters of its own. */
static bool call_has_our_rights(pid_t pid, unsigned own_filters)
{
	char number[16], root[64];
	struct statx a, b;

	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	return own_filters && rename_filters(number) == own_filters + 1 &&
	       !statx(AT_FDCWD, root, 0, STATX_INO | STATX_MNT_ID, &a) &&
	       !statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &b) &&
	       a.stx_mnt_id == b.stx_mnt_id && a.stx_ino == b.stx_ino;
}

/* Does it still wait for the answer? Only then its pid is not another process's. */
static bool call_waits(int listener, uint64_t id)
{
	return !ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

/* Symlinks that the kernel makes for each process, as in /proc/self, would lead us elsewhere. */
static bool call_resolve(int at, char *path, struct rename_end *ret)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_MAGICLINKS };
	size_t n = strlen(path);
	const char *parent = ".";
	char *slash;

	while (n && path[n - 1] == '/')
		path[--n] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		parent = slash == path ? "/" : path;
	n = strlen(slash ? slash + 1 : path);
	if (!n || n > NAME_MAX || !strcmp(path + strlen(path) - n, ".") ||
	    !strcmp(path + strlen(path) - n, ".."))
		return false;
	memcpy(ret->name, path + strlen(path) - n, n + 1);
	if (slash && slash != path)
		*slash = '\0';
	ret->at = (int)syscall(SYS_openat2, at, parent, &how, sizeof(how));
	return ret->at >= 0;
}

/* The directory `name` in `at` as O_PATH, if it is the root of a mounted overlay; -1. */
static int mount_root(int at, const char *name)
{
	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;
	struct statx st;

	if (fd < 0)
		return -1;
	if (!fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC &&
	    !statx(fd, "", AT_EMPTY_PATH, 0, &st) && (st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return fd;
	(void)close(fd);
	return -1;
}

void call_answer(int listener, uint64_t id, bool go_on, int errnum)
{
	struct seccomp_notif_resp r = { .id = id, .error = -errnum };

	if (go_on)
		r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* ENOENT: the caller is gone */
	(void)TEMP_FAILURE_RETRY(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r));
}

struct arguments {
	int from_at, to_at;
	uint64_t from, to; /* addresses in its memory */
	unsigned flags;
};

static bool decode(const struct seccomp_data *d, struct arguments *a)
{
	const __u64 *v = d->args;

	*a = (struct arguments){ .from_at = AT_FDCWD, .to_at = AT_FDCWD };
#ifdef SYS_rename
	if (d->nr == SYS_rename) {
		a->from = v[0];
		a->to = v[1];
		return true;
	}
#endif
	a->from_at = (int)v[0];
	a->from = v[1];
	a->to_at = (int)v[2];
	a->to = v[3];
	if (d->nr == SYS_renameat2)
		a->flags = (unsigned)v[4];
	/* a limit: two directories cannot be exchanged if one is of a lower layer */
	return !(a->flags & ~(unsigned)RENAME_NOREPLACE);
}

static void close_at(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

static bool is_dir_at(int at, const char *path)
{
	struct stat st;

	return !fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) &&
	       S_ISDIR(st.st_mode);
}

void rename_call_close(struct rename_call *c)
{
	close_at(c->from.at);
	close_at(c->to.at);
	c->from.at = c->to.at = -1;
}

/* Did the overlay refuse it, rather than because these are two file systems? */
static bool on_one_overlay(const struct rename_call *c)
{
	struct statx a, b;
	struct statfs fs;

	return !fstatfs(c->from.at, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC &&
	       !statx(c->from.at, "", AT_EMPTY_PATH, STATX_MNT_ID, &a) &&
	       !statx(c->to.at, "", AT_EMPTY_PATH, STATX_MNT_ID, &b) &&
	       a.stx_mnt_id == b.stx_mnt_id;
}

/* A directory is concerned: first try what the kernel would do. */
static enum rename_verdict try_rename(struct rename_call *c, int *ret_errnum)
{
	*ret_errnum = 0;
	if (!is_dir_at(c->from.at, c->from.name))
		return RENAME_CONTINUE;
	if (!renameat2(c->from.at, c->from.name, c->to.at, c->to.name, c->flags))
		return RENAME_DONE;
	*ret_errnum = errno;
	if (errno != EBUSY)
		return errno == EXDEV && on_one_overlay(c) ? RENAME_MOVE : RENAME_DONE;
	c->mount = mount_root(c->from.at, c->from.name);
	if (c->mount < 0)
		c->mount = mount_root(c->to.at, c->to.name);
	return c->mount < 0 ? RENAME_DONE : RENAME_MOUNT;
}

static enum rename_verdict check_directory(int listener, const struct seccomp_notif *n,
					   const struct arguments *a, unsigned own_filters,
					   int from_at, char *from, struct rename_call *c,
					   int *ret_errnum)
{
	char to[PATH_MAX];
	int to_at;

	if (!call_read_path((pid_t)n->pid, a->to, to) ||
	    !call_has_our_rights((pid_t)n->pid, own_filters))
		return RENAME_CONTINUE;
	to_at = call_open_at((pid_t)n->pid, a->to_at, to);
	if (!call_waits(listener, n->id)) {
		close_at(to_at);
		return RENAME_GONE;
	}
	c->flags = a->flags;
	if (to_at == -1 || !call_resolve(from_at, from, &c->from) ||
	    !call_resolve(to_at, to, &c->to)) {
		close_at(to_at);
		return RENAME_CONTINUE;
	}
	close_at(to_at);
	return try_rename(c, ret_errnum);
}

enum rename_verdict rename_check(int listener, const struct seccomp_notif *n, unsigned own_filters,
				 struct rename_call *ret, int *ret_errnum)
{
	enum rename_verdict v = RENAME_CONTINUE;
	struct arguments a;
	char from[PATH_MAX];
	int at;

	ret->from.at = ret->to.at = -1;
	if (!decode(&n->data, &a) || !call_read_path((pid_t)n->pid, a.from, from))
		return RENAME_CONTINUE;
	at = call_open_at((pid_t)n->pid, a.from_at, from);
	if (at != -1 && is_dir_at(at, from))
		v = check_directory(listener, n, &a, own_filters, at, from, ret, ret_errnum);
	close_at(at);
	if (v != RENAME_MOVE)
		rename_call_close(ret);
	return v;
}

/* Runs at every removal of a directory: by one call, which resolves the path relative to the
 * caller. */
static bool may_be_mount(pid_t pid, int fd, const char *path)
{
	char full[PATH_MAX + 64];
	struct statx st;
	int n = 0;

	if (*path == '/')
		n = snprintf(full, sizeof(full), "%s", path);
	else if (fd == AT_FDCWD)
		n = snprintf(full, sizeof(full), "/proc/%d/cwd/%s", (int)pid, path);
	else
		n = snprintf(full, sizeof(full), "/proc/%d/fd/%d/%s", (int)pid, fd, path);
	return n > 0 && n < (int)sizeof(full) &&
	       !statx(AT_FDCWD, full, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0,
		      &st) && (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

enum rename_verdict remove_check(int listener, const struct seccomp_notif *n, unsigned own_filters,
				 int *ret_mount)
{
	const bool has_at = n->data.nr == SYS_unlinkat;
	const int fd = has_at ? (int)n->data.args[0] : AT_FDCWD;
	const pid_t pid = (pid_t)n->pid;
	struct rename_end end = { .at = -1 };
	char path[PATH_MAX];
	bool waits;
	int at;

	*ret_mount = -1;
	if (!call_read_path(pid, n->data.args[has_at], path) || !may_be_mount(pid, fd, path) ||
	    !call_has_our_rights(pid, own_filters))
		return RENAME_CONTINUE;
	at = call_open_at(pid, fd, path);
	waits = call_waits(listener, n->id);
	if (waits && at != -1 && call_resolve(at, path, &end))
		*ret_mount = mount_root(end.at, end.name);
	if (at >= 0)
		(void)close(at);
	if (end.at >= 0)
		(void)close(end.at);
	return !waits ? RENAME_GONE : *ret_mount < 0 ? RENAME_CONTINUE : RENAME_MOUNT;
}

bool shares_full(const struct shares *s)
{
	for (size_t i = 0; i < MAX_SHARES; i++)
		if (!s->calls[i].used)
			return false;
	return true;
}

static void end_call(struct share_call *c, int errnum)
{
	if (c->listener >= 0)
		call_answer(c->listener, c->id, false, errnum);
	(void)close(c->dir);
	c->used = false;
}

static void send_share(const struct shares *s, const struct share_call *c, uint32_t what)
{
	const struct ga_ctl_msg m = { .type = GA_CTL_SHARED, .flags = what,
				      .value64 = c->device };

	/* without a supervisor, everything ends */
	(void)send_msg(s->ctl, &m);
}

void shares_ask(struct shares *s, int listener, uint64_t id, int mount, bool renamed)
{
	struct share_call *c = s->calls;
	struct stat st;

	while (c->used)
		c++;
	*c = (struct share_call){ .used = true, .listener = listener, .id = id, .dir = mount,
				  .renamed = renamed };
	if (fstat(mount, &st)) {
		end_call(c, EBUSY);
		return;
	}
	c->device = st.st_dev;
	c->mode = st.st_mode & 07777;
	send_share(s, c, GA_SHARED_IS);
}

static bool is_empty(int dir)
{
	union {
		struct dirent64 align;
		char buf[2048];
	} u;
	long n;

	if (lseek(dir, 0, SEEK_SET))
		return false;
	while ((n = syscall(SYS_getdents64, dir, &u, sizeof(u))) > 0)
		for (long i = 0; i < n;) {
			const struct dirent64 *e = (const void *)(u.buf + i);

			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
				return false;
			i += e->d_reclen;
		}
	return !n;
}

static void begin(struct shares *s, struct share_call *c)
{
	int dir = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0) {
		end_call(c, EBUSY);
		return;
	}
	(void)close(c->dir);
	c->dir = dir;
	if (!is_empty(dir)) {
		end_call(c, ENOTEMPTY);
		return;
	}
	if (fchmod(dir, c->mode & ~0222u)) {
		end_call(c, EBUSY);
		return;
	}
	if (is_empty(dir)) {
		c->removing = true;
		send_share(s, c, GA_SHARED_REMOVE);
		return;
	}
	(void)fchmod(dir, c->mode);
	end_call(c, ENOTEMPTY);
}

static void finish_share(struct shares *s, struct share_call *c, int errnum)
{
	if (c->removing) {
		if (errnum)
			(void)fchmod(c->dir, c->mode);
		end_call(c, errnum ? EBUSY : 0);
	} else if (errnum) {
		end_call(c, EBUSY);
	} else if (c->renamed) {
		/* two file systems: programs copy and remove */
		end_call(c, EXDEV);
	} else {
		begin(s, c);
	}
}

void shares_answered(struct shares *s)
{
	struct ga_ctl_msg m;

	if (recv_msg(s->answers, &m, NULL) <= 0)
		return;
	/* of two calls that wait for the same, either may have it */
	for (size_t i = 0; i < MAX_SHARES; i++) {
		struct share_call *c = &s->calls[i];

		if (c->used && c->device == m.value64 &&
		    c->removing == (m.flags == GA_SHARED_REMOVE)) {
			finish_share(s, c, m.value);
			return;
		}
	}
}

void shares_drop(struct shares *s, int listener)
{
	for (size_t i = 0; i < MAX_SHARES; i++)
		if (s->calls[i].used && s->calls[i].listener == listener)
			s->calls[i].listener = -1;
}
