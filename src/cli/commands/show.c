/* SPDX-License-Identifier: MIT
 *
 * Show a session, its journal, or the recording of its terminal.
 */
#include "cli/cli.h"
#include "ga/run/record.h"

#define VALUES_SHOWN 100
#define VALUE_BYTES ((size_t)4 << 10)
#define KEY_WIDTH 15

/* ---- the journal --------------------------------------------------------- */

/* Append a time in the user's zone; any other text unchanged. */
static void put_time(struct ga_buf *out, const json_t *v)
{
	const char *s = json_string_value(v), *end;
	char text[CLI_TIME_MAX] = "";
	struct tm utc = { 0 };

	end = s ? strptime(s, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
	if (end && (*end == '.' || *end == 'Z'))
		cli_time_text(timegm(&utc), text);
	if (*text)
		ga_buf_adds(out, text);
	else
		ga_quote_add(out, s ? s : "?", s ? strnlen(s, 40) : 1);
}

static void put_more_bytes(struct ga_buf *out, size_t n)
{
	if (n > VALUE_BYTES)
		ga_buf_addf(out, "... (%zu bytes more)", n - VALUE_BYTES);
}

static void put_bytes(struct ga_buf *out, const char *p, size_t n)
{
	ga_quote_add(out, p, n < VALUE_BYTES ? n : VALUE_BYTES);
	put_more_bytes(out, n);
}

static void put_value(struct ga_buf *out, json_t *v);

/* As "PATH (KEY VALUE, ...)", or without a path "KEY VALUE, ...". */
static void put_object(struct ga_buf *out, json_t *o)
{
	cleanup_buf struct ga_buf path = GA_BUF_INIT;
	bool has_path = ga_json_bytes(o, &path);
	const char *key, *sep = has_path ? " (" : "";
	json_t *v;

	if (has_path) {
		cleanup_free char *shown = ga_strndup(path.ptr, VALUE_BYTES);

		ga_buf_adds(out, GA_QUOTED(shown));
		put_more_bytes(out, path.len);
	}
	json_object_foreach(o, key, v) {
		if (!strcmp(key, "path") || !strcmp(key, "path_b64") || !strcmp(key, "b64"))
			continue;
		ga_buf_adds(out, sep);
		put_bytes(out, key, strlen(key));
		ga_buf_addch(out, ' ');
		put_value(out, v);
		sep = ", ";
	}
	if (has_path && *sep == ',')
		ga_buf_addch(out, ')');
}

static void put_value(struct ga_buf *out, json_t *v)
{
	if (json_is_string(v))
		put_bytes(out, json_string_value(v), json_string_length(v));
	else if (json_is_object(v))
		put_object(out, v);
	else if (json_is_integer(v))
		ga_buf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		ga_buf_addf(out, "%g", json_real_value(v));
	else if (json_is_boolean(v))
		ga_buf_adds(out, json_is_true(v) ? "yes" : "no");
	else
		ga_buf_adds(out, json_is_null(v) ? "none" : "...");
}

static void put_command(struct ga_buf *out, const json_t *list)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_free char *line = NULL;

	ga_json_words(list, &words);
	line = ga_quote_shell_words(&words);
	/* keep shell syntax: escape only unsafe characters */
	ga_quote_add_text(out, line, strnlen(line, VALUE_BYTES));
	for (size_t k = 0; k < out->len; k++)
		if (out->ptr[k] == '\n')
			out->ptr[k] = ' ';
}

/* Items on one line, objects of several members on a line each. */
static void put_list(struct ga_buf *out, const json_t *list)
{
	size_t n = json_array_size(list), shown = n < VALUES_SHOWN ? n : VALUES_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		json_t *v = json_array_get(list, i);

		if (i && json_object_size(v) > 1)
			ga_buf_addf(out, "\n    %*s ", KEY_WIDTH, "");
		else if (i)
			ga_buf_adds(out, ", ");
		put_value(out, v);
	}
	if (n > shown)
		ga_buf_addf(out, " and %zu more", n - shown);
}

static void put_field(struct ga_buf *out, const char *key, json_t *v)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT, value = GA_BUF_INIT;

	if (json_is_null(v) || (json_is_array(v) && !json_array_size(v)))
		return;
	ga_quote_add(&name, key, strnlen(key, 40));
	if (json_is_array(v) && !strcmp(key, "command"))
		put_command(&value, v);
	else if (json_is_array(v))
		put_list(&value, v);
	else
		put_value(&value, v);
	ga_buf_addf(out, "    %-*s ", KEY_WIDTH, name.ptr);
	ga_buf_add(out, value.ptr, value.len);
	ga_buf_addch(out, '\n');
}

static void put_event(struct ga_buf *out, json_t *event)
{
	const char *key;
	json_t *v;

	put_time(out, json_object_get(event, "time"));
	ga_buf_adds(out, "  ");
	put_value(out, json_object_get(event, "event"));
	ga_buf_addch(out, '\n');
	json_object_foreach(event, key, v) {
		if (strcmp(key, "time") != 0 && strcmp(key, "event") != 0)
			put_field(out, key, v);
	}
}

static void put_event_json(struct ga_buf *out, const json_t *event)
{
	cleanup_free char *s = json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII);

	ga_buf_addf(out, "%s\n", s ? s : "{}");
}

static int show_journal(const struct ga_session *s, bool json, struct ga_out *out,
			struct ga_error *err)
{
	json_t *events = NULL, *e;
	size_t i;
	int rc = ga_journal_read(s->dir, &events, err);

	json_array_foreach(events, i, e) {
		if (rc)
			break;
		if (json)
			put_event_json(&out->text, e);
		else
			put_event(&out->text, e);
		rc = ga_out_offer(out, err);
	}
	json_decref(events);
	return rc;
}

/* ---- recordings ---------------------------------------------------------- */

static int no_recording(const struct ga_session *s, struct ga_error *err)
{
	return ga_fail(err, GA_ENEGATIVE, "nothing of session '%s' was recorded" GA_HINT
		       "'git agent show --journal %s' says what happened; the setting 'record' "
		       "says whether sessions are recorded", s->name, s->name);
}

static void put_heading(struct ga_buf *out, const char *name, uint64_t t)
{
	char text[CLI_TIME_MAX] = "";

	if (t)
		cli_time_text((time_t)t, text);
	ga_buf_addf(out, "---- %s%s%s\n", name, *text ? " " : "", text);
}

static int put_recording(struct ga_record *r, struct ga_out *out, struct ga_error *err)
{
	cleanup_(ga_record_text_release) struct ga_record_text t = GA_RECORD_TEXT_INIT;
	struct ga_record_event e;
	int rc;

	while ((rc = ga_record_next(r, &e, err)) > 0) {
		if (e.kind == 'o') {
			ga_record_text(&t, e.data, e.n, &out->text);
		} else if (e.kind == 'm') {
			ga_record_text_end(&t, &out->text);
			ga_buf_adds(&out->text, "---- ");
			put_bytes(&out->text, e.data, e.n);
			ga_buf_addch(&out->text, '\n');
		}
		rc = ga_out_offer(out, err);
		if (rc)
			return rc;
	}
	ga_record_text_end(&t, &out->text);
	if (ga_record_damaged(r))
		ga_buf_addf(&out->text, "---- %zu damaged lines are left out\n",
			    ga_record_damaged(r));
	return rc;
}

static int show_text(const struct ga_session *s, struct ga_out *out, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	int rc = 0;

	ga_record_names(s->dir, &names);
	if (!names.n)
		return no_recording(s, err);
	for (size_t i = 0; !rc && i < names.n; i++) {
		struct ga_record *r = NULL;

		if (ga_record_open(s->dir, names.v[i], &r, err))
			return -1;
		if (names.n > 1)
			put_heading(&out->text, names.v[i], ga_record_time(r));
		rc = put_recording(r, out, err);
		ga_record_close(r);
	}
	return rc;
}

static int replay(const struct ga_session *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (!isatty(STDOUT_FILENO))
		return ga_fail(err, GA_EUSAGE, "--replay needs a terminal to show it on" GA_HINT
			       "'git agent show --text %s' prints it as text", s->name);
	ga_record_names(s->dir, &names);
	return names.n ? ga_replay(s->dir, &names, err) : no_recording(s, err);
}

/* ---- the session --------------------------------------------------------- */

struct options {
	bool json, journal, text, replay;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_JSON,
	CLI_FLAG(journal, "journal", 0, "show what happened in it, oldest event first"),
	CLI_FLAG(text, "text", 0, "print what its terminal showed, as plain text"),
	CLI_FLAG(replay, "replay", 0, "play what was recorded of it at the original speed"),
};

static int show_past(struct cli *c, const char *name, const struct options *o,
		     struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_out struct ga_out out = GA_OUT_INIT;
	struct cli_pager *pager;
	int rc;

	if (o->text + o->replay + o->json > 1)
		return ga_fail(err, GA_EUSAGE, "--text, --replay and --json show different things: "
			       "give one");
	if (cli_peek_session(c, name, &s, err))
		return -1;
	if (o->replay)
		return replay(&s, err);
	if (cli_pager_begin(c, "show", &out, &pager, err))
		return -1;
	rc = o->text ? show_text(&s, &out, err) : show_journal(&s, o->json, &out, err);
	return cli_pager_end(pager, &out, rc, err);
}

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
	cleanup_free char *line = ga_quote_shell_words(command);

	if (command->n)
		(void)printf("%-12s %s\n", label, GA_QUOTED(line));
}

static void print_arrival(const struct ga_session *s)
{
	const char *in = s->result.arrived_in, *ref = in ? ga_ref_branch(in) : NULL;
	cleanup_free char *q = ga_quote(ref ? ref : in ? in : "");

	(void)printf("%-12s %s%s%s\n", "arrived", s->result.arrived, in ? ", in " : "", in ? q
		     : "");
}

static void print_live(const struct ga_control_peer *p)
{
	cleanup_free char *idle = ga_seconds_text(p->is.idle / 1000);

	(void)printf("%-12s %s%s\n", "terminal", !p->is.detached ? "its own" : p->is.attached ?
		     "attached" : "none", p->is.shells ? ", and others" : "");
	(void)printf("%-12s %s\n", "silent for", idle);
}

/* With `summary`, leave out the result, which cli_summary() prints next. */
static void print_text(const struct ga_session *s, const struct ga_report *r, bool running,
		       bool summary, const struct ga_control_peer *peer)
{
	cleanup_free char *project = ga_quote(s->id.project);
	cleanup_strv struct ga_strv shared = GA_STRV_INIT;

	(void)printf("%-12s %s\n", "session", s->name);
	(void)printf("%-12s %s\n", "state", running ? "running" : ga_state_name(s->state));
	if (peer->fd >= 0)
		print_live(peer);
	print_command("command", &s->id.command);
	if (s->id.remote)
		(void)printf("%-12s %s\n", "fetched from", GA_QUOTED(s->id.remote));
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
	/* after the capture the notes include it */
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
	cleanup_control_peer struct ga_control_peer peer = GA_CONTROL_PEER_INIT;
	bool running, summary;

	if (o->journal || o->text || o->replay)
		return show_past(c, argc ? argv[0] : NULL, o, err);
	if (cli_read_session(c, argc ? argv[0] : NULL, &s, &lock, err))
		return -1;
	/* a review may hold the lock instead */
	running = lock < 0 && cli_has_running_state(&s);
	if ((lock >= 0 && cli_notice_landed(c, &s, err)) ||
	    (!running && ga_report_read(c->env.repo, &s, &r, err) < 0))
		return -1;
	if (running)
		cli_query_supervisor(&s, &peer);
	if (o->json)
		return cli_print_json(cli_session_json(&s, running, &r, &peer), err);
	summary = !running && s.state == GA_STATE_CAPTURED;
	print_text(&s, &r, running, summary, &peer);
	if (!summary)
		return 0;
	(void)putchar('\n');
	return cli_summary(c, &s, &r, stdout, err);
}

CLI_COMMAND(show,
	    "[--journal | --text | --replay] [--json] [NAME]",
	    "show one session, what happened in it, or its terminal", "SESSION");
