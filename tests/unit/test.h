/* SPDX-License-Identifier: MIT
 *
 * Unit tests with cmocka: TEST(name) { ... } is a test, TEST_MAIN() the end of the file. They run in the
 * order in which they stand there. A name reads as a sentence, `a_path_with_dots_is_refused`.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ga/base/error.h"

#define TESTS_MAX 64
static struct CMUnitTest all_tests[TESTS_MAX];
static size_t n_tests;

static inline void add_test(const char *name, CMUnitTestFunction f, CMFixtureFunction setup, CMFixtureFunction teardown)
{
	if (n_tests == TESTS_MAX)
		__builtin_trap();
	all_tests[n_tests++] = (struct CMUnitTest){ name, f, setup, teardown, NULL };
}

/* With what is done before and after it, by functions that get `state` as the test does, or NULL. Constructors of a
 * file run in the order in which they stand there. */
#define TEST_WITH(name, setup, teardown) \
	static void name(void **state); \
	__attribute__((constructor)) static void add_##name(void) \
	{ \
		add_test(#name, name, setup, teardown); \
	} \
	static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* With what is done before the first and after the last. cmocka skips the rest of the array. */
#define RUN_TESTS(setup, teardown) cmocka_run_group_tests(all_tests, setup, teardown)
#define TEST_MAIN(setup, teardown) \
	int main(void) \
	{ \
		return RUN_TESTS(setup, teardown); \
	}

/* For each row of a table, by a pointer or by its number. */
#define for_each(row, rows) \
	for (__typeof__(&(rows)[0]) row = (rows); row < (rows) + GA_NELEMS(rows); row++)
#define for_index(i, rows) for (size_t i = 0; i < GA_NELEMS(rows); i++)

/* Empty ones, released at the end of their block. */
#define BUF(name) cleanup_buf struct ga_buf name = GA_BUF_INIT
#define CHANGES(name) cleanup_changes struct ga_changes name = GA_CHANGES_INIT
#define ERR(name) cleanup_error struct ga_error name = GA_ERROR_INIT
#define FACTS(name) cleanup_host_facts struct ga_host_facts name = GA_HOST_FACTS_INIT
#define FLAGS(name) cleanup_flags struct ga_flags name = GA_FLAGS_INIT
#define REPOSITORY(name) cleanup_repo struct ga_repo *name = NULL
#define STRV(name) cleanup_strv struct ga_strv name = GA_STRV_INIT

#define EQUAL(a, b) assert_int_equal(a, b)
#define STREQ(a, b) assert_string_equal(a, b)

/* A text with another in it. */
#define assert_has(text, part) \
	do { \
		if (!strstr(text, part)) \
			fail_msg("'%s' not in: %s", part, text); \
	} while (0)

/* A call that must not fail, with `&err` for its error, which is printed. */
#define OK(call) \
	do { \
		cleanup_error struct ga_error err = GA_ERROR_INIT; \
		if (call) \
			fail_msg("%s: %s", #call, err.msg ? err.msg : "positive"); \
	} while (0)

/* A call that must fail with this in its message. */
#define FAILS(call, what) \
	do { \
		cleanup_error struct ga_error err = GA_ERROR_INIT; \
		if ((call) != -1) \
			fail_msg("%s did not fail", #call); \
		if (!err.msg || !strstr(err.msg, what)) \
			fail_msg("'%s' not in: %s", what, err.msg ? err.msg : "nothing"); \
	} while (0)
