/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/base/buf.h"
#include "ga/config/yaml.h"

/* "{key@line:column=value@line:column ...}"; a value in quotes or a block has a dot behind it. */
static void show(const struct ga_yaml *y, struct ga_buf *out)
{
	if (y->key)
		ga_buf_addf(out, "%s@%u:%u=", y->key, y->key_line, y->key_column);
	if (y->kind == GA_YAML_TEXT) {
		ga_buf_addf(out, "%s%s@%u:%u", y->text, y->plain ? "" : ".", y->line, y->column);
		return;
	}
	ga_buf_addch(out, y->kind == GA_YAML_MAP ? '{' : '[');
	for (size_t i = 0; i < y->n; i++) {
		if (i)
			ga_buf_addch(out, ' ');
		show(&y->v[i], out);
	}
	ga_buf_addch(out, y->kind == GA_YAML_MAP ? '}' : ']');
}

static void check(const char *text, size_t n, const char *want, const char *error)
{
	cleanup_yaml struct ga_yaml y = GA_YAML_INIT;
	ERR(err);
	BUF(got);
	cleanup_free char *exact = ga_memdup(text, n);
	int rc = ga_yaml_parse("f", exact, n, &y, &err);

	if (rc != (error ? -1 : 0))
		fail_msg("'%s': %s", text, rc ? err.msg : "accepted");
	if (error) {
		if (strcmp(err.msg, error) != 0)
			fail_msg("'%s': '%s', not '%s'", text, err.msg, error);
		EQUAL(y.n, 0);
		return;
	}
	show(&y, &got);
	if (strcmp(got.ptr, want) != 0)
		fail_msg("'%s': '%s', not '%s'", text, got.ptr, want);
}

TEST(documents_are_read_with_their_places)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "{}" },
		{ "# nothing\n", "{}" },
		{ "---\n", "{}" },
		{ "--- # nothing\n...\n", "{}" },
		{ "{}", "{}" },
		{ "\xef\xbb\xbf" "a: b", "{a@1:2=b@1:5}" },
		{ "a: b\n", "{a@1:1=b@1:4}" },
		{ "a: b # c\n\nd: e", "{a@1:1=b@1:4 d@3:1=e@3:4}" },
		{ "a:\n", "{a@1:1=@1:3}" },
		{ "a: ~", "{a@1:1=~@1:4}" },
		{ "a: 'b'\nc: \"\\x41\\n\"", "{a@1:1=b.@1:4 c@2:1=A\n.@2:4}" },
		{ "a: |\n  b\n  c\n", "{a@1:1=b\nc\n.@1:4}" },
		{ "a:\n  b:\n    c: 1\n  d: 2\n", "{a@1:1={b@2:3={c@3:5=1@3:8} d@4:3=2@4:6}}" },
		{ "a: [1, [2], {b: c}]", "{a@1:1=[1@1:5 [2@1:9] {b@1:14=c@1:17}]}" },
		{ "a:\n- b\n- - c\n", "{a@1:1=[b@2:3 [c@3:5]]}" },
		{ "'a b': 1\n\"c\": 2", "{a b@1:1=1@1:8 c@2:1=2@2:6}" },
		/* characters, not bytes */
		{ "\xc3\xbc\xe2\x82\xac: \xc3\xa4", "{\xc3\xbc\xe2\x82\xac@1:1=\xc3\xa4@1:5}" },
	};

	for_each (row, cases)
		check(row->text, strlen(row->text), row->want, NULL);
}

TEST(other_documents_are_refused_with_the_place)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "a: &b c", "f:1:4: anchors are not taken" },
		{ "&a {b: c}", "f:1:1: anchors are not taken" },
		{ "a: *b", "f:1:4: aliases are not taken" },
		{ "*a : b", "f:1:1: aliases are not taken" },
		{ "a: !!str b", "f:1:4: tags are not taken" },
		{ "a: !b c", "f:1:4: tags are not taken" },
		{ "%YAML 1.1\n---\na: b", "f:1:1: directives are not taken" },
		{ "a: b\n---\nc: d", "f:2:1: a second document is not taken" },
		{ "a: b\n...\n---\n", "f:3:1: a second document is not taken" },
		{ "a: 1\nb: 2\na: 3", "f:3:1: key 'a' is here twice, first in line 1" },
		{ "a: {b: 1,\n  'b': 2}", "f:2:3: key 'b' is here twice, first in line 1" },
		{ "\"\\e\": 1\n\"\\e\": 2", "f:2:1: key '\\e' is here twice, first in line 1" },
		{ "[a]: b", "f:1:1: a key has to be a word" },
		{ "? {a: b}\n: c", "f:1:3: a key has to be a word" },
		{ "a", "f:1:1: keys are expected here, as in 'dirty: refuse'" },
		{ "''", "f:1:1: keys are expected here, as in 'dirty: refuse'" },
		{ "a: \"b\\0c\"", "f:1:4: there is a NUL in this text" },
		{ "\"\\0\": c", "f:1:1: there is a NUL in this text" },
		{ "a: [b", "f:2:1: did not find expected ',' or ']'" },
		{ "a: b: c", "f:1:5: mapping values are not allowed in this context" },
		{ "a:\n\tb: c", "f:2:1: found character that cannot start any token" },
		{ "a: b\nc: \x01", "f:2:4: control characters are not allowed" },
		{ "a: b\nc: \xff", "f:2:4: invalid leading UTF-8 octet" },
		{ "\xc3\xa4: \xc0\xaf", "f:1:4: invalid length of a UTF-8 sequence" },
		{ "a: \xed\xa0\x80", "f:1:4: invalid Unicode character" },
		/* would be two of UTF-16 */
		{ "\xff\xfe" "a:", "f:1:1: invalid leading UTF-8 octet" },
	};

	for_each (row, cases)
		check(row->text, strlen(row->text), NULL, row->error);
	check("a: b\0c", 6, NULL, "f:1:5: control characters are not allowed");
}

TEST(nesting_is_bounded)
{
	BUF(text);

	for (int over = 0; over < 2; over++) {
		cleanup_yaml struct ga_yaml y = GA_YAML_INIT;
		ERR(err);
		int n = GA_YAML_DEPTH_MAX - 1 + over;

		ga_buf_clear(&text);
		ga_buf_adds(&text, "a: ");
		for (int i = 0; i < n; i++)
			ga_buf_addch(&text, '[');
		for (int i = 0; i < n; i++)
			ga_buf_addch(&text, ']');
		EQUAL(ga_yaml_parse("f", text.ptr, text.len, &y, &err), over ? -1 : 0);
		if (over)
			STREQ(err.msg, "f:1:19: it is nested too deep");
	}
	/* never read to its end */
	ga_buf_clear(&text);
	for (int i = 0; i < 100000; i++)
		ga_buf_addch(&text, '[');
	check(text.ptr, text.len, NULL, "f:1:17: it is nested too deep");
}

TEST(the_number_of_nodes_is_bounded)
{
	BUF(text);

	for (int over = 0; over < 2; over++) {
		cleanup_yaml struct ga_yaml y = GA_YAML_INIT;
		ERR(err);

		ga_buf_clear(&text);
		ga_buf_adds(&text, "a:\n"); /* the top, the key and the list are three */
		for (int i = 0; i < GA_YAML_NODES_MAX - 3 + over; i++)
			ga_buf_adds(&text, "- b\n");
		EQUAL(ga_yaml_parse("f", text.ptr, text.len, &y, &err), over ? -1 : 0);
		if (over)
			STREQ(err.msg, "f:9999:3: there is more than a configuration may have");
		else
			EQUAL(y.v[0].n, GA_YAML_NODES_MAX - 3);
	}
}

TEST(the_length_is_bounded)
{
	cleanup_free char *text = ga_malloc(GA_YAML_BYTES_MAX + 1);

	memset(text, '#', GA_YAML_BYTES_MAX + 1);
	check(text, GA_YAML_BYTES_MAX, "{}", NULL);
	check(text, GA_YAML_BYTES_MAX + 1, NULL, "f: it is longer than 256 KiB");
}

TEST_MAIN(NULL, NULL)
