/* SPDX-License-Identifier: MIT
 *
 * A session that learns. Its plan has no rules at first and gets one for whatever is asked for:
 * each name that is looked up gets an address inside from then on, and each connect(2), which init
 * announces before it continues, finds a listener at its destination. From there on it is a
 * connection like any other, so what was reached is what a list would have had to name.
 *
 * On loopback addresses a session also has services of its own, and programs look for free ports by
 * connecting to them. So a listener is made there only if a service of the host answers at that
 * port, and nobody inside listens.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/connects.h"
#include "ga/fd.h"
#include "netplan-internal.h"
#include "relay-internal.h"

#define DIAL_MS 1000 /* on this machine a connection is answered at once, or not at all */
#define MAKE_MS 10000
/* Each listener takes a child process. Further requests wait, so that the loop has time for
 * everything else. */
#define MADE_PER_S 32

struct net_learn {
	int sock, theirs;           /* our end of the socket of ga/connects.h, and init's */
	struct net_source s;
	struct net_call calls[GA_CONNECTS];
	struct net_place at[GA_NET_LISTENERS_MAX]; /* where listeners were made */
	size_t n_at;
	int64_t second;             /* start of the second in which these were begun */
	unsigned made;
	bool reached[GA_NET_LEARN_RULES];
};

struct net_learn *net_learn_open(void)
{
	struct net_learn *l = ga_calloc(1, sizeof(*l));
	int pair[2] = { -1, -1 };

	*l = (struct net_learn){ .sock = -1, .theirs = -1 };
	for (size_t i = 0; i < GA_CONNECTS; i++)
		l->calls[i] = (struct net_call){ .dial = -1, .child = NET_CHILD_INIT };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) {
		free(l);
		return NULL;
	}
	l->sock = pair[0];
	l->theirs = pair[1];
	return l;
}

/* Release what the call has under way; the slot may be reused afterwards. */
static void release(const struct ga_relay *r, struct net_call *c)
{
	if (c->dial >= 0 || c->child.fd >= 0)
		net_unwatch(r, c->dial >= 0 ? c->dial : c->child.fd);
	ga_cleanup_closep(&c->dial);
	net_space_abandon(&c->child);
	*c = (struct net_call){ .dial = -1, .child = NET_CHILD_INIT };
}

void net_learn_close(struct ga_relay *r)
{
	struct net_learn *l = r->learn;

	if (!l)
		return;
	for (size_t i = 0; i < GA_CONNECTS; i++)
		release(r, &l->calls[i]);
	ga_cleanup_closep(&l->sock);
	ga_cleanup_closep(&l->theirs);
	free(l);
	r->learn = NULL;
}

int net_learn_watch(struct ga_relay *r)
{
	struct net_learn *l = r->learn;

	l->s = (struct net_source){ NET_CALLS, l->sock, l };
	return net_watch(r, &l->s, EPOLLIN);
}

int ga_relay_calls(struct ga_relay *r)
{
	return r->learn ? ga_steal_fd(&r->learn->theirs) : -1;
}

/* ---- calls */

/* The socket has room, as at most GA_CONNECTS calls are announced at a time. If sending fails, init
 * has ended. */
static void answer(const struct net_learn *l, struct ga_connect m, int errnum)
{
	m.errnum = errnum;
	(void)send(l->sock, &m, sizeof(m), MSG_NOSIGNAL);
}

/* Answer this call and all others that wait for the same listener. */
static void answer_all(struct ga_relay *r, const struct net_call *which, int errnum)
{
	const struct net_place at = which->at;

	for (size_t i = 0; i < GA_CONNECTS; i++) {
		struct net_call *c = &r->learn->calls[i];

		if (!c->used || c->at.port != at.port || !ga_net_addr_same(&c->at.addr, &at.addr))
			continue;
		answer(r->learn, c->m, errnum);
		release(r, c);
	}
}

static bool is_there(const struct net_learn *l, const struct net_place *at)
{
	struct ga_net_addr service = net_addr(GA_NET_SERVICE_ADDRESS);

	for (size_t i = 0; i < l->n_at; i++)
		if (l->at[i].port == at->port && ga_net_addr_same(&l->at[i].addr, &at->addr))
			return true;
	return ga_net_addr_same(&service, &at->addr) &&
	       (at->port == GA_NET_DNS_PORT || at->port == GA_NET_PROXY_PORT);
}

static void wait_for(struct ga_relay *r, struct net_call *c, int fd, uint32_t events, int ms)
{
	c->s = (struct net_source){ NET_CALL, fd, c };
	c->deadline = ga_now_ms() + ms;
	if (net_watch(r, &c->s, events))
		answer_all(r, c, ECONNREFUSED);
}

static bool take_turn(struct net_learn *l)
{
	int64_t now = ga_now_ms();

	if (now - l->second >= 1000) {
		l->second = now;
		l->made = 0;
	}
	return l->made < MADE_PER_S && ++l->made;
}

/* No listener could be made there: a server of the session's has the port, on that address or on
 * all of them, or there are as many listeners as there may be. On a loopback address the session's
 * own server is what was meant; elsewhere it would be mistaken for another host. */
static void not_made(struct ga_relay *r, const struct net_call *c)
{
	bool loopback = net_is_loopback(r, &c->at.addr);
	cleanup_free char *to = net_to_text(r, &c->at.addr, c->at.port);

	if (!loopback)
		(void)net_use(&r->uses, GA_USE_FAILED, to, 0);
	answer_all(r, c, loopback ? 0 : ECONNREFUSED);
}

static void make(struct ga_relay *r, struct net_call *c)
{
	const struct net_want want = { .family = c->at.addr.ip6 ? AF_INET6 : AF_INET,
				       .type = SOCK_STREAM, .listens = true, .addr = c->at.addr,
				       .port = c->at.port };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	bool full = r->learn->n_at == GA_NET_LISTENERS_MAX;

	c->turn = !full && !take_turn(r->learn);
	if (c->turn)
		c->deadline = r->learn->second + 1000;
	else if (full || net_space_begin(&r->space, NULL, &want, 1, &c->child, &ignored))
		not_made(r, c);
	else
		wait_for(r, c, c->child.fd, EPOLLIN, MAKE_MS);
}

static void dial(struct ga_relay *r, struct net_call *c)
{
	struct sockaddr_storage sa;
	socklen_t n = net_sockaddr(&c->at.addr, c->at.port, &sa);

	c->dial = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->dial < 0 || (connect(c->dial, (const struct sockaddr *)&sa, n) &&
			    errno != EINPROGRESS))
		answer_all(r, c, 0);
	else
		wait_for(r, c, c->dial, EPOLLOUT, DIAL_MS);
}

static void begin_call(struct ga_relay *r, struct net_call *c)
{
	struct net_learn *l = r->learn;
	bool loopback = net_is_loopback(r, &c->at.addr);

	for (size_t i = 0; i < GA_CONNECTS; i++)
		if (&l->calls[i] != c && l->calls[i].used && l->calls[i].at.port == c->at.port &&
		    ga_net_addr_same(&l->calls[i].at.addr, &c->at.addr))
			return;
	/* a published port is the session's own, and the same port of the host would lead back to
	 * it */
	if (is_there(l, &c->at) || (loopback && net_is_published(r, c->at.port)))
		answer_all(r, c, 0);
	else if (loopback)
		dial(r, c);
	else
		make(r, c);
}

static struct net_call *free_call(struct net_learn *l)
{
	for (size_t i = 0; i < GA_CONNECTS; i++)
		if (!l->calls[i].used)
			return &l->calls[i];
	return NULL;
}

/* The destination that is meant: for connect(2) the unspecified address means this machine. */
static struct ga_net_addr destination(const struct ga_connect *m)
{
	struct ga_net_addr a = ga_net_addr_make(m->ip6, m->addr);
	struct ga_net_addr any = { .ip6 = a.ip6 };

	return ga_net_addr_same(&a, &any) ? net_addr(a.ip6 ? "::1" : "127.0.0.1") : a;
}

void net_learn_calls(struct ga_relay *r)
{
	struct net_learn *l = r->learn;

	for (int i = 0; i < GA_CONNECTS; i++) {
		struct net_call *c = free_call(l);
		struct ga_connect m;
		ssize_t n = recv(l->sock, &m, sizeof(m), 0);

		if (n < 0)
			return;
		if (n != (ssize_t)sizeof(m)) {
			/* init has ended, or is not init */
			net_unwatch(r, l->sock);
			return;
		}
		if (!c) {
			answer(l, m, 0);
			continue;
		}
		*c = (struct net_call){ .used = true, .m = m, .dial = -1, .child = NET_CHILD_INIT,
					.at = { destination(&m), m.port } };
		begin_call(r, c);
	}
}

static void dialled(struct ga_relay *r, struct net_call *c)
{
	socklen_t n = sizeof(int);
	int e = 0;

	if (getsockopt(c->dial, SOL_SOCKET, SO_ERROR, &e, &n) || e) {
		answer_all(r, c, 0);
		return;
	}
	net_unwatch(r, c->dial);
	(void)close(ga_steal_fd(&c->dial));
	make(r, c);
}

static void made(struct ga_relay *r, struct net_call *c)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct net_learn *l = r->learn;
	int fd;

	net_unwatch(r, c->child.fd);
	if (net_space_end(&c->child, &fd, 1, &ignored)) {
		not_made(r, c);
		return;
	}
	/* several are made at the same time, and others may be first */
	if (net_add_learnt(r, l->n_at, fd)) {
		not_made(r, c);
		return;
	}
	l->at[l->n_at++] = c->at;
	answer_all(r, c, 0);
}

void net_learn_event(struct ga_relay *r, struct net_call *c)
{
	if (c->dial >= 0)
		dialled(r, c);
	else
		made(r, c);
}

void net_learn_time(struct ga_relay *r, int64_t now)
{
	for (size_t i = 0; r->learn && i < GA_CONNECTS; i++) {
		struct net_call *c = &r->learn->calls[i];

		if (!c->used || !c->deadline || c->deadline > now)
			continue;
		if (c->turn)
			make(r, c);
		else
			answer_all(r, c, c->dial >= 0 ? 0 : ECONNREFUSED);
	}
}

int64_t net_learn_next(const struct ga_relay *r)
{
	int64_t next = 0;

	for (size_t i = 0; r->learn && i < GA_CONNECTS; i++) {
		const struct net_call *c = &r->learn->calls[i];

		if (c->used && c->deadline && (!next || c->deadline < next))
			next = c->deadline;
	}
	return next;
}

/* ---- what is learnt */

void net_learn_place(const struct ga_relay *r, size_t i, struct net_place *ret,
		     struct ga_net_host *host)
{
	*ret = r->learn->at[i];
	ga_net_plan_host(r->plan, &ret->addr, host);
}

ssize_t net_rule_for(struct ga_relay *r, const struct ga_net_host *h, uint16_t port)
{
	return r->learn ? ga_net_plan_learn_rule(r->plan, h, port)
			: ga_net_plan_match(r->plan, h, port);
}

bool net_may_go(const struct ga_relay *r, size_t rule, const struct ga_net_addr *a, uint16_t port)
{
	const struct ga_net_host host = { .addr = *a };

	return r->learn || (ga_net_addr_allowed(r->plan, rule, a, port) &&
			    (ga_net_plan_match(r->plan, &host, port) >= 0 || !net_is_own(a)));
}

void net_learn_reached(struct ga_relay *r, size_t rule, const struct ga_net_addr *a, uint16_t port)
{
	struct ga_net_host host = { 0 };
	ssize_t also;

	if (!r->learn)
		return;
	r->learn->reached[rule] = true;
	if (!a)
		return;
	host.addr = ga_net_addr_make(a->ip6, a->b);
	/* if the name alone does not allow the address, that has to be listed as well */
	if (r->plan->rules[rule].kind != GA_NET_NAMED ||
	    (net_rule_leads_to(&r->plan->rules[rule], &host.addr, port) && !net_is_own(&host.addr)))
		return;
	also = ga_net_plan_learn_rule(r->plan, &host, port);
	if (also >= 0)
		r->learn->reached[also] = true;
}

void net_dns(struct ga_relay *r, const void *query, size_t n, struct ga_net_dns_reply *ret)
{
	bool added;

	ga_net_dns_answer(r->plan, query, n, ret);
	if (ret->verdict != GA_NET_DNS_REFUSED)
		return;
	added = ga_net_plan_add_name(r->plan, ret->name);
	if (added)
		ga_net_dns_answer(r->plan, query, n, ret);
	/* clients look up service records (RFC 2782) and go on without them */
	if (ret->verdict == GA_NET_DNS_REFUSED && (!r->learn || ret->name[0] != '_'))
		net_use_name(&r->uses, added ? GA_USE_LOOKED_UP : GA_USE_REFUSED, ret->name,
			     ret->type != 1);
}

void ga_relay_learnt(const struct ga_relay *r, struct ga_relay_learnt *ret)
{
	for (size_t i = 0; r->learn && i < r->plan->n_rules; i++) {
		cleanup_free char *word = ga_net_rule_text(&r->plan->rules[i]);
		bool ok = ga_net_rule_ok(word);

		ga_strv_push(!r->learn->reached[i] ? &ret->failed : ok ? &ret->allow
								       : &ret->unlistable, word);
	}
	ga_strv_sort_unique(&ret->allow);
}

void ga_relay_learnt_release(struct ga_relay_learnt *l)
{
	ga_strv_release(&l->allow);
	ga_strv_release(&l->failed);
	ga_strv_release(&l->unlistable);
}
