/* SPDX-License-Identifier: MIT
 *
 * A session without a terminal: its supervisor leaves the user's terminal, and the user gets the
 * prompt back once the agent runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/base/parse.h"
#include "ga/sys/fd.h"

#define COLUMNS 80
#define ROWS 24

static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* In the supervisor: leave the terminal, and tell the process that the user called, which
 * ends. */
static void leave_terminal(struct cli_detach *d, const struct ga_session *s)
{
	cleanup_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
	(void)ga_write_full(d->fd, s->name, strlen(s->name) + 1);
	(void)close(ga_steal_fd(&d->fd));
	d->left = true;
}

/* Once the agent runs. */
static void begun(const struct ga_session *s, void *payload)
{
	struct cli_detach *d = payload;

	if (!d->left)
		leave_terminal(d, s);
}

static void choose_size(struct ga_detach *d)
{
	struct winsize ws;

	d->columns = COLUMNS;
	d->rows = ROWS;
	for (int fd = 0; fd <= 2; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &ws) || !ws.ws_col || !ws.ws_row)
			continue;
		d->columns = ws.ws_col;
		d->rows = ws.ws_row;
		return;
	}
}

/* Close what our caller left open for us, which must not stay open as long as a session takes. It
 * is told by not being close-on-exec, as all of ours is. */
static void close_inherited(int keep)
{
	cleanup_dir DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		uint64_t fd;

		if (ga_parse_u64(e->d_name, INT32_MAX, &fd) && fd > STDERR_FILENO &&
		    (int)fd != keep && !fcntl((int)fd, F_GETFD))
			(void)close((int)fd);
	}
}

/* Once the user typed Ctrl-\ d. */
static void leave(const struct ga_session *s, void *payload)
{
	struct cli_detach *d = payload;

	cli_note("agent/%s: runs on; 'git agent attach %s' shows it, 'git agent stop %s' ends it",
		 s->name, s->name, s->name);
	(void)setsid();
	close_inherited(d->fd);
	leave_terminal(d, s);
}

/* In the child. Until begun() it ends if its parent does. */
static int become_supervisor(pid_t parent, const sigset_t *mask)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent || setsid() < 0)
		_exit(ga_error_status(GA_ESTART));
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	return 0;
}

static int exit_status(pid_t pid)
{
	int st = 0;

	(void)TEMP_FAILURE_RETRY(waitpid(pid, &st, 0));
	return WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
}

static void pass_on(int sigfd, pid_t pid)
{
	struct signalfd_siginfo si;

	while (read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		(void)kill(pid, (int)si.ssi_signo);
}

/* Read the session's name from the supervisor, passing signals on to it meanwhile. False if it
 * ended before. */
static bool read_name(int fd, int sigfd, pid_t pid, char name[GA_SESSION_NAME_MAX + 1])
{
	size_t n = 0;

	for (;;) {
		struct pollfd p[] = { { .fd = fd, .events = POLLIN },
				      { .fd = sigfd, .events = POLLIN } };
		ssize_t got;

		if (poll(p, GA_NELEMS(p), -1) < 0)
			continue;
		if (p[1].revents)
			pass_on(sigfd, pid);
		if (!p[0].revents)
			continue;
		got = read(fd, name + n, GA_SESSION_NAME_MAX + 1 - n);
		if (got > 0)
			n += (size_t)got;
		else if (!got || errno != EINTR)
			return n && !name[n - 1] && ga_session_name_ok(name);
	}
}

static int wait_for_begin(int fd, pid_t pid, const sigset_t *watch, bool quiet, int *ret_status,
			  struct ga_error *err)
{
	cleanup_close int sigfd = signalfd(-1, watch, SFD_CLOEXEC | SFD_NONBLOCK);
	char name[GA_SESSION_NAME_MAX + 1] = "";

	if (sigfd < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open a signal descriptor");
	if (!read_name(fd, sigfd, pid, name)) {
		/* the supervisor has said why */
		*ret_status = exit_status(pid);
		return 1;
	}
	(void)printf("%s\n", name);
	if (!quiet)
		cli_note("agent/%s: runs; 'git agent attach %s' shows it, 'git agent stop %s' ends "
			 "it", name, name, name);
	return 1;
}

void cli_may_leave(const struct cli *c, struct cli_detach *ret)
{
	*ret = (struct cli_detach){ .fd = c->keeper };
	if (c->keeper >= 0)
		ret->how = (struct ga_detach){ .leave = leave, .payload = ret };
}

int cli_detach(struct cli *c, bool quiet, struct cli_detach *ret, struct ga_error *err)
{
	sigset_t watch, old;
	pid_t pid, parent = getpid();
	int p[2], rc;

	*ret = (struct cli_detach){ .how = { .now = true, .begun = begun, .payload = ret },
				    .fd = -1 };
	choose_size(&ret->how);
	/* what git-agent began are children of this process, and would end with it */
	ga_run_finish(ga_steal(&c->begun));
	ga_gitconfig_abandon(ga_steal(&c->env.loading));
	if (pipe2(p, O_CLOEXEC))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a pipe");
	(void)sigemptyset(&watch);
	for (size_t i = 0; i < GA_NELEMS(fatal); i++)
		(void)sigaddset(&watch, fatal[i]);
	(void)sigprocmask(SIG_BLOCK, &watch, &old);
	pid = fork();
	if (!pid) {
		(void)close(p[0]);
		ret->fd = p[1];
		close_inherited(p[1]);
		return become_supervisor(parent, &old);
	}
	(void)close(p[1]);
	rc = pid < 0 ? ga_fail_errno(err, GA_ESTART, errno, "cannot create a process")
		     : wait_for_begin(p[0], pid, &watch, quiet, &c->status, err);
	(void)close(p[0]);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}
