/* SPDX-License-Identifier: MIT
 *
 * Rules about changes and what they hold: each fires on what it is for and not on
 * what looks like it, on its own and among many.
 */
#include "risk-support.h"

#include <inttypes.h>

#include "ga/repo/history.h"

#include "risk-fixtures.h"

/* ---- changes */

static const struct change_fixture change_fixtures[] = {
#include "risk-changes.h"
};

static void fixture_facts(struct ga_host_facts *h)
{
	ga_strv_push(&h->drivers, "filter:shout");
	ga_strv_push(&h->drivers, "filter:lfs");
	ga_strv_push(&h->filters, "shout");
	h->attributes = ga_strdup("*.sec filter=shout\n[attr]loud filter=shout\n");
	h->info_attributes = ga_strdup("plain.sec -filter\n*.txt loud\n");
	reached(h, GA_REACH_RULE, "host-hook-reached", "make", "the hook pre-commit of this clone, which calls make");
	reached(h, GA_REACH_BELOW, "hooks-path-configured", "dev/hooks", "core.hooksPath");
	reached(h, GA_REACH_FILE, "host-hook-reached", "checks/check.sh", "the hook x");
	reached(h, GA_REACH_FILE, "host-config-reached", "tools/fmt", "filter.x.clean");
	reached(h, GA_REACH_FILE, "hook-config-command", "tools/hk", "hook.x.command");
	reached(h, GA_REACH_FILE, "direnv-dependents", "env/vars", "named in .envrc");
	reached(h, GA_REACH_FILE, "host-environment-reached", "dotfiles/zshrc", "~/.zshrc");
	h->matcher = ga_rules_matcher();
}

TEST(each_rule_fires_on_its_change_only)
{
	FACTS(h);

	fixture_facts(&h);
	for_index (i, change_fixtures) {
		const struct change_fixture *x = &change_fixtures[i];
		FLAGS(f);

		classify_change(x, &h, &f);
		if (has_rule(&f, x->rule) != x->fires)
			fail_msg("'%s' on '%s' (fixture %zu): %s", x->rule, x->path, i, x->fires ? "silent" : "fires");
		for (size_t j = 0; j < f.n; j++) {
			if (strpbrk(f.v[j].reason, "\n\033"))
				fail_msg("'%s': a reason is not quoted", f.v[j].rule);
			if (strstr(f.v[j].reason, "a8Kd0LmZ") || strstr(f.v[j].reason, "MIIEp"))
				fail_msg("'%s' shows a secret", f.v[j].rule);
		}
	}
}

/* ---- fixtures that have to be made */

/* Of each rule that no line of a table can show: flags of something it is for, or is not. */
static void make_long_name(bool fires, struct ga_flags *ret)
{
	BUF(path);

	for (int i = 0; i < (fires ? 70 : 3); i++)
		ga_buf_adds(&path, "d/");
	ga_buf_adds(&path, "x");
	ga_classify_path(NULL, path.ptr, false, ret);
}

/* `n` changes of files that are added, or deleted from among `around`. */
static void make_many(size_t n, bool deleted, size_t around, size_t size, struct ga_flags *ret)
{
	CHANGES(all);
	CHANGES(c);
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, e = { GA_MODE_FILE, { { 0 } } };
	cleanup_free char *text = ga_malloc(size + 1);
	struct ga_oid tree;

	/* what is large has lines of 64 bytes, and is read as fast */
	memset(text, size > 1 << 20 ? 'x' : '\n', size);
	for (size_t i = 63; i < size; i += 64)
		text[i] = '\n';
	OK(ga_blob_write(repo, text, size, &e.oid, &err));
	for (size_t i = 0; i < n + around; i++) {
		cleanup_free char *path = ga_strf("doc/%06zu.txt", i);

		ga_changes_add(&all, path, &none, &e);
		if (i < n)
			ga_changes_add(&c, path, deleted ? &e : &none, deleted ? &none : &e);
	}
	tree = tree_of(&all);
	OK(ga_classify(repo, NULL, deleted ? &tree : NULL, deleted ? NULL : &tree, &c, ret, &err));
}

static void make_huge_diff(bool fires, struct ga_flags *ret)
{
	make_many(fires ? 2001 : 2000, false, 0, 1, ret);
}

static void make_long_diff(bool fires, struct ga_flags *ret)
{
	make_many(5, false, 0, fires ? 10001 : 10000, ret);
}

static void make_mass_delete(bool fires, struct ga_flags *ret)
{
	make_many(20, true, fires ? 70 : 90, 1, ret);
}

static void make_huge_file(bool fires, struct ga_flags *ret)
{
	make_many(1, false, 0, GA_DIFF_BLOB_MAX + fires, ret);
}

static void make_huge_sum(bool fires, struct ga_flags *ret)
{
	make_many(8, false, 0, fires ? 7 << 20 : 6 << 20, ret);
}

static void make_uninspected(bool fires, struct ga_flags *ret)
{
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, e = { GA_MODE_FILE, { { 0xab } } };
	CHANGES(c);

	if (!fires)
		OK(ga_blob_write(repo, "x\n", 2, &e.oid, &err));
	ga_changes_add(&c, "doc/x", &none, &e);
	OK(ga_classify(repo, NULL, NULL, NULL, &c, ret, &err));
}

static void left(const char *path, enum ga_leftover_kind kind, struct ga_flags *ret)
{
	bool severe = false;

	ga_classify_path(NULL, path, false, ret);
	for (size_t i = 0; i < ret->n; i++)
		severe |= ga_flag_is_severe_in_place(&ret->v[i]);
	ga_classify_place(path, kind, severe, ret);
}

static void make_special(bool fires, struct ga_flags *ret)
{
	left("doc/x", fires ? GA_LEFTOVER_SPECIAL : GA_LEFTOVER_IGNORED, ret);
}

static void make_executed(bool fires, struct ga_flags *ret)
{
	left(fires ? "web/Node_Modules/x/index.js" : "web/modules/x.js", GA_LEFTOVER_IGNORED, ret);
}

static void make_ignored_config(bool fires, struct ga_flags *ret)
{
	left(fires ? ".env" : ".editorconfig", GA_LEFTOVER_IGNORED, ret);
}

static const struct made {
	const char *rule;
	void (*make)(bool fires, struct ga_flags *ret);
} made[] = {
	{ "name-too-long", make_long_name }, { "huge-diff", make_huge_diff },
	{ "huge-diff", make_long_diff }, { "mass-delete", make_mass_delete },
	{ "huge-file", make_huge_file }, { "huge-file", make_huge_sum },
	{ "uninspected", make_uninspected }, { "special-file", make_special },
	{ "ignored-executables", make_executed },
	{ "ignored-config", make_ignored_config },
};

TEST(rules_of_numbers_and_sizes_fire_beyond_their_bound)
{
	for_index (i, made)
		for (int fires = 0; fires < 2; fires++) {
			FLAGS(f);

			made[i].make(fires, &f);
			if (has_rule(&f, made[i].rule) != fires)
				fail_msg("'%s' (%zu): %s", made[i].rule, i, fires ? "silent" : "fires");
		}
}

TEST(every_rule_has_a_fixture_of_either_kind)
{
	/* patterns, what capture finds in a layer, and what is configured, have tests of their own */
	static const char *const elsewhere[] = { "ignore-rules-source", "hardlink",
						 "setuid-caps-xattr", "configured-add", "configured-hold",
						 "configured-block" };
	size_t n;
	const struct ga_rule *rules = ga_rules(&n);

	for_each (row, elsewhere)
		assert_non_null(ga_rule_find(*row));
	for (size_t i = 0; i < n; i++) {
		bool fires = rules[i].patterns, silent = fires;

		for_each (row, elsewhere)
			if (!strcmp(*row, rules[i].id))
				fires = silent = true;
		for_each (row, name_fixtures)
			if (!strcmp(row->rule, rules[i].id))
				fires = silent = true;
		for_each (row, made)
			if (!strcmp(row->rule, rules[i].id))
				fires = silent = true;
		for_each (row, change_fixtures) {
			if (strcmp(row->rule, rules[i].id) != 0)
				continue;
			fires |= row->fires;
			silent |= !row->fires;
		}
		if (!fires || !silent)
			fail_msg("'%s' has no fixture that %s", rules[i].id, fires ? "stays silent" : "fires");
	}
}

TEST(severity_decides_what_is_held_back)
{
	static const struct {
		struct change_fixture x;
		enum ga_severity want;
	} cases[] = {
		{ { "make", "Makefile", true, ADDED("all:\n"), NULL }, GA_CRITICAL }, /* raised */
		{ { "cmake", "CMakeLists.txt", true, ADDED("x\n"), NULL }, GA_HIGH },
		{ { "gitignore", ".gitignore", true, FILE_("x\n"), NONE, NULL }, GA_HIGH },
		{ { "forge-policy", "CODEOWNERS", true, FILE_("x\n"), NONE, NULL }, GA_HIGH },
		{ { "pre-commit", ".pre-commit-config.yaml", true, FILE_("x\n"), NONE, NULL }, GA_HIGH },
		{ { "scanner-config", ".gitleaks.toml", true, FILE_("x\n"), NONE, NULL }, GA_HIGH },
		{ { "ci-github", ".github/workflows/a.yml", true, FILE_("on: push\n"), NONE, NULL }, GA_HIGH },
		{ { "test-code", "tests/x.c", true, FILE_("x\n"), NONE, NULL }, GA_LOW },
		{ { "exec-bit-added", "doc/x", true, FILE_("x\n"), EXEC_("x\n"), NULL }, GA_MEDIUM },
		{ { "exec-bit-added", "doc/x", true, FILE_("#!/bin/sh\n"), EXEC_("#!/bin/sh\n"), NULL },
		  GA_MEDIUM },
		{ { "host-hook-reached", "checks/check.sh", true, FILE_("x\n"), NONE, NULL }, GA_HIGH },
		{ { "ci-github", ".github/workflows/a.yml", true, FILE_("x\n"),
		    FILE_("on: pull_request_target\n"), NULL }, GA_HIGH },
	};
	const struct ga_host_facts guarded = { .guard = true };
	FACTS(h);

	fixture_facts(&h);
	for_each (row, cases) {
		FLAGS(f);
		const struct ga_flag *flag;

		classify_change(&row->x, &h, &f);
		flag = flag_of(&f, row->x.path, row->x.rule);
		if (!flag || flag->severity != row->want)
			fail_msg("'%s' on '%s': not %s", row->x.rule, row->x.path, ga_severity_name(row->want));
		EQUAL(ga_flag_holds(NULL, flag), row->want == GA_CRITICAL);
		EQUAL(ga_flag_holds(&guarded, flag), row->want >= GA_HIGH);
	}
}

/* What one rule says better, another of its category does not repeat; what the name means besides
 * is in the same flag. What a test found, and what the host makes critical, stays by itself. */
TEST(one_flag_speaks_for_the_rules_of_its_category)
{
	struct change_fixture both = { "", "MANIFEST.in", true, FILE_("a\n"), EXEC_("#!/bin/sh\n"), NULL };
	FACTS(h);
	struct ga_flags f = GA_FLAGS_INIT;

	ga_classify_path(NULL, ".vscode/tasks.json", false, &f);
	assert_true(has_rule(&f, "vscode-tasks"));
	assert_false(has_rule(&f, "vscode-other"));
	EQUAL(f.v[0].also.n, 1);
	STREQ(f.v[0].also.v[0], "vscode-other");
	ga_flags_release(&f);
	ga_classify_path(NULL, ".vscode/mcp.json", false, &f);
	EQUAL(f.n, 1);
	STREQ(f.v[0].rule, "vscode-mcp");
	EQUAL(f.v[0].severity, GA_CRITICAL);
	assert_non_null(strstr(f.v[0].reason, "; also vscode-other: "));
	assert_null(strstr(f.v[0].reason, "mcp-config"));
	/* as data all of them, by name */
	EQUAL(f.v[0].also.n, 2);
	STREQ(f.v[0].also.v[0], "mcp-config");
	STREQ(f.v[0].also.v[1], "vscode-other");
	ga_flags_release(&f);
	classify_change(&both, NULL, &f);
	EQUAL(f.n, 2);
	assert_non_null(flag_of(&f, "MANIFEST.in", "exec-bit-added"));
	assert_non_null(flag_of(&f, "MANIFEST.in", "python-build"));
	ga_flags_release(&f);
	reached(&h, GA_REACH_RULE, "host-hook-reached", "vscode-other", "a test");
	ga_classify_path(&h, ".vscode/mcp.json", false, &f);
	EQUAL(f.n, 2);
	/* one with a flag of its own is in no other's */
	assert_non_null(flag_of(&f, ".vscode/mcp.json", "vscode-mcp"));
	assert_non_null(flag_of(&f, ".vscode/mcp.json", "vscode-other"));
	for (size_t i = 0; i < f.n; i++)
		for (size_t k = 0; k < f.v[i].also.n; k++)
			STREQ(f.v[i].also.v[k], "mcp-config");
	EQUAL(f.v[0].also.n + f.v[1].also.n, 1);
	ga_flags_release(&f);
	ga_classify_path(NULL, "lib/tasks/autorun.inf", false, &f);
	EQUAL(f.n, 1);
	STREQ(f.v[0].rule, "ruby-autoload");
	assert_true(ga_flag_is_severe_in_place(&f.v[0]));
	assert_non_null(strstr(f.v[0].reason, "; also name-launcher: "));
	ga_flags_release(&f);
	ga_classify_path(NULL, "docs/readme.txt", false, &f);
	EQUAL(f.n, 0);
	ga_flags_release(&f);
}

TEST(a_guard_that_is_removed_is_flagged)
{
	static const char *const guards[][2] = {
		{ ".gitignore", "gitignore" }, { "CODEOWNERS", "forge-policy" },
		{ ".pre-commit-config.yaml", "pre-commit" }, { ".gitleaks.toml", "scanner-config" },
		{ "yarn.lock", "node-lockfiles" }, { "tests/a/b.c", "test-code" },
		{ ".geminiignore", "agent-ignore" }, { "SECURITY.md", "license-or-security-md" },
	};

	for_index (i, guards) {
		struct change_fixture x = { "", guards[i][0], true, FILE_("x\n"), NONE, NULL };
		FLAGS(f);
		const struct ga_flag *flag;

		classify_change(&x, NULL, &f);
		flag = flag_of(&f, guards[i][0], guards[i][1]);
		if (!flag || strncmp(flag->reason, "removed: ", 9) != 0)
			fail_msg("'%s' goes unseen", guards[i][0]);
	}
}

TEST(what_cannot_be_read_in_full_is_flagged)
{
	BUF(path);
	struct ga_flags f = GA_FLAGS_INIT;

	for (int i = 0; i < 70; i++)
		ga_buf_adds(&path, "d/");
	ga_buf_adds(&path, "package.json");
	{
		struct change_fixture deep = { "", path.ptr, true, ADDED("{}"), NULL };

		classify_change(&deep, NULL, &f);
	}
	EQUAL(flag_of(&f, path.ptr, "uninspected")->severity, GA_HIGH);
	assert_non_null(flag_of(&f, path.ptr, "npm-manifest"));
	ga_flags_release(&f);
}

TEST_MAIN(setup, teardown)
