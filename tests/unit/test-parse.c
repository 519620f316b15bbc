/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "ga/alloc.h"
#include "ga/parse.h"

static void unsigned_numbers(void **state)
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
		{ "18446744073709551616", UINT64_MAX, false, 0 },
		{ "99999999999999999999", UINT64_MAX, false, 0 },
		{ "184467440737095516150", UINT64_MAX, false, 0 },
		{ "", UINT64_MAX, false, 0 },
		{ " 1", UINT64_MAX, false, 0 },
		{ "1 ", UINT64_MAX, false, 0 },
		{ "+1", UINT64_MAX, false, 0 },
		{ "-1", UINT64_MAX, false, 0 },
		{ "0x10", UINT64_MAX, false, 0 },
		{ "1e3", UINT64_MAX, false, 0 },
		{ "1\n", UINT64_MAX, false, 0 },
		{ "/", UINT64_MAX, false, 0 },
		{ ":", UINT64_MAX, false, 0 },
		{ "\xb2", UINT64_MAX, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		uint64_t v = 42;
		bool ok = ga_parse_u64(cases[i].s, cases[i].max, &v);

		if (ok != cases[i].ok || v != (ok ? cases[i].v : 42))
			fail_msg("'%s' below %" PRIu64 ": %d %" PRIu64, cases[i].s, cases[i].max, ok, v);
	}
}

static void signed_numbers(void **state)
{
	static const struct {
		const char *s;
		bool ok;
		int64_t v;
	} cases[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ "-17", true, -17 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775807", true, -INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-9223372036854775809", false, 0 },
		{ "-", false, 0 },
		{ "--1", false, 0 },
		{ "- 1", false, 0 },
		{ "+1", false, 0 },
		{ "", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		int64_t v = 42;
		bool ok = ga_parse_i64(cases[i].s, &v);

		if (ok != cases[i].ok || v != (ok ? cases[i].v : 42))
			fail_msg("'%s': %d %" PRId64, cases[i].s, ok, v);
	}
}

static void descriptors(void **state)
{
	int fd = 42;

	(void)state;
	assert_true(ga_parse_fd("2147483647", &fd));
	assert_int_equal(fd, 2147483647);
	assert_false(ga_parse_fd("2147483648", &fd));
	assert_false(ga_parse_fd("-1", &fd));
	assert_int_equal(fd, 2147483647);
}

static void booleans(void **state)
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

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++)
		for (int before = 0; before < 2; before++) {
			bool v = before, ok = ga_parse_bool(cases[i].s, &v);

			if (ok != cases[i].ok || v != (ok ? cases[i].v : before))
				fail_msg("'%s': %d %d", cases[i].s, ok, v);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsigned_numbers),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(booleans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
