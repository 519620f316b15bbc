/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "ga/base/clock.h"
#include "relay-internal.h"

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

	if (!net_lookup_begin(&j->l, name)) {
		free(j);
		return NULL;
	}
	j->name = ga_strdup(name);
	j->deadline = ga_now_ms() + NET_LOOKUP_MS;
	j->s = (struct net_source){ NET_LOOKUP, j->l.fd, j };
	r->jobs[slot] = j;
	if (!net_watch(r, &j->s, EPOLLIN))
		return j;
	net_lookup_abandon(&j->l);
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
	net_unwatch(r, j->l.fd);
	net_lookup_end(&j->l, ret);
}

bool net_job_late(struct ga_relay *r, struct net_job *j, int64_t now)
{
	if (j->deadline > now)
		return false;
	net_unwatch(r, j->l.fd);
	net_lookup_abandon(&j->l);
	return true;
}

void net_jobs_abandon(struct ga_relay *r)
{
	for (size_t i = 0; i < NET_JOBS; i++) {
		if (!r->jobs[i])
			continue;
		net_lookup_abandon(&r->jobs[i]->l);
		net_job_forget(r, r->jobs[i]);
	}
}
