/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/sandbox/plan.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "sandbox-internal.h"

#define MIN_MAJOR 0
#define MIN_MINOR 8

/* --- bwrap */

enum machine { PLAIN, CODESPACES, DOCKER, PODMAN, KUBERNETES, OTHER, WSL1, WSL2 };

static const struct {
	const char *name;
	const char *allow; /* how to allow namespaces and mounts there; a complete phrase */
} machines[] = {
	[PLAIN] = { NULL, NULL },
	[CODESPACES] = { "GitHub Codespaces",
			 "add to .devcontainer/devcontainer.json: \"runArgs\": "
			 "[\"--security-opt\", \"seccomp=unconfined\", "
			 "\"--security-opt\", \"apparmor=unconfined\", "
			 "\"--security-opt\", \"systempaths=unconfined\"]; then rebuild the "
			 "container" },
	[DOCKER] = { "Docker",
		     "docker run --security-opt seccomp=unconfined --security-opt "
		     "apparmor=unconfined --security-opt systempaths=unconfined ..." },
	[PODMAN] = { "Podman",
		     "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL "
		     "--security-opt label=disable ..." },
	[KUBERNETES] = { "Kubernetes",
			 "in the pod: securityContext: {seccompProfile: {type: Unconfined}, "
			 "appArmorProfile: {type: Unconfined}, procMount: Unmasked}, hostUsers: "
			 "false" },
	[OTHER] = { "a container", "allow it user namespaces, mounts and a /proc of its own" },
	[WSL1] = { "WSL 1", "in Windows: wsl --set-version DISTRIBUTION 2" },
	[WSL2] = { "WSL 2", "in Windows: wsl --update, then wsl --shutdown" },
};

/* Not in the headers of every libc; the numbers are the kernel's. */
#define SYS_LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_VERSION_QUERY 1u

int ga_landlock_abi(void)
{
	long abi = syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, LANDLOCK_VERSION_QUERY);

	return abi > 0 ? (int)abi : 0;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static enum machine find(void)
{
	struct utsname u;

	if (exists("/workspaces/.codespaces"))
		return CODESPACES;
	if (exists("/run/secrets/kubernetes.io"))
		return KUBERNETES;
	if (exists("/.dockerenv"))
		return DOCKER;
	if (exists("/run/.containerenv"))
		return PODMAN;
	if (exists("/run/systemd/container"))
		return OTHER;
	if (uname(&u) || !strcasestr(u.release, "microsoft"))
		return PLAIN;
	return strstr(u.release, "WSL2") || strstr(u.release, "-standard") ? WSL2 : WSL1;
}

const char *ga_machine(void)
{
	return machines[find()].name;
}

/* In a container or WSL, hint at how to allow sandboxes there. */
static bool sandbox_hint_machine(struct ga_error *err)
{
	enum machine p = find();

	if (p == PLAIN)
		return false;
	(void)ga_hint(err, "this looks like %s: %s", machines[p].name, machines[p].allow);
	return true;
}

/* Does a seccomp filter apply to us? */
static bool sandbox_is_filtered(void)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return !ga_read_file_at(AT_FDCWD, "/proc/self/status", 65536, &b, GA_IGNORED) &&
	       strstr(b.ptr, "\nSeccomp:\t2");
}

/* True, with error and hint set, if the kernel is too old altogether. */
static bool sandbox_explain_old(struct ga_error *err)
{
	cleanup_free char *q = NULL;
	struct ga_version v;
	struct utsname u;

	if (uname(&u) || !ga_parse_release(u.release, &v) || !ga_version_before(&v, 5, 12))
		return false;
	q = ga_escape(u.release);
	(void)ga_fail(err, GA_ESTART, "this kernel (%s) is too old: Linux 5.12 or newer is needed",
		      q);
	if (find() != WSL1 && find() != WSL2)
		(void)ga_hint(err, "install a newer kernel and restart the machine (Debian: "
				   "linux-image-amd64 of backports; Ubuntu: linux-generic-hwe)");
	else
		(void)sandbox_hint_machine(err);
	return true;
}

static int check_file(const char *path, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(path);
	struct stat st;

	if (stat(path, &st))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot stat '%s'", path);
	/* set-uid, it would not run as the stage expects, and has had holes that a plain one cannot
	 * have */
	if (st.st_mode & (S_ISUID | S_ISGID) ||
	    getxattr(path, "security.capability", NULL, 0) > 0)
		return ga_fail(err, GA_ESTART, "'%s' is set-uid or has file capabilities"
			       GA_HINT "sudo chmod u-s,g-s %s; sudo setcap -r %s; or put a plain "
			       "bwrap first in PATH", path, word, word);
	return 0;
}

static int check_version_of(const char *path, struct ga_error *err)
{
	const char *const argv[] = { path, "--version", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_process p = GA_PROCESS_INIT;
	cleanup_free char *shown = NULL;
	struct ga_version v;
	int status;

	p.argv = argv;
	p.out = &out;
	p.out_max = 4096;
	p.timeout_ms = 10000;
	if (ga_process_run(&p, &status, err))
		return ga_error_wrap(err, "cannot run '%s'", path);
	ga_buf_chomp(&out);
	shown = ga_quote(out.ptr);
	if (status || !ga_parse_version(out.ptr, "bubblewrap", &v))
		return ga_fail(err, GA_ESTART, "'%s' does not say which version it is: %s", path,
			       shown);
	if (!ga_version_before(&v, MIN_MAJOR, MIN_MINOR))
		return 0;
	return ga_fail(err, GA_ESTART, "'%s' is too old (%s): bubblewrap %d.%d is needed"
		       GA_HINT "install a newer bubblewrap, or put one first in PATH", path, shown,
		       MIN_MAJOR, MIN_MINOR);
}

int ga_find_bwrap(const char *path, bool check_version, char **ret, struct ga_error *err)
{
	cleanup_free char *file = ga_find_program(path, "bwrap");

	if (file) {
		if (check_file(file, err) || (check_version && check_version_of(file, err)))
			return -1;
		*ret = ga_steal(&file);
		return 0;
	}
	return ga_fail(err, GA_ESTART, "bwrap is not installed"
		       GA_HINT "install the package 'bubblewrap' (0.8 or newer)");
}

/* --- causes of stage failures */

/* The number in a sysctl, or -1. */
static int sysctl_value(const char *path)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	uint64_t v;

	if (ga_read_file_at(AT_FDCWD, path, 64, &b, &err))
		return -1;
	ga_buf_chomp(&b);
	return ga_parse_u64(b.ptr, 1 << 30, &v) ? (int)v : -1;
}

/* Explain what forbids a call that an ordinary user may make. */
static int explain_denied(const char *what, int errnum, struct ga_error *err)
{
	(void)ga_fail_errno(err, GA_ESTART, errnum, sandbox_is_filtered()
		? "%s: a filter of system calls (seccomp) forbids it" : "%s", what);
	if (sandbox_hint_machine(err))
		return -1;
	return ga_hint(err, sandbox_is_filtered()
		? "start git agent outside of what set that filter (a container, a snap, a "
		  "service with SystemCallFilter=)"
		: "no security module (SELinux, AppArmor) and no filter of a container may "
		  "forbid user namespaces and mounts in them");
}

/* "not permitted" has the same causes at each step. */
static int explain_userns(const char *what, int errnum, struct ga_error *err)
{
	if (!sysctl_value("/proc/sys/user/max_user_namespaces"))
		return ga_fail(err, GA_ESTART, "user namespaces are switched off on this machine"
			       GA_HINT "sudo sysctl -w user.max_user_namespaces=15000 (to keep it: "
			       "a line in /etc/sysctl.d)");
	if (!sysctl_value("/proc/sys/kernel/unprivileged_userns_clone"))
		return ga_fail(err, GA_ESTART, "ordinary users may not create user namespaces here"
			       GA_HINT "sudo sysctl -w kernel.unprivileged_userns_clone=1 (to keep "
			       "it: a line in /etc/sysctl.d)");
	if (sysctl_value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0) {
		(void)ga_fail(err, GA_ESTART,
			      "AppArmor keeps git-agent-stage from using a user namespace");
		if (!access("/etc/apparmor.d/git-agent", F_OK))
			return ga_hint(err, "sudo apparmor_parser -r /etc/apparmor.d/git-agent (it "
					    "has to name the directory that git-agent-stage is "
					    "in)");
		return ga_hint(err, "sudo make install where git-agent was built puts its profile "
				    "into /etc/apparmor.d; or, for every program: sudo sysctl -w "
				    "kernel.apparmor_restrict_unprivileged_userns=0");
	}
	if (errnum == ENOSPC || errnum == EUSERS) {
		(void)ga_fail_errno(err, GA_ESTART, errnum, "%s", what);
		return ga_hint(err, "too many exist, or this is already a sandbox that allows "
				    "none: start git agent outside of it, or see sysctl "
				    "user.max_user_namespaces");
	}
	if (errnum == ENOSYS || errnum == EINVAL) {
		(void)ga_fail_errno(err, GA_ESTART, errnum, "this kernel has no user namespaces");
		return sandbox_hint_machine(err)
			       ? -1
			       : ga_hint(err, "it needs CONFIG_USER_NS: install the kernel of your "
					      "distribution");
	}
	return explain_denied(what, errnum, err);
}

static int explain_mount(const char *verb, const char *q, int errnum, struct ga_error *err)
{
	cleanup_free char *what = ga_strf("cannot %s '%s'", verb, q);

	return errnum == EPERM || errnum == EACCES
		       ? explain_denied(what, errnum, err)
		       : ga_fail_errno(err, GA_ESTART, errnum, "%s", what);
}

static const char *fs_name(const char *path)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} names[] = {
		{ 0x794c7630, "overlay" }, { 0x6969, "NFS" },	    { 0xf15f, "eCryptfs" },
		{ 0x65735546, "FUSE" },	   { 0x01021994, "tmpfs" }, { 0xff534d42, "CIFS" },
		{ 0xfe534d42, "SMB" },	   { 0x01021997, "9p" },    { 0x4d44, "FAT" },
	};
	struct statfs fs;

	if (statfs(path, &fs))
		return NULL;
	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if ((unsigned long)(unsigned)fs.f_type == names[i].magic)
			return names[i].name;
	return NULL;
}

static int explain_overlay(int errnum, const char *object, const char *q, struct ga_error *err)
{
	const char *fs = fs_name(object);

	if (errnum == EPERM || errnum == EACCES)
		return explain_denied("cannot mount an overlay", errnum, err);
	if (errnum == ENODEV)
		return ga_fail(err, GA_ESTART, "this kernel has no overlay file system"
			       GA_HINT "sudo modprobe overlay");
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EROFS)
		return ga_fail_errno(err, GA_ESTART, errnum, "cannot write to '%s'", q);
	if (fs && (errnum == EINVAL || errnum == EOPNOTSUPP || errnum == EREMOTE)) {
		(void)ga_fail(err, GA_ESTART, "'%s' is on a file system (%s) that cannot hold the "
					      "writable layer of an overlay", q, fs);
		if (!strcmp(fs, "overlay"))
			return ga_hint(err, "in a container, mount a volume there (docker run -v "
					    "git-agent:%s ...); or set XDG_STATE_HOME or state_dir "
					    "to a directory on ext4, xfs or btrfs", q);
		return ga_hint(err, "set XDG_STATE_HOME or state_dir to a directory on ext4, "
				    "xfs or btrfs");
	}
	(void)ga_fail_errno(err, GA_ESTART, errnum, "cannot mount the overlay that writes to '%s'",
			    q);
	if (errnum == EINVAL)
		return ga_hint(err, "the file system of XDG_STATE_HOME must support user.* "
				    "extended attributes, and no other file system may be mounted "
				    "inside the project");
	if (errnum == ELOOP)
		return ga_hint(err, "the session directory must not lie inside the project");
	return -1;
}

static int explain_dest(int errnum, const char *q, struct ga_error *err)
{
	if (errnum == ELOOP)
		return ga_fail(err, GA_ESTART, "a symlink blocks the mount point '%s'"
			       GA_HINT "something in the agents' home or an earlier session put it "
			       "there: inspect it, then remove it", q);
	if (errnum == ENOTDIR)
		return ga_fail(err, GA_ESTART, "a file blocks the mount point '%s'"
			       GA_HINT "remove it from the agents' home", q);
	return ga_fail_errno(err, GA_ESTART, errnum, "cannot make the mount point '%s'", q);
}

/* Explain a call that a new enough kernel lacks. */
static int explain_missing(const char *step, struct ga_error *err)
{
	(void)ga_fail(err, GA_ESTART, "a system call that sandboxes need is not there (%s)", step);
	if (sandbox_hint_machine(err))
		return -1;
	return ga_hint(err, "a filter of system calls hides it (an old container engine's does: "
			    "close_range, open_tree, move_mount, mount_setattr): start git agent "
			    "outside of it");
}

static bool step_is(const char *word, enum ga_stage_step step)
{
	static const char *const words[] = {
#define X(id, w) [id] = (w),
		GA_STAGE_STEPS(X)
#undef X
	};

	return !strcmp(word, words[step]);
}

/* The kernel allows mounting a new /proc only where the existing one is fully visible. */
static int hint_proc(struct ga_error *err)
{
	if (sandbox_hint_machine(err))
		return -1;
	return ga_hint(err, "something covers parts of /proc: allow a fresh one (docker run "
			    "--security-opt systempaths=unconfined)");
}

int ga_stage_explain(const char *step, int errnum, const char *object, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(object), *qs = ga_escape(step);

	if ((errnum == ENOSYS || errnum == EINVAL || errnum == EPERM) && sandbox_explain_old(err))
		return -1;
	if (errnum == ENOSYS && !step_is(step, GA_STEP_USERNS))
		return explain_missing(qs, err);
	if (step_is(step, GA_STEP_USERNS) || step_is(step, GA_STEP_IDMAP))
		return explain_userns("cannot create a user namespace", errnum, err);
	if (step_is(step, GA_STEP_PIDNS))
		return explain_userns("cannot create a pid namespace", errnum, err);
	/* these are the first to need capabilities in the namespace */
	if (step_is(step, GA_STEP_MOUNTNS) || step_is(step, GA_STEP_TMPFS))
		return errnum == EPERM || errnum == EACCES
			       ? explain_userns("cannot mount in a user namespace", errnum, err)
			       : explain_mount("mount", q, errnum, err);
	if (step_is(step, GA_STEP_OVERLAY))
		return explain_overlay(errnum, object, q, err);
	if (step_is(step, GA_STEP_HIDE))
		return explain_mount("cover the credentials in", q, errnum, err);
	if (step_is(step, GA_STEP_DEST))
		return explain_dest(errnum, q, err);
	if (step_is(step, GA_STEP_BIND))
		return explain_mount("mount", q, errnum, err);
	if (step_is(step, GA_STEP_SOURCE))
		return ga_fail_errno(err, GA_ESTART, errnum, "cannot open '%s' for the sandbox", q);
	if (step_is(step, GA_STEP_EXEC))
		return ga_fail_errno(err, GA_ESTART, errnum, "cannot execute '%s'", q);
	if (step_is(step, GA_STEP_PROC)) {
		(void)ga_fail_errno(err, GA_ESTART, errnum, "cannot mount a /proc");
		return hint_proc(err);
	}
	if (step_is(step, GA_STEP_CAPS))
		return ga_fail_errno(err, GA_ESTART, errnum, "cannot drop capabilities");
	if (step_is(step, GA_STEP_PLAN) && errnum == E2BIG)
		return ga_fail(err, GA_ESTART, "there are too many directories to mount"
			       GA_HINT "each ignored directory that is shared is one, each "
			       "submodule two, each place that objects are borrowed from two or "
			       "three");
	return ga_fail_errno(err, GA_ESTART, errnum, "git-agent-stage refused its plan (%s, '%s')",
			     qs, q);
}

int ga_bwrap_explain(const char *line, struct ga_error *err)
{
	/* AppArmor's unprivileged_userns profile grants a namespace without capabilities */
	static const char *const no_namespace[] = { "setting up uid map", "namespace failed",
						    "No permissions to creat",
						    "stat on /proc/self/ns/" };

	for (size_t i = 0; i < GA_NELEMS(no_namespace); i++)
		if (strstr(line, no_namespace[i]))
			return explain_userns("bubblewrap cannot create a user namespace",
					      EPERM, err);
	(void)ga_fail(err, GA_ESTART, "cannot start the sandbox: %s", line);
	return strstr(line, "mount proc") ? hint_proc(err) : -1;
}
