/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/sys/scm.h"
#include "run/control-internal.h"

#define NAME "control"

/* Returns the directory, which must stay open while the address is used. */
static int open_dir(const char *dir, struct sockaddr_un *ret)
{
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)ga_unix_address(at, "/" NAME, ret);
	return at;
}

static int bind_to(int fd, const char *dir)
{
	struct sockaddr_un sa;
	cleanup_close int at = open_dir(dir, &sa);

	if (at < 0)
		return -1;
	/* left by a supervisor that was killed: it held the lock that is ours now */
	if (unlinkat(at, NAME, 0) && errno != ENOENT)
		return -1;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || fchmodat(at, NAME, 0600, 0))
		return -1;
	return listen(fd, CONTROL_CLIENTS);
}

int control_listen(const char *dir, struct ga_error *err)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	cleanup_free char *q = NULL;

	if (fd >= 0 && !bind_to(fd, dir))
		return ga_steal_fd(&fd);
	q = ga_escape(dir);
	(void)ga_fail_errno(err, GA_ESTART, errno, "cannot make a socket in '%s'", q);
	return ga_hint(err, "set state_dir to a directory on a local file system");
}

int control_unlink(const char *dir)
{
	struct sockaddr_un sa;
	cleanup_close int at = open_dir(dir, &sa);

	return at < 0 ? -1 : unlinkat(at, NAME, 0);
}

bool control_is_ours(int fd, pid_t *ret_pid)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) || cred.uid != geteuid())
		return false;
	*ret_pid = cred.pid;
	return true;
}

int control_dial(const char *dir, pid_t *ret_pid)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa;
	cleanup_close int at = open_dir(dir, &sa);

	if (fd < 0 || at < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return -1;
	if (!control_is_ours(fd, ret_pid)) {
		errno = EPERM;
		return -1;
	}
	return ga_steal_fd(&fd);
}

int control_send(int fd, const struct ga_ctl_msg *m, const void *bytes, size_t n, const int *fds,
		 size_t n_fds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
	} u;
	struct ga_ctl_msg copy = *m;
	struct iovec iov[2] = { { &copy, sizeof(copy) }, { NULL, n } };
	struct msghdr h = { .msg_iov = iov, .msg_iovlen = n ? 2 : 1 };
	ssize_t r;

	/* the prototype wants no const, though it writes nothing through it */
	memcpy(&iov[1].iov_base, &bytes, sizeof(bytes));
	if (n_fds)
		ga_put_fds(&h, &u, fds, n_fds);
	r = ga_sendmsg(fd, &h);
	if (r < 0)
		return errno == EAGAIN ? 1 : -1;
	return r == (ssize_t)(sizeof(copy) + n) ? 0 : -1;
}

int control_send_message(int fd, uint32_t type, int32_t value, uint32_t flags)
{
	struct ga_ctl_msg m = { .type = type, .value = value, .flags = flags };

	return control_send(fd, &m, NULL, 0, NULL, 0);
}

void control_close_fds(struct control_packet *p)
{
	for (size_t i = 0; i < CONTROL_FDS; i++) {
		ga_cleanup_closep(&p->fds[i]);
	}
}

int control_recv(int fd, struct control_packet *p)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
	} u;
	struct iovec iov[2] = { { &p->m, sizeof(p->m) }, { p->bytes, sizeof(p->bytes) } };
	struct msghdr h = { .msg_iov = iov, .msg_iovlen = 2,
			    .msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	ssize_t n;

	for (size_t i = 0; i < CONTROL_FDS; i++)
		p->fds[i] = -1;
	/* if the peer closed with data unread, the error is reported once, before what it sent */
	do
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	/* all descriptors become ours, and those beyond the array must be closed */
	(void)ga_take_fds(&h, p->fds, CONTROL_FDS);
	p->n = (size_t)n - sizeof(p->m);
	if (n >= (ssize_t)sizeof(p->m) && !(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 1;
	control_close_fds(p);
	return -1;
}
