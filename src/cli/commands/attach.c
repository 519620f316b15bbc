/* SPDX-License-Identifier: MIT */
#include "ga/run/control.h"
#include "ga/run/run.h"
#include "cli/cli.h"

struct options {
	const char *filter;
	bool quiet;
};

static const struct cli_opt opts[] = {
	CLI_VALUE_FILTER(filter),
	CLI_FLAG_QUIET(quiet),
};

/* Wait until the session is captured, and print its summary. */
static int sum_up(struct cli *c, const char *name, struct ga_control_peer *peer,
		  struct ga_session *s, bool quiet, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;

	if (cli_wait_over(c, name, -1, s, &lock, peer, err) < 0)
		return -1;
	if (quiet)
		return 0;
	return ga_report_read(c->env.repo, s, &r, err) < 0 ||
	       cli_summary(c, s, &r, stderr, err) ? -1 : 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *name = NULL;
	enum ga_control_end how;
	struct cli_filter filter;
	bool unfiltered;
	int status = 0;

	if (cli_parse_filter(o->filter, false, &filter, err) ||
	    cli_pick_running(c, argc ? argv[0] : NULL, &s, &peer, err))
		return -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ga_fail(err, GA_EUSAGE, "attaching needs a terminal, and there is none here"
			       GA_HINT "'git agent logs -f %s' shows the output", s.name);
	if (cli_ask_detached(&s, &peer, err) ||
	    cli_session_unfiltered(c, &filter, &s, &unfiltered, err) ||
	    ga_control_attach(&peer, unfiltered, &how, &status, err))
		return -1;
	name = ga_strdup(s.name);
	if (how == GA_CONTROL_DETACHED && !o->quiet)
		cli_note("agent/%s: still runs; 'git agent attach %s' returns to it", name, name);
	if (how == GA_CONTROL_TAKEN)
		cli_note("agent/%s: was attached to another terminal", name);
	if (how == GA_CONTROL_DETACHED || how == GA_CONTROL_TAKEN)
		return 0;
	if (sum_up(c, name, &peer, &s, o->quiet, err))
		return -1;
	/* a supervisor that ends before we read the status leaves it in the session */
	if (how == GA_CONTROL_GONE && s.run.exit_status >= 0)
		status = s.run.exit_status;
	else if (how == GA_CONTROL_GONE)
		return ga_fail(err, GA_EFATAL, "session '%s' was interrupted", name);
	c->status = status;
	return 0;
}

CLI_COMMAND(attach, "[--terminal-filter on|off] [-q] [NAME]",
	    "connect this terminal to a detached session; Ctrl-\\ d leaves it", "SESSION");
