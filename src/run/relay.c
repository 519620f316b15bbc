/* SPDX-License-Identifier: MIT
 *
 * The relay of a sandbox's network in the loops that wait for a command.
 */
#include "ga/base/clock.h"
#include "run-internal.h"

void ga_run_relay(struct ga_sandbox *sb, struct ga_relay *r)
{
	sb->relay = r;
}

struct pollfd run_relay_poll(const struct ga_sandbox *sb)
{
	return (struct pollfd){ .fd = sb->relay ? ga_relay_fd(sb->relay) : -1, .events = POLLIN };
}

int64_t run_relay_next(const struct ga_sandbox *sb)
{
	return sb->relay ? ga_relay_next(sb->relay) : 0;
}

void run_relay_serve(const struct ga_sandbox *sb, const struct pollfd *p)
{
	int64_t next = p->revents ? 0 : run_relay_next(sb);

	if (p->revents || (next && ga_now_ms() >= next))
		ga_relay_serve(sb->relay);
}
