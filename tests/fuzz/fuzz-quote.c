/* SPDX-License-Identifier: MIT
 *
 * Quoting gives back what went in, and lets nothing through that a terminal acts upon.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/base/quote.h"

/* Valid UTF-8 with no control in it, neither C0 nor C1, but those named. */
static void check_harmless(const char *s, const char *allowed)
{
	size_t left = strlen(s), len;
	uint32_t c;

	for (; left; s += len, left -= len) {
		len = ga_utf8_decode(s, left, &c);
		CHECK(len);
		if (c < 0x80 && strchr(allowed, (int)c))
			continue;
		CHECK(c >= 0x20 && (c < 0x7f || c > 0x9f));
		CHECK(c < 0x202a || (c > 0x202e && c < 0x2066) || c > 0x2069);
	}
}

static unsigned hex(const char **p, size_t max)
{
	unsigned v = 0;

	for (; max && strchr("0123456789abcdef", **p) && **p; max--, (*p)++)
		v = v * 16 + (unsigned)(strchr("0123456789abcdef", **p) - "0123456789abcdef");
	return v;
}

static void add_utf8(struct ga_buf *out, unsigned c)
{
	if (c < 0x800) {
		ga_buf_addch(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			ga_buf_addch(out, (char)(0xe0 | c >> 12));
		} else {
			ga_buf_addch(out, (char)(0xf0 | c >> 18));
			ga_buf_addch(out, (char)(0x80 | (c >> 12 & 63)));
		}
		ga_buf_addch(out, (char)(0x80 | (c >> 6 & 63)));
	}
	ga_buf_addch(out, (char)(0x80 | (c & 63)));
}

/* Undo the escapes of ga_quote_add(), and of a quote. */
static void unescape(const char *p, struct ga_buf *out)
{
	while (*p) {
		char c = *p++;

		if (c != '\\') {
			ga_buf_addch(out, c);
			continue;
		}
		switch (c = *p++) {
		case 'n':
			ga_buf_addch(out, '\n');
			break;
		case 't':
			ga_buf_addch(out, '\t');
			break;
		case 'r':
			ga_buf_addch(out, '\r');
			break;
		case 'e':
			ga_buf_addch(out, '\033');
			break;
		case 'x':
			ga_buf_addch(out, (char)hex(&p, 2));
			break;
		case 'u':
			CHECK(*p++ == '{');
			add_utf8(out, hex(&p, 6));
			CHECK(*p++ == '}');
			break;
		default:
			CHECK(c == '\\' || c == '"');
			ga_buf_addch(out, c);
		}
	}
}

static void check_quoted(const char *s)
{
	cleanup_free char *escaped = ga_escape(s), *quoted = ga_quote(s), *inner = NULL;
	cleanup_buf struct ga_buf back = GA_BUF_INIT, text = GA_BUF_INIT;
	size_t n = strlen(quoted);

	check_harmless(escaped, "");
	unescape(escaped, &back);
	CHECK(!strcmp(back.ptr, s) && back.len == strlen(s));

	check_harmless(quoted, "");
	if (quoted[0] == '"') {
		CHECK(n >= 2 && quoted[n - 1] == '"');
		inner = ga_strndup(quoted + 1, n - 2);
		ga_buf_clear(&back);
		unescape(inner, &back);
		CHECK(!strcmp(back.ptr, s));
	} else {
		CHECK(!strcmp(quoted, s) && *s && !strpbrk(s, " \"'\\"));
	}

	ga_quote_add_text(&text, s, strlen(s));
	check_harmless(text.ptr, "\n\t");
}

/* What a shell makes of a command line of one word; what could be more than that fails. */
static void check_shell(const char *s)
{
	cleanup_free char *word = ga_quote_shell(s);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	bool quoted = false;

	CHECK(*word);
	for (const char *p = word; *p; p++) {
		if (*p == '\'') {
			quoted = !quoted;
		} else if (quoted) {
			ga_buf_addch(&out, *p);
		} else if (*p == '\\') {
			CHECK(*++p && *p != '\n');
			ga_buf_addch(&out, *p);
		} else {
			CHECK((unsigned char)*p > ' ' && (unsigned char)*p < 0x7f &&
			      !strchr("|&;<>()$`\"*?[]{}!#~^", *p));
			ga_buf_addch(&out, *p);
		}
	}
	CHECK(!quoted && out.len == strlen(s) && !strcmp(out.ptr, s));
}

static void check_base64(const uint8_t *data, size_t n, const char *s)
{
	cleanup_free char *encoded = ga_base64(data, n), *again = NULL;
	cleanup_buf struct ga_buf back = GA_BUF_INIT;

	CHECK(ga_base64_decode(encoded, &back));
	CHECK(back.len == n && (!n || !memcmp(back.ptr, data, n)));
	/* only one way to write something is taken */
	ga_buf_clear(&back);
	if (ga_base64_decode(s, &back)) {
		again = ga_base64(back.ptr, back.len);
		CHECK(!strcmp(again, s));
	} else {
		CHECK(!back.len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_free char *s = fuzz_text(&in);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	check_quoted(s);
	check_shell(s);
	check_base64(data, n, s);
	/* with NULs, too */
	ga_quote_add(&b, n ? (const char *)data : "", n);
	check_harmless(b.ptr, "");
	CHECK(strlen(b.ptr) == b.len);
	return 0;
}
