/* SPDX-License-Identifier: MIT
 *
 * The journal of a session as a table.
 */
#include <string.h>

#include "ga/journal.h"
#include "ga/json.h"
#include "html.h"

#define EVENTS_SHOWN 500
#define VALUES_SHOWN 20

/* The "command" of an event as a command line; other lists are put value by value. */
static void put_command(struct ga_buf *out, const json_t *list)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_json_words(list, &words);
	ga_buf_adds(out, "<code>");
	html_put_words(out, &words);
	ga_buf_adds(out, "</code>");
}

static void put_value(struct ga_buf *out, const json_t *v)
{
	cleanup_buf struct ga_buf bytes = GA_BUF_INIT;

	if (ga_json_bytes(v, &bytes))
		html_put_bytes(out, bytes.ptr, bytes.len);
	else if (json_is_integer(v))
		ga_buf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_boolean(v))
		ga_buf_adds(out, json_is_true(v) ? "yes" : "no");
	else
		ga_buf_adds(out, json_is_null(v) ? "none" : "(not text)");
}

static void put_list(struct ga_buf *out, const json_t *list)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n && i < VALUES_SHOWN; i++) {
		ga_buf_adds(out, i ? ", <code>" : "<code>");
		put_value(out, json_array_get(list, i));
		ga_buf_adds(out, "</code>");
	}
	if (n > VALUES_SHOWN)
		ga_buf_addf(out, " and %zu more", n - VALUES_SHOWN);
}

static void put_field(struct ga_buf *out, const char *key, const json_t *v)
{
	if (json_is_array(v) && !json_array_size(v))
		return;
	ga_buf_adds(out, "<div>");
	html_put_bytes(out, key, strlen(key));
	ga_buf_adds(out, ": ");
	if (json_is_array(v) && !strcmp(key, "command")) {
		put_command(out, v);
	} else if (json_is_array(v)) {
		put_list(out, v);
	} else {
		ga_buf_adds(out, "<code>");
		put_value(out, v);
		ga_buf_adds(out, "</code>");
	}
	ga_buf_adds(out, "</div>");
}

static void put_event(struct ga_buf *out, json_t *event)
{
	const char *key;
	json_t *v;

	ga_buf_adds(out, "<tr><td class=\"t\">");
	put_value(out, json_object_get(event, "time"));
	ga_buf_adds(out, "</td><td>");
	put_value(out, json_object_get(event, "event"));
	ga_buf_adds(out, "</td><td>");
	json_object_foreach(event, key, v) {
		if (strcmp(key, "time") != 0 && strcmp(key, "event") != 0)
			put_field(out, key, v);
	}
	ga_buf_adds(out, "</td></tr>\n");
}

int html_put_timeline(const struct ga_session *s, struct ga_buf *out, struct ga_error *err)
{
	json_t *events = NULL;
	size_t n, first;

	if (ga_journal_read(s->dir, &events, err))
		return -1;
	n = json_array_size(events);
	first = n > EVENTS_SHOWN ? n - EVENTS_SHOWN : 0;
	if (n) {
		ga_buf_adds(out, "<h2>Timeline</h2>\n");
		if (first)
			ga_buf_addf(out, "<p>%zu earlier events are not shown.</p>\n", first);
		ga_buf_adds(out, "<table>\n<tr><th>time</th><th>event</th><th></th></tr>\n");
	}
	for (size_t i = first; i < n; i++)
		put_event(out, json_array_get(events, i));
	if (n)
		ga_buf_adds(out, "</table>\n");
	json_decref(events);
	return 0;
}
