/* SPDX-License-Identifier: MIT */
#include <sys/syscall.h>

#include "cli/cli.h"

#define TIMEOUT_MS 10000

struct options {
	const char *timeout;
	bool force, quiet;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(timeout, "timeout", 0, "TIME",
		  "how long the agent may take to end before it is killed (default: 10s)"),
	CLI_FLAG(force, "force", 'f', "kill it at once"),
	CLI_FLAG_QUIET(quiet),
};

struct stopped {
	struct ga_session s;
	struct ga_control_peer peer;
	bool runs;
};

/* Kill a supervisor that does not answer, and with it all of its sandbox. */
static int kill_supervisor(const struct stopped *t, struct ga_error *err)
{
	cleanup_close int pidfd = (int)syscall(SYS_pidfd_open, t->peer.pid, 0);

	/* an open connection proves that the pid was not reused */
	if (pidfd >= 0 && ga_control_wait(&t->peer, 0) == 1)
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	if (ga_control_wait(&t->peer, TIMEOUT_MS))
		return ga_fail(err, GA_EFATAL, "process %d of session '%s' does not end",
			       (int)t->peer.pid, t->s.name);
	return 0;
}

static int finish(struct cli *c, struct stopped *t, const struct options *o, int ms,
		  struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_free char *name = ga_strdup(t->s.name);
	cleanup_close int lock = -1;
	int rc = ga_control_wait_exit(&t->peer, (unsigned)ms);

	if (rc == 2 && !o->force)
		return ga_fail(err, GA_ETIME, "session '%s' does not answer: it may be stopped, on "
			       "another terminal" GA_HINT "continue it there, or 'git agent stop "
			       "--force %s'", name, name);
	if (rc == 2 && kill_supervisor(t, err))
		return -1;
	/* it is being captured now */
	if (cli_wait_over(c, name, -1, &t->s, &lock, &t->peer, err) < 0)
		return -1;
	if (o->quiet)
		return 0;
	return ga_report_read(c->env.repo, &t->s, &r, err) < 0 ||
	       cli_summary(c, &t->s, &r, stdout, err) ? -1 : 0;
}

/* Signal all before waiting for any, so that they end in parallel. */
static void stop(struct cli *c, const struct options *o, int ms, size_t n, char **names,
		 struct stopped *all, int *ret_status)
{
	for (size_t i = 0; i < n; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		all[i].runs = !cli_pick_running(c, names[i], &all[i].s, &all[i].peer, &one);
		if (!all[i].runs)
			cli_tell(&one, ret_status);
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].runs)
			ga_control_stop(&all[i].peer, (unsigned)ms);
	for (size_t i = 0; i < n; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		if (all[i].runs && finish(c, &all[i], o, ms, &one))
			cli_tell(&one, ret_status);
	}
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	struct stopped *all;
	int ms;

	if (cli_parse_timeout(o->timeout, TIMEOUT_MS, &ms, err) ||
	    cli_check_names(c, argc, argv, err))
		return -1;
	ms = o->force ? 0 : ms;
	all = ga_calloc(argc, sizeof(*all));
	for (size_t i = 0; i < argc; i++) {
		all[i].s = (struct ga_session)GA_SESSION_INIT;
		all[i].peer = (struct ga_control_peer)GA_CONTROL_PEER_INIT;
	}
	stop(c, o, ms, argc, argv, all, &c->status);
	for (size_t i = 0; i < argc; i++) {
		ga_session_release(&all[i].s);
		ga_control_peer_release(&all[i].peer);
	}
	free(all);
	return 0;
}

CLI_COMMAND(stop, "[--timeout TIME] [-f] [-q] NAME...",
	    "end running sessions and capture their work", "SESSION...", .min_args = 1);
