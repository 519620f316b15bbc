/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ga/sys/scm.h"

#define PATIENCE_MS 5000
#define STEP_MS 10

void ga_put_fds(struct msghdr *h, void *room, const int *fds, size_t n)
{
	struct cmsghdr *c = room;

	h->msg_control = room;
	h->msg_controllen = CMSG_SPACE(n * sizeof(int));
	memset(room, 0, h->msg_controllen);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
}

size_t ga_take_fds(struct msghdr *h, int *ret, size_t n)
{
	size_t have = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t all = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < all; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (have < n)
				ret[have++] = fd;
			else
				(void)close(fd);
		}
	}
	return have;
}

/* sendmsg(2) with the soft limit raised to the hard one. */
static ssize_t send_raised(int fd, const struct msghdr *h)
{
	struct rlimit was, most;
	ssize_t n;
	int e;

	if (getrlimit(RLIMIT_NOFILE, &was))
		return -1;
	most = (struct rlimit){ was.rlim_max, was.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &most))
		return -1;
	n = TEMP_FAILURE_RETRY(sendmsg(fd, h, MSG_NOSIGNAL));
	e = errno;
	(void)setrlimit(RLIMIT_NOFILE, &was);
	errno = e;
	return n;
}

ssize_t ga_sendmsg(int fd, const struct msghdr *h)
{
	const struct timespec step = { 0, STEP_MS * 1000000L };
	ssize_t n = TEMP_FAILURE_RETRY(sendmsg(fd, h, MSG_NOSIGNAL));

	for (int left = PATIENCE_MS; n < 0 && errno == ETOOMANYREFS && left; left -= STEP_MS) {
		n = send_raised(fd, h);
		if (n >= 0 || errno != ETOOMANYREFS)
			break;
		(void)nanosleep(&step, NULL);
		errno = ETOOMANYREFS;
	}
	return n;
}
