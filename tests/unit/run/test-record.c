/* SPDX-License-Identifier: MIT
 *
 * Recordings: what is written for any output cut in any way, what of it is read back, and how
 * it looks as text.
 */
#include "../scratch.h"

#include <jansson.h>
#include <sys/resource.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/run/record.h"
#include "ga/run/termfilter.h"

static const char *const env[] = { "A=B", "TERM=xterm-\"x", NULL };

static struct ga_recorder *begin(const char *dir, uint64_t max)
{
	STRV(command);
	const struct ga_record_opts o = { .dir = dir, .title = "title", .command = &command, .envp = env, .max = max };

	ga_strv_push_many(&command, "a b", "\xff\033\n", (char *)NULL);
	return ga_record_begin(&o);
}

static void put(struct ga_recorder *r, const char *p, size_t n)
{
	const struct ga_run_sink *s = ga_record_sink(r);

	s->output(s->payload, p, n);
}

static void size(struct ga_recorder *r, unsigned columns, unsigned rows)
{
	const struct ga_run_sink *s = ga_record_sink(r);

	s->size(s->payload, columns, rows);
}

/* All of a kind, as one. */
static void read_back(const char *dir, const char *name, char kind, struct ga_buf *out)
{
	ERR(err);
	struct ga_record *r;
	struct ga_record_event e;
	int rc;

	if (ga_record_open(dir, name, &r, &err))
		fail_msg("%s", err.msg);
	while ((rc = ga_record_next(r, &e, &err)) > 0) {
		assert_true(ga_utf8_valid(e.data, e.n));
		if (e.kind == kind)
			ga_buf_add(out, e.data, e.n);
	}
	EQUAL(rc, 0);
	EQUAL(ga_record_damaged(r), 0);
	ga_record_close(r);
}

static void expect_bytes(const char *what, const struct ga_buf *got, const char *want, size_t n)
{
	BUF(a);
	BUF(b);

	if (got->len == n && !memcmp(got->ptr, want, n))
		return;
	ga_quote_add(&a, got->ptr, got->len < 2000 ? got->len : 2000);
	ga_quote_add(&b, want, n < 2000 ? n : 2000);
	fail_msg("%s: got '%s', not '%s'", what, a.ptr, b.ptr);
}

/* ---- the file */

TEST_WITH(the_header_has_the_first_size_and_events_the_others, make_dir, remove_dir)
{
	const char *dir = *state;
	struct ga_recorder *r = begin(dir, GA_RECORD_LEAST);
	cleanup_free char *path = ga_path_join(dir, "transcript.cast");
	BUF(text);
	json_t *j;

	/* nothing is made before there is something */
	ga_record_flush(r);
	assert_null(ga_record_name(r));
	size(r, 132, 50);
	put(r, "a\r\n", 3);
	EQUAL(access(path, F_OK), -1);
	ga_record_flush(r);
	size(r, 132, 50);
	size(r, 0, 0);
	size(r, 80, 24);
	put(r, "b", 1);
	ga_record_end(r);
	assert_null(ga_record_stopped(r));
	ga_record_free(r);

	OK(ga_read_file_at(AT_FDCWD, path, 100000, &text, &err));
	j = json_loads(text.ptr, JSON_DISABLE_EOF_CHECK, NULL);
	EQUAL(json_integer_value(json_object_get(j, "width")), 132);
	EQUAL(json_integer_value(json_object_get(j, "height")), 50);
	STREQ(json_string_value(json_object_get(j, "title")), "title");
	STREQ(json_string_value(json_object_get(j, "command")), "'a b' '\\xff\\e\n'");
	STREQ(json_string_value(json_object_get(json_object_get(j, "env"), "TERM")), "xterm-\"x");
	json_decref(j);
	ga_buf_clear(&text);
	read_back(dir, "transcript.cast", 'r', &text);
	STREQ(text.ptr, "80x24");
}

TEST_WITH(each_run_has_a_file_of_its_own, make_dir, remove_dir)
{
	const char *dir = *state;
	cleanup_free char *second = ga_path_join(dir, "transcript-2.cast");
	STRV(names);
	BUF(text);

	/* whatever is there, it is not followed and not written to */
	EQUAL(symlink("/dev/null", second), 0);
	for (int i = 0; i < 2; i++) {
		struct ga_recorder *r = begin(dir, GA_RECORD_LEAST);

		put(r, "x", 1);
		ga_record_end(r);
		STREQ(ga_record_name(r), i ? "transcript-3.cast" : "transcript.cast");
		ga_record_free(r);
	}
	ga_record_names(dir, &names);
	EQUAL(names.n, 3);
	STREQ(names.v[2], "transcript-3.cast");
	read_back(dir, names.v[2], 'o', &text);
	STREQ(text.ptr, "x");
}

TEST_WITH(a_recording_ends_at_the_systems_limit, make_dir, remove_dir)
{
	const char *dir = *state;
	struct rlimit was, low;
	struct ga_recorder *r;
	cleanup_free char *line = ga_calloc(1, 1000);

	EQUAL(getrlimit(RLIMIT_FSIZE, &was), 0);
	low = was;
	low.rlim_cur = 80 << 10;
	EQUAL(setrlimit(RLIMIT_FSIZE, &low), 0);
	r = begin(dir, 1 << 20);
	memset(line, 'x', 1000);
	/* SIGXFSZ would end us */
	for (int i = 0; i < 200; i++)
		put(r, line, 1000);
	assert_has(ga_record_stopped(r), "RLIMIT_FSIZE");
	ga_record_free(r);
	low.rlim_cur = 1000;
	EQUAL(setrlimit(RLIMIT_FSIZE, &low), 0);
	r = begin(dir, 1 << 20);
	put(r, line, 1000);
	ga_record_end(r);
	assert_has(ga_record_stopped(r), "RLIMIT_FSIZE");
	assert_null(ga_record_name(r));
	ga_record_free(r);
	EQUAL(setrlimit(RLIMIT_FSIZE, &was), 0);
}

/* ---- any bytes, cut anywhere */

/* What a terminal of the filter's is given, in whole. */
static void model(const struct ga_buf *in, struct ga_buf *out)
{
	struct ga_termfilter f = { .mute = true };
	cleanup_free char *all = ga_malloc(GA_TERMFILTER_ROOM(in->len) + GA_TERMFILTER_END);
	size_t n = ga_termfilter(&f, in->ptr, in->len, all);

	n += ga_termfilter_end(&f, false, all + n);
	for (size_t i = 0, k; i < n; i += k) {
		uint32_t c;

		k = ga_utf8_decode(all + i, n - i, &c);
		if (k)
			ga_buf_add(out, all + i, k);
		else
			ga_buf_adds(out, "\xef\xbf\xbd");
		k = k ? k : 1;
	}
}

static void add_random(struct ga_buf *in)
{
	static const char *const parts[] = {
		"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf0\x9f\x98", "\xe2\x82", "\xc3", "\xff",
		"\xed\xa0\x80", "\xc0\xaf", "\x80", "\xc2\x9b", "\xf4\x90\x80\x80", "\033[1;31m", "\033[6n",
		"\033]0;\xe2\x82\xac\a", "\033]52;c;x\a", "\033[", "\033", "\"", "\\", "\b", "\r\n", "\xe2\x80\xa8",
		"plain text ", "\x7f", "\033[?1049h",
	};

	if (random() % 4)
		ga_buf_adds(in, parts[(size_t)random() % GA_NELEMS(parts)]);
	else
		ga_buf_addch(in, (char)random());
}

TEST_WITH(any_bytes_cut_anywhere_are_read_back, make_dir, remove_dir)
{
	const char *dir = *state, *s = getenv("SEED");
	uint64_t seed = (uint64_t)time(NULL);

	if (s)
		assert_true(ga_parse_u64(s, UINT32_MAX, &seed));
	print_message("# SEED=%u\n", (unsigned)seed);
	srandom((unsigned)seed);
	for (int round = 0; round < 300; round++) {
		BUF(in);
		BUF(want);
		BUF(got);
		struct ga_recorder *r = begin(dir, 1 << 20);
		cleanup_free char *what = ga_strf("round %d", round), *path = NULL;

		for (long n = random() % 200; n > 0; n--)
			add_random(&in);
		/* the filter keeps an unfinished character until what follows is there */
		ga_buf_adds(&in, ".");
		size(r, 80, 24);
		for (size_t at = 0, k; at < in.len; at += k) {
			k = (size_t)random() % (round % 3 ? 4 : 200) + 1;
			k = k < in.len - at ? k : in.len - at;
			put(r, in.ptr + at, k);
		}
		ga_record_end(r);
		model(&in, &want);
		if (ga_record_name(r)) {
			path = ga_path_join(dir, ga_record_name(r));
			read_back(dir, ga_record_name(r), 'o', &got);
			EQUAL(unlink(path), 0);
		}
		expect_bytes(what, &got, want.ptr, want.len);
		ga_record_free(r);
	}
}

/* ---- reading what somebody else wrote */

static void write_cast(const char *dir, const char *text, size_t n)
{
	cleanup_free char *path = ga_path_join(dir, "transcript.cast");
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	EQUAL(ga_write_full(fd, text, n), 0);
}

TEST_WITH(damaged_lines_are_passed_over, make_dir, remove_dir)
{
	static const char head[] = "{\"version\": 2}\n[0.5, \"o\", \"a\"]\n";
	static const char rest[] =
		"[]\n[1]\nnull\n\n{}\n[1, \"o\"]\n[1, \"o\", 2]\n[1, \"o\", \"x\", 4]\n[\"1\", \"o\", \"x\"]\n"
		"[-1, \"o\", \"x\"]\n[1e300, \"o\", \"x\"]\n[1, \"oo\", \"x\"]\n[1, \"\", \"x\"]\n[1, \"z\", \"x\"]\n"
		"[1, \"o\", \"\xff\"]\n[0.25, \"o\", \"b\\u0000c\"]\n[2, \"m\", \"mark\"]\n[3, \"o\", \"cut";
	const char *dir = *state;
	ERR(err);
	BUF(all);
	cleanup_free char *path = ga_path_join(dir, "transcript.cast");
	cleanup_free char *elsewhere = ga_path_join(dir, "elsewhere");
	struct ga_record_event e;
	struct ga_record *r;

	ga_buf_adds(&all, head);
	ga_buf_adds(&all, "[1, \"o\", \"");
	for (int i = 0; i < 300000; i++)
		ga_buf_adds(&all, "0123456789");
	ga_buf_adds(&all, "\"]\n");
	for (int i = 0; i < 300000; i++)
		ga_buf_adds(&all, "          ");
	ga_buf_adds(&all, "[1, \"o\", \"the end of a long line\"]\n");
	for (int i = 0; i < 100000; i++)
		ga_buf_addch(&all, '[');
	ga_buf_addch(&all, '\n');
	ga_buf_add(&all, rest, sizeof(rest) - 1);
	write_cast(dir, all.ptr, all.len);
	EQUAL(ga_record_open(dir, "transcript.cast", &r, &err), 0);
	EQUAL(ga_record_next(r, &e, &err), 1);
	assert_true(e.us == 500000 && e.kind == 'o' && e.n == 1 && *e.data == 'a');
	EQUAL(ga_record_next(r, &e, &err), 1);
	/* time does not go back */
	assert_true(e.us == 500000 && e.n == 3 && !memcmp(e.data, "b\0c", 3));
	EQUAL(ga_record_next(r, &e, &err), 1);
	assert_true(e.us == 2000000 && e.kind == 'm');
	EQUAL(ga_record_next(r, &e, &err), 0);
	EQUAL(ga_record_damaged(r), 18);
	ga_record_close(r);

	write_cast(dir, "{\"version\": 1}\n", 15);
	EQUAL(ga_record_open(dir, "transcript.cast", &r, &err), -1);
	assert_has(err.msg, "is not a recording");
	ga_error_release(&err);
	write_cast(dir, "", 0);
	EQUAL(ga_record_open(dir, "transcript.cast", &r, &err), -1);
	ga_error_release(&err);
	write_cast(dir, head, sizeof(head) - 1);
	EQUAL(rename(path, elsewhere), 0);
	EQUAL(symlink(elsewhere, path), 0);
	EQUAL(ga_record_open(dir, "transcript.cast", &r, &err), -1);
	ga_error_release(&err);
	EQUAL(unlink(path), 0);
	EQUAL(mkfifo(path, 0600), 0);
	EQUAL(ga_record_open(dir, "transcript.cast", &r, &err), -1);
}

/* ---- as text */

TEST(a_recording_becomes_plain_text)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "a\r\nb\r\n", "a\nb\n" },
		{ "a", "a\n" },
		{ "\r\n\r\nx\r\n", "\n\nx\n" },
		{ "10%\r20%\r30%\r\ndone\r\n", "30%\ndone\n" },
		{ "abc\b\bX\r\n", "aX\n" },
		{ "\xc3\xa4\b\xe2\x82\xac\r\n", "\xe2\x82\xac\n" },
		{ "\b\bx\r\n", "x\n" },
		{ "\033[1;31mred\033[m \033[Kplain\r\n", "red plain\n" },
		{ "\033]0;title\ax\033]8;;http://y\033\\z\033]8;;\033\\\r\n", "xz\n" },
		{ "\033P0;1q#0~\033\\a\033_Gx;y\033\\b\033kt\033\\c\033(Bd\033=e\r\n", "abcde\n" },
		{ "one\033[5;1Htwo\033[2Jthree\r\n", "one\ntwo\nthree\n" },
		{ "a\033[5Cb\033[10Gc\r\n", "a b c\n" },
		{ "trailing  \t\r\n", "trailing\n" },
		{ "tab\there\r\n", "tab\there\n" },
		{ "\xe2\x80\xaexyz\xc2\x85\r\n", "\\u{202e}xyz\\u{85}\n" },
		{ "a\007\016b\017\r\n", "ab\n" },
		{ "a\\b\r\n", "a\\b\n" },
	};

	for_each (row, cases) {
		for (size_t cut = 0; cut <= strlen(row->in); cut++) {
			BUF(out);
			struct ga_record_text t = GA_RECORD_TEXT_INIT;

			ga_record_text(&t, row->in, cut, &out);
			ga_record_text(&t, row->in + cut, strlen(row->in) - cut, &out);
			ga_record_text_end(&t, &out);
			expect_bytes(row->in, &out, row->out, strlen(row->out));
			ga_record_text_release(&t);
		}
	}
}

TEST(a_line_without_an_end_comes_in_parts)
{
	BUF(out);
	struct ga_record_text t = GA_RECORD_TEXT_INIT;
	size_t most = 0;

	for (int i = 0; i < 200000; i++) {
		ga_record_text(&t, "\xe2\x82\xac", 3, &out);
		most = t.line.len > most ? t.line.len : most;
	}
	ga_record_text_end(&t, &out);
	assert_true(most < 70000);
	EQUAL(out.len, 600001);
	assert_null(memchr(out.ptr, '\\', out.len));
	ga_record_text_release(&t);
}

TEST_MAIN(NULL, NULL)
