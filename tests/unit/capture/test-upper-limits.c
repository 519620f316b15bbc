/* SPDX-License-Identifier: MIT
 *
 * Upper layers that reach a limit: of ours, or of paths and directories.
 */
#include "../upper-support.h"

/* So many notes have these words. */
static void assert_noted(const struct layer *l, const char *words, size_t want)
{
	size_t n = 0;

	for (size_t i = 0; i < l->res.notes.n; i++)
		n += strstr(l->res.notes.v[i], words) != NULL;
	if (n != want)
		fail_msg("%zu notes with '%s', not %zu; the first: %s", n, words, want,
			 l->res.notes.n ? l->res.notes.v[0] : "none");
}

TEST(ov13_what_is_beyond_a_limit_is_left_behind)
{
	LAYER(l, "limits", BASE);
	cleanup_close int at = in_upper(&l), fd = -1;

	fd = openat(at, "huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	EQUAL(ftruncate(fd, (off_t)5 << 30), 0);
	put(&l, "small", "1\n");
	assert_captured(&l, "A small;");
	assert_left(&l, "limit huge 1;");
	/* a directory read in part must not look as if the rest were gone */
	put(&l, "1/2/3/4", "deep\n");
	put(&l, "1/2/x", "x\n");
	opaque(&l, "d");
	put(&l, "d/p", "p\n");
	l.limits.entries = 6;
	free(captured(&l));
	assert_noted(&l, "more entries than can be captured", 1);
	for (size_t i = 0; i < l.res.changes.n; i++)
		assert_true(l.res.changes.v[i].new.mode != GA_MODE_NONE);
}

TEST(a_file_stays_until_the_directory_in_its_place_is_read)
{
	LAYER(l, "instead", BASE);

	opaque(&l, "d/e/y");
	put(&l, "d/e/y/new", "n\n");
	white(&l, "a");
	l.limits.depth = 2;
	assert_captured(&l, "D a;");
	assert_left(&l, "limit d/e/y 1;");
	l.limits.depth = 3;
	assert_captured(&l, "D a;D d/e/y;A d/e/y/new;");
	l.limits.entries = 4;
	assert_captured(&l, "D a;");
	l.limits.entries = 100;
	mark(&l, "d/e/y", "user.overlay.redirect", "/a");
	assert_captured(&l, "D a;");
	assert_left(&l, "unreadable d/e/y 1;");
	/* one that is ignored, or a repository, is there instead all the same */
	opaque(&l, "l");
	put(&l, "l/x", "x\n");
	opaque(&l, "s");
	put(&l, "s/.git/HEAD", "ref: refs/heads/main\n");
	dir(&l, "s/.git/refs");
	dir(&l, "s/.git/objects");
	l.o.host_excludes = "l/\n";
	assert_captured(&l, "D a;D l;D s;");
}

TEST(ov13_each_limit_is_said)
{
	static const struct {
		uint64_t depth, entries, file_size, total_size, rules_size;
		const char *captured, *left, *note, *key;
		enum ga_limit met;
	} cases[] = {
		{ 2, 8, 5, 16, 2, "A .gitignore;A 1/2/f;M a;A g;A h;", "ignored x 1;", NULL, NULL, 0 },
		{ 1, 8, 5, 16, 2, "A .gitignore;M a;A g;A h;", "limit 1/2 1;ignored x 1;", "lies too deep",
		  "limits.capture.depth: 1)", GA_LIMIT_DEPTH },
		{ 2, 8, 4, 16, 2, "A .gitignore;A 1/2/f;M a;A h;", "limit g 1;ignored x 1;",
		  "larger than a file may be", "limits.capture.file_size: 4)", GA_LIMIT_FILE_SIZE },
		{ 2, 8, 5, 14, 2, "A .gitignore;A 1/2/f;M a;A g;", "limit h 1;ignored x 1;",
		  "more than may be captured in all", "limits.capture.total_size: 14)",
		  GA_LIMIT_TOTAL_SIZE },
		{ 2, 7, 5, 16, 2, "A .gitignore;", "limit 1/2 1;", "more entries than can be captured",
		  "limits.capture.entries: 7)", GA_LIMIT_ENTRIES },
		/* what would have been ignored is not, and nothing is lost */
		{ 2, 8, 5, 20, 1, "A .gitignore;A 1/2/f;M a;A g;A h;A x;", "", "too long to be read as rules",
		  "limits.capture.rules_size: 1)", GA_LIMIT_RULES_SIZE },
	};
	LAYER(l, "each", BASE);

	put(&l, ".gitignore", "x\n");
	put(&l, "1/2/f", "123\n");
	put(&l, "a", "2\n");
	put(&l, "g", "1234\n");
	put(&l, "h", "1\n");
	put(&l, "x", "1\n");
	for_index (i, cases) {
		cleanup_free char *got = NULL;

		l.limits.depth = cases[i].depth;
		l.limits.entries = cases[i].entries;
		l.limits.file_size = cases[i].file_size;
		l.limits.total_size = cases[i].total_size;
		l.limits.rules_size = cases[i].rules_size;
		got = captured(&l);
		if (strcmp(got, cases[i].captured) != 0)
			fail_msg("case %zu: '%s', not '%s'", i, got, cases[i].captured);
		assert_left(&l, cases[i].left);
		EQUAL(l.res.notes.n, cases[i].note ? 1 : 0);
		EQUAL(l.res.met, cases[i].note ? (uint64_t)1 << cases[i].met : 0);
		if (!cases[i].note)
			continue;
		assert_noted(&l, cases[i].note, 1);
		assert_noted(&l, cases[i].key, 1);
	}
}

/* Longer than a second at any speed: each name is matched against patterns that try every way to
 * divide it. */
TEST(ov13_reading_a_layer_ends_in_time)
{
	LAYER(l, "busy", BASE);
	ERR(err);
	cleanup_(ga_upper_files_release) struct ga_upper_files list = GA_UPPER_FILES_INIT;
	BUF(rules);

	while (rules.len < (512 << 10))
		ga_buf_addf(&rules, "*a*a*a*a*a*a*a*a*a*a*a*a*%zu\n", rules.len);
	put(&l, ".gitignore", rules.ptr);
	for (int i = 0; i < 2000; i++) {
		cleanup_free char *name = ga_strf("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d", i);

		put(&l, name, "");
	}
	l.limits.read_time = 1;
	l.o.base_tree = &l.base;
	l.o.limits = &l.limits;
	EQUAL(ga_upper_capture(l.repo, &l.o, &l.res, &err), GA_UPPER_LATE);
	EQUAL(ga_upper_list(l.repo, &l.o, &list, &err), GA_UPPER_LATE);
	assert_null(err.msg);
	EQUAL(list.open.n, 0);
}

TEST(ov13_many_beyond_a_limit_are_counted)
{
	LAYER(l, "many", BASE);

	l.limits.file_size = 1;
	for (int i = 0; i < 25; i++) {
		cleanup_free char *name = ga_strf("big%d", i);

		put(&l, name, "12");
	}
	put(&l, "small", "1");
	assert_captured(&l, "A small;");
	EQUAL(l.res.left.n, 25);
	assert_noted(&l, "larger than a file may be", 10);
	assert_noted(&l, "15 more entries are beyond a limit", 1);
}

/* Git could not check it out: 4095 bytes are the most that any call takes. */
TEST(ov09_path_of_4096_bytes)
{
	cleanup_free char *name = ga_calloc(1, 205);
	LAYER(l, "longpath", BASE);
	cleanup_close int at = in_upper(&l);

	memset(name, 'n', 203);
	for (int i = 0; i < 20; i++) { /* 20 * 204 = 4080 with their slashes */
		int next;

		EQUAL(mkdirat(at, name, 0755), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(at);
		at = next;
	}
	for (int i = 15; i <= 16; i++) {
		cleanup_free char *file = ga_strndup("0123456789abcdef", (size_t)i);

		EQUAL(mknodat(at, file, S_IFREG | 0644, 0), 0);
	}
	free(captured(&l));
	EQUAL(l.res.changes.n, 1);
	EQUAL(strlen(l.res.changes.v[0].path), 4095);
	EQUAL(l.res.left.n, 1);
	assert_noted(&l, "path longer than any system takes", 1);
}

TEST(ov09_a_very_deep_tree_is_left_behind)
{
	LAYER(l, "deep", BASE);
	cleanup_close int at = in_upper(&l);

	/* far beyond PATH_MAX and any table of descriptors */
	for (int i = 0; i < 3000; i++) {
		int next;

		EQUAL(mkdirat(at, "0123456789012345678901234567890123456789", 0755), 0);
		next = openat(at, "0123456789012345678901234567890123456789", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(at);
		at = next;
	}
	put(&l, "after", "a\n");
	assert_captured(&l, "A after;");
	EQUAL(l.res.left.n, 1);
	EQUAL(l.res.left.v[0].kind, GA_LEFTOVER_LIMIT);
}

TEST_MAIN(scratch_setup, scratch_teardown)
