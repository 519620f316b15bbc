/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"

struct options {
	bool json, journal, text, replay;
	const char *speed, *max_idle;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_JSON,
	CLI_FLAG(journal, "journal", 0, "show what happened in it, oldest event first"),
	CLI_FLAG(text, "text", 0, "print what its terminal showed, as plain text"),
	CLI_FLAG(replay, "replay", 0, "play what was recorded of it at the original speed"),
	CLI_VALUE(speed, "speed", 0, "N", "with --replay: play N times as fast"),
	CLI_VALUE(max_idle, "max-idle", 0, "SECONDS", "with --replay: the longest pause"),
};

static void print_time(const char *label, uint64_t t)
{
	char text[CLI_TIME_MAX] = "";

	if (t)
		cli_time_text((time_t)t, text);
	if (*text)
		(void)printf("%-12s %s\n", label, text);
}

static void print_oid(const char *label, const struct ga_oid *oid)
{
	if (!ga_oid_is_zero(oid))
		(void)printf("%-12s %s\n", label, GA_HEX(oid));
}

static void print_list(const char *label, const struct ga_strv *sv, bool quote)
{
	for (size_t i = 0; i < sv->n; i++) {
		cleanup_free char *q = quote ? ga_quote(sv->v[i]) : ga_strdup(sv->v[i]);

		(void)printf("%-12s %s\n", i ? "" : label, q);
	}
}

static void print_flags(const struct ga_report *r)
{
	cleanup_free char *counts = cli_flag_counts(r), *verdicts = cli_verdict_counts(r);

	if (*counts)
		(void)printf("%-12s %s%s%s\n", "flags", counts, *verdicts ? "; " : "", verdicts);
}

static void print_command(const char *label, const struct ga_strv *command)
{
	cleanup_free char *line = ga_quote_shell_words(command), *q = ga_quote(line);

	if (command->n)
		(void)printf("%-12s %s\n", label, q);
}

static void print_arrival(const struct ga_session *s)
{
	const char *in = s->result.arrived_in, *ref = in ? ga_ref_branch(in) : NULL;
	cleanup_free char *q = ga_quote(ref ? ref : in ? in : "");

	(void)printf("%-12s %s%s%s\n", "arrived", s->result.arrived, in ? ", in " : "", in ? q
		     : "");
}

static void print_live(const struct ga_live_peer *p)
{
	cleanup_free char *idle = ga_seconds_text(p->is.idle / 1000);

	(void)printf("%-12s %s%s\n", "terminal", !p->is.detached ? "its own" : p->is.attached ?
		     "attached" : "none", p->is.shells ? ", and others" : "");
	(void)printf("%-12s %s\n", "silent for", idle);
}

/* With `summary`, cli_summary() follows and says what came of the session: it is left out here. */
static void print_text(const struct ga_session *s, const struct ga_report *r, bool running,
		       bool summary, const struct ga_live_peer *peer)
{
	cleanup_free char *project = ga_quote(s->id.project);
	cleanup_strv struct ga_strv shared = GA_STRV_INIT;

	(void)printf("%-12s %s\n", "session", s->name);
	(void)printf("%-12s %s\n", "state", running ? "running" : ga_state_name(s->state));
	if (peer->fd >= 0)
		print_live(peer);
	print_command("command", &s->id.command);
	if (s->id.remote) {
		cleanup_free char *q = ga_quote(s->id.remote);

		(void)printf("%-12s %s\n", "fetched from", q);
	}
	print_command("resumed with", &s->run.resumed_with);
	(void)printf("%-12s %s\n", "project", project);
	(void)printf("%-12s %s\n", "branch", ga_ref_branch(s->id.branch));
	print_oid("onto", &s->id.onto);
	if (!ga_oid_equal(&s->id.onto, &s->id.base))
		print_oid("base", &s->id.base);
	print_oid("tip", &s->result.tip);
	print_oid("held", &s->result.held);
	print_oid("landed", &s->result.landed);
	if (s->result.arrived)
		print_arrival(s);
	print_time("started", s->id.started);
	print_time("resumed", s->run.resumed);
	print_time("finished", s->run.finished);
	if (s->run.exit_status >= 0)
		(void)printf("%-12s %d\n", "exit status", s->run.exit_status);
	/* after the capture it is the first of the notes */
	if (s->view.incomplete && !s->result.notes.n && !summary)
		(void)printf("%-12s %s\n", "incomplete", s->view.incomplete);
	ga_session_shared(s, &shared);
	print_list("shared", &shared, true);
	print_list("submodules", &s->id.submodules, true);
	print_list("kept out", &s->view.masked, true);
	print_list("left out", &s->view.skipped, false);
	print_list("limits", &s->run.limits, false);
	(void)printf("%-12s %s\n", "network", s->run.network ? s->run.network : "host");
	if (running)
		print_list("published", &s->run.published, true);
	if (summary)
		return;
	print_flags(r);
	print_list("uncommitted", &s->result.left_out, true);
	print_list("notes", &s->result.notes, false);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;
	cleanup_live_peer struct ga_live_peer peer = GA_LIVE_PEER_INIT;
	bool running, summary;

	if ((o->speed || o->max_idle) && !o->replay)
		return ga_fail(err, GA_EUSAGE, "--speed and --max-idle are for --replay");
	if (o->journal || o->text || o->replay)
		return cli_show_journal(c, argc ? argv[0] : NULL,
					&(struct cli_journal){ o->json, o->text, o->replay,
							       o->speed, o->max_idle }, err);
	if (cli_read_session(c, argc ? argv[0] : NULL, &s, &lock, err))
		return -1;
	/* a review, for example, holds the lock as well */
	running = lock < 0 && cli_has_running_state(&s);
	if ((lock >= 0 && cli_notice_landed(c, &s, err)) ||
	    (!running && ga_report_read(c->env.repo, &s, &r, err) < 0))
		return -1;
	if (running)
		cli_look_live(&s, &peer);
	if (o->json)
		return cli_print_json(cli_session_json(&s, running, &r, &peer), err);
	summary = !running && s.state == GA_STATE_CAPTURED;
	print_text(&s, &r, running, summary, &peer);
	if (!summary)
		return 0;
	(void)putchar('\n');
	return cli_summary(c, &s, &r, stdout, err);
}

const struct cli_command cli_show = {
	.name = "show",
	.usage = "[--journal | --text | --replay [--speed N] [--max-idle SECONDS]] [--json] [NAME]",
	.summary = "show one session, what happened in it, or its terminal",
	CLI_OPTIONS(opts),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.max_args = 1,
	.words = "SESSION",
	.run = run,
};
