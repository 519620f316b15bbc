/* SPDX-License-Identifier: MIT
 *
 * What happened in a session: its journal, and what was recorded of its terminal.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sessions.h"
#include "ga/base/json.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/run/record.h"
#include "ga/session/journal.h"
#include "ga/sys/fd.h"

#define VALUES_SHOWN 100
#define VALUE_BYTES ((size_t)4 << 10)
#define KEY_WIDTH 15

/* ---- the journal --------------------------------------------------------- */

/* In the user's time zone; what is not a time is put as it is. */
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
		cleanup_free char *q = ga_quote(shown);

		ga_buf_adds(out, q);
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

/* A command line, quoted for a shell. */
static void put_command(struct ga_buf *out, const json_t *list)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_free char *line = NULL;

	ga_json_words(list, &words);
	line = ga_quote_shell_words(&words);
	/* a shell must still read it: only what must not be shown is escaped */
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

static int parse_factor(const char *option, const char *text, uint64_t least, uint64_t most,
			double *ret, struct ga_error *err)
{
	cleanup_free char *q = text ? ga_escape(text) : NULL;
	uint64_t v;

	if (!text)
		return 0;
	if (!ga_parse_thousandths(text, most, &v) || v < least)
		return ga_fail(err, GA_EUSAGE, "--%s takes a number from %g to %g, not '%s'",
			       option, (double)least / 1000, (double)most / 1000, q);
	*ret = (double)v / 1000;
	return 0;
}

static int replay(const struct ga_session *s, const struct cli_journal *o, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	struct ga_replay_opts r = { .speed = 1, .max_idle = 0 };

	if (parse_factor("speed", o->speed, 10, 1000000, &r.speed, err) ||
	    parse_factor("max-idle", o->max_idle, 1, 86400000, &r.max_idle, err))
		return -1;
	if (!isatty(STDOUT_FILENO))
		return ga_fail(err, GA_EUSAGE, "--replay needs a terminal to show it on" GA_HINT
			       "'git agent show --text %s' prints it as text", s->name);
	ga_record_names(s->dir, &names);
	return names.n ? ga_replay(s->dir, &names, &r, err) : no_recording(s, err);
}

int cli_show_journal(struct cli *c, const char *name, const struct cli_journal *o,
		     struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_out struct ga_out out = GA_OUT_INIT;
	struct cli_pager *pager;
	int rc;

	if (o->text + o->replay + o->json > 1)
		return ga_fail(err, GA_EUSAGE, "--text, --replay and --json show different things: "
			       "give one");
	if (cli_look_at_session(c, name, &s, err))
		return -1;
	if (o->replay)
		return replay(&s, o, err);
	if (cli_pager_begin(c, "show", &out, &pager, err))
		return -1;
	rc = o->text ? show_text(&s, &out, err) : show_journal(&s, o->json, &out, err);
	return cli_pager_end(pager, &out, rc, err);
}
