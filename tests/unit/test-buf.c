/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "ga/buf.h"

/* An empty buffer is usable as "" before anything was allocated. */
TEST(empty_is_a_string)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char *s;

	assert_string_equal(b.ptr, "");
	ga_buf_truncate(&b, 0);
	ga_buf_clear(&b);
	ga_buf_chomp(&b);
	ga_buf_add(&b, NULL, 0);
	assert_int_equal(b.len, 0);
	ga_buf_release(&b);
	assert_ptr_equal(b.ptr, ga_buf_empty);
	s = ga_buf_steal(&b);
	assert_string_equal(s, "");
	free(s);
}

TEST(text_and_bytes_are_appended)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_adds(&b, "one");
	ga_buf_addch(&b, ' ');
	ga_buf_addf(&b, "%d %s", 2, "three");
	ga_buf_add(&b, "", 1);
	ga_buf_add(&b, "x", 1);
	assert_int_equal(b.len, strlen("one 2 three") + 2);
	assert_memory_equal(b.ptr, "one 2 three\0x", b.len + 1);
	ga_buf_truncate(&b, 1000);
	assert_int_equal(b.len, strlen("one 2 three") + 2);
	ga_buf_truncate(&b, 3);
	assert_string_equal(b.ptr, "one");
	ga_buf_clear(&b);
	assert_string_equal(b.ptr, "");
}

/* Every length around a reallocation, and a terminator after each byte. */
TEST(growth_keeps_bytes)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < 5000; i++) {
		ga_buf_addch(&b, (char)('a' + i % 26));
		if (b.len != i + 1 || b.ptr[b.len] != '\0' || b.cap <= b.len)
			fail_msg("after %zu bytes: len %zu cap %zu", i + 1, b.len, b.cap);
	}
	for (size_t i = 0; i < b.len; i++)
		if (b.ptr[i] != (char)('a' + i % 26))
			fail_msg("byte %zu is %c", i, b.ptr[i]);
}

TEST(a_long_format_is_not_cut)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char big[3000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ga_buf_adds(&b, "<");
	ga_buf_addf(&b, "%s>", big);
	assert_int_equal(b.len, sizeof(big) + 1);
	assert_int_equal(strspn(b.ptr + 1, "x"), sizeof(big) - 1);
	assert_string_equal(b.ptr + b.len - 1, ">");
}

TEST(reserve_is_terminated)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char *at;

	at = ga_buf_reserve(&b, 10);
	assert_string_equal(at, "");
	memcpy(at, "0123456789", 10);
	b.len += 10;
	at = ga_buf_reserve(&b, 0);
	assert_ptr_equal(at, b.ptr + 10);
	assert_string_equal(b.ptr, "0123456789");
}

TEST(chomp_removes_newlines_at_the_end)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" }, { "a", "a" }, { "a\n", "a" }, { "a\n\n", "a\n" }, { "\n", "" }, { "a\n ", "a\n " },
	};

	for_each (row, cases) {
		cleanup_buf struct ga_buf b = GA_BUF_INIT;

		ga_buf_adds(&b, row->in);
		ga_buf_chomp(&b);
		assert_string_equal(b.ptr, row->out);
	}
}

TEST(steal_hands_over)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char *s;

	ga_buf_adds(&b, "mine");
	s = ga_buf_steal(&b);
	assert_string_equal(b.ptr, "");
	ga_buf_adds(&b, "other");
	assert_string_equal(s, "mine");
	free(s);
}

TEST(records_end_with_a_NUL)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t pos = 0;

	assert_null(ga_buf_next0(&b, &pos));
	ga_buf_add0(&b, "a");
	ga_buf_add0(&b, "");
	ga_buf_add0(&b, "line\nbreak");
	ga_buf_adds(&b, "no end");
	assert_string_equal(ga_buf_next0(&b, &pos), "a");
	assert_string_equal(ga_buf_next0(&b, &pos), "");
	assert_string_equal(ga_buf_next0(&b, &pos), "line\nbreak");
	assert_string_equal(ga_buf_next0(&b, &pos), "no end");
	assert_null(ga_buf_next0(&b, &pos));
	assert_null(ga_buf_next0(&b, &pos));
}

TEST_MAIN(NULL, NULL)
