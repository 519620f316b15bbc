/* SPDX-License-Identifier: MIT */

#include "ga/lfs.h"
#include "ga/path.h"
#include "scratch.h"

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

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		struct ga_lfs_pointer p = { .size = 7 };
		size_t n = strlen(cases[i].text);

		if (ga_lfs_is_pointer(cases[i].text, n) != cases[i].is ||
		    ga_lfs_parse(cases[i].text, n, &p) != cases[i].parses)
			fail_msg("case %zu: %s", i, cases[i].text);
		assert_int_equal(p.size, cases[i].parses ? 3 : 7);
		assert_string_equal(p.oid, cases[i].parses ? HEX : "");
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

static int offer(const char *store, const struct ga_lfs_pointer *p, const char *bytes)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;
	cleanup_close int fd = ga_memfd("object", bytes, strlen(bytes), &err);
	int rc = ga_lfs_add(store, p, fd, &dirs, &err);

	assert_null(err.msg);
	assert_int_equal(dirs.n, rc ? 0 : 5);
	for (size_t i = 0; i < dirs.n; i++)
		assert_int_equal(access(dirs.v[i], F_OK), 0);
	return rc;
}

TEST(the_store_takes_only_what_has_the_sum)
{
	cleanup_free char *dir = ga_path_join(scratch_dir, "deep/lfs"), *object = NULL, *path = NULL;
	cleanup_free char *tmp = ga_path_join(dir, "tmp");
	cleanup_buf struct ga_buf got = GA_BUF_INIT;
	struct ga_lfs_pointer p = { HEX, 3 }, longer = { HEX, 4 }, shorter = { HEX, 2 };
	struct stat st;

	object = ga_lfs_object(p.oid);
	path = ga_path_join(dir, object);
	assert_string_equal(object, "objects/ba/78/" HEX);
	assert_int_equal(ga_lfs_look(dir, &p), GA_LFS_ABSENT);
	assert_int_equal(offer(dir, &p, "abd"), 1);
	assert_int_equal(offer(dir, &p, "abcd"), 1);
	assert_int_equal(offer(dir, &p, "ab"), 1);
	assert_int_equal(offer(dir, &longer, "abc"), 1);
	assert_int_equal(offer(dir, &shorter, "abc"), 1);
	/* of what is invented nothing gets near the store, no directory either */
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(ga_lfs_look(dir, &p), GA_LFS_ABSENT);
	assert_int_equal(offer(dir, &p, "abc"), 0);
	assert_int_equal(ga_lfs_look(dir, &p), GA_LFS_HERE);
	assert_int_equal(ga_lfs_look(dir, &longer), GA_LFS_ODD);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	/* nothing stays behind beside it */
	assert_int_equal(rmdir(tmp), 0);
	/* what is there is the user's, whatever it is */
	OK(ga_write_atomic(AT_FDCWD, path, "mine", 4, 0600, &err));
	assert_int_equal(ga_lfs_look(dir, &p), GA_LFS_ODD);
	assert_int_equal(offer(dir, &p, "abc"), 0);
	OK(ga_read_file_at(AT_FDCWD, path, 100, &got, &err));
	assert_string_equal(got.ptr, "mine");
	assert_int_equal(unlink(path) || mkdir(path, 0700), 0);
	assert_int_equal(ga_lfs_look(dir, &p), GA_LFS_ODD);
}

TEST_MAIN(scratch_enter, scratch_leave)
