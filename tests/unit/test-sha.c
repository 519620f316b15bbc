/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "ga/alloc.h"
#include "ga/oid.h"
#include "ga/oidmap.h"
#include "ga/sha.h"

static void assert_sum(const void *p, size_t n, size_t step, const char *hex)
{
	struct ga_oid sum;
	struct ga_sha s;

	ga_sha1_init(&s);
	for (size_t i = 0; i < n; i += step)
		ga_sha_add(&s, (const char *)p + i, n - i < step ? n - i : step);
	ga_sha_end(&s, sum.id);
	assert_string_equal(GA_HEX(&sum), hex);
}

/* The first three are FIPS 180's own. */
TEST(sums_are_those_of_the_standard)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	cleanup_free char *million = ga_malloc(1000000);

	memset(million, 'a', 1000000);
	assert_sum("abc", 3, 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_sum(two, strlen(two), 7, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	for (size_t step = 1; step < 200; step += 33)
		assert_sum(million, 1000000, step, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	assert_sum("", 0, 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

static void assert_sum256(const void *p, size_t n, size_t step, const char *hex)
{
	char sum[GA_SHA256_HEXSZ + 1];
	struct ga_sha s;

	ga_sha256_init(&s);
	for (size_t i = 0; i < n; i += step)
		ga_sha_add(&s, (const char *)p + i, n - i < step ? n - i : step);
	ga_sha256_end_hex(&s, sum);
	assert_string_equal(sum, hex);
}

/* FIPS 180's own, and of nothing. */
TEST(sha256_sums_are_those_of_the_standard)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static const char all_a[] =
		"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
	cleanup_free char *million = ga_malloc(1000000);

	memset(million, 'a', 1000000);
	assert_sum256("abc", 3, 1,
		      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_sum256(two, strlen(two), 7,
		      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	for (size_t step = 1; step < 200; step += 33)
		assert_sum256(million, 1000000, step, all_a);
	assert_sum256(million, 1000000, 65536, all_a);
	assert_sum256("", 0, 1,
		      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
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
	assert_int_equal(m.n, 5000);
	for (uint32_t i = 0; i < 5000; i++) {
		oid = numbered(i);
		assert_true(ga_oidmap_get(&m, &oid, &v));
		assert_int_equal(v, i);
	}
	oid = numbered(5000);
	assert_false(ga_oidmap_get(&m, &oid, &v));
}

TEST_MAIN(NULL, NULL)
