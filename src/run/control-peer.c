/* SPDX-License-Identifier: MIT
 *
 * The client's side of ga/run/control.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "control-internal.h"

/* From SIGKILL of the command until it must be gone, with a margin. */
#define SLACK_MS 8000

void ga_control_peer_release(struct ga_control_peer *p)
{
	ga_cleanup_closep(&p->fd);
	*p = (struct ga_control_peer)GA_CONTROL_PEER_INIT;
}

int ga_control_connect(const char *dir, struct ga_control_peer *ret, struct ga_error *err)
{
	*ret = (struct ga_control_peer)GA_CONTROL_PEER_INIT;
	ret->fd = control_dial(dir, &ret->pid);
	if (ret->fd >= 0) {
		(void)control_send_message(ret->fd, CONTROL_HELLO, CONTROL_VERSION, 0);
		return 0;
	}
	if (errno == ENOENT || errno == ECONNREFUSED)
		return 1;
	return ga_fail_path(err, errno, "reach the session of", dir);
}

int control_wait(int fd, struct control_packet *p, int64_t deadline)
{
	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		int rc = control_recv(fd, p);

		if (rc)
			return rc;
		if (poll(&pfd, 1, ga_poll_timeout(deadline)) == 0)
			return 0;
		if (deadline && ga_now_ms() >= deadline)
			return 0;
	}
}

int control_fail(struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "cannot talk to the session's supervisor"
		       GA_HINT "the session has ended, or runs in another version of git-agent");
}

/* It was reinstalled, or another one is first in PATH. */
static int fail_version(const struct ga_control_peer *p, struct ga_error *err)
{
	cleanup_free char *link = ga_strf("/proc/%d/exe", (int)p->pid), *q = NULL;
	char program[PATH_MAX + 1] = "";

	(void)TEMP_FAILURE_RETRY(readlink(link, program, PATH_MAX));
	q = ga_escape(program);
	return ga_fail(err, GA_EFATAL, "another version of git-agent runs the session: '%s'"
		       GA_HINT "'kill %d' ends it, and its work is captured", q, (int)p->pid);
}

int ga_control_ask(struct ga_control_peer *p, unsigned ms, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ms;
	struct control_packet k;
	int rc = control_wait(p->fd, &k, deadline);

	if (!rc)
		return 1;
	if (rc > 0)
		control_close_fds(&k);
	if (rc < 0 || k.m.type == CONTROL_EXITED)
		return rc < 0 ? control_fail(err) : 1;
	if (k.m.type == CONTROL_STATUS && k.m.value != CONTROL_VERSION)
		return fail_version(p, err);
	if (k.m.type != CONTROL_STATUS || k.n != sizeof(p->is))
		return control_fail(err);
	memcpy(&p->is, k.bytes, sizeof(p->is));
	return 0;
}

/* Wait for a packet of a type. 1: the supervisor has exited; 2: timed out. */
static int wait_for(const struct ga_control_peer *p, uint32_t type, int64_t deadline)
{
	struct control_packet k;

	do {
		int rc = control_wait(p->fd, &k, deadline);

		if (rc <= 0)
			return rc ? 1 : 2;
		control_close_fds(&k);
	} while (k.m.type != type);
	return 0;
}

int ga_control_wait(const struct ga_control_peer *p, int ms)
{
	/* nothing is sent that has the type of a question */
	return wait_for(p, CONTROL_HELLO, ms < 0 ? 0 : ga_now_ms() + ms) == 2;
}

void ga_control_stop(const struct ga_control_peer *p, unsigned ms)
{
	/* a closed peer is noticed when waiting for it */
	(void)control_send_message(p->fd, CONTROL_STOP, (int32_t)ms, 0);
}

int ga_control_wait_exit(const struct ga_control_peer *p, unsigned ms)
{
	return wait_for(p, CONTROL_EXITED, ga_now_ms() + ms + SLACK_MS);
}

int ga_control_send(const struct ga_control_peer *p, const char *text, size_t n,
		    struct ga_error *err)
{
	struct ga_ctl_msg m = { .type = CONTROL_SEND };

	if (!control_send(p->fd, &m, text, n, NULL, 0) &&
	    !wait_for(p, CONTROL_DONE, ga_now_ms() + SLACK_MS))
		return 0;
	return ga_fail(err, GA_EFATAL, "the session did not accept the input"
		       GA_HINT "it reads no input, has ended, or runs in another version of "
		       "git-agent");
}

/* The output of a running session, for a client that only reads it. */

static int show(const struct ga_control_watch *w, struct ga_termfilter *f,
		const struct control_packet *p)
{
	char out[GA_TERMFILTER_ROOM(CONTROL_BYTES)];

	return w->output(w->payload, out, ga_termfilter(f, p->bytes, p->n, out));
}

/* Returns 1 if there is no more. */
static int on_packet(const struct ga_control_watch *w, struct ga_termfilter *f, bool *begun,
		     const struct control_packet *p)
{
	switch (p->m.type) {
	case CONTROL_RESET:
		*f = (struct ga_termfilter)GA_TERMFILTER_INIT;
		if (*begun && w->missed)
			w->missed(w->payload);
		*begun = true;
		return 0;
	case CONTROL_OUTPUT:
		return show(w, f, p);
	case CONTROL_DONE:
	case CONTROL_EXITED:
		return 1;
	default:
		return 0;
	}
}

int ga_control_watch(const struct ga_control_peer *p, const struct ga_control_watch *w)
{
	struct ga_termfilter f = GA_TERMFILTER_INIT;
	bool begun = false;
	int rc = 0;

	if (control_send_message(p->fd, CONTROL_WATCH, w->follow, 0) < 0)
		return GA_CONTROL_OVER;
	while (!rc) {
		struct control_packet k;

		rc = control_wait(p->fd, &k, 0);
		if (rc < 0)
			break;
		control_close_fds(&k);
		rc = on_packet(w, &f, &begun, &k);
	}
	if (rc < 0 && !begun)
		return GA_CONTROL_OVER;
	return rc == GA_CONTROL_UNREAD ? GA_CONTROL_UNREAD : 0;
}

/* A further command in the sandbox of a session: for ga_run_session(), the socket to the supervisor
 * looks like the one to init. */

#define ANSWER_MS 20000
#define WORDS_MAX (8 * CONTROL_BYTES)

static bool take_words(const struct control_packet *p, struct ga_strv *ret)
{
	size_t at = 0;

	while (at < p->n) {
		const char *end = memchr(p->bytes + at, '\0', p->n - at);

		if (!end)
			return false;
		ga_strv_push(ret, p->bytes + at);
		at = (size_t)(end - p->bytes) + 1;
	}
	return true;
}

/* Read the environment of the session's command. */
static int read_environment(int fd, struct ga_strv *ret, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + ANSWER_MS;

	for (;;) {
		struct control_packet p;
		int rc = control_wait(fd, &p, deadline);

		if (rc > 0)
			control_close_fds(&p);
		if (rc > 0 && p.m.type == CONTROL_ENV && !p.n)
			return 0;
		if (rc < 0 || (rc > 0 && p.m.type == CONTROL_EXITED) ||
		    (rc > 0 && p.m.type == CONTROL_ENV && !take_words(&p, ret)))
			return ga_fail(err, GA_ESTART, "the session has just ended");
		if (!rc)
			return ga_fail(err, GA_ESTART, "the session does not answer"
				       GA_HINT "it may be stopped, on another terminal");
	}
}

/* Set TERM to the terminal it runs on, rather than the session's. */
static void set_term(struct ga_strv *env, const char *term)
{
	for (size_t i = 0; term && i < env->n; i++) {
		if (strncmp(env->v[i], "TERM=", 5))
			continue;
		free(env->v[i]);
		env->v[i] = ga_strf("TERM=%s", term);
		return;
	}
	if (term)
		ga_strv_pushf(env, "TERM=%s", term);
}

int ga_control_command(const struct ga_control_peer *p, const struct ga_run_command *c,
		       const char *term, int *ret_status, struct ga_error *err)
{
	cleanup_strv struct ga_strv env = GA_STRV_INIT;
	struct ga_run_command mine = *c;
	struct ga_sandbox *sb;
	int rc;

	/* requests follow HELLO, and are heard after its answer */
	if (control_send_message(p->fd, CONTROL_SHELL, 0, 0) < 0)
		return ga_fail(err, GA_ESTART, "the session has just ended");
	if (read_environment(p->fd, &env, err))
		return -1;
	set_term(&env, term);
	mine.envp = (const char *const *)env.v;
	sb = run_sandbox_new();
	sb->elsewhere = true;
	sb->ctl = fcntl(p->fd, F_DUPFD_CLOEXEC, 3);
	rc = sb->ctl < 0 ? ga_fail_errno(err, GA_ESTART, errno, "cannot copy a descriptor")
			 : run_signals_take(sb, err);
	if (!rc)
		rc = ga_run_session(sb, &mine, ret_status, err);
	ga_run_finish(sb);
	return rc;
}

/* ---- a terminal attached ---- */

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
	char in[CONTROL_TYPED];
	size_t at, n;                  /* bytes that wait for the terminal */
	char buf[GA_TERMFILTER_ROOM(CONTROL_BYTES) + GA_TERMFILTER_END + ROWS_MAX + 64];
	bool over;
	enum ga_control_end how;
	int status;
	int signal;                    /* the signal that ends us */
};

static void detach_as(struct attach *a, enum ga_control_end how)
{
	if (!a->over)
		a->how = how;
	a->over = true;
}

static void add_output(struct attach *a, const char *p, size_t n)
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
static void begin_screen(struct attach *a, const struct control_packet *p)
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
		add_output(a, p->bytes, p->n);
}

static void send_size(struct attach *a, uint32_t type, bool redraw)
{
	struct ga_ctl_msg m = { .type = type, .id = redraw };
	struct winsize ws;

	if (ioctl(OUT_FD, TIOCGWINSZ, &ws))
		return;
	m.value = ws.ws_col;
	m.flags = ws.ws_row;
	(void)control_send(a->peer, &m, NULL, 0, NULL, 0);
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
static void suspend_attached(struct attach *a)
{
	undo_screen(a);
	run_terminal_restore(&a->term);
	run_signals_suspend(a->signals);
	(void)run_terminal_raw(&a->term);
	send_size(a, CONTROL_SIZE, true);
}

static void on_attached(struct attach *a, const struct control_packet *p)
{
	switch (p->m.type) {
	case CONTROL_RESET:
		begin_screen(a, p);
		break;
	case CONTROL_OUTPUT:
		add_output(a, p->bytes, p->n);
		break;
	case CONTROL_STOPPED:
		suspend_attached(a);
		(void)control_send_message(a->peer, CONTROL_RESUME, 0, 0);
		break;
	case CONTROL_TAKEN:
		detach_as(a, GA_CONTROL_TAKEN);
		break;
	case CONTROL_EXITED:
		a->status = p->m.value;
		detach_as(a, GA_CONTROL_ENDED);
		break;
	default:
		break;
	}
}

static void on_peer(struct attach *a)
{
	struct control_packet p;
	int rc = control_recv(a->peer, &p);

	if (rc > 0) {
		on_attached(a, &p);
		control_close_fds(&p);
	} else if (rc < 0) {
		detach_as(a, GA_CONTROL_GONE);
	}
}

static void show_output(struct attach *a)
{
	size_t want = a->small && a->n > 4096 ? 4096 : a->n;
	ssize_t k = write(a->out, a->buf + a->at, want);

	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (k < 0) {
		detach_as(a, GA_CONTROL_DETACHED);
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
	struct ga_ctl_msg m = { .type = CONTROL_INPUT };

	/* a closed peer is noticed when reading */
	if (a->in_n && control_send(a->peer, &m, a->in, a->in_n, NULL, 0) != 1)
		a->in_n = 0;
}

static void on_typing(struct attach *a)
{
	char raw[CONTROL_TYPED - RUN_KEYS_HELD];
	ssize_t n = read(IN_FD, raw, sizeof(raw));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* the terminal was hung up, which does not concern the session */
	if (n <= 0 || run_keys(&a->keys, raw, (size_t)n, a->in, &a->in_n))
		detach_as(a, GA_CONTROL_DETACHED);
	send_typed(a);
}

static void on_signals(struct attach *a)
{
	int n;

	while ((n = run_signals_next(a->signals))) {
		if (n == SIGWINCH) {
			send_size(a, CONTROL_SIZE, false);
		} else if (n == SIGTSTP) {
			suspend_attached(a);
		} else if (n == SIGCONT) {
			(void)run_terminal_raw(&a->term);
			send_size(a, CONTROL_SIZE, true);
		} else {
			a->signal = n;
			detach_as(a, GA_CONTROL_DETACHED);
		}
	}
}

static int attach_loop(struct attach *a, struct ga_error *err)
{
	/* output from before the detach is still shown */
	while (!a->over || (a->n && a->how == GA_CONTROL_ENDED && !a->signal)) {
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
			show_output(a);
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

static int attach_run(struct attach *a, struct ga_error *err)
{
	int rc;

	if (run_signals_take(a->signals, err))
		return -1;
	a->term = (struct run_terminal){ .fd = IN_FD, .filter = &a->filter };
	open_out(a);
	if (fcntl(a->peer, F_SETFL, O_RDWR | O_NONBLOCK) || run_terminal_raw(&a->term)) {
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot use the terminal");
	} else {
		send_size(a, CONTROL_ATTACH, false);
		rc = attach_loop(a, err);
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

int ga_control_attach(const struct ga_control_peer *p, bool unfiltered, enum ga_control_end *ret,
		      int *ret_status, struct ga_error *err)
{
	struct attach *a;
	int rc;

	if (!isatty(IN_FD) || !isatty(OUT_FD))
		return ga_fail(err, GA_EUSAGE, "standard input and output are not a terminal");
	a = ga_calloc(1, sizeof(*a));
	a->peer = p->fd;
	a->unfiltered = unfiltered;
	a->signals = run_sandbox_new();
	rc = attach_run(a, err);
	*ret = a->how;
	*ret_status = a->status;
	ga_run_finish(a->signals);
	free(a);
	return rc;
}
