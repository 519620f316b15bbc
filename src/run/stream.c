/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/sys/fd.h"
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
static size_t readable_bytes(const struct run_stream *s)
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
	bool open = s->to >= 0 && readable_bytes(s);

	p[0] = (struct pollfd){ .fd = open ? s->from : -1, .events = POLLIN };
	/* polled even with nothing to write: a closed reader shows as an error */
	p[1] = (struct pollfd){ .fd = s->to, .events = s->n ? POLLOUT : 0 };
}

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
	size_t most = readable_bytes(s);
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
		/* the reader has closed its end: close ours, so that the writer notices */
		run_stream_close(s);
		return;
	}
	s->at += (size_t)n;
	s->n -= (size_t)n;
	if (!s->n)
		s->at = 0;
}

bool run_stream_stop_waiting(const struct run_stream *s)
{
	return s->limited && s->from >= 0 && s->to >= 0 && readable_bytes(s);
}

void run_stream_move(struct run_stream *s, const struct pollfd p[RUN_STREAM_POLLS])
{
	if ((p[0].revents && p[0].fd == s->from) || run_stream_stop_waiting(s))
		take(s);
	if (p[1].revents && p[1].fd == s->to && s->to >= 0) {
		if (s->n)
			write_bytes(s);
		else if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL))
			run_stream_close(s);
	}
	if (s->at && !readable_bytes(s)) {
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

/* What a command's streams are connected to on our side. */

/* Terminals and pipes are reopened, so that writing to them does not wait. A regular file is not
 * (its offset would be lost), and does not block; everything else is written to in small pieces. */
static void set_writer(const struct session *s, struct run_stream *st, int fd)
{
	struct stat sb;

	st->to = fd;
	st->own_to = false;
	st->small = true;
	st->sink = &s->sink;
	if (fstat(fd, &sb) || S_ISREG(sb.st_mode)) {
		st->small = false;
		return;
	}
	if (isatty(fd)) {
		st->filter = ga_calloc(1, sizeof(*st->filter));
		st->watch = s->unfiltered;
	} else if (!S_ISFIFO(sb.st_mode)) {
		return;
	}
	fd = run_open_again(fd);
	if (fd < 0)
		return;
	st->to = fd;
	st->own_to = true;
	st->small = false;
}

void session_resize(const struct session *s)
{
	const struct ga_run_sink *sink = s->c->sink;
	struct winsize ws;

	run_pty_resize(&s->term, s->master);
	if (sink && !ioctl(s->master, TIOCGWINSZ, &ws))
		sink->size(sink->payload, ws.ws_col, ws.ws_row);
}

void session_set_size(void *payload, unsigned columns, unsigned rows)
{
	struct session *s = payload;
	struct winsize ws = { .ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows };

	if (s->master >= 0 && !ioctl(s->master, TIOCSWINSZ, &ws))
		session_resize(s);
}

void session_output(void *payload, const char *p, size_t n)
{
	const struct session *s = payload;

	if (s->control)
		run_control_output(s->control, p, n);
	if (s->c->sink)
		s->c->sink->output(s->c->sink->payload, p, n);
}

void session_typed(void *payload, const char *p, size_t n)
{
	const struct session *s = payload;

	(void)p;
	(void)n;
	if (s->control)
		run_control_typed(s->control);
}

/* Without a terminal of the caller's, the command's own is served all the same. */
static int open_nowhere(struct session *s, struct ga_error *err)
{
	struct run_stream *out = &s->streams[OUT];

	session_set_size(s, s->c->columns, s->c->rows);
	out->to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	out->own_to = true;
	out->sink = &s->sink;
	return out->to < 0 ? ga_fail_errno(err, GA_ESTART, errno, "cannot open '/dev/null'") : 0;
}

int run_pty_open(struct ga_sandbox *sb, struct ga_control *control, const struct run_terminal *t,
		 int *ret_master, int *ret_slave, struct ga_error *err)
{
	cleanup_close int master = run_ask_pty(sb, control, err), slave = -1;
	struct termios tio;
	int unlock = 0;

	if (master < 0)
		return -1;
	/* by descriptor, as its name is valid only in the sandbox */
	if (fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK) || ioctl(master, TIOCSPTLCK, &unlock) ||
	    (slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		return ga_fail_errno(err, GA_ESTART, errno,
				     "cannot prepare a terminal of the sandbox");
	if (!tcgetattr(t->fd, &tio))
		(void)tcsetattr(slave, TCSANOW, &tio);
	run_pty_resize(t, master);
	*ret_master = ga_steal_fd(&master);
	*ret_slave = ga_steal_fd(&slave);
	return 0;
}

static int open_tty(struct session *s, int *ret_slave, struct ga_error *err)
{
	if (run_pty_open(s->sb, s->control, &s->term, &s->master, ret_slave, err))
		return -1;
	s->streams[IN].to = s->master;
	s->streams[IN].sink = &s->typed;
	s->streams[OUT].from = s->master;
	if (s->c->detached)
		return open_nowhere(s, err);
	s->streams[IN].from = 0;
	s->streams[IN].keys = s->c->leave && s->control ? &s->keys : NULL;
	set_writer(s, &s->streams[OUT], 1);
	s->term.filter = s->streams[OUT].filter;
	session_resize(s);
	return 0;
}

/* No input, and all output goes to standard error. */
static int open_beside(struct session *s, int theirs[3], struct ga_error *err)
{
	struct run_stream *st = &s->streams[ERR];
	cleanup_close int in = -1;

	st->own_from = true;
	if (run_pipe(&in, &theirs[IN], false, err) ||
	    run_pipe(&st->from, &theirs[OUT], true, err))
		return -1;
	theirs[ERR] = fcntl(theirs[OUT], F_DUPFD_CLOEXEC, 0);
	if (!s->c->silent) {
		set_writer(s, st, STDERR_FILENO);
		return theirs[ERR] < 0 ? ga_fail_errno(err, GA_ESTART, errno,
						       "cannot prepare a pipe") : 0;
	}
	st->sink = &s->sink;
	st->to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	st->own_to = true;
	return st->to < 0 || theirs[ERR] < 0 ? ga_fail_errno(err, GA_ESTART, errno,
							     "cannot open '/dev/null'") : 0;
}

static bool same_terminal(int a, int b)
{
	unsigned at = 0, bt = 0;

	return !ioctl(a, TIOCGDEV, &at) && !ioctl(b, TIOCGDEV, &bt) && at == bt;
}

static int open_pipes(struct session *s, int theirs[3], struct ga_error *err)
{
	for (int i = 0; i < N_STREAMS; i++) {
		struct run_stream *st = &s->streams[i];

		/* two streams to the same terminal could combine to a sequence that neither
		 * contains */
		if (i == ERR && same_terminal(OUT, ERR)) {
			theirs[ERR] = fcntl(theirs[OUT], F_DUPFD_CLOEXEC, 0);
			return theirs[ERR] < 0 ? ga_fail_errno(err, GA_ESTART, errno,
							       "cannot prepare a pipe") : 0;
		}
		*(i == IN ? &st->own_to : &st->own_from) = true;
		if (run_pipe(i == IN ? &st->to : &st->from, &theirs[i], i != IN, err))
			return -1;
		if (i == IN)
			st->from = 0;
		else
			set_writer(s, st, i);
	}
	return 0;
}

int session_open(struct session *s, int theirs[3], struct ga_error *err)
{
	if (s->c->auxiliary)
		return open_beside(s, theirs, err);
	return s->tty ? open_tty(s, &theirs[0], err) : open_pipes(s, theirs, err);
}
