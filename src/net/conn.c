/* SPDX-License-Identifier: MIT
 *
 * One connection, from accept(2) to its end.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "relay-internal.h"

#define ASK_MS 30000
#define CONNECT_MS 20000  /* for the last address of a name ... */
#define ATTEMPT_MS 5000   /* ... and for one that others follow */
#define LINGER_MS 2000
#define READS 8           /* reads from one client before others have their turn */
#define EDGES (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

static const struct ga_net_addr loop4 = { .b = { 127, 0, 0, 1 } };
static const struct ga_net_addr loop6 = { .ip6 = true, .b = { [15] = 1 } };

static void note(struct ga_relay *r, struct net_conn *c, enum ga_use_kind kind)
{
	c->use = net_use(&r->uses, kind, c->to ? c->to : "", 0);
}

static void set_deadline(struct ga_relay *r, struct net_conn *c, int ms)
{
	if (!c->deadline && ms)
		r->timed++;
	else if (c->deadline && !ms)
		r->timed--;
	c->deadline = ms ? ga_now_ms() + ms : 0;
}

static void hang_up(const struct ga_relay *r, struct net_end *e, bool reset)
{
	const struct linger now = { .l_onoff = 1 };

	if (e->fd < 0)
		return;
	net_unwatch(r, e->fd);
	/* do not make undelivered data look delivered: close with a reset */
	if (reset)
		(void)setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)close(ga_steal_fd(&e->fd));
}

/* Close it, and mark it to be freed by net_conn_free(). */
static void end(struct ga_relay *r, struct net_conn *c, bool reset)
{
	if (c->state == NET_DEAD)
		return;
	if (c->use >= 0) {
		r->uses.v[c->use].out += c->up.total;
		r->uses.v[c->use].in += c->down.total;
	}
	set_deadline(r, c, 0);
	c->state = NET_DEAD;
	net_flow_release(&c->up, &r->pipes);
	net_flow_release(&c->down, &r->pipes);
	hang_up(r, &c->client, reset);
	hang_up(r, &c->target, reset);
}

void net_conn_free(struct ga_relay *r, struct net_conn *c)
{
	end(r, c, true);
	ga_net_ask_release(&c->ask);
	ga_buf_release(&c->in);
	free(c->to);
	free(c->name);
	free(c);
}

static void enqueue(struct ga_relay *r, struct net_conn *c)
{
	if (c->queued)
		return;
	c->queued = true;
	c->after = r->queue;
	r->queue = c;
}

/* ---- where it goes */

/* Send all or nothing: messages to a client here are short, and the first that it gets. */
static bool send_whole(const struct net_conn *c, struct ga_buf *b)
{
	bool ok = !b->len ||
		  send(c->client.fd, b->ptr, b->len, MSG_NOSIGNAL) == (ssize_t)b->len;

	ga_buf_clear(b);
	return ok;
}

static void begin_linger(struct ga_relay *r, struct net_conn *c)
{
	if (!send_whole(c, &c->ask.out)) {
		end(r, c, true);
		return;
	}
	(void)shutdown(c->client.fd, SHUT_WR);
	c->state = NET_LINGERS;
	set_deadline(r, c, LINGER_MS);
	net_conn_run(r, c);
}

static void fail(struct ga_relay *r, struct net_conn *c, enum ga_use_kind kind,
		 enum ga_net_outcome how)
{
	note(r, c, kind);
	if (c->kind != NET_L_PROXY) {
		end(r, c, true);
		return;
	}
	(void)ga_net_ask_answer(&c->ask, how);
	begin_linger(r, c);
}

static void set_tcp_options(int fd)
{
	const int on = 1;

	/* neither has a meaning for a unix socket */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

static void established(struct ga_relay *r, struct net_conn *c)
{
	note(r, c, GA_USE_ALLOWED);
	set_deadline(r, c, 0);
	set_tcp_options(c->client.fd);
	set_tcp_options(c->target.fd);
	c->state = NET_RELAYS;
	net_flow_init(&c->up, &c->client, &c->target);
	net_flow_init(&c->down, &c->target, &c->client);
	if (c->kind == NET_L_PROXY &&
	    ga_net_ask_answer(&c->ask, GA_NET_CONNECTED) != GA_NET_ASK_RELAY) {
		end(r, c, true);
		return;
	}
	/* after the answer to the client, what followed the answer of the host's proxy */
	ga_buf_add(&c->ask.out, c->in.ptr, c->in.len);
	if (!net_flow_put(&c->up, &r->pipes, c->ask.early.ptr, c->ask.early.len) ||
	    !net_flow_put(&c->down, &r->pipes, c->ask.out.ptr, c->ask.out.len)) {
		end(r, c, true);
		return;
	}
	ga_buf_release(&c->in);
	ga_net_ask_release(&c->ask);
	/* earlier events were missed */
	c->client.readable = c->client.writable = true;
	c->target.readable = c->target.writable = true;
	enqueue(r, c);
}

static void watch_target(struct ga_relay *r, struct net_conn *c, int fd)
{
	c->target = (struct net_end){ .fd = fd };
	c->target_src = (struct net_source){ NET_TARGET, fd, c };
	if (net_watch(r, &c->target_src, EDGES))
		ga_cleanup_closep(&c->target.fd);
}

/* Returns false if that address does not work; or c->state is NET_NEEDS, and it is to be tried
 * again. */
static bool attempt(struct ga_relay *r, struct net_conn *c, const struct ga_net_addr *a, bool last)
{
	struct sockaddr_storage sa;
	socklen_t n = net_sockaddr(a, c->via ? r->via.port : c->port, &sa);
	int fd = c->kind == NET_L_PUBLISH ? net_inside(r, a->ip6)
					  : socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC |
									 SOCK_NONBLOCK, 0);

	if (fd == NET_LATER)
		c->state = NET_NEEDS;
	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&sa, n) && errno != EINPROGRESS) {
		(void)close(fd);
		return false;
	}
	/* the end of connecting is announced like later events */
	watch_target(r, c, fd);
	if (c->target.fd < 0)
		return false;
	c->state = NET_CONNECTS;
	set_deadline(r, c, last ? CONNECT_MS : ATTEMPT_MS);
	return true;
}

/* ga_net_addr_allowed(), and no unlisted address of this machine. */
static bool is_allowed_address(const struct ga_relay *r, size_t rule, const struct ga_net_addr *a,
			       uint16_t port)
{
	const struct ga_net_host host = { .addr = *a };

	return ga_net_addr_allowed(r->plan, rule, a, port) &&
	       (ga_net_plan_match(r->plan, &host, port) >= 0 || !net_is_own(a));
}

static void try_next(struct ga_relay *r, struct net_conn *c, enum ga_net_outcome why)
{
	hang_up(r, &c->target, true);
	while (c->next < c->addrs.n) {
		const struct ga_net_addr *a = &c->addrs.v[c->next++];

		/* check the very address that is connected to; the host's proxy is no place to go
		 * to, as it leads everywhere */
		if (c->kind != NET_L_PUBLISH && !c->via &&
		    (!is_allowed_address(r, c->rule, a, c->port) ||
		     net_via_is(&r->via, &(const struct ga_net_host){ .addr = *a }, c->port))) {
			c->forbidden = true;
			continue;
		}
		if (attempt(r, c, a, c->next == c->addrs.n))
			return;
		if (c->state == NET_NEEDS) {
			set_deadline(r, c, 0);
			c->next--;
			return;
		}
	}
	if (c->forbidden)
		fail(r, c, GA_USE_FORBIDDEN, GA_NET_REFUSED);
	else
		fail(r, c, GA_USE_FAILED, why);
}

void net_conns_inside(struct ga_relay *r, bool ip6, bool ok)
{
	for (size_t i = 0; i < r->n_conns; i++) {
		struct net_conn *c = r->conns[i];

		if (c->state != NET_NEEDS || c->addrs.v[c->next].ip6 != ip6)
			continue;
		c->next += !ok;
		c->state = NET_CONNECTS;
		try_next(r, c, GA_NET_UNREACHABLE);
	}
}

static void found(struct ga_relay *r, struct net_conn *c, const struct net_addrs *a)
{
	c->addrs = *a;
	c->next = 0;
	try_next(r, c, a->n ? GA_NET_UNREACHABLE : GA_NET_NO_NAME);
}

static void look_up(struct ga_relay *r, struct net_conn *c)
{
	const struct net_addrs none = { 0 };
	bool full;

	c->job = net_job_for(r, c->name, &full);
	/* wait until another one ends, at most as long as a look-up takes */
	if (!full)
		set_deadline(r, c, 0);
	else if (!c->deadline)
		set_deadline(r, c, NET_LOOKUP_MS);
	if (!full && !c->job)
		found(r, c, &none);
}

void net_conns_found(struct ga_relay *r, struct net_job *j, const struct net_addrs *a)
{
	for (size_t i = 0; i < r->n_conns; i++) {
		struct net_conn *c = r->conns[i];

		if (c->state != NET_WAITS || c->job != j)
			continue;
		c->job = NULL;
		found(r, c, a);
	}
	net_job_forget(r, j);
	for (size_t i = 0; i < r->n_conns; i++)
		if (r->conns[i]->state == NET_WAITS && !r->conns[i]->job)
			look_up(r, r->conns[i]);
}

static void connect_to(struct ga_relay *r, struct net_conn *c, const struct ga_net_host *host,
		       bool ip6_first)
{
	struct net_addrs a = { .n = 1 };

	if (net_via_is(&r->via, host, c->port)) {
		fail(r, c, GA_USE_FORBIDDEN, GA_NET_REFUSED);
		return;
	}
	c->via = r->plan->rules[c->rule].kind != GA_NET_LOCALHOST && net_via_for(&r->via, host);
	if (c->via)
		host = &r->via.host;
	if (c->via && !*host->name) {
		a.v[0] = host->addr;
		found(r, c, &a);
		return;
	}
	switch (c->via ? GA_NET_NAMED : r->plan->rules[c->rule].kind) {
	case GA_NET_NAMED:
	case GA_NET_WILDCARD:
		c->name = ga_strdup(host->name);
		c->state = NET_WAITS;
		look_up(r, c);
		return;
	case GA_NET_LITERAL:
		a.v[0] = host->addr;
		break;
	case GA_NET_LOCALHOST:
		/* a program tries both addresses and uses the first that answers: so do we */
		a.v[ip6_first] = loop4;
		a.v[!ip6_first] = loop6;
		a.n = 2;
		break;
	}
	found(r, c, &a);
}

/* ---- what it says first */

static void asked(struct ga_relay *r, struct net_conn *c)
{
	ssize_t rule = ga_net_plan_match(r->plan, &c->ask.host, c->ask.port);

	c->to = ga_net_host_text(&c->ask.host, c->ask.port);
	c->port = c->ask.port;
	if (rule < 0) {
		fail(r, c, GA_USE_REFUSED, GA_NET_REFUSED);
		return;
	}
	c->rule = (size_t)rule;
	set_deadline(r, c, 0);
	connect_to(r, c, &c->ask.host, false);
}

/* One read. Returns 0 if there is nothing now, or it is over. */
static ssize_t read_client(struct ga_relay *r, struct net_conn *c, char *buf, size_t n)
{
	ssize_t got = recv(c->client.fd, buf, n, 0);

	if (got > 0)
		return got;
	c->client.readable = false;
	if (!got || (errno != EAGAIN && errno != EINTR))
		end(r, c, false);
	return 0;
}

static void read_ask(struct ga_relay *r, struct net_conn *c)
{
	char buf[4096];
	ssize_t n;

	while (c->state == NET_ASKS && c->client.readable &&
	       (n = read_client(r, c, buf, sizeof(buf))) > 0) {
		enum ga_net_ask_state s = ga_net_ask_feed(&c->ask, buf, (size_t)n);

		if (s == GA_NET_ASK_CLOSE)
			begin_linger(r, c);
		else if (!send_whole(c, &c->ask.out))
			end(r, c, true);
		else if (s == GA_NET_ASK_TARGET)
			asked(r, c);
	}
}

static void fail_tunnel(struct ga_relay *r, struct net_conn *c, enum ga_net_outcome how)
{
	hang_up(r, &c->target, true);
	fail(r, c, GA_USE_FAILED, how);
}

/* Read the answer of the host's proxy. */
static void read_tunnel(struct ga_relay *r, struct net_conn *c)
{
	char buf[4096];
	int rc = 0;

	while (!rc && c->target.readable) {
		ssize_t n = recv(c->target.fd, buf, sizeof(buf), 0);

		c->target.readable = n > 0;
		if (n > 0)
			ga_buf_add(&c->in, buf, (size_t)n);
		rc = n > 0 ? net_via_answer(&c->in)
			   : !n || (errno != EAGAIN && errno != EINTR) ? -1 : 0;
	}
	if (rc > 0)
		established(r, c);
	else if (rc < 0)
		fail_tunnel(r, c, GA_NET_UNREACHABLE);
}

static bool answer_frames(struct ga_relay *r, struct net_conn *c)
{
	size_t off, n;
	int rc;

	while ((rc = ga_net_dns_frame(c->in.ptr, c->in.len, &off, &n)) > 0) {
		struct ga_net_dns_reply reply;
		struct ga_buf out = GA_BUF_INIT;
		bool ok;

		net_dns(r, c->in.ptr + off, n, &reply);
		ga_buf_addch(&out, (char)(reply.n >> 8));
		ga_buf_addch(&out, (char)reply.n);
		ga_buf_add(&out, reply.b, reply.n);
		ok = reply.n && send_whole(c, &out);
		ga_buf_release(&out);
		if (!ok)
			return false;
		memmove(c->in.ptr, c->in.ptr + off + n, c->in.len - off - n);
		ga_buf_truncate(&c->in, c->in.len - off - n);
	}
	return !rc;
}

static void read_dns(struct ga_relay *r, struct net_conn *c)
{
	char buf[4096];
	ssize_t n;

	/* read on for as long as its turn lasts */
	for (int i = 0; i < READS; i++) {
		if (c->state != NET_DNS || !c->client.readable)
			return;
		n = read_client(r, c, buf, sizeof(buf));
		if (n <= 0)
			return;
		ga_buf_add(&c->in, buf, (size_t)n);
		set_deadline(r, c, ASK_MS);
		if (!answer_frames(r, c))
			end(r, c, false);
	}
	enqueue(r, c);
}

/* ---- what happens */

static void relay(struct ga_relay *r, struct net_conn *c)
{
	int up = net_flow_move(&c->up, &r->pipes);
	int down = up < 0 ? -1 : net_flow_move(&c->down, &r->pipes);

	if (up < 0 || down < 0)
		end(r, c, true);
	else if (c->up.over && c->down.over)
		end(r, c, false);
	else if (up || down)
		enqueue(r, c);
}

static void drain(struct ga_relay *r, struct net_conn *c)
{
	char buf[4096];

	for (int i = 0; i < READS; i++)
		if (c->state != NET_LINGERS || !c->client.readable ||
		    read_client(r, c, buf, sizeof(buf)) <= 0)
			return;
	enqueue(r, c);
}

void net_conn_run(struct ga_relay *r, struct net_conn *c)
{
	switch (c->state) {
	case NET_ASKS:
		read_ask(r, c);
		break;
	case NET_DNS:
		read_dns(r, c);
		break;
	case NET_TUNNELS:
		read_tunnel(r, c);
		break;
	case NET_RELAYS:
		relay(r, c);
		break;
	case NET_LINGERS:
		drain(r, c);
		break;
	case NET_WAITS:
	case NET_NEEDS:
	case NET_CONNECTS:
	case NET_DEAD:
		break;
	}
}

static void connected(struct ga_relay *r, struct net_conn *c)
{
	socklen_t n = sizeof(int);
	int e = 0;

	if (getsockopt(c->target.fd, SOL_SOCKET, SO_ERROR, &e, &n) || e)
		try_next(r, c, e == ETIMEDOUT ? GA_NET_TIMEOUT : GA_NET_UNREACHABLE);
	else if (!c->via)
		established(r, c);
	else if (net_via_ask(&r->via, c->target.fd, c->to)) {
		c->state = NET_TUNNELS;
		set_deadline(r, c, ASK_MS);
	} else {
		fail_tunnel(r, c, GA_NET_UNREACHABLE);
	}
}

void net_conn_event(struct ga_relay *r, struct net_conn *c, bool of_client, uint32_t events)
{
	struct net_end *e = of_client ? &c->client : &c->target;
	bool broken = events & (EPOLLERR | EPOLLHUP);

	e->readable |= broken || events & (EPOLLIN | EPOLLRDHUP);
	e->writable |= broken || events & EPOLLOUT;
	if (!of_client && c->state == NET_CONNECTS && e->writable)
		connected(r, c);
	else if (of_client && broken && (c->state == NET_WAITS || c->state == NET_NEEDS ||
					 c->state == NET_CONNECTS || c->state == NET_TUNNELS))
		end(r, c, true);
	else
		net_conn_run(r, c);
}

void net_conn_timeout(struct ga_relay *r, struct net_conn *c)
{
	if (c->state == NET_CONNECTS || c->state == NET_WAITS)
		try_next(r, c, GA_NET_TIMEOUT);
	else if (c->state == NET_TUNNELS)
		fail_tunnel(r, c, GA_NET_TIMEOUT);
	else
		end(r, c, c->state != NET_LINGERS);
}

/* ---- how it begins */

static void begin_unix(struct ga_relay *r, struct net_conn *c)
{
	int fd = net_dial_unix(r->sockets.v[c->index], &r->written);
	bool forbidden = fd < 0 && errno == EXDEV;

	c->to = ga_strdup(r->sockets.v[c->index]);
	if (fd >= 0)
		watch_target(r, c, fd);
	if (forbidden)
		fail(r, c, GA_USE_FORBIDDEN, GA_NET_REFUSED);
	else if (fd < 0 || c->target.fd < 0)
		fail(r, c, GA_USE_FAILED, GA_NET_UNREACHABLE);
	else
		established(r, c);
}

static void begin_published(struct ga_relay *r, struct net_conn *c)
{
	const struct net_addrs a = { .n = 2, .v = { loop4, loop6 } };

	c->port = r->publish[c->index].port;
	c->to = ga_strf("published port %u", c->port);
	found(r, c, &a);
}

static void begin_rule(struct ga_relay *r, struct net_conn *c)
{
	const struct ga_net_listener *l = &r->plan->listeners[c->index];
	const struct ga_net_host *host = &r->plan->rules[l->rule].host;

	c->rule = l->rule;
	c->port = l->port;
	c->to = ga_net_host_text(host, l->port);
	connect_to(r, c, host, l->addr.ip6);
}

static void begin(struct ga_relay *r, struct net_conn *c)
{
	switch (c->kind) {
	case NET_L_PROXY:
		c->state = NET_ASKS;
		set_deadline(r, c, ASK_MS);
		break;
	case NET_L_DNS_TCP:
		c->state = NET_DNS;
		set_deadline(r, c, ASK_MS);
		break;
	case NET_L_UNIX:
		begin_unix(r, c);
		break;
	case NET_L_PUBLISH:
		begin_published(r, c);
		break;
	case NET_L_RULE:
		begin_rule(r, c);
		break;
	case NET_L_DNS:
	case NET_L_REFUSED:
		break;
	}
}

void net_conn_begin(struct ga_relay *r, const struct net_listener *l, int fd)
{
	struct net_conn *c;

	if (r->n_conns >= r->max_conns) {
		struct net_end e = { .fd = fd };

		(void)net_use(&r->uses, GA_USE_FULL, "", 0);
		hang_up(r, &e, true);
		return;
	}
	c = ga_calloc(1, sizeof(*c));
	*c = (struct net_conn){ .client = { .fd = fd }, .target = { .fd = -1 }, .kind = l->kind,
				.index = l->index, .ask = GA_NET_ASK_INIT, .in = GA_BUF_INIT,
				.state = NET_CONNECTS, .use = -1 };
	net_flow_init(&c->up, &c->client, &c->target);
	net_flow_init(&c->down, &c->target, &c->client);
	c->client_src = (struct net_source){ NET_CLIENT, fd, c };
	GA_GROW(r->conns, r->n_conns, r->cap_conns);
	r->conns[r->n_conns++] = c;
	if (net_watch(r, &c->client_src, EDGES))
		end(r, c, true);
	else
		begin(r, c);
}
