/* SPDX-License-Identifier: MIT
 *
 * Announced calls that meet a mount. Which mounts are shared directories is for the supervisor to
 * say, and only it can remove one (src/run/control/shares.c): a question and an order over the
 * control socket. A mount is named by its device number, never by a path, and nothing else goes
 * out.
 *
 * What a program writes into the directory while it is being removed would be lost. So write
 * permission is taken from it first, and then nothing may be in it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"
#include "renames.h"

/* Asked for every directory that anybody removes: by one call, which looks at the path from the
 * caller's place. */
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

enum rename_verdict remove_look(int listener, const struct seccomp_notif *n, unsigned own_filters,
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

static void say(const struct shares *s, const struct share_call *c, uint32_t what)
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
	say(s, c, GA_SHARED_IS);
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

/* It is a shared directory. */
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
		say(s, c, GA_SHARED_REMOVE);
		return;
	}
	(void)fchmod(dir, c->mode);
	end_call(c, ENOTEMPTY);
}

static void answered(struct shares *s, struct share_call *c, int errnum)
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
			answered(s, c, m.value);
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
