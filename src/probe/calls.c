/* SPDX-License-Identifier: MIT
 *
 * Try system calls that a session must not make, by every ABI.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probe.h"

enum abi { NATIVE, X32, I386 };
static const char *const abi_names[] = { "", " (x32)", " (i386)" };

struct call {
	const char *name;
	long nr;
	int nr32; /* number on i386; 0: none */
	unsigned long arg[5];
};

/* Arguments for which the kernel itself would give another error than EPERM and, where possible, do
 * nothing. */
#define BAD ((unsigned long)1) /* an address where nothing is mapped */
static const struct call table[] = {
	{ "unshare", SYS_unshare, 310, { CLONE_NEWUSER } },
	{ "setns", SYS_setns, 346, { (unsigned long)-1 } },
	{ "mount", SYS_mount, 21, { BAD, BAD, BAD } },
	{ "umount2", SYS_umount2, 52, { BAD } },
	{ "pivot_root", SYS_pivot_root, 217, { BAD, BAD } },
	{ "chroot", SYS_chroot, 61, { BAD } },
	{ "open_tree", 428, 428, { (unsigned long)-1, BAD } },
	{ "move_mount", 429, 429, { (unsigned long)-1, BAD, (unsigned long)-1, BAD } },
	{ "fsopen", 430, 430, { BAD } },
	{ "fsconfig", 431, 431, { (unsigned long)-1 } },
	{ "fsmount", 432, 432, { (unsigned long)-1 } },
	{ "fspick", 433, 433, { (unsigned long)-1, BAD } },
	{ "mount_setattr", 442, 442, { (unsigned long)-1, BAD } },
	{ "open_tree_attr", 467, 467, { (unsigned long)-1, BAD } },
	{ "clone3", 435, 435, { BAD, 8 } },
	{ "add_key", SYS_add_key, 286, { BAD } },
	{ "request_key", SYS_request_key, 287, { BAD } },
	{ "keyctl", SYS_keyctl, 288, { (unsigned long)-1 } },
	{ "bpf", SYS_bpf, 357, { (unsigned long)-1, BAD } },
	{ "perf_event_open", SYS_perf_event_open, 336, { BAD } },
	{ "userfaultfd", SYS_userfaultfd, 374, { (unsigned long)-1 } },
	{ "io_uring_setup", 425, 425, { 1, BAD } },
	{ "io_uring_enter", 426, 426, { (unsigned long)-1 } },
	{ "io_uring_register", 427, 427, { (unsigned long)-1 } },
	{ "fanotify_init", SYS_fanotify_init, 338, { (unsigned long)-1 } },
	{ "name_to_handle_at", SYS_name_to_handle_at, 341, { (unsigned long)-1, BAD, BAD, BAD } },
	{ "open_by_handle_at", SYS_open_by_handle_at, 342, { (unsigned long)-1, BAD } },
	{ "quotactl", SYS_quotactl, 131, { (unsigned long)-1, BAD } },
	{ "acct", SYS_acct, 51, { BAD } },
	{ "syslog", SYS_syslog, 103, { (unsigned long)-1 } },
	{ "move_pages", SYS_move_pages, 317, { 0, 1, BAD } },
	{ "mbind", SYS_mbind, 274, { BAD } },
	{ "set_mempolicy", SYS_set_mempolicy, 276, { (unsigned long)-1 } },
	{ "migrate_pages", SYS_migrate_pages, 294, { 0, (unsigned long)-1, BAD } },
	{ "kexec_load", SYS_kexec_load, 283, { 0, 0, BAD, (unsigned long)-1 } },
	{ "init_module", SYS_init_module, 128, { BAD } },
	{ "finit_module", SYS_finit_module, 350, { (unsigned long)-1 } },
	{ "delete_module", SYS_delete_module, 129, { BAD } },
	{ "reboot", SYS_reboot, 88, { 0 } },
	{ "swapon", SYS_swapon, 87, { BAD } },
	{ "swapoff", SYS_swapoff, 115, { BAD } },
	{ "settimeofday", SYS_settimeofday, 79, { BAD, BAD } },
	{ "clock_settime", SYS_clock_settime, 264, { (unsigned long)-1, BAD } },
	{ "adjtimex", SYS_adjtimex, 124, { BAD } },
	{ "sethostname", SYS_sethostname, 74, { BAD, (unsigned long)-1 } },
	{ "fcntl F_SETLEASE", SYS_fcntl, 55, { (unsigned long)-1, F_SETLEASE, F_RDLCK } },
	{ "personality READ_IMPLIES_EXEC", SYS_personality, 136, { READ_IMPLIES_EXEC } },
#ifdef SYS_modify_ldt
	{ "modify_ldt", SYS_modify_ldt, 123, { 1, BAD } },
	{ "iopl", SYS_iopl, 110, { 0 } },
#endif
	{ "socket AF_VSOCK", SYS_socket, 359, { AF_VSOCK, SOCK_STREAM } },
	{ "socket AF_ALG", SYS_socket, 359, { AF_ALG, SOCK_SEQPACKET } },
	{ "socket AF_PACKET", SYS_socket, 359, { AF_PACKET, SOCK_RAW } },
	{ "socket AF_TIPC", SYS_socket, 359, { AF_TIPC, SOCK_STREAM } },
	{ "socket NETLINK_NETFILTER", SYS_socket, 359,
	  { AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER } },
};

struct made {
	const struct call *call;
	enum abi abi;
	bool tty; /* its first argument is a terminal, which becomes the controlling one */
};

#ifdef __x86_64__
static long int80(const struct call *c)
{
	long rc;

	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"((long)c->nr32), "b"(c->arg[0]), "c"(c->arg[1]), "d"(c->arg[2]),
			   "S"(c->arg[3]), "D"(c->arg[4])
			 : "memory", "r8", "r9", "r10", "r11");
	if ((int)rc >= 0)
		return rc;
	errno = -(int)rc;
	return -1;
}
#endif

static long make(const void *arg)
{
	const struct made *m = arg;
	const struct call *c = m->call;

	/* on another terminal this needs privileges */
	if (m->tty && (setsid() < 0 || ioctl((int)c->arg[0], TIOCSCTTY, 0)))
		return 0;
#ifdef __x86_64__
	if (m->abi == I386)
		return int80(c);
#endif
	return syscall(m->abi == X32 ? c->nr | 0x40000000 : c->nr, c->arg[0], c->arg[1], c->arg[2],
		       c->arg[3], c->arg[4], 0L);
}

/* Was it refused by the filter, before the call itself? */
static bool refused(int e)
{
	return e == EPERM || e == ENOSYS || e == EAFNOSUPPORT || e == EPROTONOSUPPORT ||
	       e == KILLED + SIGSYS || e == KILLED + SIGSEGV;
}

static void try_call(struct result *r, const struct call *c, bool tty)
{
#ifdef __x86_64__
	const enum abi last = I386;
#else
	const enum abi last = NATIVE;
#endif
	for (enum abi abi = NATIVE; abi <= last; abi++) {
		const struct made m = { c, abi, tty };
		int e = abi == I386 && !c->nr32 ? EPERM : in_child(make, &m);

		attempt(r, refused(e), e, "%s%s: errno %d", c->name, abi_names[abi], e);
	}
}

void probe_table(const struct facts *f, struct result *r)
{
	(void)f;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		try_call(r, &table[i], false);
	/* a foreign ABI is refused for every call, harmless or not */
#ifdef __x86_64__
	for (enum abi abi = X32; abi <= I386; abi++) {
		static const struct call getpid_ = { "getpid", SYS_getpid, 20, { 0 } };
		const struct made m = { &getpid_, abi, false };
		int e = in_child(make, &m);

		attempt(r, e == KILLED + SIGSYS || e == KILLED + SIGSEGV, e, "getpid%s: errno %d",
			abi_names[abi], e);
	}
#endif
}

static long clone_user(const void *arg)
{
	long pid = syscall(SYS_clone, *(const unsigned long *)arg | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return pid;
}

static long enter_own(const void *arg)
{
	int fd = open(arg, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : setns(fd, 0);
}

void probe_namespaces(const struct facts *f, struct result *r)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} kinds[] = { { "user", CLONE_NEWUSER },
		      { "user and mount", CLONE_NEWUSER | CLONE_NEWNS },
		      { "mount", CLONE_NEWNS },
		      { "pid", CLONE_NEWPID },
		      { "network", CLONE_NEWNET } };
	static const struct call next = { "clone3", 435, 435, { BAD, 8 } };
	const struct made m = { &next, NATIVE, false };
	int e;

	(void)f;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		e = in_child(clone_user, &kinds[i].flag);
		attempt(r, e == EPERM || e == ENOSPC, e, "a %s namespace by clone: errno %d",
			kinds[i].name, e);
	}
	/* a call that a filter cannot inspect must not exist at all */
	e = in_child(make, &m);
	attempt(r, e == ENOSYS, e, "clone3: errno %d", e);
	e = in_child(enter_own, "/proc/self/ns/user");
	attempt(r, e == EPERM, e, "setns: errno %d", e);
	e = in_child(enter_own, "/proc/1/ns/mnt");
	attempt(r, e == EPERM || e == EACCES, e, "the namespaces of pid 1: errno %d", e);
}

/* ---- terminals */

/* A new terminal: an attempt that succeeds does no harm. */
static int own_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || unlockpt(master))
		return -1;
	return open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static void try_ioctl(struct result *r, int tty, const char *name, unsigned long request)
{
	/* below 4 GiB, for i386 */
	static void *low;
	struct call c = { name, SYS_ioctl, 54, { (unsigned long)tty, request, 0 } };
	struct made m = { &c, NATIVE, true };
	int e;

	if (!low) {
#ifdef MAP_32BIT
		low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
#else
		low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
	}
	memset(low, 'x', 1);
	c.arg[2] = (unsigned long)(uintptr_t)low;
	try_call(r, &c, true);
	for (unsigned bit = 32; bit < 64; bit += 15) {
		c.arg[1] = request | 1ul << bit;
		e = in_child(make, &m);
		attempt(r, e == EPERM, e, "%s + 2^%u: errno %d", name, bit, e);
	}
}

void probe_typing(const struct facts *f, struct result *r)
{
	int tty = own_terminal();

	(void)f;
	attempt(r, tty >= 0, 0, "there is no terminal to try it on");
	if (tty >= 0)
		try_ioctl(r, tty, "TIOCSTI", TIOCSTI);
}

void probe_console(const struct facts *f, struct result *r)
{
	int tty = own_terminal();

	(void)f;
	attempt(r, tty >= 0, 0, "there is no terminal to try it on");
	if (tty < 0)
		return;
	try_ioctl(r, tty, "TIOCLINUX", TIOCLINUX);
	try_ioctl(r, tty, "TIOCCONS", TIOCCONS);
	try_ioctl(r, tty, "TIOCSETD", TIOCSETD);
	for (int i = 0; i < 3; i++) {
		static const char *const consoles[] = { "/dev/console", "/dev/tty0", "/dev/tty1" };

		attempt_call(r, open(consoles[i], O_RDWR | O_NOCTTY | O_CLOEXEC), consoles[i]);
	}
}

/* ---- other processes */

static long trace_init(const void *arg)
{
	(void)arg;
	return ptrace(PTRACE_SEIZE, 1, 0, 0);
}

static long read_init(const void *arg)
{
	char c;
	struct iovec mine = { &c, 1 }, theirs = { (void *)(uintptr_t)0x400000, 1 };

	(void)arg;
	return process_vm_readv(1, &mine, 1, &theirs, 1, 0);
}

static long take_fd(const void *arg)
{
	int fd = (int)syscall(SYS_pidfd_open, 1, 0);

	(void)arg;
	return fd < 0 ? -1 : syscall(SYS_pidfd_getfd, fd, 0, 0);
}

static long compare(const void *arg)
{
	(void)arg;
	return syscall(SYS_kcmp, getpid(), 1, 0, 0, 0); /* KCMP_FILE, descriptors 0 and 0 */
}

void probe_processes(const struct facts *f, struct result *r)
{
	static const struct {
		const char *what;
		long (*fn)(const void *arg);
	} ways[] = { { "ptrace", trace_init },
		     { "process_vm_readv", read_init },
		     { "pidfd_getfd", take_fd },
		     { "kcmp", compare } };

	(void)f;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int e = in_child(ways[i].fn, NULL);

		attempt(r, e == EPERM || e == ENOSYS || e == EACCES, e, "%s of pid 1: errno %d",
			ways[i].what, e);
	}
	attempt(r, getppid() != 0, ESRCH, "its parent is outside");
}
