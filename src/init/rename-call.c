/* SPDX-License-Identifier: MIT
 *
 * An announced rename call.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "renames.h"

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
