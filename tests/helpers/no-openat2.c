/* SPDX-License-Identifier: MIT
 *
 * no-openat2 ERRNO COMMAND...: run it where openat2() fails, with ENOSYS as on kernels
 * before 5.6 or EPERM as under filters that do not know the call. Without a command:
 * succeed if the call fails so here.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ga/alloc.h"

static int refuse(unsigned errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = GA_NELEMS(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

int main(int argc, char **argv)
{
	int errnum = argc < 2 ? 0 : !strcmp(argv[1], "ENOSYS") ? ENOSYS :
				    !strcmp(argv[1], "EPERM") ? EPERM : 0;

	if (!errnum) {
		(void)fputs("usage: no-openat2 ENOSYS|EPERM [COMMAND...]\n", stderr);
		return 129;
	}
	if (argc == 2)
		return syscall(SYS_openat2, -1, "", NULL, 0) == -1 && errno == errnum ? 0 : 1;
	if (refuse((unsigned)errnum)) {
		perror("no-openat2: cannot install the filter");
		return 125;
	}
	(void)execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
