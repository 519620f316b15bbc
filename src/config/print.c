/* SPDX-License-Identifier: MIT
 *
 * Print configuration values.
 */
#include <ctype.h>
#include <string.h>

#include "ga/base/quote.h"
#include "schema.h"

char *ga_config_origin(const struct ga_config *c, size_t i)
{
	const struct ga_config_set *s = &c->from.set[i];
	cleanup_free char *q = ga_escape(c->from.user_file);

	switch (s->origin) {
	case GA_ORIGIN_DEFAULT:
		break;
	case GA_ORIGIN_USER:
		return ga_strf("%s:%u", q, s->line);
	case GA_ORIGIN_REPOSITORY:
		return ga_strf(GA_CONFIG_REPOSITORY_FILE ":%u", s->line);
	case GA_ORIGIN_COMMAND:
		return ga_strdup("command line");
	}
	return ga_strdup("default");
}

static const struct ga_config_set *set_of(const struct ga_config *c, const char *key)
{
	return &c->from.set[config_find(key) - config_keys];
}

enum ga_origin ga_config_set_by(const struct ga_config *c, const char *key)
{
	return set_of(c, key)->origin;
}

char *ga_config_place(const struct ga_config *c, const char *key)
{
	const struct ga_config_set *s = set_of(c, key);
	bool user = s->origin == GA_ORIGIN_USER;
	cleanup_free char *q = user ? ga_escape(c->from.user_file)
				    : ga_strdup(GA_CONFIG_REPOSITORY_FILE);

	return user || s->origin == GA_ORIGIN_REPOSITORY ?
		       ga_strf("%s:%u:%u", q, s->line, s->column) : ga_strdup("the command line");
}

static bool is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!strchr("/._-~+", *p) && !isalnum((unsigned char)*p))
			return false;
	return *text != '\0';
}

/* `n` 0: a byte that is not UTF-8, which the environment can contain and YAML cannot. */
static void print_character(const char *s, size_t n, uint32_t c, struct ga_buf *out)
{
	cleanup_buf struct ga_buf q = GA_BUF_INIT;

	ga_quote_add(&q, s, n ? n : 1);
	if (n && (q.len != n || *s == '"'))
		ga_buf_addf(out, "\\U%08x", (unsigned)c);
	else
		ga_buf_add(out, q.ptr, q.len);
}

static void print_value(const char *text, struct ga_buf *out)
{
	if (is_plain(text)) {
		ga_buf_adds(out, text);
		return;
	}
	ga_buf_addch(out, '"');
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		uint32_t c;

		n = ga_utf8_decode(text, left, &c);
		print_character(text, n, c, out);
		n = n ? n : 1;
	}
	ga_buf_addch(out, '"');
}

static void print_list(const struct ga_strv *list, struct ga_buf *out)
{
	ga_buf_addch(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		ga_buf_adds(out, i ? ", " : "");
		print_value(list->v[i], out);
	}
	ga_buf_addch(out, ']');
}

static void print_pairs(const struct ga_strv *pairs, struct ga_buf *out)
{
	ga_buf_addch(out, '{');
	for (size_t i = 0; i < pairs->n; i++) {
		size_t n = strcspn(pairs->v[i], "=");

		ga_buf_addf(out, "%s%.*s: ", i ? ", " : "", (int)n, pairs->v[i]);
		print_value(pairs->v[i] + n + 1, out);
	}
	ga_buf_addch(out, '}');
}

/* Print the names of the maps that contain this key and did not contain the one before, then its
 * own name. */
static void print_name(const char *name, const char *before, struct ga_buf *out)
{
	unsigned depth = 0;
	const char *p = name, *dot;
	bool same = true;

	for (; (dot = strchr(p, '.')); p = dot + 1, depth++) {
		size_t upto = (size_t)(dot + 1 - name);

		same = same && !strncmp(name, before, upto);
		if (!same)
			ga_buf_addf(out, "%*s%.*s:\n", (int)depth * 2, "", (int)(dot - p), p);
	}
	ga_buf_addf(out, "%*s%s: ", (int)depth * 2, "", p);
}

void ga_config_print(const struct ga_config *c, bool origin, struct ga_buf *out)
{
	const char *before = "";

	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		cleanup_free char *text = ga_config_text(c, i), *from = ga_config_origin(c, i);

		print_name(ga_config_key(i), before, out);
		before = ga_config_key(i);
		if (config_keys[i].type == KEY_PAIRS)
			print_pairs(config_list(c, &config_keys[i]), out);
		else if (config_is_list(&config_keys[i]))
			print_list(config_list(c, &config_keys[i]), out);
		else
			print_value(text, out);
		if (origin)
			ga_buf_addf(out, " # %s%s", from, c->from.set[i].left_out ?
				    "; " GA_CONFIG_REPOSITORY_FILE " needs trust" : "");
		ga_buf_addch(out, '\n');
	}
}
