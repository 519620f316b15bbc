/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/parse.h"
#include "ga/sys/fd.h"
#include "run-internal.h"

#define PATIENCE_MS 5000

struct ga_sandbox *run_sandbox_new(void)
{
	struct ga_sandbox *sb = ga_calloc(1, sizeof(*sb));

	sb->ctl = sb->pidfd = sb->child = sb->status = sb->log = sb->sigfd = -1;
	sb->plan = sb->args = sb->seccomp = -1;
	return sb;
}

bool run_wait_gone(int pidfd, int ms)
{
	int64_t deadline = ms < 0 ? 0 : ga_now_ms() + ms;
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	for (;;) {
		int n = poll(&p, 1, ga_poll_timeout(deadline));

		if (n > 0)
			return true;
		if (!n && deadline && ga_now_ms() >= deadline)
			return false;
	}
}

/* Kill the stage, and bwrap, which is in the same process group and takes its pid namespace with
 * it. */
int run_kill_bwrap(struct ga_sandbox *sb)
{
	int st = 0;

	(void)kill(-sb->bwrap, SIGKILL);
	(void)kill(sb->bwrap, SIGKILL);
	(void)TEMP_FAILURE_RETRY(waitpid(sb->bwrap, &st, 0));
	sb->bwrap = 0;
	return st;
}

/* The kernel makes pid 1's exit kill all other processes and wait for them first, so this is the
 * end of every process inside. */
static void end_pid1(struct ga_sandbox *sb)
{
	if (sb->pidfd < 0 || run_wait_gone(sb->pidfd, PATIENCE_MS))
		return;
	(void)syscall(SYS_pidfd_send_signal, sb->pidfd, SIGKILL, NULL, 0);
	(void)run_wait_gone(sb->pidfd, -1);
}

/* Without a pid 1 there is nothing to wait for. */
static void end_bwrap(struct ga_sandbox *sb)
{
	if (sb->bwrap <= 0)
		return;
	if (sb->pidfd >= 0 && sb->child >= 0)
		(void)run_wait_gone(sb->child, PATIENCE_MS);
	(void)run_kill_bwrap(sb);
}

void ga_run_end(struct ga_sandbox *sb)
{
	if (!sb)
		return;
	ga_cleanup_closep(&sb->ctl);
	end_pid1(sb);
	/* the group is empty when the last process is gone */
	if (sb->cgroup)
		(void)rmdir(sb->cgroup);
	run_signals_restore(sb);
}

static void release(struct ga_sandbox *sb)
{
	run_services_free(sb);
	ga_buf_release(&sb->records);
	free(sb->trees);
	ga_strv_release(&sb->shared);
	ga_cleanup_closep(&sb->pidfd);
	ga_cleanup_closep(&sb->child);
	ga_cleanup_closep(&sb->status);
	ga_cleanup_closep(&sb->plan);
	ga_cleanup_closep(&sb->args);
	ga_cleanup_closep(&sb->seccomp);
	ga_cleanup_closep(&sb->log);
	ga_cleanup_closep(&sb->sigfd);
	free(sb->cgroup);
	free(sb);
}

static void reap_sender(struct ga_sandbox *sb)
{
	if (sb->sender > 0)
		(void)kill(sb->sender, SIGKILL);
	(void)ga_run_wait_sent(sb);
}

void ga_run_finish(struct ga_sandbox *sb)
{
	if (!sb)
		return;
	reap_sender(sb);
	ga_run_end(sb);
	end_bwrap(sb);
	release(sb);
}

void ga_run_abandon(struct ga_sandbox *sb)
{
	if (!sb)
		return;
	reap_sender(sb);
	ga_run_end(sb);
	/* a sandbox that never came up would wait for somebody; bwrap is in this process group,
	 * too */
	if (sb->bwrap > 0)
		(void)kill(-sb->bwrap, SIGKILL);
	release(sb);
}

#define STATUS_MAX ((size_t)64 << 10)

/* The rest of the line of that name in a process's status, or NULL. */
static const char *status_line(const struct ga_buf *b, const char *name)
{
	const char *at = strstr(b->ptr, name);

	return at ? at + strlen(name) : NULL;
}

/* Is the process pid 1 of a namespace, and exiting? Its memory is freed by then, so only root may
 * read its namespaces (seen with Linux 6.18). The first thread becomes a zombie before the last has
 * seen the end of every other process of the namespace. */
static bool is_ending(pid_t pid)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *state, *ids, *threads;
	char path[64];
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (ga_read_file_at(AT_FDCWD, path, STATUS_MAX, &b, GA_IGNORED))
		return false;
	state = status_line(&b, "\nState:\t");
	ids = status_line(&b, "\nNSpid:\t");
	threads = status_line(&b, "\nThreads:\t");
	if (!state || !ids || !threads || (*state == 'Z' && !strncmp(threads, "1\n", 2)))
		return false;
	n = strcspn(ids, "\n");
	return n > 2 && !strncmp(ids + n - 2, "\t1", 2);
}

/* A pid namespace lives exactly as long as its pid 1. The inode number alone would not do: the
 * kernel reuses it for another namespace later. */
bool ga_run_alive(pid_t pid, uint64_t pidns)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (pid <= 0)
		return false;
	if (stat(path, &st))
		return errno == EACCES && is_ending(pid);
	return st.st_ino == pidns;
}

bool ga_run_wait_sent(struct ga_sandbox *sb)
{
	int st = 0;

	if (sb->sender <= 0)
		return true;
	(void)TEMP_FAILURE_RETRY(waitpid(sb->sender, &st, 0));
	sb->sender = 0;
	return !st;
}

/* The values handed over for a sandbox that has begun and whose plan is not complete. */
#define N_HANDED 5

static void members(struct ga_sandbox *sb, int *ret[N_HANDED])
{
	int *const all[N_HANDED] = { &sb->ctl, &sb->child, &sb->status, &sb->log, &sb->plan };

	memcpy(ret, all, sizeof(all));
}

static bool set_inherited(int fd, bool across_exec)
{
	return !fcntl(fd, F_SETFD, across_exec ? 0 : FD_CLOEXEC);
}

int ga_run_hand_over(struct ga_sandbox *sb, struct ga_buf *ret, struct ga_error *err)
{
	int *fds[N_HANDED];

	members(sb, fds);
	ga_buf_addf(ret, "%d,%d", (int)sb->bwrap, (int)sb->sender);
	for (size_t i = 0; i < N_HANDED; i++) {
		if (!set_inherited(*fds[i], true))
			return ga_fail_errno(err, GA_ESTART, errno, "cannot keep a descriptor");
		ga_buf_addf(ret, ",%d", *fds[i]);
	}
	return 0;
}

int ga_run_take_over(const char *text, struct ga_sandbox **ret, struct ga_error *err)
{
	struct ga_sandbox *sb = run_sandbox_new();
	int *fds[N_HANDED], pid, teller;
	bool ok = ga_parse_next_int(&text, &pid) && pid > 0 && ga_parse_next_int(&text, &teller);

	members(sb, fds);
	for (size_t i = 0; ok && i < N_HANDED; i++)
		ok = ga_parse_next_int(&text, fds[i]) && *fds[i] > STDERR_FILENO &&
		     set_inherited(*fds[i], false);
	if (!ok || *text) {
		free(sb);
		return ga_fail(err, GA_ESTART, "cannot continue a sandbox that has started");
	}
	sb->bwrap = pid;
	sb->sender = teller;
	*ret = sb;
	return 0;
}
