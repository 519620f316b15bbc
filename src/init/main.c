/* SPDX-License-Identifier: MIT
 *
 * git-agent-init CONTROL_FD PROJECT: pid 1 of a sandbox; see ga/run/init-protocol.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "renames-internal.h"

/* A mount stays on the directory on which it was mounted, wherever that is moved, and is detached
 * when that is removed. Both can happen to a directory of the agents' home: by the agent, by
 * another session that has nothing mounted there, or on the host.
 *
 * The directory's path as the kernel reports it; looking the path up again could be made slow,
 * closed or misleading by the agent. */
static int current_path(int fd, char at[PATH_MAX])
{
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, at, PATH_MAX - 1);
	if (n < 0)
		return -1;
	at[n] = '\0';
	return 0;
}

/* Begin watching; further calls do nothing. Returns -1 with errno. */
static int project_open(struct project *p)
{
	if (p->opened)
		return 0;
	p->opened = true;
	p->fd = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->fd < 0 ? -1 : current_path(p->fd, p->at);
}

/* True once: when the project is first found to be gone. */
static bool project_lost(struct project *p)
{
	char now[PATH_MAX];

	if (p->fd < 0 || (!current_path(p->fd, now) && !strcmp(now, p->at)))
		return false;
	(void)close(p->fd);
	p->fd = -1;
	return true;
}

/* Not in the headers of every libc; numbers and layout are the kernel's ABI. */
#define SYS_LANDLOCK_CREATE_RULESET 444
#define SYS_LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_VERSION_QUERY 1u
#define LANDLOCK_SCOPE_ABSTRACT_UNIX 1u
#define LANDLOCK_SCOPE_SIGNALS 2u
struct landlock_attr {
	uint64_t fs, net, scoped;
};

struct init {
	int ctl;
	int sigfd;
	struct project project;
	struct renames *renames; /* NULL before a command asked for it */
	struct command commands[MAX_COMMANDS];
};

static void __attribute__((noreturn)) die(const char *what)
{
	(void)dprintf(2, "git-agent-init: %s: %s\n", what, strerror(errno));
	_exit(125);
}

/* The exit of pid 1 ends everything in the namespace; the kill is for the case that something runs
 * init elsewhere. */
static void __attribute__((noreturn)) end_everything(void)
{
	(void)kill(-1, SIGKILL);
	_exit(0);
}

/* From here on no abstract socket and no process outside can be reached. Kernels before 6.12 (ABI
 * 6) lack this, and there the namespaces alone hold; where it exists it must work. */
static void restrict_scope(void)
{
	struct landlock_attr attr = { .scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX |
						LANDLOCK_SCOPE_SIGNALS };
	long fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("cannot set no_new_privs");
	if (syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_QUERY) < 6)
		return;
	fd = syscall(SYS_LANDLOCK_CREATE_RULESET, &attr, sizeof(attr), 0u);
	if (fd < 0 || syscall(SYS_LANDLOCK_RESTRICT_SELF, (int)fd, 0u))
		die("cannot restrict the scope of signals and sockets");
	(void)close((int)fd);
}

/* Check that bwrap dropped all capabilities, since it ignores some failures. */
static void check_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
	int in_bounds, cap;

	if (syscall(SYS_capget, &head, caps))
		die("cannot ask for capabilities");
	errno = EPERM;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (caps[i].effective || caps[i].permitted || caps[i].inheritable)
			die("not all capabilities were dropped");
	for (cap = 0; (in_bounds = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) == 0; cap++)
		;
	/* EINVAL: beyond the last capability */
	if (in_bounds > 0 || errno != EINVAL || !cap)
		die("the capability bounding set is not empty");
	errno = EPERM;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		die("no_new_privs is not set");
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		die("no seccomp filter is installed");
}

static int parse_control_fd(int argc, char **argv)
{
	char *end;
	long fd;

	errno = EINVAL;
	if (argc != 3 || !*argv[1] || argv[2][0] != '/')
		die("two arguments are needed, the control descriptor and the project");
	fd = strtol(argv[1], &end, 10);
	if (*end || fd < 3 || fd > 1 << 20 || fcntl((int)fd, F_SETFD, FD_CLOEXEC))
		die("bad control descriptor");
	return (int)fd;
}

/* Occupy 0, 1 and 2, so that our descriptors never collide with those given to a command. */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
			die("cannot open '/dev/null'");
}

/* After a message could not be sent: that it is gone is the usual reason. */
static void __attribute__((noreturn)) lost_supervisor(void)
{
	if (errno == EPIPE || errno == ECONNRESET)
		end_everything();
	die("cannot reach the supervisor");
}

static void send_event(struct init *in, uint32_t type, const struct command *c, int32_t value,
		       uint32_t flags)
{
	struct ga_ctl_msg m = { .type = type, .id = c->id, .flags = flags, .value = value };

	if (send_msg(in->ctl, &m))
		lost_supervisor();
}

/* The kernel translates the credentials, so the supervisor gets our pid in its own namespace. */
static void send_ready(int ctl)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(struct ucred))];
	} u = { .buf = { 0 } };
	struct ucred cred = { .pid = getpid(), .uid = getuid(), .gid = getgid() };
	struct ga_ctl_msg m = { .type = GA_CTL_READY };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *ch = CMSG_FIRSTHDR(&h);
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		die("cannot look at '/proc/self/ns/pid'");
	m.value64 = st.st_ino;
	ch->cmsg_level = SOL_SOCKET;
	ch->cmsg_type = SCM_CREDENTIALS;
	ch->cmsg_len = CMSG_LEN(sizeof(cred));
	memcpy(CMSG_DATA(ch), &cred, sizeof(cred));
	if (sendmsg(ctl, &h, MSG_NOSIGNAL) != (ssize_t)sizeof(m))
		lost_supervisor();
}

static struct command *by_id(struct init *in, uint32_t id)
{
	for (size_t i = 0; i < MAX_COMMANDS; i++)
		if (in->commands[i].pid && in->commands[i].id == id)
			return &in->commands[i];
	return NULL;
}

static struct command *by_pid(struct init *in, pid_t pid)
{
	for (size_t i = 0; i < MAX_COMMANDS; i++)
		if (in->commands[i].pid == pid)
			return &in->commands[i];
	return NULL;
}

static void close_chan(struct command *c)
{
	if (c->chan >= 0)
		(void)close(c->chan);
	c->chan = -1;
}

static void watch_project(struct init *in)
{
	static const struct command none;

	if (project_lost(&in->project))
		send_event(in, GA_CTL_LOST, &none, 0, 0);
}

static void finished(struct init *in, struct command *c, uint32_t type, int32_t value,
		     uint32_t flags)
{
	/* so that a loss is reported before the end */
	watch_project(in);
	if (!c->reported)
		send_event(in, type, c, value, flags);
	c->reported = true;
}

static void started(struct init *in, struct command *c, pid_t pgrp, uint32_t no_renames)
{
	if (c->reported || c->pgrp)
		return;
	c->pgrp = pgrp;
	send_event(in, GA_CTL_STARTED, c, pgrp, no_renames);
}

/* Without a terminal: the pipe ends without data when the command was executed. Returns true if
 * there may be more. */
static bool on_exec_pipe(struct init *in, struct command *c)
{
	struct exec_failure f = { 0 };

	if (read_failure(c->chan, &f) && f.step == STEP_NO_RENAMES) {
		c->no_renames = (uint32_t)f.errnum;
		return true;
	}
	close_chan(c);
	if (f.step)
		finished(in, c, GA_CTL_FAILED, f.errnum, f.step);
	else
		started(in, c, c->pid, c->no_renames);
	return false;
}

static bool on_leader(struct init *in, struct command *c)
{
	struct ga_ctl_msg m;
	int r = recv_msg(c->chan, &m, NULL);

	if (!r)
		close_chan(c);
	if (r <= 0)
		return false;
	if (m.type == GA_CTL_STARTED)
		started(in, c, m.value, m.flags);
	else if (m.type == GA_CTL_STOPPED && c->pgrp && !c->reported)
		send_event(in, GA_CTL_STOPPED, c, m.value, 0);
	else if (m.type == GA_CTL_FAILED || m.type == GA_CTL_EXITED)
		finished(in, c, m.type, m.value, m.flags);
	return true;
}

/* False: there is nothing more now, or ever. */
static bool on_chan(struct init *in, struct command *c)
{
	return c->tty ? on_leader(in, c) : on_exec_pipe(in, c);
}

/* The first process has ended: first handle its last message, which is in the channel. The channel
 * may stay open, though: the child of a leader that somebody killed holds it until it executes
 * something, and may be stopped before that. */
static void on_first_process_end(struct init *in, struct command *c, int status)
{
	while (c->chan >= 0 && on_chan(in, c))
		;
	close_chan(c);
	/* if a leader was killed, nobody watches its command any more */
	if (c->tty && c->pgrp && !c->reported)
		(void)kill(-c->pgrp, SIGKILL);
	finished(in, c, GA_CTL_EXITED, status_value(status), 0);
	*c = (struct command){ .chan = -1 };
}

static void reap(struct init *in)
{
	int st;
	pid_t pid;

	while ((pid = waitpid(-1, &st, WNOHANG | WUNTRACED)) > 0) {
		struct command *c = by_pid(in, pid);

		if (WIFSTOPPED(st)) {
			/* only SIGSTOP stops a leader or a renaming process: continue it, or the
			 * end of the command is missed */
			if (c ? c->tty : renames_has(in->renames, pid))
				(void)kill(pid, SIGCONT);
			else if (c && c->pgrp && !c->reported)
				send_event(in, GA_CTL_STOPPED, c, WSTOPSIG(st), 0);
			continue;
		}
		if (c)
			on_first_process_end(in, c, st);
	}
}

static void spawn(struct init *in, const struct ga_ctl_msg *m, struct request_fds *f)
{
	struct command refused = { .id = m->id };
	struct command *c = by_pid(in, 0);
	struct announced a = { .sock = -1, .renames = m->flags & GA_SPAWN_RENAMES,
			       .deep = (m->flags & GA_SPAWN_RENAMES) &&
				       (m->flags & GA_SPAWN_DEEP) };

	/* now everything is mounted, and nobody can have moved it yet */
	if (project_open(&in->project))
		die("cannot open the project");
	if (a.renames)
		a.sock = renames_start(&in->renames, in->ctl);
	if (by_id(in, m->id))
		errno = EEXIST;
	else if (!c)
		errno = EAGAIN;
	else if (!(a.renames && a.sock < 0) && !command_start(c, m, f, in->ctl, a))
		errno = 0;
	if (errno)
		send_event(in, GA_CTL_FAILED, &refused, errno, GA_CTL_STEP_SETUP);
}

static void open_terminal(struct init *in)
{
	struct ga_ctl_msg m = { .type = GA_CTL_PTY_OPEN };
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	bool sent = fd >= 0 && !send_msg_fd(in->ctl, &m, fd);

	m.value = errno;
	if (fd >= 0)
		(void)close(fd);
	if (!sent && send_msg(in->ctl, &m))
		lost_supervisor();
}

static void resume(const struct ga_ctl_msg *m, struct command *c)
{
	/* only the leader may change the foreground group */
	if (c->tty)
		(void)send_msg(c->chan, m);
	else
		(void)kill(-c->pgrp, SIGCONT);
}

static void on_request(struct init *in)
{
	struct request_fds f = { .n = 0 };
	struct ga_ctl_msg m;
	struct command *c;
	int r = recv_msg(in->ctl, &m, &f);

	if (r < 0)
		return;
	if (!r || m.type == GA_CTL_QUIT)
		end_everything();
	c = m.type == GA_CTL_SPAWN || m.type == GA_CTL_SHARED ? NULL : by_id(in, m.id);
	if (m.type == GA_CTL_SPAWN)
		spawn(in, &m, &f);
	else if (m.type == GA_CTL_PTY)
		open_terminal(in);
	else if (m.type == GA_CTL_SHARED)
		renames_forward(in->renames, &m);
	else if (c && c->pgrp && !c->reported && m.type == GA_CTL_SIGNAL && m.value > 0 &&
		 m.value < NSIG)
		(void)kill(-c->pgrp, m.value);
	else if (c && c->pgrp && !c->reported && m.type == GA_CTL_CONT)
		resume(&m, c);
	close_fds(&f);
}

static void on_signal(struct init *in)
{
	struct signalfd_siginfo si[8];

	while (read(in->sigfd, si, sizeof(si)) > 0)
		;
	reap(in);
}

static void __attribute__((noreturn)) serve(struct init *in)
{
	for (;;) {
		struct pollfd p[2 + MAX_COMMANDS] = { { .fd = in->ctl, .events = POLLIN },
						      { .fd = in->sigfd, .events = POLLIN } };

		for (size_t i = 0; i < MAX_COMMANDS; i++)
			p[2 + i] = (struct pollfd){ .fd = in->commands[i].chan, .events = POLLIN };
		if (poll(p, 2 + MAX_COMMANDS, GA_CTL_WATCH_MS) < 0) {
			if (errno == EINTR)
				continue;
			die("cannot wait");
		}
		watch_project(in);
		/* check for end of file first: nothing else matters then */
		if (p[0].revents)
			on_request(in);
		for (size_t i = 0; i < MAX_COMMANDS; i++) {
			struct command *c = &in->commands[i];

			/* a request handled above may have put a new command into a slot that was
			 * free */
			if (!p[2 + i].revents || c->chan != p[2 + i].fd)
				continue;
			(void)on_chan(in, c);
		}
		if (p[1].revents)
			on_signal(in);
	}
}

int main(int argc, char **argv)
{
	struct init in = { .ctl = parse_control_fd(argc, argv) };
	sigset_t all, chld;

	/* otherwise /proc/1 would give access to our descriptors */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		die("cannot become non-dumpable");
	fill_standard_fds();
	/* Block all signals: they come by signalfd or not at all. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	in.sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (in.sigfd < 0)
		die("cannot open a signal descriptor");
	check_rights();
	restrict_scope();
	in.project = (struct project){ .fd = -1, .path = argv[2] };
	for (size_t i = 0; i < MAX_COMMANDS; i++)
		in.commands[i].chan = -1;
	send_ready(in.ctl);
	serve(&in);
}
