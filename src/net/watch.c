/* SPDX-License-Identifier: MIT
 *
 * What all parts of the relay use: the poll set, and what addresses stand for.
 */
#include <ifaddrs.h>
#include <string.h>
#include <sys/epoll.h>

#include "ga/base/clock.h"
#include "net-internal.h"
#include "net/net-internal.h"
#include "netplan-internal.h"
#include "relay-internal.h"

/* The addresses of this machine, which no table can list. */

static bool is_this(const struct sockaddr *sa, const struct ga_net_addr *a)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)sa;
	struct ga_net_addr own;

	if (!sa || (sa->sa_family != AF_INET && sa->sa_family != AF_INET6))
		return false;
	own = sa->sa_family == AF_INET ? ga_net_addr_make(false, &in->sin_addr)
				       : ga_net_addr_make(true, &in6->sin6_addr);
	return ga_net_addr_same(&own, a);
}

bool net_is_own(const struct ga_net_addr *a)
{
	struct ifaddrs *list;
	bool own = false;

	/* true in doubt */
	if (getifaddrs(&list))
		return true;
	for (const struct ifaddrs *i = list; i && !own; i = i->ifa_next)
		own = is_this(i->ifa_addr, a);
	freeifaddrs(list);
	return own;
}

/* What was connected to, and what was refused: each destination once, with its count. */

const char *ga_use_name(enum ga_use_kind k)
{
	static const char *const names[] = {
		[GA_USE_ALLOWED] = "allowed",	  [GA_USE_FAILED] = "failed",
		[GA_USE_REFUSED] = "refused",	  [GA_USE_FORBIDDEN] = "forbidden",
		[GA_USE_FULL] = "too many",	  [GA_USE_LOOKED_UP] = "looked up",
	};

	return names[k];
}

void net_uses_release(struct net_uses *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->v[i].to);
	free(u->v);
	*u = (struct net_uses){ 0 };
}

/* Refusals cost an agent nothing and must not displace what is reached; nor look-ups refusals. */
static bool has_room(const struct net_uses *u, enum ga_use_kind kind, bool name)
{
	if (name && u->names >= GA_RELAY_USES_MAX / 4)
		return false;
	return u->n < GA_RELAY_USES_MAX &&
	       (kind == GA_USE_ALLOWED || u->others < GA_RELAY_USES_MAX / 2);
}

static ssize_t count(struct net_uses *u, enum ga_use_kind kind, bool name, const char *to,
		     unsigned which)
{
	struct ga_use *e = NULL;

	for (size_t i = 0; i < u->n && !e; i++)
		if (u->v[i].kind == kind && !strcmp(u->v[i].to, to))
			e = &u->v[i];
	if (!e && !has_room(u, kind, name)) {
		u->more++;
		return -1;
	}
	if (!e) {
		GA_GROW(u->v, u->n, u->cap);
		e = &u->v[u->n++];
		u->others += kind != GA_USE_ALLOWED;
		u->names += name;
		*e = (struct ga_use){ .kind = kind, .to = ga_strdup(to),
				      .first = ga_now_ms() - u->begun };
	}
	e->times[which]++;
	e->count = e->times[0] > e->times[1] ? e->times[0] : e->times[1];
	return e - u->v;
}

ssize_t net_use(struct net_uses *u, enum ga_use_kind kind, const char *to, unsigned which)
{
	return count(u, kind, false, to, which);
}

static void net_use_name(struct net_uses *u, enum ga_use_kind kind, const char *name,
			 unsigned which)
{
	(void)count(u, kind, true, name, which);
}

int net_watch(struct ga_relay *r, struct net_source *s, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = s };

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, s->fd, &e);
}

void net_unwatch(const struct ga_relay *r, int fd)
{
	(void)epoll_ctl(r->epoll, EPOLL_CTL_DEL, fd, NULL);
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
	if (ret->verdict == GA_NET_DNS_REFUSED)
		net_use_name(&r->uses, added ? GA_USE_LOOKED_UP : GA_USE_REFUSED, ret->name,
			     ret->type != 1);
}

char *net_to_text(const struct ga_relay *r, const struct ga_net_addr *a, uint16_t port)
{
	struct ga_net_host host;

	ga_net_plan_host(r->plan, a, &host);
	return ga_net_host_text(&host, port);
}

bool net_is_published(const struct ga_relay *r, uint16_t port)
{
	for (size_t i = 0; i < r->n_publish; i++)
		if (r->publish[i].port == port)
			return true;
	return false;
}

bool net_is_loopback(const struct ga_relay *r, const struct ga_net_addr *a)
{
	struct ga_net_host h;

	ga_net_plan_host(r->plan, a, &h);
	return net_addr_is_localhost(a) || (!*h.name && net_addr_class(a) == NET_MACHINE);
}
