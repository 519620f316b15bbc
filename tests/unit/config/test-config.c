/* SPDX-License-Identifier: MIT */
#include "config-support.h"

#include "config/schema.h"
#include "ga/config/service.h"

TEST(tools_are_absolute_directories_and_the_users_alone)
{
	static const char text[] = "tools:\n- ~/sdk/bin/\n- /srv/tools\n- ~/sdk/bin\n";
	static const char *const wrong[] = { "sdk", "~", "~/", "~other/x", "/a/../b", "/a//b", "" };
	cleanup_config struct ga_config c = GA_CONFIG_INIT, d = GA_CONFIG_INIT;
	ERR(err);
	ERR(repo);

	defaults_into(&c);
	EQUAL(ga_config_read(&c, GA_ORIGIN_USER, "f", text, strlen(text), &err), 0);
	assert_is(&c, "tools", "/h/sdk/bin, /srv/tools", "/h/.config/git-agent/config.yaml:4");
	ga_config_copy(&d, &c);
	EQUAL(ga_config_set_key(&d, "tools", "/more", &err), 0);
	EQUAL(d.inside.tools.n, 3);
	EQUAL(c.inside.tools.n, 2);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		ERR(bad);

		EQUAL(ga_config_set_key(&d, "tools", wrong[i], &bad), -1);
		assert_has(bad.msg, "'tools' takes a path");
	}
	EQUAL(d.inside.tools.n, 3);
	EQUAL(ga_config_read(&c, GA_ORIGIN_REPOSITORY, "r", text, strlen(text), &repo), -1);
	assert_has(repo.msg, "a repository cannot set it");
}

#define HINT "put it in your own file, '/h/.config/git-agent/config.yaml', and out of the repository's"
#define TRUST "'git agent trust' shows what it lets agents do, and asks"

/* What a repository may, with the user's file below it. */
TEST(a_repository_may_only_be_stricter_than_the_user)
{
	static const struct {
		const char *user, *file, *key, *value, *error;
	} cases[] = {
		{ "", "dirty: refuse", "dirty", "refuse", NULL },
		{ "", "dirty: carry", "dirty", "carry", NULL },
		/* the stricter counts */
		{ "dirty: refuse", "dirty: carry", "dirty", "refuse", NULL },
		{ "limits: {capture: {depth: 10}}", "limits: {capture: {depth: 128}}",
		  "limits.capture.depth", "10", NULL },
		{ "", "home: /x", NULL, NULL, "r:1:7: 'home' is yours alone: a repository cannot set it" },
		{ "terminal_filter: off", "terminal_filter: on", "terminal_filter", "on", NULL },
		{ "", "terminal_filter: off", NULL, NULL,
		  "r:1:18: 'terminal_filter': a repository can only make 'on' stricter" },
		{ "", "limits: {memory: 1GiB}", "limits.memory", "1GiB", NULL },
		{ "limits: {memory: 1GiB}", "limits: {memory: 2GiB}", "limits.memory", "1GiB", NULL },
		{ "limits: {memory: 1GiB}", "limits: {memory: 0}", "limits.memory", "1GiB", NULL },
		{ "", "limits: {tasks: 0}", NULL, NULL, "r:1:17: 'limits.tasks' needs trust" },
		{ "", "limits: {capture: {depth: 128}}", "limits.capture.depth", "128", NULL },
		{ "", "limits: {capture: {depth: 129}}", NULL, NULL, "r:1:27: 'limits.capture.depth' needs trust" },
		{ "limits: {capture: {depth: 200}}", "limits: {capture: {depth: 129}}",
		  "limits.capture.depth", "129", NULL },
		{ "limits: {capture: {depth: 10}}", "limits: {capture: {depth: 129}}", NULL, NULL,
		  "r:1:27: 'limits.capture.depth' needs trust" },
		{ "limits: {capture: {depth: 200}}", "limits: {capture: {depth: 201}}", NULL, NULL,
		  "r:1:27: 'limits.capture.depth' needs trust" },
		{ "", "limits: {capture: {read_time: 31m}}", NULL, NULL,
		  "r:1:31: 'limits.capture.read_time' needs trust" },
	};

	for_each (row, cases) {
		cleanup_config struct ga_config c = GA_CONFIG_INIT;
		ERR(err);
		int rc;

		defaults_into(&c);
		EQUAL(ga_config_read(&c, GA_ORIGIN_USER, "u", row->user, strlen(row->user), &err), 0);
		rc = ga_config_read(&c, GA_ORIGIN_REPOSITORY, "r", row->file, strlen(row->file), &err);
		if (rc != (row->error ? -1 : 0) || (rc && strcmp(err.msg, row->error) != 0))
			fail_msg("'%s', '%s': %s", row->user, row->file, rc ? err.msg : "accepted");
		if (rc)
			STREQ(err.hint, strstr(err.msg, "needs trust") ? TRUST : HINT);
		else
			assert_is(&c, row->key, row->value, strstr(row->file, row->value) ? ".agentdev.yaml:1" :
				  "/h/.config/git-agent/config.yaml:1");
	}
}

TEST(every_grant_has_words)
{
	size_t trusted = 0;

	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		const struct config_key *k = &config_keys[i];
		const char *at = k->grants ? strstr(k->grants, "%s") : NULL;

		if (k->repository != KEY_TRUST) {
			if (k->grants)
				fail_msg("%s: words that nobody reads", k->name);
			continue;
		}
		trusted++;
		if (!at || strstr(at + 2, "%") || strchr(k->grants, '%') != at || strlen(k->grants) < 12)
			fail_msg("%s: 'grants' says with \"%%s\", once, what it lets agents do", k->name);
	}
	assert_true(trusted > 0);
}

#define FILE_OF_MANY \
	"dirty: refuse\n" \
	"secrets: {mode: warn, add: [x], allow: [\"a\\u202e\", b]}\n" \
	"limits: {tasks: 0, memory: 1GiB, capture: {depth: 129, entries: 5}}\n" \
	"risk: {add: [a/], hold: [h, i], block: [/b], allow: [c]}\n"

TEST(a_grant_names_its_key_and_place)
{
	static const struct {
		const char *key, *words;
		unsigned line, column;
	} want[] = {
		{ "secrets.mode", "set secrets.mode to warn instead of mask (secrets in the project: keep "
				  "the live ones out of sessions, warn, or do not look)", 2, 17 },
		{ "secrets.allow", "show files that match a\\u{202e}, though they look like secrets", 2, 41 },
		{ "secrets.allow", "show files that match b, though they look like secrets", 2, 52 },
		{ "limits.tasks", "set limits.tasks to 0 instead of 8192 (processes and threads of a "
				  "session; 0: no limit)", 3, 17 },
		{ "limits.capture.depth", "set limits.capture.depth to 129 instead of 128 (directories in "
					  "one another)", 3, 51 },
		{ "risk.allow", "change files that match c without a flag, unless that is critical", 4, 54 },
	};
	cleanup_config struct ga_config c = GA_CONFIG_INIT, yes = GA_CONFIG_INIT, no = GA_CONFIG_INIT;
	cleanup_grants struct ga_grants g = GA_GRANTS_INIT;
	const size_t n = strlen(FILE_OF_MANY);

	defaults_into(&c);
	OK(ga_config_grants(&c, "r", FILE_OF_MANY, n, &g, &err));
	EQUAL(g.n, GA_NELEMS(want));
	for (size_t i = 0; i < g.n; i++) {
		STREQ(ga_config_key(g.v[i].key), want[i].key);
		STREQ(g.v[i].words, want[i].words);
		EQUAL(g.v[i].line, want[i].line);
		EQUAL(g.v[i].column, want[i].column);
		assert_true(ga_grants_have(&g, &g.v[i]));
	}
	/* looking changes nothing */
	assert_is(&c, "dirty", "carry", "default");
	assert_is(&c, "secrets.mode", "mask", "default");
	ga_config_copy(&yes, &c);
	ga_config_copy(&no, &c);
	yes.from.trusted = no.from.untrusted = true;
	OK(ga_config_read(&yes, GA_ORIGIN_REPOSITORY, "r", FILE_OF_MANY, n, &err) ||
	    ga_config_read(&no, GA_ORIGIN_REPOSITORY, "r", FILE_OF_MANY, n, &err));
	assert_is(&yes, "secrets.mode", "warn", ".agentdev.yaml:2");
	assert_is(&yes, "limits.tasks", "0", ".agentdev.yaml:3");
	assert_is(&no, "secrets.mode", "mask", "default");
	assert_is(&no, "secrets.allow", "", "default");
	assert_is(&no, "limits.tasks", "8192", "default");
	assert_is(&no, "limits.capture.depth", "128", "default");
	/* and what tightens counts without */
	assert_is(&no, "dirty", "refuse", ".agentdev.yaml:1");
	assert_is(&no, "secrets.add", "x", ".agentdev.yaml:2");
	assert_is(&no, "limits.memory", "1GiB", ".agentdev.yaml:3");
	assert_is(&no, "risk.add", "a/", ".agentdev.yaml:4");
	assert_is(&no, "risk.hold", "h, i", ".agentdev.yaml:4");
	assert_is(&no, "risk.block", "/b", ".agentdev.yaml:4");
	assert_is(&no, "risk.allow", "", "default");
	assert_is(&yes, "risk.allow", "c", ".agentdev.yaml:4");
	assert_is(&no, "limits.capture.entries", "5", ".agentdev.yaml:3");
}

TEST(who_lowered_a_limit_is_known)
{
	static const char user[] = "limits: {capture: {depth: 100, entries: 50}}";
	static const char repo[] = "limits: {capture: {depth: 99}}";
	cleanup_config struct ga_config c = GA_CONFIG_INIT;

	defaults_into(&c);
	OK(ga_config_read(&c, GA_ORIGIN_USER, "u", user, strlen(user), &err));
	OK(ga_config_read(&c, GA_ORIGIN_REPOSITORY, "r", repo, strlen(repo), &err));
	assert_true(ga_limit_is_lowered(&c.limits, GA_LIMIT_DEPTH));
	assert_false(ga_limit_is_lowered(&c.limits, GA_LIMIT_ENTRIES));
	OK(ga_config_set_word(&c, "limits.capture.depth=500", &err));
	assert_false(ga_limit_is_lowered(&c.limits, GA_LIMIT_DEPTH));
	assert_is(&c, "limits.capture.depth", "500", "command line");
}

TEST(a_word_of_the_command_line_sets_one_key)
{
	static const struct {
		const char *word, *error, *hint;
	} cases[] = {
		{ "dirty=refuse", NULL, NULL },
		{ "home=/x=y", NULL, NULL },
		{ "limits.capture.depth=5", NULL, NULL },
		{ "dirty", "'dirty' is not KEY=VALUE", NULL },
		{ "dirty=", "'dirty' takes carry, ignore or refuse, not ''", NULL },
		{ "dirt=refuse", "unknown key 'dirt'", "did you mean 'dirty'?" },
		{ "netwrok.mode=none", "unknown key 'netwrok.mode'", "did you mean 'network.mode'?" },
		{ "limit.captur.dept=1", "unknown key 'limit.captur.dept'", "did you mean 'limits.capture.depth'?" },
		{ "network.=none", "unknown key 'network.'", "'git agent config' lists the keys" },
		{ "limits.capture.dept=5", "unknown key 'limits.capture.dept'",
		  "did you mean 'limits.capture.depth'?" },
		{ "limits.capture=5", "unknown key 'limits.capture'", NULL },
	};

	for_each (row, cases) {
		cleanup_config struct ga_config c = GA_CONFIG_INIT;
		ERR(err);
		int rc;

		defaults_into(&c);
		rc = ga_config_set_word(&c, row->word, &err);
		if (rc != (row->error ? -1 : 0) || (rc && strcmp(err.msg, row->error) != 0))
			fail_msg("'%s': %s", row->word, rc ? err.msg : "accepted");
		if (rc)
			EQUAL(err.code, GA_EUSAGE);
		if (row->hint)
			STREQ(err.hint, row->hint);
	}
}

TEST(lists_of_patterns_grow_from_file_to_file)
{
	static const struct {
		enum ga_origin origin;
		const char *text, *error;
	} t[] = {
		{ GA_ORIGIN_USER, "secrets:\n  add: [a, 'b/']\n  allow: c\n", NULL },
		{ GA_ORIGIN_USER, "secrets:\n  add:\n", NULL },
		{ GA_ORIGIN_REPOSITORY, "secrets:\n  add: [b/, d]\n", NULL },
		{ GA_ORIGIN_REPOSITORY, "secrets:\n  mode: mask\n", NULL },
		{ GA_ORIGIN_REPOSITORY, "secrets:\n  allow: [e]\n", "f:2:11: 'secrets.allow' needs trust" },
		{ GA_ORIGIN_REPOSITORY, "secrets: {mode: warn}\n", "f:1:17: 'secrets.mode' needs trust" },
		{ GA_ORIGIN_USER, "secrets:\n  add: ['!a']\n",
		  "f:2:9: 'secrets.add' takes patterns as in .gitignore, without '!', braces and "
		  "backslashes, not '!a'" },
	};
	cleanup_config struct ga_config c = GA_CONFIG_INIT, copy = GA_CONFIG_INIT;

	defaults_into(&c);
	for_each (row, t) {
		ERR(err);
		int rc = ga_config_read(&c, row->origin, "f", row->text, strlen(row->text), &err);

		EQUAL(rc, row->error ? -1 : 0);
		if (row->error)
			STREQ(err.msg, row->error);
	}
	assert_is(&c, "secrets.allow", "c", "/h/.config/git-agent/config.yaml:3");
	ga_config_copy(&copy, &c);
	{
		ERR(err);

		EQUAL(ga_config_set_word(&copy, "secrets.add=e", &err), 0);
		EQUAL(ga_config_set_word(&copy, "secrets.mode=off", &err), 0);
	}
	assert_is(&copy, "secrets.add", "a, b/, d, e", "command line");
	EQUAL(copy.secret.mode, GA_SECRETS_OFF);
	EQUAL(c.secret.add.n, 3);
	EQUAL(c.secret.mode, GA_SECRETS_MASK);
}

TEST(a_map_of_agents_becomes_words)
{
	static const char words[] = "x, x command: y, x flags: -a, x flags: b c, x set: K=v w, x keys: KEY, z";
	static const struct {
		const char *text, *error;
	} t[] = {
		{ "agents:\n  x:\n    command: y\n    flags: [-a, b c]\n"
				  "    set: {K: v w}\n    keys: KEY\n  z:\n", NULL },
		{ "agents:\n", NULL },
		{ "agents: {x: {flag: a}}\n", "f:1:14: " },
		{ "agents: {-x: {}}\n", "f:1:10: " },
		{ "agents: {x: y}\n", "f:1:10: " },
		{ "agents: {x: {flags: [[y]]}}\n", "f:1:22: " },
		{ "agents: {x: {command: a/b}}\n", "f:1:23: " },
		{ "agents: {x: {keys: HOME}}\n", "f:1:20: " },
		{ "agents: {x: {pass: a=b}}\n", "f:1:20: " },
		{ "agents: {x: {set: {PATH: b}}}\n", "f:1:26: " },
		{ "agents: {x: {state: ../y}}\n", "f:1:21: " },
		{ "agents: {x: {logins: [/y]}}\n", "f:1:23: " },
		{ "agents: {x: {notes: \"a\\nb\"}}\n", "f:1:21: " },
	};
	cleanup_config struct ga_config c = GA_CONFIG_INIT;

	defaults_into(&c);
	for_each (row, t) {
		ERR(err);
		int rc = ga_config_read(&c, GA_ORIGIN_USER, "f", row->text, strlen(row->text), &err);

		if (rc != (row->error ? -1 : 0) || (rc && strncmp(err.msg, row->error, strlen(row->error)) != 0))
			fail_msg("'%s': %s", row->text, rc ? err.msg : "accepted");
		if (row == t)
			assert_is(&c, "agents", words, "/h/.config/git-agent/config.yaml:7");
	}
	FAILS(ga_config_read(&c, GA_ORIGIN_REPOSITORY, "f", "agents: {x: {}}\n", 16, &err),
	      "f:1:10: 'agents' is yours alone");
}

TEST_MAIN(NULL, NULL)
