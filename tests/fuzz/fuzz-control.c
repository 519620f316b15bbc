/* SPDX-License-Identifier: MIT
 *
 * Control messages as init and the supervisor receive them, and the payload of a request. The
 * first byte says which, and how many descriptors come along; none of them is ever lost.
 */
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"

/* Init lives on its stack, and a child that took a payload apart executes or ends. */
static void *kept[64];
static size_t n_kept;

static void *keep(void *p)
{
	CHECK(n_kept < GA_NELEMS(kept));
	return kept[n_kept++] = p;
}
#define calloc(n, size) keep((calloc)(n, size))
#include "init/command.c"
#undef calloc
#include "run/run-internal.h"
#include "ga/sys/fd.h"

enum { FDS_MAX = 6 };

/* No command is executed here. */
int renames_announce(const struct announced *a)
{
	(void)a;
	return -1;
}

static void send_bytes(int fd, const uint8_t *data, size_t n, size_t n_fds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} u = { .buf = { 0 } };
	cleanup_free char *copy = fuzz_exact(data, n);
	struct iovec iov = { copy, n };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[FDS_MAX] = { 2, 2, 2, 2, 2, 2 };

	if (n_fds) {
		struct cmsghdr *c;

		h.msg_control = u.buf;
		h.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	CHECK(sendmsg(fd, &h, MSG_NOSIGNAL) == (ssize_t)n);
}

static void to_init(int fd, size_t n)
{
	struct request_fds f = { .n = 0 };
	struct ga_ctl_msg m;
	int rc = recv_msg(fd, &m, &f);

	CHECK(rc <= 0 || n == sizeof(m));
	CHECK(f.n <= MAX_FDS && (rc > 0 || !f.n));
	close_fds(&f);
}

static void to_supervisor(int fd, size_t n, bool wants_fd)
{
	cleanup_close int got = -1;
	struct ga_sandbox sb = { .ctl = fd };
	struct ga_ctl_msg m;
	pid_t pid;
	int rc;

	rc = run_recv_raw(&sb, &m, &pid, wants_fd ? &got : NULL);

	CHECK(rc < 0 || n == sizeof(m));
}

static void check_payload(const uint8_t *data, size_t n)
{
	cleanup_close int fd = fuzz_file(data, n);
	struct request r = { 0 };

	CHECK(!read_payload(fd, &r));
	/* of exactly its size */
	if (n) {
		r.bytes = (realloc)(r.bytes, n);
		CHECK(r.bytes);
	}
	if (!parse_request(&r)) {
		size_t words = 0;

		for (char **v = r.argv; *v; v++)
			words += strlen(*v) + 1;
		for (char **v = r.envp; *v; v++)
			words += strlen(*v) + 1;
		CHECK(r.argv[0] && words < n);
	}
	free(r.bytes);
	while (n_kept)
		free(kept[--n_kept]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	unsigned what = fuzz_byte(&in);
	uint64_t before = fuzz_open_fds();
	int pair[2];

	if (!in.n || in.n > 4096)
		return 0;
	if (what % 4 == 0) {
		check_payload(in.p, in.n);
		return 0;
	}
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	/* as launch.c has it, on the end that is the supervisor's */
	if (what % 4 != 1)
		CHECK(!setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)));
	send_bytes(pair[0], in.p, in.n, what / 4 % (FDS_MAX + 1));
	if (what % 4 == 1)
		to_init(pair[1], in.n);
	else
		to_supervisor(pair[1], in.n, what % 4 == 2);
	(void)close(pair[0]);
	(void)close(pair[1]);
	CHECK(fuzz_open_fds() == before);
	return 0;
}
