/* SPDX-License-Identifier: MIT
 *
 * What all parts of the relay use: the poll set, and what addresses stand for.
 */
#include <sys/epoll.h>

#include "netplan-internal.h"
#include "relay-internal.h"

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
