/* SPDX-License-Identifier: MIT */
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include "../test.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "ga/sandbox/sandbox.h"

/* What the call gives in a child under the filter: its errno, 0 if it
 * succeeded, 1000 + the signal if that ended the child. */
struct call {
	const char *what;
	long nr;
	unsigned long arg[6];
	int expect;
};

#define DENIED(name) { #name, SYS_##name, { 0 }, EPERM }

static const struct call calls[] = {
	DENIED(unshare),
	DENIED(setns),
	DENIED(mount),
	DENIED(umount2),
	DENIED(pivot_root),
	DENIED(chroot),
	DENIED(open_tree),
	DENIED(move_mount),
	DENIED(fsopen),
	DENIED(fsconfig),
	DENIED(fsmount),
	DENIED(fspick),
	DENIED(mount_setattr),
	{ "open_tree_attr", 467, { 0 }, EPERM },
	{ "clone CLONE_NEWUSER", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM },
	{ "clone3", SYS_clone3, { 0 }, ENOSYS },
	{ "TIOCSTI", SYS_ioctl, { 0, TIOCSTI, 0 }, EPERM },
	{ "TIOCSTI + 2^32", SYS_ioctl, { 0, TIOCSTI | 1ul << 32, 0 }, EPERM },
	{ "TIOCLINUX", SYS_ioctl, { 0, TIOCLINUX, 0 }, EPERM },
	{ "TIOCLINUX + 2^33", SYS_ioctl, { 0, TIOCLINUX | 1ul << 33, 0 }, EPERM },
	{ "FIONREAD on a closed descriptor", SYS_ioctl, { 999, FIONREAD, 0 }, EBADF },
	DENIED(add_key),
	DENIED(request_key),
	{ "keyctl", SYS_keyctl, { KEYCTL_GET_KEYRING_ID, (unsigned long)-3, 0 }, EPERM },
	DENIED(bpf),
	DENIED(perf_event_open),
	DENIED(userfaultfd),
	DENIED(io_uring_setup),
	DENIED(io_uring_enter),
	DENIED(io_uring_register),
	DENIED(fanotify_init),
	DENIED(name_to_handle_at),
	DENIED(open_by_handle_at),
	DENIED(quotactl),
	DENIED(acct),
	DENIED(syslog),
	DENIED(move_pages),
	DENIED(mbind),
	DENIED(get_mempolicy),
	DENIED(set_mempolicy),
	DENIED(migrate_pages),
	DENIED(kexec_load),
	DENIED(init_module),
	DENIED(finit_module),
	DENIED(delete_module),
	DENIED(reboot),
	DENIED(swapon),
	DENIED(swapoff),
	DENIED(settimeofday),
	DENIED(clock_settime),
	DENIED(adjtimex),
	DENIED(sethostname),
	{ "socket AF_UNIX", SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, 0 },
	{ "socket AF_INET", SYS_socket, { AF_INET, SOCK_STREAM, 0 }, 0 },
	{ "socket NETLINK_ROUTE", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE }, 0 },
	{ "socket NETLINK_NETFILTER", SYS_socket, { AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER },
	  EPROTONOSUPPORT },
	{ "socket AF_PACKET", SYS_socket, { AF_PACKET, SOCK_RAW, 0 }, EAFNOSUPPORT },
	{ "socket AF_VSOCK", SYS_socket, { AF_VSOCK, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ "socket AF_ALG", SYS_socket, { AF_ALG, SOCK_SEQPACKET, 0 }, EAFNOSUPPORT },
	{ "socket AF_ALG + 2^32", SYS_socket, { AF_ALG | 1ul << 32, SOCK_SEQPACKET, 0 }, EAFNOSUPPORT },
	{ "socketpair AF_TIPC", SYS_socketpair, { AF_TIPC, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ "personality asked", SYS_personality, { 0xffffffff }, 0 },
	{ "personality 0", SYS_personality, { 0 }, 0 },
	{ "personality ADDR_NO_RANDOMIZE", SYS_personality, { ADDR_NO_RANDOMIZE }, 0 },
	{ "personality READ_IMPLIES_EXEC", SYS_personality, { READ_IMPLIES_EXEC }, EPERM },
	{ "personality with the top bit", SYS_personality, { 0x80000000u | READ_IMPLIES_EXEC }, EPERM },
	{ "ptrace", SYS_ptrace, { PTRACE_TRACEME }, 0 },
	{ "getpid", SYS_getpid, { 0 }, 0 },
#ifdef __x86_64__
	DENIED(modify_ldt),
	DENIED(iopl),
	{ "x32 getpid", 0x40000000 | SYS_getpid, { 0 }, 1000 + SIGSYS },
#endif
};

/* What is otherwise where sandboxes can be made inside: calls that get to the kernel, which refuses
 * them for another reason or takes them, and calls that seem to be missing. Everything else is as
 * above. */
static const struct call nested[] = {
	{ "open_tree", SYS_open_tree, { 0 }, ENOSYS },
	{ "move_mount", SYS_move_mount, { 0 }, ENOSYS },
	{ "fsopen", SYS_fsopen, { 0 }, ENOSYS },
	{ "fsconfig", SYS_fsconfig, { 0 }, ENOSYS },
	{ "fsmount", SYS_fsmount, { 0 }, ENOSYS },
	{ "fspick", SYS_fspick, { 0 }, ENOSYS },
	{ "mount_setattr", SYS_mount_setattr, { 0 }, ENOSYS },
	{ "open_tree_attr", 467, { 0 }, ENOSYS },
	{ "unshare", SYS_unshare, { 0 }, 0 },
	{ "setns", SYS_setns, { (unsigned long)-1 }, EBADF },
	{ "mount", SYS_mount, { 0 }, EFAULT },
	{ "umount2", SYS_umount2, { 0, (unsigned long)-1 }, EINVAL },
	{ "pivot_root", SYS_pivot_root, { 0 }, EFAULT },
	{ "chroot", SYS_chroot, { 0 }, EFAULT },
	{ "clone CLONE_NEWUSER", SYS_clone, { CLONE_NEWUSER | CLONE_FS | SIGCHLD }, EINVAL },
	{ "sethostname", SYS_sethostname, { 0, (unsigned long)-1 }, EINVAL },
};

/* The kernel's prototype wants it writable, and does not write. */
static struct sock_fprog filter(const void *(*make)(size_t *ret_n))
{
	static struct sock_filter copy[BPF_MAXINSNS];
	size_t n;
	const void *p = make(&n);

	assert_in_range(n, 1, sizeof(copy));
	memcpy(copy, p, n);
	return (struct sock_fprog){ (unsigned short)(n / sizeof(*copy)), copy };
}

/* Privileged where the namespaces are its own, as a sandbox made inside is: what refuses a call then
 * is not a capability that is missing. */
static int enter_namespaces(void)
{
	return geteuid() ? unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS) : 0;
}

static void child(const struct sock_fprog *prog, const struct call *c, bool privileged, int out)
{
	int result;
	long rc;

	if (privileged && enter_namespaces())
		_exit(1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog))
		_exit(1);
	rc = syscall(c->nr, c->arg[0], c->arg[1], c->arg[2], c->arg[3], c->arg[4], c->arg[5]);
	result = rc < 0 ? errno : 0;
	_exit(write(out, &result, sizeof(result)) != sizeof(result));
}

static int outcome(const struct sock_fprog *program, const struct call *c, bool privileged)
{
	int p[2], status, result = -1;
	pid_t pid;

	EQUAL(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child(program, c, privileged, p[1]);
	(void)close(p[1]);
	if (read(p[0], &result, sizeof(result)) != sizeof(result))
		result = -1;
	(void)close(p[0]);
	EQUAL(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : result;
}

static bool is_right(const struct sock_fprog *program, const struct call *c, bool privileged)
{
	int got = outcome(program, c, privileged);

	if (got != c->expect)
		print_error("%s: expected %d, got %d\n", c->what, c->expect, got);
	return got == c->expect;
}

static bool can_enter_namespaces(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(enter_namespaces() != 0);
	EQUAL(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static const struct call *nested_call(const char *what)
{
	for_each (row, nested)
		if (!strcmp(row->what, what))
			return row;
	return NULL;
}

TEST(system_calls_are_refused_by_the_table)
{
	struct sock_fprog program = filter(ga_seccomp_program);
	size_t wrong = 0;

	for_each (row, calls)
		wrong += !is_right(&program, row, false);
	EQUAL(wrong, 0);
}

TEST(a_nested_sandbox_can_be_made)
{
	struct sock_fprog program = filter(ga_seccomp_nested_program);
	size_t wrong = 0, others = 0;

	if (!can_enter_namespaces())
		skip();
	for_each (row, calls) {
		const struct call *other = nested_call(row->what);

		others += other != NULL;
		wrong += !is_right(&program, other ? other : row, other != NULL);
	}
	EQUAL(wrong, 0);
	EQUAL(others, GA_NELEMS(nested));
}

TEST(the_table_becomes_a_filter)
{
	size_t n;

	(void)ga_seccomp_program(&n);
	EQUAL(n % sizeof(struct sock_filter), 0);
	assert_in_range(n / sizeof(struct sock_filter), 50, BPF_MAXINSNS);
}

TEST_MAIN(NULL, NULL)
