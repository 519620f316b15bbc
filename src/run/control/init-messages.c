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
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "ga/sys/scm.h"
#include "run/control-internal.h"
#include "run/run-internal.h"

/* Removing a shared directory that a program inside removes. It is a mount point there, locked
 * since it came with the sandbox's namespaces, and the kernel refuses rmdir(2) of what is a mount
 * point in the mount namespace of the caller. In any other one it is a directory like others, and
 * when that is removed the kernel takes down what is mounted on it, wherever it is. So we remove
 * it, from here: no namespace is entered, and any process of the user could do the same. */

static void add(struct ga_strv *ret, const char *project, const struct ga_spec *s)
{
	const char *part = ga_path_below(s->project, project);

	for (size_t i = 0; part && i < s->n_shared; i++) {
		ga_strv_take(ret, *part ? ga_path_join(part, s->shared[i].rel)
					: ga_strdup(s->shared[i].rel));
		ga_strv_push(ret, s->shared[i].removed);
	}
	for (size_t i = 0; i < s->n_parts; i++)
		add(ret, project, &s->parts[i]);
}

void run_shares_set(struct ga_sandbox *sb, const struct ga_spec *s)
{
	free(sb->trees);
	/* the stage is our child, which only we reap */
	sb->trees = ga_strf("/proc/%d/root%s/project", (int)sb->bwrap, s->stage_dir);
	ga_strv_release(&sb->shared);
	add(&sb->shared, s->project, s);
}

uint32_t run_shares_flags(const struct ga_sandbox *sb)
{
	for (size_t i = 0; i < sb->shared.n; i += 2)
		if (strchr(sb->shared.v[i], '/'))
			return GA_SPAWN_DEEP;
	return 0;
}

/* Is this the root of an overlay with that device number? While it is mounted no other has it. */
static bool is_mount(int at, const char *path, uint64_t device)
{
	cleanup_close int fd = ga_openat_beneath(at, path, O_PATH | O_DIRECTORY, 0);
	struct stat st;

	return fd >= 0 && ga_mount_is_overlay(fd) && !fstat(fd, &st) && st.st_dev == device;
}

/* If we die before, between or after the two, it is empty and not shown again. */
static int remove_dir(int at, const char *path, const char *removed)
{
	cleanup_free char *above = ga_path_parent(path);
	cleanup_close int parent = ga_openat_beneath(at, *above ? above : ".",
						     O_PATH | O_DIRECTORY, 0);
	cleanup_close int mark = parent < 0 ? -1 : open(removed, O_WRONLY | O_CREAT | O_EXCL |
							O_NOFOLLOW | O_CLOEXEC, 0600);
	int e;

	if (mark < 0)
		return errno;
	(void)ga_fault("shared:noted");
	if (!unlinkat(parent, ga_path_base(path), AT_REMOVEDIR))
		return 0;
	e = errno;
	(void)unlink(removed);
	return e;
}

/* Paths lead through what the agent writes, but to a mount point of this device only one does:
 * neither a mount point nor a directory above one can be renamed inside. */
static int answer(const struct ga_sandbox *sb, const struct ga_ctl_msg *m)
{
	cleanup_close int at = sb->trees ? open(sb->trees, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	for (size_t i = 0; at >= 0 && i < sb->shared.n; i += 2)
		if (is_mount(at, sb->shared.v[i], m->value64))
			return m->flags == GA_SHARED_REMOVE
				       ? remove_dir(at, sb->shared.v[i], sb->shared.v[i + 1]) : 0;
	return EBUSY;
}

void run_shares_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m)
{
	struct ga_ctl_msg reply = *m;

	if (m->type != GA_CTL_SHARED || sb->elsewhere)
		return;
	reply.value = answer(sb, m);
	(void)TEMP_FAILURE_RETRY(send(sb->ctl, &reply, sizeof(reply), MSG_NOSIGNAL));
}

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
			return ga_fail(err, GA_ESTART, "the sandbox does not accept the command");
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
static int explain_send_failure(const struct ga_sandbox *sb, struct ga_error *err)
{
	if (errno == EPIPE || errno == ECONNRESET)
		return run_ctl_ended(sb, err);
	if (errno != ETOOMANYREFS)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot hand over a command");
	return ga_fail(err, GA_ESTART, "cannot hand over a command: your processes have more "
		       "descriptors in unread socket messages than 'ulimit -H -n' allows"
		       GA_HINT "end the program that sends descriptors over a socket that is "
		       "not read");
}

int run_pipe(int *ret_ours, int *ret_theirs, bool we_read, struct ga_error *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a pipe");
	*ret_ours = p[!we_read];
	*ret_theirs = p[we_read];
	/* only our end: the other one is another open file description */
	return fcntl(*ret_ours, F_SETFL, O_NONBLOCK)
		       ? ga_fail_errno(err, GA_ESTART, errno, "cannot prepare a pipe") : 0;
}

int run_spawn(struct ga_sandbox *sb, uint32_t flags, const char *cwd, const char *const *argv,
	      const char *const *envp, const int *fds, size_t n, uint32_t *ret_id,
	      struct ga_error *err)
{
	struct ga_ctl_msg m = { .type = GA_CTL_SPAWN, .id = ++sb->last_id,
				.flags = flags | run_shares_flags(sb) };
	cleanup_buf struct ga_buf payload = GA_BUF_INIT;
	cleanup_close int rd = -1, wr = -1;
	int all[CONTROL_FDS];

	ga_buf_add0(&payload, cwd);
	add_vector(&payload, argv);
	add_vector(&payload, envp);
	if (payload.len > GA_CTL_PAYLOAD_MAX)
		return ga_fail(err, GA_ESTART,
			       "the command line and environment are longer than %u bytes",
			       GA_CTL_PAYLOAD_MAX);
	if (run_pipe(&wr, &rd, false, err))
		return -1;
	all[0] = rd;
	memcpy(all + 1, fds, n * sizeof(*fds));
	if (control_send(sb->ctl, &m, NULL, 0, all, n + 1))
		return explain_send_failure(sb, err);
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

/* Take the ancillary data of a message: the sender's pid, and a descriptor, which becomes the
 * caller's. */
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
		return ga_hint(err, "the program or the interpreter in its first line does not "
				    "exist inside; look with 'git agent start bash'");
	return ga_hint(err, "the PATH inside must contain it; look with "
			    "'git agent start bash'");
}

int run_spawn_failed(const struct ga_ctl_msg *m, const char *cwd, const char *program,
		     struct ga_error *err)
{
	switch (m->flags) {
	case GA_CTL_STEP_CWD:
		(void)ga_fail_errno(err, GA_ESTART, m->value, "cannot enter '%s' in the sandbox",
				    cwd);
		return ga_hint(err, "start from the root of the project");
	case GA_CTL_STEP_TTY:
		return ga_fail_errno(err, GA_ESTART, m->value,
				     "cannot give the sandbox a terminal");
	case GA_CTL_STEP_EXEC:
		(void)ga_fail_errno(err, GA_ESTART, m->value, "cannot run '%s' in the sandbox",
				    program);
		return hint_exec(program, m->value, err);
	default:
		return ga_fail_errno(err, GA_ESTART, m->value, "cannot start '%s' in the sandbox",
				     program);
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
