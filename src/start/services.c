/* SPDX-License-Identifier: MIT
 *
 * The user's commands that run beside the agent (`services`): started before it, waited for until
 * they are ready, ended after it.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/quote.h"
#include "ga/config/service.h"
#include "run-step.h"
#include "watch.h"

#define END_MS 10000 /* from being asked to end until they are killed */
#define TEXT_MAX 200

/* Repeats a service's `ready` command until it succeeds. Its output is shown only if the wait is
 * cut short. */
static const char ready_script[] =
	"printf '%s\\n' \"$0\"\n"
	"trap 'printf \"%s\\n\" \"$out\"; exit 1' HUP INT TERM\n"
	"until out=$(/bin/sh -ec \"$1\" 2>&1 </dev/null); do sleep 0.2; done\n";

/* Prints the heading, and the lines that a service wrote last. */
static const char tail_script[] = "printf '%s\\n' \"$0\" \"$1\"";

/* The service that is waited for. */
struct waiting {
	const struct ga_sandbox *sb;
	size_t number;
};

/* Has it ended, other than with success? */
static bool is_over(const struct ga_sandbox *sb, size_t i, struct ga_run_service_state *ret)
{
	ga_run_service_state(sb, i, ret);
	/* one that ended with success may have put itself into the background */
	return ret->over && (ret->failed || ret->status);
}

/* For struct start_step. */
static bool has_failed(void *payload)
{
	const struct waiting *w = payload;
	struct ga_run_service_state state;

	return is_over(w->sb, w->number, &state);
}

static char *how_it_ended(const struct ga_run_service_state *state)
{
	return state->failed ? ga_strf("could not be run: %s", strerror(state->status))
			     : ga_strf("ended with status %d", state->status);
}

static void note(const struct ga_start *st, const struct ga_service *v, const char *end, int status)
{
	cleanup_free char *text = ga_command_text(v->command, TEXT_MAX);

	start_note_step(st, "service", v->name, text, end, status);
}

_Static_assert(GA_SERVICES_MAX <= GA_RUN_SERVICES_MAX, "settings take more than can be run");

static int start_all(struct start_watch *w, struct ga_start *st, const struct ga_services *list,
		     struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(&st->session, "services"), *q = ga_escape(dir);

	if (mkdir(dir, 0700) && errno != EEXIST)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create '%s'", q);
	for (size_t i = 0; i < list->n; i++) {
		const char *const argv[] = { "/bin/sh", "-ec", list->v[i].command, NULL };
		const struct ga_run_service v = {
			.name = list->v[i].name, .cwd = st->session.id.project, .argv = argv,
			.envp = (const char *const *)st->spec.env.v,
			.renames = w->e->conf.inside.rename, .log = dir,
		};

		if (ga_run_service(st->sandbox, &v, err))
			return -1;
	}
	return 0;
}

/* By a command in the sandbox, so that it is shown and recorded like all of its output. */
static void show_tail(const struct start_step *s, const struct ga_service *v,
		      const struct ga_run_service_state *state)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *heading = ga_strf("== service %s wrote last:", v->name);
	struct start_step show = { .watch = s->watch, .st = s->st, .heading = heading,
				   .script = tail_script };
	struct start_stepped how;

	ga_quote_add_text(&text, state->tail->v, state->tail->n);
	while (text.len && text.ptr[text.len - 1] == '\n')
		ga_buf_chomp(&text);
	show.command = text.ptr;
	if (text.len)
		(void)start_step(&show, &how, GA_IGNORED);
}

static int fail_service(const struct start_step *s, const struct ga_service *v, const char *how,
			const struct ga_run_service_state *state, struct ga_error *err)
{
	cleanup_free char *said = s->st->quiet ? start_said(state->tail) : ga_strdup("");

	(void)ga_fail(err, GA_ESTART, "service '%s' %s%s", v->name, how, said);
	return ga_hint(err, s->st->resumed ?
		       "--no-services goes on without them" :
		       "nothing is left of the session; 'git agent start --no-services bash' shows "
		       "what it met, and --no-services starts without them");
}

static int wait_ready(struct start_step *s, const struct waiting *w, const struct ga_service *v,
		      struct ga_error *err)
{
	cleanup_free char *text = ga_command_text(v->ready, TEXT_MAX);
	cleanup_free char *heading = ga_strf("== service %s: until %s", v->name, text);
	cleanup_free char *cut = NULL, *how = NULL;
	const struct ga_use_limits *l = &s->watch->e->use;
	struct ga_run_service_state state;
	struct start_stepped stepped;

	s->heading = heading;
	s->command = v->ready;
	if (start_step(s, &stepped, err))
		return -1;
	if (is_over(w->sb, w->number, &state)) {
		cut = how_it_ended(&state);
		how = ga_strf("%s before it was ready", cut);
	} else {
		cut = start_step_cut(s, &stepped, "limits.ready", l->ready);
		if (!cut && !stepped.status)
			return 0;
		how = ga_strf("is not ready: '%s' %s", text, cut ? cut : "failed");
	}
	/* a user who interrupted it does not want to read more */
	if (!stepped.signal)
		show_tail(s, v, &state);
	return fail_service(s, v, how, &state, err);
}

int start_run_services(struct start_watch *w, struct ga_start *st, struct ga_error *err)
{
	cleanup_services struct ga_services list = GA_SERVICES_INIT;
	struct waiting wait = { .sb = st->sandbox };
	struct start_step step = { .watch = w, .st = st, .script = ready_script,
				   .give_up = has_failed, .payload = &wait };

	ga_services_parse(&st->commands.services, &list);
	if (!list.n)
		return 0;
	if (start_all(w, st, &list, err))
		return -1;
	step.deadline = start_step_deadline(w->e->use.ready);
	for (wait.number = 0; wait.number < list.n; wait.number++)
		if (list.v[wait.number].ready &&
		    wait_ready(&step, &wait, &list.v[wait.number], err))
			return -1;
	for (size_t i = 0; i < list.n; i++) {
		struct ga_run_service_state state;
		cleanup_free char *how = NULL;

		if (!is_over(st->sandbox, i, &state))
			continue;
		how = how_it_ended(&state);
		show_tail(&step, &list.v[i], &state);
		return fail_service(&step, &list.v[i], how, &state, err);
	}
	for (size_t i = 0; i < list.n; i++)
		note(st, &list.v[i], "runs", 0);
	return 0;
}

void start_end_services(struct ga_start *st)
{
	cleanup_services struct ga_services list = GA_SERVICES_INIT;
	struct ga_run_service_state state;
	bool early[GA_RUN_SERVICES_MAX] = { false };
	size_t n = ga_run_services(st->sandbox);

	ga_services_parse(&st->commands.services, &list);
	n = n < list.n ? n : list.n;
	for (size_t i = 0; i < n; i++)
		early[i] = is_over(st->sandbox, i, &state);
	ga_run_services_end(st->sandbox, END_MS);
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *how = NULL, *said = NULL;

		ga_run_service_state(st->sandbox, i, &state);
		how = state.over ? how_it_ended(&state) : ga_strdup("did not end");
		note(st, &list.v[i], early[i] ? how : "ended", state.status);
		if (!early[i])
			continue;
		said = start_said(state.tail);
		ga_strv_pushf(&st->session.run.remarks, "service %s %s before the agent did%s "
			      "('git agent logs --service %s %s')", list.v[i].name, how, said,
			      list.v[i].name, st->session.name);
	}
}
