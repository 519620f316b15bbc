/* SPDX-License-Identifier: MIT
 *
 * TOML as a tree of JSON values. Types are not checked: what is neither a string nor a truth value
 * is an object whose only member, "=", is its text.
 */
#include <stdlib.h>
#include <string.h>

#include "known.h"

enum { DEPTH_MAX = 64 };

struct toml {
	const char *p, *end;
	json_t *root, *table; /* the latter: of the last header; borrowed */
	unsigned depth;
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

/* Append what the escape behind a backslash stands for. */
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
	ga_risk_put(out, c);
	return c != 0;
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
	static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789_-";
	bool quoted;

	ga_buf_clear(out);
	skip_blanks(t);
	quoted = t->p < t->end && (*t->p == '"' || *t->p == '\'');
	if (quoted && !string(t, false, out))
		return false;
	while (!quoted && t->p < t->end && strchr(bare, *t->p))
		ga_buf_addch(out, *t->p++);
	skip_blanks(t);
	return quoted || out->len;
}

/* The table that a part of a name leads to, which is made if there is none; of an array, its last.
 * NULL: something else is there. */
static json_t *step(json_t *in, const char *name)
{
	json_t *to = json_object_get(in, name);

	if (json_is_array(to))
		to = json_array_get(to, json_array_size(to) - 1);
	else if (!to && !json_object_set_new(in, name, json_object()))
		to = json_object_get(in, name);
	return json_is_object(to) ? to : NULL;
}

/* Follow a name up to its last part, which goes to `last`. */
static json_t *follow(struct toml *t, json_t *in, struct ga_buf *last)
{
	for (unsigned n = 0; in && n < DEPTH_MAX; n++) {
		if (!part(t, last) || strlen(last->ptr) != last->len)
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
	json_t *v;

	in = follow(t, in, &name);
	if (!in || !take(t, '=') || json_object_get(in, name.ptr))
		return false;
	skip_blanks(t);
	v = value(t);
	return v && !json_object_set_new(in, name.ptr, v);
}

/* What follows the opening bracket of an array, or of a table in braces. */
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

static json_t *value(struct toml *t)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	json_t *in;
	bool ok;

	if (t->p < t->end && (*t->p == '"' || *t->p == '\''))
		return string(t, true, &text) ? json_stringn(text.ptr, text.len) : NULL;
	if (t->p < t->end && (*t->p == '[' || *t->p == '{')) {
		in = *t->p++ == '[' ? json_array() : json_object();
		ok = ++t->depth < DEPTH_MAX && items(t, in);
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
	return text.len ? json_pack("{s:s}", "=", text.ptr) : NULL;
}

static bool header(struct toml *t)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	bool array = t->end - t->p > 1 && t->p[1] == '[';
	json_t *in, *list;

	t->p += array ? 2 : 1;
	in = follow(t, t->root, &name);
	if (!in || !take(t, ']') || (array && !take(t, ']')))
		return false;
	list = json_object_get(in, name.ptr);
	if (array && !list)
		(void)json_object_set_new(in, name.ptr, list = json_array());
	if (array && (!json_is_array(list) || json_array_append_new(list, json_object())))
		return false;
	t->table = array || !json_is_array(list) ? step(in, name.ptr) : NULL;
	return t->table && end_line(t);
}

json_t *ga_known_toml(const struct ga_buf *text)
{
	struct toml t = { .p = text->ptr, .end = text->ptr + text->len, .root = json_object() };
	bool ok = text->len <= GA_KNOWN_MAX && !memchr(text->ptr, '\0', text->len);

	t.table = t.root;
	while (ok && t.p < t.end) {
		skip_blanks(&t);
		if (t.p == t.end || strchr("#\r\n", *t.p))
			ok = end_line(&t);
		else
			ok = *t.p == '[' ? header(&t) : pair(&t, t.table) && end_line(&t);
	}
	if (ok)
		return t.root;
	json_decref(t.root);
	return NULL;
}
