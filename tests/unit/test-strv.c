/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "ga/buf.h"
#include "ga/strv.h"

static char *joined(const struct ga_strv *sv)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < sv->n; i++)
		ga_buf_addf(&b, "%s%s", i ? "|" : "", sv->v[i]);
	return ga_buf_steal(&b);
}

static void check(const struct ga_strv *sv, const char *want)
{
	cleanup_free char *got = joined(sv);

	assert_string_equal(got, want);
	if (sv->v)
		assert_null(sv->v[sv->n]);
}

TEST(words_are_added_in_every_way)
{
	cleanup_strv struct ga_strv sv = GA_STRV_INIT, more = GA_STRV_INIT;

	check(&sv, "");
	ga_strv_push(&sv, "one");
	ga_strv_push_n(&sv, "twofold", 3);
	ga_strv_push_n(&sv, "ab", 10);
	ga_strv_pushf(&sv, "%d", 3);
	ga_strv_take(&sv, ga_strdup("four"));
	ga_strv_push_many(&sv, "five", "", NULL);
	check(&sv, "one|two|ab|3|four|five|");
	ga_strv_extend(&more, &sv);
	ga_strv_extend(&more, &sv);
	ga_strv_push_many(&sv, NULL);
	check(&sv, "one|two|ab|3|four|five|");
	assert_int_equal(more.n, 2 * sv.n);
	assert_ptr_not_equal(more.v[0], sv.v[0]);
}

/* Terminated at every length: around each reallocation is where it would fail. */
TEST(a_vector_ends_with_NULL_while_it_grows)
{
	cleanup_strv struct ga_strv sv = GA_STRV_INIT;

	for (size_t i = 0; i < 200; i++) {
		ga_strv_pushf(&sv, "%zu", i);
		if (sv.n != i + 1 || sv.v[sv.n])
			fail_msg("not terminated after %zu", i + 1);
	}
	assert_string_equal(sv.v[0], "0");
	assert_string_equal(sv.v[199], "199");
}

TEST(a_word_is_found_in_a_vector)
{
	cleanup_strv struct ga_strv sv = GA_STRV_INIT;

	assert_false(ga_strv_has(&sv, ""));
	ga_strv_push_many(&sv, "a", "bc", NULL);
	assert_true(ga_strv_has(&sv, "a"));
	assert_true(ga_strv_has(&sv, "bc"));
	assert_false(ga_strv_has(&sv, "b"));
	assert_false(ga_strv_has(&sv, ""));
}

TEST(a_vector_is_sorted_without_duplicates)
{
	static const struct {
		const char *in[6], *out;
	} cases[] = {
		{ { NULL }, "" },
		{ { "a" }, "a" },
		{ { "a", "a", "a" }, "a" },
		{ { "b", "a", "b", "a" }, "a|b" },
		/* bytes, not letters: upper case first, UTF-8 last */
		{ { "b", "\xc3\xa4", "B", "a/b", "a" }, "B|a|a/b|b|\xc3\xa4" },
		{ { "", "x", "" }, "|x" },
	};

	for_each (row, cases) {
		cleanup_strv struct ga_strv sv = GA_STRV_INIT;

		for (size_t k = 0; row->in[k]; k++)
			ga_strv_push(&sv, row->in[k]);
		ga_strv_sort_unique(&sv);
		check(&sv, row->out);
	}
}

TEST(release_starts_anew)
{
	struct ga_strv sv = GA_STRV_INIT;

	ga_strv_push(&sv, "a");
	ga_strv_release(&sv);
	assert_null(sv.v);
	ga_strv_push(&sv, "b");
	check(&sv, "b");
	ga_strv_release(&sv);
}

TEST_MAIN(NULL, NULL)
