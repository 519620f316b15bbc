/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct options {
	bool quiet;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_QUIET(quiet),
};

static int refresh(struct cli *c, const char *name, const char *stage_dir, bool quiet,
		   struct ga_error *err)
{
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (cli_pick_running(c, name, &s, &peer, err) || cli_settings(c, &s.id.onto, &conf, err))
		return -1;
	cli_take_settings(&c->env, &conf);
	if (ga_start_refresh(&c->env, &s, &peer, stage_dir, err))
		return -1;
	if (!quiet)
		cli_note("agent/%s: sees the shared directories as they are now", s.name);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_free char *stage_dir = NULL;

	if (ga_store_stage(c->env.state_root, &stage_dir, err))
		return -1;
	for (size_t i = 0; i < argc; i++)
		if (refresh(c, argv[i], stage_dir, o->quiet, err))
			return -1;
	return 0;
}

CLI_COMMAND(refresh, "[-q] NAME...",
	    "make changes in shared directories visible to running sessions", "SESSION...",
	    .min_args = 1);
