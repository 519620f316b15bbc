/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ga/base/json.h"
#include "ga/base/quote.h"
#include "ga/review/report.h"
#include "ga/session/session.h"

#define KEY "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

void ga_report_trailer(struct ga_buf *message, const char *key, enum ga_severity s,
		       const char *rule, const char *path, const struct ga_entry *entry_or_null)
{
	cleanup_free char *q = ga_quote(path), *id = ga_escape(rule);

	ga_buf_addf(message, "%s: %s %s %s", key, ga_severity_name(s), id, q);
	if (entry_or_null)
		ga_buf_addf(message, " %06o %s", entry_or_null->mode, GA_HEX(&entry_or_null->oid));
	ga_buf_addch(message, '\n');
}

void ga_report_checks(const struct ga_strv *checks, struct ga_strv *ret)
{
	struct ga_check c;

	for (size_t i = 0; i < checks->n; i++) {
		cleanup_free char *text = NULL;
		cleanup_buf struct ga_buf safe = GA_BUF_INIT;

		if (!ga_check_parse(checks->v[i], &c))
			continue;
		/* it is safe already; escaping it again costs nothing */
		text = ga_check_text(&c);
		ga_quote_add_text(&safe, text, strlen(text));
		ga_strv_push(ret, safe.ptr);
	}
}

json_t *ga_report_checks_json(const struct ga_strv *checks)
{
	json_t *list = json_array();
	struct ga_check c;

	for (size_t i = 0; i < checks->n; i++) {
		json_t *o;

		if (!ga_check_parse(checks->v[i], &c))
			continue;
		o = json_object();
		ga_json_set_bytes(o, "command", c.command);
		ga_json_set(o, "end", json_string(ga_check_end_name(c.end)));
		ga_json_set(o, "status", c.end == GA_CHECK_EXITED ?
			    json_integer(c.status) : json_null());
		ga_json_add(list, o);
	}
	return list;
}

/* Does the last paragraph look like trailers? Then more of them go there. */
static bool ends_in_trailers(const struct ga_buf *m)
{
	const char *last = m->ptr + m->len, *colon;
	size_t n;

	while (last > m->ptr && last[-1] != '\n')
		last--;
	n = strspn(last, KEY);
	colon = last + n;
	return last > m->ptr && n && colon[0] == ':' && colon[1] == ' ';
}

void ga_report_check_trailers(const struct ga_strv *checks, struct ga_buf *message)
{
	cleanup_strv struct ga_strv lines = GA_STRV_INIT;

	ga_report_checks(checks, &lines);
	if (!lines.n)
		return;
	while (message->len && message->ptr[message->len - 1] == '\n')
		ga_buf_chomp(message);
	ga_buf_adds(message, ends_in_trailers(message) ? "\n" : "\n\n");
	for (size_t i = 0; i < lines.n && i < GA_REPORT_TRAILERS; i++)
		ga_buf_addf(message, "Agent-Check: %s\n", lines.v[i]);
}
