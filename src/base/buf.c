/* SPDX-License-Identifier: MIT */
#include "ga/base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

char ga_buf_empty[1];

void ga_buf_release(struct ga_buf *b)
{
	if (b->cap)
		free(b->ptr);
	*b = (struct ga_buf)GA_BUF_INIT;
}

void ga_buf_clear(struct ga_buf *b)
{
	ga_buf_truncate(b, 0);
}

char *ga_buf_reserve(struct ga_buf *b, size_t n)
{
	size_t need, cap;

	if (n >= SIZE_MAX / 2 - b->len)
		GA_BUG("buffer too large");
	need = b->len + n + 1;
	if (need > b->cap) {
		cap = b->cap ? b->cap * 2 : 64;
		if (cap < need)
			cap = need;
		b->ptr = ga_realloc(b->cap ? b->ptr : NULL, cap);
		b->cap = cap;
	}
	b->ptr[b->len] = '\0';
	return b->ptr + b->len;
}

void ga_buf_add(struct ga_buf *b, const void *p, size_t n)
{
	char *at = ga_buf_reserve(b, n);

	if (n)
		memcpy(at, p, n);
	b->len += n;
	b->ptr[b->len] = '\0';
}

void ga_buf_adds(struct ga_buf *b, const char *s)
{
	ga_buf_add(b, s, strlen(s));
}

void ga_buf_add0(struct ga_buf *b, const char *s)
{
	ga_buf_add(b, s, strlen(s) + 1);
}

void ga_buf_addch(struct ga_buf *b, char c)
{
	ga_buf_add(b, &c, 1);
}

void ga_buf_addf(struct ga_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		GA_BUG("vsnprintf");
	(void)ga_buf_reserve(b, (size_t)n);
	va_start(ap, fmt);
	(void)vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void ga_buf_truncate(struct ga_buf *b, size_t len)
{
	if (len < b->len) {
		b->len = len;
		b->ptr[len] = '\0';
	}
}

void ga_buf_chomp(struct ga_buf *b)
{
	if (b->len && b->ptr[b->len - 1] == '\n')
		ga_buf_truncate(b, b->len - 1);
}

char *ga_buf_steal(struct ga_buf *b)
{
	char *p = b->cap ? b->ptr : ga_strdup("");

	*b = (struct ga_buf)GA_BUF_INIT;
	return p;
}

const char *ga_buf_next0(const struct ga_buf *b, size_t *pos)
{
	const char *s;

	if (*pos >= b->len)
		return NULL;
	s = b->ptr + *pos;
	*pos += strlen(s) + 1;
	return s;
}

const char *ga_buf_next_line(const struct ga_buf *b, size_t *pos, size_t *ret_n)
{
	const char *line = b->ptr + *pos, *nl;

	if (*pos >= b->len)
		return NULL;
	nl = memchr(line, '\n', b->len - *pos);
	*ret_n = nl ? (size_t)(nl - line) : b->len - *pos;
	*pos += *ret_n + 1;
	return line;
}

bool ga_buf_equal(const struct ga_buf *a, const struct ga_buf *b)
{
	return a->len == b->len && !memcmp(a->ptr, b->ptr, a->len);
}

void ga_tail_add(struct ga_tail *t, const char *p, size_t n)
{
	size_t new = n < sizeof(t->v) ? n : sizeof(t->v), room = sizeof(t->v) - new;
	size_t old = t->n < room ? t->n : room;

	memmove(t->v, t->v + t->n - old, old);
	memcpy(t->v + old, p + n - new, new);
	t->n = old + new;
}
