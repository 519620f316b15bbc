/* SPDX-License-Identifier: MIT
 *
 * The supervisor's side of ga/run/control.h, served by the session's poll loop. Nothing here waits
 * for a client: a client that does not read now gets output later, or misses it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "run/control-internal.h"

#define HELLO_MS 5000
#define REDRAW_MS 100
/* Time to send clients the rest of the output after the command has ended. */
#define LAST_MS 1000

int ga_control_open(const char *dir, struct ga_control **ret, struct ga_error *err)
{
	int fd = control_listen(dir, err);
	struct ga_control *l;

	if (fd < 0)
		return -1;
	l = ga_calloc(1, sizeof(*l));
	l->dir = ga_strdup(dir);
	l->fd = fd;
	l->in_rd = l->in_wr = -1;
	l->last = ga_now_ms();
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		l->clients[i].fd = -1;
	*ret = l;
	return 0;
}

void ga_control_close(struct ga_control *l)
{
	if (!l)
		return;
	(void)control_unlink(l->dir);
	(void)close(l->fd);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		ga_cleanup_closep(&l->clients[i].fd);
	ga_cleanup_closep(&l->in_rd);
	ga_cleanup_closep(&l->in_wr);
	free(l->ring.buf);
	free(l->dir);
	free(l);
}

void ga_control_remove(const char *dir)
{
	(void)control_unlink(dir);
}

/* ---- clients */

static struct control_client *attached(struct ga_control *l)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && l->clients[i].role == CONTROL_TYPES &&
		    !l->clients[i].gone)
			return &l->clients[i];
	return NULL;
}

static const struct control_client *find_gone(const struct ga_control *l)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && l->clients[i].gone)
			return &l->clients[i];
	return NULL;
}

/* A closed client whose input is still to be read. Only one such client keeps its slot. */
static void on_client_gone(struct ga_control *l, struct control_client *c)
{
	if (c->role != CONTROL_TYPES || find_gone(l)) {
		control_drop(l, c);
		return;
	}
	c->gone = true;
	control_resume_shells(l);
}

/* A free slot: no client is connected there, and no command of a former client is left. */
static struct control_client *free_place(struct ga_control *l)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (l->clients[i].fd < 0 && !l->clients[i].id)
			return &l->clients[i];
	return NULL;
}

static void accept_clients(struct ga_control *l)
{
	for (;;) {
		cleanup_close int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct control_client *c = free_place(l);
		pid_t pid;

		if (fd < 0)
			return;
		/* if no slot is free it sees the end at once */
		if (!c || !control_is_ours(fd, &pid))
			continue;
		*c = (struct control_client){ .fd = ga_steal_fd(&fd), .role = CONTROL_NEW,
					   .hello_by = ga_now_ms() + HELLO_MS };
	}
}

static int send_status(struct ga_control *l, struct control_client *c)
{
	struct ga_ctl_msg m = { .type = CONTROL_STATUS, .value = CONTROL_VERSION };
	struct ga_control_status st = {
		.detached = l->s && l->s->detached,
		.attached = attached(l) != NULL,
		.before = l->s && l->s->auxiliary && !l->s->after,
		.after = l->s && l->s->auxiliary && l->s->after,
		.asks = run_ring_rang(&l->ring, l->typed),
		.idle = (uint64_t)(ga_now_ms() - l->last),
	};

	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		st.shells += l->clients[i].id != 0;
	return control_send(c->fd, &m, &st, sizeof(st), NULL, 0) ? -1 : 0;
}

/* A process that may talk to us may also enter namespaces that a process of ours made. */
static int send_stage(struct ga_control *l, struct control_client *c)
{
	struct ga_ctl_msg m = { .type = CONTROL_STAGE_IS };
	const int fds[] = { l->s->sb->child, l->s->sb->pidfd };

	return control_send(c->fd, &m, NULL, 0, fds, GA_NELEMS(fds)) ? -1 : 0;
}

/* ---- the terminal */

/* Without a change of size the command would not notice the new terminal: change it for a
 * moment. */
static void resize(struct ga_control *l, unsigned columns, unsigned rows, bool redraw)
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

static void attach(struct ga_control *l, struct control_client *c, const struct ga_ctl_msg *m)
{
	struct control_client *former = attached(l);

	if (former) {
		(void)control_send_message(former->fd, CONTROL_TAKEN, 0, 0);
		control_drop(l, former);
	}
	c->role = CONTROL_TYPES;
	c->follow = c->fresh = true;
	resize(l, (unsigned)m->value, m->flags, true);
}

/* Write what was typed to the command's terminal, as far as there is room. */
static void type(struct ga_control *l)
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

static int typed(struct ga_control *l, const struct control_packet *p)
{
	if (p->n > CONTROL_TYPED)
		return -1;
	/* while input waits, its sender is not read */
	memcpy(l->in, p->bytes, p->n);
	l->in_n = p->n;
	type(l);
	return 0;
}

/* Type a text for a client that is not attached, as a bracketed paste if the command enabled that:
 * else it would submit each line. */
static int send_text(struct ga_control *l, struct control_client *c, const struct control_packet *p)
{
	static const char begin[] = "\033[200~", end[] = "\033[201~";
	struct ga_termstate on;
	size_t n = 0;

	if (!l->s->detached || l->s->auxiliary || p->n > GA_CONTROL_SEND_MAX)
		return -1;
	c->role = CONTROL_SENDS;
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
	return control_send_message(c->fd, CONTROL_DONE, 0, 0) ? -1 : 0;
}

static int send_output(struct ga_control *l, struct control_client *c)
{
	struct ga_ctl_msg m = { .type = CONTROL_OUTPUT };
	char buf[CONTROL_BYTES];
	size_t n = run_ring_get(&l->ring, c->at, buf, sizeof(buf));
	int rc = control_send(c->fd, &m, buf, n, NULL, 0);

	c->at += rc ? 0 : n;
	return rc;
}

static int send_reset(struct ga_control *l, struct control_client *c)
{
	struct ga_ctl_msg m = { .type = CONTROL_RESET };
	struct ga_termstate on;
	char redo[GA_TERMFILTER_END];
	uint64_t at = run_ring_begin(&l->ring, &on);
	int rc = control_send(c->fd, &m, redo, ga_termstate_redo(&on, redo), NULL, 0);

	if (rc)
		return rc;
	c->at = at;
	c->fresh = false;
	return 0;
}

static bool sees_output(const struct control_client *c)
{
	return c->fd >= 0 && (c->role == CONTROL_TYPES || c->role == CONTROL_WATCHES);
}

static bool wants_output(const struct ga_control *l, const struct control_client *c)
{
	return sees_output(c) && !c->gone && (c->fresh || c->at < l->ring.end);
}

/* Send as much output as the client takes now. Returns 0, or -1 if it has closed. */
static int show(struct ga_control *l, struct control_client *c)
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
		(void)control_send_message(c->fd, CONTROL_DONE, 0, 0);
		rc = -1;
	}
	return rc < 0 ? -1 : 0;
}

void run_control_output(struct ga_control *l, const char *p, size_t n)
{
	l->last = ga_now_ms();
	run_ring_add(&l->ring, p, n);
}

void run_control_typed(struct ga_control *l)
{
	l->typed = l->ring.end;
}

/* ---- requests of clients */

static int begin_role(struct ga_control *l, struct control_client *c,
		      const struct control_packet *p)
{
	const struct ga_ctl_msg *m = &p->m;

	switch (m->type) {
	case CONTROL_ATTACH:
		/* a session with a terminal is attached to that, and an auxiliary command has
		 * none */
		if (!l->s->detached || l->s->auxiliary)
			return -1;
		attach(l, c, m);
		return 0;
	case CONTROL_WATCH:
		c->role = CONTROL_WATCHES;
		c->fresh = true;
		c->follow = m->value != 0;
		return 0;
	case CONTROL_STOP:
		c->role = CONTROL_STOPS;
		l->s->stop(l->s->payload, m->value > 0 ? (unsigned)m->value : 0);
		return 0;
	case CONTROL_SHELL:
		c->role = CONTROL_COMMANDS;
		return control_shell_begin(l, c);
	case CONTROL_STAGE:
		return send_stage(l, c);
	case CONTROL_SEND:
		/* earlier input is not lost */
		return l->in_n ? -1 : send_text(l, c, p);
	default:
		return -1;
	}
}

static int on_typing(struct ga_control *l, struct control_client *c, const struct control_packet *p)
{
	switch (p->m.type) {
	case CONTROL_INPUT:
		return typed(l, p);
	case CONTROL_SIZE:
		/* redraw: its terminal shows something else by now */
		c->fresh = c->fresh || p->m.id;
		resize(l, (unsigned)p->m.value, p->m.flags, p->m.id);
		return 0;
	case CONTROL_RESUME:
		control_resume_shells(l);
		return 0;
	default:
		return -1;
	}
}

static int on_packet(struct ga_control *l, struct control_client *c, struct control_packet *p)
{
	switch (c->role) {
	case CONTROL_NEW:
		if (p->m.type != CONTROL_HELLO)
			return -1;
		if (p->m.value != CONTROL_VERSION) {
			(void)control_send_message(c->fd, CONTROL_STATUS, CONTROL_VERSION, 0);
			return -1;
		}
		c->role = CONTROL_KNOWN;
		return send_status(l, c);
	case CONTROL_KNOWN:
		return p->m.type == CONTROL_HELLO ? send_status(l, c) : begin_role(l, c, p);
	case CONTROL_TYPES:
		return on_typing(l, c, p);
	case CONTROL_SENDS:
		return p->m.type == CONTROL_SEND ? begin_role(l, c, p) : -1;
	case CONTROL_STOPS:
		return p->m.type == CONTROL_STOP ? begin_role(l, c, p) : -1;
	case CONTROL_COMMANDS:
		return control_shell_packet(l, c, p);
	case CONTROL_WATCHES:
	default:
		return -1;
	}
}

/* Read one message at a time, so that no client keeps the others waiting. */
static void receive(struct ga_control *l, struct control_client *c)
{
	struct control_packet p;
	int rc = control_recv(c->fd, &p);

	if (rc > 0) {
		rc = on_packet(l, c, &p);
		control_close_fds(&p);
	}
	if (rc < 0)
		control_drop(l, c);
}

/* ---- the loop's */

/* Input waits for earlier input, and until the terminal has its size. */
static bool accepts_input(const struct ga_control *l, const struct control_client *c)
{
	if (c->role == CONTROL_SENDS)
		return !l->in_n;
	if (c->role != CONTROL_TYPES)
		return true;
	return !l->in_n && !l->resize_at && (c->gone || !find_gone(l));
}

void run_control_poll(const struct ga_control *l, struct pollfd p[RUN_CONTROL_POLLS])
{
	p[0] = (struct pollfd){ .fd = l->fd, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = l->in_n ? l->in_wr : -1, .events = POLLOUT };
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control_client *c = &l->clients[i];
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

int64_t run_control_next(const struct ga_control *l)
{
	int64_t next = earlier_of(l->resize_at, control_shell_next(l));

	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && l->clients[i].role == CONTROL_NEW)
			next = earlier_of(next, l->clients[i].hello_by);
	return next;
}

static void tick(struct ga_control *l)
{
	int64_t now = ga_now_ms();

	if (l->resize_at && now >= l->resize_at)
		resize(l, l->columns, l->rows, false);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &l->clients[i];

		if (c->fd >= 0 && c->role == CONTROL_NEW && now >= c->hello_by)
			control_drop(l, c);
	}
	control_shell_tick(l);
}

void run_control_move(struct ga_control *l, const struct pollfd p[RUN_CONTROL_POLLS])
{
	if (p[1].revents)
		type(l);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &l->clients[i];

		/* the slot's client may have come or gone */
		if (!p[2 + i].revents || p[2 + i].fd != c->fd)
			continue;
		if ((p[2 + i].revents & POLLIN) && accepts_input(l, c))
			receive(l, c);
		else if (p[2 + i].revents & (POLLERR | POLLHUP | POLLNVAL))
			on_client_gone(l, c);
	}
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (sees_output(&l->clients[i]) && show(l, &l->clients[i]))
			on_client_gone(l, &l->clients[i]);
	if (p[0].revents)
		accept_clients(l);
	tick(l);
}

int run_control_begin(struct ga_control *l, const struct run_control_session *s, int *ret_typed,
		      struct ga_error *err)
{
	l->s = s;
	l->columns = s->columns;
	l->rows = s->rows;
	*ret_typed = -1;
	return s->detached && !s->auxiliary ? run_control_detach(l, ret_typed, err) : 0;
}

int run_control_detach(struct ga_control *l, int *ret_typed, struct ga_error *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create a pipe");
	*ret_typed = l->in_rd = p[0];
	l->in_wr = p[1];
	return 0;
}

bool run_control_stopped(struct ga_control *l)
{
	struct control_client *c = attached(l);

	l->stopped = c && !control_send_message(c->fd, CONTROL_STOPPED, 0, 0);
	return l->stopped;
}

bool run_control_message(struct ga_control *l, const struct ga_ctl_msg *m, int *fd)
{
	return control_shell_message(l, m, fd);
}

/* Clients that watch get the rest of the output, unless they take nothing for a while. */
static void show_rest(struct ga_control *l, struct control_client *c, int64_t deadline)
{
	while (sees_output(c) && wants_output(l, c)) {
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };

		if (show(l, c))
			control_drop(l, c);
		else if (wants_output(l, c) && poll(&p, 1, ga_poll_timeout(deadline)) <= 0)
			return;
	}
}

void run_control_pause(struct ga_control *l)
{
	l->s = NULL;
}

void run_control_end(struct ga_control *l, int status)
{
	int64_t deadline = ga_now_ms() + LAST_MS;

	/* further commands end with the session, and are hung up before other commands run */
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (l->clients[i].role == CONTROL_COMMANDS)
			control_drop(l, &l->clients[i]);
	l->s = NULL;
	for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *c = &l->clients[i];

		show_rest(l, c, deadline);
		if (c->fd >= 0)
			(void)control_send_message(c->fd, CONTROL_EXITED, status, 0);
	}
	/* clients that were about to begin something are turned away; the others stay until we
	 * exit */
	ga_cleanup_closep(&l->in_rd);
	ga_cleanup_closep(&l->in_wr);
}
