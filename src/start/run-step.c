/* SPDX-License-Identifier: MIT
 *
 * Running a command of the user's in the sandbox, by a shell, in the project's root. What it writes
 * is shown and recorded, below a heading that says which it is.
 */
#include <string.h>

#include "ga/base/clock.h"
#include "ga/base/json.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/session/journal.h"
#include "run-step.h"
#include "watch.h"

#define TICK_MS 1000
#define READY_TICK_MS 100
#define LINE_MAX_SHOWN 300

/* The heading is printed inside, so that it goes where the command's output goes, and before it. */
static const char plain_script[] = "printf '%s\\n' \"$0\"; exec /bin/sh -ec \"$1\"";

/* A command that runs. */
struct running {
	const struct start_step *s;
	struct start_stepped *how;
	const struct ga_run_sink *record; /* NULL: none */
	int64_t next_watch;
};

/* Pass output to the recording, and keep the end of it, for a message. */
static void on_output(void *payload, const char *p, size_t n)
{
	struct running *r = payload;

	if (r->record)
		r->record->output(r->record->payload, p, n);
	ga_tail_add(&r->how->tail, p, n);
}

static bool on_tick(void *payload)
{
	struct running *r = payload;
	const struct start_step *s = r->s;

	/* disks and limits need be looked at only once a second */
	if (ga_now_ms() >= r->next_watch) {
		r->next_watch = ga_now_ms() + TICK_MS;
		if (start_watch_tick(s->watch))
			return true;
	}
	r->how->timed_out = s->deadline && ga_now_ms() >= s->deadline;
	return r->how->timed_out || (s->give_up && s->give_up(s->payload));
}

int64_t start_step_deadline(uint64_t seconds)
{
	return seconds ? ga_now_ms() + (int64_t)seconds * 1000 : 0;
}

int start_step(const struct start_step *s, struct start_stepped *ret, struct ga_error *err)
{
	const struct ga_start *st = s->st;
	struct running r = { .s = s, .how = ret, .record = s->watch->recorder ?
						 ga_record_sink(s->watch->recorder) : NULL };
	const struct ga_run_sink sink = { .output = on_output, .payload = &r };
	const char *argv[] = { "/bin/sh", "-c", s->script ? s->script : plain_script, s->heading,
			       s->command, NULL };
	const struct ga_run_command c = {
		.cwd = st->session.id.project,
		.argv = argv,
		.envp = (const char *const *)st->spec.env.v,
		.unfiltered = st->unfiltered,
		.renames = s->watch->e->conf.inside.rename,
		.tick_ms = s->give_up ? READY_TICK_MS : TICK_MS,
		.tick = on_tick,
		.payload = &r,
		.sink = &sink,
		.live = st->live,
		.beside = true,
		.after = s->after,
		.silent = st->quiet,
		.signal = &ret->signal,
		.ended = &ret->ended,
		.detached = st->detach.now,
	};

	*ret = (struct start_stepped){ 0 };
	return ga_run_session(st->sandbox, &c, &ret->status, err);
}

char *start_said(const struct ga_tail *t)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t n = t->n, from;

	while (n && strchr(" \t\r\n", t->v[n - 1]))
		n--;
	for (from = n; from && t->v[from - 1] != '\n' && t->v[from - 1] != '\r' &&
		       n - from < LINE_MAX_SHOWN; from--)
		;
	if (n)
		ga_buf_adds(&b, ": ");
	ga_quote_add(&b, t->v + from, n - from);
	return ga_buf_steal(&b);
}

void start_note_step(const struct ga_start *st, const char *event, const char *name,
		     const char *text, const char *end, int status)
{
	json_t *j = json_object();

	if (name)
		ga_json_set_bytes(j, "name", name);
	ga_json_set_bytes(j, "run", text);
	(void)json_object_set_new(j, "end", json_string(end));
	(void)json_object_set_new(j, "status", json_integer(status));
	(void)ga_journal(st->session.dir, event, j);
}

char *start_step_cut(const struct start_step *s, const struct start_stepped *how,
		     const char *limit, uint64_t seconds)
{
	cleanup_free char *t = ga_seconds_text(seconds);

	if (how->signal)
		return ga_strdup("was interrupted");
	if (s->watch->why)
		return ga_strf("did not end: %s", s->watch->why);
	if (how->timed_out)
		return ga_strf("took longer than %s (%s)", t, limit);
	if (ga_run_facts(s->st->sandbox)->lost)
		return ga_strdup("moved the project away");
	return how->ended ? ga_strdup("was ended from outside") : NULL;
}
