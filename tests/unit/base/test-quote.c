/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/base/quote.h"
#include "ga/sys/process.h"

struct one {
	const char *in, *out;
};

TEST(a_name_is_quoted_if_it_has_odd_characters)
{
	static const struct one cases[] = {
		{ "", "\"\"" },
		{ "plain/name.c", "plain/name.c" },
		{ "gr\xc3\xbc\xc3\x9f.txt", "gr\xc3\xbc\xc3\x9f.txt" },
		{ "two words", "\"two words\"" },
		{ "it's", "\"it's\"" },
		{ "a\"b", "\"a\\\"b\"" },
		{ "a\\b", "\"a\\\\b\"" },
		{ "a\nb\tc\rd", "\"a\\nb\\tc\\rd\"" },
		{ "\x1b[31mred", "\"\\e[31mred\"" },
		{ "\x01\x7f", "\"\\x01\\x7f\"" },
		{ "\xff\xc3", "\"\\xff\\xc3\"" },
		/* overlong "/", a surrogate, above 10FFFF: bytes, not characters */
		{ "\xc0\xaf", "\"\\xc0\\xaf\"" },
		{ "\xed\xa0\x80", "\"\\xed\\xa0\\x80\"" },
		{ "\xf4\x90\x80\x80", "\"\\xf4\\x90\\x80\\x80\"" },
		/* CSI as a C1 control, right-to-left override, zero width, BOM, tag */
		{ "\xc2\x9b" "31m", "\"\\u{9b}31m\"" },
		{ "a\xe2\x80\xae" "b", "\"a\\u{202e}b\"" },
		{ "a\xe2\x80\x8b" "b", "\"a\\u{200b}b\"" },
		{ "\xef\xbb\xbfx", "\"\\u{feff}x\"" },
		{ "x\xf3\xa0\x81\x81", "\"x\\u{e0041}\"" },
		{ "\xe2\x80\xa8", "\"\\u{2028}\"" },
		/* what looks like a space: to the eye the name ends there */
		{ "a\xc2\xa0(accepted)", "\"a\xc2\xa0(accepted)\"" },
		{ "\xe5\xb1\xb1\xe3\x80\x80\xe7\x94\xb0", "\"\xe5\xb1\xb1\xe3\x80\x80\xe7\x94\xb0\"" },
		{ "\xe1\x9a\x80", "\"\xe1\x9a\x80\"" },
		{ "\xe2\xa0\x81\xe3\x80\x81", "\xe2\xa0\x81\xe3\x80\x81" },
	};

	for_index (i, cases) {
		cleanup_free char *q = ga_quote(cases[i].in);

		if (strcmp(q, cases[i].out))
			fail_msg("case %zu: got %s, not %s", i, q, cases[i].out);
	}
}

TEST(a_message_has_quotes_of_its_own)
{
	static const struct one cases[] = {
		{ "", "" },
		{ "a b", "a b" },
		{ "say \"x\"", "say \"x\"" },
		{ "a\nb\x1b", "a\\nb\\e" },
	};

	for_each (row, cases) {
		cleanup_free char *got = ga_escape(row->in);

		STREQ(got, row->out);
	}
}

TEST(text_keeps_its_lines)
{
	static const struct one cases[] = {
		{ "one\n\ttwo\n", "one\n\ttwo\n" },
		{ "a\\b", "a\\b" },
		{ "a\rb", "a\\rb" },
		{ "\x1b]0;title\x07", "\\e]0;title\\x07" },
		{ "\xe2\x80\xae", "\\u{202e}" },
		/* what is invisible in a word: a grapheme joiner, a filler, a musical sign, a joiner */
		{ "a\xcd\x8f" "b", "a\\u{34f}b" },
		{ "a\xe1\x85\xa0" "b", "a\\u{1160}b" },
		{ "a\xf0\x9d\x85\xb3" "b", "a\\u{1d173}b" },
		{ "a\xe2\x80\x8d" "b", "a\\u{200d}b" },
		{ "\xc3\xa9\xe2\x80\x8c\xc3\xa9", "\xc3\xa9\\u{200c}\xc3\xa9" },
		{ "a\xef\xb8\x8f" "b", "a\\u{fe0f}b" },
		{ "1\xef\xb8\x8f", "1\\u{fe0f}" },
		/* Persian, and emoji: a joined pair, a keycap, a heart */
		{ "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae" },
		{ "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb" },
		{ "1\xef\xb8\x8f\xe2\x83\xa3", "1\xef\xb8\x8f\xe2\x83\xa3" },
		{ "\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f" },
		{ "a\xe3\x80\x80" "b\xc2\xa0", "a\xe3\x80\x80" "b\xc2\xa0" },
	};

	for_each (row, cases) {
		BUF(b);

		ga_quote_add_text(&b, row->in, strlen(row->in));
		STREQ(b.ptr, row->out);
	}
}

/* Whatever goes in, only printable ASCII and valid, visible UTF-8 comes out; and
 * different names look different. All strings of two bytes. */
TEST(nothing_raw_comes_out)
{
	BUF(b);
	BUF(before);

	for (unsigned v = 0; v < 65536; v++) {
		const char in[2] = { (char)(v >> 8), (char)(v & 255) };

		ga_buf_clear(&b);
		ga_quote_add(&b, in, 2);
		if (!ga_utf8_valid(b.ptr, b.len))
			fail_msg("%04x: not UTF-8: %s", v, b.ptr);
		for (size_t i = 0; i < b.len; i++)
			if ((unsigned char)b.ptr[i] < 0x20 || b.ptr[i] == 0x7f)
				fail_msg("%04x: control in %s", v, b.ptr);
		if (b.len == before.len && !memcmp(b.ptr, before.ptr, b.len))
			fail_msg("%04x: same as the one before: %s", v, b.ptr);
		ga_buf_clear(&before);
		ga_buf_add(&before, b.ptr, b.len);
	}
}

TEST(a_NUL_and_a_cut_character_are_escaped)
{
	BUF(b);

	ga_quote_add(&b, "a\0b\xe2\x80", 5);
	STREQ(b.ptr, "a\\x00b\\xe2\\x80");
}

TEST(only_valid_UTF_8_is_valid)
{
	static const struct {
		const char *s;
		size_t n;
		bool ok;
	} cases[] = {
		{ "", 0, true },
		{ "a\0b", 3, true },
		{ "\xf4\x8f\xbf\xbf", 4, true },
		{ "\xe2\x82\xac", 3, true },
		{ "\xe2\x82\xac", 2, false },
		{ "\x80", 1, false },
		{ "\xc1\xbf", 2, false },
		{ "\xe0\x9f\xbf", 3, false },
		{ "\xf0\x8f\xbf\xbf", 4, false },
		{ "\xed\xbf\xbf", 3, false },
		{ "\xf5\x80\x80\x80", 4, false },
		{ "\xff", 1, false },
		{ "ok\xc3(", 4, false },
	};

	for_index (i, cases)
		if (ga_utf8_valid(cases[i].s, cases[i].n) != cases[i].ok)
			fail_msg("case %zu", i);
}

TEST(a_shell_reads_a_quoted_word_as_it_was)
{
	static const char *const words[] = {
		"",	  "plain-1.0/x", "two words", "it's",	 "''",	    "$HOME `id` $(id)",
		"a\\\nb", "*",		 "~root",     "a=b;c&d", "!x \"y\"", "-n",
		"\xff\x01\x1b",
	};

	for_each (row, words) {
		BUF(out);
		cleanup_free char *q = ga_quote_shell(*row);
		cleanup_free char *script = ga_strf("printf '%%s|' %s", q);
		cleanup_free char *want = ga_strf("%s|", *row);
		const char *const argv[] = { "sh", "-c", script, NULL };
		struct ga_process p = GA_PROCESS_INIT;
		int status = -1;

		p.argv = argv;
		p.out = &out;
		OK(ga_process_run(&p, &status, &err));
		EQUAL(status, 0);
		STREQ(out.ptr, want);
	}
}

TEST(paths_are_quoted_as_git_does)
{
	static const struct {
		const char *in, *out;
		bool any;
	} cases[] = {
		{ "", "", false },
		{ "a b/c'd~", "a b/c'd~", false },
		{ "\a\b\t\n\v\f\r\"\\", "\\a\\b\\t\\n\\v\\f\\r\\\"\\\\", true },
		{ "\x01\x1b\x7f", "\\001\\033\\177", true },
		{ "\xc3\xa9", "\\303\\251", true },
	};

	for_each (row, cases) {
		BUF(b);

		EQUAL(ga_quote_git_add(&b, row->in), row->any);
		STREQ(b.ptr, row->out);
	}
}

TEST(text_is_cut_between_characters)
{
	EQUAL(ga_utf8_cut("abc", 3, 3), 3);
	EQUAL(ga_utf8_cut("abc", 3, 2), 2);
	EQUAL(ga_utf8_cut("abc", 3, 0), 0);
	EQUAL(ga_utf8_cut("a\xc3\xbc", 3, 2), 1);
	EQUAL(ga_utf8_cut("\xc3\xbc", 2, 1), 0);
	for (size_t max = 1; max < 5; max++)
		EQUAL(ga_utf8_cut("a\xf0\x9f\x98\x80" "b", 6, max), 1);
	EQUAL(ga_utf8_cut("a\xf0\x9f\x98\x80" "b", 6, 5), 5);
	/* no UTF-8: anywhere will do, and not far from there */
	EQUAL(ga_utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
	EQUAL(ga_utf8_cut("\x80\x80", 2, 1), 1);
}

TEST_MAIN(NULL, NULL)
