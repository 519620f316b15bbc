/* SPDX-License-Identifier: MIT
 *
 * Receive messages of process 1 and dispatch those for services, shared directories and clients;
 * and wait for services to end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/sys/fd.h"
#include "run/control-internal.h"

#define PTY_MS 20000

/* Record a message that is not about a particular command. */
static void record_message(struct ga_sandbox *sb, const struct ga_ctl_msg *m)
{
	if (m->type == GA_CTL_LOST)
		sb->is.lost = true;
	run_services_message(sb, m);
	run_shares_message(sb, m);
}

int run_recv(struct ga_sandbox *sb, struct ga_ctl_msg *m, struct ga_error *err)
{
	pid_t pid;
	int r = run_recv_raw(sb, m, &pid, NULL);

	if (r > 0)
		record_message(sb, m);
	return r < 0 ? run_ctl_ended(sb, err) : r;
}

/* Is it the master of a pty? Anything else would be used as if it were ours. */
static bool is_pty_master(int fd)
{
	struct stat st;
	int n;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == makedev(5, 2) &&
	       !ioctl(fd, TIOCGPTN, &n);
}

int run_recv_fd(struct ga_sandbox *sb, struct ga_ctl_msg *m, int *ret_fd, struct ga_error *err)
{
	pid_t pid;
	int r;

	*ret_fd = -1;
	r = run_recv_raw(sb, m, &pid, ret_fd);
	if (r > 0)
		record_message(sb, m);
	if (r < 0 && *ret_fd >= 0)
		(void)close(ga_steal_fd(ret_fd));
	if (r > 0 && *ret_fd >= 0 && !is_pty_master(*ret_fd)) {
		(void)close(ga_steal_fd(ret_fd));
		return ga_fail(err, GA_EFATAL, "the sandbox sent a descriptor that is not a pty");
	}
	return r < 0 ? run_ctl_ended(sb, err) : r;
}

/* Returns 1 with the answer, in `*ret_fd` or m.value; 0 if there is none yet; -1 with an error. All
 * terminals are alike: this may be one that a client asked for, who then gets the next. */
static int take_pty(struct ga_sandbox *sb, struct ga_control *control, struct ga_ctl_msg *m,
		    int *ret_fd, struct ga_error *err)
{
	int r;

	while ((r = run_recv_fd(sb, m, ret_fd, err)) > 0 && m->type != GA_CTL_PTY_OPEN) {
		if (control)
			(void)run_control_message(control, m, ret_fd);
		ga_cleanup_closep(ret_fd);
	}
	return r;
}

int run_ask_pty(struct ga_sandbox *sb, struct ga_control *control, struct ga_error *err)
{
	int64_t deadline = ga_now_ms() + PTY_MS;
	struct pollfd p = { .fd = sb->ctl, .events = POLLIN };
	struct ga_ctl_msg m;
	int fd = -1, r;

	run_send(sb, GA_CTL_PTY, 0, 0);
	while (!(r = take_pty(sb, control, &m, &fd, err))) {
		if (ga_now_ms() >= deadline)
			return ga_fail(err, GA_ESTART, "the sandbox does not open a terminal");
		(void)poll(&p, 1, ga_poll_timeout(deadline));
	}
	if (r > 0 && fd < 0)
		return ga_fail_errno(err, GA_ESTART, m.value,
				     "cannot open a terminal in the sandbox");
	return r > 0 ? fd : -1;
}

/* Ending services: they are asked, given time, and killed. */

/* From SIGKILL until init reports the end. */
#define KILL_MS 2000

/* Did a fatal signal arrive? Then the user does not want to wait. */
static bool has_fatal_signal(const struct ga_sandbox *sb)
{
	int n;

	while ((n = run_signals_act(sb)))
		if (n == SIGINT || n == SIGTERM || n == SIGHUP || n == SIGQUIT)
			return true;
	return false;
}

/* Returns false if the sandbox has ended. */
static bool wait_services(struct ga_sandbox *sb, unsigned ms)
{
	int64_t deadline = ga_now_ms() + ms;

	while (!run_services_over(sb->services) && ga_now_ms() < deadline) {
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
		while (p[CTL].revents && (r = run_recv(sb, &m, GA_IGNORED)) > 0)
			;
		if (r < 0)
			return false;
		if (p[SIGNALS].revents && has_fatal_signal(sb))
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
	if (!wait_services(sb, ms) || run_services_over(sb->services))
		return;
	run_services_signal(sb, SIGKILL);
	(void)wait_services(sb, KILL_MS);
}
