/* SPDX-License-Identifier: MIT */
#include "cli/on.h"

struct options {
	const char *timeout;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(timeout, "timeout", 0, "TIME", "stop waiting after this time (exit status 124)"),
};

static int wait_for(struct cli *c, const char *name, int64_t deadline, int *ret_status,
		    struct ga_error *err)
{
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;
	int there = cli_on_wait(c, name, deadline, ret_status, err);
	int rc = there == 1 ? cli_wait_over(c, name, ga_poll_timeout(deadline), &s, &lock, &peer,
					    err) : there;

	if (rc < 0 || !there)
		return rc;
	if (rc == 2)
		return ga_fail(err, GA_ETIME, "session '%s' still runs" GA_HINT "'git agent stop "
			       "%s' ends it", name, name);
	if (s.run.exit_status < 0)
		return ga_fail(err, GA_EFATAL, "session '%s' was interrupted: how its command "
			       "ended is not known", s.name);
	*ret_status = s.run.exit_status;
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	int64_t deadline;
	int ms, ignored = 0;

	if (cli_parse_timeout(o->timeout, -1, &ms, err))
		return -1;
	deadline = ms < 0 ? 0 : ga_now_ms() + ms;
	for (size_t i = 0; i < argc; i++)
		ga_strv_push(&names, argv[i]);
	if (!argc && cli_sessions_where(c, cli_runs, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (wait_for(c, names.v[i], deadline, argc ? &c->status : &ignored, err))
			return -1;
	return 0;
}

CLI_COMMAND(wait, "[--timeout TIME] [NAME...]",
	    "wait until sessions have ended; exit as the agent did", "SESSION...");
