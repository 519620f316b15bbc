/* SPDX-License-Identifier: MIT
 *
 * The relay: its sockets, and a single epoll descriptor for all of them, which the supervisor's
 * loop polls.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "relay-internal.h"

#define EVENTS 64      /* events handled before the supervisor has its turn */
#define ACCEPTED 32    /* connections accepted at a time from one listener */
#define DATAGRAMS 32
#define DESCRIPTORS 8192 /* the limit that we want; a connection has two, and four more while both
			  * sides are slow */
#define OURS 256       /* for everything else */
#define PER_CONNECTION 6

/* ---- opening */

/* The array of listeners must not move once they are watched. */
static void add_listener(struct ga_relay *r, enum net_listener_kind kind, size_t index, int fd)
{
	GA_GROW(r->listeners, r->n_listeners, r->cap_listeners);
	r->listeners[r->n_listeners++] =
		(struct net_listener){ .s = { NET_LISTENER, fd, NULL }, .kind = kind,
				       .index = index };
}

static int watch_listeners(struct ga_relay *r, struct ga_error *err)
{
	for (size_t i = 0; i < r->n_listeners; i++) {
		struct net_listener *l = &r->listeners[i];

		l->s.owner = l;
		if (net_watch(r, &l->s, EPOLLIN))
			return ga_fail_errno(err, GA_ESTART, errno, "cannot watch a socket");
	}
	return 0;
}

/* Refuse to publish a port on which, inside, localhost leads to the host: a connection to it would
 * lead back to itself for ever. */
static int check_published(const struct ga_relay *r, const struct ga_net_publish *p,
			   struct ga_error *err)
{
	struct ga_net_host host;

	for (size_t i = 0; r->plan && i < r->plan->n_listeners; i++) {
		const struct ga_net_listener *l = &r->plan->listeners[i];

		ga_net_plan_host(r->plan, &l->addr, &host);
		if (l->what != GA_NET_FOR_RULE || l->port != p->port ||
		    strcmp(host.name, "localhost") != 0)
			continue;
		return ga_fail(err, GA_EUSAGE, "cannot publish port %u: inside, localhost:%u is "
			       "the host's"
			       GA_HINT "leave it out of network.allow, or publish another port",
			       p->port, p->port);
	}
	return 0;
}

static int open_host(struct ga_relay *r, const struct ga_relay_opts *o, struct ga_error *err)
{
	size_t sockets = o->sockets ? o->sockets->n : 0, publish = o->publish ? o->publish->n : 0;

	if (sockets > GA_RELAY_SOCKETS_MAX || publish > GA_RELAY_SOCKETS_MAX)
		return ga_fail(err, GA_EUSAGE, "network.sockets and network.publish accept at most "
			       "%d words each", GA_RELAY_SOCKETS_MAX);
	if (o->written)
		ga_strv_extend(&r->written, o->written);
	for (size_t i = 0; i < sockets; i++) {
		int fd = net_check_unix(o->sockets->v[i], o->written, err) ? -1
			 : net_listen_unix(o->sockets->v[i], o->socket_dir, i, err);

		if (fd < 0)
			return -1;
		ga_strv_push(&r->sockets, o->sockets->v[i]);
		add_listener(r, NET_L_UNIX, i, fd);
	}
	r->publish = ga_calloc(publish + 1, sizeof(*r->publish));
	for (; r->n_publish < publish; r->n_publish++) {
		struct ga_net_publish *p = &r->publish[r->n_publish];
		int fd;

		if (!ga_net_publish_parse(o->publish->v[r->n_publish], p))
			return ga_fail(err, GA_EUSAGE, "network.publish takes "
				       GA_NET_PUBLISH_TAKES);
		if (check_published(r, p, err))
			return -1;
		fd = net_listen_host(p, err);
		if (fd < 0)
			return -1;
		add_listener(r, NET_L_PUBLISH, r->n_publish, fd);
	}
	return 0;
}

/* Raise our limit on descriptors, as each connection takes several. Programs started later inherit
 * the new limit; it is restored when the relay is closed. */
static void raise_limit(struct ga_relay *r)
{
	struct rlimit now;
	rlim_t room;

	if (getrlimit(RLIMIT_NOFILE, &r->limit))
		r->limit = (struct rlimit){ 1024, 1024 };
	now = r->limit;
	if (now.rlim_cur < DESCRIPTORS) {
		now.rlim_cur = now.rlim_max < DESCRIPTORS ? now.rlim_max : DESCRIPTORS;
		r->raised = !setrlimit(RLIMIT_NOFILE, &now);
	}
	room = r->raised ? now.rlim_cur : r->limit.rlim_cur;
	room = room > OURS * 2 ? room - OURS : OURS;
	r->max_conns = room / PER_CONNECTION < GA_RELAY_CONNECTIONS ? room / PER_CONNECTION
								    : GA_RELAY_CONNECTIONS;
}

int ga_relay_open(const struct ga_relay_opts *o, struct ga_relay **ret, struct ga_error *err)
{
	struct ga_relay *r = ga_calloc(1, sizeof(*r));

	r->plan = o->plan;
	r->space = (struct net_space)NET_SPACE_INIT;
	net_inside_open(r);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	r->uses.begun = ga_now_ms();
	net_via_find(o->environ, &r->via);
	raise_limit(r);
	if (r->epoll < 0)
		(void)ga_fail_errno(err, GA_ESTART, errno, "cannot open an epoll descriptor");
	else if (!open_host(r, o, err)) {
		*ret = r;
		return 0;
	}
	ga_relay_close(r);
	return -1;
}

static void expire_all(struct ga_relay *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n_conns; i++) {
		if (r->conns[i]->state == NET_DEAD && !r->conns[i]->queued)
			net_conn_free(r, r->conns[i]);
		else
			r->conns[kept++] = r->conns[i];
	}
	r->n_conns = kept;
}

void ga_relay_close(struct ga_relay *r)
{
	if (!r)
		return;
	net_jobs_abandon(r);
	for (size_t i = 0; i < r->n_conns; i++)
		net_conn_free(r, r->conns[i]);
	free(r->conns);
	for (size_t i = 0; i < r->n_listeners; i++)
		(void)close(r->listeners[i].s.fd);
	free(r->listeners);
	net_inside_close(r);
	net_pipes_release(&r->pipes);
	net_space_close(&r->space);
	net_uses_release(&r->uses);
	net_via_release(&r->via);
	ga_strv_release(&r->sockets);
	ga_strv_release(&r->written);
	free(r->publish);
	ga_cleanup_closep(&r->spare);
	ga_cleanup_closep(&r->epoll);
	if (r->raised)
		(void)setrlimit(RLIMIT_NOFILE, &r->limit);
	free(r);
}

/* ---- inside */

/* The sockets for a listener of the plan: one, or two for the resolver. */
static size_t want_listener(const struct ga_net_listener *l, struct net_want *w)
{
	*w = (struct net_want){ .family = l->addr.ip6 ? AF_INET6 : AF_INET, .type = SOCK_STREAM,
				.listens = true, .addr = l->addr, .port = l->port };
	if (l->what != GA_NET_FOR_DNS)
		return 1;
	w[1] = w[0];
	w[1].type = SOCK_DGRAM;
	return 2;
}

static int open_inside(struct ga_relay *r, struct ga_error *err)
{
	const struct ga_net_plan *p = r->plan;
	cleanup_free struct net_want *want = ga_calloc(2 * p->n_listeners + 2, sizeof(*want));
	cleanup_free int *fds = ga_calloc(2 * p->n_listeners + 2, sizeof(*fds));
	size_t n = 0, at = 0;

	for (size_t i = 0; i < p->n_listeners; i++)
		n += want_listener(&p->listeners[i], &want[n]);
	want[n++] = net_refusal_want(false);
	if (p->ip6)
		want[n++] = net_refusal_want(true);
	if (net_space_sockets(&r->space, p, want, n, fds, err))
		return -1;
	for (size_t i = 0; i < p->n_listeners; i++) {
		add_listener(r, (enum net_listener_kind)p->listeners[i].what, i, fds[at++]);
		if (p->listeners[i].what == GA_NET_FOR_DNS)
			add_listener(r, NET_L_DNS, i, fds[at++]);
	}
	add_listener(r, NET_L_REFUSED, 0, fds[at++]);
	if (p->ip6)
		add_listener(r, NET_L_REFUSED, 1, fds[at++]);
	return 0;
}

int ga_relay_enter(struct ga_relay *r, pid_t pid, struct ga_error *err)
{
	r->uses.begun = ga_now_ms();
	if ((r->plan || r->n_publish) && net_space_open(&r->space, pid, err))
		return -1;
	if (r->plan && open_inside(r, err))
		return -1;
	return watch_listeners(r, err);
}

/* ---- serving */

static void accept_some(struct ga_relay *r, const struct net_listener *l)
{
	for (int i = 0; i < ACCEPTED; i++) {
		int fd = accept4(l->s.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			net_conn_begin(r, l, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EMFILE && errno != ENFILE)
			return;
		/* otherwise the listener would stay ready for ever */
		ga_cleanup_closep(&r->spare);
		fd = accept4(l->s.fd, NULL, NULL, SOCK_CLOEXEC);
		ga_cleanup_closep(&fd);
		(void)net_use(&r->uses, GA_USE_FULL, "", 0);
		r->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return;
	}
}

static void answer_some(struct ga_relay *r, const struct net_listener *l)
{
	unsigned char query[GA_NET_DNS_QUERY_MAX];
	struct ga_net_dns_reply reply;
	struct sockaddr_storage from;

	for (int i = 0; i < DATAGRAMS; i++) {
		struct iovec iov = { query, sizeof(query) };
		struct msghdr h = { .msg_name = &from, .msg_namelen = sizeof(from),
				    .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n = recvmsg(l->s.fd, &h, 0);

		if (n < 0)
			return;
		net_dns(r, query, (size_t)n, &reply);
		if (reply.n)
			(void)sendto(l->s.fd, reply.b, reply.n, MSG_NOSIGNAL,
				     (const struct sockaddr *)&from, h.msg_namelen);
	}
}

/* Report refused connections. On a loopback address a published port may have no listener yet, or a
 * program searches for a free port: those are not refusals. */
bool net_is_refusal(struct ga_relay *r, const struct net_refusal *f)
{
	if (!net_is_loopback(r, &f->addr))
		return true;
	return !f->udp && !net_is_published(r, f->port) && net_host_listens(&r->host, f->port);
}

static void note_refusals(struct ga_relay *r, const struct net_listener *l)
{
	unsigned char packet[128];

	for (int i = 0; i < DATAGRAMS; i++) {
		ssize_t n = recv(l->s.fd, packet, sizeof(packet), 0);
		cleanup_free char *to = NULL, *udp = NULL;
		struct net_refusal f;

		if (n < 0)
			return;
		if (!net_refusal_read(packet, (size_t)n, l->index, &f) || !net_is_refusal(r, &f))
			continue;
		to = net_to_text(r, &f.addr, f.port);
		udp = f.udp ? ga_strf("%s" GA_USE_UDP, to) : NULL;
		/* a name has an address in each family, and clients try both */
		(void)net_use(&r->uses, GA_USE_REFUSED, udp ? udp : to, f.ip6);
	}
}

static void serve_listener(struct ga_relay *r, const struct net_listener *l)
{
	if (l->kind == NET_L_DNS)
		answer_some(r, l);
	else if (l->kind == NET_L_REFUSED)
		note_refusals(r, l);
	else
		accept_some(r, l);
}

static void serve_one(struct ga_relay *r, const struct net_source *s, uint32_t events)
{
	struct net_addrs found;
	bool ok;

	switch (s->kind) {
	case NET_LISTENER:
		serve_listener(r, s->owner);
		break;
	case NET_LOOKUP:
		net_job_end(r, s->owner, &found);
		net_conns_found(r, s->owner, &found);
		break;
	case NET_CLIENT:
		net_conn_event(r, s->owner, true, events);
		break;
	case NET_TARGET:
		net_conn_event(r, s->owner, false, events);
		break;
	case NET_POOLED:
		ok = net_inside_event(r, s->owner);
		net_conns_inside(r, s->owner == &r->pool[1], ok);
		break;
	}
}

static void serve_queue(struct ga_relay *r)
{
	struct net_conn *c = r->queue;

	r->queue = NULL;
	while (c) {
		struct net_conn *after = c->after;

		c->queued = false;
		net_conn_run(r, c);
		c = after;
	}
}

static void serve_times(struct ga_relay *r)
{
	const struct net_addrs none = { 0 };
	int64_t now = ga_now_ms();

	for (size_t i = 0; i < NET_JOBS; i++)
		if (r->jobs[i] && net_job_late(r, r->jobs[i], now))
			net_conns_found(r, r->jobs[i], &none);
	for (size_t k = 0; k < 2; k++)
		if (net_inside_late(r, k, now))
			net_conns_inside(r, k, false);
	for (size_t i = 0; r->timed && i < r->n_conns; i++)
		if (r->conns[i]->deadline && r->conns[i]->deadline <= now)
			net_conn_timeout(r, r->conns[i]);
}

void ga_relay_serve(struct ga_relay *r)
{
	struct epoll_event e[EVENTS];
	int n = epoll_wait(r->epoll, e, EVENTS, 0);

	/* free only now, when no event can refer to it any more */
	for (int i = 0; i < n; i++)
		serve_one(r, e[i].data.ptr, e[i].events);
	serve_queue(r);
	serve_times(r);
	expire_all(r);
}

int ga_relay_fd(const struct ga_relay *r)
{
	return r->epoll;
}

int64_t ga_relay_next(const struct ga_relay *r)
{
	int64_t next = net_inside_next(r);

	if (r->queue)
		return ga_now_ms();
	for (size_t i = 0; i < NET_JOBS; i++)
		if (r->jobs[i] && (!next || r->jobs[i]->deadline < next))
			next = r->jobs[i]->deadline;
	for (size_t i = 0; r->timed && i < r->n_conns; i++)
		if (r->conns[i]->deadline && (!next || r->conns[i]->deadline < next))
			next = r->conns[i]->deadline;
	return next;
}

/* ---- reporting */

void ga_relay_published(const struct ga_relay *r, struct ga_strv *ret)
{
	for (size_t i = 0; i < r->n_publish; i++) {
		struct ga_net_host host = { .addr = r->publish[i].addr };
		cleanup_free char *at = ga_net_host_text(&host, r->publish[i].host_port);

		ga_strv_pushf(ret, "%s:%u", at, r->publish[i].port);
	}
}

const char *ga_relay_proxy(const struct ga_relay *r, char **ret_at)
{
	*ret_at = r->via.used ? ga_net_host_text(&r->via.host, r->via.port) : NULL;
	return r->via.variable;
}

const struct ga_use *ga_relay_uses(const struct ga_relay *r, size_t *ret_n, uint64_t *ret_more)
{
	*ret_n = r->uses.n;
	*ret_more = r->uses.more;
	return r->uses.v;
}
