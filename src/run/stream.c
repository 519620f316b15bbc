/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

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
	s->cut = s->cut || s->n;
	s->n = 0;
}

bool run_stream_done(const struct run_stream *s)
{
	return s->to < 0 || (s->from < 0 && !s->n);
}

/* How much may be read now. */
static size_t room(const struct run_stream *s)
{
	size_t left = sizeof(s->buf) - s->at - s->n;

	if (s->keys)
		return left < RUN_FILTER_CHUNK + RUN_KEYS_HELD ? 0 : RUN_FILTER_CHUNK;
	if (!s->filter)
		return left;
	return left < GA_TERMFILTER_ROOM(RUN_FILTER_CHUNK) ? 0 : RUN_FILTER_CHUNK;
}

void run_stream_poll(const struct run_stream *s, struct pollfd p[RUN_STREAM_POLLS])
{
	bool open = s->to >= 0 && room(s);

	p[0] = (struct pollfd){ .fd = open ? s->from : -1, .events = POLLIN };
	/* polled even with nothing to write: a reader that is gone shows as an error */
	p[1] = (struct pollfd){ .fd = s->to, .events = s->n ? POLLOUT : 0 };
}

/* Read up to `n` bytes into the buffer. */
static ssize_t read_bytes(struct run_stream *s, size_t n)
{
	char raw[RUN_FILTER_CHUNK], seen[GA_TERMFILTER_ROOM(RUN_FILTER_CHUNK)];
	char *to = s->buf + s->at + s->n;
	bool other = s->filter || s->keys; /* than what is written */
	ssize_t got = read(s->from, other ? raw : to, n);
	size_t kept;

	if (got <= 0)
		return got;
	if (s->sink)
		s->sink->output(s->sink->payload, other ? raw : to, (size_t)got);
	if (s->keys) {
		s->leave = run_keys(s->keys, raw, (size_t)got, to, &kept);
		s->n += kept;
	} else if (!s->filter) {
		s->n += (size_t)got;
	} else if (s->watch) {
		memcpy(to, raw, (size_t)got);
		s->n += (size_t)got;
		(void)ga_termfilter(s->filter, raw, (size_t)got, seen);
	} else {
		s->n += ga_termfilter(s->filter, raw, (size_t)got, to);
	}
	return got;
}

static void take(struct run_stream *s)
{
	size_t most = room(s);
	ssize_t n;

	if (s->limited && most > s->left)
		most = s->left;
	n = most ? read_bytes(s, most) : 0;
	if (n > 0) {
		s->total += (uint64_t)n;
		if (s->limited)
			s->left -= (size_t)n;
		return;
	}
	if (n < 0 && errno == EINTR)
		return;
	/* once `limited`, empty means over: others that hold the pipe open are not waited for */
	if (n < 0 && errno == EAGAIN && !s->limited)
		return;
	close_end(&s->from, s->own_from);
}

static void write_bytes(struct run_stream *s)
{
	size_t want = s->small && s->n > 4096 ? 4096 : s->n;
	ssize_t n = write(s->to, s->buf + s->at, want);

	if (n < 0) {
		if (errno == EINTR || errno == EAGAIN)
			return;
		/* nobody reads any more: close, so that the writer notices */
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
	return s->limited && s->from >= 0 && s->to >= 0 && room(s);
}

void run_stream_move(struct run_stream *s, const struct pollfd p[RUN_STREAM_POLLS])
{
	if ((p[0].revents && p[0].fd == s->from) || run_stream_hurry(s))
		take(s);
	if (p[1].revents && p[1].fd == s->to && s->to >= 0) {
		if (s->n)
			write_bytes(s);
		else if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL))
			run_stream_close(s);
	}
	if (s->at && !room(s)) {
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

void run_stream_turn(struct run_stream *s, int fd)
{
	close_end(&s->to, s->own_to);
	s->to = fd;
	s->own_to = true;
	s->small = false;
	s->filter = NULL;
	s->at = s->n = 0;
}

void run_stream_undo(struct run_stream *s, int fd)
{
	char end[GA_TERMFILTER_END];
	struct ga_termfilter *f = s->filter;
	size_t n;

	if (!f)
		return;
	n = ga_termfilter_end(f, s->cut || s->n || (s->watch && f->state), end);
	if (n)
		run_terminal_write(fd, end, n);
}
