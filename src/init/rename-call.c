/* SPDX-License-Identifier: MIT
 *
 * An announced rename call. Its paths are in the memory of the caller, which can change them at any
 * time; what is decided here never gives the caller anything that it could not have had otherwise.
 */
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

#include "renames.h"

#define PAGE 4096u

struct caller {
	int listener;
	uint64_t id;
	pid_t pid; /* of the calling thread */
};

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
	return !(a->flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE));
}

/* Read page by page: the next page may not be mapped. */
bool call_read_path(pid_t pid, uint64_t at, char path[PATH_MAX])
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

int call_open_at(pid_t pid, int fd, const char *path)
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

unsigned rename_filters(const char *pid)
{
	char path[64], text[4096];
	const char *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close_at(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strstr(text, "\nSeccomp_filters:");
	return p ? (unsigned)strtoul(p + strlen("\nSeccomp_filters:"), NULL, 10) : 0;
}

bool call_has_our_rights(pid_t pid, unsigned own_filters)
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

bool call_waits(int listener, uint64_t id)
{
	return !ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

/* Symlinks that the kernel makes for each process, as in /proc/self, would lead us elsewhere. */
bool call_resolve(int at, char *path, struct rename_end *ret)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_MAGICLINKS };
	size_t n = strlen(path);
	const char *parent = ".";
	char link[32], *slash;
	ssize_t len;

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
	if (ret->at < 0)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", ret->at);
	len = readlink(link, ret->where, sizeof(ret->where) - NAME_MAX - 2);
	if (len <= 0 || (size_t)len == sizeof(ret->where) - NAME_MAX - 2)
		return false;
	(void)snprintf(ret->where + len, sizeof(ret->where) - (size_t)len, "/%s", ret->name);
	return true;
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
	if (!is_dir_at(c->from.at, c->from.name) &&
	    !((c->flags & RENAME_EXCHANGE) && is_dir_at(c->to.at, c->to.name)))
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

static enum rename_verdict look_closer(const struct caller *who, const struct arguments *a,
				       unsigned own_filters, int from_at, char *from,
				       struct rename_call *c, int *ret_errnum)
{
	char to[PATH_MAX];
	int to_at;

	if (!call_read_path(who->pid, a->to, to) || !call_has_our_rights(who->pid, own_filters))
		return RENAME_CONTINUE;
	to_at = call_open_at(who->pid, a->to_at, to);
	if (!call_waits(who->listener, who->id)) {
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

enum rename_verdict rename_look(int listener, const struct seccomp_notif *n, unsigned own_filters,
				struct rename_call *ret, int *ret_errnum)
{
	const struct caller who = { listener, n->id, (pid_t)n->pid };
	enum rename_verdict v = RENAME_CONTINUE;
	struct arguments a;
	char from[PATH_MAX];
	int at;

	ret->from.at = ret->to.at = -1;
	if (!decode(&n->data, &a) || !call_read_path(who.pid, a.from, from))
		return RENAME_CONTINUE;
	at = call_open_at(who.pid, a.from_at, from);
	if (at != -1 && (is_dir_at(at, from) || (a.flags & RENAME_EXCHANGE)))
		v = look_closer(&who, &a, own_filters, at, from, ret, ret_errnum);
	close_at(at);
	if (v != RENAME_MOVE)
		rename_call_close(ret);
	return v;
}
