/* SPDX-License-Identifier: MIT
 *
 * Run the user's commands `setup`, `services` and `finish`, by a shell in the project's root. Their
 * output is shown and recorded below a heading for each.
 */
#include "start-internal.h"
#include "ga/config/service.h"
#include "ga/session/session.h"

#define TICK_MS 1000
#define READY_TICK_MS 100
#define LINE_MAX_SHOWN 300

/* One command, run by a shell inside. */
struct start_step {
	struct start_watch *watch;
	struct ga_start *st;
	/* the shell's script, with $0 `heading` and $1 `command`; NULL: print the heading, then run
	 * the command */
	const char *script;
	const char *heading, *command;
	int64_t deadline;    /* step_deadline() */
	bool after;          /* the agent has ended */
	bool (*give_up)(void *payload); /* polled: true ends the command; or NULL */
	void *payload;
};
/* How it ended. */
struct start_stepped {
	int status;
	int signal;          /* fatal signal forwarded to it, or 0 */
	bool timed_out;
	bool ended;          /* the supervisor was told to end it */
	struct ga_tail tail; /* of its output */
};

/* The heading is printed inside, to the command's output and before it. */
static const char plain_script[] = "printf '%s\\n' \"$0\"; exec /bin/sh -ec \"$1\"";

/* A running command. */
struct running {
	const struct start_step *s;
	struct start_stepped *how;
	const struct ga_run_sink *record; /* NULL: none */
	int64_t next_watch;
};

/* Record output, and keep the end of it for a message. */
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

	/* check disks and limits once a second */
	if (ga_now_ms() >= r->next_watch) {
		r->next_watch = ga_now_ms() + TICK_MS;
		if (start_watch_tick(s->watch))
			return true;
	}
	r->how->timed_out = s->deadline && ga_now_ms() >= s->deadline;
	return r->how->timed_out || (s->give_up && s->give_up(s->payload));
}

static int64_t step_deadline(uint64_t seconds)
{
	return seconds ? ga_now_ms() + (int64_t)seconds * 1000 : 0;
}

/* 0: none */
static int start_step(const struct start_step *s, struct start_stepped *ret, struct ga_error *err)
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
		.control = st->control,
		.auxiliary = true,
		.after = s->after,
		.silent = st->quiet,
		.signal = &ret->signal,
		.ended = &ret->ended,
		.detached = st->detach.now,
	};

	*ret = (struct start_stepped){ 0 };
	return ga_run_session(st->sandbox, &c, &ret->status, err);
}

/* ": " and the last line of some output, safe to show; "" if there is none. Caller frees. */
static char *start_said(const struct ga_tail *t)
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

/* Note in the journal how a command ended, shown as `text`; `name` may be NULL. */
static void note_step(const struct ga_start *st, const char *event, const char *name,
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

/* Why it was ended, for users; NULL: it exited. Caller frees. */
static char *step_cut(const struct start_step *s, const struct start_stepped *how,
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

#define END_MS 10000 /* from SIGTERM to SIGKILL */
#define TEXT_MAX 200

/* Repeat a service's `ready` command until it succeeds. Its output is shown only if the wait is cut
 * short. */
static const char ready_script[] =
	"printf '%s\\n' \"$0\"\n"
	"trap 'printf \"%s\\n\" \"$out\"; exit 1' HUP INT TERM\n"
	"until out=$(/bin/sh -ec \"$1\" 2>&1 </dev/null); do sleep 0.2; done\n";

/* Print the heading, and the last lines of a service. */
static const char tail_script[] = "printf '%s\\n' \"$0\" \"$1\"";

/* The service to wait for. */
struct waiting {
	const struct ga_sandbox *sb;
	size_t number;
};

/* Has it failed? */
static bool is_over(const struct ga_sandbox *sb, size_t i, struct ga_run_service_state *ret)
{
	ga_run_service_state(sb, i, ret);
	/* after success it may run in the background */
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

	note_step(st, "service", v->name, text, end, status);
}

_Static_assert(GA_SERVICES_MAX <= GA_RUN_SERVICES_MAX, "settings take more than can be run");

static int start_all(struct start_watch *w, struct ga_start *st, const struct ga_services *list,
		     struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(&st->session, "services");

	if (mkdir(dir, 0700) && errno != EEXIST)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot create '%s'", dir);
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

/* Print by a command in the sandbox, so that it is shown and recorded like other output. */
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
		       "--no-services continues without them" :
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
		cut = step_cut(s, &stepped, "limits.ready", l->ready);
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
	step.deadline = step_deadline(w->e->use.ready);
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

int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err)
{
	struct start_step s = { .watch = w, .st = st };

	if (st->resumed)
		return 0;
	s.deadline = step_deadline(w->e->use.setup);
	for (size_t i = 0; i < st->commands.setup.n; i++) {
		cleanup_free char *text = ga_command_text(st->commands.setup.v[i], TEXT_MAX);
		cleanup_free char *heading = ga_strf("== setup: %s", text), *cut = NULL;
		cleanup_free char *said = NULL;
		struct start_stepped how;

		s.heading = heading;
		s.command = st->commands.setup.v[i];
		if (start_step(&s, &how, err))
			return -1;
		cut = step_cut(&s, &how, "limits.setup", w->e->use.setup);
		note_step(st, "setup", NULL, text, cut ? cut : "exited", how.status);
		if (!cut && !how.status)
			continue;
		said = st->quiet && !cut ? start_said(&how.tail) : ga_strdup("");
		if (!cut)
			cut = ga_strf("ended with status %d", how.status);
		return ga_fail(err, GA_ESTART, "setup: '%s' %s%s" GA_HINT "nothing is left of the "
			       "session; 'git agent start --no-setup bash' shows what it met, and "
			       "--no-setup starts without it", text, cut, said);
	}
	return 0;
}

#define CONFLICT 101

/* The agent wrote the git dir and its configuration: use them only inside. */
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
	s.deadline = step_deadline(w->e->use.setup);
	if (start_step(&s, &how, err))
		return -1;
	cut = step_cut(&s, &how, "limits.setup", w->e->use.setup);
	note_step(st, "update", NULL, st->update, cut ? cut : "exited", how.status);
	if (!cut && how.status == CONFLICT)
		ga_strv_pushf(&session->run.remarks, "merging %s left conflicts inside, for the "
			      "agent to resolve", st->update);
	else if (cut || how.status) {
		said = cut ? ga_strf(": it %s", cut) : start_said(&how.tail);
		return ga_fail(err, GA_ESTART, "cannot merge %s into session '%s'%s" GA_HINT
			       "'git agent resume %s' continues it without that", st->update,
			       session->name, said, session->name);
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
	/* skipped if the user or a limit ended the agent */
	bool skip = ended || w->why || ga_run_facts(st->sandbox)->lost;

	s.deadline = step_deadline(w->e->use.finish);
	for (size_t i = 0; i < st->commands.finish.n; i++) {
		cleanup_free char *text = ga_command_text(st->commands.finish.v[i], TEXT_MAX);
		cleanup_free char *heading = ga_strf("== finish: %s", text);
		struct ga_check c = { GA_CHECK_NOT_RUN, 0, text };
		struct start_stepped how;

		s.heading = heading;
		s.command = st->commands.finish.v[i];
		if (!skip && !start_step(&s, &how, GA_IGNORED)) {
			c.end = check_end(&s, &how);
			c.status = c.end == GA_CHECK_EXITED ? how.status : 0;
		}
		/* a failure does not stop the next, which may tell more */
		skip = c.end != GA_CHECK_EXITED;
		note_step(st, "finish", NULL, text, ga_check_end_name(c.end), c.status);
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
