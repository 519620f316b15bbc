/* SPDX-License-Identifier: MIT
 *
 * The user's commands before the agent (`setup`) and after it (`finish`). Each is a shell's, in
 * the sandbox, in the project's root; what it writes is shown and recorded under a line that says
 * which it is.
 */
#include <string.h>

#include "ga/check.h"
#include "ga/clock.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/parse.h"
#include "ga/quote.h"
#include "ga/service.h"
#include "start.h"

#define TICK_MS 1000
#define READY_TICK_MS 100
#define TEXT_MAX 200  /* bytes of a command, in messages */
#define LINE_MAX_SHOWN 300

/* The line goes where the command's output goes, and in the same order. */
static const char plain_script[] = "printf '%s\\n' \"$0\"; exec /bin/sh -ec \"$1\"";

/* ---- one command */

/* Also in front of the recording: what it wrote last is for a message. */
static void on_output(void *payload, const char *p, size_t n)
{
	struct start_step *s = payload;
	size_t old;

	if (s->record)
		s->record->output(s->record->payload, p, n);
	old = s->tail_n + n <= sizeof(s->tail) ? s->tail_n
	      : n < sizeof(s->tail)	       ? sizeof(s->tail) - n : 0;
	memmove(s->tail, s->tail + s->tail_n - old, old);
	if (n > sizeof(s->tail) - old) {
		p += n - (sizeof(s->tail) - old);
		n = sizeof(s->tail) - old;
	}
	memcpy(s->tail + old, p, n);
	s->tail_n = old + n;
}

static bool on_tick(void *payload)
{
	struct start_step *s = payload;

	/* that looks at disks and limits, and is made for once a second */
	if (ga_now_ms() >= s->next_watch) {
		s->next_watch = ga_now_ms() + TICK_MS;
		if (start_watch_tick(s->watch))
			return true;
	}
	s->timed_out = s->deadline && ga_now_ms() >= s->deadline;
	return s->timed_out || (s->give_up && s->give_up(s));
}

int64_t start_step_deadline(uint64_t seconds)
{
	return seconds ? ga_now_ms() + (int64_t)seconds * 1000 : 0;
}

int start_step(struct start_step *s, struct ga_error *err)
{
	const struct ga_start *st = s->st;
	const struct ga_run_sink sink = { .output = on_output, .payload = s };
	const char *argv[] = { "/bin/sh", "-c", s->script ? s->script : plain_script, s->heading,
			       s->command, NULL };
	const struct ga_run_command c = {
		.cwd = st->session.project,
		.argv = argv,
		.envp = (const char *const *)st->spec.env.v,
		.unfiltered = st->unfiltered,
		.renames = s->watch->e->renames,
		.tick_ms = s->give_up ? READY_TICK_MS : TICK_MS,
		.tick = on_tick,
		.payload = s,
		.sink = &sink,
		.live = st->live,
		.beside = true,
		.silent = st->quiet,
		.signal = &s->signal,
		.ended = &s->ended,
	};

	s->tail_n = 0;
	s->signal = 0;
	s->timed_out = s->ended = false;
	s->record = s->watch->recorder ? ga_record_sink(s->watch->recorder) : NULL;
	return ga_run_session(st->sandbox, &c, &s->status, err);
}

char *start_last_line(const char *p, size_t n)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t from;

	while (n && strchr(" \t\r\n", p[n - 1]))
		n--;
	for (from = n; from && p[from - 1] != '\n' && p[from - 1] != '\r' &&
		       n - from < LINE_MAX_SHOWN; from--)
		;
	ga_quote_add(&b, p + from, n - from);
	return ga_buf_steal(&b);
}

/* Why a command did not come to an end of its own; NULL: it did. The caller frees it. */
char *start_step_cut(const struct start_step *s, const char *limit, uint64_t seconds)
{
	cleanup_free char *t = ga_seconds_text(seconds);

	if (s->signal)
		return ga_strdup("was interrupted");
	if (s->watch->why)
		return ga_strf("did not end: %s", s->watch->why);
	if (s->timed_out)
		return ga_strf("took longer than %s (%s)", t, limit);
	if (ga_run_lost(s->st->sandbox))
		return ga_strdup("moved the project away");
	return s->ended ? ga_strdup("was ended from outside") : NULL;
}

static void journal(const struct ga_session *s, const char *event, const char *command,
		    const char *how, int status)
{
	json_t *j = json_object();

	ga_json_set_bytes(j, "run", command);
	(void)json_object_set_new(j, "end", json_string(how));
	(void)json_object_set_new(j, "status", json_integer(status));
	(void)ga_journal(s->dir, event, j);
}

/* ---- before */

static int fail_setup(const struct start_step *s, char *cut, const char *command,
		      struct ga_error *err)
{
	cleanup_free char *why = cut ? ga_strdup(cut)
				     : ga_strf("ended with status %d", s->status);
	cleanup_free char *line = start_last_line(s->tail, s->tail_n);
	bool says = s->st->quiet && !cut && *line;

	(void)ga_fail(err, GA_ESTART, "setup: '%s' %s%s%s", command, why, says ? ": " : "",
		      says ? line : "");
	return ga_hint(err, "nothing is left of the session; 'git agent start --no-setup bash' "
			    "shows what it met, and --no-setup starts without it");
}

int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err)
{
	struct start_step s = { .watch = w, .st = st };

	if (st->resumed)
		return 0;
	s.deadline = start_step_deadline(w->e->use.setup);
	for (size_t i = 0; i < st->setup.n; i++) {
		cleanup_free char *text = ga_command_text(st->setup.v[i], TEXT_MAX);
		cleanup_free char *heading = ga_strf("== setup: %s", text), *cut = NULL;

		s.heading = heading;
		s.command = st->setup.v[i];
		if (start_step(&s, err))
			return -1;
		cut = start_step_cut(&s, "limits.setup", w->e->use.setup);
		journal(&st->session, "setup", text, cut ? cut : "exited", s.status);
		if (cut || s.status)
			return fail_setup(&s, cut, text, err);
	}
	return 0;
}

/* ---- after */

static enum ga_check_end check_end(const struct start_step *s)
{
	if (s->timed_out && !s->signal)
		return GA_CHECK_TIMED_OUT;
	return s->signal || s->ended || s->watch->why || ga_run_lost(s->st->sandbox)
		       ? GA_CHECK_INTERRUPTED : GA_CHECK_EXITED;
}

void start_run_finish(struct start_watch *w, struct ga_start *st, bool ended)
{
	struct start_step s = { .watch = w, .st = st };
	struct ga_session *session = &st->session;
	/* who wants it to end does not want to wait for these */
	bool skip = ended || w->why || ga_run_lost(st->sandbox);

	s.deadline = start_step_deadline(w->e->use.finish);
	for (size_t i = 0; i < st->finish.n; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_free char *text = ga_command_text(st->finish.v[i], TEXT_MAX);
		cleanup_free char *heading = ga_strf("== finish: %s", text);
		struct ga_check c = { GA_CHECK_NOT_RUN, 0, text };

		s.heading = heading;
		s.command = st->finish.v[i];
		if (!skip && !start_step(&s, &ignored)) {
			c.end = check_end(&s);
			c.status = c.end == GA_CHECK_EXITED ? s.status : 0;
		}
		/* one that failed is for people to look at, and the next may say more */
		skip = c.end != GA_CHECK_EXITED;
		journal(session, "finish", text, ga_check_end_name(c.end), c.status);
		ga_strv_take(&session->checks, ga_check_encode(&c));
	}
}

/* ---- what is going to be */

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

	describe(st, "setup", &st->setup);
	ga_services_parse(&st->services, &list);
	for (size_t i = 0; i < list.n; i++) {
		const struct ga_service *v = &list.v[i];
		cleanup_free char *text = ga_command_text(v->command, TEXT_MAX);
		cleanup_free char *ready = v->ready ? ga_command_text(v->ready, TEXT_MAX) : NULL;

		ga_strv_pushf(&st->banner, "service %s: %s%s%s%s", v->name, text,
			      ready ? " (ready when '" : "", ready ? ready : "",
			      ready ? "' succeeds)" : "");
	}
	describe(st, "finish", &st->finish);
}
