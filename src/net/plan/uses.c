/* SPDX-License-Identifier: MIT
 *
 * What was connected to, and what was refused: each destination once, with its count.
 */
#include <string.h>

#include "ga/base/clock.h"
#include "net/net-internal.h"

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

void net_use_name(struct net_uses *u, enum ga_use_kind kind, const char *name, unsigned which)
{
	(void)count(u, kind, true, name, which);
}
