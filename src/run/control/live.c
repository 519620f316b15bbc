/* SPDX-License-Identifier: MIT
 *
 * The supervisor's side of ga/run/live.h, served by the session's poll loop. Nothing here waits for
 * a client: a client that does not read now gets output later, or misses it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "run/live-internal.h"

#define HELLO_MS 5000
#define REDRAW_MS 100
/* Time to send clients the rest of the output after the command has ended. */
#define LAST_MS 1000

int ga_live_open(const char *dir, struct ga_live **ret, struct ga_error *err)
{
	int fd = live_listen(dir, err);
	struct ga_live *l;

	if (fd < 0)
		return -1;
	l = ga_calloc(1, sizeof(*l));
	l->dir = ga_strdup(dir);
	l->fd = fd;
	l->in_rd = l->in_wr = -1;
	l->last = ga_now_ms();
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		l->clients[i].fd = -1;
	*ret = l;
	return 0;
}

void ga_live_close(struct ga_live *l)
{
	if (!l)
		return;
	(void)live_unlink(l->dir);
	(void)close(l->fd);
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		ga_cleanup_closep(&l->clients[i].fd);
	ga_cleanup_closep(&l->in_rd);
	ga_cleanup_closep(&l->in_wr);
	free(l->ring.buf);
	free(l->dir);
	free(l);
}

void ga_live_remove(const char *dir)
{
	(void)live_unlink(dir);
}

/* ---- clients */

static struct live_client *attached(struct ga_live *l)
{
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && l->clients[i].role == LIVE_TYPES &&
		    !l->clients[i].gone)
			return &l->clients[i];
	return NULL;
}

static const struct live_client *find_gone(const struct ga_live *l)
{
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && l->clients[i].gone)
			return &l->clients[i];
	return NULL;
}

/* A closed client whose input is still to be read. Only one such client keeps its slot. */
static void on_client_gone(struct ga_live *l, struct live_client *c)
{
	if (c->role != LIVE_TYPES || find_gone(l)) {
		live_drop(l, c);
		return;
	}
	c->gone = true;
	live_resume_shells(l);
}

/* A free slot: no client is connected there, and no command of a former client is left. */
static struct live_client *free_place(struct ga_live *l)
{
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		if (l->clients[i].fd < 0 && !l->clients[i].id)
			return &l->clients[i];
	return NULL;
}

static void accept_clients(struct ga_live *l)
{
	for (;;) {
		cleanup_close int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct live_client *c = free_place(l);
		pid_t pid;

		if (fd < 0)
			return;
		/* if no slot is free it sees the end at once */
		if (!c || !live_is_ours(fd, &pid))
			continue;
		*c = (struct live_client){ .fd = ga_steal_fd(&fd), .role = LIVE_NEW,
					   .hello_by = ga_now_ms() + HELLO_MS };
	}
}

static int send_status(struct ga_live *l, struct live_client *c)
{
	struct ga_ctl_msg m = { .type = LIVE_STATUS, .value = LIVE_VERSION };
	struct ga_live_status st = {
		.detached = l->s && l->s->detached,
		.attached = attached(l) != NULL,
		.before = l->s && l->s->auxiliary && !l->s->after,
		.after = l->s && l->s->auxiliary && l->s->after,
		.asks = run_ring_rang(&l->ring, l->typed),
		.idle = (uint64_t)(ga_now_ms() - l->last),
	};

	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		st.shells += l->clients[i].id != 0;
	return live_send(c->fd, &m, &st, sizeof(st), NULL, 0) ? -1 : 0;
}

/* A process that may talk to us may also enter namespaces that a process of ours made. */
static int send_stage(struct ga_live *l, struct live_client *c)
{
	struct ga_ctl_msg m = { .type = LIVE_STAGE_IS };
	const int fds[] = { l->s->sb->child, l->s->sb->pidfd };

	return live_send(c->fd, &m, NULL, 0, fds, GA_NELEMS(fds)) ? -1 : 0;
}

/* ---- the terminal */

/* Without a change of size the command would not notice the new terminal: change it for a
 * moment. */
static void resize(struct ga_live *l, unsigned columns, unsigned rows, bool redraw)
{
	l->resize_at = 0;
	if (!l->s || !columns || !rows || columns > 10000 || rows > 10000)
		return;
	if (redraw && columns == l->columns && rows == l->rows) {
		l->s->size(l->s->payload, columns, rows > 1 ? rows - 1 : 2);
		l->resize_at = ga_now_ms() + REDRAW_MS;
		return;
	}
	l->columns = columns;
	l->rows = rows;
	l->s->size(l->s->payload, columns, rows);
}

static void attach(struct ga_live *l, struct live_client *c, const struct ga_ctl_msg *m)
{
	struct live_client *former = attached(l);

	if (former) {
		(void)live_send_message(former->fd, LIVE_TAKEN, 0, 0);
		live_drop(l, former);
	}
	c->role = LIVE_TYPES;
	c->follow = c->fresh = true;
	resize(l, (unsigned)m->value, m->flags, true);
}

/* Write what was typed to the command's terminal, as far as there is room. */
static void type(struct ga_live *l)
{
	ssize_t n;

	if (!l->in_n)
		return;
	n = write(l->in_wr, l->in, l->in_n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* the reader is gone if the terminal was hung up */
	n = n < 0 ? (ssize_t)l->in_n : n;
	memmove(l->in, l->in + n, l->in_n - (size_t)n);
	l->in_n -= (size_t)n;
}

static int typed(struct ga_live *l, const struct live_packet *p)
{
	if (p->n > LIVE_TYPED)
		return -1;
	/* while input waits, its sender is not read */
	memcpy(l->in, p->bytes, p->n);
	l->in_n = p->n;
	type(l);
	return 0;
}

/* Type a text for a client that is not attached, as a bracketed paste if the command enabled that:
 * else it would submit each line. */
static int send_text(struct ga_live *l, struct live_client *c, const struct live_packet *p)
{
	static const char begin[] = "\033[200~", end[] = "\033[201~";
	struct ga_termstate on;
	size_t n = 0;

	if (!l->s->detached || l->s->auxiliary || p->n > GA_LIVE_SEND_MAX)
		return -1;
	c->role = LIVE_SENDS;
	run_ring_end(&l->ring, &on);
	if (!p->n) {
		l->in[n++] = '\r';
	} else if (ga_termstate_pastes(&on)) {
		memcpy(l->in, begin, sizeof(begin) - 1);
		memcpy(l->in + sizeof(begin) - 1, p->bytes, p->n);
		n = sizeof(begin) - 1 + p->n;
		memcpy(l->in + n, end, sizeof(end) - 1);
		n += sizeof(end) - 1;
	} else {
		for (; n < p->n; n++)
			l->in[n] = (char)(p->bytes[n] == '\n' ? '\r' : p->bytes[n]);
	}
	l->in_n = n;
	type(l);
	return live_send_message(c->fd, LIVE_DONE, 0, 0) ? -1 : 0;
}

static int send_output(struct ga_live *l, struct live_client *c)
{
	struct ga_ctl_msg m = { .type = LIVE_OUTPUT };
	char buf[LIVE_BYTES];
	size_t n = run_ring_get(&l->ring, c->at, buf, sizeof(buf));
	int rc = live_send(c->fd, &m, buf, n, NULL, 0);

	c->at += rc ? 0 : n;
	return rc;
}

static int send_reset(struct ga_live *l, struct live_client *c)
{
	struct ga_ctl_msg m = { .type = LIVE_RESET };
	struct ga_termstate on;
	char redo[GA_TERMFILTER_END];
	uint64_t at = run_ring_begin(&l->ring, &on);
	int rc = live_send(c->fd, &m, redo, ga_termstate_redo(&on, redo), NULL, 0);

	if (rc)
		return rc;
	c->at = at;
	c->fresh = false;
	return 0;
}

static bool sees_output(const struct live_client *c)
{
	return c->fd >= 0 && (c->role == LIVE_TYPES || c->role == LIVE_WATCHES);
}

static bool wants_output(const struct ga_live *l, const struct live_client *c)
{
	return sees_output(c) && !c->gone && (c->fresh || c->at < l->ring.end);
}

/* Send as much output as the client takes now. Returns 0, or -1 if it has closed. */
static int show(struct ga_live *l, struct live_client *c)
{
	int rc = 0;

	while (!rc && wants_output(l, c)) {
		/* also if it is too far behind */
		if (c->fresh || c->at < l->ring.start)
			rc = send_reset(l, c);
		else
			rc = send_output(l, c);
	}
	if (!rc && sees_output(c) && !c->follow) {
		(void)live_send_message(c->fd, LIVE_DONE, 0, 0);
		rc = -1;
	}
	return rc < 0 ? -1 : 0;
}

void run_live_output(struct ga_live *l, const char *p, size_t n)
{
	l->last = ga_now_ms();
	run_ring_add(&l->ring, p, n);
}

void run_live_typed(struct ga_live *l)
{
	l->typed = l->ring.end;
}

/* ---- requests of clients */

static int begin_role(struct ga_live *l, struct live_client *c, const struct live_packet *p)
{
	const struct ga_ctl_msg *m = &p->m;

	switch (m->type) {
	case LIVE_ATTACH:
		/* a session with a terminal is attached to that, and an auxiliary command has
		 * none */
		if (!l->s->detached || l->s->auxiliary)
			return -1;
		attach(l, c, m);
		return 0;
	case LIVE_WATCH:
		c->role = LIVE_WATCHES;
		c->fresh = true;
		c->follow = m->value != 0;
		return 0;
	case LIVE_STOP:
		c->role = LIVE_STOPS;
		l->s->stop(l->s->payload, m->value > 0 ? (unsigned)m->value : 0);
		return 0;
	case LIVE_SHELL:
		c->role = LIVE_COMMANDS;
		return live_shell_begin(l, c);
	case LIVE_STAGE:
		return send_stage(l, c);
	case LIVE_SEND:
		/* earlier input is not lost */
		return l->in_n ? -1 : send_text(l, c, p);
	default:
		return -1;
	}
}

static int on_typing(struct ga_live *l, struct live_client *c, const struct live_packet *p)
{
	switch (p->m.type) {
	case LIVE_INPUT:
		return typed(l, p);
	case LIVE_SIZE:
		/* redraw: its terminal shows something else by now */
		c->fresh = c->fresh || p->m.id;
		resize(l, (unsigned)p->m.value, p->m.flags, p->m.id);
		return 0;
	case LIVE_RESUME:
		live_resume_shells(l);
		return 0;
	default:
		return -1;
	}
}

static int on_packet(struct ga_live *l, struct live_client *c, struct live_packet *p)
{
	switch (c->role) {
	case LIVE_NEW:
		if (p->m.type != LIVE_HELLO)
			return -1;
		if (p->m.value != LIVE_VERSION) {
			(void)live_send_message(c->fd, LIVE_STATUS, LIVE_VERSION, 0);
			return -1;
		}
		c->role = LIVE_KNOWN;
		return send_status(l, c);
	case LIVE_KNOWN:
		return p->m.type == LIVE_HELLO ? send_status(l, c) : begin_role(l, c, p);
	case LIVE_TYPES:
		return on_typing(l, c, p);
	case LIVE_SENDS:
		return p->m.type == LIVE_SEND ? begin_role(l, c, p) : -1;
	case LIVE_STOPS:
		return p->m.type == LIVE_STOP ? begin_role(l, c, p) : -1;
	case LIVE_COMMANDS:
		return live_shell_packet(l, c, p);
	case LIVE_WATCHES:
	default:
		return -1;
	}
}

/* Read one message at a time, so that no client keeps the others waiting. */
static void receive(struct ga_live *l, struct live_client *c)
{
	struct live_packet p;
	int rc = live_recv(c->fd, &p);

	if (rc > 0) {
		rc = on_packet(l, c, &p);
		live_close_fds(&p);
	}
	if (rc < 0)
		live_drop(l, c);
}

/* ---- the loop's */

/* Input waits for earlier input, and until the terminal has its size. */
static bool accepts_input(const struct ga_live *l, const struct live_client *c)
{
	if (c->role == LIVE_SENDS)
		return !l->in_n;
	if (c->role != LIVE_TYPES)
		return true;
	return !l->in_n && !l->resize_at && (c->gone || !find_gone(l));
}

void run_live_poll(const struct ga_live *l, struct pollfd p[RUN_LIVE_POLLS])
{
	p[0] = (struct pollfd){ .fd = l->fd, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = l->in_n ? l->in_wr : -1, .events = POLLOUT };
	for (size_t i = 0; i < LIVE_CLIENTS; i++) {
		const struct live_client *c = &l->clients[i];
		int events =
			(accepts_input(l, c) ? POLLIN : 0) | (wants_output(l, c) ? POLLOUT : 0);

		/* otherwise the hang-up would be reported again and again */
		p[2 + i] = (struct pollfd){ .fd = c->gone && !events ? -1 : c->fd,
					    .events = (short)events };
	}
}

static int64_t earlier_of(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

int64_t run_live_next(const struct ga_live *l)
{
	int64_t next = earlier_of(l->resize_at, live_shell_next(l));

	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && l->clients[i].role == LIVE_NEW)
			next = earlier_of(next, l->clients[i].hello_by);
	return next;
}

static void tick(struct ga_live *l)
{
	int64_t now = ga_now_ms();

	if (l->resize_at && now >= l->resize_at)
		resize(l, l->columns, l->rows, false);
	for (size_t i = 0; i < LIVE_CLIENTS; i++) {
		struct live_client *c = &l->clients[i];

		if (c->fd >= 0 && c->role == LIVE_NEW && now >= c->hello_by)
			live_drop(l, c);
	}
	live_shell_tick(l);
}

void run_live_move(struct ga_live *l, const struct pollfd p[RUN_LIVE_POLLS])
{
	if (p[1].revents)
		type(l);
	for (size_t i = 0; i < LIVE_CLIENTS; i++) {
		struct live_client *c = &l->clients[i];

		/* the slot's client may have come or gone */
		if (!p[2 + i].revents || p[2 + i].fd != c->fd)
			continue;
		if ((p[2 + i].revents & POLLIN) && accepts_input(l, c))
			receive(l, c);
		else if (p[2 + i].revents & (POLLERR | POLLHUP | POLLNVAL))
			on_client_gone(l, c);
	}
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		if (sees_output(&l->clients[i]) && show(l, &l->clients[i]))
			on_client_gone(l, &l->clients[i]);
	if (p[0].revents)
		accept_clients(l);
	tick(l);
}

int run_live_begin(struct ga_live *l, const struct run_live_session *s, int *ret_typed,
		   struct ga_error *err)
{
	l->s = s;
	l->columns = s->columns;
	l->rows = s->rows;
	*ret_typed = -1;
	return s->detached && !s->auxiliary ? run_live_detach(l, ret_typed, err) : 0;
}

int run_live_detach(struct ga_live *l, int *ret_typed, struct ga_error *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a pipe");
	*ret_typed = l->in_rd = p[0];
	l->in_wr = p[1];
	return 0;
}

bool run_live_stopped(struct ga_live *l)
{
	struct live_client *c = attached(l);

	l->stopped = c && !live_send_message(c->fd, LIVE_STOPPED, 0, 0);
	return l->stopped;
}

bool run_live_message(struct ga_live *l, const struct ga_ctl_msg *m, int *fd)
{
	return live_shell_message(l, m, fd);
}

/* Clients that watch get the rest of the output, unless they take nothing for a while. */
static void show_rest(struct ga_live *l, struct live_client *c, int64_t deadline)
{
	while (sees_output(c) && wants_output(l, c)) {
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };

		if (show(l, c))
			live_drop(l, c);
		else if (wants_output(l, c) && poll(&p, 1, ga_poll_timeout(deadline)) <= 0)
			return;
	}
}

void run_live_pause(struct ga_live *l)
{
	l->s = NULL;
}

void run_live_end(struct ga_live *l, int status)
{
	int64_t deadline = ga_now_ms() + LAST_MS;

	/* further commands end with the session, and are hung up before other commands run */
	for (size_t i = 0; i < LIVE_CLIENTS; i++)
		if (l->clients[i].role == LIVE_COMMANDS)
			live_drop(l, &l->clients[i]);
	l->s = NULL;
	for (size_t i = 0; i < LIVE_CLIENTS; i++) {
		struct live_client *c = &l->clients[i];

		show_rest(l, c, deadline);
		if (c->fd >= 0)
			(void)live_send_message(c->fd, LIVE_EXITED, status, 0);
	}
	/* clients that were about to begin something are turned away; the others stay until we
	 * exit */
	ga_cleanup_closep(&l->in_rd);
	ga_cleanup_closep(&l->in_wr);
}
