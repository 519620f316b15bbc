/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "ga/base/clock.h"
#include "relay-internal.h"

#define LOOKUP_MS 30000

static void forget(struct ga_relay *r, struct net_job *j)
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

	if (!net_lookup_begin(&j->l, name)) {
		free(j);
		return NULL;
	}
	j->name = ga_strdup(name);
	j->deadline = ga_now_ms() + LOOKUP_MS;
	j->s = (struct net_source){ NET_LOOKUP, j->l.fd, j };
	r->jobs[slot] = j;
	if (!net_watch(r, &j->s, EPOLLIN))
		return j;
	net_lookup_abandon(&j->l);
	forget(r, j);
	return NULL;
}

void net_job_want(struct ga_relay *r, struct net_conn *c)
{
	const struct net_addrs none = { 0 };
	size_t slot = NET_JOBS;

	for (size_t i = 0; i < NET_JOBS; i++) {
		if (r->jobs[i] && !strcmp(r->jobs[i]->name, c->name)) {
			c->job = r->jobs[i];
			net_conn_deadline(r, c, 0);
			return;
		}
		if (!r->jobs[i])
			slot = i;
	}
	/* wait until another one ends, at most as long as a look-up takes */
	if (slot == NET_JOBS) {
		if (!c->deadline)
			net_conn_deadline(r, c, LOOKUP_MS);
		return;
	}
	net_conn_deadline(r, c, 0);
	c->job = begin(r, c->name, slot);
	if (!c->job)
		net_conn_found(r, c, &none);
}

static void answer_waiting(struct ga_relay *r, struct net_job *j, const struct net_addrs *a)
{
	for (size_t i = 0; i < r->n_conns; i++) {
		struct net_conn *c = r->conns[i];

		if (c->state != NET_WAITS || c->job != j)
			continue;
		c->job = NULL;
		net_conn_found(r, c, a);
	}
	forget(r, j);
	for (size_t i = 0; i < r->n_conns; i++)
		if (r->conns[i]->state == NET_WAITS && !r->conns[i]->job)
			net_job_want(r, r->conns[i]);
}

void net_job_done(struct ga_relay *r, struct net_job *j)
{
	struct net_addrs a;

	net_unwatch(r, j->l.fd);
	net_lookup_end(&j->l, &a);
	answer_waiting(r, j, &a);
}

void net_jobs_time(struct ga_relay *r, int64_t now)
{
	const struct net_addrs none = { 0 };

	for (size_t i = 0; i < NET_JOBS; i++) {
		struct net_job *j = r->jobs[i];

		if (!j || j->deadline > now)
			continue;
		net_unwatch(r, j->l.fd);
		net_lookup_abandon(&j->l);
		answer_waiting(r, j, &none);
	}
}

void net_jobs_abandon(struct ga_relay *r)
{
	for (size_t i = 0; i < NET_JOBS; i++) {
		if (!r->jobs[i])
			continue;
		net_lookup_abandon(&r->jobs[i]->l);
		forget(r, r->jobs[i]);
	}
}
