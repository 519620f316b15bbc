/* SPDX-License-Identifier: MIT
 *
 * A terminal attached to a running session.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ga/run/live.h"
#include "ga/run/run.h"
#include "live-internal.h"

#define IN_FD 0
#define OUT_FD 1
/* Larger than any screen. */
#define ROWS_MAX 1000

struct attach {
	int peer;
	struct ga_sandbox *signals;    /* not a sandbox: only what run_signals_take() needs */
	struct run_terminal term;
	struct ga_termfilter filter;
	bool unfiltered;
	int out;                       /* the terminal, opened non-blocking, or OUT_FD */
	bool small;                    /* `out` blocks, so write in small pieces */
	bool begun;                    /* something has been shown */
	struct run_keys keys;
	size_t in_n;                   /* bytes that wait to be sent to the session */
	char in[LIVE_TYPED];
	size_t at, n;                  /* bytes that wait for the terminal */
	char buf[GA_TERMFILTER_ROOM(LIVE_BYTES) + GA_TERMFILTER_END + ROWS_MAX + 64];
	bool over;
	enum ga_live_end how;
	int status;
	int signal;                    /* the signal that ends us */
};

static void end(struct attach *a, enum ga_live_end how)
{
	if (!a->over)
		a->how = how;
	a->over = true;
}

static void add(struct attach *a, const char *p, size_t n)
{
	char *to = a->buf + a->n;

	if (!a->unfiltered) {
		a->n += ga_termfilter(&a->filter, p, n, to);
		return;
	}
	/* unfiltered, but the filter records what has to be undone */
	(void)ga_termfilter(&a->filter, p, n, to);
	memcpy(to, p, n);
	a->n += n;
}

/* Scroll the current screen up, out of the way: the session may draw anywhere. */
static void begin_screen(struct attach *a, const struct live_packet *p)
{
	static const char home[] = "\033[H\033[2J";
	struct winsize ws;
	size_t rows = !ioctl(OUT_FD, TIOCGWINSZ, &ws) && ws.ws_row < ROWS_MAX ? ws.ws_row : 24;

	a->n += ga_termfilter_end(&a->filter, a->begun, a->buf + a->n);
	if (!a->begun) {
		memset(a->buf + a->n, '\n', rows);
		a->n += rows;
	}
	memcpy(a->buf + a->n, home, sizeof(home) - 1);
	a->n += sizeof(home) - 1;
	a->begun = true;
	if (p->n <= GA_TERMFILTER_END)
		add(a, p->bytes, p->n);
}

static void say_size(struct attach *a, uint32_t type, bool anew)
{
	struct ga_ctl_msg m = { .type = type, .id = anew };
	struct winsize ws;

	if (ioctl(OUT_FD, TIOCGWINSZ, &ws))
		return;
	m.value = ws.ws_col;
	m.flags = ws.ws_row;
	(void)live_send(a->peer, &m, NULL, 0, NULL, 0);
}

static void undo_screen(struct attach *a)
{
	char undo[GA_TERMFILTER_END];
	size_t n = ga_termfilter_end(&a->filter, a->n || a->unfiltered, undo);

	a->n = a->at = 0;
	if (n)
		run_terminal_write(OUT_FD, undo, n);
	if (a->begun)
		run_terminal_write(OUT_FD, "\r\n", 2);
}

/* Stop in front of the shell we were started from; when continued, everything is redrawn. */
static void suspend(struct attach *a)
{
	undo_screen(a);
	run_terminal_restore(&a->term);
	run_signals_suspend(a->signals);
	(void)run_terminal_raw(&a->term);
	say_size(a, LIVE_SIZE, true);
}

static void on_packet(struct attach *a, const struct live_packet *p)
{
	switch (p->m.type) {
	case LIVE_RESET:
		begin_screen(a, p);
		break;
	case LIVE_OUTPUT:
		add(a, p->bytes, p->n);
		break;
	case LIVE_STOPPED:
		suspend(a);
		(void)live_say(a->peer, LIVE_GO_ON, 0, 0);
		break;
	case LIVE_TAKEN:
		end(a, GA_LIVE_TAKEN);
		break;
	case LIVE_EXITED:
		a->status = p->m.value;
		end(a, GA_LIVE_ENDED);
		break;
	default:
		break;
	}
}

static void on_peer(struct attach *a)
{
	struct live_packet p;
	int rc = live_recv(a->peer, &p);

	if (rc > 0) {
		on_packet(a, &p);
		live_close_fds(&p);
	} else if (rc < 0) {
		end(a, GA_LIVE_GONE);
	}
}

static void show(struct attach *a)
{
	size_t want = a->small && a->n > 4096 ? 4096 : a->n;
	ssize_t k = write(a->out, a->buf + a->at, want);

	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (k < 0) {
		end(a, GA_LIVE_DETACHED);
		a->n = 0;
		return;
	}
	a->at += (size_t)k;
	a->n -= (size_t)k;
	if (!a->n)
		a->at = 0;
}

static void send_typed(struct attach *a)
{
	struct ga_ctl_msg m = { .type = LIVE_INPUT };

	/* a peer that is gone is noticed when reading */
	if (a->in_n && live_send(a->peer, &m, a->in, a->in_n, NULL, 0) != 1)
		a->in_n = 0;
}

static void on_typing(struct attach *a)
{
	char raw[LIVE_TYPED - RUN_KEYS_HELD];
	ssize_t n = read(IN_FD, raw, sizeof(raw));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* the terminal was hung up, which does not concern the session */
	if (n <= 0 || run_keys(&a->keys, raw, (size_t)n, a->in, &a->in_n))
		end(a, GA_LIVE_DETACHED);
	send_typed(a);
}

static void on_signals(struct attach *a)
{
	int n;

	while ((n = run_signals_next(a->signals))) {
		if (n == SIGWINCH) {
			say_size(a, LIVE_SIZE, false);
		} else if (n == SIGTSTP) {
			suspend(a);
		} else if (n == SIGCONT) {
			(void)run_terminal_raw(&a->term);
			say_size(a, LIVE_SIZE, true);
		} else {
			a->signal = n;
			end(a, GA_LIVE_DETACHED);
		}
	}
}

static int loop(struct attach *a, struct ga_error *err)
{
	/* output from before the end is still shown */
	while (!a->over || (a->n && a->how == GA_LIVE_ENDED && !a->signal)) {
		struct pollfd p[] = {
			/* without events poll() would report the hang-up again and again */
			{ .fd = a->over || (a->n && !a->in_n) ? -1 : a->peer,
			  .events = (short)((a->n ? 0 : POLLIN) | (a->in_n ? POLLOUT : 0)) },
			{ .fd = a->over || a->in_n ? -1 : IN_FD, .events = POLLIN },
			{ .fd = a->signals->sigfd, .events = POLLIN },
			{ .fd = a->n ? a->out : -1, .events = POLLOUT },
		};

		if (poll(p, GA_NELEMS(p), -1) < 0) {
			if (errno != EINTR)
				return ga_fail_errno(err, GA_EFATAL, errno,
						     "cannot wait for the session");
			continue;
		}
		if (p[3].revents)
			show(a);
		if (p[2].revents)
			on_signals(a);
		if (p[1].revents)
			on_typing(a);
		if (p[0].revents)
			send_typed(a);
		if (!a->n && (p[0].revents & ~POLLOUT))
			on_peer(a);
	}
	return 0;
}

static void open_out(struct attach *a)
{
	a->out = run_open_again(OUT_FD);
	a->small = a->out < 0;
	if (a->small)
		a->out = OUT_FD;
}

static int run(struct attach *a, struct ga_error *err)
{
	int rc;

	if (run_signals_take(a->signals, err))
		return -1;
	a->term = (struct run_terminal){ .fd = IN_FD, .filter = &a->filter };
	open_out(a);
	if (fcntl(a->peer, F_SETFL, O_RDWR | O_NONBLOCK) || run_terminal_raw(&a->term)) {
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot use the terminal");
	} else {
		say_size(a, LIVE_ATTACH, false);
		rc = loop(a, err);
	}
	undo_screen(a);
	run_terminal_restore(&a->term);
	if (!a->small)
		(void)close(a->out);
	/* the signal takes effect now */
	if (a->signal)
		(void)kill(getpid(), a->signal);
	run_signals_restore(a->signals);
	return rc;
}

int ga_live_attach(const struct ga_live_peer *p, bool unfiltered, enum ga_live_end *ret,
		   int *ret_status, struct ga_error *err)
{
	struct attach *a;
	int rc;

	if (!isatty(IN_FD) || !isatty(OUT_FD))
		return ga_fail(err, GA_EUSAGE, "standard input and output are no terminal");
	a = ga_calloc(1, sizeof(*a));
	a->peer = p->fd;
	a->unfiltered = unfiltered;
	a->signals = run_sandbox_new();
	rc = run(a, err);
	*ret = a->how;
	*ret_status = a->status;
	ga_run_finish(a->signals);
	free(a);
	return rc;
}
