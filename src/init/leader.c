/* SPDX-License-Identifier: MIT
 *
 * The leader of a terminal session. It stands where a login shell would: the
 * command is its child in a process group of its own, so the group is not
 * orphaned and the terminal's stop signals work, and the leader can put it
 * back into the foreground.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

struct leader {
	uint32_t id;
	int tty, chan, sigfd;
	pid_t command; /* also its process group; 0 after it ended */
};

static void tell(const struct leader *l, uint32_t type, int32_t value, uint32_t flags)
{
	struct ga_ctl_msg m = { .type = type, .id = l->id, .flags = flags, .value = value };

	if (send_msg(l->chan, &m))
		_exit(1);
}

static void __attribute__((noreturn)) give_up(const struct leader *l, uint32_t step)
{
	tell(l, GA_CTL_FAILED, errno, step);
	_exit(126);
}

/* All signals are blocked here, including SIGTTOU, so that tcsetpgrp() works from the
 * background. */
static void take_foreground(const struct leader *l, pid_t pgrp)
{
	(void)tcsetpgrp(l->tty, pgrp);
}

static void start(struct leader *l, int payload, struct announced a)
{
	const int io[3] = { l->tty, l->tty, l->tty };
	struct exec_failure f;
	uint32_t no_renames = 0;
	int report[2];

	if (pipe2(report, O_CLOEXEC))
		give_up(l, GA_CTL_STEP_SETUP);
	l->command = fork();
	if (l->command < 0)
		give_up(l, GA_CTL_STEP_SETUP);
	if (!l->command) {
		(void)setpgid(0, 0);
		take_foreground(l, getpid());
		command_exec(payload, io, report[1], a);
	}
	(void)close(payload);
	(void)close(report[1]);
	if (a.sock >= 0)
		(void)close(a.sock);
	while (read_failure(report[0], &f)) {
		if (f.step != STEP_NO_RENAMES) {
			tell(l, GA_CTL_FAILED, f.errnum, f.step);
			_exit(126);
		}
		no_renames = (uint32_t)f.errnum;
	}
	(void)close(report[0]);
	tell(l, GA_CTL_STARTED, l->command, no_renames);
}

static void watch_command(struct leader *l)
{
	int st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, WNOHANG | WUNTRACED)) > 0) {
		if (pid != l->command)
			continue;
		if (WIFSTOPPED(st)) {
			tell(l, GA_CTL_STOPPED, WSTOPSIG(st), 0);
			continue;
		}
		l->command = 0;
		tell(l, GA_CTL_EXITED, status_value(st), 0);
	}
}

/* The other end of the terminal was closed, or somebody sent SIGHUP. The kernel tells only the
 * session leader, so the command has to be told. */
static void on_hangup(const struct leader *l)
{
	if (!l->command)
		_exit(0);
	(void)kill(-l->command, SIGHUP);
	(void)kill(-l->command, SIGCONT);
}

static void on_signals(struct leader *l)
{
	struct signalfd_siginfo si;
	bool hangup = false;

	while (read(l->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		hangup = hangup || si.ssi_signo == SIGHUP;
	watch_command(l);
	if (hangup)
		on_hangup(l);
}

static void on_message(struct leader *l)
{
	struct ga_ctl_msg m;
	int r = recv_msg(l->chan, &m, NULL);

	if (!r)
		_exit(0);
	if (r > 0 && m.type == GA_CTL_CONT && l->command) {
		take_foreground(l, l->command);
		(void)kill(-l->command, SIGCONT);
	}
}

void leader_main(uint32_t id, int payload, int tty, int chan, struct announced a)
{
	struct leader l = { .id = id, .tty = tty, .chan = chan };
	struct pollfd p[2];
	sigset_t s;

	if (setsid() < 0 || ioctl(tty, TIOCSCTTY, 0))
		give_up(&l, GA_CTL_STEP_TTY);
	(void)sigemptyset(&s);
	(void)sigaddset(&s, SIGCHLD);
	(void)sigaddset(&s, SIGHUP);
	l.sigfd = signalfd(-1, &s, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.sigfd < 0)
		give_up(&l, GA_CTL_STEP_SETUP);
	start(&l, payload, a);
	for (;;) {
		p[0] = (struct pollfd){ .fd = l.sigfd, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = chan, .events = POLLIN };
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			on_signals(&l);
		if (p[1].revents)
			on_message(&l);
	}
}
