/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/resume/resume.h"

struct options {
	struct cli_run_options run;
	bool update;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(update, "update", 0, "merge the branch that it began on into it first"),
	CLI_RUN_OPTS(run),
};

int cli_resume_session(struct cli *c, const char *name, const struct ga_start_opts *how,
		       const struct cli_filter *filter, const struct ga_strv *exposed,
		       const struct cli_network *o, bool quiet, struct ga_error *err)
{
	cleanup_(ga_start_release) struct ga_start st = GA_START_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_strv struct ga_strv expose = GA_STRV_INIT, net = GA_STRV_INIT;
	cleanup_close int lock = -1;
	static const struct cli_network none;
	struct ga_start_opts so = *how;
	bool ask = !so.detach || !so.detach->now;

	so.view.expose = &expose;
	if (cli_restore_trashed(c, name, err) || cli_pick_session(c, name, false, &s, &lock, err))
		return cli_not_started(err);
	if (s.id.remote) {
		/* it ran elsewhere: no layers */
		(void)ga_fail(err, GA_EFATAL, "session '%s' was fetched from '%s': it can be "
			      "resumed only where it was started" GA_HINT "'git agent start --base "
			      "agent/%s COMMAND' continues from its branch", s.name,
			      s.id.remote, s.name);
		return cli_not_started(err);
	}
	/* the settings of the session's base commit, as at its start */
	if (cli_settings_to_run(c, &s.id.onto, ask, &conf, err) ||
	    cli_set_network(o ? o : &none, &s.run.network_options, &conf, &net, err) ||
	    (exposed && cli_find_exposed(c, exposed, &expose, err)))
		return cli_not_started(err);
	cli_apply_settings(c, &conf, filter, &so);
	cli_apply_network(c, &conf, &net);
	cli_before_run(c, quiet);
	if (ga_resume(&c->env, &so, &s, &lock, &st, err))
		return cli_not_started(err);
	return cli_run_and_capture(c, &st, quiet, err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	struct ga_start_opts so = { .update = o->update };
	struct cli_filter filter;
	struct cli_detach detach;
	int rc;

	if (argc > 1) {
		so.argv = argv + 1;
		so.argc = argc - 1;
	}
	rc = cli_apply_run(c, &o->run, &detach, &so, &filter, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return cli_resume_session(c, argc ? argv[0] : NULL, &so, &filter, &o->run.expose,
				  &o->run.net, o->run.quiet, err);
}

CLI_COMMAND(resume, "[OPTIONS] [NAME] [--] [COMMAND [ARGUMENT...]]",
	    "run an agent again in a session that was captured", "SESSION COMMAND...",
	    .name_first = true, .status_is_agents = true);
