/* SPDX-License-Identifier: MIT
 *
 * The settings of a commit.
 */
#include <unistd.h>

#include "cli/host.h"
#include "cli/trusting.h"

/* Can the user be asked now? */
static bool can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

static void say_left_out(const struct cli_grants *g)
{
	cli_note("not trusted, and so left out: %zu of the settings in " GA_CONFIG_REPOSITORY_FILE
		 " ('git agent trust --show')", g->grants.n);
}

/* What to do about settings that are not trusted: leave them out, fail, or ask first. */
enum how { LEAVE_OUT, MUST_BE, MAY_ASK };

static int settle_trust(struct cli *c, enum how how, struct cli_grants *g, struct ga_config *conf,
			struct ga_error *err)
{
	int rc;

	conf->from.trusted = g->trusted;
	conf->from.untrusted = !g->trusted;
	if (g->trusted || how == LEAVE_OUT)
		return 0;
	if (c->untrusted) {
		say_left_out(g);
		return 0;
	}
	if (how != MAY_ASK || !can_ask())
		return cli_fail_untrusted(c, g, err);
	rc = cli_ask_trust(c, conf, g, err);
	if (rc)
		return rc < 0 ? -1 : cli_fail_untrusted(c, g, err);
	conf->from.trusted = true;
	conf->from.untrusted = false;
	return 0;
}

static int read_file(struct cli *c, const struct ga_oid *commit, enum how how,
		     struct ga_config *conf, struct ga_error *err)
{
	cleanup_(cli_grants_release) struct cli_grants g = CLI_GRANTS_INIT;

	if (cli_find_grants(c, commit, conf, &g, err))
		return -1;
	if (!g.there)
		return 0;
	return settle_trust(c, how, &g, conf, err) ||
	       ga_config_read(conf, GA_ORIGIN_REPOSITORY, GA_CONFIG_REPOSITORY_FILE, g.text.ptr,
			      g.text.len, err) ? -1 : 0;
}

static int settle(struct cli *c, const struct ga_oid *commit, enum how how, struct ga_config *ret,
		  struct ga_error *err)
{
	ga_config_copy(ret, &c->settings);
	if (commit && read_file(c, commit, how, ret, err))
		return -1;
	return ga_config_set_words(ret, &c->overrides, err);
}

int cli_settings(struct cli *c, const struct ga_oid *commit, struct ga_config *ret,
		 struct ga_error *err)
{
	return settle(c, commit, LEAVE_OUT, ret, err);
}

int cli_settings_to_run(struct cli *c, const struct ga_oid *commit, bool ask, struct ga_config *ret,
			struct ga_error *err)
{
	return settle(c, commit, ask ? MAY_ASK : MUST_BE, ret, err);
}

int cli_session_settings(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	/* a submodule's own file does not count when its session starts, and so not here either */
	if (cli_settings(c, s->id.within ? NULL : &s->id.onto, &conf, err))
		return -1;
	cli_take_settings(&c->env, &conf);
	return 0;
}
