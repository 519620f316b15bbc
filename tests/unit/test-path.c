/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "ga/alloc.h"
#include "ga/path.h"

TEST(paths_are_joined_with_one_slash)
{
	static const struct {
		const char *a, *b, *out;
	} cases[] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "", "b", "b" },
		{ "/", "b", "/b" },  { "a", "", "a/" },	   { "/x y", "z/w", "/x y/z/w" },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_free char *s = ga_path_join(cases[i].a, cases[i].b);

		assert_string_equal(s, cases[i].out);
	}
}

TEST(a_path_is_below_a_whole_directory_name)
{
	static const struct {
		const char *path, *dir, *out;
	} cases[] = {
		{ "/a/b", "/a", "b" },	{ "/a", "/a", "" },	  { "/ab", "/a", NULL },
		{ "/a/b/c", "/a/b", "c" }, { "/", "/", "" },	  { "/a", "/", "a" },
		{ "/a", "/a/b", NULL },	{ "/b", "/a", NULL },	  { "/a//b", "/a", "/b" },
		{ "/A/b", "/a", NULL },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		const char *s = ga_path_below(cases[i].path, cases[i].dir);

		if (!s != !cases[i].out || (s && strcmp(s, cases[i].out)))
			fail_msg("%s below %s: %s", cases[i].path, cases[i].dir, s ? s : "(no)");
		assert_int_equal(ga_path_inside(cases[i].path, cases[i].dir), s != NULL);
	}
}

TEST(a_path_has_a_base_and_a_parent)
{
	static const struct {
		const char *path, *base, *parent;
	} cases[] = {
		{ "a", "a", "" },	 { "a/b", "b", "a" },  { "/a", "a", "/" },
		{ "/a/b c", "b c", "/a" }, { "a/", "", "a" },  { "", "", "" },
		{ "/", "", "/" },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_free char *parent = ga_path_parent(cases[i].path);

		assert_string_equal(ga_path_base(cases[i].path), cases[i].base);
		assert_string_equal(parent, cases[i].parent);
	}
}

TEST(a_path_of_a_tree_is_relative_without_dots)
{
	static const char *const good[] = { "a", "a/b", "...", ".a", "a..", "..a", "a b",
					    "\n", "a/.b/c.", "\xff" };
	static const char *const bad[] = { "",	  "/",	  "/a",	  "a/",	  "a//b",    ".",  "..",
					   "./a", "a/.", "a/..", "a/../b", "../a", "a/./b", "a/b//" };

	for (size_t i = 0; i < GA_NELEMS(good); i++)
		if (!ga_path_relative_ok(good[i]))
			fail_msg("'%s' refused", good[i]);
	for (size_t i = 0; i < GA_NELEMS(bad); i++)
		if (ga_path_relative_ok(bad[i]))
			fail_msg("'%s' taken", bad[i]);
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

TEST(names_are_ordered_as_in_trees)
{
	static const struct {
		const char *a;
		bool adir;
		const char *b;
		bool bdir;
		int order;
	} cases[] = {
		{ "a", false, "b", false, -1 },	   { "a", false, "a", false, 0 },
		{ "a", false, "ab", false, -1 },   { "a", true, "a.c", false, 1 },
		{ "a", false, "a.c", false, -1 },  { "a", true, "a0", false, -1 },
		{ "a", true, "a-b", true, 1 },	   { "a", true, "a", true, 0 },
		{ "a", false, "a", true, -1 },	   { "\xff", false, "a", false, 1 },
		{ "a\x01", false, "a", true, -1 },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		size_t an = strlen(cases[i].a), bn = strlen(cases[i].b);
		int there = ga_path_tree_cmp(cases[i].a, an, cases[i].adir, cases[i].b, bn, cases[i].bdir);
		int back = ga_path_tree_cmp(cases[i].b, bn, cases[i].bdir, cases[i].a, an, cases[i].adir);

		if (sign(there) != cases[i].order || sign(back) != -cases[i].order)
			fail_msg("case %zu: %d and %d", i, there, back);
	}
}

TEST(every_spelling_of_dotgit_is_known)
{
	static const char *const yes[] = {
		".git",	    ".GIT",	     ".Git",		".git.",	   ".git ",	    ".git. . ",
		".git:x",   ".git::$INDEX_ALLOCATION", ".git\\hooks", "git~1", "GIT~2", "git~1 ", "git~1:x",
		".g\xe2\x80\x8cit", "\xef\xbb\xbf.git", ".git\xe2\x81\xaf", "\xe2\x80\xaa.GIT\xe2\x80\xae.",
	};
	static const char *const no[] = {
		"",	 "git",	     ".gi",	 ".gitx",	".gitignore", "..git", ". git", "git~",
		"git~12", "xgit~1",  ".git/x" /* not one component */, ".g\xe2\x80\x8bit", ".gi\xe2\x81t",
	};

	for (size_t i = 0; i < GA_NELEMS(yes); i++)
		if (!ga_path_component_is_dotgit(yes[i], strlen(yes[i])))
			fail_msg("'%s' passes", yes[i]);
	for (size_t i = 0; i < GA_NELEMS(no); i++)
		if (ga_path_component_is_dotgit(no[i], strlen(no[i])))
			fail_msg("'%s' refused", no[i]);
	/* only the bytes given count */
	assert_true(ga_path_component_is_dotgit(".gitignore", 4));
	assert_true(ga_path_component_folds_to(".GitModules. ", 13, ".gitmodules"));
	assert_false(ga_path_component_folds_to(".gitmodule", 10, ".gitmodules"));
}

TEST_MAIN(NULL, NULL)
