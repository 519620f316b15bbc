/* SPDX-License-Identifier: MIT
 *
 * Replay recordings on a terminal.
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
	struct run_terminal term; /* the terminal that keys come from, taken over for so long */
	struct ga_termfilter filter;
	int in;            /* -1: there are no keys */
	int out;           /* the terminal, opened non-blocking, or as it is */
	int signals;
	sigset_t old_mask;
	bool stop;         /* the user ended it */
	int64_t due;       /* when the next event is shown, in milliseconds */
};

static const int fatal[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

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

static int play(struct replay *r, const char *dir, const char *name, struct ga_error *err)
{
	struct ga_record *rec;
	struct ga_record_event e;
	int64_t begun = ga_now_ms();
	int rc = 0;

	if (ga_record_open(dir, name, &rec, err))
		return -1;
	while (!r->stop && (rc = ga_record_next(rec, &e, err)) > 0) {
		r->due = begun + (int64_t)(e.us / 1000);
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
	for (size_t i = 0; i < GA_NELEMS(fatal); i++)
		(void)sigaddset(&set, fatal[i]);
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

int ga_replay(const char *dir, const struct ga_strv *names, struct ga_error *err)
{
	struct replay r = { .filter = { .mute = true } };
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

/* ---- as plain text ---- */

/* A line is output when it has this many bytes, even if it has not ended. */
#define LINE_HELD ((size_t)64 << 10)

enum state { GROUND, ESCAPE, INTERMEDIATE, SEQUENCE, STRING, STRING_ESCAPE };

static void put_line(struct ga_record_text *t, bool ends, struct ga_buf *out)
{
	size_t n = t->line.len;

	while (ends && n && (t->line.ptr[n - 1] == ' ' || t->line.ptr[n - 1] == '\t'))
		n--;
	ga_quote_add_text(out, t->line.ptr, n);
	if (ends)
		ga_buf_addch(out, '\n');
	ga_buf_clear(&t->line);
	t->returned = false;
}

/* What follows is in another place on the screen: end the line. */
static void end_line(struct ga_record_text *t, struct ga_buf *out)
{
	if (t->line.len)
		put_line(t, true, out);
	t->returned = false;
}

static void take_back(struct ga_record_text *t)
{
	size_t n = t->line.len;

	while (n && ((unsigned char)t->line.ptr[n - 1] & 0xc0) == 0x80)
		n--;
	ga_buf_truncate(&t->line, n ? n - 1 : 0);
}

static void add(struct ga_record_text *t, char c, struct ga_buf *out)
{
	/* it is overwritten; the end of a longer text that would remain is not kept */
	if (t->returned)
		ga_buf_clear(&t->line);
	t->returned = false;
	/* not within a character of UTF-8 */
	if (t->line.len >= LINE_HELD && ((unsigned char)c & 0xc0) != 0x80)
		put_line(t, false, out);
	ga_buf_addch(&t->line, c);
}

static void control(struct ga_record_text *t, char c, struct ga_buf *out)
{
	switch (c) {
	case '\n':
	case '\v':
	case '\f':
		put_line(t, true, out);
		break;
	case '\r':
		t->returned = true;
		break;
	case '\b':
		take_back(t);
		break;
	case '\t':
		add(t, c, out);
		break;
	default:
		break;
	}
}

/* End the line at sequences that move the cursor far enough to separate texts. */
static void sequence(struct ga_record_text *t, char final, struct ga_buf *out)
{
	switch (final) {
	case 'A': case 'B': case 'E': case 'F': case 'H': case 'J': case 'd': case 'f':
		end_line(t, out);
		break;
	case 'C': case 'G': case '`': case 'a':
		if (t->line.len && !t->returned)
			add(t, ' ', out);
		break;
	default:
		break;
	}
}

static void plain_byte(struct ga_record_text *t, char c, struct ga_buf *out)
{
	if (c == '\033')
		t->state = ESCAPE;
	else if ((unsigned char)c < 0x20)
		control(t, c, out);
	else if (c != 0x7f)
		add(t, c, out);
}

static void escape(struct ga_record_text *t, char c, struct ga_buf *out)
{
	if (c == '[') {
		t->state = SEQUENCE;
	} else if (strchr("]P_^Xk", c) && c) {
		t->state = STRING;
		t->intro = c;
	} else if (c >= 0x20 && c <= 0x2f) {
		t->state = INTERMEDIATE;
	} else {
		t->state = GROUND;
		if (c == 'c' || c == 'D' || c == 'E' || c == 'M')
			end_line(t, out);
	}
}

static void string(struct ga_record_text *t, char c)
{
	if (c == '\033')
		t->state = STRING_ESCAPE;
	else if (c == '\a' && t->intro == ']')
		t->state = GROUND;
}

void ga_record_text(struct ga_record_text *t, const char *p, size_t n, struct ga_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		switch (t->state) {
		case GROUND:
			plain_byte(t, c, out);
			break;
		case ESCAPE:
			escape(t, c, out);
			break;
		case INTERMEDIATE:
			if (c < 0x20 || c > 0x2f)
				t->state = GROUND;
			break;
		case SEQUENCE:
			if (c < 0x40)
				break;
			t->state = GROUND;
			sequence(t, c, out);
			break;
		case STRING:
			string(t, c);
			break;
		default:
			t->state = c == '\\' ? GROUND : STRING;
		}
	}
}

void ga_record_text_end(struct ga_record_text *t, struct ga_buf *out)
{
	end_line(t, out);
	t->state = GROUND;
}

void ga_record_text_release(struct ga_record_text *t)
{
	ga_buf_release(&t->line);
}
