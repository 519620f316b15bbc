/* SPDX-License-Identifier: MIT
 *
 * The process that the shell waits for while a session is on its terminal. It does nothing but end
 * as the session's process does, or, once that has left the terminal, at once.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "host.h"

static const int passed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

static void __attribute__((noreturn)) end_as(int st, const sigset_t *mask)
{
	if (WIFSIGNALED(st)) {
		(void)signal(WTERMSIG(st), SIG_DFL);
		(void)sigprocmask(SIG_SETMASK, mask, NULL);
		(void)raise(WTERMSIG(st));
	}
	_exit(WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st));
}

/* What the terminal or the session's process sends goes to the whole process group anyway. */
static void pass_on(int sigfd, pid_t pid)
{
	struct signalfd_siginfo si;

	while (read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo != SIGCHLD && si.ssi_code <= 0 && si.ssi_pid != (uint32_t)pid)
			(void)kill(pid, (int)si.ssi_signo);
}

/* End or stop as it did. Signals may have become one: what it did is seen in its state alone. */
static void follow(pid_t pid, const sigset_t *mask)
{
	int st;

	if (waitpid(pid, &st, WNOHANG | WUNTRACED) != pid)
		return;
	if (!WIFSTOPPED(st))
		end_as(st, mask);
	(void)raise(SIGSTOP);
	/* who continues us may not know of others */
	(void)kill(pid, SIGCONT);
}

static void __attribute__((noreturn)) keep(int left, int sigfd, pid_t pid, const sigset_t *mask)
{
	for (;;) {
		struct pollfd p[] = { { .fd = left, .events = POLLIN },
				      { .fd = sigfd, .events = POLLIN } };
		char c;

		if (poll(p, GA_NELEMS(p), -1) < 0)
			continue;
		if (p[0].revents && read(left, &c, 1) == 1)
			_exit(0);
		/* it ends, and SIGCHLD comes */
		if (p[0].revents)
			left = -1;
		if (p[1].revents)
			pass_on(sigfd, pid);
		follow(pid, mask);
	}
}

int cli_make_keeper(void)
{
	pid_t pid, parent = getpid();
	sigset_t watch, old;
	int p[2], sigfd;

	(void)sigemptyset(&watch);
	(void)sigaddset(&watch, SIGCHLD);
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
