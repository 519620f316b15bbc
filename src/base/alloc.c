/* SPDX-License-Identifier: MIT */
#include "ga/base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *checked(void *p)
{
	if (!p) {
		(void)fputs("git-agent: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *ga_malloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *ga_calloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *ga_realloc(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1));
}

void *ga_reallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return checked(NULL);
	return ga_realloc(p, n * size);
}

char *ga_strdup(const char *s)
{
	return ga_memdup(s, strlen(s) + 1);
}

bool ga_ends_in_n(const char *s, size_t n, const char *end)
{
	size_t len = strlen(end);

	return n >= len && !memcmp(s + n - len, end, len);
}

bool ga_ends_in(const char *s, const char *end)
{
	return ga_ends_in_n(s, strlen(s), end);
}

bool ga_has_word_n(const char *list, const char *word, size_t n)
{
	if (!n || memchr(word, ' ', n))
		return false;
	for (const char *p = list; (p = strchr(p, *word)); p++)
		if ((p == list || p[-1] == ' ') && !strncmp(p, word, n) &&
		    (!p[n] || p[n] == ' '))
			return true;
	return false;
}

bool ga_has_word(const char *list, const char *word)
{
	return ga_has_word_n(list, word, strlen(word));
}

bool ga_finds_any(ga_find_fn *find, const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (find(text, words[i]))
			return true;
	return false;
}

char *ga_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = ga_malloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void *ga_memdup(const void *p, size_t n)
{
	void *q = ga_malloc(n);

	if (n)
		memcpy(q, p, n);
	return q;
}

char *ga_vstrf(const char *fmt, va_list ap)
{
	char *p = NULL;

	return checked(vasprintf(&p, fmt, ap) < 0 ? NULL : p);
}

char *ga_strf(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = ga_vstrf(fmt, ap);
	va_end(ap);
	return p;
}

void ga_bug(const char *file, int line, const char *what)
{
	(void)fprintf(stderr, "git-agent: internal error at %s:%d: %s\n", file, line, what);
	abort();
}

void ga_cleanup_freep(void *pp)
{
	free(*(void **)pp);
}
