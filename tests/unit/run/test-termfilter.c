/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/base/buf.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/run/termfilter.h"

#define WRONG "\xef\xbf\xbd"
#define ST "\033\\"

static void feed(struct ga_termfilter *f, const char *in, size_t n, struct ga_buf *out)
{
	cleanup_free char *room = ga_malloc(GA_TERMFILTER_ROOM(n));
	size_t k = ga_termfilter(f, in, n, room);

	assert_true(k <= GA_TERMFILTER_ROOM(n));
	ga_buf_add(out, room, k);
}

static void expect(const char *what, const struct ga_buf *got, const char *want, size_t n)
{
	BUF(a);
	BUF(b);

	if (got->len == n && (!n || !memcmp(got->ptr, want, n)))
		return;
	ga_quote_add(&a, got->len ? got->ptr : "", got->len);
	ga_quote_add(&b, want, n);
	fail_msg("%s: got '%s', not '%s'", what, a.ptr, b.ptr);
}

/* Whole, cut in two at every place, and byte by byte. */
static void expect_cut(const char *in, size_t n, const char *want, size_t want_n)
{
	BUF(what);

	ga_quote_add(&what, in, n);
	for (size_t cut = 0; cut <= n; cut++) {
		BUF(out);
		struct ga_termfilter f = GA_TERMFILTER_INIT;

		feed(&f, in, cut, &out);
		feed(&f, in + cut, n - cut, &out);
		expect(what.ptr, &out, want, want_n);
	}
	{
		BUF(out);
		struct ga_termfilter f = GA_TERMFILTER_INIT;

		for (size_t i = 0; i < n; i++)
			feed(&f, in + i, 1, &out);
		expect(what.ptr, &out, want, want_n);
	}
}

TEST(each_rule_of_the_table_holds_cut_anywhere)
{
	size_t n;
	const struct ga_termrule *r = ga_termfilter_rules(&n);

	for (size_t i = 0; i < n; i++) {
		const char *e = r[i].example;
		bool pass = r[i].verdict == GA_TERM_PASS || r[i].verdict == GA_TERM_ASK;
		cleanup_free char *in = ga_strf("before%safter", e);
		cleanup_free char *want = ga_strf("before%safter", pass ? e :
						  r[i].verdict == GA_TERM_REPLACE ? WRONG : "");

		expect_cut(in, strlen(in), want, strlen(want));
	}
}

TEST(a_mute_filter_drops_questions_only)
{
	size_t n, asked = 0;
	const struct ga_termrule *r = ga_termfilter_rules(&n);

	for (size_t i = 0; i < n; i++) {
		for (size_t cut = 0; cut <= strlen(r[i].example); cut++) {
			BUF(out);
			BUF(plain);
			struct ga_termfilter f = { .mute = true }, g = GA_TERMFILTER_INIT;
			size_t rest = strlen(r[i].example) - cut;

			feed(&f, r[i].example, cut, &out);
			feed(&f, r[i].example + cut, rest, &out);
			feed(&g, r[i].example, cut + rest, &plain);
			if (r[i].verdict == GA_TERM_ASK)
				expect(r[i].name, &out, "", 0);
			else if (!memchr(r[i].example, '?', strlen(r[i].example)) || r[i].kind == GA_TERM_CSI)
				expect(r[i].name, &out, plain.ptr, plain.len);
			asked += r[i].verdict == GA_TERM_ASK;
		}
	}
	assert_true(asked > 50);
}

TEST(questions_within_strings_are_dropped)
{
	static const struct {
		const char *in, *out;
	} each[] = {
		{ "\033]4;1;?;2;red\a", "\033]4;1;-;2;red\a" },
		{ "\033]11;?\033\\", "\033]11;-\033\\" },
		{ "\033]11;red;?\033\\", "\033]11;red;-\033\\" },
		{ "\033]22;?x,y\033\\", "\033]22;-x,y\033\\" },
		{ "\033]11;?*/etc/passwd\a", "\033]11;-*/etc/passwd\a" },
		/* these are no questions */
		{ "\033]0;why?\a", "\033]0;why?\a" },
		{ "\033]8;;http://x/?y\a", "\033]8;;http://x/?y\a" },
		{ "\033[?2004h\033[>1u\033[?1u\033[<u\033[?25$p\033[!p", "\033[?2004h\033[>1u\033[<u\033[!p" },
	};

	for_each (row, each) {
		for (size_t cut = 0; cut <= strlen(row->in); cut++) {
			BUF(out);
			struct ga_termfilter f = { .mute = true };

			feed(&f, row->in, cut, &out);
			feed(&f, row->in + cut, strlen(row->in) - cut, &out);
			expect(row->in, &out, row->out, strlen(row->out));
		}
	}
}

TEST(eight_bit_controls_begin_no_sequence)
{
	static const char introducers[] = "[]P_^X";
	size_t n, tried = 0;
	const struct ga_termrule *r = ga_termfilter_rules(&n);

	for (size_t i = 0; i < n; i++) {
		const char *e = r[i].example;

		if (*e != '\033' || !strchr(introducers, e[1]))
			continue;
		for (int utf8 = 0; utf8 < 2; utf8++) {
			cleanup_free char *in = ga_strf("%s%c%s", utf8 ? "\xc2" : "", e[1] + 0x40, e + 2);

			for (size_t cut = 0; cut <= strlen(in); cut++) {
				BUF(out);
				struct ga_termfilter f = GA_TERMFILTER_INIT;

				feed(&f, in, cut, &out);
				feed(&f, in + cut, strlen(in) - cut, &out);
				if (strncmp(out.ptr, WRONG, 3) != 0 || strchr(out.ptr, '\033') ||
				    strpbrk(out.ptr + 3, "\x90\x98\x9b\x9d\x9e\x9f"))
					fail_msg("%s: still a sequence", r[i].name);
				tried++;
			}
		}
	}
	assert_true(tried > 1000);
}

struct one {
	const char *in, *out;
};
#define SAME(s) { (s), (s) }

static const struct one cases[] = {
	/* what full-screen programs use */
	SAME("\033[?1049h\033[22;0;0t\033[1;24r\033[?25l\033[H\033[2J\033(B\033[m\033[?1h\033="),
	SAME("\033[38;2;255;128;0m\033[48:2::1:2:3mx\033[4:3m\033[58;5;1m\033[0m"),
	SAME("\033[?1000;1002;1006h\033[?2004h\033[?1004h\033[?2026h\033[?2026l"),
	SAME("\033[>1u\033[?u\033[<u\033[=5;1u\033[>4;2m\033[?4m"),
	SAME("\033[c\033[>c\033[=c\033[5n\033[6n\033[?6n\033[?996n\033[>0q\033[?2026$p\033[x"),
	SAME("\033]10;?\033\\\033]11;?\a\033]4;1;rgb:12/34/56\033\\\033]12;#aabbcc\a\033]112\a"),
	SAME("\033]0;gr\xc3\xbc\xc3\x9f \xe4\xba\x9b\a\033]2;a\033\\\033]1;b\a"),
	SAME("\033]8;id=1;https://example.org/a\aa\033]8;;\a"),
	SAME("\0337\033[5;5H\0338\033D\033E\033M\033H\033#8\033>\033c\033N\033O"),
	SAME("\033)0\016lqk\017\033(0x\033(B\033$(B\033*A"),
	SAME("\033[5 q\033[!p\033[1\"q\033[2;3;4;5$x\033[3'}\033[1\"p\033[?5$p\033[2 @\033[10;20$}"),
	SAME("\033[999999999C\033[99999;99999H"),
	SAME("\033PqABC\033\\\033P0;0;0q#0;2;0;0;0~-\033\\\033[?2;1;0S"),
	SAME("\033_Ga=q,i=1,s=1,v=1,t=d,f=24;AAAA\033\\\033_Gm=1;AAAA\033\\\033_Ga=d\033\\"),
	SAME("\033[22;2t\033[23;2t\033[14t\033[16t\033[18t"),
	/* text */
	SAME("\xe4\xba\x9b \xc3\x9b \xf0\x9f\x98\x9d \xc2\xa0\xe2\x82\xac"),
	{ "gr\xfc\xdf \xe4", "gr\xfc\xdf " },
	SAME("\x84\x85\x88\x8d"),
	/* the end of a string */
	SAME("\033]2;a\033\\b"),
	{ "\033]2;a\x9c" "b", "\033]2;a" ST "b" },
	{ "\033]2;a\xc2\x9c" "b", "\033]2;a" ST "b" },
	{ "\033]2;a\030b", "\033]2;a" ST "b" },
	{ "\033]2;a\032b", "\033]2;a" ST "b" },
	{ "\033]2;a\033[mb", "\033]2;a" ST "\033[mb" },
	{ "\033]2;a\033\xc3\xa4", "\033]2;a" ST "\xc3\xa4" },
	{ "\033]2;a\033\033\\b", "\033]2;a" ST "b" },
	{ "\033]2;a\033]52;c;YQ==\ab", "\033]2;a" ST "b" },
	{ "\033]52;c;YQ==\033[mb", "\033[mb" },
	{ "\033]52;c;YQ==\x9c" "b", "b" },
	{ "\033]52;c;YQ==\xc2\x9c" "b", "b" },
	{ "\033]52;c;YQ==\030b", "b" },
	{ "\033]52;c;\xe4\xba\x9c\ab", "b" },
	{ "\033]10\030b", "b" },
	{ "\033P$q\am\033\\b", "b" },
	{ "\033Pq~\a~\033\\b", "\033Pq~~" ST "b" },
	/* nothing in a string but text */
	{ "\033]2;a\x9b" "b\xc2\x9d\005\b\016\177c\a", "\033]2;abc\a" },
	SAME("\033Pq#0~\r\n\t#1~\033\\"),
	/* how a number can be written */
	{ "\033]052;c;YQ==\a", "" },
	{ "\033]5\0012\n;c;YQ==\a", "" },
	{ "\033]65588;c;YQ==\a", "" },
	{ "\033]4294967348;c;YQ==\a\033]4294967296;a\a\033]65536;a\a", "" },
	{ "\033]52\a", "" },
	{ "\033];a\a", "" },
	{ "\033]a\a", "" },
	{ "\033]\ab", "b" },
	SAME("\033]00;a\a"),
	{ "\033]0a\a", "" },
	SAME("\033]9;4;0\a"),
	{ "\033]9;4 files\a\033]9;4\a\033]9;44;\a", "" },
	SAME("\033]104\a\033]10;rgb:0/0/0;?\a"),
	{ "\033]11;_/etc/passwd\a\033]11\a", "\033]11\a" },
	{ "\033[0021t\033[;21t\033[11;21t\033[21;11t\033[11:2t\033[65557t\033[4294967317t", "" },
	{ "\033[>21t\033[t\033[0t\033[24t\033[1;22t\033[22;3t", "" },
	{ "\033[?7;2l\033[?65538l\033[?2;38h\033[2;4h\033[?00038h", "" },
	{ "\033[i\033[?5i\033[4i\033[>i", "" },
	/* within a sequence */
	{ "\033[2\n1t\033[2\0051t\033[2\1771t", "\n" },
	{ "\033[3\r\n1m", "\r\n\033[31m" },
	{ "\033\r[\n31\tm", "\r\n\t\033[31m" },
	{ "\033[3\0331m", "\0331m" },
	{ "\033[3\030m\033[3\032m\033\030[m", "mm[m" },
	{ "\033[3\xc3\xa4m\033\xc3\xa4\033[3\x9bm", "\xc3\xa4m\xc3\xa4" WRONG "m" },
	{ "\033[1?h\033[??1h\033[1 1h\033[1 *y\033[1  q", "" },
	{ "\033\033[m", "\033[m" },
	{ "\033%@\033%%@\033%/G\033 G\033  G\033!a\033((((B", "" },
	/* the Linux console has strings without an end */
	{ "\033]Rtext", "\033]R" ST "text" },
	{ "\033]P0123456text", "\033]P0123456" ST "text" },
	{ "\033]R\033\\text", "\033]R" ST "text" },
	{ "\033]P01x\atext", "text" },
	/* past tmux */
	{ "\033Ptmux;\033\033Ptmux;\033\033\033\033]52;c;\a\033\033\033\\\033\033\\\033\\a", "a" },
	{ "\033Ptmux;\033\033[31mred\033\\a", "a" },
	{ "\033Ptmux;\033[31ma", "\033[31ma" },
	/* files in the graphics of kitty */
	{ "\033_Gt=f;L2V0Yw==\033\\\033_Ga=T,t=t;\033\\\033_Gt=s,f=1;\033\\\033_Gt=d,t=f;\033\\", "" },
	{ "\033_Gt =f;\033\\\033_Gtt=f;\033\\\033_Gt=df;\033\\\033_Ga=T,t=;\033\\\033_Gt=f\033\\\033_G=\033\\", "" },
	{ "\033_Ha\033\\\033_\033\\a", "a" },
	/* what is no UTF-8, though a careless reader could take it for an escape or a C1 control */
	{ "\xc0\x9b[21t", "\xc0" WRONG "[21t" },
	{ "\xe0\x82\x9b" "21t", "\xe0\x82" WRONG "21t" },
	{ "\xed\xa0\x9b\xf4\x90\x9d", "\xed\xa0" WRONG "\xf4" WRONG WRONG },
	{ "\xe4\xba" "a\xe4\x9b" "b\xf0\x9f\x98" "c", "\xe4\xba" "a\xe4" WRONG "b\xf0" WRONG WRONG "c" },
};

TEST(sequences_pass_or_go_cut_anywhere)
{
	for_each (row, cases)
		expect_cut(row->in, strlen(row->in), row->out, strlen(row->out));
	expect_cut("a\0b", 3, "a\0b", 3);
	expect_cut("\033[3\0001m\033]0;a\0b\a", 15, "\0\033[31m\033]0;ab\a", 14);
}

TEST(long_text_is_filtered_as_single_bytes_are)
{
	static const char around[] = "enough of text for the filter to take many bytes at a time, \n\r "
				     "and then some more of it, gr\xc3\xbc\xc3\x9f \xe4\xba\x9b [21t]52;";
	size_t n = sizeof(around);

	for (size_t at = 0; at < n; at++) {
		for (unsigned c = 0; c < 256; c++) {
			BUF(whole);
			BUF(cut);
			struct ga_termfilter f = GA_TERMFILTER_INIT, g = GA_TERMFILTER_INIT;
			char in[sizeof(around)];

			memcpy(in, around, n);
			memmove(in + at + 1, in + at, n - at - 1);
			in[at] = (char)c;
			feed(&f, in, n, &whole);
			for (size_t i = 0; i < n; i++)
				feed(&g, in + i, 1, &cut);
			expect("text", &whole, cut.ptr, cut.len);
		}
	}
}

TEST(text_is_not_held_back)
{
	static const char text[] = "plain text\r\n\t\b\a \033[m\033[31mand\033M more";
	BUF(out);
	struct ga_termfilter f = GA_TERMFILTER_INIT;
	size_t esc = 0;

	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		bool inside;

		feed(&f, text + i, 1, &out);
		if (text[i] == '\033')
			esc = i + 1;
		inside = esc && i + 1 - esc < (text[esc] == '[' ? strcspn(text + esc, "m") + 1 : 1);
		if (!inside)
			EQUAL(out.len, i + 1);
	}
	/* a picture comes as it is drawn */
	feed(&f, "\033Pq", 3, &out);
	feed(&f, "~~~", 3, &out);
	assert_memory_equal(out.ptr + out.len - 6, "\033Pq~~~", 6);
}

TEST(what_has_no_end_costs_nothing)
{
	static const char *const begin[] = { "\033]52;c;", "\033P$q", "\033X", "\033[", "\033_Ga=", "\033(" };
	BUF(out);
	char chunk[4096];

	assert_true(sizeof(struct ga_termfilter) < 2048);
	memset(chunk, '1', sizeof(chunk));
	for_index (i, begin) {
		struct ga_termfilter f = GA_TERMFILTER_INIT;

		/* the one with a final byte ends with it */
		if (begin[i][1] == '(')
			memset(chunk, '(', sizeof(chunk));
		feed(&f, begin[i], strlen(begin[i]), &out);
		for (int k = 0; k < 256; k++) {
			char room[GA_TERMFILTER_ROOM(sizeof(chunk))];

			EQUAL(ga_termfilter(&f, chunk, sizeof(chunk), room), 0);
		}
	}
	EQUAL(out.len, 0);
	{
		struct ga_termfilter f = GA_TERMFILTER_INIT;

		/* too long for one is not cut, but dropped */
		memset(chunk, '1', sizeof(chunk));
		feed(&f, "\033[", 2, &out);
		feed(&f, chunk, GA_TERMFILTER_HELD, &out);
		feed(&f, "mtext", 5, &out);
		expect("a sequence that is too long", &out, "text", 4);
	}
}

static const struct one undone[] = {
	{ "text\r\n", "" },
	{ "\033[?1049h\033[?1000h\033[?1006h\033[?25l", "\033[?1000l\033[?1006l\033[?25h\033[?1049l" },
	{ "\033[?1049;2004h\033[?1049;2004l", "" },
	{ "\033[?25h\033[?1000l", "" },
	{ "\033[?1000h\033[?1000s\033[?1000l\033[?1000r", "\033[?1000l" },
	{ "\033[4h\033[20h\033[?4h", "\033[4l\033[20l" },
	{ "\033[?1049h\033c", "" },
	{ "\033[>1u\033[>3u", "\033[<2u" },
	{ "\033[>1u\033[?1049h\033[>3u\033[=1u", "\033[<1u\033[=0u\033[?1049l\033[<1u" },
	{ "\033[>1u\033[<u\033[=1u\033[=0u", "" },
	{ "\033[>4;2m\033[>1;1m\033[>1m", "\033[>4m" },
	{ "\033[>4;2m\033[>m", "" },
	{ "\033[31m", "\033[m" },
	{ "\033[31m\033[0m", "" },
	{ "\033[2;5r", "\033[r\033[9999;1H" },
	{ "\033[?1049h\033[2;5r", "\033[r\033[?1049l" },
	{ "\033[2;5r\033[r", "" },
	{ "\033[?6h", "\033[?6l\033[9999;1H" },
	{ "\033=\033(0\016\033[3 q", "\033>\033(B\017\033[0 q" },
	{ "\033=\033>\033(0\033(B\016\017\033[3 q\033[q\033[ q", "" },
	{ "\033]11;?\a\033]4;1;?\a", "" },
	{ "\033]11;#000\a\033]4;1;#fff\a", "\033]104" ST "\033]111" ST },
	{ "\033]10;#000;#fff\a\033]110\a", "\033]111" ST },
	{ "\033]P0123456", "\033]R" ST },
	{ "\033]8;;http://example.org\a", "\033]8;;" ST },
	{ "\033]8;id=1;a\a\033]8;;\a", "" },
	{ "\033]9;4;1;50\a", "\033]9;4;0" ST },
	{ "\033]9;4;1;50\a\033]9;4;0;\a", "" },
	{ "\033]22;text\a", "\033]22;" ST },
	{ "\033]2;never ended", ST },
	{ "\033]8;;http://never.ended", ST "\033]8;;" ST },
	{ "\033]52;c;never ended", "" },
	{ "\033[3", "" },
	{ "\033[?2l\033[2h\033[?5522h", "" },
};

TEST(what_is_left_on_is_undone)
{
	for_each (row, undone) {
		BUF(out);
		BUF(end);
		struct ga_termfilter f = GA_TERMFILTER_INIT;
		char room[GA_TERMFILTER_END];

		feed(&f, row->in, strlen(row->in), &out);
		ga_buf_add(&end, room, ga_termfilter_end(&f, false, room));
		expect(row->in + 1, &end, row->out, strlen(row->out));
		EQUAL(ga_termfilter_end(&f, false, room), 0);
	}
}

TEST(all_that_can_be_undone_has_room)
{
	static const char main_screen[] = "\033[>1u\033[=1u";
	static const char rest[] = "\033[12l\033[>1u\033[=1u\033[2;3r\033=\033(0\016\033[1m\033[1 q"
				   "\033]8;;a\a\033]9;4;1\a\033]22;a\a\033]P0000000\033[1$}\033[1'z\033]2;";
	BUF(out);
	struct ga_termfilter f = GA_TERMFILTER_INIT;
	char room[GA_TERMFILTER_END];
	size_t n;

	feed(&f, main_screen, strlen(main_screen), &out);
	for (unsigned i = 1; i < 10000; i++) {
		cleanup_free char *s = ga_strf("\033[?%uh\033[?%ul\033[?%ur\033[%ul\033[%uh\033[>%u;1m"
					       "\033]%u;#aaa\a", i, i, i, i, i, i, i);

		/* each in its unusual state; those that are dropped change nothing */
		feed(&f, s, strlen(s), &out);
	}
	feed(&f, rest, strlen(rest), &out);
	n = ga_termfilter_end(&f, true, room);
	assert_in_range(n, 400, sizeof(room));
}

/* ---- random */

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void random_input(uint64_t *s, struct ga_buf *ret)
{
	static const char *const words[] = {
		"\033", "\033[", "\033]", "\033P", "\033_", "\033_G", "\033X", "\033^", "\033k", "\033\\",
		"\a", "\x9c", "\xc2", "\x9b", "\x9d", "\x90", "\030", "\032", "\005", "\016", "\017",
		"?", ">", "<", "=", ";", ":", "0", "1", "2", "52", "21", "1049", "9;4;", "4", "h", "l",
		"t", "m", "q", "r", "u", " ", "$", "*", "%", "(", "B", "a text", "\r\n", "\177", "\xe4",
		"\xba", "\xe4\xba\x9b", "\xf0\x9f\x98\x9d", "tmux;", "\033\033", "t=f", ",", "P", "R",
	};
	size_t n = 1 + next_random(s) % 24, rules_n;
	const struct ga_termrule *r = ga_termfilter_rules(&rules_n);

	ga_buf_clear(ret);
	while (n--) {
		uint64_t what = next_random(s) % 8;

		if (!what)
			ga_buf_addch(ret, (char)next_random(s));
		else if (what == 1)
			ga_buf_adds(ret, r[next_random(s) % rules_n].example);
		else
			ga_buf_adds(ret, words[next_random(s) % GA_NELEMS(words)]);
	}
}

static void pieces(uint64_t *s, const struct ga_buf *in, struct ga_termfilter *f, struct ga_buf *out)
{
	for (size_t at = 0, k; at < in->len; at += k) {
		k = next_random(s) % 5;
		k = k < in->len - at ? k : in->len - at;
		feed(f, in->ptr + at, k, out);
	}
}

TEST(random_sequences_pass_a_second_time_unchanged)
{
	const char *given = getenv("SEED"), *many = getenv("ROUNDS");
	uint64_t seed = (uint64_t)time(NULL), rounds = 100000, s;

	if (given)
		assert_true(ga_parse_u64(given, UINT64_MAX, &seed));
	if (many)
		assert_true(ga_parse_u64(many, UINT64_MAX, &rounds));
	print_message("# SEED=%llu\n", (unsigned long long)seed);
	s = seed * 2 + 1;
	for (uint64_t i = 0; i < rounds; i++) {
		BUF(in);
		BUF(whole);
		BUF(cut);
		BUF(again);
		struct ga_termfilter f = GA_TERMFILTER_INIT, g = GA_TERMFILTER_INIT, h = GA_TERMFILTER_INIT;
		char end[GA_TERMFILTER_END];
		size_t n;

		random_input(&s, &in);
		feed(&f, in.ptr, in.len, &whole);
		pieces(&s, &in, &g, &cut);
		expect("in pieces", &cut, whole.ptr ? whole.ptr : "", whole.len);
		assert_memory_equal(&f.on, &g.on, sizeof(f.on));
		n = ga_termfilter_end(&f, false, end);
		ga_buf_add(&whole, end, n);
		/* or else a byte that began no character could begin one now */
		ga_buf_addch(&whole, '.');
		pieces(&s, &whole, &h, &again);
		expect("a second time", &again, whole.ptr ? whole.ptr : "", whole.len);
		EQUAL(ga_termfilter_end(&h, false, end), 0);
	}
}

TEST_MAIN(NULL, NULL)
