/* SPDX-License-Identifier: MIT
 *
 * Start a command: one fork, and with a terminal a leader. Each requested command executes a
 * program, or reports the step that failed.
 *
 * The leader takes the place of a login shell: the command is its child in a process group of its
 * own, so the group is not orphaned and the terminal's stop signals work, and the leader can return
 * it to the foreground.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "renames-internal.h"

struct request {
	char *bytes;
	size_t len, pos;
	char *cwd;
	char **argv, **envp;
};

/* Read the payload to end of file. Returns -1 with errno, E2BIG beyond the limit. */
static int read_payload(int fd, struct request *r)
{
	size_t cap = 0;

	for (;;) {
		ssize_t n;

		if (r->len == cap) {
			cap = cap ? cap * 2 : 64u << 10;
			if (cap > 2 * (size_t)GA_CTL_PAYLOAD_MAX) {
				errno = E2BIG;
				return -1;
			}
			r->bytes = realloc(r->bytes, cap);
			if (!r->bytes)
				return -1;
		}
		n = read(fd, r->bytes + r->len, cap - r->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		r->len += (size_t)n;
	}
	if (r->len <= GA_CTL_PAYLOAD_MAX)
		return 0;
	errno = E2BIG;
	return -1;
}

static char *next_string(struct request *r)
{
	char *s = r->bytes + r->pos;
	char *end = r->pos < r->len ? memchr(s, '\0', r->len - r->pos) : NULL;

	if (!end)
		return NULL;
	r->pos = (size_t)(end - r->bytes) + 1;
	return s;
}

/* A count and that many strings; every string takes at least one byte. */
static char **next_vector(struct request *r)
{
	const char *count = next_string(r);
	char **v, *end;
	unsigned long n;

	if (!count || *count < '0' || *count > '9')
		return NULL;
	errno = 0;
	n = strtoul(count, &end, 10);
	if (errno || *end || n > r->len - r->pos)
		return NULL;
	v = calloc(n + 1, sizeof(*v));
	for (unsigned long i = 0; v && i < n; i++) {
		v[i] = next_string(r);
		if (!v[i])
			return NULL;
	}
	return v;
}

static int parse_request(struct request *r)
{
	r->cwd = next_string(r);
	r->argv = r->cwd ? next_vector(r) : NULL;
	r->envp = r->argv ? next_vector(r) : NULL;
	if (r->envp && r->argv[0] && r->pos == r->len)
		return 0;
	errno = EPROTO;
	return -1;
}

static void write_step(int report, uint32_t step)
{
	struct exec_failure f = { .step = step, .errnum = errno };

	(void)TEMP_FAILURE_RETRY(write(report, &f, sizeof(f)));
}

/* In a child: report the step that failed, with errno, and exit. */
static void __attribute__((noreturn)) command_fail(int report, uint32_t step)
{
	write_step(report, step);
	_exit(126);
}

bool read_failure(int fd, struct exec_failure *ret)
{
	ssize_t n = TEMP_FAILURE_RETRY(read(fd, ret, sizeof(*ret)));

	return n == (ssize_t)sizeof(*ret);
}

/* Reset all dispositions, as ignored signals would stay ignored through exec. */
static void default_signals(void)
{
	/* the kernel's struct sigaction, all zero: SIG_DFL. The raw call, because the C library
	 * refuses the two signals that it uses itself */
	static const unsigned long dfl[4];
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)syscall(SYS_rt_sigaction, n, dfl, NULL, (size_t)8);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Enter the working directory, creating it if need be: git does not record empty directories, so
 * the one where the user is may be missing in the session. */
static int enter(char *cwd)
{
	if (!chdir(cwd))
		return 0;
	if (errno != ENOENT)
		return -1;
	for (char *p = strchr(cwd + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(cwd, 0777);
		*p = '/';
	}
	(void)mkdir(cwd, 0777);
	return chdir(cwd);
}

/* PWD is how the user spells the project. Make it that of the working directory, in `pwd`, as far
 * as it leads there; else there is none. */
static void spell(char **env, char pwd[2 * PATH_MAX])
{
	char here[PATH_MAX];
	struct stat want, st;

	while (*env && strncmp(*env, "PWD=", 4) != 0)
		env++;
	if (!*env || stat(".", &want) || !getcwd(here, sizeof(here)))
		return;
	for (size_t i = strlen(here) + 1; i--;) {
		if (here[i] && here[i] != '/')
			continue;
		(void)snprintf(pwd, (size_t)2 * PATH_MAX, "%s%s", *env, here + i);
		if (!stat(pwd + 4, &st) && st.st_dev == want.st_dev && st.st_ino == want.st_ino) {
			*env = pwd;
			return;
		}
	}
	do
		*env = env[1];
	while (*env++);
}

static void announce_renames(int report, struct announced a)
{
	if (a.sock < 0 || !renames_announce(&a))
		return;
	write_step(report, STEP_NO_RENAMES);
}

/* In a child whose standard streams are to be `io`: read the request and execute it. Failures are
 * written to `report`. */
static void __attribute__((noreturn))
command_exec(int payload, const int io[3], int report, struct announced a)
{
	char pwd[2 * PATH_MAX];
	struct request r = { 0 };

	if (read_payload(payload, &r) || parse_request(&r))
		command_fail(report, GA_CTL_STEP_SETUP);
	/* our descriptors are above 2 (main sees to that), so no dup2() overwrites another one's
	 * source */
	for (int i = 0; i < 3; i++)
		if (dup2(io[i], i) < 0)
			command_fail(report, GA_CTL_STEP_SETUP);
	if (enter(r.cwd))
		command_fail(report, GA_CTL_STEP_CWD);
	spell(r.envp, pwd);
	announce_renames(report, a);
	default_signals();
	/* execvp() searches the PATH of environ, which must be the command's */
	environ = r.envp;
	(void)execvp(r.argv[0], r.argv);
	command_fail(report, GA_CTL_STEP_EXEC);
}

struct leader {
	uint32_t id;
	int tty, chan, sigfd;
	pid_t command; /* also its process group; 0 after it ended */
};

static void send_to_init(const struct leader *l, uint32_t type, int32_t value, uint32_t flags)
{
	struct ga_ctl_msg m = { .type = type, .id = l->id, .flags = flags, .value = value };

	if (send_msg(l->chan, &m))
		_exit(1);
}

static void __attribute__((noreturn)) give_up(const struct leader *l, uint32_t step)
{
	send_to_init(l, GA_CTL_FAILED, errno, step);
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
			send_to_init(l, GA_CTL_FAILED, f.errnum, f.step);
			_exit(126);
		}
		no_renames = (uint32_t)f.errnum;
	}
	(void)close(report[0]);
	send_to_init(l, GA_CTL_STARTED, l->command, no_renames);
}

static void watch_command(struct leader *l)
{
	int st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, WNOHANG | WUNTRACED)) > 0) {
		if (pid != l->command)
			continue;
		if (WIFSTOPPED(st)) {
			send_to_init(l, GA_CTL_STOPPED, WSTOPSIG(st), 0);
			continue;
		}
		l->command = 0;
		send_to_init(l, GA_CTL_EXITED, status_value(st), 0);
	}
}

/* The other end of the terminal was closed, or SIGHUP was sent. The kernel signals only the session
 * leader, which passes it on to the command. */
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

/* The leader of a terminal session; `chan` is its socket to pid 1. */
static void __attribute__((noreturn))
leader_main(uint32_t id, int payload, int tty, int chan, struct announced a)
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
