/* SPDX-License-Identifier: MIT
 *
 * What commands that run an agent have in common.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "ga/journal.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "sessions.h"

int cli_parse_filter(const char *value, bool detach, struct cli_filter *ret, struct ga_error *err)
{
	cleanup_free char *q = value ? ga_escape(value) : NULL;
	bool filter = true;

	if (value && (!*value || !ga_parse_bool(value, &filter)))
		return ga_fail(err, GA_EUSAGE, "--terminal-filter takes on or off, not '%s'", q);
	if (value && detach) {
		(void)ga_fail(err, GA_EUSAGE, "--terminal-filter says nothing of a session without "
			      "a terminal");
		return ga_hint(err, "give it to 'git agent attach'");
	}
	*ret = (struct cli_filter){ .given = value != NULL, .off = !filter };
	return 0;
}

bool cli_unfiltered(const struct cli_filter *f, const struct ga_config *conf)
{
	return f->given ? f->off : !conf->terminal_filter;
}

int cli_session_unfiltered(struct cli *c, const struct cli_filter *f, const struct ga_session *s,
			   bool *ret, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (cli_settings(c, &s->onto, &conf, err))
		return -1;
	*ret = cli_unfiltered(f, &conf);
	return 0;
}

void cli_settle(struct cli *c, const struct ga_config *conf, const struct cli_filter *filter,
		struct ga_start_opts *ret)
{
	ret->secrets = (enum ga_secrets)conf->secrets;
	ret->secrets_add = &conf->secrets_add;
	ret->secrets_allow = &conf->secrets_allow;
	c->env.limits = conf->limits;
	c->env.use = ga_config_use(conf);
	ret->unfiltered = cli_unfiltered(filter, conf);
	free(c->notify);
	c->notify = ga_strdup(conf->notify);
	c->env.home_mode = (enum ga_home_mode)conf->home_mode;
}

static bool is_there(const void *where, const char *path)
{
	cleanup_free char *full = ga_path_join(where, path);
	struct stat st;

	return !lstat(full, &st);
}

int cli_find_exposed(struct cli *c, const struct ga_strv *paths, struct ga_strv *ret,
		     struct ga_error *err)
{
	const char *workdir = ga_repo_info(c->env.repo)->workdir;

	for (size_t i = 0; i < paths->n; i++) {
		cleanup_free char *rel = cli_resolve_path(c, paths->v[i], is_there, workdir);
		cleanup_free char *q = ga_escape(paths->v[i]);

		for (size_t n = strlen(rel); n && rel[n - 1] == '/'; n--)
			rel[n - 1] = '\0';
		if (!ga_path_relative_ok(rel) || !is_there(workdir, rel))
			return ga_fail(err, GA_EUSAGE, "--expose: there is no '%s' in the project",
				       q);
		ga_strv_take(ret, ga_path_join(workdir, rel));
	}
	return 0;
}

void cli_before_run(struct cli *c, bool quiet)
{
	if (geteuid() == 0 && !quiet)
		cli_note("warning: running as root: the sandbox holds, but an ordinary user is "
			 "safer");
	c->env.progress = c->env.progress && !quiet;
}

/* Nobody sees what is said. */
static int capture_unseen(struct cli *c, struct ga_start *st, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;

	if (!ga_start_capture(&c->env, &st->session, &st->sandbox, &r, err)) {
		cli_notify(c, st, &r);
		return 0;
	}
	(void)ga_journal(st->session.dir, "capture", json_pack("{s:s}", "failed", err->msg));
	cli_notify(c, st, NULL);
	return -1;
}

int cli_run_and_capture(struct cli *c, struct ga_start *st, bool quiet, int *ret_status,
			struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_error struct ga_error run_err = GA_ERROR_INIT;
	int rc;

	for (size_t i = 0; !quiet && i < st->banner.n; i++)
		cli_note("agent/%s: %s", st->session.name, st->banner.v[i]);
	rc = ga_start_run(&c->env, st, ret_status, &run_err);
	/* not even started: nothing was left behind and there is nothing to capture */
	if (rc && st->session.state == GA_STATE_NEW) {
		(void)ga_error_move(err, &run_err);
		return cli_not_started(err);
	}
	if (st->detach.begun)
		return capture_unseen(c, st, err);
	if (ga_start_capture(&c->env, &st->session, &st->sandbox, &r, err))
		return -1;
	if (!quiet && cli_summary(c, &st->session, &r, stderr, err))
		return -1;
	if (quiet && st->session.incomplete)
		cli_note("agent/%s: session incomplete: %s", st->session.name,
			 st->session.incomplete);
	return rc ? ga_error_move(err, &run_err) : 0;
}
