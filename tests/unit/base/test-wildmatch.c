/* SPDX-License-Identifier: MIT
 *
 * ga_wildmatch() against git itself on random patterns.
 */
#include "../test.h"

#include "ga/base/buf.h"
#include "ga/base/strv.h"
#include "ga/base/wildmatch.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

/* Patterns that take exponential time in a naive matcher. */
TEST(no_pattern_takes_exponential_time)
{
	struct ga_buf p = GA_BUF_INIT, t = GA_BUF_INIT, deep = GA_BUF_INIT;
	clock_t before = clock();

	for (int i = 0; i < 200; i++) {
		ga_buf_adds(&p, "*a");
		ga_buf_adds(&deep, "**/a/");
	}
	ga_buf_adds(&p, "b");
	ga_buf_adds(&deep, "b");
	for (int i = 0; i < 2000; i++)
		ga_buf_addch(&t, 'a');
	assert_false(ga_wildmatch(p.ptr, t.ptr, false));
	ga_buf_clear(&t);
	for (int i = 0; i < 2000; i++)
		ga_buf_adds(&t, "a/");
	ga_buf_addch(&t, 'c');
	assert_false(ga_wildmatch(deep.ptr, t.ptr, false));
	assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
	ga_buf_release(&p);
	ga_buf_release(&t);
	ga_buf_release(&deep);
}

/* ---- git as the oracle */

enum { N_PATTERNS = 400, N_TEXTS = 400 };

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void random_text(uint32_t *seed, struct ga_buf *out)
{
	static const char letters[] = "aabbcAB-]";
	uint32_t n = 1 + next_random(seed) % 9;

	for (uint32_t i = 0; i < n; i++) {
		bool slash_ok = i && i + 1 < n && out->ptr[out->len - 1] != '/';

		if (slash_ok && next_random(seed) % 3 == 0)
			ga_buf_addch(out, '/');
		else
			ga_buf_addch(out, letters[next_random(seed) % (sizeof(letters) - 1)]);
	}
}

/* The first element is never a plain letter: git cuts a literal prefix off
 * before it calls its matcher, and takes stars behind that for the beginning. */
static void random_pattern(uint32_t *seed, struct ga_buf *out)
{
	static const char *const first[] = { "*", "**/", "?", "[ab]", "\\a", "**", "\\b", "[!a]" };
	static const char *const more[] = {
		"*",     "**",    "/**/",     "**/",    "/**",       "/",   "?",     "a",
		"b",     "A",     "c",        "-",      "]",         "[ab", "[a-b]", "[!a]",
		"[^-a]", "[B-A]", "[[:upper:]]", "[[:alpha:]-]", "[]a]", "\\a", "\\*", "[\\]b]",
		"***",   "*/",    "[A]",      "[b-\\c]", "/*/",      "[[:x", "*a",   "*b*",
		"**\\/", "[[:alpha]",
	};
	uint32_t n = next_random(seed) % 5;

	ga_buf_adds(out, first[next_random(seed) % GA_NELEMS(first)]);
	for (uint32_t i = 0; i < n; i++)
		ga_buf_adds(out, more[next_random(seed) % GA_NELEMS(more)]);
	/* A pattern that ends in a slash never matches as an attribute. */
	while (out->len && out->ptr[out->len - 1] == '/')
		ga_buf_truncate(out, out->len - 1);
	if (!out->len)
		ga_buf_addch(out, '*');
}

/* Each pattern is a line of an attributes file, giving attribute pN; git says
 * which attributes each text has. One process answers for all pairs. */
static void ask_git(const char *dir, bool icase, const struct ga_buf *texts, struct ga_buf *out)
{
	const char *const argv[] = { "git", "-c", icase ? "core.ignoreCase=true" : "core.ignoreCase=false",
				     "-c", "core.attributesFile=attributes", "check-attr",
				     "--stdin", "-z", "-a", NULL };
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	p.argv = argv;
	p.cwd = dir;
	p.in = texts->ptr;
	p.in_len = texts->len;
	p.out = out;
	OK(ga_process_run(&p, &status, &err));
	EQUAL(status, 0);
}

static void compare_with_git(const char *dir, bool icase, uint32_t seed)
{
	struct ga_strv patterns = GA_STRV_INIT, texts = GA_STRV_INIT, said = GA_STRV_INIT;
	struct ga_buf file = GA_BUF_INIT, in = GA_BUF_INIT, out = GA_BUF_INIT, b = GA_BUF_INIT;
	char *path = ga_strf("%s/attributes", dir);
	const char *name;
	size_t pos = 0, matched = 0;

	for (int i = 0; i < N_PATTERNS; i++, ga_buf_clear(&b)) {
		random_pattern(&seed, &b);
		ga_strv_push(&patterns, b.ptr);
		ga_buf_addf(&file, "/%s p%d\n", b.ptr, i);
	}
	for (int i = 0; i < N_TEXTS; i++, ga_buf_clear(&b)) {
		random_text(&seed, &b);
		ga_strv_push(&texts, b.ptr);
	}
	ga_strv_sort_unique(&texts);
	for (size_t i = 0; i < texts.n; i++)
		ga_buf_add0(&in, texts.v[i]);
	OK(ga_write_atomic(AT_FDCWD, path, file.ptr, file.len, 0600, &err));
	ask_git(dir, icase, &in, &out);
	while ((name = ga_buf_next0(&out, &pos))) {
		const char *attr = ga_buf_next0(&out, &pos);

		(void)ga_buf_next0(&out, &pos);
		ga_strv_pushf(&said, "%s %s", name, attr);
	}
	ga_strv_sort_unique(&said);
	for (size_t i = 0; i < texts.n; i++)
		for (size_t k = 0; k < patterns.n; k++) {
			bool got = ga_wildmatch(patterns.v[k], texts.v[i], icase), want = false;
			size_t lo = 0, hi = said.n;
			char *key = ga_strf("%s p%zu", texts.v[i], k);

			while (lo < hi) {
				size_t mid = (lo + hi) / 2;
				int c = strcmp(said.v[mid], key);

				if (!c)
					want = true;
				if (c < 0)
					lo = mid + 1;
				else
					hi = mid;
			}
			free(key);
			matched += got;
			if (got != want)
				fail_msg("'%s' against '%s' (icase %d): git says %d",
					 patterns.v[k], texts.v[i], icase, want);
		}
	assert_true(matched > 1000); /* the comparison must have had something to compare */
	free(path);
	ga_buf_release(&file);
	ga_buf_release(&in);
	ga_buf_release(&out);
	ga_buf_release(&b);
	ga_strv_release(&patterns);
	ga_strv_release(&texts);
	ga_strv_release(&said);
}

TEST(random_patterns_match_as_in_git)
{
	char dir[] = "/tmp/ga-wildmatch-XXXXXX";
	const char *argv[] = { "git", "init", "-q", "--template=", dir, NULL };
	const char *given = getenv("SEED");
	uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)time(NULL);
	struct ga_process p = GA_PROCESS_INIT;
	int status = -1;

	assert_non_null(mkdtemp(dir));
	p.argv = argv;
	OK(ga_process_run(&p, &status, &err));
	EQUAL(status, 0);
	print_message("# SEED=%u\n", seed);
	for (uint32_t i = 0; i < 4; i++) {
		compare_with_git(dir, false, seed + i);
		compare_with_git(dir, true, (seed + i) * 77);
	}
	OK(ga_rmtree_at(AT_FDCWD, dir, &err));
}

TEST_MAIN(NULL, NULL)
