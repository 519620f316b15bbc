/* SPDX-License-Identifier: MIT
 *
 * The process that the shell waits for while a session is on its terminal. It does nothing but end
 * as the session's process does, or, once that has left the terminal, at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/fd.h"
#include "host.h"

static const int passed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

static void __attribute__((noreturn)) end_as(pid_t pid, const sigset_t *mask)
{
	int st = 0;

	(void)TEMP_FAILURE_RETRY(waitpid(pid, &st, 0));
	if (WIFSIGNALED(st)) {
		(void)signal(WTERMSIG(st), SIG_DFL);
		(void)sigprocmask(SIG_SETMASK, mask, NULL);
		(void)raise(WTERMSIG(st));
	}
	_exit(WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st));
}

/* Stop as we would have, had SIGTSTP not been blocked. Who continues us may not know of others. */
static void stop(pid_t pid)
{
	sigset_t s;

	(void)sigemptyset(&s);
	(void)sigaddset(&s, SIGTSTP);
	(void)raise(SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &s, NULL);
	(void)sigprocmask(SIG_BLOCK, &s, NULL);
	(void)kill(pid, SIGCONT);
}

/* A signal of the terminal's goes to the whole process group anyway; and when the session's process
 * stops itself, it stops all of the group (run_signals_suspend()). */
static void pass_on(int sigfd, pid_t pid)
{
	struct signalfd_siginfo si;

	while (read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_code <= 0 && si.ssi_pid != (uint32_t)pid)
			(void)kill(pid, (int)si.ssi_signo);
		else if (si.ssi_signo == SIGTSTP)
			stop(pid);
}

static void __attribute__((noreturn)) keep(int left, int sigfd, pid_t pid, const sigset_t *mask)
{
	for (;;) {
		struct pollfd p[] = { { .fd = left, .events = POLLIN },
				      { .fd = sigfd, .events = POLLIN } };
		char c;

		if (poll(p, GA_NELEMS(p), -1) < 0)
			continue;
		if (p[1].revents)
			pass_on(sigfd, pid);
		if (!p[0].revents)
			continue;
		if (read(left, &c, 1) == 1)
			_exit(0);
		end_as(pid, mask);
	}
}

int cli_make_keeper(void)
{
	pid_t pid, parent = getpid();
	sigset_t watch, old;
	int p[2], sigfd;

	(void)sigemptyset(&watch);
	for (size_t i = 0; i < GA_NELEMS(passed); i++)
		(void)sigaddset(&watch, passed[i]);
	sigfd = signalfd(-1, &watch, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigfd < 0 || pipe2(p, O_CLOEXEC)) {
		ga_cleanup_closep(&sigfd);
		return -1;
	}
	(void)sigprocmask(SIG_BLOCK, &watch, &old);
	pid = fork();
	if (pid > 0) {
		(void)close(p[1]);
		keep(p[0], sigfd, pid, &old);
	}
	(void)prctl(PR_SET_PDEATHSIG, pid ? 0 : SIGTERM, 0, 0, 0);
	if (!pid && getppid() != parent)
		_exit(128 + SIGTERM);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(sigfd);
	(void)close(p[0]);
	if (pid < 0)
		ga_cleanup_closep(&p[1]);
	return pid < 0 ? -1 : p[1];
}
