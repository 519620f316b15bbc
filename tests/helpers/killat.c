/* SPDX-License-Identifier: MIT
 *
 * killat [-n N] [-m all|main|caller] [-s SIGNAL] -o REPORT -d DIR... -- COMMAND...: run the command
 * and kill it right before the Nth system call, by any process of it, that writes below one of the
 * directories. Reads are not counted; the end of a process that has written is, so that N of the
 * last call and one more is after it.
 *
 * -m all (default) kills all processes of the command, main only git-agent-main, caller only the
 * one that makes the call; in the latter two the others continue, and are waited for. With N = 0 the
 * calls are only counted. REPORT is one line each: "calls COUNT", "at N CALL PATH by PROCESS". The exit
 * status is that of the command, or 128 and the signal.
 *
 * Calls are stopped by a seccomp filter that notifies, since that costs little and, other than
 * ptrace, does not change who waits for whom.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/alloc.h"

#define MAX_DIRS 8
#define MAX_PIDS 4096
#define SECONDS 120 /* after which a command that hangs is killed */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define NONE (-1)

/* Which arguments tell where a call writes: a descriptor, of the directory that a path begins in or of the file
 * itself, and that path. A call with neither ends a process, or is like that. */
static const struct call {
	int nr, fd, path;
	int flags; /* argument with flags of open(2), or 0 */
	const char *name;
} calls[] = {
#ifdef SYS_open
	{ SYS_open, NONE, 0, 1, "open" },
	{ SYS_creat, NONE, 0, 0, "creat" },
	{ SYS_rename, NONE, 1, 0, "rename" },
	{ SYS_unlink, NONE, 0, 0, "unlink" },
	{ SYS_rmdir, NONE, 0, 0, "rmdir" },
	{ SYS_mkdir, NONE, 0, 0, "mkdir" },
	{ SYS_symlink, NONE, 1, 0, "symlink" },
	{ SYS_link, NONE, 1, 0, "link" },
	{ SYS_chmod, NONE, 0, 0, "chmod" },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, 2, 3, 0, "renameat" },
#endif
	{ SYS_openat, 0, 1, 2, "openat" },
	{ 437, 0, 1, 0, "openat2" },
	{ SYS_renameat2, 2, 3, 0, "renameat2" },
	{ SYS_unlinkat, 0, 1, 0, "unlinkat" },
	{ SYS_mkdirat, 0, 1, 0, "mkdirat" },
	{ SYS_symlinkat, 1, 2, 0, "symlinkat" },
	{ SYS_linkat, 2, 3, 0, "linkat" },
	{ SYS_fchmodat, 0, 1, 0, "fchmodat" },
	{ 452, 0, 1, 0, "fchmodat2" },
	{ SYS_truncate, NONE, 0, 0, "truncate" },
	{ SYS_ftruncate, 0, NONE, 0, "ftruncate" },
	{ SYS_fchmod, 0, NONE, 0, "fchmod" },
	{ SYS_write, 0, NONE, 0, "write" },
	{ SYS_pwrite64, 0, NONE, 0, "pwrite64" },
	{ SYS_writev, 0, NONE, 0, "writev" },
	{ SYS_pwritev, 0, NONE, 0, "pwritev" },
	{ SYS_copy_file_range, NONE, NONE, 0, "copy_file_range" },
	{ SYS_exit_group, NONE, NONE, 0, "exit_group" },
};

static struct {
	unsigned long n, count;
	const char *mode, *dirs[MAX_DIRS];
	size_t dirs_len;
	int signal;
	FILE *report;
	pid_t wrote[MAX_PIDS]; /* processes that have written */
	size_t wrote_len;
	bool killed;
} g = { .mode = "all", .signal = SIGKILL };

static __attribute__((noreturn)) void die(const char *what)
{
	perror(what);
	_exit(125);
}

/* Install the filter in this process and its children; returns the descriptor that is notified. */
static int install(void)
{
	struct sock_filter code[8 + 4 * GA_NELEMS(calls)];
	unsigned short len = 0;
	struct sock_fprog prog = { .filter = code };

#define ADD(...) (code[len++] = (struct sock_filter)__VA_ARGS__)
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	for (size_t i = 0; i < GA_NELEMS(calls); i++) {
		const unsigned arg = (unsigned)(offsetof(struct seccomp_data, args) +
						(size_t)calls[i].flags * sizeof(__u64));
		const unsigned writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

		if (!calls[i].flags) {
			ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].nr, 0, 1));
			ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
			continue;
		}
		ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].nr, 0, 4));
		ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arg));
		ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, writes, 0, 1));
		ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
		ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#undef ADD
	prog.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
}

union control {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void send_fd(int sock, int fd)
{
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	union control u = { .buf = "" };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(sock, &m, 0) != 1)
		die("killat: sendmsg");
}

static int receive_fd(int sock)
{
	char byte;
	int fd = -1;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	union control u = { .buf = "" };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c;

	if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) != 1 || !(c = CMSG_FIRSTHDR(&m)))
		die("killat: no filter");
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* ---- where a call writes ---- */

/* Returns the target of a link of /proc as a string in buf, or "". */
static const char *link_of(pid_t pid, const char *what, char buf[PATH_MAX])
{
	char name[64];
	ssize_t n;

	(void)snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
	n = readlink(name, buf, PATH_MAX - 1);
	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static const char *fd_path(pid_t pid, int fd, char buf[PATH_MAX])
{
	char what[32];

	(void)snprintf(what, sizeof(what), "fd/%d", fd);
	return link_of(pid, fd == AT_FDCWD ? "cwd" : what, buf);
}

/* The path that an argument of a call is, from the directory of its descriptor. */
static void path_at(pid_t pid, int dirfd, __u64 address, char buf[2 * PATH_MAX])
{
	char path[PATH_MAX] = "", dir[PATH_MAX] = "", mem[64];
	ssize_t n;
	int fd;

	(void)snprintf(mem, sizeof(mem), "/proc/%d/mem", (int)pid);
	fd = open(mem, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, path, sizeof(path) - 1, (off_t)address);
	if (fd >= 0)
		(void)close(fd);
	path[n > 0 ? n : 0] = '\0';
	if (path[0] == '/')
		(void)snprintf(buf, 2 * PATH_MAX, "%s", path);
	else
		(void)snprintf(buf, 2 * PATH_MAX, "%s/%s", fd_path(pid, dirfd, dir), path);
}

static bool below_dirs(const char *path)
{
	for (size_t i = 0; i < g.dirs_len; i++) {
		size_t n = strlen(g.dirs[i]);

		if (!strncmp(path, g.dirs[i], n) && (path[n] == '/' || !path[n]))
			return true;
	}
	return false;
}

static bool has_written(pid_t pid)
{
	for (size_t i = 0; i < g.wrote_len; i++)
		if (g.wrote[i] == pid)
			return true;
	return false;
}

/* The process that a thread belongs to. */
static pid_t process_of(pid_t tid)
{
	char name[64], line[256];
	int tgid = (int)tid;
	FILE *f;

	(void)snprintf(name, sizeof(name), "/proc/%d/status", (int)tid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Tgid:", 5))
			tgid = (int)strtol(line + 5, NULL, 10);
	if (f)
		(void)fclose(f);
	return (pid_t)tgid;
}

/* Does the call write below one of the directories? Sets where. */
static bool counts(const struct seccomp_notif *req, const struct call *c, char buf[2 * PATH_MAX])
{
	const pid_t pid = (pid_t)req->pid;
	const __u64 *a = req->data.args;
	bool yes;

	buf[0] = '\0';
	if (c->path != NONE)
		path_at(pid, c->fd == NONE ? AT_FDCWD : (int)a[c->fd], a[c->path], buf);
	else if (c->fd != NONE)
		(void)fd_path(pid, (int)a[c->fd], buf);
	else
		return has_written(process_of(pid));
	yes = below_dirs(buf);
	if (yes && g.wrote_len < MAX_PIDS && !has_written(process_of(pid)))
		g.wrote[g.wrote_len++] = process_of(pid);
	return yes;
}

/* ---- killing ---- */

/* Send the signal to all processes below this one, to those whose program has this name if that is
 * not NULL. */
static void kill_below(pid_t top, const char *program, int sig)
{
	char name[64], exe[PATH_MAX], *end;
	FILE *f;
	long pid;
	char line[4096];

	(void)snprintf(name, sizeof(name), "/proc/%d/task/%d/children", (int)top, (int)top);
	f = fopen(name, "re");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		(void)fclose(f);
	for (char *p = line; (pid = strtol(p, &end, 10)) > 0 && end != p; p = end) {
		const char *base = strrchr(link_of((pid_t)pid, "exe", exe), '/');

		kill_below((pid_t)pid, program, sig);
		if (!program || (base && !strcmp(base + 1, program)))
			(void)kill((pid_t)pid, sig);
	}
}

/* Kill whom the mode says; true if the caller lives, and its call is to be made. To one that was killed
 * nothing is answered, because the call would still be made. */
static bool strike(const struct seccomp_notif *req, const char *name, const char *path)
{
	char exe[PATH_MAX];
	const char *base = strrchr(link_of((pid_t)req->pid, "exe", exe), '/');

	g.killed = true;
	(void)fprintf(g.report, "at %lu %s %s by %s\n", g.n, name, path, base ? base + 1 : "?");
	if (!strcmp(g.mode, "main")) {
		kill_below(getpid(), "git-agent-main", g.signal);
		return g.signal != SIGKILL || !base || strcmp(base + 1, "git-agent-main") != 0;
	}
	if (!strcmp(g.mode, "caller"))
		(void)kill(process_of((pid_t)req->pid), g.signal);
	else
		kill_below(getpid(), NULL, g.signal);
	return g.signal != SIGKILL;
}

/* Answer one call. */
static void answer(int fd, struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	char path[2 * PATH_MAX];
	const struct call *c = NULL;

	for (size_t i = 0; i < GA_NELEMS(calls); i++)
		if (calls[i].nr == req->data.nr)
			c = &calls[i];
	if (c && counts(req, c, path) && ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &req->id) == 0) {
		g.count++;
		if (getenv("KILLAT_VERBOSE"))
			(void)fprintf(stderr, "%lu %s %s\n", g.count, c->name, path);
		if (g.count == g.n && !g.killed && !strike(req, c->name, path))
			return; /* whoever waits for an answer dies of the signal */
	}
	resp->id = req->id;
	resp->val = 0;
	resp->error = 0;
	resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, resp);
}

/* ---- the command ---- */

/* Reap what has ended; true as long as there are processes. */
static bool reap(pid_t child, int *status, int options)
{
	int st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, options)) > 0)
		if (pid == child)
			*status = st;
	return pid == 0 || errno != ECHILD;
}

static void serve(int fd, pid_t child, int *status)
{
	struct seccomp_notif *req = ga_malloc(4096);
	struct seccomp_notif_resp *resp = ga_malloc(4096);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int idle = 0;

	while (reap(child, status, WNOHANG)) {
		int n = poll(&p, 1, 20);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0 && (p.revents & POLLIN)) {
			memset(req, 0, 4096);
			if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, req) == 0)
				answer(fd, req, resp);
			idle = 0;
		} else if (n > 0) {
			break; /* nobody has the filter any more */
		} else if (++idle > SECONDS * 50) {
			(void)fputs("killat: the command hangs\n", stderr);
			g.mode = "all";
			g.signal = SIGKILL;
			g.killed = true;
		}
		if (g.killed && !strcmp(g.mode, "all") && g.signal == SIGKILL)
			kill_below(getpid(), NULL, SIGKILL);
	}
	(void)reap(child, status, 0);
	free(req);
	free(resp);
}

static int usage(void)
{
	(void)fputs("usage: killat [-n N] [-m all|main|caller] [-s SIGNAL] -o REPORT -d DIR... -- COMMAND...\n",
		    stderr);
	return 129;
}

int main(int argc, char **argv)
{
	int opt, socks[2], status = 0;
	const char *report = NULL;
	pid_t child;

	while ((opt = getopt(argc, argv, "+n:m:s:o:d:")) != -1) {
		switch (opt) {
		case 'n':
			g.n = strtoul(optarg, NULL, 10);
			break;
		case 'm':
			g.mode = optarg;
			break;
		case 's':
			g.signal = (int)strtol(optarg, NULL, 10);
			break;
		case 'o':
			report = optarg;
			break;
		case 'd':
			if (g.dirs_len < MAX_DIRS)
				g.dirs[g.dirs_len++] = optarg;
			break;
		default:
			return usage();
		}
	}
	if (optind >= argc || !report || !g.dirs_len)
		return usage();
	g.report = fopen(report, "we");
	if (!g.report || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
		die("killat");
	child = fork();
	if (child < 0)
		die("killat: fork");
	if (child == 0) {
		int fd = install();

		if (fd < 0)
			die("killat: cannot install the filter");
		send_fd(socks[1], fd);
		(void)close(fd);
		(void)execvp(argv[optind], argv + optind);
		die(argv[optind]);
	}
	(void)close(socks[1]);
	serve(receive_fd(socks[0]), child, &status);
	(void)fprintf(g.report, "calls %lu\n", g.count);
	(void)fclose(g.report);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
