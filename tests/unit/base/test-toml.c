/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include <jansson.h>

#include "ga/base/toml.h"

static json_t *parse(const char *text)
{
	BUF(b);

	ga_buf_adds(&b, text);
	return ga_toml_parse(&b);
}

TEST(what_is_written_reads_as_the_same_tree)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "", "" },
		{ "# only a comment", "" },
		{ "a = 1\nb=true\nc = false # x", "a = 1\nb = true\nc = false\n" },
		{ "a = 1979-05-27 07:32:00+01:00\nb = -1.5e+3\nc = 0xff\nd = 1_000\n",
		  "a = 1979-05-27 07:32:00+01:00\nb = -1.5e+3\nc = 0xff\nd = 1_000\n" },
		{ "a = 'C:\\x \"y\"'", "a = \"C:\\\\x \\\"y\\\"\"\n" },
		{ "a = \"\"\"\nx\n\ty\x7f\"\"\"", "a = \"x\\u000a\\u0009y\\u007f\"\n" },
		{ "a = '''it's'''", "a = \"it's\"\n" },
		{ "a = \"\\u00e9\\U0001F600\"", "a = \"\xc3\xa9\xf0\x9f\x98\x80\"\n" },
		{ "'a b' = 1\n\"\" = 2\n\"x.y\" = 3\n\"q\\\"\\n\" = 4\n\xc3\xa9 = 5", NULL },
		{ "'a b' = 1\n\"\" = 2\n\"x.y\" = 3\n\"q\\\"\\n\" = 4\n",
		  "\"a b\" = 1\n\"\" = 2\n\"x.y\" = 3\n\"q\\\"\\u000a\" = 4\n" },
		{ "a = [1, 'x', [], [true],\n# y\n{b = 2, c.d = 'z'},]",
		  "a = [1, \"x\", [], [true], {b = 2, c = {d = \"z\"}}]\n" },
		{ "a.b.c = 1\nd = 2", "d = 2\n\n[a]\n\n[a.b]\nc = 1\n" },
		{ "t = {a = 1, b = {}}\n", "[t]\na = 1\n\n[t.b]\n" },
		{ "[a.\"b.c\"]\nx = 1\n[a]\ny = 2\n", "[a]\ny = 2\n\n[a.\"b.c\"]\nx = 1\n" },
		{ "[projects.\"/home/u\"]\ntrust_level = \"trusted\"\n",
		  "[projects]\n\n[projects.\"/home/u\"]\ntrust_level = \"trusted\"\n" },
		{ "[[a]]\nb = 1\n[a.c]\nd = 2\n[[a]]\n", "a = [{b = 1, c = {d = 2}}, {}]\n" },
	};

	for_each (row, rows) {
		json_t *j = parse(row->in), *again;
		BUF(out);

		if (!j != !row->out)
			fail_msg("'%s': %s", row->in, j ? "taken" : "refused");
		if (!j)
			continue;
		assert_true(ga_toml_write(j, &out));
		if (strcmp(out.ptr, row->out) != 0)
			fail_msg("'%s': '%s', not '%s'", row->in, out.ptr, row->out);
		again = ga_toml_parse(&out);
		if (!json_equal(j, again))
			fail_msg("'%s' reads as something else", out.ptr);
		json_decref(j);
		json_decref(again);
	}
}

TEST(a_table_is_there_once_and_a_bare_value_is_no_table)
{
	static const char *const refused[] = {
		"[a]\nx = 1\n[a]\ny = 2\n",
		"a = {}\n[a]\nx = 1\n",
		"[a]\n[a.b]\n[a.b]\n",
		"a = 1\n[a]\nb = 2\n",
		"a = 1\na.b = 2\n",
		"\"=\" = '1'\n",
		"[\"=\"]\n",
		"a = {\"=\" = '1\\n[b]'}\n",
		"a = $(x)\n",
		"a = 1(y)\n",
		"a = gpt-5\n",
		"a = +\n",
		"a = infinite\n",
		"a = '\xff'\n",
		"a = \"\\ud800\"\n",
		"a = \"\\Uffffffff\"\n",
	};
	static const char *const taken[] = {
		"[a.b]\n[a]\n[a.c]\n",
		"[[a]]\n[a.b]\n[[a]]\n[a.b]\n",
	};

	for_each (row, refused)
		if (parse(*row))
			fail_msg("'%s' is taken", *row);
	for_each (row, taken) {
		json_t *j = parse(*row);

		if (!j)
			fail_msg("'%s' is refused", *row);
		json_decref(j);
	}
}

/* N times what opens, and what closes. */
static json_t *parse_deep(size_t n, const char *start, const char *open, const char *middle, const char *close)
{
	BUF(b);

	ga_buf_adds(&b, start);
	for (size_t i = 0; i < n; i++)
		ga_buf_adds(&b, open);
	ga_buf_adds(&b, middle);
	for (size_t i = 0; i < n; i++)
		ga_buf_adds(&b, close);
	return ga_toml_parse(&b);
}

TEST(depth_and_size_are_bounded_in_both_directions)
{
	static const struct {
		const char *start, *open, *middle, *close;
	} kinds[] = {
		{ "a = ", "[", "", "]" },
		{ "a = ", "{b = ", "1", "}" },
		{ "", "a.", "b = 1", "" },
		{ "[", "a.", "b]\nc = 1", "" },
		{ "[[", "a.", "b]]\nc = 1", "" },
	};
	json_t *big = json_object(), *name = json_object();
	BUF(text);
	BUF(out);

	for_each (k, kinds)
		for (size_t n = 1; n < 200; n++) {
			json_t *j = parse_deep(n, k->start, k->open, k->middle, k->close), *again;
			BUF(deep);

			if (n < 25 ? !j : n > 64 && j)
				fail_msg("%s, %zu deep: %s", k->open, n, j ? "taken" : "refused");
			if (!j || !ga_toml_write(j, &deep)) {
				json_decref(j);
				continue;
			}
			again = ga_toml_parse(&deep);
			if (!json_equal(j, again))
				fail_msg("%s, %zu deep reads as something else", k->open, n);
			json_decref(j);
			json_decref(again);
		}
	while (text.len <= GA_TOML_MAX)
		ga_buf_adds(&text, "# a line of nothing\n");
	assert_null(ga_toml_parse(&text));
	/* many tables repeat the name of the one that they are in */
	for (size_t i = 0; i < 2000; i++) {
		cleanup_free char *key = ga_strf("t%zu", i);

		(void)json_object_set_new(big, key, json_object());
	}
	ga_buf_truncate(&text, 100000);
	(void)json_object_set_new(name, text.ptr, big);
	assert_false(ga_toml_write(name, &out));
	assert_true(out.len < 2 * GA_TOML_MAX);
	json_decref(name);
}

TEST_MAIN(NULL, NULL)
