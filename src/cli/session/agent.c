/* SPDX-License-Identifier: MIT
 *
 * What the commands that run an agent (start, resume, shell, attach) have in common.
 */
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/host.h"
#include "cli/sessions.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/session/journal.h"

int cli_parse_filter(const char *value, bool detach, struct cli_filter *ret, struct ga_error *err)
{
	cleanup_free char *q = value ? ga_escape(value) : NULL;
	bool filter = true;

	if (value && (!*value || !ga_parse_bool(value, &filter)))
		return ga_fail(err, GA_EUSAGE, "--terminal-filter takes on or off, not '%s'", q);
	if (value && detach)
		return ga_fail(err, GA_EUSAGE, "--terminal-filter cannot be used with --detach: "
			       "there is no terminal" GA_HINT "give it to 'git agent attach'");
	*ret = (struct cli_filter){ .given = value != NULL, .off = !filter };
	return 0;
}

static bool unfiltered(const struct cli_filter *f, const struct ga_config *conf)
{
	return f->given ? f->off : !conf->terminal_filter;
}

int cli_session_unfiltered(struct cli *c, const struct cli_filter *f, const struct ga_session *s,
			   bool *ret, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (cli_settings(c, &s->id.onto, &conf, err))
		return -1;
	*ret = unfiltered(f, &conf);
	return 0;
}

void cli_apply_settings(struct cli *c, const struct ga_config *conf,
			const struct cli_filter *filter, struct ga_start_opts *ret)
{
	cli_take_settings(&c->env, conf);
	ret->unfiltered = unfiltered(filter, conf);
	free(c->notify);
	c->notify = ga_strdup(conf->notify);
	c->keep |= conf->keep_unchanged;
}

/* Set one key, and note it as KEY=VALUE in `ret`, for the session to be resumed with the same. */
static int set_word(struct ga_config *conf, struct ga_strv *ret, const char *key, const char *value,
		    struct ga_error *err)
{
	ga_strv_pushf(ret, "%s=%s", key, value);
	return ga_config_set_key(conf, key, value, err);
}

int cli_set_network(const struct cli_network *o, const struct ga_strv *former,
		    struct ga_config *conf, struct ga_strv *ret, struct ga_error *err)
{
	const char *mode = o->none ? "none" : o->mode;

	if (o->none && o->mode && strcmp(o->mode, "none") != 0)
		return ga_fail(err, GA_EUSAGE,
			       "--network and --no-network cannot be used together");
	if (!mode && !o->allow.n && former) {
		ga_strv_extend(ret, former);
		return ga_config_set_words(conf, former, err);
	}
	if (mode && strcmp(mode, "allow") != 0 && o->allow.n)
		return ga_fail(err, GA_EUSAGE, "--allow goes with --network allow only" GA_HINT
			       "without --network, --allow means just that");
	if ((mode || o->allow.n) &&
	    set_word(conf, ret, "network.mode", mode ? mode : "allow", err))
		return -1;
	for (size_t i = 0; i < o->allow.n; i++)
		if (set_word(conf, ret, "network.allow", o->allow.v[i], err))
			return -1;
	return 0;
}

/* Where network.allow was set, if nothing uses it, as the mode is not `allow`; else NULL. Nothing
 * is wrong where the command line chose the mode: the list may be kept for other sessions. */
static char *unused_list(const struct ga_config *conf)
{
	return conf->net.allow.n && conf->net.mode != GA_NETWORK_ALLOW &&
	       ga_config_set_by(conf, "network.mode") != GA_ORIGIN_COMMAND ?
		       ga_config_place(conf, "network.allow") : NULL;
}

void cli_apply_network(struct cli *c, const struct ga_config *conf, const struct ga_strv *options)
{
	free(c->allow_at);
	c->allow_at = unused_list(conf);
	c->env.net = (struct ga_env_network){
		.mode = (enum ga_network)conf->net.mode,
		.allow = &conf->net.allow,
		.sockets = &conf->net.sockets,
		.publish = &conf->net.publish,
		.allow_at = c->allow_at,
		.options = options,
		.by_repository = conf->net.mode > c->settings.net.mode,
	};
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

int cli_take_run(struct cli *c, const struct cli_run_options *o, struct cli_detach *detach,
		 struct ga_start_opts *so, struct cli_filter *ret_filter, struct ga_error *err)
{
	int rc;

	c->untrusted = o->untrusted;
	c->verbose = o->verbose;
	c->keep = o->keep;
	so->message = o->message;
	so->no_services = o->no_services;
	so->no_finish = o->no_finish;
	so->quiet = o->quiet;
	if (cli_parse_filter(o->filter, o->detach, ret_filter, err))
		return -1;
	if (!detach)
		return 0;
	so->detach = &detach->how;
	if (!o->detach) {
		cli_may_leave(c, detach);
		return 0;
	}
	rc = cli_detach(c, o->quiet, detach, err);
	return rc < 0 ? cli_not_started(err) : rc;
}

void cli_show_progress(struct cli *c, bool quiet)
{
	c->env.progress = c->verbose || (c->env.progress && !quiet);
}

void cli_before_run(struct cli *c, bool quiet)
{
	if (geteuid() == 0 && !quiet)
		cli_note("warning: running as root: the sandbox holds, but an ordinary user is "
			 "safer");
	cli_show_progress(c, quiet);
}

/* A session that changed nothing goes, if its command ended well and by itself. First its socket,
 * which is in the directory that moves. */
static void drop_unchanged(struct cli *c, struct ga_start *st, bool quiet)
{
	bool left = false;

	if (c->status < 0 || (!c->rm && (c->keep || c->status || st->stopped ||
					 cli_has_work(&st->session))))
		return;
	ga_live_close(ga_steal(&st->live));
	/* else the summary says it */
	if (cli_drop_at_end(c, &st->session, &left) && left && quiet)
		cli_say_dropped(&st->session, left);
}

/* Of a session without a terminal: how the capture went is for the journal and the notification. */
static int capture_unseen(struct cli *c, struct ga_start *st, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;

	if (!ga_start_capture(&c->env, &st->session, st->lock, &st->sandbox, &r, err)) {
		drop_unchanged(c, st, true);
		cli_notify(c, st, &r);
		return 0;
	}
	(void)ga_journal(st->session.dir, "capture", json_pack("{s:s}", "failed", err->msg));
	cli_notify(c, st, NULL);
	return -1;
}

int cli_run_and_capture(struct cli *c, struct ga_start *st, bool quiet, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_error struct ga_error run_err = GA_ERROR_INIT;
	int rc;

	for (size_t i = 0; !quiet && i < st->banner.n; i++)
		cli_note("agent/%s: %s", st->session.name, st->banner.v[i]);
	rc = ga_start_run(&c->env, st, &c->status, &run_err);
	/* the agent was never started: there is nothing to capture */
	if (rc && st->session.state == GA_STATE_NEW) {
		(void)ga_error_move(err, &run_err);
		return cli_not_started(err);
	}
	if (st->detach.now)
		return capture_unseen(c, st, err);
	if (ga_start_capture(&c->env, &st->session, st->lock, &st->sandbox, &r, err))
		return -1;
	drop_unchanged(c, st, quiet);
	if (!quiet && cli_summary(c, &st->session, &r, stderr, err))
		return -1;
	/* a remark says what went wrong, such as a service that ended: --quiet does not hide it */
	for (size_t i = 0; quiet && i < st->session.run.remarks.n; i++)
		cli_note("agent/%s: %s", st->session.name, st->session.run.remarks.v[i]);
	if (quiet && st->session.view.incomplete)
		cli_note("agent/%s: session incomplete: %s", st->session.name,
			 st->session.view.incomplete);
	return rc ? ga_error_move(err, &run_err) : 0;
}
