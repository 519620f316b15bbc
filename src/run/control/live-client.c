/* SPDX-License-Identifier: MIT
 *
 * The end of a client.
 */
#include <signal.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "run/live-internal.h"

/* For a command whose client is gone: from SIGHUP to SIGKILL. */
#define GRACE_MS 10000

/* Its terminal, if it had one, is hung up already. */
static void shell_gone(struct ga_live *l, struct live_client *c)
{
	for (size_t i = 0; i < l->n_ptys; i++)
		if (l->ptys[i] == (int)(c - l->clients))
			l->ptys[i] = -1;
	if (!c->id || !l->s)
		return;
	run_send(l->s->sb, GA_CTL_SIGNAL, c->id, SIGHUP);
	run_send(l->s->sb, GA_CTL_SIGNAL, c->id, SIGCONT);
	c->deadline = ga_now_ms() + GRACE_MS;
}

void live_go_on(struct ga_live *l)
{
	if (l->stopped && l->s)
		l->s->go_on(l->s->payload);
	l->stopped = false;
}

void live_drop(struct ga_live *l, struct live_client *c)
{
	bool typed = c->role == LIVE_TYPES;

	if (c->fd < 0)
		return;
	(void)close(ga_steal_fd(&c->fd));
	if (c->role == LIVE_COMMANDS)
		shell_gone(l, c);
	if (typed)
		live_go_on(l);
}
