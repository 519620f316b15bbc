/* SPDX-License-Identifier: MIT
 *
 * Starting a command: one fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"

/* A leader never executes a program, so inherited descriptors are not closed for it: the control
 * socket, the channels of other commands, those of renames. All of them are below `base`, as pid 1
 * has few descriptors. */
static void __attribute__((noreturn))
run_leader(uint32_t id, int payload, int tty, int chan, struct announced a)
{
	const int base = 8 * MAX_COMMANDS;

	payload = fcntl(payload, F_DUPFD_CLOEXEC, base);
	tty = fcntl(tty, F_DUPFD_CLOEXEC, base);
	chan = fcntl(chan, F_DUPFD_CLOEXEC, base);
	if (a.sock >= 0)
		a.sock = fcntl(a.sock, F_DUPFD_CLOEXEC, base);
	if (payload < 0 || tty < 0 || chan < 0 || (a.renames && a.sock < 0))
		_exit(126);
	for (int fd = 3; fd < base; fd++)
		(void)close(fd);
	leader_main(id, payload, tty, chan, a);
}

static void __attribute__((noreturn))
run_child(const struct ga_ctl_msg *m, const struct request_fds *f, int chan, int ctl,
	  struct announced a)
{
	(void)close(ctl);
	if (m->flags & GA_SPAWN_TTY)
		run_leader(m->id, f->v[0], f->v[1], chan, a);
	if (setsid() < 0)
		command_fail(chan, GA_CTL_STEP_SETUP);
	command_exec(f->v[0], f->v + 1, chan, a);
}

/* Make the channel: [0] is our end, [1] the child's. */
static int open_chan(bool tty, int pair[2])
{
	if (tty)
		return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	/* non-blocking: it is read only when something was announced */
	return pipe2(pair, O_CLOEXEC | O_NONBLOCK);
}

int command_start(struct command *c, const struct ga_ctl_msg *m, struct request_fds *f, int ctl,
		  struct announced a)
{
	bool tty = m->flags & GA_SPAWN_TTY;
	int pair[2];
	pid_t pid;

	if (f->n != (tty ? 2u : 4u)) {
		errno = EPROTO;
		return -1;
	}
	if (open_chan(tty, pair))
		return -1;
	pid = fork();
	if (!pid)
		run_child(m, f, pair[1], ctl, a);
	(void)close(pair[1]);
	if (pid < 0) {
		int e = errno;

		(void)close(pair[0]);
		errno = e;
		return -1;
	}
	*c = (struct command){ .id = m->id, .pid = pid, .chan = pair[0], .tty = tty };
	return 0;
}
