/* SPDX-License-Identifier: MIT */
#include "ga/sys/ns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ga/sys/fd.h"

static int write_file(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* in one write: the kernel accepts an id map only as a whole */
	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

int ga_ns_unshare_user(void)
{
	return unshare(CLONE_NEWUSER);
}

int ga_ns_map_self(unsigned uid, unsigned gid)
{
	cleanup_free char *users = ga_strf("%u %u 1\n", uid, uid);
	cleanup_free char *groups = ga_strf("%u %u 1\n", gid, gid);

	if (write_file("/proc/self/uid_map", users))
		return -1;
	/* kernels before 3.19 have no such file and need none */
	if (write_file("/proc/self/setgroups", "deny") && errno != ENOENT)
		return -1;
	return write_file("/proc/self/gid_map", groups);
}

int ga_ns_unshare_mounts(void)
{
	if (unshare(CLONE_NEWNS))
		return -1;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* PID_NS_INIT_INO of linux/nsfs.h: a stable part of the kernel's interface that is older than that
 * name. */
#define FIRST_PIDNS 0xEFFFFFFCu

int ga_ns_unshare_pids(bool *ret_blind)
{
	struct stat st;

	*ret_blind = stat("/proc/self/ns/pid", &st) || st.st_ino != FIRST_PIDNS ||
		     access("/proc/2/ns", F_OK);
	return unshare(CLONE_NEWPID);
}

int ga_ns_show_pids(void)
{
	/* a slave: mounts propagate in from the stage's namespace, and none out */
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? -1 : 0;
}

int ga_ns_enter_user(struct ga_error *err)
{
	unsigned uid = geteuid(), gid = getegid();

	if (ga_ns_unshare_user())
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create a user namespace");
	if (ga_ns_map_self(uid, gid))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot map the user id");
	return 0;
}

int ga_ns_join(int pidfd)
{
	return setns(pidfd, CLONE_NEWUSER | CLONE_NEWNS);
}

int ga_ns_join_mounts(int pidfd)
{
	return setns(pidfd, CLONE_NEWNS);
}

static int drop_bounding(unsigned long keep)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (cap != keep && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return -1;
	return 0;
}

int ga_ns_drop_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	bool root = geteuid() == 0;

	memset(caps, 0, sizeof(caps));
	/* Since Linux 5.12 uid 0 can be mapped into a new user namespace only by a process that had
	 * CAP_SETFCAP when that was created, and bwrap creates one. It is a capability over this
	 * namespace and means nothing inside bwrap's. */
	if (root)
		caps[CAP_TO_INDEX(CAP_SETFCAP)].permitted =
			caps[CAP_TO_INDEX(CAP_SETFCAP)].effective = CAP_TO_MASK(CAP_SETFCAP);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    drop_bounding(root ? CAP_SETFCAP : ~0ul))
		return -1;
	return (int)syscall(SYS_capset, &head, caps);
}
