/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "ga/oid.h"
#include "ga/alloc.h"

#define HEX "0123456789abcdefABCDEF0123456789abcdef01"
#define LOWER "0123456789abcdefabcdef0123456789abcdef01"

TEST(an_id_has_40_hexadecimal_digits)
{
	static const struct {
		const char *hex;
		size_t n;
		bool ok;
	} cases[] = {
		{ HEX, 40, true },
		{ HEX, 41, true },
		{ HEX, 4096, true },
		{ HEX "2", 40, true },
		{ HEX "2", 41, false },
		{ HEX "\n", 41, false },
		{ HEX, 39, false },
		{ "", 0, false },
		{ "", 40, false },
		{ "0123456789abcdef", 40, false },
		{ "g123456789abcdefABCDEF0123456789abcdef01", 40, false },
		{ "0123456789abcdefABCDEF0123456789abcdef0 ", 40, false },
		{ "-123456789abcdefABCDEF0123456789abcdef01", 40, false },
		{ "0x23456789abcdefABCDEF0123456789abcdef01", 40, false },
	};

	for_each (row, cases) {
		struct ga_oid oid, before;
		bool ok;

		memset(&oid, 0x5a, sizeof(oid));
		before = oid;
		ok = ga_oid_parse(row->hex, row->n, &oid);
		if (ok != row->ok)
			fail_msg("'%s' of %zu: %d", row->hex, row->n, ok);
		if (!ok && !ga_oid_equal(&oid, &before))
			fail_msg("'%s' of %zu: result touched", row->hex, row->n);
		if (ok)
			assert_string_equal(GA_HEX(&oid), LOWER);
	}
}

TEST(ids_are_ordered_by_their_bytes)
{
	struct ga_oid a = { { 0 } }, b = { { 0 } };

	assert_true(ga_oid_is_zero(&a));
	assert_true(ga_oid_equal(&a, &b));
	b.id[GA_OID_RAWSZ - 1] = 1;
	assert_false(ga_oid_is_zero(&b));
	assert_true(ga_oid_cmp(&a, &b) < 0);
	a.id[0] = 0x80; /* unsigned: above everything that starts with 7f */
	b.id[0] = 0x7f;
	assert_true(ga_oid_cmp(&a, &b) > 0);
}

TEST(entries_are_equal_with_mode_and_id)
{
	struct ga_entry none = { 0 }, other_none = { 0 }, file = { 0 }, exec = { 0 };

	memset(&other_none.oid, 1, sizeof(other_none.oid));
	file.mode = GA_MODE_FILE;
	exec.mode = GA_MODE_EXEC;
	/* the id of an entry that is not there means nothing */
	assert_true(ga_entry_equal(&none, &other_none));
	assert_false(ga_entry_equal(&file, &exec));
	assert_false(ga_entry_equal(&file, &none));
	exec = file;
	assert_true(ga_entry_equal(&file, &exec));
	exec.oid.id[3] = 1;
	assert_false(ga_entry_equal(&file, &exec));
}

TEST(changes_are_found_by_path)
{
	static const char *const paths[] = { "b", "a/b", "a", "a.c", "\xff", "a/", "b/c" };
	static const char *const sorted[] = { "a", "a.c", "a/", "a/b", "b", "b/c", "\xff" };
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	struct ga_entry old = { 0 }, new = { .mode = GA_MODE_FILE };

	assert_null(ga_changes_find(&c, "a"));
	ga_changes_sort(&c);
	for (size_t i = 0; i < GA_NELEMS(paths); i++) {
		new.oid.id[0] = (unsigned char)i;
		assert_int_equal(ga_changes_add(&c, paths[i], &old, &new)->new.oid.id[0], i);
	}
	ga_changes_sort(&c);
	for (size_t i = 0; i < GA_NELEMS(sorted); i++) {
		assert_string_equal(c.v[i].path, sorted[i]);
		assert_ptr_equal(ga_changes_find(&c, sorted[i]), &c.v[i]);
		assert_string_equal(paths[c.v[i].new.oid.id[0]], sorted[i]);
	}
	assert_null(ga_changes_find(&c, ""));
	assert_null(ga_changes_find(&c, "a/c"));
	assert_null(ga_changes_find(&c, "\xff\xff"));
}

TEST_MAIN(NULL, NULL)
