/* SPDX-License-Identifier: MIT
 *
 * How much of a change is looked at, what is not and said to be so, and what that costs.
 */
#include "risk-support.h"

#include "ga/repo/history.h"

/* `n`, or what ROUNDS says */
static size_t rounds(size_t n)
{
	const char *many = getenv("ROUNDS");

	return many ? strtoul(many, NULL, 10) : n;
}

static void put_lines(struct ga_buf *out, const char *line, size_t n)
{
	ga_buf_clear(out);
	for (size_t i = 0; i < n; i++)
		ga_buf_adds(out, line);
}

/* Is this change flagged as not shown? That has to be so exactly if not all of it is. */
static bool is_uninspected(const char *path, uint32_t mode, const struct ga_buf *old, const struct ga_buf *new)
{
	CHANGES(c);
	FLAGS(f);
	struct ga_entry was = { GA_MODE_FILE, { { 0 } } }, is = { mode, { { 0 } } };
	BUF(hunks);
	int kind;

	OK(ga_blob_write(repo, old->ptr, old->len, &was.oid, &err));
	OK(ga_blob_write(repo, new->ptr, new->len, &is.oid, &err));
	ga_changes_add(&c, path, &was, &is);
	OK(ga_classify(repo, NULL, NULL, NULL, &c, &f, &err));
	OK((kind = ga_diff_hunks(repo, &was, &is, false, &hunks, &err)) < 0);
	assert_true(kind == GA_DIFF_SHOWN || hunks.len == 0);
	if (has_rule(&f, "uninspected"))
		EQUAL(flag_of(&f, path, "uninspected")->severity, GA_HIGH);
	else
		assert_true(kind == GA_DIFF_SHOWN || has_rule(&f, "binary-blob"));
	return has_rule(&f, "uninspected");
}

TEST(a_change_that_is_not_all_shown_is_flagged_high)
{
	BUF(a);
	BUF(b);

	ga_buf_adds(&a, "a\n");
	put_lines(&b, "a line of an ordinary file\n", 100000);
	assert_false(is_uninspected("src/x.js", GA_MODE_FILE, &a, &b));
	put_lines(&b, "x", 2 << 20);
	assert_false(is_uninspected("src/x.js", GA_MODE_FILE, &a, &b));
	put_lines(&b, "0123456789abcdef", GA_DIFF_BLOB_MAX / 16);
	assert_false(is_uninspected("doc/x", GA_MODE_FILE, &a, &b));
	ga_buf_addch(&b, 'x');
	assert_true(is_uninspected("doc/x", GA_MODE_FILE, &a, &b));
	/* the old version is as long: what was removed is not seen */
	assert_true(is_uninspected("doc/x", GA_MODE_FILE, &b, &a));
	put_lines(&a, "a\n", GA_DIFF_LINES_MAX / 2);
	put_lines(&b, "b\n", GA_DIFF_LINES_MAX / 2);
	assert_false(is_uninspected("doc/x", GA_MODE_FILE, &a, &b));
	ga_buf_adds(&b, "b\nb\nb\nb\n");
	assert_true(is_uninspected("doc/x", GA_MODE_FILE, &a, &b));
}

TEST(what_is_binary_is_flagged_high_if_it_may_run)
{
	BUF(text);
	BUF(data);
	BUF(more);

	ga_buf_adds(&text, "echo a\n");
	ga_buf_add(&data, "echo b\n\0", 8);
	assert_false(is_uninspected("tests/data/x.bin", GA_MODE_FILE, &text, &data));
	assert_true(is_uninspected("src/x.js", GA_MODE_FILE, &text, &data));
	assert_true(is_uninspected("lib/x.sh", GA_MODE_FILE, &text, &data));
	assert_true(is_uninspected("tests/data/x.bin", GA_MODE_EXEC, &text, &data));
	/* few of its bytes are no text: something may read it as one, whatever it is called */
	put_lines(&more, "a line of an ordinary file\n", 10);
	ga_buf_add(&more, "\0", 1);
	assert_true(is_uninspected("tests/data/x.bin", GA_MODE_FILE, &text, &more));
	/* text that takes the place of data is text */
	assert_false(is_uninspected("src/x.js", GA_MODE_FILE, &data, &text));
}

TEST(binary_data_is_flagged)
{
	static const struct {
		const char *path, *bytes;
		size_t n;
		const char *rule;
		bool fires;
	} cases[] = {
		{ "doc/x", "a\0b", 3, "binary-blob", true },
		{ "doc/x.PNG", "\x89PNG\r\n\x1a\n\0", 9, "binary-blob", false },
		{ "doc/x.txt", "\x89PNG\r\n\x1a\n\0", 9, "binary-blob", true },
		{ "doc/x", "BM\0", 3, "binary-blob", true },
		{ "doc/x", "text\n", 5, "binary-blob", false },
	};
	struct ga_flags f = GA_FLAGS_INIT;
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, e = { GA_MODE_FILE, { { 0 } } };

	for_index (i, cases) {
		struct ga_changes c = GA_CHANGES_INIT;

		OK(ga_blob_write(repo, cases[i].bytes, cases[i].n, &e.oid, &err));
		ga_changes_add(&c, cases[i].path, &none, &e);
		OK(ga_classify(repo, NULL, NULL, NULL, &c, &f, &err));
		if (has_rule(&f, cases[i].rule) != cases[i].fires)
			fail_msg("'%s', case %zu", cases[i].rule, i);
		ga_flags_release(&f);
		ga_changes_release(&c);
	}
}

static uint64_t work_of(const struct ga_matcher *m, const char *path)
{
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;
	BUF(folded);

	ga_name_fold(&folded, path);
	ga_matcher_find(m, folded.ptr, true, &hits);
	return hits.tried;
}

static char *ordinary_path(size_t i)
{
	static const char *const ends[] = { "ts", "test.js", "mk", "c", "h", "json", "md" };

	return ga_strf("packages/part-%zu/src/module%zu/file-%zu.%s", i % 97, i % 331, i, ends[i % GA_NELEMS(ends)]);
}

/* Patterns that are tried for so many paths: as many for each ten thousand as for the first. */
TEST(work_grows_with_the_number_of_paths)
{
	enum { PARTS = 10 };
	const size_t part = rounds(10000);
	struct ga_matcher *m = ga_rules_matcher();
	uint64_t work[PARTS] = { 0 }, all = 0;

	for (size_t i = 0; i < part * PARTS; i++) {
		cleanup_free char *path = ordinary_path(i);

		work[i / part] += work_of(m, path);
	}
	for (int i = 0; i < PARTS; i++) {
		all += work[i];
		if (work[i] > work[0] + work[0] / 20)
			fail_msg("part %d takes %ju patterns, the first %ju", i, (uintmax_t)work[i],
				 (uintmax_t)work[0]);
	}
	/* of some 2000 patterns */
	print_message("# %.1f patterns are tried for a path\n", (double)all / (double)part / PARTS);
	assert_true(all < (uint64_t)part * PARTS * 60);
	ga_matcher_free(m);
}

/* No path, however it is made, has a pattern tried twice. */
TEST(no_path_has_a_pattern_tried_twice)
{
	static const char *const pieces[] = { "assets/editor/", "plugins/", "templates/", "bin/",
					      ".yarn/", "a.", "node_modules/", "config/", ".." };
	struct ga_matcher *m = ga_rules_matcher();

	for_each (row, pieces) {
		BUF(once);
		BUF(often);

		ga_buf_addf(&once, "%sx", *row);
		for (int n = 0; n < 500; n++)
			ga_buf_adds(&often, *row);
		ga_buf_addch(&often, 'x');
		if (work_of(m, often.ptr) > work_of(m, once.ptr) + 10)
			fail_msg("'%s': %ju patterns are tried, not %ju", *row,
				 (uintmax_t)work_of(m, often.ptr), (uintmax_t)work_of(m, once.ptr));
	}
	ga_matcher_free(m);
}

/* What would have every path looked up for every other, or from the top again and again, does not:
 * these end at once, or in hours. */
TEST(large_trees_are_looked_up_once)
{
	CHANGES(c);
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, a = { GA_MODE_FILE, { { 0 } } }, b = a, l;
	BUF(deep);
	FLAGS(f);
	struct ga_oid tree;

	for (int i = 0; i < 900; i++)
		ga_buf_adds(&deep, "refs/");
	OK(ga_blob_write(repo, "a\n", 2, &a.oid, &err));
	OK(ga_blob_write(repo, "b\n", 2, &b.oid, &err));
	OK(ga_blob_write(repo, deep.ptr, deep.len < 4000 ? deep.len : 4000, &l.oid, &err));
	l.mode = GA_MODE_LINK;
	for (size_t i = 0; i < 2 * rounds(10000); i++) {
		cleanup_free char *lock = ga_strf("p/%zu/yarn.lock", i), *py = ga_strf("src/m%zu.py", i);

		ga_changes_add(&c, lock, &a, &b);
		ga_changes_add(&c, py, &none, &b);
	}
	for (int i = 0; i < 50; i++) {
		cleanup_free char *file = ga_strf("%sf%d", deep.ptr, i), *link = ga_strf("l%d", i);

		ga_changes_add(&c, file, &none, &b);
		ga_changes_add(&c, link, &none, &l);
	}
	ga_changes_sort(&c);
	OK(ga_tree_apply(repo, NULL, NULL, &c, &tree, &err));
	OK(ga_classify(repo, NULL, NULL, &tree, &c, &f, &err));
	assert_non_null(flag_of(&f, "p/7/yarn.lock", "node-lockfiles"));
	assert_non_null(flag_of(&f, "l7", "symlink-escapes"));
	assert_true(has_rule(&f, "uninspected"));
}

TEST_MAIN(setup, teardown)
