/* SPDX-License-Identifier: MIT
 *
 * seccomp-compile FILTER: run by the build, and the only file that uses libseccomp. It writes a
 * filter as a C file, because compiling it at run time would take longer than starting the
 * sandbox's processes.
 *
 * "renames" announces renames and removals of directories to pid 1
 * (src/init/renames-internal.h); a filter cannot know which renames are of directories, as paths
 * are behind pointers. "deep" announces
 * more removals. "session" applies to all processes of a sandbox, or "nested" if programs may
 * create sandboxes of their own in it. These allow everything except what the table names: an agent
 * runs compilers, browsers, databases and debuggers. Refused is what reaches beyond the sandbox, or
 * exposes kernel code that no development work needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ga/base/alloc.h"

/* Unknown to the libseccomp of some distributions; since 424, numbers are the same on every
 * architecture. */
#define NR_SET_MEMPOLICY_HOME_NODE 450
#define NR_OPEN_TREE_ATTR 467
/* an fcntl of Linux 6.19: a lease on a directory */
#define SETDELEG (1024 + 16)

/* The kernel reads ints from the low half of a register and ignores the rest: comparing all 64 bits
 * would let "TIOCSTI + 2^32" pass. */
#define LOW(arg, value) { arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (scmp_datum_t)(value) }
#define BITS(arg, value) { arg, SCMP_CMP_MASKED_EQ, (scmp_datum_t)(value), (scmp_datum_t)(value) }

#if defined(__s390__) || defined(__s390x__)
#define CLONE_FLAGS_ARG 1
#else
#define CLONE_FLAGS_ARG 0
#endif

struct rule {
	int nr;
	int errnum;
	unsigned n; /* conditions, all of which must hold */
	struct scmp_arg_cmp cond[2];
	enum { SAME, ALLOWED, MISSING } nested; /* in the "nested" filter; MISSING is ENOSYS */
};

#define DENY(name) { SCMP_SYS(name), EPERM, 0, { { 0 } }, SAME }
#define DENY_NR(nr) { nr, EPERM, 0, { { 0 } }, SAME }
#define DENY_OR_MISSING(name) { SCMP_SYS(name), EPERM, 0, { { 0 } }, MISSING }
#define DENY_BUT_NESTED(name) { SCMP_SYS(name), EPERM, 0, { { 0 } }, ALLOWED }

static const struct rule rules[] = {
	/* namespaces and mounts: a mount over the project would hide what is written below it */
	DENY_BUT_NESTED(unshare), DENY_BUT_NESTED(setns), DENY_BUT_NESTED(mount),
	DENY_BUT_NESTED(umount), DENY_BUT_NESTED(umount2), DENY_BUT_NESTED(pivot_root),
	DENY_BUT_NESTED(chroot),
	{ SCMP_SYS(clone), EPERM, 1, { BITS(CLONE_FLAGS_ARG, CLONE_NEWUSER) }, ALLOWED },
	/* the newer calls do the same, and sandboxes in use today can do without them, but mount(8)
	 * falls back to mount(2) only if the kernel seems to lack them */
	DENY_OR_MISSING(open_tree), DENY_OR_MISSING(move_mount), DENY_OR_MISSING(fsopen),
	DENY_OR_MISSING(fsconfig), DENY_OR_MISSING(fsmount), DENY_OR_MISSING(fspick),
	DENY_OR_MISSING(mount_setattr),
	{ NR_OPEN_TREE_ATTR, EPERM, 0, { { 0 } }, MISSING },
	/* its flags are behind a pointer, which no filter can follow; libraries take ENOSYS as "use
	 * clone" */
	{ SCMP_SYS(clone3), ENOSYS, 0, { { 0 } }, SAME },
	/* the terminal: typing on the user's behalf, the console, line disciplines */
	{ SCMP_SYS(ioctl), EPERM, 1, { LOW(1, TIOCSTI) }, SAME },
	{ SCMP_SYS(ioctl), EPERM, 1, { LOW(1, TIOCLINUX) }, SAME },
	{ SCMP_SYS(ioctl), EPERM, 1, { LOW(1, TIOCCONS) }, SAME },
	{ SCMP_SYS(ioctl), EPERM, 1, { LOW(1, TIOCSETD) }, SAME },
	DENY(vhangup),
	/* keyrings have no namespace */
	DENY(add_key), DENY(request_key), DENY(keyctl),
	/* large parts of the kernel that anybody can reach; io_uring can also do what other rows
	 * refuse, unseen by any filter */
	DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(io_uring_setup),
	DENY(io_uring_enter), DENY(io_uring_register), DENY(lookup_dcookie), DENY(nfsservctl),
	DENY(modify_ldt), DENY(vm86), DENY(vm86old), DENY(uselib), DENY(ustat), DENY(sysfs),
	DENY(fanotify_init), DENY(name_to_handle_at), DENY(open_by_handle_at), DENY(quotactl),
	DENY(quotactl_fd), DENY(acct), DENY(syslog),
	/* whoever opens such a file for writing waits for the lease's holder; for a file that is
	 * shown read-only, on the host as well */
	{ SCMP_SYS(fcntl), EPERM, 1, { LOW(1, F_SETLEASE) }, SAME },
	{ SCMP_SYS(fcntl64), EPERM, 1, { LOW(1, F_SETLEASE) }, SAME },
	{ SCMP_SYS(fcntl), EPERM, 1, { LOW(1, SETDELEG) }, SAME },
	{ SCMP_SYS(fcntl64), EPERM, 1, { LOW(1, SETDELEG) }, SAME },
	/* memory placement, of other processes and of the machine */
	DENY(move_pages), DENY(mbind), DENY(get_mempolicy), DENY(set_mempolicy),
	DENY(migrate_pages),
	DENY_NR(NR_SET_MEMPOLICY_HOME_NODE),
	/* the machine itself */
	DENY(kexec_load), DENY(kexec_file_load), DENY(init_module), DENY(finit_module),
	DENY(delete_module), DENY(reboot), DENY(swapon), DENY(swapoff), DENY(settimeofday),
	DENY(clock_settime), DENY(clock_settime64), DENY(stime), DENY(adjtimex),
	DENY(clock_adjtime), DENY(clock_adjtime64), DENY(iopl), DENY(ioperm),
	DENY_BUT_NESTED(sethostname), DENY(setdomainname),
	/* sockets: internet, unix, and netlink for routes */
	{ SCMP_SYS(socket), EPROTONOSUPPORT, 2,
	  { LOW(0, AF_NETLINK), { 2, SCMP_CMP_NE, NETLINK_ROUTE, 0 } }, SAME },
	{ SCMP_SYS(socketpair), EAFNOSUPPORT, 1, { { 0, SCMP_CMP_NE, AF_UNIX, 0 } }, SAME },
};

static int add(scmp_filter_ctx ctx, const struct rule *r)
{
	/* negative: libseccomp knows that this architecture has no such call */
	if (r->nr < 0)
		return 0;
	return seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((unsigned)r->errnum), r->nr, r->n,
				      r->cond);
}

/* A rule can only name what is refused, so every other family is listed. The kernel itself knows
 * none above AF_MAX. */
static int add_families(scmp_filter_ctx ctx)
{
	for (int family = 0; family < 64; family++) {
		struct rule r = { SCMP_SYS(socket), EAFNOSUPPORT, 1, { LOW(0, family) }, SAME };
		int rc;

		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK)
			continue;
		rc = add(ctx, &r);
		if (rc)
			return rc;
	}
	return 0;
}

/* Allowed are 0, ADDR_NO_RANDOMIZE (for debuggers) and the query 0xffffffff. Refuse bit by bit,
 * because a rule can compare an argument only once: a bit that is set while the top bit is clear,
 * or clear while the top bit is set. */
static int add_personality(scmp_filter_ctx ctx)
{
	const scmp_datum_t top = 0x80000000u;

	for (scmp_datum_t bit = 1; bit < top; bit <<= 1) {
		struct rule set = { SCMP_SYS(personality), EPERM, 1,
				    { { 0, SCMP_CMP_MASKED_EQ, top | bit, bit } }, SAME };
		struct rule clear = { SCMP_SYS(personality), EPERM, 1,
				      { { 0, SCMP_CMP_MASKED_EQ, top | bit, top } }, SAME };
		int rc = bit == ADDR_NO_RANDOMIZE ? 0 : add(ctx, &set);

		if (!rc)
			rc = add(ctx, &clear);
		if (rc)
			return rc;
	}
	return 0;
}

static int fill(scmp_filter_ctx ctx, bool nested)
{
	/* programs of another ABI (x32, i386) would bypass every row above */
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	/* a binary search instead of a linear comparison for every system call */
	if (!rc)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; !rc && i < GA_NELEMS(rules); i++) {
		struct rule r = rules[i];

		if (nested && r.nested == ALLOWED)
			continue;
		if (nested && r.nested == MISSING)
			r.errnum = ENOSYS;
		rc = add(ctx, &r);
	}
	if (!rc)
		rc = add_families(ctx);
	return rc ? rc : add_personality(ctx);
}

static int fill_session(scmp_filter_ctx ctx)
{
	return fill(ctx, false);
}

static int fill_nested(scmp_filter_ctx ctx)
{
	return fill(ctx, true);
}

/* The first is for sessions that share a directory of a directory: what removes the outer one may
 * name the inner by its parent's descriptor. Others are spared that, as removing a tree makes such
 * a call for every directory in it. */
static const struct rule announced[] = {
	{ SCMP_SYS(unlinkat), 0, 1, { BITS(2, AT_REMOVEDIR) }, SAME },
	{ SCMP_SYS(unlinkat), 0, 2, { LOW(0, (unsigned)AT_FDCWD), BITS(2, AT_REMOVEDIR) }, SAME },
	{ SCMP_SYS(rmdir), 0, 0, { { 0 } }, SAME },
	{ SCMP_SYS(rename), 0, 0, { { 0 } }, SAME },
	{ SCMP_SYS(renameat), 0, 0, { { 0 } }, SAME },
	{ SCMP_SYS(renameat2), 0, 0, { { 0 } }, SAME },
};
enum { DEEP = 0, RENAMES = 1 };

/* Announce the calls from number `i` on. */
static int fill_calls(scmp_filter_ctx ctx, size_t i)
{
	/* the other filter decides about other ABIs */
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);

	for (; !rc && i < GA_NELEMS(announced); i++)
		if (announced[i].nr >= 0)
			rc = seccomp_rule_add_array(ctx, SCMP_ACT_NOTIFY, announced[i].nr,
						    announced[i].n, announced[i].cond);
	return rc;
}

static int fill_renames(scmp_filter_ctx ctx)
{
	return fill_calls(ctx, RENAMES);
}

static int fill_deep(scmp_filter_ctx ctx)
{
	return fill_calls(ctx, DEEP);
}

static const struct filter {
	const char *name, *header, *function;
	int (*fill)(scmp_filter_ctx ctx);
} filters[] = {
	{ "session", "ga/sandbox/sandbox.h", "ga_seccomp_program", fill_session },
	{ "nested", "ga/sandbox/sandbox.h", "ga_seccomp_nested_program", fill_nested },
	{ "renames", "renames-internal.h", "renames_program", fill_renames },
	{ "deep", "renames-internal.h", "deep_program", fill_deep },
};

static int export(scmp_filter_ctx ctx, struct sock_filter *v, size_t max, size_t *ret_n)
{
	int fd = memfd_create("seccomp", MFD_CLOEXEC);
	int rc = fd < 0 ? -errno : seccomp_export_bpf(ctx, fd);
	ssize_t n = rc ? -1 : pread(fd, v, max * sizeof(*v), 0);

	if (fd >= 0)
		(void)close(fd);
	if (rc)
		return rc;
	*ret_n = n > 0 ? (size_t)n / sizeof(*v) : 0;
	return !*ret_n || *ret_n == max ? -EMSGSIZE : 0;
}

static int print(const struct filter *f, const struct sock_filter *v, size_t n)
{
	(void)printf("/* SPDX-License-Identifier: MIT\n * written by seccomp-compile */\n"
		     "#include <linux/filter.h>\n\n"
		     "#include \"%s\"\n\n"
		     "static const struct sock_filter program[] = {\n", f->header);
	for (size_t i = 0; i < n; i++)
		(void)printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", v[i].code, v[i].jt, v[i].jf,
			     v[i].k);
	(void)printf("};\n\n"
		     "const void *%s(size_t *ret_n)\n"
		     "{\n"
		     "\t*ret_n = sizeof(program);\n"
		     "\treturn program;\n"
		     "}\n", f->function);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

static int compile(const struct filter *f)
{
	static struct sock_filter program[BPF_MAXINSNS];
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc = ctx ? f->fill(ctx) : -ENOMEM;
	size_t n;

	if (!rc)
		rc = export(ctx, program, GA_NELEMS(program), &n);
	if (!rc)
		rc = print(f, program, n);
	seccomp_release(ctx);
	return rc;
}

int main(int argc, char **argv)
{
	int rc = -EINVAL;

	for (size_t i = 0; argc == 2 && i < GA_NELEMS(filters); i++)
		if (!strcmp(argv[1], filters[i].name))
			rc = compile(&filters[i]);
	if (rc)
		(void)fprintf(stderr, "seccomp-compile: %s\n", strerror(-rc));
	return rc != 0;
}
