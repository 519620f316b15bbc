/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/run/run.h"
#include "run-internal.h"

static const int taken[] = { SIGCHLD, SIGWINCH, SIGINT, SIGTERM, SIGHUP,
			     SIGQUIT, SIGTSTP,	SIGCONT };
static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Was the signal ignored when we started? A signalfd reports blocked signals even if they are
 * ignored; what the caller's parent ignores (nohup, a background job of a script) must stay
 * ignored. */
static bool ignored(int n)
{
	struct sigaction sa;

	return !sigaction(n, NULL, &sa) && !(sa.sa_flags & SA_SIGINFO) && sa.sa_handler == SIG_IGN;
}

int run_signals_take(struct ga_sandbox *sb, struct ga_error *err)
{
	sigset_t block, watch;

	(void)sigemptyset(&block);
	(void)sigemptyset(&watch);
	for (size_t i = 0; i < GA_NELEMS(taken); i++) {
		if (ignored(taken[i]))
			continue;
		(void)sigaddset(&block, taken[i]);
		/* processes are watched by pidfd: the caller's children remain the caller's */
		if (taken[i] != SIGCHLD)
			(void)sigaddset(&watch, taken[i]);
	}
	/* a reader that goes away is an error of write(2), and must not kill us */
	(void)sigaddset(&block, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &block, &sb->old_mask))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot block signals");
	sb->masked = true;
	sb->sigfd = signalfd(-1, &watch, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sb->sigfd < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open a signal descriptor");
	return 0;
}

/* A pending SIGPIPE of ours must not strike once it is unblocked. */
static void discard_sigpipe(void)
{
	struct timespec now = { 0, 0 };
	sigset_t s;

	(void)sigemptyset(&s);
	(void)sigaddset(&s, SIGPIPE);
	while (sigtimedwait(&s, NULL, &now) == SIGPIPE)
		;
}

void run_signals_restore(struct ga_sandbox *sb)
{
	if (!sb->masked)
		return;
	if (!sigismember(&sb->old_mask, SIGPIPE))
		discard_sigpipe();
	(void)sigprocmask(SIG_SETMASK, &sb->old_mask, NULL);
	sb->masked = false;
}

int run_signals_next(const struct ga_sandbox *sb)
{
	struct signalfd_siginfo si;
	ssize_t n = TEMP_FAILURE_RETRY(read(sb->sigfd, &si, sizeof(si)));

	return n == (ssize_t)sizeof(si) ? (int)si.ssi_signo : 0;
}

int run_signals_act(const struct ga_sandbox *sb)
{
	int n;

	do
		n = run_signals_next(sb);
	while (n == SIGHUP && ignored(SIGHUP));
	if (n == SIGHUP)
		ga_run_ignore_hangup();
	return n;
}

void ga_run_ignore_hangup(void)
{
	(void)signal(SIGHUP, SIG_IGN);
}

int run_signals_fatal_pending(void)
{
	sigset_t s;

	if (sigpending(&s))
		return 0;
	for (size_t i = 0; i < GA_NELEMS(fatal); i++)
		if (sigismember(&s, fatal[i]) == 1 && !ignored(fatal[i]))
			return fatal[i];
	return 0;
}

/* Stops the whole process group: for "git agent", git itself is waiting above us, and a shell
 * considers a job stopped only when all of it is. SIGTSTP rather than SIGSTOP: the kernel ignores
 * it where no shell could continue us (an orphaned group). */
void run_signals_suspend(const struct ga_sandbox *sb)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old;
	sigset_t s;

	while (run_signals_next(sb))
		;
	(void)sigemptyset(&s);
	(void)sigaddset(&s, SIGTSTP);
	(void)sigaction(SIGTSTP, &dfl, &old);
	(void)kill(0, SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &s, NULL);
	/* here we stop, if at all */
	(void)sigprocmask(SIG_BLOCK, &s, NULL);
	(void)sigaction(SIGTSTP, &old, NULL);
}
