/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/land/guard.h"

struct options {
	bool json;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(json, "json", 0, "print JSON (docs/json.md), with status"),
};

void cli_refresh_guard(struct cli *c)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;

	if (ga_guard_idle(c->env.repo, &c->env.config))
		return;
	if (ga_guard_refresh(c->env.repo, c->env.state_dir, true, NULL, &err))
		cli_note("warning: cannot update the guard: %s", err.msg);
}

static int print_json(const struct ga_guard *g, struct ga_error *err)
{
	json_t *o = json_object();

	ga_json_set(o, "on", json_boolean(g->on));
	ga_json_set(o, "undecided", json_integer((json_int_t)g->undecided));
	ga_json_set(o, "sessions", json_integer((json_int_t)g->sessions));
	ga_json_set(o, "hooks", json_boolean(g->installed));
	ga_json_set(o, "in_use", json_boolean(g->installed && !g->elsewhere));
	return cli_print_json(o, err);
}

static void print_text(const struct ga_guard *g)
{
	cleanup_free char *flags = ga_count(g->undecided, "flag", "flags");
	cleanup_free char *sessions = ga_count(g->sessions, "session", "sessions");

	(void)printf("guard        %s\n", g->on ? "on: high paths are held too" : "off");
	(void)printf("undecided    %s of %s\n", flags, sessions);
	if (g->on || g->installed)
		(void)printf("hooks        %s\n", g->installed ? "beside yours, by core.hooksPath" :
			     "not installed: nothing is undecided");
	if (g->elsewhere)
		(void)printf("%-12s not in use: another core.hooksPath overrides it ('git config "
			     "--show-origin --get-all core.hooksPath')\n", "");
}

static int turn(struct cli *c, bool on, struct ga_error *err)
{
	struct ga_guard g;

	if (ga_guard_set(c->env.repo, &c->env.config, on, err) ||
	    ga_guard_refresh(c->env.repo, c->env.state_dir, true, &g, err))
		return -1;
	if (g.on != on)
		return ga_fail(err, GA_EFATAL, "another value of agent.guard overrides that of the "
			       "repository" GA_HINT "'git config --show-scope --get-all "
			       "agent.guard' shows where");
	cli_note("the guard is %s%s", on ? "on" : "off",
		 on && g.installed ? ", its hooks are there" : "");
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	const char *word = argc ? argv[0] : "status";
	struct ga_guard g;

	if (strcmp(word, "status") != 0 && o->json)
		return ga_fail(err, GA_EUSAGE, "--json goes with status");
	if (!strcmp(word, "on") || !strcmp(word, "off"))
		return turn(c, !strcmp(word, "on"), err);
	if (strcmp(word, "status") != 0)
		return ga_fail(err, GA_EUSAGE, "guard takes on, off or status, not '%s'",
			       word);
	if (ga_guard_refresh(c->env.repo, c->env.state_dir, false, &g, err))
		return -1;
	if (o->json)
		return print_json(&g, err);
	print_text(&g);
	return 0;
}

CLI_COMMAND(guard, "[on | off | status [--json]]",
	    "hold high flags too, and keep plain git from merging what is undecided",
	    "on|off|status");
