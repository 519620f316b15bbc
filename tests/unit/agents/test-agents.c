/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/agents/agents.h"
#include "ga/base/path.h"

#define X64 "1.0.0-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Versions; names for one, as npm has them; and what is neither. */
static const char *const versions[] = {
	"1.2.3", "0.0.0", "10.20.30", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x-y-z.--",
	"1.0.0+build.5", "1.0.0-rc.1+exp.sha.5114f85", "0.169.0-linux-x64", X64,
};
static const char *const tags[] = {
	"latest", "next", "v2", "beta_2-x",
};
static const char *const neither[] = {
	X64 "a", "", "1", "1.2", "1.2.", "1.2.3.4", "01.2.3", "1.02.3", "1.2.3-", "1.2.3+",
	"1.2.3-a..b", "1.2.3-.a", "1.2.3-a.", "1.2.3-a+", "1.2.3+a+b", "1.2.3+a.", "1.2.3 ",
	" 1.2.3", "1.2.3\n", "1.2.3/..", "1.2.3-a/b", "1.2.3-$(id)", "1.2.3;id", "^1.2.3",
	">=1.0.0", "1.x", "*", "-", "-g", "--registry=x", "../x", ".", "/etc/passwd", "~", "x.tgz",
	"file:x", "npm:other", "npm:other@1.0.0", "user/repository", "git+ssh://x",
	"https://x/y.tgz", "a b", "a@b", "a\x1b[31m", "caf\xc3\xa9",
};

static void expect_all(const char *const *v, size_t n, bool version, bool wanted)
{
	for (size_t i = 0; i < n; i++)
		if (ga_agents_version_ok(v[i]) != version || ga_agents_wanted_ok(v[i]) != wanted)
			fail_msg("'%s'", v[i]);
}

TEST(versions_and_tags_of_npm_are_told_from_the_rest)
{
	expect_all(versions, GA_NELEMS(versions), true, true);
	expect_all(tags, GA_NELEMS(tags), false, true);
	expect_all(neither, GA_NELEMS(neither), false, false);
}

/* Each is older than the next. */
TEST(versions_are_ordered_as_semver_says)
{
	static const char *const order[] = {
		"0.0.1", "0.2.0", "0.10.0", "1.0.0-0", "1.0.0-9", "1.0.0-10", "1.0.0-a",
		"1.0.0-a.1", "1.0.0-a.1.0", "1.0.0-a.a", "1.0.0-ab", "1.0.0-b", "1.0.0", "1.0.1-rc.2",
		"1.0.1-rc.11", "1.0.1", "1.2.9", "1.10.0", "2.1.197", "2.1.330", "10.0.0",
	};
	static const char *const same[][2] = {
		{ "1.0.0", "1.0.0+b" }, { "1.0.0+a", "1.0.0+b" }, { "1.0.0-a+x.1", "1.0.0-a" },
		{ "1.0.0+a-b", "1.0.0" },
	};

	for_index (i, order) {
		EQUAL(ga_agents_version_compare(order[i], order[i]), 0);
		for (size_t k = 0; k < i; k++) {
			if (ga_agents_version_compare(order[k], order[i]) >= 0 ||
			    ga_agents_version_compare(order[i], order[k]) <= 0)
				fail_msg("'%s' and '%s'", order[k], order[i]);
		}
	}
	for_index (i, same) {
		EQUAL(ga_agents_version_compare(same[i][0], same[i][1]), 0);
		EQUAL(ga_agents_version_compare(same[i][1], same[i][0]), 0);
	}
}

/* HOST:PORT, the host a name or "*." and one. */
static bool host_ok(const char *s)
{
	const char *colon = strchr(s, ':');
	size_t n;

	if (!strncmp(s, "*.", 2))
		s += 2;
	n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-");
	return colon && n && s + n == colon && memchr(s, '.', n) && strspn(colon + 1, "0123456789") &&
	       !colon[1 + strspn(colon + 1, "0123456789")];
}

static bool variable_ok(const char *s, bool value)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n && (value ? s[n] == '=' : !s[n]);
}

TEST(every_preset_is_complete)
{
	const struct ga_preset *p;
	size_t n = 0;

	for (; (p = ga_preset_at(NULL, n)) != NULL; n++) {
		assert_ptr_equal(ga_preset_find(NULL, p->name), p);
		for (size_t i = 0; p->hosts[i]; i++)
			if (!host_ok(p->hosts[i]))
				fail_msg("%s: '%s'", p->name, p->hosts[i]);
		for (size_t i = 0; p->keys[i]; i++)
			assert_true(variable_ok(p->keys[i], false));
		for (size_t i = 0; p->pass[i]; i++)
			assert_true(variable_ok(p->pass[i], false));
		for (size_t i = 0; p->set[i]; i++)
			assert_true(variable_ok(p->set[i], true));
		for (size_t i = 0; p->state[i]; i++)
			assert_true(ga_path_relative_ok(p->state[i]));
		for (size_t i = 0; p->logins[i]; i++) {
			bool within = false;

			for (size_t j = 0; p->state[j]; j++)
				within |= ga_path_inside(p->logins[i], p->state[j]);
			if (!within)
				fail_msg("%s: '%s' is none of its state", p->name, p->logins[i]);
		}
		for (size_t i = 0; p->conversations && p->conversations[i]; i++)
			if (!ga_path_within(p->conversations[i], p->state) ||
			    ga_path_within(p->conversations[i], p->logins))
				fail_msg("%s: '%s' is no part of its state", p->name, p->conversations[i]);
		for (size_t i = 0; p->conversation_env && p->conversation_env[i]; i++) {
			const char *path = strchr(p->conversation_env[i], '=') + 1;

			assert_true(variable_ok(p->conversation_env[i], true));
			assert_non_null(ga_path_within(path, p->conversations));
		}
		/* where there is something to log in to, there is somebody to reach, and a key */
		assert_true(!p->login == !p->hosts[0]);
		assert_true(!p->login == !p->keys[0]);
	}
	EQUAL(n, 9);
	assert_null(ga_preset_find(NULL, "Claude"));
	assert_null(ga_preset_find(NULL, "/usr/bin/claude"));
	assert_null(ga_preset_find(NULL, "sh"));
	assert_null(ga_preset_find(NULL, ""));
}

TEST(a_user_adds_presets_or_replaces_one)
{
	static const char *const words[] = {
		"mine", "mine flags: --yes", "mine flags: -v", "mine command: a", "mine command: prog",
		"mine resume: --again", "mine keys: MY_KEY", "mine state: ~/.mine",
		"mine logins: .mine/auth", "mine conversations: ~/.mine/talk",
		"mine notes: .mine/NOTES.md", "claude set: A=b: c", "bare",
	};
	STRV(all);
	struct ga_presets own = GA_PRESETS_INIT;
	const struct ga_preset *p;
	size_t n = 0, built_in = 0;

	for_each (row, words) {
		assert_true(ga_preset_word_ok(*row));
		ga_strv_push(&all, *row);
	}
	assert_true(ga_presets_parse(&all, &own));
	p = ga_preset_find(&own, "mine");
	STREQ(ga_preset_program(p), "prog");
	STREQ(p->flags[0], "--yes");
	STREQ(p->flags[1], "-v");
	assert_null(p->flags[2]);
	STREQ(p->resume[0], "--again");
	STREQ(p->keys[0], "MY_KEY");
	STREQ(p->state[0], ".mine");
	STREQ(p->logins[0], ".mine/auth");
	STREQ(p->conversations[0], ".mine/talk");
	STREQ(p->notes, ".mine/NOTES.md");
	assert_null(p->package);
	assert_null(ga_preset_find(NULL, "mine"));
	p = ga_preset_find(&own, "claude");
	STREQ(p->set[0], "A=b: c");
	assert_null(p->flags[0]);
	STREQ(ga_preset_program(ga_preset_find(&own, "bare")), "bare");
	STREQ(ga_preset_find(&own, "codex")->package, "@openai/codex");
	while (ga_preset_at(NULL, built_in))
		built_in++;
	for (; (p = ga_preset_at(&own, n)) != NULL; n++)
		assert_ptr_equal(ga_preset_find(&own, p->name), p);
	EQUAL(n, built_in + 2);
	for (int i = 0; i < GA_PRESETS_MAX; i++)
		ga_strv_pushf(&all, "more%d", i);
	ga_presets_release(&own);
	assert_false(ga_presets_parse(&all, &own));
	ga_presets_release(&own);
}

TEST_MAIN(NULL, NULL)
