/* SPDX-License-Identifier: MIT */
#include "ga/base/toml.h"

#include <stdio.h>
#include <string.h>

#include "ga/base/quote.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

enum { DEPTH_MAX = 64 };

static const char in_bare_key[] = LETTERS "_-";

struct toml {
	const char *p, *end;
	json_t *root, *table; /* the latter: of the last header; borrowed */
	json_t *closed;       /* names of tables that no header may have: their addresses */
	unsigned depth;       /* names and brackets around what is parsed */
};

static json_t *value(struct toml *t);

static void skip_blanks(struct toml *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
		t->p++;
}

static void skip_comment(struct toml *t)
{
	if (t->p < t->end && *t->p == '#')
		while (t->p < t->end && *t->p != '\n')
			t->p++;
}

/* Skip lines as well, as in an array. */
static void skip_space(struct toml *t)
{
	for (const char *was = NULL; was != t->p;) {
		was = t->p;
		while (t->p < t->end && strchr(" \t\r\n", *t->p))
			t->p++;
		skip_comment(t);
	}
}

static bool take(struct toml *t, char c)
{
	if (t->p == t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

/* Go to the next line, if nothing but a comment is left of this one. */
static bool end_line(struct toml *t)
{
	skip_blanks(t);
	skip_comment(t);
	(void)take(t, '\r');
	return t->p == t->end || take(t, '\n');
}

/* Append the character of an escape sequence. */
static bool escape(struct toml *t, bool many, struct ga_buf *out)
{
	static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
	const char *at = t->p < t->end && *t->p ? strchr(from, *t->p) : NULL;
	size_t n = t->p == t->end ? 0 : *t->p == 'u' ? 4 : *t->p == 'U' ? 8 : 0;
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	uint32_t c = 0;

	if (at) {
		t->p++;
		ga_buf_addch(out, to[at - from]);
		return true;
	}
	if (many && t->p < t->end && strchr(" \t\r\n", *t->p)) {
		while (t->p < t->end && strchr(" \t\r\n", *t->p))
			t->p++;
		return true;
	}
	if (!n || (size_t)(t->end - t->p) <= n)
		return false;
	for (t->p++; n; n--, t->p++) {
		at = strchr(digits, *t->p);
		if (!at)
			return false;
		c = c << 4 | (uint32_t)(at - digits) % 16;
	}
	ga_utf8_put(out, c);
	return c && c <= 0x10ffff;
}

static bool string(struct toml *t, bool may_be_long, struct ga_buf *out)
{
	char q = *t->p, three[] = { q, q, q };
	bool many = may_be_long && t->end - t->p >= 3 && !memcmp(t->p, three, 3);

	t->p += many ? 3 : 1;
	if (many && t->end - t->p > 1 && *t->p == '\r' && t->p[1] == '\n')
		t->p++;
	if (many)
		(void)take(t, '\n');
	while (t->p < t->end) {
		if (!many && *t->p == '\n')
			return false;
		if (*t->p == q && (!many || (t->end - t->p >= 3 && !memcmp(t->p, three, 3)))) {
			t->p += many ? 3 : 1;
			/* up to two more belong to the text */
			for (int i = 0; many && i < 2 && take(t, q); i++)
				ga_buf_addch(out, q);
			return true;
		}
		if (q == '"' && take(t, '\\')) {
			if (!escape(t, many, out))
				return false;
			continue;
		}
		ga_buf_addch(out, *t->p++);
	}
	return false;
}

/* One part of a name, with the blanks around it. */
static bool part(struct toml *t, struct ga_buf *out)
{
	bool quoted;

	ga_buf_clear(out);
	skip_blanks(t);
	quoted = t->p < t->end && (*t->p == '"' || *t->p == '\'');
	if (quoted && !string(t, false, out))
		return false;
	while (!quoted && t->p < t->end && strchr(in_bare_key, *t->p))
		ga_buf_addch(out, *t->p++);
	skip_blanks(t);
	return quoted || out->len;
}

/* The table that a part of a name refers to (the last one of an array), created if missing. NULL:
 * the name is not a table. */
static json_t *step(json_t *in, const char *name)
{
	json_t *to = json_object_get(in, name);

	if (json_is_array(to))
		to = json_array_get(to, json_array_size(to) - 1);
	else if (!to && !json_object_set_new(in, name, json_object()))
		to = json_object_get(in, name);
	return json_is_object(to) && !ga_toml_bare(to) ? to : NULL;
}

/* A table is written once: with a header, or in braces. */
static bool close_table(struct toml *t, const json_t *table)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%p", (const void *)table);
	return !json_object_get(t->closed, name) &&
	       !json_object_set_new(t->closed, name, json_true());
}

/* Resolve a name up to its last part, which is put into `last`. No part may be "=", which marks
 * bare values. */
static json_t *follow(struct toml *t, json_t *in, struct ga_buf *last)
{
	while (in && ++t->depth < DEPTH_MAX) {
		if (!part(t, last) || strlen(last->ptr) != last->len || !strcmp(last->ptr, "="))
			return NULL;
		if (!take(t, '.'))
			return in;
		in = step(in, last->ptr);
	}
	return NULL;
}

static bool pair(struct toml *t, json_t *in)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	unsigned depth = t->depth;
	json_t *v;

	in = follow(t, in, &name);
	if (!in || !take(t, '=') || json_object_get(in, name.ptr))
		return false;
	skip_blanks(t);
	v = value(t);
	t->depth = depth;
	return v && !json_object_set_new(in, name.ptr, v);
}

/* Parse an array or inline table after its opening bracket. */
static bool items(struct toml *t, json_t *in)
{
	char close = json_is_array(in) ? ']' : '}';

	for (;;) {
		skip_space(t);
		if (take(t, close))
			return true;
		if (json_is_array(in) ? json_array_append_new(in, value(t)) != 0 : !pair(t, in))
			return false;
		skip_space(t);
		if (!take(t, ',') && (t->p == t->end || *t->p != close))
			return false;
	}
}

/* Does it look like a number or a date? */
static bool may_be_bare(const char *s)
{
	const char *behind = s + (*s == '+' || *s == '-');

	return !s[strspn(s, LETTERS "_-+.: ")] &&
	       ((*behind >= '0' && *behind <= '9') || !strcmp(behind, "inf") ||
		!strcmp(behind, "nan"));
}

static json_t *value(struct toml *t)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	json_t *in;
	bool ok;

	if (t->p < t->end && (*t->p == '"' || *t->p == '\''))
		return string(t, true, &text) ? json_stringn(text.ptr, text.len) : NULL;
	if (t->p < t->end && (*t->p == '[' || *t->p == '{')) {
		in = *t->p++ == '[' ? json_array() : json_object();
		ok = ++t->depth < DEPTH_MAX && items(t, in) &&
		     (json_is_array(in) || close_table(t, in));
		t->depth--;
		if (ok)
			return in;
		json_decref(in);
		return NULL;
	}
	while (t->p < t->end && !strchr(",]}#\r\n\"'[{=", *t->p))
		ga_buf_addch(&text, *t->p++);
	while (text.len && strchr(" \t", text.ptr[text.len - 1]))
		ga_buf_truncate(&text, text.len - 1);
	if (!strcmp(text.ptr, "true") || !strcmp(text.ptr, "false"))
		return json_boolean(*text.ptr == 't');
	return may_be_bare(text.ptr) ? json_pack("{s:s}", "=", text.ptr) : NULL;
}

static bool header(struct toml *t)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	bool array = t->end - t->p > 1 && t->p[1] == '[';
	json_t *in, *list;

	t->p += array ? 2 : 1;
	t->depth = 0;
	in = follow(t, t->root, &name);
	if (!in || !take(t, ']') || (array && !take(t, ']')))
		return false;
	list = json_object_get(in, name.ptr);
	if (array && !list)
		(void)json_object_set_new(in, name.ptr, list = json_array());
	if (array && (!json_is_array(list) || json_array_append_new(list, json_object())))
		return false;
	t->table = array || !json_is_array(list) ? step(in, name.ptr) : NULL;
	return t->table && close_table(t, t->table) && end_line(t);
}

json_t *ga_toml_parse(const struct ga_buf *text)
{
	struct toml t = { .p = text->ptr, .end = text->ptr + text->len, .root = json_object(),
			  .closed = json_object() };
	bool ok = text->len <= GA_TOML_MAX && !memchr(text->ptr, '\0', text->len);

	t.table = t.root;
	while (ok && t.p < t.end) {
		skip_blanks(&t);
		if (t.p == t.end || strchr("#\r\n", *t.p))
			ok = end_line(&t);
		else
			ok = *t.p == '[' ? header(&t) : pair(&t, t.table) && end_line(&t);
	}
	json_decref(t.closed);
	if (ok)
		return t.root;
	json_decref(t.root);
	return NULL;
}

const char *ga_toml_bare(const json_t *v)
{
	return json_string_value(json_object_get(v, "="));
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put_string(struct ga_buf *out, const char *s)
{
	ga_buf_addch(out, '"');
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			ga_buf_addf(out, "\\u%04x", (unsigned)*s);
		else
			ga_buf_addf(out, "%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
	ga_buf_addch(out, '"');
}

static void put_key(struct ga_buf *out, const char *key)
{
	if (*key && !key[strspn(key, in_bare_key)])
		ga_buf_adds(out, key);
	else
		put_string(out, key);
}

/* In one line. `depth` is counted as in reading, so that what is written can be read. */
static bool put_value(struct ga_buf *out, json_t *v, unsigned depth)
{
	const char *bare = ga_toml_bare(v), *key, *between = "";
	size_t i;
	json_t *in;

	if (json_is_string(v)) {
		put_string(out, json_string_value(v));
	} else if (bare || json_is_boolean(v)) {
		ga_buf_adds(out, bare ? bare : json_is_true(v) ? "true" : "false");
	} else if (++depth >= DEPTH_MAX) {
		return false;
	} else if (json_is_array(v)) {
		ga_buf_addch(out, '[');
		json_array_foreach(v, i, in) {
			ga_buf_adds(out, between);
			between = ", ";
			if (!put_value(out, in, depth))
				return false;
		}
		ga_buf_addch(out, ']');
	} else {
		ga_buf_addch(out, '{');
		json_object_foreach(v, key, in) {
			ga_buf_adds(out, between);
			between = ", ";
			put_key(out, key);
			ga_buf_adds(out, " = ");
			if (depth + 1 >= DEPTH_MAX || !put_value(out, in, depth + 1))
				return false;
		}
		ga_buf_addch(out, '}');
	}
	return true;
}

static bool is_table(const json_t *v)
{
	return json_is_object(v) && !ga_toml_bare(v);
}

/* Write plain values before subtables, which would otherwise claim them. `name`: of the table. */
static bool put_table(struct ga_buf *out, json_t *table, struct ga_buf *name, unsigned depth)
{
	size_t n = name->len;
	const char *key;
	json_t *v;

	if (++depth >= DEPTH_MAX || out->len > GA_TOML_MAX)
		return false;
	json_object_foreach(table, key, v) {
		if (is_table(v))
			continue;
		put_key(out, key);
		ga_buf_adds(out, " = ");
		if (!put_value(out, v, depth))
			return false;
		ga_buf_addch(out, '\n');
	}
	json_object_foreach(table, key, v) {
		if (!is_table(v))
			continue;
		ga_buf_adds(name, n ? "." : "");
		put_key(name, key);
		ga_buf_addf(out, "%s[%s]\n", out->len ? "\n" : "", name->ptr);
		if (!put_table(out, v, name, depth))
			return false;
		ga_buf_truncate(name, n);
	}
	return true;
}

bool ga_toml_write(json_t *table, struct ga_buf *out)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT;

	return put_table(out, table, &name, 0) && out->len <= GA_TOML_MAX;
}
