/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/sys/scm.h"
#include "run/live-internal.h"

/* After this time without reading a request or answering it, init must have been interfered
 * with. */
#define ANSWER_TIMEOUT_MS 20000

static void add_vector(struct ga_buf *b, const char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	ga_buf_addf(b, "%zu", n);
	ga_buf_addch(b, '\0');
	for (size_t i = 0; i < n; i++)
		ga_buf_add0(b, v[i]);
}

/* The reader reads while we write, so more than a pipe's capacity is fine. */
static int write_payload(int fd, const struct ga_buf *b, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ANSWER_TIMEOUT_MS;
	size_t done = 0;

	while (done < b->len) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = write(fd, b->ptr + done, b->len - done);

		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		/* a reader that stopped early also reports why; that message follows */
		if (n < 0 && errno == EPIPE)
			return 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return ga_fail_errno(err, GA_ESTART, errno, "cannot hand over a command");
		if (ga_now_ms() >= deadline)
			return ga_fail(err, GA_ESTART, "the sandbox does not take the command");
		(void)poll(&p, 1, ga_poll_timeout(deadline));
	}
	return 0;
}

int run_ctl_ended(const struct ga_sandbox *sb, struct ga_error *err)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	if (sb->elsewhere)
		return ga_fail(err, GA_EFATAL, "the session has ended, and this command with it");
	if (run_log_line(sb, &line))
		return ga_fail(err, GA_EFATAL, "the sandbox ended unexpectedly: %s", line.ptr);
	return ga_fail(err, GA_EFATAL, "the sandbox ended unexpectedly");
}

/* Explain, by errno, why a message was not sent. */
static int not_sent(const struct ga_sandbox *sb, struct ga_error *err)
{
	if (errno == EPIPE || errno == ECONNRESET)
		return run_ctl_ended(sb, err);
	if (errno != ETOOMANYREFS)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot hand over a command");
	(void)ga_fail(err, GA_ESTART, "cannot hand over a command: more descriptors than "
				      "'ulimit -H -n' says are on their way over your sockets");
	return ga_hint(err, "a program of yours, or an agent's, sends them and nobody takes them: "
			    "end it");
}

int run_spawn(struct ga_sandbox *sb, uint32_t flags, const char *cwd, const char *const *argv,
	      const char *const *envp, const int *fds, size_t n, uint32_t *ret_id,
	      struct ga_error *err)
{
	struct ga_ctl_msg m = { .type = GA_CTL_SPAWN, .id = ++sb->last_id,
				.flags = flags | run_shares_flags(sb) };
	cleanup_buf struct ga_buf payload = GA_BUF_INIT;
	cleanup_close int rd = -1, wr = -1;
	int p[2], all[LIVE_FDS];

	ga_buf_add0(&payload, cwd);
	add_vector(&payload, argv);
	add_vector(&payload, envp);
	if (payload.len > GA_CTL_PAYLOAD_MAX)
		return ga_fail(err, GA_ESTART,
			       "the command line and environment are longer than %u bytes",
			       GA_CTL_PAYLOAD_MAX);
	if (pipe2(p, O_CLOEXEC))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a pipe");
	rd = p[0];
	wr = p[1];
	/* only our end: the reader's is another open file description */
	if (fcntl(wr, F_SETFL, O_NONBLOCK))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot prepare a pipe");
	all[0] = rd;
	memcpy(all + 1, fds, n * sizeof(*fds));
	if (live_send(sb->ctl, &m, NULL, 0, all, n + 1))
		return not_sent(sb, err);
	(void)close(ga_steal_fd(&rd));
	*ret_id = m.id;
	return write_payload(wr, &payload, err);
}

void run_send(const struct ga_sandbox *sb, uint32_t type, uint32_t id, int32_t value)
{
	struct ga_ctl_msg m = { .type = type, .id = id, .value = value };

	/* that the socket is closed is noticed when reading */
	(void)TEMP_FAILURE_RETRY(send(sb->ctl, &m, sizeof(m), MSG_NOSIGNAL));
}

/* Take what came with a message: the sender's pid, and a descriptor, which becomes the caller's. */
static void take_control(struct msghdr *h, pid_t *ret_pid, int *ret_fd)
{
	*ret_pid = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		struct ucred cred;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		*ret_pid = cred.pid;
	}
	if (ret_fd)
		(void)ga_take_fds(h, ret_fd, 1);
}

int run_recv_raw(const struct ga_sandbox *sb, struct ga_ctl_msg *m, pid_t *ret_pid, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} u;
	struct iovec iov = { m, sizeof(*m) };
	/* without room for SCM_RIGHTS the kernel passes no descriptor */
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf,
			    .msg_controllen = ret_fd ? sizeof(u.buf)
						     : CMSG_SPACE(sizeof(struct ucred)) };
	ssize_t n;

	n = TEMP_FAILURE_RETRY(recvmsg(sb->ctl, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n >= 0)
		take_control(&h, ret_pid, ret_fd);
	return n == (ssize_t)sizeof(*m) && !(h.msg_flags & MSG_TRUNC) ? 1 : -1;
}

static int hint_exec(const char *program, int errnum, struct ga_error *err)
{
	if (errnum == EACCES)
		return ga_hint(err, "it must be a program: 'chmod +x' makes a file one");
	if (errnum == ENOEXEC)
		return ga_hint(err, "it must be a script or a program for this machine");
	if (errnum != ENOENT)
		return -1;
	if (strchr(program, '/'))
		return ga_hint(err, "it, or the interpreter that its first line names, is not "
				    "there inside; 'git agent start bash' shows what is");
	return ga_hint(err, "it must be found through PATH as it is inside; "
			    "'git agent start bash' shows what is there");
}

int run_spawn_failed(const struct ga_ctl_msg *m, const char *cwd, const char *program,
		     struct ga_error *err)
{
	cleanup_free char *dir = ga_escape(cwd), *prog = ga_escape(program);

	switch (m->flags) {
	case GA_CTL_STEP_CWD:
		(void)ga_fail_errno(err, GA_ESTART, m->value, "cannot enter '%s' in the sandbox",
				    dir);
		return ga_hint(err, "start from the root of the project");
	case GA_CTL_STEP_TTY:
		return ga_fail_errno(err, GA_ESTART, m->value,
				     "cannot give the sandbox a terminal");
	case GA_CTL_STEP_EXEC:
		(void)ga_fail_errno(err, GA_ESTART, m->value, "cannot run '%s' in the sandbox",
				    prog);
		return hint_exec(program, m->value, err);
	default:
		return ga_fail_errno(err, GA_ESTART, m->value, "cannot start '%s' in the sandbox",
				     prog);
	}
}

bool run_log_line(const struct ga_sandbox *sb, struct ga_buf *ret)
{
	char buf[16384];
	size_t len = 0, end, start;

	/* keep only the last part */
	for (;;) {
		ssize_t n = read(sb->log, buf + len, sizeof(buf) - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
		if (len > sizeof(buf) / 2) {
			memmove(buf, buf + len - sizeof(buf) / 4, sizeof(buf) / 4);
			len = sizeof(buf) / 4;
		}
	}
	for (end = len; end && buf[end - 1] == '\n'; end--)
		;
	for (start = end; start && buf[start - 1] != '\n' && end - start < 512; start--)
		;
	ga_quote_add(ret, buf + start, end - start);
	return end > start;
}
