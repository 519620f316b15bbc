/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct options {
	const char *filter;
	bool quiet;
};

static const struct cli_opt opts[] = {
	CLI_VALUE_FILTER(filter),
	CLI_FLAG_QUIET(quiet),
};

/* The system's directories are the same inside, so a program found here exists there. */
static char *default_shell(void)
{
	return ga_strdup(access("/bin/bash", X_OK) ? "sh" : "bash");
}

static int run_beside(const struct ga_session *s, const struct ga_control_peer *peer,
		      const struct ga_start_opts *so, int *ret_status, struct ga_error *err)
{
	cleanup_free char *cwd = ga_agents_cwd(s->id.project);
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	struct ga_run_command cmd = { .cwd = cwd, .unfiltered = so->unfiltered };

	for (size_t i = 0; i < so->argc; i++)
		ga_strv_push(&words, so->argv[i]);
	cmd.argv = (const char *const *)words.v;
	return ga_control_command(peer, &cmd, isatty(STDIN_FILENO) ? getenv("TERM") : NULL,
				  ret_status, err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *shell = default_shell();
	char *alone[] = { shell, NULL };
	/* a shell need not wait for the commands of 'finish' */
	struct ga_start_opts so = { .argv = alone, .argc = 1, .no_finish = true,
				    .quiet = o->quiet };
	struct cli_filter filter;
	int lock = -1, rc;

	if (argc > 1) {
		so.argv = argv + 1;
		so.argc = argc - 1;
	}
	if (cli_parse_filter(o->filter, false, &filter, err))
		return -1;
	rc = cli_connect_or_lock(c, argc ? argv[0] : NULL, CLI_COME_UP_MS, &s, &lock, &peer, err);
	if (lock >= 0)
		(void)close(lock);
	if (rc < 0)
		return cli_not_started(err);
	if (!rc)
		return cli_session_unfiltered(c, &filter, &s, &so.unfiltered, err)
			       ? -1 : run_beside(&s, &peer, &so, &c->status, err);
	if (rc == 2) {
		(void)ga_fail(err, GA_ESTART, "session '%s' does not come up", argc ? argv[0] : "");
		return -1;
	}
	if (!o->quiet)
		cli_note("agent/%s: has ended: it is resumed for this command, and captured after "
			 "it", s.name);
	/* a shell does not end the session */
	c->keep = true;
	return cli_resume_session(c, s.name, &so, &filter, NULL, NULL, o->quiet, err);
}

CLI_COMMAND(shell, "[OPTIONS] [NAME] [--] [COMMAND [ARGUMENT...]]",
	    "run a shell, or a command, in the sandbox of a session", "SESSION COMMAND...",
	    .name_first = true, .status_is_agents = true);
