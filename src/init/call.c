/* SPDX-License-Identifier: MIT
 *
 * A call of a program that waits for an answer. Its paths are in the memory of the caller, which
 * can change them at any time; what is decided here never gives the caller anything that it could
 * not have had otherwise.
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

int mount_root(int at, const char *name)
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
