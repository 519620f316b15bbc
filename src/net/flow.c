/* SPDX-License-Identifier: MIT
 *
 * One direction of a connection, by splice(2), through a pipe that is empty again at once unless
 * the receiver is slow. So the pipes are shared, and only a stalled direction keeps one: the
 * content of that pipe is all that is buffered for it, and nothing more is read before it is
 * written.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "relay-internal.h"

#define PIPE_BYTES (128 << 10)
#define TURN 16 /* pipes full of data before others have their turn */
#define SPARE 8 /* unused pipes that are kept */

void net_pipes_release(struct net_pipes *p)
{
	for (size_t i = 0; i < p->n; i++) {
		(void)close(p->v[i][0]);
		(void)close(p->v[i][1]);
	}
	free(p->v);
	*p = (struct net_pipes){ 0 };
}

static bool take_pipe(struct net_pipes *p, int ret[2])
{
	if (p->n) {
		p->n--;
		ret[0] = p->v[p->n][0];
		ret[1] = p->v[p->n][1];
		return true;
	}
	if (pipe2(ret, O_CLOEXEC | O_NONBLOCK)) {
		ret[0] = ret[1] = -1;
		return false;
	}
	/* beyond the user's share (pipe-user-pages-soft) its size does not change */
	(void)fcntl(ret[1], F_SETPIPE_SZ, PIPE_BYTES);
	return true;
}

static void drop_pipe(int pipe[2])
{
	ga_cleanup_closep(&pipe[0]);
	ga_cleanup_closep(&pipe[1]);
}

static void give_pipe(struct net_pipes *p, int pipe[2])
{
	if (p->n >= SPARE) {
		drop_pipe(pipe);
		return;
	}
	GA_GROW(p->v, p->n, p->cap);
	p->v[p->n][0] = pipe[0];
	p->v[p->n++][1] = pipe[1];
	pipe[0] = pipe[1] = -1;
}

void net_flow_init(struct net_flow *f, struct net_end *from, struct net_end *to)
{
	*f = (struct net_flow){ .from = from, .to = to, .pipe = { -1, -1 } };
}

void net_flow_release(struct net_flow *f, struct net_pipes *pipes)
{
	if (f->pipe[0] >= 0 && !f->n)
		give_pipe(pipes, f->pipe);
	/* with data in it, it cannot be used for another one */
	drop_pipe(f->pipe);
}

bool net_flow_put(struct net_flow *f, struct net_pipes *pipes, const void *p, size_t n)
{
	if (!n)
		return true;
	if (n > NET_EARLY_MAX || f->n || !take_pipe(pipes, f->pipe))
		return false;
	f->n = n;
	return write(f->pipe[1], p, n) == (ssize_t)n;
}

/* Returns 1 if everything in the pipe was written, 0 if not yet, -1 if the connection is broken. */
static int write_out(struct net_flow *f, struct net_pipes *pipes)
{
	while (f->n) {
		ssize_t n;

		if (!f->to->writable)
			return 0;
		n = splice(f->pipe[0], NULL, f->to->fd, NULL, f->n,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			f->to->writable = false;
			return 0;
		}
		if (n <= 0)
			return -1;
		f->n -= (size_t)n;
		f->total += (uint64_t)n;
	}
	if (f->pipe[0] >= 0)
		give_pipe(pipes, f->pipe);
	return 1;
}

static int read_in(struct net_flow *f, struct net_pipes *pipes)
{
	ssize_t n;
	bool again;

	if (!f->from->readable)
		return 0;
	if (!take_pipe(pipes, f->pipe))
		return -1;
	n = TEMP_FAILURE_RETRY(splice(f->from->fd, NULL, f->pipe[1], NULL, PIPE_BYTES,
				      SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
	if (n > 0) {
		f->n = (size_t)n;
		return 1;
	}
	again = n < 0 && errno == EAGAIN;
	give_pipe(pipes, f->pipe);
	if (n < 0 && !again)
		return -1;
	/* the pipe was empty, so EAGAIN means that the socket has no data */
	f->from->readable = false;
	f->ended = !n;
	return n ? 0 : 1;
}

int net_flow_move(struct net_flow *f, struct net_pipes *pipes)
{
	for (int turn = 0; turn < TURN; turn++) {
		int r = write_out(f, pipes);

		if (r <= 0)
			return r;
		if (f->over)
			return 0;
		if (f->ended) {
			f->over = true;
			/* if that fails the receiver has closed: the other direction notices */
			(void)shutdown(f->to->fd, SHUT_WR);
			return 0;
		}
		r = read_in(f, pipes);
		if (r <= 0)
			return r;
	}
	return 1;
}
