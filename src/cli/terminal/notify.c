/* SPDX-License-Identifier: MIT
 *
 * Tells the user that a session without a terminal has ended.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/session/journal.h"
#include "ga/sys/process.h"

#define TIMEOUT_MS 30000

/* Words of ours, names that were checked, and numbers: nothing of the agent's. */
static void choose_words(const struct cli *c, const struct ga_session *s, const struct ga_report *r,
			 struct ga_strv *ret)
{
	size_t open = r ? ga_report_open(r) : 0;

	if (strcmp(c->notify, "desktop") != 0) {
		ga_strv_push(ret, c->notify);
		return;
	}
	ga_strv_push(ret, "notify-send");
	ga_strv_push(ret, "--app-name=git agent");
	ga_strv_push(ret, "--");
	ga_strv_pushf(ret, "agent/%s has ended", s->name);
	if (!r)
		ga_strv_push(ret, "What it did could not be captured.");
	else if (s->state == GA_STATE_DROPPED)
		ga_strv_push(ret, "It changed nothing.");
	else if (open)
		ga_strv_pushf(ret, "Exit status %d, %zu open flag%s.", s->run.exit_status, open,
			      open == 1 ? "" : "s");
	else
		ga_strv_pushf(ret, "Exit status %d.", s->run.exit_status);
}

static void choose_environment(const struct ga_session *s, const struct ga_report *r,
			       struct ga_strv *ret)
{
	cleanup_strv struct ga_strv given = GA_STRV_INIT;

	ga_user_environ(&given);
	for (size_t i = 0; i < given.n; i++)
		if (strncmp(given.v[i], "GIT_AGENT_", 10) != 0)
			ga_strv_push(ret, given.v[i]);
	ga_strv_pushf(ret, "GIT_AGENT_SESSION=%s", s->name);
	ga_strv_pushf(ret, "GIT_AGENT_PROJECT=%s", s->id.project);
	ga_strv_pushf(ret, "GIT_AGENT_STATE=%s",
		      ga_state_name(r ? s->state : GA_STATE_INTERRUPTED));
	ga_strv_pushf(ret, "GIT_AGENT_EXIT_STATUS=%d", s->run.exit_status);
	ga_strv_pushf(ret, "GIT_AGENT_FLAGS_OPEN=%zu", r ? ga_report_open(r) : 0);
}

void cli_notify(const struct cli *c, struct ga_start *st, const struct ga_report *r)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT, env = GA_STRV_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *dir = ga_strdup(st->session.dir);
	struct ga_process p = GA_PROCESS_INIT;
	int status = 0;

	if (!c->notify || !strcmp(c->notify, "none"))
		return;
	choose_words(c, &st->session, r, &words);
	choose_environment(&st->session, r, &env);
	/* let go of the session first: whoever is told may want to work on it at once */
	ga_start_release(st);
	p.argv = (const char *const *)words.v;
	p.envp = (const char *const *)env.v;
	p.timeout_ms = TIMEOUT_MS;
	if (ga_process_run(&p, &status, &err))
		(void)ga_journal(dir, "notify", json_pack("{s:s}", "failed", err.msg));
	else
		(void)ga_journal(dir, "notify", json_pack("{s:i}", "status", status));
}
