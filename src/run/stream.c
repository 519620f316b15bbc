/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "run-internal.h"

static void close_end(int *fd, bool own)
{
	if (*fd >= 0 && own)
		(void)close(*fd);
	*fd = -1;
}

void run_stream_close(struct run_stream *s)
{
	close_end(&s->from, s->own_from);
	close_end(&s->to, s->own_to);
	s->n = 0;
}

bool run_stream_done(const struct run_stream *s)
{
	return s->to < 0 || (s->from < 0 && !s->n);
}

void run_stream_poll(const struct run_stream *s, struct pollfd p[RUN_STREAM_POLLS])
{
	bool room = s->to >= 0 && s->at + s->n < sizeof(s->buf);

	p[0] = (struct pollfd){ .fd = room ? s->from : -1, .events = POLLIN };
	/* watched with nothing to write too: a reader that is gone shows as an error */
	p[1] = (struct pollfd){ .fd = s->to, .events = s->n ? POLLOUT : 0 };
}

/* Every byte a command wrote passes here on its way to the caller. */
static void accept_bytes(struct run_stream *s, size_t n)
{
	s->n += n;
}

static void take(struct run_stream *s)
{
	size_t room = sizeof(s->buf) - s->at - s->n;
	ssize_t n;

	if (s->limited && room > s->left)
		room = s->left;
	n = room ? read(s->from, s->buf + s->at + s->n, room) : 0;
	if (n > 0) {
		if (s->limited)
			s->left -= (size_t)n;
		accept_bytes(s, (size_t)n);
		return;
	}
	if (n < 0 && errno == EINTR)
		return;
	/* once limited, empty means over: what others still hold open is not waited for */
	if (n < 0 && errno == EAGAIN && !s->limited)
		return;
	close_end(&s->from, s->own_from);
}

static void give(struct run_stream *s)
{
	size_t want = s->small && s->n > 4096 ? 4096 : s->n;
	ssize_t n = write(s->to, s->buf + s->at, want);

	if (n < 0) {
		if (errno == EINTR || errno == EAGAIN)
			return;
		/* nobody reads any more: the writer is to notice it as well */
		run_stream_close(s);
		return;
	}
	s->at += (size_t)n;
	s->n -= (size_t)n;
	if (!s->n)
		s->at = 0;
}

bool run_stream_hurry(const struct run_stream *s)
{
	return s->limited && s->from >= 0 && s->to >= 0 && s->at + s->n < sizeof(s->buf);
}

void run_stream_move(struct run_stream *s, const struct pollfd p[RUN_STREAM_POLLS])
{
	if ((p[0].revents && p[0].fd == s->from) || run_stream_hurry(s))
		take(s);
	if (p[1].revents && p[1].fd == s->to && s->to >= 0) {
		if (s->n)
			give(s);
		else if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL))
			run_stream_close(s);
	}
	if (s->at && s->at + s->n == sizeof(s->buf)) {
		memmove(s->buf, s->buf + s->at, s->n);
		s->at = 0;
	}
	if (s->from < 0 && !s->n)
		close_end(&s->to, s->own_to);
}

void run_stream_finish(struct run_stream *s, size_t most)
{
	s->limited = true;
	s->left = most;
	if (!most)
		close_end(&s->from, s->own_from);
}
