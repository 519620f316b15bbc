/* SPDX-License-Identifier: MIT
 *
 * Replaying a recording on a terminal.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/quote.h"
#include "ga/run/record.h"
#include "run/run-internal.h"

#define OUT 1
#define SLICE ((size_t)4 << 10)
#define INTERRUPT '\003'

struct replay {
	const struct ga_replay_opts *opts;
	struct run_terminal term; /* the terminal that keys come from, taken over meanwhile */
	struct ga_termfilter filter;
	int in;            /* -1: there are no keys */
	int out;           /* the terminal, opened non-blocking, or as it is */
	int signals;
	sigset_t old_mask;
	bool stop;         /* the user ended it */
	int64_t due;       /* when the next event is shown, in milliseconds */
	double late;       /* fraction of a millisecond carried over */
};

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Read keys; answers of the terminal and mouse reports are discarded with them. */
static void on_keys(struct replay *r)
{
	char keys[256];
	ssize_t n = read(r->in, keys, sizeof(keys));

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		r->stop = true;
	for (ssize_t i = 0; i < n; i++)
		r->stop = r->stop || keys[i] == INTERRUPT || keys[i] == 'q';
}

/* Wait until it is time, or (`writing`) until the terminal takes output. Returns true in that
 * case. */
static bool wait_for(struct replay *r, bool writing)
{
	while (!r->stop) {
		struct pollfd p[] = { { .fd = r->in, .events = POLLIN },
				      { .fd = r->signals, .events = POLLIN },
				      { .fd = writing ? r->out : -1, .events = POLLOUT } };
		int rc = poll(p, GA_NELEMS(p), writing ? -1 : ga_poll_timeout(r->due));

		if (rc < 0 && errno != EINTR)
			r->stop = true;
		/* a signal stays pending, and takes effect when the terminal is restored */
		if (rc > 0 && p[1].revents)
			r->stop = true;
		if (rc > 0 && p[0].revents)
			on_keys(r);
		if (rc > 0 && writing && p[2].revents)
			return true;
		if (!rc && !writing)
			return false;
	}
	return false;
}

static void show(struct replay *r, const char *p, size_t n)
{
	while (n && wait_for(r, true)) {
		ssize_t k = write(r->out, p, n);

		if (k < 0 && errno != EINTR && errno != EAGAIN)
			r->stop = true;
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
}

static void show_filtered(struct replay *r, const char *p, size_t n)
{
	char out[GA_TERMFILTER_ROOM(SLICE)];

	while (n && !r->stop) {
		size_t k = n < SLICE ? n : SLICE;

		show(r, out, ga_termfilter(&r->filter, p, k, out));
		p += k;
		n -= k;
	}
}

static void undo(struct replay *r, bool cut)
{
	char end[GA_TERMFILTER_END];
	size_t n = ga_termfilter_end(&r->filter, cut, end);

	if (n)
		run_terminal_write(OUT, end, n);
}

static void show_mark(struct replay *r, const char *text, size_t n)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	undo(r, false);
	ga_buf_adds(&line, "\r\n---- ");
	ga_quote_add(&line, text, n);
	ga_buf_adds(&line, "\r\n");
	show(r, line.ptr, line.len);
}

/* Schedule the next event after a pause of `us` microseconds in the recording. */
static void put_off(struct replay *r, uint64_t us)
{
	double ms = (double)us / 1000;

	if (r->opts->max_idle > 0 && ms > r->opts->max_idle * 1000)
		ms = r->opts->max_idle * 1000;
	r->late += ms / r->opts->speed;
	r->due += (int64_t)r->late;
	r->late -= (double)(int64_t)r->late;
}

static int play(struct replay *r, const char *dir, const char *name, struct ga_error *err)
{
	struct ga_record *rec;
	struct ga_record_event e;
	uint64_t before = 0;
	int rc = 0;

	if (ga_record_open(dir, name, &rec, err))
		return -1;
	r->due = ga_now_ms();
	while (!r->stop && (rc = ga_record_next(rec, &e, err)) > 0) {
		put_off(r, e.us - before);
		before = e.us;
		if (r->due > ga_now_ms())
			(void)wait_for(r, false);
		if (e.kind == 'o')
			show_filtered(r, e.data, e.n);
		else if (e.kind == 'm')
			show_mark(r, e.data, e.n);
	}
	ga_record_close(rec);
	undo(r, r->stop);
	return r->stop || rc >= 0 ? 0 : -1;
}

static void begin(struct replay *r)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < GA_NELEMS(ends); i++)
		(void)sigaddset(&set, ends[i]);
	(void)sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->out = run_open_again(OUT);
	if (r->out < 0)
		r->out = OUT;
	r->term.fd = isatty(0) ? 0 : OUT;
	r->term.filter = &r->filter;
	r->in = isatty(0) ? 0 : -1;
	(void)run_terminal_raw(&r->term);
}

static void finish(struct replay *r)
{
	if (r->in >= 0)
		(void)tcflush(r->in, TCIFLUSH);
	run_terminal_restore(&r->term);
	if (r->out != OUT)
		(void)close(r->out);
	if (r->signals >= 0)
		(void)close(r->signals);
	(void)sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
}

int ga_replay(const char *dir, const struct ga_strv *names, const struct ga_replay_opts *o,
	      struct ga_error *err)
{
	struct replay r = { .opts = o, .filter = { .mute = true } };
	int rc = 0;

	begin(&r);
	for (size_t i = 0; !rc && !r.stop && i < names->n; i++) {
		if (i)
			show_mark(&r, names->v[i], strlen(names->v[i]));
		rc = play(&r, dir, names->v[i], err);
	}
	finish(&r);
	return rc;
}
