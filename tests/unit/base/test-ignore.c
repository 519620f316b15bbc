/* SPDX-License-Identifier: MIT */
#include "../repo-support.h"

#include "ga/base/ignore.h"
#include "ga/base/path.h"
#include "ga/base/strv.h"

/* ---- single lists */

static enum ga_ignore_verdict one(const char *text, const char *path, bool dir)
{
	struct ga_ignore ig = { 0 };
	enum ga_ignore_verdict v;

	ga_ignore_push(&ig, "", text, strlen(text));
	v = ga_ignore_check(&ig, path, dir);
	ga_ignore_release(&ig);
	return v;
}

TEST(each_form_of_a_line_means_what_it_means_to_git)
{
	static const struct {
		const char *text, *path;
		bool dir;
		enum ga_ignore_verdict want;
	} cases[] = {
		{ "a\n", "x/a", false, GA_IGNORE_YES },
		{ "a", "a", false, GA_IGNORE_YES }, /* no newline at the end */
		{ "a\r\n", "a", false, GA_IGNORE_YES },
		{ "a/\n", "a", false, GA_IGNORE_UNDECIDED },
		{ "a/\n", "a", true, GA_IGNORE_YES },
		{ "a\n!a\n", "a", false, GA_IGNORE_NO },
		{ "#a\n", "#a", false, GA_IGNORE_UNDECIDED },
		{ "a  \n", "a", false, GA_IGNORE_YES },
		{ "a\\ \n", "a ", false, GA_IGNORE_YES },
		{ "a\\ \n", "a", false, GA_IGNORE_UNDECIDED },
		{ "a\\\n", "a", false, GA_IGNORE_UNDECIDED },
		{ "\xef\xbb\xbf" "a\n", "a", false, GA_IGNORE_YES },
		{ "\n\n\n", "a", false, GA_IGNORE_UNDECIDED },
		{ "/\n", "a", true, GA_IGNORE_UNDECIDED },
		{ "!\n", "a", false, GA_IGNORE_UNDECIDED },
	};

	for_index (i, cases)
		if (one(cases[i].text, cases[i].path, cases[i].dir) != cases[i].want)
			fail_msg("case %zu: '%s' on '%s'", i, cases[i].text, cases[i].path);
}

TEST(rules_of_a_deeper_directory_count_more)
{
	struct ga_ignore ig = { .icase = true };
	size_t root;

	ga_ignore_push(&ig, "", "*.log\n", 6);
	root = ig.n;
	ga_ignore_push(&ig, "d", "!keep.log\n/x\n", 13);
	EQUAL(ga_ignore_check(&ig, "d/keep.log", false), GA_IGNORE_NO);
	EQUAL(ga_ignore_check(&ig, "d/x", false), GA_IGNORE_YES);
	EQUAL(ga_ignore_check(&ig, "D/X", false), GA_IGNORE_YES);
	EQUAL(ga_ignore_check(&ig, "d/e/x", false), GA_IGNORE_UNDECIDED);
	EQUAL(ga_ignore_check(&ig, "A.LOG", false), GA_IGNORE_YES);
	ga_ignore_pop(&ig, root);
	EQUAL(ga_ignore_check(&ig, "d/keep.log", false), GA_IGNORE_YES);
	ga_ignore_release(&ig);
}

/* ---- against git */

static unsigned long seed;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(seed >> 33) % n;
}

static const char *const names[] = { "a", "b", "foo", "f.o", "b c", "[x]", "#h", "!n", "a\\b", "t ", "A" };
static const char *const bits[] = { "a", "b", "foo", "*", "?", "**", "/", "/", "[a-f]", "[!b]", ".o", " ",
				    "\\", "#", "!", "f", "o", "[", "]", "\\#", "\\ ", "A", "**/", "/**" };

static void random_rules(struct ga_buf *b)
{
	for (unsigned i = 0, lines = 1 + pick(4); i < lines; i++) {
		if (!pick(4))
			ga_buf_addch(b, '!');
		for (unsigned k = 0, n = 1 + pick(4); k < n; k++)
			ga_buf_adds(b, bits[pick(GA_NELEMS(bits))]);
		ga_buf_adds(b, pick(6) ? "\n" : "\r\n");
	}
}

struct world {
	struct ga_strv paths;
	struct ga_buf ignored; /* one byte for each path */
};

static void write_text(const char *path, const struct ga_buf *text)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	EQUAL(ga_write_full(fd, text->ptr, text->len), 0);
}

/* Make a directory and everything in it, asking our own rules for each. */
static void grow(struct world *w, struct ga_ignore *ig, const char *root, const char *rel, unsigned depth, bool ignored)
{
	cleanup_free char *dir = ga_path_join(root, rel), *rules = ga_path_join(dir, ".gitignore");
	BUF(text);
	size_t mark = ig->n;

	OK(ga_mkdir_p(dir, 0755, &err));
	if (!depth || !pick(3)) {
		random_rules(&text);
		write_text(rules, &text);
		if (!ignored)
			ga_ignore_push(ig, rel, text.ptr, text.len);
	}
	for (unsigned i = 0; i < 5; i++) {
		cleanup_free char *path = ga_path_join(rel, names[pick(GA_NELEMS(names))]);
		cleanup_free char *full = ga_path_join(root, path);
		bool is_dir = depth < 3 && !pick(2), yes;

		if (!access(full, F_OK))
			continue;
		yes = ignored || ga_ignore_check(ig, path, is_dir) == GA_IGNORE_YES;
		ga_strv_push(&w->paths, path);
		ga_buf_addch(&w->ignored, yes ? 'y' : 'n');
		if (is_dir) {
			grow(w, ig, root, path, depth + 1, yes);
		} else {
			BUF(none);

			write_text(full, &none);
		}
	}
	ga_ignore_pop(ig, mark);
}

/* One record of check-ignore -v -z: source, line, pattern, path. */
static char git_says(const struct ga_buf *out, size_t *pos, const char *want_path)
{
	const char *source = ga_buf_next0(out, pos), *line = ga_buf_next0(out, pos);
	const char *pattern = ga_buf_next0(out, pos), *path = ga_buf_next0(out, pos);

	assert_non_null(source);
	assert_non_null(line);
	assert_non_null(path);
	STREQ(path, want_path);
	return *source && pattern[0] != '!' ? 'y' : 'n';
}

static void compare_once(unsigned round, unsigned long start)
{
	static const char *const argv[] = { "git", "check-ignore", "--no-index", "-v", "-n", "--stdin", "-z", NULL };
	cleanup_free char *name = ga_strf("ignore%u", round), *root = in_scratch(name);
	BUF(in);
	BUF(out);
	struct world w = { GA_STRV_INIT, GA_BUF_INIT };
	struct ga_process p = GA_PROCESS_INIT;
	struct ga_ignore ig = { 0 };
	size_t pos = 0;
	int status;

	SH(name, "git init -q");
	grow(&w, &ig, root, "", 0, false);
	for (size_t i = 0; i < w.paths.n; i++)
		ga_buf_add0(&in, w.paths.v[i]);
	p.argv = argv;
	p.cwd = root;
	p.in = in.ptr;
	p.in_len = in.len;
	p.out = &out;
	OK(ga_process_run(&p, &status, &err));
	for (size_t i = 0; i < w.paths.n; i++)
		if (git_says(&out, &pos, w.paths.v[i]) != w.ignored.ptr[i])
			fail_msg("seed %lu, round %u: '%s' is '%c' to us, not to git (%s)",
				 start, round, w.paths.v[i], w.ignored.ptr[i], root);
	SH(".", "rm -rf %s", name);
	ga_strv_release(&w.paths);
	ga_buf_release(&w.ignored);
	ga_ignore_release(&ig);
}

TEST(random_rules_ignore_what_git_ignores)
{
	const char *given = getenv("SEED");
	unsigned long start = given ? strtoul(given, NULL, 10) : (unsigned long)time(NULL);
	unsigned rounds = getenv("ROUNDS") ? (unsigned)strtoul(getenv("ROUNDS"), NULL, 10) : 60;

	print_message("seed %lu\n", start);
	seed = start;
	for (unsigned i = 0; i < rounds; i++)
		compare_once(i, start);
}

TEST_MAIN(scratch_setup, scratch_teardown)
