/* SPDX-License-Identifier: MIT
 *
 * A value, and whether it is a secret: noting it, what looks random, and what stands in place of
 * one.
 */
#include <ctype.h>
#include <string.h>

#include "ga/base/alloc.h"
#include "internal.h"

#define RANDOM_MIN 12
#define RANDOM_BITS 3584 /* for each character, in 1024ths */

bool secret_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

void secret_met(struct ga_secret_marks *m, uint32_t bit, const char *value, size_t n)
{
	uint64_t h = 14695981039346656037u ^ bit; /* FNV-1a */

	m->bits |= bit;
	if (m->blot) {
		memset(m->blot + (value - (const char *)m->blot), '*', n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (value[i] != '\r')
			h = (h ^ (unsigned char)value[i]) * 1099511628211u;
	if (m->n_prints < GA_SECRET_PRINTS_MAX)
		m->prints[m->n_prints++] = h;
}

bool ga_secret_within(const struct ga_secret_marks *a, const struct ga_secret_marks *b)
{
	/* there are none to compare, or more than could be remembered */
	if (!a->n_prints || a->n_prints == GA_SECRET_PRINTS_MAX)
		return false;
	for (size_t i = 0; i < a->n_prints; i++) {
		size_t k = 0;

		while (k < b->n_prints && b->prints[k] != a->prints[i])
			k++;
		if (k == b->n_prints)
			return false;
	}
	return true;
}

/* The binary logarithm of a small number, in 1024ths. */
static unsigned log2_of(unsigned n)
{
	unsigned whole = 31 - (unsigned)__builtin_clz(n), frac = 0;
	uint64_t x = (uint64_t)n << (31 - whole); /* 1 <= x / 2^31 < 2 */

	for (int i = 0; i < 10; i++) {
		x = x * x >> 31;
		frac = frac << 1 | (x >> 32 ? 1 : 0);
		x >>= x >> 32 ? 1 : 0;
	}
	return whole * 1024 + frac;
}

/* Shannon's: n log2 n - sum of c log2 c */
unsigned ga_secret_entropy(const char *p, size_t n)
{
	unsigned count[256] = { 0 }, bits = 0;

	for (size_t i = 0; i < n; i++)
		count[(unsigned char)p[i]]++;
	for (size_t i = 0; i < GA_NELEMS(count); i++)
		bits += count[i] ? count[i] * log2_of(count[i]) : 0;
	return n ? (unsigned)n * log2_of((unsigned)n) - bits : 0;
}

bool secret_random(const char *p, size_t n)
{
	if (n < RANDOM_MIN)
		return false;
	n = n > 256 ? 256 : n;
	/* few characters cannot have more entropy: 14 of them have log2 14 bits each at most */
	return ga_secret_entropy(p, n) >= n * (n < 14 ? RANDOM_BITS - 307 : RANDOM_BITS);
}

bool secret_begins(const char *p, size_t n, const char *with)
{
	return n >= strlen(with) && !strncasecmp(p, with, strlen(with));
}

static bool holds(const char *p, size_t n, const char *what)
{
	for (size_t k = strlen(what); n >= k; p++, n--)
		if (secret_begins(p, n, what))
			return true;
	return false;
}

static bool only(const char *p, size_t n, const char *set)
{
	for (size_t i = 0; i < n; i++)
		if (!p[i] || !strchr(set, p[i]))
			return false;
	return true;
}

bool ga_secret_placeholder(const char *p, size_t n)
{
	static const char *const first[] = {
		"your", "my_", "my-", "the_", "the-", "some", "example", "dummy", "test", "fake",
		"change", "placeholder", "todo", "fixme", "xxx", "none", "null", "nil", "true",
		"false", "undefined", "secret", "password", "passwd", "foobar", "localhost",
		"replace", "insert", "enter", "redacted", "sample", "default", "process.env",
		"os.environ", "os.getenv", "env.", "env[", "env(", "getenv", "system.getenv",
		"config.", "config[", "settings.", "self.", "this.", "vault:", "ref:", "ref+",
		"secretkeyref", "arn:aws:secretsmanager", "op://", "file://", "projects/", "enc[",
		"var.", "local.", "data.", "module.", "secrets.",
	};
	static const char *const anywhere[] = { "example", "changeme", "change_me", "change-me",
						"placeholder", "your_", "your-", "<your", "xxxx",
						"****", "...." };

	if (n < SECRET_MIN || only(p, n, "xX") || only(p, n, "*") || only(p, n, ".") ||
	    only(p, n, "-_=#") || only(p, n, "0123456789."))
		return true;
	/* references: ${X}, $X, {{ x }}, <x>, %X%, %(x)s, #{x}, @x@, [x] */
	if (strchr("$<{%#@[(", *p) && *p)
		return *p != '$' || !memchr(p + 1, '$', n - 1); /* $2y$... is a hash */
	for (size_t i = 0; i < GA_NELEMS(first); i++)
		if (secret_begins(p, n, first[i]))
			return true;
	for (size_t i = 0; i < GA_NELEMS(anywhere); i++)
		if (holds(p, n, anywhere[i]))
			return true;
	return false;
}

bool secret_has_ending(const char *path, const char *list)
{
	const char *dot = strrchr(path, '.');

	return dot && ga_has_word(list, dot + 1);
}

bool ga_secret_is_code(const char *path)
{
	return secret_has_ending(path,
				 "c h cc cpp hpp cs go rs py pyi rb js mjs cjs jsx ts tsx java kt "
				 "scala swift m php pl lua ex exs erl hs ml clj dart vue svelte "
				 "html css scss ps1 tf nix zig sol proto graphql");
}
