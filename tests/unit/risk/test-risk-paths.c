/* SPDX-License-Identifier: MIT
 *
 * Rules about paths: each fires on what it is for and not on what looks like it;
 * names are folded; the index finds what trying every pattern would.
 */
#include "risk-support.h"

#include "ga/base/wildmatch.h"
#include "risk-fixtures.h"

/* Is a rule said to cover a path, before one flag is chosen from many? */
static bool covers(const struct ga_matcher *m, const char *path, const char *rule)
{
	BUF(folded);
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;

	ga_name_fold(&folded, path);
	ga_matcher_find(m, folded.ptr, false, &hits);
	for (size_t i = 0; i < hits.n; i++)
		if (!strcmp(((const struct ga_rule *)hits.v[i].of)->id, rule))
			return true;
	return false;
}
TEST(every_rule_has_an_id_a_category_and_a_reason)
{
	static const char *const categories[] = {
		"git-hook", "git-config", "shell-env", "build", "package-manager", "ci", "editor",
		"agent-config", "container", "language-autoload", "secrets", "file-type",
		"filename", "content", "configured",
	};
	size_t n;
	const struct ga_rule *rules = ga_rules(&n);

	assert_true(n > 180);
	for (size_t i = 0; i < n; i++) {
		bool known = false;

		for (size_t j = 0; j < i; j++)
			if (!strcmp(rules[i].id, rules[j].id))
				fail_msg("'%s' is there twice", rules[i].id);
		for_each (row, categories)
			known |= !strcmp(rules[i].category, *row);
		if (!known)
			fail_msg("'%s': category '%s'", rules[i].id, rules[i].category);
		if (rules[i].severity > GA_CRITICAL || !*rules[i].reason ||
		    strpbrk(rules[i].reason, "\n") || strlen(rules[i].reason) > 100)
			fail_msg("'%s': severity or reason", rules[i].id);
	}
}

TEST(each_rule_covers_its_paths_only)
{
	struct ga_matcher *m = ga_rules_matcher();
	int failed = 0;

	for_each (row, path_fixtures) {
		char rule[64], covered[64], path[68];
		FLAGS(f);

		if (sscanf(*row, "%63s %63s %67s", rule, covered, path) == 2)
			(void)snprintf(path, sizeof(path), "no-%s", covered);
		if (!covers(m, covered, rule))
			fail_msg("'%s' does not cover '%s'", rule, covered);
		ga_classify_path(NULL, path, false, &f);
		if (has_rule(&f, rule)) {
			print_error("'%s' covers '%s'\n", rule, path);
			failed++;
		}
	}
	ga_matcher_free(m);
	EQUAL(failed, 0);
}

/* ---- the index against the plain meaning of patterns */

/* Every alternative of a pattern's braces. */
static void expand(const char *pattern, struct ga_strv *out)
{
	const char *open = strchr(pattern, '{');

	if (!open) {
		ga_strv_push(out, pattern);
		return;
	}
	for (const char *p = open + 1, *close = strchr(open, '}'); p <= close;) {
		size_t n = strcspn(p, ",}");
		cleanup_free char *one = ga_strf("%.*s%.*s%s", (int)(open - pattern), pattern, (int)n, p, close + 1);

		expand(one, out);
		p += n + 1;
	}
}

static void patterns_of(const struct ga_rule *rule, struct ga_strv *out)
{
	cleanup_free char *all = ga_strdup(rule->patterns);

	for (char *p = all; p;) {
		char *end = strstr(p, ", ");

		if (end)
			*end = '\0';
		expand(p, out);
		p = end ? end + 2 : NULL;
	}
}

static bool plainly_covered(const struct ga_strv *patterns, const char *path)
{
	for (size_t i = 0; i < patterns->n; i++) {
		const char *p = patterns->v[i];
		cleanup_free char *deep = ga_strf("**/%s", p);

		if (p[0] == '/' ? ga_wildmatch(p + 1, path, true) : ga_wildmatch(deep, path, true))
			return true;
	}
	return false;
}

/* A path that a pattern covers. */
static char *path_for(const char *pattern)
{
	struct ga_buf b = GA_BUF_INIT;

	for (const char *p = pattern[0] == '/' ? pattern + 1 : pattern; *p; p++) {
		if (!strncmp(p, "**", 2)) {
			ga_buf_adds(&b, "deep/er");
			p++;
		} else if (*p == '*' || *p == '?') {
			ga_buf_adds(&b, "any");
		} else {
			ga_buf_addch(&b, *p);
		}
	}
	return ga_buf_steal(&b);
}

TEST(the_index_finds_what_every_pattern_would)
{
	struct ga_matcher *m = ga_rules_matcher();
	STRV(paths);
	size_t n, n_patterns = 0;
	const struct ga_rule *rules = ga_rules(&n);
	struct ga_strv *patterns = ga_calloc(n, sizeof(*patterns));

	for (size_t i = 0; i < n; i++) {
		if (rules[i].patterns)
			patterns_of(&rules[i], &patterns[i]);
		n_patterns += patterns[i].n;
		for (size_t j = 0; j < patterns[i].n; j++) {
			char *path = path_for(patterns[i].v[j]);

			if (!covers(m, path, rules[i].id))
				fail_msg("'%s' of '%s' does not cover '%s'", patterns[i].v[j], rules[i].id, path);
			ga_strv_take(&paths, path);
		}
	}
	/* Every path against every rule would be slow; each seventh tells as much. */
	for (size_t p = 0; p < paths.n; p += 7) {
		BUF(folded);

		ga_name_fold(&folded, paths.v[p]);
		for (size_t i = 0; i < n; i++)
			if (covers(m, paths.v[p], rules[i].id) != plainly_covered(&patterns[i], folded.ptr))
				fail_msg("'%s' and '%s': the index is wrong", rules[i].id, paths.v[p]);
	}
	print_message("# %zu rules, %zu patterns\n", n, n_patterns);
	for (size_t i = 0; i < n; i++)
		ga_strv_release(&patterns[i]);
	free(patterns);
	ga_matcher_free(m);
}

TEST(names_are_folded_as_file_systems_do)
{
	static const struct {
		const char *path, *rule;
	} cases[] = {
		{ ".GitHub/Workflows/x.yml", "ci-github" },
		{ ".VSCODE/tasks.json", "vscode-tasks" },
		{ "package.JSON", "npm-manifest" },
		{ ".e\xe2\x80\x8dnv", "dotenv" },             /* U+200D inside */
		{ "\xef\xbb\xbf.envrc", "direnv" },           /* U+FEFF in front */
		{ "Ma\xe2\x84\xaa" "efile", "make" },         /* KELVIN SIGN */
		{ "te\xc5\xbft/x", "test-code" },             /* LONG S */
		{ ".envrc. .", "direnv" },
		{ ".envrc:$DATA", "direnv" },
		{ ".cursor./mcp.json ", "cursor" },
	};
	struct ga_matcher *m = ga_rules_matcher();

	for_each (row, cases)
		if (!covers(m, row->path, row->rule))
			fail_msg("'%s' is not '%s'", row->path, row->rule);
	ga_matcher_free(m);
}

/* ---- names */

TEST(odd_names_have_flags)
{
	struct ga_flags f = GA_FLAGS_INIT;

	for_each (row, name_fixtures) {
		ga_classify_path(NULL, row->fires, false, &f);
		if (!has_rule(&f, row->rule))
			fail_msg("'%s' does not fire on '%s'", row->rule, row->fires);
		ga_flags_release(&f);
		ga_classify_path(NULL, row->silent, false, &f);
		if (has_rule(&f, row->rule))
			fail_msg("'%s' fires on '%s'", row->rule, row->silent);
		ga_flags_release(&f);
	}
	/* Routers of web frameworks name files like this: shown, not held. */
	ga_classify_path(NULL, "app/[id]/+page.ts", false, &f);
	for (size_t i = 0; i < f.n; i++)
		assert_true(f.v[i].severity < GA_HIGH);
	ga_flags_release(&f);
}

/* ---- leftovers */

TEST(places_that_tools_run_programs_from_are_critical)
{
	static const char *const v[] = {
		"node_modules", "a/node_modules/b/c.js", ".venv/bin/python", "venv/x", "env/x",
		".tox/x", ".nox/x", "a/__pycache__/x.pyc", "target/debug/x", "build/x", "dist/x",
		"out/x", "bin/x", "obj/x", ".gradle/x", ".next/x", ".nuxt/x", ".turbo/x",
		".parcel-cache/x", ".cache/x", ".eggs/x", "vendor/bundle/x", "_build/x", "deps/x",
		".dart_tool/x", ".terraform/x", ".direnv/x", ".devenv/x", ".mypy_cache/x",
		".pytest_cache/x", ".ruff_cache/x", ".yarn/x", "Pods/x", "DerivedData/x",
		"cmake-build-debug/x", "Node_Modules/x", "notes/x.txt", "my-build/x", "x.o",
		"binary",
	};
	const size_t n_executed = GA_NELEMS(v) - 4;

	for_index (i, v) {
		FLAGS(f);

		ga_classify_place(v[i], GA_LEFTOVER_IGNORED, false, &f);
		if (has_rule(&f, "ignored-executables") != (i < n_executed))
			fail_msg("'%s'", v[i]);
		for (size_t k = 0; k < f.n; k++)
			EQUAL(f.v[k].severity, GA_CRITICAL);
	}
}

TEST_MAIN(NULL, NULL)
