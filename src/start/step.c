/* SPDX-License-Identifier: MIT
 *
 * Running a command of the user's in the sandbox, by a shell, in the project's root. What it writes
 * is shown and recorded, below a heading that says which it is.
 */
#include <string.h>

#include "ga/clock.h"
#include "ga/parse.h"
#include "ga/quote.h"
#include "step.h"
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
	struct start_stepped *how = r->how;
	size_t old;

	if (r->record)
		r->record->output(r->record->payload, p, n);
	old = how->tail_n + n <= sizeof(how->tail) ? how->tail_n
	      : n < sizeof(how->tail)		   ? sizeof(how->tail) - n : 0;
	memmove(how->tail, how->tail + how->tail_n - old, old);
	if (n > sizeof(how->tail) - old) {
		p += n - (sizeof(how->tail) - old);
		n = sizeof(how->tail) - old;
	}
	memcpy(how->tail + old, p, n);
	how->tail_n = old + n;
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
		.renames = s->watch->e->renames,
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
		.detached = st->detach.begun != NULL,
	};

	*ret = (struct start_stepped){ 0 };
	return ga_run_session(st->sandbox, &c, &ret->status, err);
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
	if (ga_run_lost(s->st->sandbox))
		return ga_strdup("moved the project away");
	return how->ended ? ga_strdup("was ended from outside") : NULL;
}
