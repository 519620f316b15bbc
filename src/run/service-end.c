/* SPDX-License-Identifier: MIT
 *
 * Ending services: they are asked, given time, and killed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "ga/base/clock.h"
#include "run-internal.h"

/* From SIGKILL until init reports the end. */
#define KILL_MS 2000

/* Did a signal arrive that ends programs? The user does not want to wait. */
static bool is_hurried(const struct ga_sandbox *sb)
{
	int n;

	while ((n = run_signals_act(sb)))
		if (n == SIGINT || n == SIGTERM || n == SIGHUP || n == SIGQUIT)
			return true;
	return false;
}

/* Returns false if the sandbox is gone. */
static bool wait_over(struct ga_sandbox *sb, unsigned ms)
{
	int64_t deadline = ga_now_ms() + ms;

	while (!run_services_over(sb->services) && ga_now_ms() < deadline) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		enum { CTL = GA_RUN_SERVICES_MAX, SIGNALS, RELAY, N_POLLS };
		int64_t next = run_relay_next(sb);
		struct pollfd p[N_POLLS];
		struct ga_ctl_msg m;
		int r = 0;

		run_services_poll(sb, p);
		p[CTL] = (struct pollfd){ .fd = sb->ctl, .events = POLLIN };
		p[SIGNALS] = (struct pollfd){ .fd = sb->sigfd, .events = POLLIN };
		/* services that are ending may still send something */
		p[RELAY] = run_relay_poll(sb);
		next = next && next < deadline ? next : deadline;
		if (poll(p, N_POLLS, ga_poll_timeout(next)) < 0) {
			if (errno != EINTR)
				return true;
			continue;
		}
		run_relay_serve(sb, &p[RELAY]);
		run_services_move(sb, p);
		while (p[CTL].revents && (r = run_recv(sb, &m, &ignored)) > 0)
			;
		if (r < 0)
			return false;
		if (p[SIGNALS].revents && is_hurried(sb))
			return true;
	}
	return true;
}

void ga_run_services_end(struct ga_sandbox *sb, unsigned ms)
{
	if (!sb->services || run_services_over(sb->services))
		return;
	run_services_signal(sb, SIGTERM);
	run_services_signal(sb, SIGCONT);
	if (!wait_over(sb, ms) || run_services_over(sb->services))
		return;
	run_services_signal(sb, SIGKILL);
	(void)wait_over(sb, KILL_MS);
}
