/* SPDX-License-Identifier: MIT
 *
 * What connections wait for: look-ups of names, one for all that want the same name; and sockets
 * inside for connecting to published ports, of which some are kept in stock.
 */
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "relay-internal.h"

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
