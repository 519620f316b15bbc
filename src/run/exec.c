/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "run-internal.h"

#define ERROUT_MAX ((size_t)64 << 10)
#define DEFAULT_OUT_MAX ((size_t)1 << 30)
#define CHUNK ((size_t)64 << 10)

struct exec {
	struct ga_sandbox *sb;
	const struct ga_run_exec *x;
	uint32_t id;
	int out, err;             /* our ends; -1 when done */
	size_t out_done, out_max; /* bytes of output, wherever they went */
	bool exited;
	int status;
	int64_t deadline;
};

static void exec_release(struct exec *e)
{
	ga_cleanup_closep(&e->out);
	ga_cleanup_closep(&e->err);
}

static int failed(const struct exec *e, struct ga_error *err, const char *how)
{
	return ga_fail(err, GA_EFATAL, "'%s' in the sandbox %s", e->x->argv[0], how);
}

static int keep_out(struct exec *e, const char *p, size_t n, struct ga_error *err)
{
	if (n > e->out_max - e->out_done) {
		cleanup_free char *how = ga_strf("wrote more than the %zu bytes it may",
						 e->out_max);

		return failed(e, err, how);
	}
	e->out_done += n;
	if (e->x->out_fd >= 0) {
		if (ga_write_full(e->x->out_fd, p, n))
			return ga_fail_errno(err, GA_EFATAL, errno,
					     "cannot write the output of the sandbox");
	} else if (e->x->out) {
		ga_buf_add(e->x->out, p, n);
	}
	return 0;
}

static void keep_errout(const struct exec *e, const char *p, size_t n)
{
	struct ga_buf *b = e->x->errout;
	size_t room = b && b->len < ERROUT_MAX ? ERROUT_MAX - b->len : 0;

	if (room)
		ga_buf_add(b, p, n < room ? n : room);
}

/* One read of at most `most` bytes. Returns 1 if there may be more. */
static int take(struct exec *e, int *fd, size_t most, struct ga_error *err)
{
	char buf[CHUNK];
	ssize_t n;

	if (*fd < 0 || !most)
		return 0;
	n = read(*fd, buf, most < sizeof(buf) ? most : sizeof(buf));
	if (n < 0)
		return errno == EINTR ? 1 : 0;
	if (!n) {
		ga_cleanup_closep(fd);
		return 0;
	}
	if (fd == &e->err)
		keep_errout(e, buf, (size_t)n);
	else if (keep_out(e, buf, (size_t)n, err))
		return -1;
	return (int)n;
}

/* After the command has exited: read its output, without waiting for other processes. */
static int drain(struct exec *e, int *fd, struct ga_error *err)
{
	int left = 0;

	if (*fd < 0 || ioctl(*fd, FIONREAD, &left))
		return 0;
	while (left > 0) {
		int n = take(e, fd, (size_t)left, err);

		if (n <= 0)
			return n;
		left -= n;
	}
	return 0;
}

static int on_message(struct exec *e, struct ga_error *err)
{
	struct ga_ctl_msg m;
	int r;

	while (!e->exited && (r = run_recv(e->sb, &m, err))) {
		if (r < 0)
			return -1;
		if (m.id != e->id)
			continue;
		if (m.type == GA_CTL_FAILED)
			return run_spawn_failed(&m, e->x->cwd, e->x->argv[0], err);
		if (m.type == GA_CTL_STOPPED)
			run_send(e->sb, GA_CTL_CONT, e->id, 0);
		e->exited = m.type == GA_CTL_EXITED;
		e->status = m.value;
	}
	return 0;
}

/* A signal that ends programs kills the command and makes the call fail; it stays pending and takes
 * effect on the caller after ga_run_finish(). */
static int on_signals(const struct exec *e, struct ga_error *err)
{
	int n = run_signals_fatal_pending();

	while (!n && (n = run_signals_next(e->sb))) {
		if (n == SIGINT || n == SIGTERM || n == SIGHUP || n == SIGQUIT)
			(void)kill(getpid(), n);
		else
			n = 0;
	}
	return n ? failed(e, err, "was interrupted") : 0;
}

static int pump(struct exec *e, struct ga_error *err)
{
	while (!e->exited) {
		const int64_t next = run_relay_next(e->sb);
		const int64_t until = next && (!e->deadline || next < e->deadline) ? next
										   : e->deadline;
		struct pollfd p[5] = { { .fd = e->sb->ctl, .events = POLLIN },
				       { .fd = e->sb->sigfd, .events = POLLIN },
				       { .fd = e->out, .events = POLLIN },
				       { .fd = e->err, .events = POLLIN },
				       run_relay_poll(e->sb) };

		if (poll(p, GA_NELEMS(p), ga_poll_timeout(until)) < 0 && errno != EINTR)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot wait for a command");
		if (e->deadline && ga_now_ms() >= e->deadline)
			return failed(e, err, "took too long");
		run_relay_serve(e->sb, &p[4]);
		if (p[1].revents && on_signals(e, err))
			return -1;
		if ((p[2].revents && take(e, &e->out, CHUNK, err) < 0) ||
		    (p[3].revents && take(e, &e->err, CHUNK, err) < 0) ||
		    (p[0].revents && on_message(e, err)))
			return -1;
	}
	return drain(e, &e->out, err) < 0 || drain(e, &e->err, err) < 0 ? -1 : 0;
}

/* As for programs of the host (sys/process.c), input is a sealed file in memory. */
static int open_streams(struct exec *e, int theirs[3], struct ga_error *err)
{
	const struct ga_buf *in = e->x->in;

	theirs[0] = ga_memfd("input", in ? in->ptr : "", in ? in->len : 0, err);
	if (theirs[0] < 0)
		return -1;
	return run_pipe(&e->out, &theirs[1], true, err) || run_pipe(&e->err, &theirs[2], true, err)
		       ? -1 : 0;
}

int ga_run_exec(struct ga_sandbox *sb, const struct ga_run_exec *x, int *ret_status,
		struct ga_error *err)
{
	cleanup_(exec_release) struct exec e = { .sb = sb, .x = x, .out = -1, .err = -1 };
	int theirs[3] = { -1, -1, -1 };
	int rc = open_streams(&e, theirs, err);

	e.out_max = x->out_max ? x->out_max : x->out_fd >= 0 ? SIZE_MAX : DEFAULT_OUT_MAX;
	if (x->timeout_ms)
		e.deadline = ga_now_ms() + x->timeout_ms;
	if (!rc)
		rc = run_spawn(sb, 0, x->cwd, x->argv, x->envp, theirs, 3, &e.id, err);
	for (size_t i = 0; i < GA_NELEMS(theirs); i++)
		ga_cleanup_closep(&theirs[i]);
	if (rc)
		return -1;
	if (pump(&e, err)) {
		run_send(sb, GA_CTL_SIGNAL, e.id, SIGKILL);
		return -1;
	}
	*ret_status = e.status;
	return 0;
}
