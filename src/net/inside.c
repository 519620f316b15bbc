/* SPDX-License-Identifier: MIT
 *
 * Sockets inside for connecting to published ports: some are kept in stock, and a child makes more
 * when they run out. Only the connections that need one wait meanwhile.
 */
#include <sys/epoll.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "relay-internal.h"

#define MAKE_MS 10000 /* usually it takes milliseconds */

void net_inside_open(struct ga_relay *r)
{
	for (size_t k = 0; k < 2; k++)
		r->pool[k].child = (struct net_child)NET_CHILD_INIT;
}

static void end(const struct ga_relay *r, struct net_pool *p)
{
	if (p->child.fd >= 0)
		net_unwatch(r, p->child.fd);
	net_space_abandon(&p->child);
}

void net_inside_close(struct ga_relay *r)
{
	for (size_t k = 0; k < 2; k++) {
		end(r, &r->pool[k]);
		while (r->pool[k].n)
			(void)close(r->pool[k].v[--r->pool[k].n]);
	}
}

static int refill(struct ga_relay *r, bool ip6)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct net_pool *p = &r->pool[ip6];
	struct net_want want[NET_POOL];

	for (size_t i = 0; i < NET_POOL; i++)
		want[i] = (struct net_want){ .family = ip6 ? AF_INET6 : AF_INET,
					     .type = SOCK_STREAM };
	if (net_space_begin(&r->space, NULL, want, NET_POOL, &p->child, &ignored))
		return -1;
	p->s = (struct net_source){ NET_POOLED, p->child.fd, p };
	p->deadline = ga_now_ms() + MAKE_MS;
	if (!net_watch(r, &p->s, EPOLLIN))
		return 0;
	net_space_abandon(&p->child);
	return -1;
}

int net_inside(struct ga_relay *r, bool ip6)
{
	struct net_pool *p = &r->pool[ip6];

	if (p->n)
		return p->v[--p->n];
	return p->child.fd >= 0 || !refill(r, ip6) ? NET_LATER : -1;
}

bool net_inside_event(struct ga_relay *r, struct net_pool *p)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	bool ok;

	net_unwatch(r, p->child.fd);
	ok = !net_space_end(&p->child, p->v, NET_POOL, &ignored);
	p->n = ok ? NET_POOL : 0;
	return ok;
}

bool net_inside_late(struct ga_relay *r, bool ip6, int64_t now)
{
	struct net_pool *p = &r->pool[ip6];

	if (p->child.fd < 0 || p->deadline > now)
		return false;
	end(r, p);
	return true;
}

int64_t net_inside_next(const struct ga_relay *r)
{
	int64_t next = 0;

	for (size_t k = 0; k < 2; k++)
		if (r->pool[k].child.fd >= 0 && (!next || r->pool[k].deadline < next))
			next = r->pool[k].deadline;
	return next;
}
