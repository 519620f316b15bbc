/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "risk/content.h"

void ga_known_json_release(json_t **j)
{
	json_decref(*j);
}

/* The end of a comment at `p`; NULL: there is none, or it does not end. For editors a line comment
 * ends at a carriage return too. */
static const char *past_comment(const char *p, const char *end)
{
	const char *close;

	if (end - p < 2 || p[0] != '/')
		return NULL;
	if (p[1] == '/') {
		while (p < end && *p != '\n' && *p != '\r')
			p++;
		return p;
	}
	if (p[1] != '*')
		return NULL;
	close = memmem(p + 2, (size_t)(end - p) - 2, "*/", 2);
	return close ? close + 2 : NULL;
}

static const char *past_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* Remove comments, and commas before a closing bracket. */
static void strip(const struct ga_buf *text, struct ga_buf *out)
{
	const char *p = text->ptr, *end = p + text->len;

	while (p < end) {
		const char *past = past_comment(p, end);

		if (past) {
			ga_buf_addch(out, ' ');
			p = past;
			continue;
		}
		past = *p == '"' ? past_string(p, end) : p + 1;
		if (*p == '}' || *p == ']') {
			size_t n = out->len;

			while (n && strchr(" \t\r\n", out->ptr[n - 1]))
				n--;
			if (n && out->ptr[n - 1] == ',')
				out->ptr[n - 1] = ' ';
		}
		ga_buf_add(out, p, (size_t)(past - p));
		p = past;
	}
}

json_t *ga_known_json(const struct ga_buf *text, bool comments)
{
	cleanup_buf struct ga_buf plain = GA_BUF_INIT;
	json_error_t ignored;
	json_t *j;

	if (!text->len)
		return json_object();
	if (text->len > GA_KNOWN_MAX)
		return NULL;
	/* U+2028 and U+2029 end a comment for some editors, and not for others */
	if (comments && (memmem(text->ptr, text->len, "\xe2\x80\xa8", 3) ||
			 memmem(text->ptr, text->len, "\xe2\x80\xa9", 3)))
		return NULL;
	if (comments)
		strip(text, &plain);
	else
		ga_buf_add(&plain, text->ptr, text->len);
	j = json_loadb(plain.ptr, plain.len, JSON_REJECT_DUPLICATES, &ignored);
	if (j && !json_is_object(j)) {
		json_decref(j);
		return NULL;
	}
	return j;
}

bool ga_known_json_same(const json_t *a, const json_t *b)
{
	cleanup_free char *x = NULL, *y = NULL;

	if (!a || !b)
		return a == b;
	x = json_dumps(a, JSON_COMPACT | JSON_ENCODE_ANY);
	y = json_dumps(b, JSON_COMPACT | JSON_ENCODE_ANY);
	return x && y && !strcmp(x, y);
}

void ga_known_json_changed(const json_t *a, const json_t *b, struct ga_strv *ret)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)b, key, value)
		if (!ga_known_json_same(json_object_get(a, key), value))
			ga_strv_push(ret, key);
	json_object_foreach((json_t *)(uintptr_t)a, key, value)
		if (!json_object_get(b, key))
			ga_strv_push(ret, key);
}
