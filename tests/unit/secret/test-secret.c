/* SPDX-License-Identifier: MIT
 *
 * What is a secret, and what only looks like one.
 */
#include "../test.h"

#include "ga/base/wildmatch.h"
#include "ga/risk/risk.h"
#include "ga/secret/secret.h"
#include "secret-fixtures.h"

static struct ga_secret judge_with(struct ga_secret_names *names, const char *path, const char *content, size_t n)
{
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s = { .tier = GA_TIER_NONE };

	if (!ga_secret_any(names, path, &name))
		return s;
	if (content)
		(name.content ? ga_secret_scan : ga_secret_scan_forms)(path, content, n, &marks);
	ga_secret_judge(&name, path, content ? &marks : NULL, &s);
	return s;
}

static struct ga_secret judge(struct ga_secret_names *names, const char *path, const char *content)
{
	return judge_with(names, path, content, content ? strlen(content) : 0);
}

static struct ga_secret_names *names_with(const char *add, const char *allow)
{
	STRV(a);
	STRV(b);

	if (add)
		ga_strv_push(&a, add);
	if (allow)
		ga_strv_push(&b, allow);
	return ga_secret_names_new(&a, &b);
}

TEST(every_rule_has_an_id_a_tier_and_a_reason)
{
	size_t n;
	const struct ga_secret_rule *rules = ga_secret_rules(&n);

	assert_true(n >= 30);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			if (!strcmp(rules[i].id, rules[k].id))
				fail_msg("'%s' is there twice", rules[i].id);
		if (strncmp(rules[i].id, "sec-", 4) || rules[i].tier == GA_TIER_NONE ||
		    rules[i].tier > GA_TIER_BLOCK || !*rules[i].reason ||
		    strlen(rules[i].reason) > 60 || strpbrk(rules[i].reason, "\n%"))
			fail_msg("'%s': tier or reason", rules[i].id);
	}
	EQUAL(ga_tier_number(GA_TIER_BLOCK), 1);
	EQUAL(ga_tier_number(GA_TIER_NOTE), 3);
	EQUAL(ga_tier_number(GA_TIER_NONE), 0);
}

TEST(each_fixture_has_its_rule_and_tier)
{
	cleanup_secret_names struct ga_secret_names *names = names_with("mine/", NULL);
	int failed = 0;

	for_index (i, secret_fixtures) {
		struct ga_secret s = judge(names, secret_fixtures[i].path, secret_fixtures[i].content);
		enum ga_tier want = secret_fixtures[i].tier;
		bool same = want == GA_TIER_NONE
				    ? s.tier == GA_TIER_NONE || strcmp(s.rule->id, secret_fixtures[i].rule) != 0
				    : s.tier == want && !strcmp(s.rule->id, secret_fixtures[i].rule);

		if (same)
			continue;
		print_error("row %zu, '%s': %s at tier %u, not %s at %u\n", i,
			    secret_fixtures[i].path, s.rule ? s.rule->id : "nothing",
			    ga_tier_number(s.tier), secret_fixtures[i].rule, ga_tier_number(want));
		failed++;
	}
	EQUAL(failed, 0);
}

TEST(every_rule_has_a_fixture_of_either_kind)
{
	size_t n;
	const struct ga_secret_rule *rules = ga_secret_rules(&n);

	for (size_t i = 0; i < n; i++) {
		bool yes = false, no = false;

		for_each (row, secret_fixtures) {
			if (strcmp(rules[i].id, row->rule))
				continue;
			yes |= row->tier != GA_TIER_NONE;
			no |= row->tier == GA_TIER_NONE;
		}
		if (!yes || !no)
			fail_msg("'%s' has no fixture that it %s", rules[i].id, yes ? "leaves alone" : "finds");
	}
	for_each (row, secret_fixtures) {
		size_t i = 0;

		while (i < n && strcmp(rules[i].id, row->rule))
			i++;
		if (i == n)
			fail_msg("there is no rule '%s'", row->rule);
	}
}

/* `n` characters of a set, which look random. */
static char *some_of(const char *set, size_t n)
{
	static const char word[] = "k7Qd2ZtR9vLxB4mHsW8jNcY3fGpT6aKe5UbJ", hex[] = "9f3a7c1e5b82d604";
	bool hexadecimal = !strcmp(set, "HEX"), lower = !strcmp(set, "BECH32");
	char *s = ga_calloc(1, n + 1);

	for (size_t i = 0; i < n; i++) {
		char c = hexadecimal ? hex[i * 7 % 16] : word[i * 5 % 36];

		s[i] = lower ? ga_lower(c) : c;
		if (!strcmp(set, "BASE32"))
			s[i] = "QJ7YH3KWZ5RT2MXB"[i * 3 % 16];
	}
	return s;
}

TEST(each_form_of_a_token_is_known_and_none_that_is_shorter)
{
	static const struct {
		const char *prefixes, *set;
		size_t min;
		const char *name;
	} rows[] = {
#define TOKEN(prefixes, set, min, max, name) { prefixes, #set, min, name },
#include "secret/forms.def"
#undef TOKEN
	};

	for_each (row, rows) {
		cleanup_free char *prefixes = ga_strdup(row->prefixes);
		char *save = NULL;

		for (char *p = strtok_r(prefixes, " ", &save); p; p = strtok_r(NULL, " ", &save))
			for (size_t less = 0; less < 2; less++) {
				cleanup_free char *rest = some_of(row->set, row->min - less);
				cleanup_free char *text = ga_strf("x = f(%s%s)\n", p, rest), *reason = NULL;
				struct ga_secret found = { .tier = GA_TIER_BLOCK };
				struct ga_secret_marks m;

				ga_secret_scan("x.c", text, strlen(text), &m);
				found.bits = m.bits & GA_MARK_TOKEN;
				found.token = m.token;
				reason = ga_secret_reason(&found);
				if ((strstr(reason, row->name) != NULL) == (less > 0))
					fail_msg("'%s': %s", text, reason);
			}
	}
}

TEST(copies_and_odd_spellings_of_a_name_are_covered)
{
	/* path, and whether a rule covers it */
	static const struct {
		const char *path;
		bool covered, copy;
	} t[] = {
		{ ".ENV", true, false },
		{ ".e\xe2\x80\x8cnv", true, false },
		{ ".env ", true, false },
		{ "Config/Master.KEY", true, false },
		{ "a\nb/.env", true, false },
		{ "\xff\xfe/.env", true, false },
		{ ".env.bak", true, true },
		{ "id_rsa.old", true, true },
		{ "id_rsa~", true, true },
		{ ".#id_rsa", true, true },
		{ ".id_rsa.swp", true, true },
		{ ".history/id_rsa_20240131235959", true, true },
		{ "config/master.key.orig", true, true },
		{ "readme.txt", false, false },
		{ "readme.txt~", false, false },
		{ "src/environment.c", false, false },
		{ "", false, false },
	};
	cleanup_secret_names struct ga_secret_names *names = names_with(NULL, NULL);

	for_each (row, t) {
		struct ga_secret_name name;

		if (ga_secret_named(names, row->path, &name) != row->covered || name.copy != row->copy)
			fail_msg("'%s': covered %d, copy %d", row->path, name.n > 0, name.copy);
	}
}

TEST(patterns_of_the_user_add_and_allow)
{
	cleanup_secret_names struct ga_secret_names *names = names_with("/conf/prod", "*.env");
	struct ga_secret_name name;

	EQUAL(judge(names, "conf/prod", "").tier, GA_TIER_BLOCK);
	STREQ(judge(names, "conf/prod", "").rule->id, "sec-configured");
	assert_false(ga_secret_named(names, "sub/conf/prod", &name));
	assert_false(ga_secret_named(names, "a.env", &name));
	assert_true(ga_secret_named(names, ".env.local", &name));
	{
		cleanup_secret_names struct ga_secret_names *some = names_with("*.[kp]ey", "[ab].pem");

		assert_true(ga_secret_named(some, "doc/x.key", &name));
		assert_false(ga_secret_named(some, "doc/x.hey", &name));
		assert_false(ga_secret_named(some, "a.pem", &name));
		assert_true(ga_secret_named(some, "c.pem", &name));
	}
	/* nor is there a number of patterns that is too many */
	{
		BUF(deep);
		STRV(many);
		struct ga_secret_names *all;

		for (int i = 0; i < 100; i++)
			ga_buf_adds(&deep, "a/");
		for (int i = 0; i < 1000; i++)
			ga_strv_pushf(&many, "%s%d", deep.ptr, i);
		all = ga_secret_names_new(&many, NULL);
		assert_true(ga_secret_named(all, many.v[999], &name));
		assert_false(ga_secret_named(all, deep.ptr, &name));
		ga_secret_names_free(all);
	}
	/* however many rules cover a path, the user's word and the worst of them count */
	{
		cleanup_secret_names struct ga_secret_names *all = names_with("*", NULL);
		const char *path = "secrets/.ssh/.gnupg/.azure/.age/.wandb/.op/.sui/.hex/.config/tea/x.pem";

		assert_true(ga_secret_named(all, path, &name));
		assert_true(name.n > 8);
		STREQ(judge(all, path, "").rule->id, "sec-configured");
		EQUAL(judge(names, path, "").tier, GA_TIER_BLOCK);
	}
	for (const char *const *p = (const char *const[]){ "", "/", "!x", "{a,b}", "a\nb", "a, b",
							   "a\\b", "a//b", NULL };
	     *p; p++)
		assert_false(ga_pattern_ok(*p));
	for (const char *const *p = (const char *const[]){ "a", "/a/b", "*.x", "dir/", "a/**/b",
							   NULL };
	     *p; p++)
		assert_true(ga_pattern_ok(*p));
}

TEST(what_is_not_read_is_the_worst_it_could_be)
{
	static const char *const contents[] = { PEM(""), "TOKEN=" GITHUB "\n", "PASSWORD=hunter22\n",
						RANDOM RANDOM, "", "x\n" };
	cleanup_secret_names struct ga_secret_names *names = names_with("mine/", NULL);

	for_each (row, secret_fixtures) {
		const char *path = row->path;
		enum ga_tier unseen = judge(names, path, NULL).tier;
		struct ga_secret_name name;

		/* of the others the content is never asked for */
		if (!ga_secret_named(names, path, &name) || !name.content)
			continue;
		for_each (content, contents)
			if (judge(names, path, *content).tier > unseen)
				fail_msg("'%s' unseen is better than with '%s'", path, *content);
	}
	EQUAL(judge(names, ".env.example", NULL).tier, GA_TIER_BLOCK);
	EQUAL(judge(names, "src/token.go", NULL).tier, GA_TIER_BLOCK);
	EQUAL(judge(names, "settings.py", NULL).tier, GA_TIER_BLOCK);
	EQUAL(judge(names, "tests/.env", NULL).tier, GA_TIER_WARN);
}

TEST(bytes_that_are_no_text_are_judged_by_the_name)
{
	static const struct {
		const char *path, *content;
		size_t n;
		enum ga_tier tier;
	} t[] = {
#define WITH(content) content, sizeof(content) - 1
		{ ".env", WITH("TOKEN=your-key\n\0\n"), GA_TIER_BLOCK },
		{ ".env.example", WITH("DB_PASSWORD=hunter22\n\0"), GA_TIER_NONE },
		{ ".env.example", WITH("\0\nTOKEN=" GITHUB "\n"), GA_TIER_BLOCK },
		{ ".env.vault", WITH("\1\0\2"), GA_TIER_NOTE },
		{ "docker-compose.yml", WITH("x: y\n\0"), GA_TIER_BLOCK },
		{ ".npmrc", WITH("a=b\n\0"), GA_TIER_BLOCK },
		{ ".vercel/output/logo.png", WITH("\1\0\2"), GA_TIER_NONE },
		{ ".wrangler/state/d1.sqlite", WITH("\1\0\2"), GA_TIER_NOTE },
		{ "token.bin", WITH("\1\0\2"), GA_TIER_NOTE },
		{ "secrets/lock.png", WITH("\1\0\2"), GA_TIER_NONE },
		{ "slides.key", WITH("\1\0\2"), GA_TIER_NONE },
	};
	cleanup_secret_names struct ga_secret_names *names = names_with(NULL, NULL);

	for_index (i, t) {
		enum ga_tier is = judge_with(names, t[i].path, t[i].content, t[i].n).tier;

		if (is != t[i].tier)
			fail_msg("row %zu, '%s': tier %u", i, t[i].path, ga_tier_number(is));
	}
}

/* As some editors of Windows save text: either order of bytes, and a character outside ASCII. */
TEST(text_in_UTF_16_is_read)
{
	static const char text[] = "A=\xe9\nDB_PASSWORD=p&ssw0rd\r\n", token[] = "TOKEN=" GITHUB;
	cleanup_secret_names struct ga_secret_names *names = names_with(NULL, NULL);
	char wide[2 * sizeof(text) + 2 * sizeof(token)];

	for (size_t big = 0; big < 2; big++) {
		size_t n = 0;

		wide[n++] = big ? '\xfe' : '\xff';
		wide[n++] = big ? '\xff' : '\xfe';
		for (const char *p = text; *p; p++, n += 2) {
			wide[n + big] = *p;
			wide[n + 1 - big] = 0;
		}
		EQUAL(judge_with(names, ".env", wide, n).tier, GA_TIER_BLOCK);
		EQUAL(judge_with(names, ".env", wide, n).bits, GA_MARK_SECRET | GA_MARK_VALUE);
		EQUAL(judge_with(names, ".env", wide, 5).tier, GA_TIER_NOTE);
		EQUAL(judge_with(names, ".env.example", wide, n).tier, GA_TIER_NONE);
		for (n = 2; n < 2 * sizeof(token); n += 2) {
			wide[n + big] = token[n / 2 - 1];
			wide[n + 1 - big] = 0;
		}
		EQUAL(judge_with(names, ".env.example", wide, n).tier, GA_TIER_BLOCK);
	}
	/* cut in the middle, and 32 bits to a character */
	EQUAL(judge_with(names, ".env", "\xff\xfe", 2).tier, GA_TIER_NOTE);
	EQUAL(judge_with(names, ".env", "\xff\xfe\0\0A\0\0\0", 8).tier, GA_TIER_BLOCK);
}

TEST(placeholders_are_no_secrets)
{
	static const char *const yes[] = {
		"xxxxxxxx", "********", "........", "<your token>", "${TOKEN}", "$TOKEN", "{{ token }}",
		"%TOKEN%", "your-key", "changeme", "CHANGE_ME", "TODO", "null", "example.com",
		"process.env.KEY", "123456", "abc", "", "0.0.0.0", "op://vault/item",
	};
	static const char *const no[] = { "hunter22", RANDOM, GITHUB, "p4ssw0rd!", "$2y$10$abcdefghij" };

	for_each (row, yes)
		if (!ga_secret_placeholder(*row, strlen(*row)))
			fail_msg("'%s' is no placeholder?", *row);
	for_each (row, no)
		if (ga_secret_placeholder(*row, strlen(*row)))
			fail_msg("'%s' is a placeholder?", *row);
}

TEST(what_another_version_has_is_not_new)
{
	static const char one[] = "A_TOKEN=" RANDOM "\n", moved[] = "# more\nB=x\nA_TOKEN=" RANDOM "\n";
	static const char two[] = "A_TOKEN=" RANDOM "\nB_TOKEN=" GITHUB "\n";
	static const char crlf[] = "-----BEGIN RSA PRIVATE " "KEY-----\r\n" B64 "\r\n" B64
				   "\r\n-----END RSA PRIVATE " "KEY-----\r\n";
	struct ga_secret_marks a, b, c, none;

	ga_secret_scan(".env", one, strlen(one), &a);
	ga_secret_scan(".env", moved, strlen(moved), &b);
	ga_secret_scan(".env", two, strlen(two), &c);
	ga_secret_scan(".env", "", 0, &none);
	assert_true(ga_secret_within(&a, &b));
	assert_true(ga_secret_within(&a, &c));
	assert_false(ga_secret_within(&c, &a));
	assert_false(ga_secret_within(&none, &a));
	/* a key is the same whatever its lines end in */
	ga_secret_scan("k.pem", PEM("RSA "), strlen(PEM("RSA ")), &a);
	ga_secret_scan("k.pem", crlf, strlen(crlf), &b);
	assert_true(ga_secret_within(&a, &b) && ga_secret_within(&b, &a));
}

/* No text makes a finding's words: they are the table's. */
TEST(a_reason_shows_no_secret)
{
	cleanup_secret_names struct ga_secret_names *names = names_with(NULL, NULL);
	struct ga_secret s = judge(names, "a/.env.example", "TOKEN=" GITHUB "\n");
	cleanup_free char *reason = ga_secret_reason(&s);

	STREQ(reason, "environment file: a GitHub token, in what is called an example");
	assert_null(strstr(reason, GITHUB));
}

TEST(values_in_a_text_to_be_shown_are_blotted_out)
{
	static const char *const cases[][2] = {
		{ "curl https://hooks.slack.com/services/T0AB3DEF/B0HI2KLM/" RANDOM " -d x",
		  "curl https://hooks.slack.com/services/T*** -d x" },
		{ "curl -H 'Authorization: Bearer " RANDOM "' https://u:hunter22@h/",
		  "curl -H 'Authorization: Bearer ***' https://u:***@h/" },
		{ "export A=" GITHUB " B=" AWS_ID, "export A=gh" "p_*** B=AK" "IA***" },
		{ "\"DB_PASSWORD=hunter22\"", "\"DB_PASSWORD=***\"" },
		{ "k = \"" PEM("RSA ") "\"", "k = \"-----BEGIN RSA PRIVATE " "KEY-----\n***-----END RSA "
					     "PRIVATE " "KEY-----\n\"" },
		{ "/**** x ****/ token = next(x)", "/**** x ****/ token = next(x)" },
		{ "password: your-password", "password: your-password" },
	};
	size_t n;
	const struct ga_rule *rules = ga_rules(&n);

	for_each (row, cases) {
		cleanup_free char *text = ga_strdup((*row)[0]);

		ga_secret_blot(text);
		STREQ(text, (*row)[1]);
	}
	/* what a rule says of itself is no value */
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *text = ga_strf("%s: something, also: x", rules[i].reason);
		cleanup_free char *same = ga_strdup(text);

		ga_secret_blot(text);
		STREQ(text, same);
	}
}

TEST(slow_texts_are_read_up_to_a_bound)
{
	static const char *const seeds[] = {
		"-----BEGIN RSA PRIVATE KEY-----\n", "eyJ.eyJ.", "a=", "://u:p", "password=\"",
		"-----BEGIN PRIVATE KEY-----AAAA", "xoxb-", "1//0", ":", "=", ">", "<password>", "\\n",
		"ya29.", "a:b@", "Password=;", "Authorization: Bearer ", "AKIA", "\"", "Name: x\n",
		"LS0tLS1CRUdJTiBQUklWQVRFIEtFWS/", "discord.com/api/webhooks/",
	};
	size_t n = GA_SECRET_SCAN_MAX + 4096;
	cleanup_free char *text = ga_malloc(n);
	struct ga_secret_marks m;

	for_each (row, seeds) {
		size_t k = strlen(*row);

		for (size_t at = 0; at < n; at++)
			text[at] = (*row)[at % k];
		ga_secret_scan(".env", text, n, &m);
		assert_true(m.n_prints <= GA_SECRET_PRINTS_MAX);
		ga_secret_scan_forms("x.json", text, n, &m);
	}
	/* what is behind the limit is not seen, what begins before it is */
	memset(text, '\n', n);
	memcpy(text + GA_SECRET_SCAN_MAX + 8, GITHUB, strlen(GITHUB));
	ga_secret_scan(".env", text, n, &m);
	EQUAL(m.bits, 0);
	memcpy(text + GA_SECRET_SCAN_MAX - strlen(GITHUB), GITHUB, strlen(GITHUB));
	ga_secret_scan(".env", text, n, &m);
	assert_true(m.bits & GA_MARK_TOKEN);
}

TEST_MAIN(NULL, NULL)
