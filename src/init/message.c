/* SPDX-License-Identifier: MIT
 *
 * Send and receive control messages and their descriptors.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/sys/scm.h"
#include "init.h"

int32_t status_value(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void close_fds(struct request_fds *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i] >= 0)
			(void)close(f->v[i]);
	f->n = 0;
}

int send_msg(int fd, const struct ga_ctl_msg *m)
{
	ssize_t n = TEMP_FAILURE_RETRY(send(fd, m, sizeof(*m), MSG_NOSIGNAL));

	return n == (ssize_t)sizeof(*m) ? 0 : -1;
}

int send_msg_fd(int fd, const struct ga_ctl_msg *m, int pass)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u;
	struct ga_ctl_msg copy = *m;
	struct iovec iov = { &copy, sizeof(copy) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	ga_put_fds(&h, &u, &pass, 1);
	return ga_sendmsg(fd, &h) == (ssize_t)sizeof(copy) ? 0 : -1;
}

int recv_msg(int fd, struct ga_ctl_msg *m, struct request_fds *f)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(MAX_FDS * sizeof(int))];
	} u;
	struct iovec iov = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = u.buf, .msg_controllen = sizeof(u.buf) };
	size_t n_fds;
	ssize_t n;

	n = TEMP_FAILURE_RETRY(recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (n < 0 && (errno == EAGAIN))
		return -1;
	if (n <= 0)
		return 0;
	n_fds = ga_take_fds(&h, f ? f->v : NULL, f ? MAX_FDS : 0);
	if (f)
		f->n = n_fds;
	if (n == (ssize_t)sizeof(*m) && !(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 1;
	/* not a message of the protocol: ignore it */
	if (f)
		close_fds(f);
	return -1;
}
