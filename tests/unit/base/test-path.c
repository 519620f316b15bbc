/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/base/alloc.h"
#include "ga/base/path.h"

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

	for_each (row, cases) {
		const char *s = ga_path_below(row->path, row->dir);

		if (!s != !row->out || (s && strcmp(s, row->out)))
			fail_msg("%s below %s: %s", row->path, row->dir, s ? s : "(no)");
		EQUAL(ga_path_inside(row->path, row->dir), s != NULL);
	}
}

TEST(a_path_of_a_tree_is_relative_without_dots)
{
	static const char *const good[] = { "a", "a/b", "...", ".a", "a..", "..a", "a b", "\n", "a/.b/c.", "\xff" };
	static const char *const bad[] = { "",	  "/",	  "/a",	  "a/",	  "a//b",    ".",  "..",
					   "./a", "a/.", "a/..", "a/../b", "../a", "a/./b", "a/b//" };

	for_each (row, good)
		if (!ga_path_relative_ok(*row))
			fail_msg("'%s' refused", *row);
	for_each (row, bad)
		if (ga_path_relative_ok(*row))
			fail_msg("'%s' taken", *row);
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

	for_index (i, cases) {
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

	for_each (row, yes)
		if (!ga_path_component_is_dotgit(*row, strlen(*row)))
			fail_msg("'%s' passes", *row);
	for_each (row, no)
		if (ga_path_component_is_dotgit(*row, strlen(*row)))
			fail_msg("'%s' refused", *row);
	/* only the bytes given count */
	assert_true(ga_path_component_is_dotgit(".gitignore", 4));
	assert_true(ga_path_component_folds_to(".GitModules. ", 13, ".gitmodules"));
	assert_false(ga_path_component_folds_to(".gitmodule", 10, ".gitmodules"));
}

TEST_MAIN(NULL, NULL)
