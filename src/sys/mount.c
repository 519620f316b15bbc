/* SPDX-License-Identifier: MIT */
#include "ga/sys/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ga/base/buf.h"
#include "ga/sys/fd.h"

/* <sys/mount.h> is not included: C libraries differ in which of the new calls they wrap, and some
 * define the constants of <linux/mount.h> again. */

static int set_option(int fs, const char *key, const char *value)
{
	return (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0);
}

int ga_mount_attach(int copy, int at)
{
	return (int)syscall(SYS_move_mount, copy, "", at, "",
			    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* Mount on `at` what has been configured with fsconfig(2). Returns a descriptor of its root. */
static int create_and_attach(int fs, unsigned attr, int at)
{
	cleanup_close int root = -1;

	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -1;
	root = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
	if (root < 0 || ga_mount_attach(root, at))
		return -1;
	return ga_steal_fd(&root);
}

int ga_mount_tmpfs(int at, unsigned mode, const char *size)
{
	cleanup_close int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	cleanup_free char *octal = ga_strf("%o", mode);

	if (fs < 0 || set_option(fs, "mode", octal) || (size && set_option(fs, "size", size)))
		return -1;
	return create_and_attach(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, at);
}

int ga_mount_devpts(int at)
{
	cleanup_close int fs = (int)syscall(SYS_fsopen, "devpts", FSOPEN_CLOEXEC);
	int root;

	/* since Linux 4.7 each mount is a separate instance */
	if (fs < 0 || set_option(fs, "ptmxmode", "0666") || set_option(fs, "mode", "0620"))
		return -1;
	root = create_and_attach(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, at);
	if (root < 0)
		return -1;
	(void)close(root);
	return 0;
}

/* Uses mount(2), because fsconfig accepts no option longer than 255 bytes, and "lowerdir+", which
 * adds one layer at a time, came only with Linux 6.7. */
int ga_mount_overlay(int at, const int *lowers, size_t n, int upper, int work)
{
	cleanup_buf struct ga_buf opts = GA_BUF_INIT;
	cleanup_free char *target = ga_strf("/proc/self/fd/%d", at);

	/* index=off: sessions share lower layers, and with an index a second overlay over one of
	 * them is refused */
	ga_buf_addf(&opts, "userxattr,%sindex=off,lowerdir=", upper < 0 ? "" : "volatile,");
	for (size_t i = 0; i < n; i++)
		ga_buf_addf(&opts, "%s/proc/self/fd/%d", i ? ":" : "", lowers[i]);
	if (upper >= 0)
		ga_buf_addf(&opts, ",upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d", upper,
			    work);
	if (opts.len >= 4096) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return (int)syscall(SYS_mount, "overlay", target, "overlay",
			    (unsigned long)(MS_NOSUID | MS_NODEV), opts.ptr);
}

int ga_mount_read_only(int fd)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	return (int)syscall(SYS_mount_setattr, fd, "", (unsigned)AT_EMPTY_PATH, &attr,
			    sizeof(attr));
}

bool ga_mount_is_overlay(int fd)
{
	struct statfs fs;
	struct statx st;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC &&
	       !statx(fd, "", AT_EMPTY_PATH, 0, &st) &&
	       (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static int reconfigure(int at, bool read_only)
{
	cleanup_close int fs = (int)syscall(SYS_fspick, at, "",
					    FSPICK_EMPTY_PATH | FSPICK_CLOEXEC);

	if (fs < 0 || (read_only && syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, "ro", NULL, 0)))
		return -1;
	return (int)syscall(SYS_fsconfig, fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0);
}

int ga_mount_refresh(int at)
{
	/* an overlay without an upper layer is read-only and must be told to stay so */
	return reconfigure(at, false) && (errno != EROFS || reconfigure(at, true)) ? -1 : 0;
}

int ga_mount_share(int fd, bool share)
{
	struct mount_attr attr = { .propagation = share ? MS_SHARED : MS_PRIVATE };

	return (int)syscall(SYS_mount_setattr, fd, "", (unsigned)(AT_EMPTY_PATH | AT_RECURSIVE),
			    &attr, sizeof(attr));
}

int ga_mount_copy(int fd, enum ga_copy how)
{
	static const uint64_t attrs[] = {
		[GA_COPY_RW] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		[GA_COPY_RO] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY,
		[GA_COPY_DEVICE] = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
	};
	struct mount_attr attr = { .attr_set = attrs[how] };
	cleanup_close int copy = (int)syscall(
		SYS_open_tree, fd, "",
		(unsigned)(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH));

	if (copy < 0 || syscall(SYS_mount_setattr, copy, "",
				(unsigned)(AT_EMPTY_PATH | AT_RECURSIVE), &attr, sizeof(attr)))
		return -1;
	return ga_steal_fd(&copy);
}

int ga_mount_disown(int copy, int userns)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned)userns };
	unsigned flags = AT_EMPTY_PATH;

	/* a copy of a shared mount (the default under systemd) is its peer: what is mounted on the
	 * copy would appear on the host as well */
	if (ga_mount_share(copy, false))
		return -1;
	/* applies to all mounts below, or to none */
	if (!syscall(SYS_mount_setattr, copy, "", flags | AT_RECURSIVE, &attr, sizeof(attr)))
		return 0;
	return syscall(SYS_mount_setattr, copy, "", flags, &attr, sizeof(attr)) ? -1 : 1;
}

#define MOUNTINFO "/proc/self/mountinfo"
#define MOUNTINFO_MAX ((size_t)16 << 20)

/* Decode escapes such as "\040", in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* proc_pid_mountinfo(5): ID PARENT MAJOR:MINOR ROOT PATH OPTIONS [TAG...] - TYPE SOURCE OPTIONS */
static void add_line(char *line, struct ga_strv *ret)
{
	char *type = strstr(line, " - "), *save = NULL;
	char *words[5] = { NULL };

	for (size_t i = 0; type && i < GA_NELEMS(words); i++)
		words[i] = strtok_r(i ? NULL : line, " ", &save);
	if (!words[4])
		return;
	type += strlen(" - ");
	type[strcspn(type, " ")] = '\0';
	unescape(words[4]);
	ga_strv_push_many(ret, words[4], type, words[2], words[3], NULL);
}

int ga_mount_list(struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	char *save = NULL;

	if (ga_read_file_at(AT_FDCWD, MOUNTINFO, MOUNTINFO_MAX, &text, err))
		return -1;
	for (char *l = strtok_r(text.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		add_line(l, ret);
	return 0;
}
