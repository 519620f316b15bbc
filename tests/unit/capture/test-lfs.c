/* SPDX-License-Identifier: MIT */

#include "ga/base/path.h"
#include "ga/repo/lfs.h"
#include "../scratch.h"

#define V "version https://git-lfs.github.com/spec/v1\n"
#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* of "abc" */
#define OID "oid sha256:" HEX "\n"

/* What is taken for a pointer is all that git-lfs could; what is parsed is less. */
TEST(a_pointer_is_known_and_a_malformed_one_refused)
{
	static const struct {
		const char *text;
		bool is, parses;
	} cases[] = {
		{ V OID "size 3\n", true, true },
		{ V OID "size 3", true, true },
		{ V "\n" OID "\nsize 3\n\n", true, true },
		{ V "ext-0-x sha256:" HEX "\n" OID "size 3\n", true, true },
		{ "version https://hawser.github.com/spec/v1\n" OID "size 3\n", true, true },
		{ "version http://git-media.io/v/2\n" OID "size 3\n", true, true },
		{ "version https://git-lfs.github.com/spec/v2\n" OID "size 3\n", true, false },
		{ " " V OID "size 3\n", true, false },
		{ OID V "size 3\n", true, false },
		{ V OID OID "size 3\n", true, false },
		{ V OID "size 3\nsize 4\n", true, false },
		{ V OID "size +3\n", true, false },
		{ V OID "size -3\n", true, false },
		{ V OID "size 3 \n", true, false },
		{ V OID "size 99999999999999999999\n", true, false },
		{ V OID "size 9223372036854775808\n", true, false },
		{ V OID "size 3\r\n", true, false },
		{ V OID, true, false },
		{ V "size 3\n", false, false },
		{ V "oid sha256:../../../../etc/passwd\nsize 3\n", true, false },
		{ V "oid sha256:" HEX "0\nsize 3\n", true, false },
		{ V "oid sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"
		    "\nsize 3\n", true, false },
		{ V "oid sha1:a9993e364706816aba3e25717850c26c9cd0d89d\nsize 3\n", false, false },
		{ "", false, false },
		{ "\n", false, false },
	};

	for_index (i, cases) {
		struct ga_lfs_pointer p = { .size = 7 };
		size_t n = strlen(cases[i].text);

		if (ga_lfs_is_pointer(cases[i].text, n) != cases[i].is ||
		    ga_lfs_parse(cases[i].text, n, &p) != cases[i].parses)
			fail_msg("case %zu: %s", i, cases[i].text);
		EQUAL(p.size, cases[i].parses ? 3 : 7);
		STREQ(p.oid, cases[i].parses ? HEX : "");
	}
}

TEST(a_long_pointer_is_not_parsed)
{
	cleanup_free char *text = ga_malloc(4000);
	struct ga_lfs_pointer p;
	size_t n = strlen(V OID "size 3\n");

	memset(text, '\n', 4000);
	memcpy(text, V OID "size 3\n", n);
	assert_true(ga_lfs_parse(text, GA_LFS_POINTER_MAX, &p));
	assert_false(ga_lfs_parse(text, GA_LFS_POINTER_MAX + 1, &p));
	assert_true(ga_lfs_is_pointer(text, 4000)); /* git-lfs smudges it all the same */
	text[n] = '\0';
	assert_false(ga_lfs_parse(text, n + 1, &p));
}

TEST_MAIN(scratch_enter, scratch_leave)
