/* SPDX-License-Identifier: MIT
 *
 * Texts compared as git does to find renames: by the bytes of equal lines, wherever in the text
 * they are.
 */
#include "rewrite-internal.h"

#include <ctype.h>
#include <string.h>

/* Where git looks for a NUL to call a file binary, and where it splits a long line. */
#define BINARY_PEEK ((size_t)8000)
#define LINE_MAX_BYTES ((size_t)64)

void lines_release(struct lines *l)
{
	free(l->v);
	*l = (struct lines){ 0 };
}

static uint64_t hash(const char *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 0x100000001b3;
	return h;
}

/* Does the line have more than brackets and blanks, which are in every file and nobody's? */
static bool says_anything(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)p[i]) || (unsigned char)p[i] >= 0x80)
			return true;
	return false;
}

static int by_hash(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static size_t count_blanks(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (p[i] == ' ' || p[i] == '\t'))
		i++;
	return i;
}

/* Lines are compared without the blanks at both ends: code that is moved is indented anew. */
static void split(const char *p, size_t n, struct lines *ret)
{
	size_t cap = 0, len, end, lead;
	bool begins = true;

	ret->bytes = n;
	for (; n; p += len, n -= len) {
		const char *text, *nl;

		lead = begins ? count_blanks(p, n) : 0;
		text = p + lead;
		end = n - lead < LINE_MAX_BYTES ? n - lead : LINE_MAX_BYTES;
		nl = memchr(text, '\n', end);
		if (nl)
			end = (size_t)(nl - text);
		len = lead + end + (nl != NULL);
		while (nl && end && strchr(" \t\r", text[end - 1]))
			end--;
		begins = nl != NULL;
		GA_GROW(ret->v, ret->n, cap);
		ret->v[ret->n++] = (struct line){ hash(text, end), (uint32_t)len,
						  says_anything(text, end) };
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_hash);
}

int lines_read(struct ga_repo *r, const struct ga_oid *blob, size_t max, struct lines *ret,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	int rc = ga_blob_read(r, blob, max, &b, err);

	if (rc)
		return rc;
	ret->bytes = b.len;
	if (b.len && memchr(b.ptr, '\0', b.len < BINARY_PEEK ? b.len : BINARY_PEEK))
		return 1;
	split(b.ptr, b.len, ret);
	return 0;
}

bool lines_similar(const struct lines *a, const struct lines *b)
{
	uint64_t max = a->bytes > b->bytes ? a->bytes : b->bytes;
	uint64_t min = a->bytes > b->bytes ? b->bytes : a->bytes, common = 0;

	if (!min || min < max - min)
		return false;
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		if (a->v[i].hash == b->v[k].hash) {
			common += a->v[i].len;
			i++;
			k++;
		} else if (a->v[i].hash < b->v[k].hash) {
			i++;
		} else {
			k++;
		}
	}
	return common >= max - common;
}

static bool has_line(const struct lines *l, const struct line *line)
{
	return l->n && bsearch(line, l->v, l->n, sizeof(*l->v), by_hash);
}

void lines_added(const struct lines *from, const struct lines *to, struct lines *ret)
{
	size_t cap = 0;

	for (size_t i = 0; i < to->n; i++) {
		const struct line *l = &to->v[i];

		if (!l->says || (i && l->hash == l[-1].hash) || has_line(from, l))
			continue;
		GA_GROW(ret->v, ret->n, cap);
		ret->v[ret->n++] = *l;
	}
}

bool lines_any(const struct lines *of, const struct lines *in, const struct lines *but)
{
	for (size_t i = 0; i < of->n; i++)
		if (has_line(in, &of->v[i]) && !has_line(but, &of->v[i]))
			return true;
	return false;
}
