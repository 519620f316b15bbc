/* SPDX-License-Identifier: MIT
 *
 * Jobs that connections wait for: name look-ups, shared by all connections to the same name, and a
 * pool of sockets inside for connecting to published ports.
 */
#include <ifaddrs.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "netplan-internal.h"
#include "relay-internal.h"

/* ---- what all of it uses ---- */

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

/* The connection log: each destination once, with its count. */

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

/* Refusals, which cost an agent nothing, must not displace connections, nor look-ups refusals. */
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
		(void)count(&r->uses, added ? GA_USE_LOOKED_UP : GA_USE_REFUSED, true, ret->name,
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

/* ---- look-ups */

void net_job_forget(struct ga_relay *r, struct net_job *j)
{
	for (size_t i = 0; i < NET_JOBS; i++)
		if (r->jobs[i] == j)
			r->jobs[i] = NULL;
	free(j->name);
	free(j);
}

static struct net_job *begin(struct ga_relay *r, const char *name, size_t slot)
{
	struct net_job *j = ga_calloc(1, sizeof(*j));

	if (!net_lookup_begin(&j->child, name)) {
		free(j);
		return NULL;
	}
	j->name = ga_strdup(name);
	j->deadline = ga_now_ms() + NET_LOOKUP_MS;
	j->s = (struct net_source){ NET_LOOKUP, j->child.fd, j };
	r->jobs[slot] = j;
	if (!net_watch(r, &j->s, EPOLLIN))
		return j;
	net_child_end(&j->child);
	net_job_forget(r, j);
	return NULL;
}

struct net_job *net_job_for(struct ga_relay *r, const char *name, bool *ret_full)
{
	size_t slot = NET_JOBS;

	*ret_full = false;
	for (size_t i = 0; i < NET_JOBS; i++) {
		if (r->jobs[i] && !strcmp(r->jobs[i]->name, name))
			return r->jobs[i];
		if (!r->jobs[i])
			slot = i;
	}
	*ret_full = slot == NET_JOBS;
	return *ret_full ? NULL : begin(r, name, slot);
}

void net_job_end(struct ga_relay *r, struct net_job *j, struct net_addrs *ret)
{
	net_unwatch(r, j->child.fd);
	net_lookup_end(&j->child, ret);
}

bool net_job_late(struct ga_relay *r, struct net_job *j, int64_t now)
{
	if (j->deadline > now)
		return false;
	net_unwatch(r, j->child.fd);
	net_child_end(&j->child);
	return true;
}

void net_jobs_abandon(struct ga_relay *r)
{
	for (size_t i = 0; i < NET_JOBS; i++) {
		if (!r->jobs[i])
			continue;
		net_child_end(&r->jobs[i]->child);
		net_job_forget(r, r->jobs[i]);
	}
}

/* ---- sockets inside */

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
	net_child_end(&p->child);
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
	struct net_pool *p = &r->pool[ip6];
	struct net_want want[NET_POOL];

	for (size_t i = 0; i < NET_POOL; i++)
		want[i] = (struct net_want){ .family = ip6 ? AF_INET6 : AF_INET,
					     .type = SOCK_STREAM };
	if (net_space_begin(&r->space, NULL, want, NET_POOL, &p->child, GA_IGNORED))
		return -1;
	p->s = (struct net_source){ NET_POOLED, p->child.fd, p };
	p->deadline = ga_now_ms() + MAKE_MS;
	if (!net_watch(r, &p->s, EPOLLIN))
		return 0;
	net_child_end(&p->child);
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
	bool ok;

	net_unwatch(r, p->child.fd);
	ok = !net_space_end(&p->child, p->v, NET_POOL, GA_IGNORED);
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
