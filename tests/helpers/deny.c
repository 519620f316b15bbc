/* SPDX-License-Identifier: MIT
 *
 * deny CALL=ERRNO... [-- COMMAND...]: run the command with these system calls failing: with ENOSYS
 * as on kernels without them, with EPERM as under the filters of containers, or with another
 * error. A CALL with ":USER" fails only if its first argument has CLONE_NEWUSER set, one with
 * ":NODEV" (mount) only if its fourth has MS_NODEV. Without a command: exit 0 if the first call
 * fails with that error already.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ga/base/alloc.h"

#define MAX 16

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{ "openat2", 437 },	    { "unshare", SYS_unshare },	  { "clone", SYS_clone },
	{ "mount", SYS_mount },	    { "close_range", 436 },	  { "open_tree", 428 },
	{ "move_mount", 429 },	    { "fsopen", 430 },		  { "mount_setattr", 442 },
	{ "pidfd_open", 434 },	    { "keyctl", SYS_keyctl },
};
static const struct {
	const char *name;
	int e;
} errors[] = { { "EPERM", EPERM },   { "ENOSYS", ENOSYS }, { "EACCES", EACCES },
	       { "EINVAL", EINVAL }, { "ENOSPC", ENOSPC }, { "ENODEV", ENODEV } };

/* Restricts a denial to calls with one flag in an argument. */
static const struct only {
	const char *word;
	unsigned arg, bit;
} onlys[] = { { ":USER", 0, CLONE_NEWUSER }, { ":NODEV", 3, MS_NODEV } };

struct rule {
	long nr;
	int e;
	const struct only *only; /* NULL: all calls fail */
};

static bool parse(const char *arg, struct rule *r)
{
	const char *eq = strchr(arg, '=');
	size_t n = eq ? (size_t)(eq - arg) : 0;

	*r = (struct rule){ .nr = -1 };
	for (size_t i = 0; i < GA_NELEMS(onlys); i++) {
		size_t len = strlen(onlys[i].word);

		if (n > len && !strncmp(arg + n - len, onlys[i].word, len)) {
			r->only = &onlys[i];
			n -= len;
			break;
		}
	}
	for (size_t i = 0; eq && i < GA_NELEMS(calls); i++)
		if (strlen(calls[i].name) == n && !strncmp(calls[i].name, arg, n))
			r->nr = calls[i].nr;
	for (size_t i = 0; eq && i < GA_NELEMS(errors); i++)
		if (!strcmp(errors[i].name, eq + 1))
			r->e = errors[i].e;
	return r->nr >= 0 && r->e;
}

static int refuse(const struct rule *r)
{
	const size_t i = r->only ? r->only->arg : 0;
	const unsigned arg = (unsigned)(offsetof(struct seccomp_data, args) + i * sizeof(__u64));
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->nr, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arg),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, r->only ? r->only->bit : 0, 1, !r->only),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)r->e),
	};
	struct sock_fprog prog = { .len = GA_NELEMS(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

int main(int argc, char **argv)
{
	struct rule rules[MAX];
	int n = 0;

	while (n + 1 < argc && n < MAX && parse(argv[n + 1], &rules[n]))
		n++;
	if (!n || (n + 1 < argc && strcmp(argv[n + 1], "--") != 0)) {
		(void)fputs("usage: deny CALL=ERRNO... [-- COMMAND...]\n", stderr);
		return 129;
	}
	if (n + 1 == argc)
		return syscall(rules[0].nr, -1, 0, 0, 0, 0) == -1 && errno == rules[0].e ? 0 : 1;
	for (int i = 0; i < n; i++) {
		if (refuse(&rules[i])) {
			perror("deny: cannot install the filter");
			return 125;
		}
	}
	(void)execvp(argv[n + 2], argv + n + 2);
	perror(argv[n + 2]);
	return 127;
}
