/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/base/alloc.h"
#include "ga/base/oid.h"
#include "ga/base/sha.h"

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
			STREQ(GA_HEX(&oid), LOWER);
	}
}

static struct ga_oid numbered(uint32_t i)
{
	struct ga_oid oid = { { 0 } };
	struct ga_sha s;

	ga_sha1_init(&s);
	ga_sha_add(&s, &i, sizeof(i));
	ga_sha_end(&s, oid.id);
	return oid;
}

TEST(a_map_finds_what_was_added)
{
	cleanup_oidmap struct ga_oidmap m = GA_OIDMAP_INIT;
	struct ga_oid oid = numbered(0);
	size_t v = 7;

	assert_false(ga_oidmap_get(&m, &oid, &v));
	for (uint32_t i = 0; i < 5000; i++) {
		oid = numbered(i);
		assert_true(ga_oidmap_add(&m, &oid, i));
		assert_false(ga_oidmap_add(&m, &oid, 1));
	}
	EQUAL(m.n, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		oid = numbered(i);
		assert_true(ga_oidmap_get(&m, &oid, &v));
		EQUAL(v, i);
	}
	oid = numbered(5000);
	assert_false(ga_oidmap_get(&m, &oid, &v));
}

TEST_MAIN(NULL, NULL)
