/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ga/alloc.h"
#include "ga/oid.h"
#include "ga/oidmap.h"
#include "ga/sha1.h"

static void assert_sum(const void *p, size_t n, size_t step, const char *hex)
{
	struct ga_oid sum;
	struct ga_sha1 s;

	ga_sha1_init(&s);
	for (size_t i = 0; i < n; i += step)
		ga_sha1_add(&s, (const char *)p + i, n - i < step ? n - i : step);
	ga_sha1_end(&s, sum.id);
	assert_string_equal(GA_HEX(&sum), hex);
}

/* The first three are FIPS 180's own. */
static void vectors(void **state)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	cleanup_free char *million = ga_malloc(1000000);

	(void)state;
	memset(million, 'a', 1000000);
	assert_sum("abc", 3, 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_sum(two, strlen(two), 7, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	for (size_t step = 1; step < 200; step += 33)
		assert_sum(million, 1000000, step, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	assert_sum("", 0, 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

static struct ga_oid numbered(uint32_t i)
{
	struct ga_oid oid = { { 0 } };
	struct ga_sha1 s;

	ga_sha1_init(&s);
	ga_sha1_add(&s, &i, sizeof(i));
	ga_sha1_end(&s, oid.id);
	return oid;
}

static void map(void **state)
{
	cleanup_oidmap struct ga_oidmap m = GA_OIDMAP_INIT;
	struct ga_oid oid = numbered(0);
	size_t v = 7;

	(void)state;
	assert_false(ga_oidmap_get(&m, &oid, &v));
	for (uint32_t i = 0; i < 5000; i++) {
		oid = numbered(i);
		assert_true(ga_oidmap_add(&m, &oid, i));
		assert_false(ga_oidmap_add(&m, &oid, 1));
	}
	assert_int_equal(m.n, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		oid = numbered(i);
		assert_true(ga_oidmap_get(&m, &oid, &v));
		assert_int_equal(v, i);
	}
	oid = numbered(5000);
	assert_false(ga_oidmap_get(&m, &oid, &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(map),
	};

	return cmocka_run_group_tests_name("sha1", tests, NULL, NULL);
}
