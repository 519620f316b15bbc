/* SPDX-License-Identifier: MIT */
#include "ga/base/quote.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t ga_utf8_decode(const char *str, size_t n, uint32_t *ret)
{
	const unsigned char *s = (const unsigned char *)str;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t c;

	if (s[0] < 0x80) {
		*ret = s[0];
		return 1;
	}
	if ((s[0] & 0xe0) == 0xc0) {
		len = 2;
		c = s[0] & 0x1f;
	} else if ((s[0] & 0xf0) == 0xe0) {
		len = 3;
		c = s[0] & 0x0f;
	} else if ((s[0] & 0xf8) == 0xf0) {
		len = 4;
		c = s[0] & 0x07;
	} else {
		return 0;
	}
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return len;
}

void ga_utf8_put(struct ga_buf *out, uint32_t c)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	char bytes[4];

	if (c > 0x10ffff)
		return;
	for (size_t i = len; i--; c >>= 6)
		bytes[i] = (char)(i ? 0x80 | (c & 0x3f) : first[len] | c);
	ga_buf_add(out, bytes, len);
}

struct range {
	uint32_t first, last;
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

bool ga_is_invisible(uint32_t c)
{
	static const struct range ignorable[] = {
#include "ignorable.def"
	};

	return in_ranges(c, ignorable, GA_NELEMS(ignorable));
}

static bool is_emoji(uint32_t c)
{
	static const struct range emoji[] = {
		{ 0xa9, 0xa9 }, { 0xae, 0xae }, { 0x203c, 0x203c }, { 0x2049, 0x2049 },
		{ 0x2122, 0x2122 }, { 0x2139, 0x2139 }, { 0x2190, 0x21ff }, { 0x2300, 0x23ff },
		{ 0x24c2, 0x24c2 }, { 0x25a0, 0x27bf }, { 0x2934, 0x2935 }, { 0x2b00, 0x2bff },
		{ 0x3030, 0x3030 }, { 0x303d, 0x303d }, { 0x3297, 0x3299 }, { 0x1f000, 0x1faff },
	};

	return in_ranges(c, emoji, GA_NELEMS(emoji));
}

/* Is it of a script in which joiners shape letters: Arabic and its neighbours, those of India and
 * South East Asia, Mongolian? */
static bool is_shaped(uint32_t c)
{
	static const struct range shaped[] = {
		{ 0x620, 0x8ff }, { 0x900, 0x109f }, { 0x1700, 0x17b3 }, { 0x17b6, 0x17ff },
		{ 0x1820, 0x18af }, { 0x1900, 0x1c4f }, { 0x1cd0, 0x1cff }, { 0xa800, 0xa8ff },
		{ 0xa930, 0xaaff }, { 0xabc0, 0xabff }, { 0xfb50, 0xfdff }, { 0xfe70, 0xfefc },
		{ 0x10a00, 0x10aff }, { 0x11000, 0x11fff }, { 0x1e900, 0x1e95f },
	};

	return in_ranges(c, shaped, GA_NELEMS(shaped));
}

bool ga_is_hidden(uint32_t before, uint32_t c, uint32_t after)
{
	bool keycap = after == 0x20e3 && before < 0x80;

	if (!ga_is_invisible(c))
		return false;
	if (c == 0xfe0e || c == 0xfe0f)
		return !is_emoji(before) && !keycap;
	if (c != 0x200c && c != 0x200d)
		return true;
	if (c == 0x200d && (is_emoji(before) || before == 0xfe0f) && is_emoji(after))
		return false;
	return !is_shaped(before) || !is_shaped(after);
}

/* Must the code point be escaped? In names, every invisible one is. */
static bool deceptive(uint32_t before, uint32_t c, const char *next, size_t n, bool text)
{
	uint32_t after = 0;

	if (c < 0xa0 || c == 0x2028 || c == 0x2029 || (c >= 0xfff9 && c <= 0xfffb))
		return c >= 0x80;
	if (!text || !ga_is_invisible(c))
		return ga_is_invisible(c);
	if (n && !ga_utf8_decode(next, n, &after))
		after = 0;
	return ga_is_hidden(before, c, after);
}

bool ga_is_blank(uint32_t c)
{
	return c == ' ' || c == '\t' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	       c == 0x202f || c == 0x205f || c == 0x2800 || c == 0x3000;
}

bool ga_utf8_valid(const char *s, size_t n)
{
	uint32_t c;

	while (n) {
		size_t len = ga_utf8_decode(s, n, &c);

		if (!len)
			return false;
		s += len;
		n -= len;
	}
	return true;
}

size_t ga_utf8_cut(const char *s, size_t n, size_t max)
{
	size_t at = max;

	if (n <= max)
		return n;
	/* of what is no UTF-8, none of these three need be a beginning */
	while (at && max - at < 3 && ((unsigned char)s[at] & 0xc0) == 0x80)
		at--;
	return ((unsigned char)s[at] & 0xc0) == 0x80 ? max : at;
}

static void add_control(struct ga_buf *out, unsigned char c)
{
	static const char named[] = "\n\t\r\x1b", letters[] = "ntre";
	const char *at = c ? strchr(named, c) : NULL;

	if (at)
		ga_buf_addf(out, "\\%c", letters[at - named]);
	else
		ga_buf_addf(out, "\\x%02x", c);
}

static void quote_bytes(struct ga_buf *out, const char *s, size_t n, bool text)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = 0, before = 0;

	for (; n; before = c) {
		size_t len = ga_utf8_decode((const char *)p, n, &c);

		if (!len) {
			ga_buf_addf(out, "\\x%02x", *p);
			len = 1;
			c = 0;
		} else if (c < 0x20 || c == 0x7f) {
			if (text && (c == '\n' || c == '\t'))
				ga_buf_addch(out, (char)c);
			else
				add_control(out, (unsigned char)c);
		} else if (c == '\\' && !text) {
			ga_buf_adds(out, "\\\\");
		} else if (deceptive(before, c, (const char *)p + len, n - len, text)) {
			ga_buf_addf(out, "\\u{%x}", (unsigned)c);
		} else {
			ga_buf_add(out, p, len);
		}
		p += len;
		n -= len;
	}
}

void ga_quote_add(struct ga_buf *out, const char *s, size_t n)
{
	quote_bytes(out, s, n, false);
}

void ga_quote_add_text(struct ga_buf *out, const char *s, size_t n)
{
	quote_bytes(out, s, n, true);
}

char *ga_escape(const char *s)
{
	struct ga_buf out = GA_BUF_INIT;

	ga_quote_add(&out, s, strlen(s));
	return ga_buf_steal(&out);
}

const char *ga_shown(const char *s, char *(*how)(const char *s), char ret[GA_SHOWN_MAX])
{
	int saved = errno;
	cleanup_free char *text = how(s);

	(void)snprintf(ret, GA_SHOWN_MAX, "%s", text);
	errno = saved;
	return ret;
}

/* Blanks of any script count, because a name seems to end there. */
static bool has_blank(const char *s)
{
	size_t left = strlen(s), len;
	uint32_t c = 0;

	for (; left; s += len, left -= len) {
		len = ga_utf8_decode(s, left, &c);
		if (!len)
			len = 1;
		else if (ga_is_blank(c))
			return true;
	}
	return false;
}

char *ga_quote(const char *s)
{
	cleanup_buf struct ga_buf plain = GA_BUF_INIT, out = GA_BUF_INIT;

	ga_quote_add(&plain, s, strlen(s));
	if (*s && !strpbrk(s, "\"'") && !has_blank(s) && !strcmp(plain.ptr, s))
		return ga_strdup(s);
	ga_buf_addch(&out, '"');
	for (const char *p = plain.ptr; *p; p++) {
		if (*p == '"')
			ga_buf_addch(&out, '\\');
		ga_buf_addch(&out, *p);
	}
	ga_buf_addch(&out, '"');
	return ga_buf_steal(&out);
}

char *ga_quote_list(const struct ga_strv *sv, size_t max)
{
	struct ga_buf out = GA_BUF_INIT;

	for (size_t i = 0; i < sv->n && i < max; i++) {
		cleanup_free char *q = ga_quote(sv->v[i]);

		ga_buf_addf(&out, "%s%s", i ? ", " : "", q);
	}
	if (sv->n > max)
		ga_buf_addf(&out, " and %zu more", sv->n - max);
	return ga_buf_steal(&out);
}

char *ga_quote_shell(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	struct ga_buf out = GA_BUF_INIT;

	if (*s && !s[strspn(s, plain)])
		return ga_strdup(s);
	ga_buf_addch(&out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			ga_buf_adds(&out, "'\\''");
		else
			ga_buf_addch(&out, *s);
	}
	ga_buf_addch(&out, '\'');
	return ga_buf_steal(&out);
}

char *ga_quote_shell_words(const struct ga_strv *words)
{
	struct ga_buf line = GA_BUF_INIT;

	for (size_t i = 0; i < words->n; i++) {
		cleanup_free char *q = ga_quote_shell(words->v[i]);

		ga_buf_addf(&line, "%s%s", i ? " " : "", q);
	}
	return ga_buf_steal(&line);
}

bool ga_quote_git_add(struct ga_buf *out, const char *s)
{
	static const char named[] = "\a\b\t\n\v\f\r\"\\", letters[] = "abtnvfr\"\\";
	bool any = false;

	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		const char *at = strchr(named, *p);

		any = any || at || *p < 0x20 || *p >= 0x7f;
		if (at)
			ga_buf_addf(out, "\\%c", letters[at - named]);
		else if (*p < 0x20 || *p >= 0x7f)
			ga_buf_addf(out, "\\%03o", *p);
		else
			ga_buf_addch(out, (char)*p);
	}
	return any;
}
