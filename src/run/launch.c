/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/sandbox/plan.h"
#include "ga/sys/fd.h"
#include "run-internal.h"

#define READY_TIMEOUT_MS 20000
#define DYING_MS 1000
/* Bytes of the stage's records. */
#define STATUS_MAX ((size_t)1 << 20)

/* The descriptors that stage and bwrap inherit: 0 and 1 on /dev/null, 2 the log pipe, then these in
 * this order. */
enum { IN_PLAN, IN_STATUS, IN_ARGS, IN_SECCOMP, IN_CTL, N_INHERITED };
#define FIRST_INHERITED 3

struct handover {
	int fds[N_INHERITED];
	int null, log;
	const char *const *argv;
	/* set by the child, which shares our memory until it executes a program */
	const char *failed;
	int errnum;
};

static void handover_release(struct handover *h)
{
	for (size_t i = 0; i < N_INHERITED; i++)
		ga_cleanup_closep(&h->fds[i]);
	ga_cleanup_closep(&h->null);
	ga_cleanup_closep(&h->log);
}

static int open_channels(struct ga_sandbox *sb, struct handover *h, struct ga_error *err)
{
	int pair[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a socket");
	sb->ctl = pair[0];
	h->fds[IN_CTL] = pair[1];
	if (setsockopt(sb->ctl, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot prepare a socket");
	if (run_pipe(&sb->status, &h->fds[IN_STATUS], true, err) ||
	    run_pipe(&sb->log, &h->log, true, err))
		return -1;
	h->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (h->null < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open '/dev/null'");
	return 0;
}

/* Stage and bwrap read from sockets, not pipes: SIGPIPE is not yet blocked when we write, and
 * send(2) can suppress it. */
static int open_feed(int *ret_ours, int *ret_theirs, struct ga_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a socket");
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return 0;
}

static int open_feeds(struct ga_sandbox *sb, struct handover *h, struct ga_error *err)
{
	return open_feed(&sb->plan, &h->fds[IN_PLAN], err) ||
	       open_feed(&sb->args, &h->fds[IN_ARGS], err) ||
	       open_feed(&sb->seccomp, &h->fds[IN_SECCOMP], err) ? -1 : 0;
}

/* If the reader has exited, ga_run_wait_ready() reports it. */
static int feed(int fd, const void *p, size_t len, struct ga_error *err)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, (const char *)p + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (n < 0 && errno != EINTR)
			return ga_fail_errno(err, GA_ESTART, errno,
					     "cannot hand over to git-agent-stage");
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int feed_all(int *fd, const void *p, size_t n, struct ga_error *err)
{
	if (feed(*fd, p, n, err))
		return -1;
	(void)close(ga_steal_fd(fd));
	return 0;
}

/* Move all of them above the targets first, so that no target is another one's source. */
static int place_fds(const struct handover *h)
{
	int from[3 + N_INHERITED] = { h->null, h->null, h->log };
	const int above = FIRST_INHERITED + N_INHERITED;

	memcpy(from + 3, h->fds, sizeof(h->fds));
	for (size_t i = 0; i < GA_NELEMS(from); i++) {
		from[i] = fcntl(from[i], F_DUPFD, above);
		if (from[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < GA_NELEMS(from); i++)
		if (dup2(from[i], (int)i) < 0)
			return -1;
	return (int)syscall(SYS_close_range, (unsigned)above, ~0u, 0u);
}

static int reset_signals(void)
{
	/* the kernel's struct sigaction, all zero: SIG_DFL. The raw call, because the C library
	 * refuses the two signals that it uses itself */
	static const unsigned long dfl[4];
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		(void)syscall(SYS_rt_sigaction, n, dfl, NULL, (size_t)8);
	(void)sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Agents must not find the caller's keys. Kernels without keyrings have none to find; where the
 * call is forbidden to us, it is forbidden inside as well. */
static int fresh_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return -1;
	return 0;
}

/* 1 and not 0: a core_pattern that is a pipe ignores the limit, except for this value, and runs its
 * program as root on the host. For files, one byte is as good as none. */
static int no_core_dumps(void)
{
	struct rlimit one = { 1, 1 };
	struct rlimit now;

	if (!getrlimit(RLIMIT_CORE, &now) && now.rlim_max < 1)
		return 0;
	return setrlimit(RLIMIT_CORE, &one);
}

/* In the child of vfork(): only system calls, and no change of our memory but `failed` and
 * `errnum`. The parent-death signal is set by the stage, because the kernel clears it when the
 * stage enters its user namespace. If we die before that, the stage runs until init finds its
 * socket closed. */
static void __attribute__((noreturn)) become_stage(struct handover *h)
{
	static char *const env[] = { NULL };
	char **argv;

	/* no controlling terminal, so neither its signals nor its ioctls reach them; and a process
	 * group by which all of them can be killed */
	h->failed = "enter a session";
	if (setsid() < 0)
		goto fail;
	h->failed = "get a session keyring";
	if (fresh_keyring())
		goto fail;
	h->failed = "forbid core dumps";
	if (no_core_dumps())
		goto fail;
	h->failed = "place descriptors";
	if (place_fds(h))
		goto fail;
	h->failed = "reset signals";
	if (reset_signals())
		goto fail;
	h->failed = "execute";
	/* the prototype wants char *const *, though it writes nothing through it */
	memcpy(&argv, &h->argv, sizeof(argv));
	(void)execve(argv[0], argv, env);
fail:
	h->errnum = errno;
	_exit(125);
}

/* vfork: its cost does not depend on our size, and the child can tell us what failed. No handler of
 * the caller's may run in the child. */
static int start_stage(struct ga_sandbox *sb, struct handover *h, struct ga_error *err)
{
	sigset_t all, old;
	pid_t pid;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	pid = vfork();
	if (!pid)
		become_stage(h);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a process");
	sb->bwrap = pid;
	if (h->errnum) {
		if (!strcmp(h->failed, "execute")) {
			(void)ga_fail_errno(err, GA_ESTART, h->errnum, "cannot run '%s'",
					    h->argv[0]);
			if (h->errnum != ENOENT)
				return -1;
			return ga_hint(err, "the installation of git-agent is incomplete: run "
					    "'make install' in its build directory");
		}
		if (h->errnum == ENOSYS)
			return ga_stage_explain("descriptors", h->errnum, h->failed, err);
		return ga_fail_errno(err, GA_ESTART, h->errnum, "cannot start the sandbox: %s",
				     h->failed);
	}
	sb->child = (int)syscall(SYS_pidfd_open, pid, 0);
	if (sb->child < 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot watch a process");
	return 0;
}

/* Read what the stage has written so far, keeping at most STATUS_MAX. Returns true at the end. */
static bool read_status(struct ga_sandbox *sb)
{
	char buf[16384];
	ssize_t n;

	while ((n = read(sb->status, buf, sizeof(buf))) > 0) {
		size_t room = STATUS_MAX - sb->records.len;

		ga_buf_add(&sb->records, buf, (size_t)n < room ? (size_t)n : room);
	}
	return !n;
}

/* A record "STEP\0ERRNO\0OBJECT\0" of the stage, at `*pos`. */
struct stage_record {
	const char *step, *object;
	uint64_t errnum;
};

static bool next_record(const struct ga_sandbox *sb, size_t *pos, struct stage_record *ret)
{
	const char *num;

	ret->step = ga_buf_next0(&sb->records, pos);
	num = ret->step ? ga_buf_next0(&sb->records, pos) : NULL;
	ret->object = num ? ga_buf_next0(&sb->records, pos) : NULL;
	return ret->object && ga_parse_u64(num, 4096, &ret->errnum);
}

/* The record of a failure; false if there is none. */
static bool stage_failed(const struct ga_sandbox *sb, struct stage_record *ret)
{
	size_t pos = 0;

	while (next_record(sb, &pos, ret))
		if (strcmp(ret->step, GA_STAGE_LOOSE) != 0)
			return true;
	return false;
}

void ga_run_loose(const struct ga_sandbox *sb, struct ga_strv *ret)
{
	struct stage_record r;
	size_t pos = 0;

	while (next_record(sb, &pos, &r))
		if (!strcmp(r.step, GA_STAGE_LOOSE))
			ga_strv_push(ret, r.object);
}

/* The stage or bwrap ended before init was up: it is dead or dying. */
static int explain_failure(struct ga_sandbox *sb, struct ga_error *err)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	struct stage_record r;
	int st;

	/* its exit status tells more than being killed by us would */
	(void)run_wait_gone(sb->child, DYING_MS);
	st = run_kill_bwrap(sb);
	(void)read_status(sb);
	if (stage_failed(sb, &r))
		return ga_stage_explain(r.step, (int)r.errnum, r.object, err);
	if (run_log_line(sb, &line))
		(void)ga_bwrap_explain(line.ptr, err);
	else if (WIFSIGNALED(st))
		(void)ga_fail(err, GA_ESTART,
			      "cannot start the sandbox: bubblewrap ended with signal %d",
			      WTERMSIG(st));
	else
		(void)ga_fail(err, GA_ESTART,
			      "cannot start the sandbox: bubblewrap ended with status %d",
			      WEXITSTATUS(st));
	return ga_hint(err, "'git agent doctor' looks for the cause");
}

/* Returns 1 when READY came, 0 if not yet, -1 if the socket is closed. */
static int take_ready(struct ga_sandbox *sb)
{
	struct ga_ctl_msg m;
	int r = run_recv_raw(sb, &m, &sb->is.pid, NULL);

	if (r <= 0)
		return r;
	if (m.type != GA_CTL_READY || sb->is.pid <= 0)
		return -1;
	sb->is.pidns = m.value64;
	return 1;
}

/* Returns 1 when everything is mounted, 0 if not yet, -1 if something failed. */
static int is_mounted(struct ga_sandbox *sb)
{
	bool over = read_status(sb);
	struct stage_record r;

	return stage_failed(sb, &r) ? -1 : over;
}

/* Wait for both, in either order. Returns 1 when the sandbox is up. */
static int wait_stage_and_init(struct ga_sandbox *sb, bool *mounted)
{
	int r = sb->is.pid > 0 ? 1 : take_ready(sb);

	if (r >= 0 && !*mounted) {
		int m = is_mounted(sb);

		*mounted = m > 0;
		r = m < 0 ? -1 : r;
	}
	return r > 0 ? *mounted : r;
}

static int wait_for_both(struct ga_sandbox *sb, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + READY_TIMEOUT_MS;
	bool mounted = false;

	for (;;) {
		struct pollfd p[] = { { .fd = sb->ctl, .events = POLLIN },
				      { .fd = sb->sigfd, .events = POLLIN },
				      { .fd = -1, .events = POLLIN } };
		int n = run_signals_fatal_pending();
		int r;

		if (n)
			return ga_fail(err, GA_ESTART, "interrupted by signal %d (%s)", n,
				       strsignal(n));
		r = wait_stage_and_init(sb, &mounted);
		if (r)
			return r < 0 ? explain_failure(sb, err) : 0;
		if (ga_now_ms() >= deadline)
			return ga_fail(err, GA_ESTART,
				       "the sandbox did not start within %d seconds",
				       READY_TIMEOUT_MS / 1000);
		p[2].fd = mounted ? -1 : sb->status;
		if (poll(p, GA_NELEMS(p), ga_poll_timeout(deadline)) < 0 && errno != EINTR)
			return ga_fail_errno(err, GA_ESTART, errno, "cannot wait for the sandbox");
		/* init was up and has ended */
		if (sb->is.pid > 0 && p[0].revents)
			return explain_failure(sb, err);
		/* signals that are not fatal mean nothing yet */
		while (p[1].revents && !run_signals_fatal_pending() && run_signals_next(sb))
			;
	}
}

int ga_run_wait_ready(struct ga_sandbox *sb, struct ga_error *err)
{
	char c;

	if (wait_for_both(sb, err))
		return -1;
	sb->pidfd = (int)syscall(SYS_pidfd_open, sb->is.pid, 0);
	if (sb->pidfd < 0 && errno != ESRCH)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot watch the sandbox");
	/* The pid cannot be reused while its process holds the other end of the socket: so check
	 * that it still does before opening a pidfd of what we will wait for, and kill. */
	if (sb->pidfd >= 0 && recv(sb->ctl, &c, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
		return 0;
	ga_cleanup_closep(&sb->pidfd);
	return explain_failure(sb, err);
}

/* Start the stage, which waits for its plan. */
static int begin(struct ga_sandbox *sb, const struct ga_spec *s, const struct ga_run_paths *p,
		 struct ga_error *err)
{
	const char *const argv[] = { p->stage, "--plan", "3", "--status", "4", "--keep", "5",
				     "--keep", "6", "--keep", "7", "--", p->bwrap, "--args", "5",
				     "--seccomp", "6", "--", GA_INIT_INSIDE, "7", s->project,
				     NULL };
	cleanup_(handover_release) struct handover h = {
		.fds = { -1, -1, -1, -1, -1 }, .null = -1, .log = -1, .argv = argv,
	};

	/* our copies are closed here: these processes must be the only writers */
	return open_feeds(sb, &h, err) || open_channels(sb, &h, err) ||
	       start_stage(sb, &h, err) ? -1 : 0;
}

/* Send the part of the plan that surrounds home and project, and make bwrap's arguments while the
 * stage mounts. */
static int send_plan(struct ga_sandbox *sb, const struct ga_spec *s, const struct ga_run_paths *p,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf system = GA_BUF_INIT, root = GA_BUF_INIT, args = GA_BUF_INIT;
	const void *filter;
	size_t n;

	if (ga_spec_plan_system(s, &system, err) ||
	    feed(sb->plan, system.ptr, system.len, err) ||
	    ga_spec_plan_root(s, p->init, &root, err) || feed(sb->plan, root.ptr, root.len, err))
		return -1;
	ga_spec_bwrap_args(s, &args);
	filter = s->nested ? ga_seccomp_nested_program(&n) : ga_seccomp_program(&n);
	return feed_all(&sb->args, args.ptr, args.len, err) ||
	       feed_all(&sb->seccomp, filter, n, err) ? -1 : 0;
}

/* If 0, 1 or 2 were closed, a socket of ours would take its number and be mistaken for the caller's
 * terminal. */
static int begin_new(const struct ga_spec *s, const struct ga_run_paths *p,
		     struct ga_sandbox **ret, struct ga_error *err)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return ga_fail(err, GA_ESTART, "standard descriptor %d is closed", fd);
	*ret = run_sandbox_new();
	if (!begin(*ret, s, p, err))
		return 0;
	ga_run_finish(*ret);
	return -1;
}

int ga_run_begin(const struct ga_spec *s, const struct ga_run_paths *p, struct ga_sandbox **ret,
		 struct ga_error *err)
{
	struct ga_sandbox *sb;

	if (begin_new(s, p, &sb, err))
		return -1;
	if (send_plan(sb, s, p, err)) {
		ga_run_finish(sb);
		return -1;
	}
	*ret = sb;
	return 0;
}

int ga_run_begin_async(const struct ga_spec *s, const struct ga_run_paths *p,
		       struct ga_sandbox **ret, struct ga_error *err)
{
	struct ga_error ignored = GA_ERROR_INIT;
	struct ga_sandbox *sb;
	int failed;

	if (begin_new(s, p, &sb, err))
		return -1;
	sb->sender = fork();
	if (!sb->sender) {
		/* init lives as long as somebody holds this socket */
		(void)close(sb->ctl);
		failed = ga_fault("run:teller") || send_plan(sb, s, p, &ignored);
		_exit(failed != 0);
	}
	if (sb->sender < 0) {
		(void)ga_fail_errno(err, GA_ESTART, errno, "cannot create a process");
		ga_run_finish(sb);
		return -1;
	}
	(void)close(ga_steal_fd(&sb->args));
	(void)close(ga_steal_fd(&sb->seccomp));
	*ret = sb;
	return 0;
}

int ga_run_home(struct ga_sandbox *sb, const struct ga_spec *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf plan = GA_BUF_INIT;

	ga_spec_plan_home(s, &plan);
	return feed(sb->plan, plan.ptr, plan.len, err);
}

int ga_run_trees(struct ga_sandbox *sb, const struct ga_spec *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf plan = GA_BUF_INIT;

	run_shares_set(sb, s);
	return run_signals_take(sb, err) || ga_spec_plan_trees(s, &plan, err) ||
	       feed_all(&sb->plan, plan.ptr, plan.len, err) ? -1 : 0;
}

int ga_run_launch(const struct ga_spec *s, const struct ga_run_paths *p, struct ga_sandbox **ret,
		  struct ga_error *err)
{
	struct ga_sandbox *sb;

	if (ga_run_begin(s, p, &sb, err))
		return -1;
	if (ga_run_home(sb, s, err) || ga_run_trees(sb, s, err) || ga_run_wait_ready(sb, err)) {
		ga_run_finish(sb);
		return -1;
	}
	*ret = sb;
	return 0;
}

const struct ga_run_facts *ga_run_facts(const struct ga_sandbox *sb)
{
	return &sb->is;
}

