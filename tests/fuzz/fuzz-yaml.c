/* SPDX-License-Identifier: MIT
 *
 * YAML files: what is taken is within its bounds, has no key twice, and written in another style
 * (everything in double quotes and braces) reads back as the same tree. What is refused is
 * refused with one line that says where.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/base/quote.h"
#include "ga/config/yaml.h"

static void put_text(const char *s, struct ga_buf *out)
{
	ga_buf_addch(out, '"');
	for (size_t n = strlen(s); n;) {
		uint32_t c;
		size_t len = ga_utf8_decode(s, n, &c);

		CHECK(len);
		ga_buf_addf(out, "\\U%08x", c);
		s += len;
		n -= len;
	}
	ga_buf_addch(out, '"');
}

static void put(const struct ga_yaml *y, struct ga_buf *out)
{
	if (y->key) {
		/* a key of one line is short, except where it is asked for */
		ga_buf_adds(out, "? ");
		put_text(y->key, out);
		ga_buf_adds(out, "\n: ");
	}
	if (y->kind == GA_YAML_TEXT) {
		put_text(y->text, out);
		return;
	}
	ga_buf_addch(out, y->kind == GA_YAML_MAP ? '{' : '[');
	for (size_t i = 0; i < y->n; i++) {
		put(&y->v[i], out);
		ga_buf_adds(out, ",\n");
	}
	ga_buf_addch(out, y->kind == GA_YAML_MAP ? '}' : ']');
}

/* Nodes in it, keys counted. */
static size_t check_tree(const struct ga_yaml *y, unsigned depth, unsigned lines)
{
	size_t n = 1;

	CHECK(depth <= GA_YAML_DEPTH_MAX);
	CHECK((y->kind == GA_YAML_TEXT) == (y->text != NULL));
	CHECK(y->line <= lines && y->key_line <= lines);
	for (size_t i = 0; i < y->n; i++) {
		CHECK((y->kind == GA_YAML_MAP) == (y->v[i].key != NULL));
		for (size_t k = 0; y->v[i].key && k < i && k < 100; k++)
			CHECK(strcmp(y->v[k].key, y->v[i].key) != 0);
		n += check_tree(&y->v[i], depth + 1, lines) + (y->v[i].key != NULL);
	}
	return n;
}

static bool same(const struct ga_yaml *a, const struct ga_yaml *b)
{
	if (a->kind != b->kind || a->n != b->n ||
	    (a->key && strcmp(a->key, b->key) != 0) || (a->text && strcmp(a->text, b->text) != 0))
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!same(&a->v[i], &b->v[i]))
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_free char *exact = fuzz_exact(data, n);
	cleanup_error struct ga_error err = GA_ERROR_INIT, err2 = GA_ERROR_INIT;
	cleanup_yaml struct ga_yaml y = GA_YAML_INIT, again = GA_YAML_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (ga_yaml_parse("name", exact, n, &y, &err)) {
		CHECK(!y.n && !strncmp(err.msg, "name:", 5) && !strchr(err.msg, '\n'));
		CHECK(strlen(err.msg) < 400);
		return 0;
	}
	CHECK(y.kind == GA_YAML_MAP && !y.key);
	/* a carriage return and three characters of Unicode are ends of lines, too */
	CHECK(check_tree(&y, 0, (unsigned)n + 1) <= GA_YAML_NODES_MAX);
	put(&y, &out);
	if (out.len > GA_YAML_BYTES_MAX)
		return 0;
	CHECK(!ga_yaml_parse("name", out.ptr, out.len, &again, &err2) && same(&y, &again));
	return 0;
}
