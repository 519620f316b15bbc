/* SPDX-License-Identifier: MIT
 *
 * The user's commands before the agent (`setup`) and after it (`finish`).
 */

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/config/service.h"
#include "ga/session/check.h"
#include "run-step.h"
#include "watch.h"

#define TEXT_MAX 200  /* bytes of a command, in messages */

static int fail_setup(const struct start_step *s, const struct start_stepped *how, char *cut,
		      const char *command, struct ga_error *err)
{
	cleanup_free char *why = cut ? ga_strdup(cut)
				     : ga_strf("ended with status %d", how->status);
	cleanup_free char *said = s->st->quiet && !cut ? start_said(&how->tail) : ga_strdup("");

	(void)ga_fail(err, GA_ESTART, "setup: '%s' %s%s", command, why, said);
	return ga_hint(err, "nothing is left of the session; 'git agent start --no-setup bash' "
			    "shows what it met, and --no-setup starts without it");
}

int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err)
{
	struct start_step s = { .watch = w, .st = st };

	if (st->resumed)
		return 0;
	s.deadline = start_step_deadline(w->e->use.setup);
	for (size_t i = 0; i < st->commands.setup.n; i++) {
		cleanup_free char *text = ga_command_text(st->commands.setup.v[i], TEXT_MAX);
		cleanup_free char *heading = ga_strf("== setup: %s", text), *cut = NULL;
		struct start_stepped how;

		s.heading = heading;
		s.command = st->commands.setup.v[i];
		if (start_step(&s, &how, err))
			return -1;
		cut = start_step_cut(&s, &how, "limits.setup", w->e->use.setup);
		start_note_step(st, "setup", NULL, text, cut ? cut : "exited", how.status);
		if (cut || how.status)
			return fail_setup(&s, &how, cut, text, err);
	}
	return 0;
}

#define CONFLICT 101

/* The agent wrote the git dir and its configuration: they are used inside alone. */
int start_run_update(struct start_watch *w, struct ga_start *st, struct ga_error *err)
{
	struct ga_session *session = &st->session;
	struct start_step s = { .watch = w, .st = st };
	cleanup_free char *message = NULL, *word = NULL, *heading = NULL, *run = NULL, *cut = NULL;
	cleanup_free char *said = NULL;
	struct start_stepped how;

	if (!st->update)
		return 0;
	message = ga_strf("Merge %s into agent/%s", st->update, session->name);
	word = ga_quote_shell(message);
	heading = ga_strf("== merging %s", st->update);
	run = ga_strf("git -c core.hooksPath=/dev/null -c commit.gpgSign=false merge --no-edit "
		      "-m %s %s && exit; "
		      "[ \"$(git rev-parse -q --verify MERGE_HEAD)\" != %s ] || exit %d; "
		      "exit 1", word, GA_HEX(&session->view.update),
		      GA_HEX(&session->view.update), CONFLICT);
	s.heading = heading;
	s.command = run;
	s.deadline = start_step_deadline(w->e->use.setup);
	if (start_step(&s, &how, err))
		return -1;
	cut = start_step_cut(&s, &how, "limits.setup", w->e->use.setup);
	start_note_step(st, "update", NULL, st->update, cut ? cut : "exited", how.status);
	if (!cut && how.status == CONFLICT)
		ga_strv_pushf(&session->run.remarks, "merging %s left conflicts inside, for the "
			      "agent to resolve", st->update);
	else if (cut || how.status) {
		said = cut ? ga_strf(": it %s", cut) : start_said(&how.tail);
		(void)ga_fail(err, GA_ESTART, "cannot merge %s into session '%s'%s", st->update,
			      session->name, said);
		return ga_hint(err, "'git agent resume %s' continues it without that",
			       session->name);
	}
	return 0;
}

static enum ga_check_end check_end(const struct start_step *s, const struct start_stepped *how)
{
	if (how->timed_out && !how->signal)
		return GA_CHECK_TIMED_OUT;
	return how->signal || how->ended || s->watch->why || ga_run_facts(s->st->sandbox)->lost
		       ? GA_CHECK_INTERRUPTED : GA_CHECK_EXITED;
}

void start_run_finish(struct start_watch *w, struct ga_start *st, bool ended)
{
	struct start_step s = { .watch = w, .st = st, .after = true };
	struct ga_session *session = &st->session;
	/* if somebody or a limit ended the agent, nobody wants to wait for these */
	bool skip = ended || w->why || ga_run_facts(st->sandbox)->lost;

	s.deadline = start_step_deadline(w->e->use.finish);
	for (size_t i = 0; i < st->commands.finish.n; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_free char *text = ga_command_text(st->commands.finish.v[i], TEXT_MAX);
		cleanup_free char *heading = ga_strf("== finish: %s", text);
		struct ga_check c = { GA_CHECK_NOT_RUN, 0, text };
		struct start_stepped how;

		s.heading = heading;
		s.command = st->commands.finish.v[i];
		if (!skip && !start_step(&s, &how, &ignored)) {
			c.end = check_end(&s, &how);
			c.status = c.end == GA_CHECK_EXITED ? how.status : 0;
		}
		/* one that exited with failure does not stop the next, which may tell more */
		skip = c.end != GA_CHECK_EXITED;
		start_note_step(st, "finish", NULL, text, ga_check_end_name(c.end), c.status);
		ga_strv_take(&session->run.checks, ga_check_encode(&c));
	}
}

static void describe(struct ga_start *st, const char *what, const struct ga_strv *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		cleanup_free char *text = ga_command_text(commands->v[i], TEXT_MAX);

		ga_strv_pushf(&st->banner, "%s: %s", what, text);
	}
}

void start_describe_commands(struct ga_start *st)
{
	cleanup_services struct ga_services list = GA_SERVICES_INIT;

	describe(st, "setup", &st->commands.setup);
	ga_services_parse(&st->commands.services, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct ga_service *v = &list.v[i];
		cleanup_free char *text = ga_command_text(v->command, TEXT_MAX);
		cleanup_free char *ready = v->ready ? ga_command_text(v->ready, TEXT_MAX) : NULL;

		ga_strv_pushf(&st->banner, "service %s: %s%s%s%s", v->name, text,
			      ready ? " (ready when '" : "", ready ? ready : "",
			      ready ? "' succeeds)" : "");
	}
	describe(st, "finish", &st->commands.finish);
}
