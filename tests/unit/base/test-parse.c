/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include <inttypes.h>

#include "ga/base/alloc.h"
#include "ga/base/parse.h"

static void refuse_units(const char *const *bad, size_t n, bool (*parse)(const char *, uint64_t, uint64_t *))
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 42;

		if (parse(bad[i], UINT64_MAX, &v) || v != 42)
			fail_msg("'%s' is %" PRIu64, bad[i], v);
	}
}

TEST(unsigned_numbers_have_no_sign_and_no_overflow)
{
	static const struct {
		const char *s;
		uint64_t max;
		bool ok;
		uint64_t v;
	} cases[] = {
		{ "0", 0, true, 0 },
		{ "1", 0, false, 0 },
		{ "007", 7, true, 7 },
		{ "8", 7, false, 0 },
		{ "9", 5, false, 0 },
		{ "255", 255, true, 255 },
		{ "256", 255, false, 0 },
		{ "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
	};
	static const char *const bad[] = {
		"18446744073709551616", "99999999999999999999", "184467440737095516150", "", " 1",
		"1 ", "+1", "-1", "0x10", "1e3", "1\n", "/", ":", "\xb2",
	};

	for_each (row, cases) {
		uint64_t v = 42;
		bool ok = ga_parse_u64(row->s, row->max, &v);

		if (ok != row->ok || v != (ok ? row->v : 42))
			fail_msg("'%s' below %" PRIu64 ": %d %" PRIu64, row->s, row->max, ok, v);
	}
	refuse_units(bad, GA_NELEMS(bad), ga_parse_u64);
}

TEST(signed_numbers_do_not_overflow)
{
	static const struct {
		const char *s;
		int64_t v;
	} cases[] = {
		{ "0", 0 },
		{ "-0", 0 },
		{ "-17", -17 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775807", -INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
	};
	static const char *const bad[] = {
		"9223372036854775808", "-9223372036854775809", "-", "--1", "- 1", "+1", "",
	};

	for_each (row, cases) {
		int64_t v = 42;
		bool ok = ga_parse_i64(row->s, &v);

		if (!ok || v != row->v)
			fail_msg("'%s': %d %" PRId64, row->s, ok, v);
	}
	for_each (row, bad) {
		int64_t v = 42;

		if (ga_parse_i64(*row, &v) || v != 42)
			fail_msg("'%s' is %" PRId64, *row, v);
	}
}

TEST(a_descriptor_is_not_negative)
{
	int fd = 42;

	assert_true(ga_parse_fd("2147483647", &fd));
	EQUAL(fd, 2147483647);
	assert_false(ga_parse_fd("2147483648", &fd));
	assert_false(ga_parse_fd("-1", &fd));
	EQUAL(fd, 2147483647);
}

TEST(numbers_are_read_up_to_a_comma)
{
	const char *all = "17,-1,2147483647", *bad[] = { "", "x", ",1", "2147483648", "1 ,2", "+1" };
	int n = 5;

	assert_true(ga_parse_next_int(&all, &n));
	EQUAL(n, 17);
	assert_true(ga_parse_next_int(&all, &n));
	EQUAL(n, -1);
	assert_true(ga_parse_next_int(&all, &n));
	EQUAL(n, 2147483647);
	STREQ(all, "");
	for_each (row, bad) {
		const char *at = *row;

		assert_false(ga_parse_next_int(&at, &n));
		assert_ptr_equal(at, *row);
	}
	EQUAL(n, 2147483647);
}

TEST(booleans_are_those_of_git)
{
	static const struct {
		const char *s;
		bool ok, v;
	} cases[] = {
		{ "true", true, true },	  { "YES", true, true },    { "On", true, true },
		{ "1", true, true },	  { "false", true, false }, { "no", true, false },
		{ "OFF", true, false },	  { "0", true, false },	    { "", true, false },
		{ "2", false, false },	  { "tru", false, false },  { "truer", false, false },
		{ " true", false, false }, { "\n", false, false },
	};

	for_each (row, cases)
		for (int before = 0; before < 2; before++) {
			bool v = before, ok = ga_parse_bool(row->s, &v);

			if (ok != row->ok || v != (ok ? row->v : before))
				fail_msg("'%s': %d %d", row->s, ok, v);
		}
}

struct unit_case {
	const char *s;
	uint64_t max;
	bool ok;
	uint64_t v;
	const char *text; /* what it is written as; NULL: as it was */
};

static void check_units(const struct unit_case *cases, size_t n,
			bool (*parse)(const char *, uint64_t, uint64_t *), char *(*text)(uint64_t))
{
	for (size_t i = 0; i < n; i++) {
		const struct unit_case *c = &cases[i];
		uint64_t v = 42, again = 43;
		bool ok = parse(c->s, c->max, &v);
		cleanup_free char *back = ok ? text(v) : NULL;

		if (ok != c->ok || v != (ok ? c->v : 42))
			fail_msg("'%s' up to %" PRIu64 ": %d %" PRIu64, c->s, c->max, ok, v);
		if (!ok)
			continue;
		STREQ(back, c->text ? c->text : c->s);
		assert_true(parse(back, UINT64_MAX, &again));
		EQUAL(again, v);
	}
}

TEST(sizes_have_binary_units)
{
	static const struct unit_case cases[] = {
		{ "0", 0, true, 0, NULL },
		{ "1", 1, true, 1, NULL },
		{ "1023", 1023, true, 1023, NULL },
		{ "1024", 1024, true, 1024, "1KiB" },
		{ "1KiB", 1024, true, 1024, NULL },
		{ "1KiB", 1023, false, 0, NULL },
		{ "64MiB", UINT64_MAX, true, 64 << 20, NULL },
		{ "64M", UINT64_MAX, true, 64 << 20, "64MiB" },
		{ "64m", UINT64_MAX, true, 64 << 20, "64MiB" },
		{ "2048k", UINT64_MAX, true, 2 << 20, "2MiB" },
		{ "3g", UINT64_MAX, true, (uint64_t)3 << 30, "3GiB" },
		{ "16777215TiB", UINT64_MAX, true, (uint64_t)16777215 << 40, NULL },
		{ "18446744073709551615", UINT64_MAX, true, UINT64_MAX, NULL },
	};
	static const char *const bad[] = {
		"16777216TiB", "", "MiB", "1 MiB", " 1MiB", "1.5GiB", "-1", "1MB", "1mib", "1MiBs",
		"1kk", "0x10",
	};

	check_units(cases, GA_NELEMS(cases), ga_parse_size, ga_size_text);
	refuse_units(bad, GA_NELEMS(bad), ga_parse_size);
}

TEST(times_have_one_unit)
{
	static const struct unit_case cases[] = {
		{ "0", 0, true, 0, "0s" },
		{ "7", 7, true, 7, "7s" },
		{ "90s", 90, true, 90, NULL },
		{ "90s", 89, false, 0, NULL },
		{ "60", 60, true, 60, "1m" },
		{ "30m", 1800, true, 1800, NULL },
		{ "24h", 86400, true, 86400, NULL },
		{ "61m", UINT64_MAX, true, 3660, NULL },
		{ "5124095576030431h", UINT64_MAX, true, 18446744073709551600u, NULL },
	};
	static const char *const bad[] = {
		"1d", "1h30m", "5124095576030432h", "s", "1S",
	};

	check_units(cases, GA_NELEMS(cases), ga_parse_seconds, ga_seconds_text);
	refuse_units(bad, GA_NELEMS(bad), ga_parse_seconds);
}

TEST(versions_of_git_are_compared)
{
	static const struct {
		const char *s;
		bool ok, old; /* before 2.38 */
	} cases[] = {
		{ "git version 2.38", true, false }, { "git version 2.37.9", true, true },
		{ "git version 2.39.5 (Apple Git-154)", true, false },
		{ "git version 2.100.0", true, false }, { "git version 1.40", true, true },
		{ "git version 3.0.rc1", true, false }, { "git version 2.38\n", true, false },
		{ "git version 2", false, false }, { "git version 2.", false, false },
		{ "git version .38", false, false }, { "git version v2.38", false, false },
		{ "git version  2.38", false, false }, { "git versions 2.38", false, false },
		{ "git 2.38", false, false }, { "git version 2.99999999999", false, false },
		{ "", false, false },
	};

	for_each (row, cases) {
		struct ga_version v = { 0, 0 };

		if (ga_parse_version(row->s, "git version", &v) != row->ok ||
		    (row->ok && ga_version_before(&v, 2, 38) != row->old))
			fail_msg("'%s'", row->s);
	}
}

TEST(releases_of_linux_are_compared)
{
	static const struct {
		const char *s;
		bool ok, old; /* before 5.12 */
	} cases[] = {
		{ "6.18.0-1-amd64", true, false }, { "5.12.0", true, false },
		{ "5.12-rc1+", true, false },      { "5.11.22-200.fc33.x86_64", true, true },
		{ "4.19.0", true, true },          { "", false, false },
		{ "5", false, false },             { "v5.12", false, false },
	};

	for_each (row, cases) {
		struct ga_version v = { 0, 0 };

		if (ga_parse_release(row->s, &v) != row->ok || (row->ok && ga_version_before(&v, 5, 12) != row->old))
			fail_msg("'%s'", row->s);
	}
}

TEST_MAIN(NULL, NULL)
