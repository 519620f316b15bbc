/* SPDX-License-Identifier: MIT
 *
 * Characters that can be spelt in several ways. Names that HFS+ and most people take for the same
 * need not have the same code points: an accented letter can be one, or a letter and a mark. Covers
 * the scripts for which this matters in names, Hangul (computed), and full-width forms of ASCII.
 */
#include <string.h>

#include "ga/quote.h"
#include "internal.h"

enum { STEPS_MAX = 4, MARKS_MAX = 32 };

/* What a mark makes of which characters: " ÀA ÈE " has pairs of the result and its origin. */
static const struct {
	uint32_t mark; /* 0: another spelling of one character */
	const char *pairs;
} rows[] = {
#include "compose.def"
};

/* Take one mark off `*c`. False: it has none. */
static bool take_apart(uint32_t *c, uint32_t *ret_mark)
{
	cleanup_buf struct ga_buf key = GA_BUF_INIT;

	ga_buf_addch(&key, ' ');
	ga_risk_put(&key, *c);
	for (size_t i = 0; *c >= 0xc0 && i < GA_NELEMS(rows); i++) {
		const char *pair = strstr(rows[i].pairs, key.ptr);

		if (!pair)
			continue;
		*ret_mark = rows[i].mark;
		return ga_utf8_decode(pair + key.len, strlen(pair + key.len), c) > 0;
	}
	return false;
}

static bool is_mark(uint32_t c)
{
	return c >= 0x300 && c <= 0x36f;
}

/* Is there one code point for this character with this mark? */
static bool is_composable(uint32_t c, uint32_t mark)
{
	cleanup_buf struct ga_buf key = GA_BUF_INIT;

	ga_risk_put(&key, c);
	ga_buf_addch(&key, ' ');
	for (size_t i = 0; i < GA_NELEMS(rows); i++)
		if (rows[i].mark == mark && c > ' ' && strstr(rows[i].pairs, key.ptr))
			return true;
	return false;
}

static void put_hangul(struct ga_buf *out, uint32_t c)
{
	uint32_t s = c - 0xac00;

	ga_risk_put(out, 0x1100 + s / 588);
	ga_risk_put(out, 0x1161 + s % 588 / 28);
	if (s % 28)
		ga_risk_put(out, 0x11a7 + s % 28);
}

static void put_ligature(struct ga_buf *out, uint32_t c)
{
	static const char *const parts[] = { "ff", "fi", "fl", "ffi", "ffl", "st", "st" };

	ga_buf_adds(out, parts[c - 0xfb00]);
}

struct marks {
	uint32_t v[MARKS_MAX];
	size_t n;
};

/* Marks of one letter can come in any order: put them in that of their code points. */
static void flush_marks(struct ga_buf *out, struct marks *m)
{
	for (size_t i = 1; i < m->n; i++)
		for (size_t j = i; j && m->v[j - 1] > m->v[j]; j--) {
			uint32_t swap = m->v[j];

			m->v[j] = m->v[j - 1];
			m->v[j - 1] = swap;
		}
	for (size_t i = 0; i < m->n; i++)
		ga_risk_put(out, m->v[i]);
	m->n = 0;
}

static void add_mark(struct ga_buf *out, struct marks *m, uint32_t c)
{
	if (m->n == MARKS_MAX)
		flush_marks(out, m);
	m->v[m->n++] = c;
}

static void put_letter(struct ga_buf *out, struct marks *m, uint32_t c)
{
	uint32_t late[STEPS_MAX], mark;
	size_t n = 0;

	while (n < STEPS_MAX && take_apart(&c, &mark))
		if (mark)
			late[n++] = mark;
	if (is_mark(c)) {
		add_mark(out, m, c);
	} else {
		flush_marks(out, m);
		if (c >= 0xac00 && c <= 0xd7a3)
			put_hangul(out, c);
		else if (c >= 0xfb00 && c <= 0xfb06)
			put_ligature(out, c);
		else
			ga_risk_put(out, c >= 0xff01 && c <= 0xff5e ? c - 0xfee0 : c);
	}
	while (n)
		add_mark(out, m, late[--n]);
}

void ga_risk_decompose(struct ga_buf *out, const char *s)
{
	struct marks marks = { .n = 0 };
	size_t n = strlen(s), plain = 0;
	uint32_t c;

	while (plain < n && !(s[plain] & 0x80))
		plain++;
	ga_buf_add(out, s, plain);
	for (size_t i = plain, len; i < n; i += len) {
		len = ga_utf8_decode(s + i, n - i, &c);
		if (len > 1) {
			put_letter(out, &marks, c);
			continue;
		}
		flush_marks(out, &marks);
		ga_buf_addch(out, s[i]);
		len = 1;
	}
	flush_marks(out, &marks);
}

bool ga_risk_composed(const char *s, size_t n)
{
	uint32_t c, before = 0;

	for (size_t i = 0, len; i < n; i += len, before = c) {
		len = ga_utf8_decode(s + i, n - i, &c);
		if (!len) {
			len = 1;
			c = 0;
		}
		if (c == 0x212a || c == 0x212b ||
		    (is_mark(c) && !is_mark(before) && is_composable(before, c)))
			return false;
	}
	return true;
}
