/* SPDX-License-Identifier: MIT
 *
 * TOML, as far as it takes to compare two documents value by value. Values are not parsed: it only
 * matters where they end, and whether their text is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "known.h"

enum { VALUES_MAX = 20000, DEPTH_MAX = 64, NAME_BYTES_MAX = 1000 };

struct toml {
	const char *p, *end;
	struct ga_buf table;      /* name of the current table with a '.' after it; or "" */
	struct ga_strv arrays;    /* names of tables in arrays, each as often as it occurred */
	struct ga_strv *ret;
};

static const char bare_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

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

/* Go to the next line, if nothing but a comment is left of this one. */
static bool end_line(struct toml *t)
{
	skip_blanks(t);
	skip_comment(t);
	if (t->p < t->end && *t->p == '\r')
		t->p++;
	if (t->p == t->end)
		return true;
	return *t->p++ == '\n';
}

/* Append the part of a name up to the closing quote, without quotes if it could be bare. False if
 * it has an escape, which would have to be read to know the name, or a quote, which could make one
 * name look like two. */
static bool put_quoted(struct toml *t, struct ga_buf *name, const char *close)
{
	cleanup_free char *part = ga_strndup(t->p + 1, (size_t)(close - t->p) - 1);

	if (strpbrk(part, "\n\\\"'"))
		return false;
	if (*part && !part[strspn(part, bare_chars)])
		ga_buf_adds(name, part);
	else
		ga_buf_addf(name, "\"%s\"", part);
	t->p = close + 1;
	return true;
}

static bool put_part(struct toml *t, struct ga_buf *name)
{
	const char *start = t->p;
	char quote = *t->p;

	if (quote == '"' || quote == '\'') {
		const char *close = memchr(start + 1, quote, (size_t)(t->end - start) - 1);

		return close && put_quoted(t, name, close);
	}
	while (t->p < t->end && strchr(bare_chars, *t->p) && *t->p)
		t->p++;
	ga_buf_add(name, start, (size_t)(t->p - start));
	return t->p > start;
}

/* Append a name of parts with dots between. Different names never become the same. */
static bool put_name(struct toml *t, struct ga_buf *name)
{
	for (;;) {
		skip_blanks(t);
		if (t->p == t->end || !put_part(t, name) || name->len > NAME_BYTES_MAX)
			return false;
		skip_blanks(t);
		if (t->p == t->end || *t->p != '.')
			return true;
		ga_buf_addch(name, '.');
		t->p++;
	}
}

static bool put_string(struct toml *t, struct ga_buf *out)
{
	const char *start = t->p;
	char quote = *start;
	bool many = t->end - start >= 3 && start[1] == quote && start[2] == quote;

	t->p += many ? 3 : 1;
	for (; t->p < t->end; t->p++) {
		if (quote == '"' && *t->p == '\\') {
			t->p++;
			continue;
		}
		if (*t->p == '\n' && !many)
			return false;
		if (*t->p != quote)
			continue;
		if (many && (t->end - t->p < 3 || t->p[1] != quote || t->p[2] != quote))
			continue;
		t->p += many ? 3 : 1;
		while (many && t->p < t->end && *t->p == quote)
			t->p++; /* up to two belong to the text */
		ga_buf_add(out, start, (size_t)(t->p - start));
		return true;
	}
	return false;
}

/* Append a value, up to the end of the line or its last closing bracket. */
static bool put_value(struct toml *t, struct ga_buf *out)
{
	char open[DEPTH_MAX];
	size_t depth = 0;

	while (t->p < t->end) {
		char c = *t->p;

		if (c == '"' || c == '\'') {
			if (!put_string(t, out))
				return false;
			continue;
		}
		if (c == '#') {
			skip_comment(t);
			continue;
		}
		if ((c == '\n' || c == '\r') && !depth)
			break;
		if (c == '[' || c == '{') {
			if (depth == DEPTH_MAX)
				return false;
			open[depth++] = c;
		}
		if ((c == ']' || c == '}') && (!depth || open[--depth] != (c == ']' ? '[' : '{')))
			return false;
		if (!strchr(" \t\r\n", c))
			ga_buf_addch(out, c);
		t->p++;
	}
	return !depth && out->len;
}

static bool pair(struct toml *t)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT, value = GA_BUF_INIT;

	ga_buf_add(&line, t->table.ptr, t->table.len);
	if (!put_name(t, &line) || t->p == t->end || *t->p != '=')
		return false;
	t->p++;
	skip_blanks(t);
	if (!put_value(t, &value) || t->ret->n == VALUES_MAX)
		return false;
	/* told apart from a table of that name with a header */
	ga_buf_addf(&line, "%s = %s", value.ptr[0] == '{' ? ".{}" : "", value.ptr);
	ga_strv_push(t->ret, line.ptr);
	return end_line(t);
}

/* A table below one of an array belongs to the last one before it, which its name does not say. */
static bool below_array(const struct toml *t)
{
	for (size_t i = 0; i < t->arrays.n; i++) {
		size_t n = strlen(t->arrays.v[i]);

		if (!strncmp(t->table.ptr, t->arrays.v[i], n) && t->table.ptr[n] == '.')
			return true;
	}
	return false;
}

static bool header(struct toml *t)
{
	bool array = t->end - t->p > 1 && t->p[1] == '[';
	size_t same = 0;

	t->p += array ? 2 : 1;
	ga_buf_clear(&t->table);
	if (!put_name(t, &t->table) || t->end - t->p < (array ? 2 : 1) || *t->p != ']' ||
	    (array && t->p[1] != ']') || t->ret->n == VALUES_MAX || below_array(t))
		return false;
	t->p += array ? 2 : 1;
	if (array) {
		for (size_t i = 0; i < t->arrays.n; i++)
			same += !strcmp(t->arrays.v[i], t->table.ptr);
		if (t->arrays.n == NAME_BYTES_MAX)
			return false;
		ga_strv_push(&t->arrays, t->table.ptr);
		ga_buf_addf(&t->table, "#%zu", same);
	}
	/* an empty table counts too */
	ga_strv_pushf(t->ret, "%s = {}", t->table.ptr);
	ga_buf_addch(&t->table, '.');
	return end_line(t);
}

bool ga_toml_list(const struct ga_buf *text, struct ga_strv *ret)
{
	struct toml t = { .p = text->ptr, .end = text->ptr + text->len, .table = GA_BUF_INIT,
			  .arrays = GA_STRV_INIT, .ret = ret };
	bool ok = text->len <= GA_KNOWN_MAX && !memchr(text->ptr, '\0', text->len);

	while (ok && t.p < t.end) {
		skip_blanks(&t);
		if (t.p == t.end || strchr("#\r\n", *t.p))
			ok = end_line(&t);
		else
			ok = *t.p == '[' ? header(&t) : pair(&t);
	}
	ga_buf_release(&t.table);
	ga_strv_release(&t.arrays);
	if (ok)
		ga_strv_sort_unique(ret);
	return ok;
}

static void push_key(struct ga_strv *ret, const char *value)
{
	ga_strv_push_n(ret, value, (size_t)(strstr(value, " = ") - value));
}

void ga_toml_changed(const struct ga_strv *a, const struct ga_strv *b, struct ga_strv *ret)
{
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		int c = i == a->n ? 1 : j == b->n ? -1 : strcmp(a->v[i], b->v[j]);

		if (c)
			push_key(ret, c < 0 ? a->v[i] : b->v[j]);
		i += c <= 0;
		j += c >= 0;
	}
	ga_strv_sort_unique(ret);
}
