/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/config/config.h"
#include "ga/config/service.h"
#include "ga/session/session.h"

TEST(commands_are_words_of_a_shell)
{
	static const struct {
		const char *text;
		bool ok, service;
	} t[] = {
		{ "npm ci", true, true },
		{ "a\n\tb", true, true },
		{ "", false, false },
		{ " \n\t", false, false },
		{ "a\x1b[m", false, false },
		{ "a\r", false, false },
		{ "\xff", false, false },
		{ "db: a", true, true },
		{ "db: ", true, false },
		{ "db ready: ", true, false },
		{ "db:", true, true }, /* a strange command, but no name */
	};
	cleanup_free char *large = ga_calloc(1, GA_COMMAND_MAX + 2);

	for_each (row, t) {
		EQUAL(ga_command_ok(row->text), row->ok);
		EQUAL(ga_service_ok(row->text), row->service);
	}
	memset(large, 'a', GA_COMMAND_MAX);
	assert_true(ga_command_ok(large));
	large[GA_COMMAND_MAX] = 'a';
	assert_false(ga_command_ok(large));
	assert_true(ga_service_name_ok("a.B-c_9"));
	assert_false(ga_service_name_ok(".a") || ga_service_name_ok("a/b") ||
		     ga_service_name_ok("") || ga_service_name_ok("a b"));
}

TEST(a_service_has_a_plain_name)
{
	static const char *const words[] = {
		"redis: first --port 1", "/usr/bin/redis-server x", "redis ready: ping", "redis-server",
		"FOO=1 run", "(a; b)", "nobody ready: x", "redis: second", "redis ready: pong",
	};
	static const struct {
		const char *name, *command, *ready;
	} want[] = {
		{ "redis", "second", "pong" },
		{ "redis-server", "/usr/bin/redis-server x", NULL },
		{ "redis-server-2", "redis-server", NULL },
		{ "FOO", "FOO=1 run", NULL },
		{ "service", "(a; b)", NULL },
	};
	STRV(list);
	cleanup_services struct ga_services s = GA_SERVICES_INIT;

	for_each (row, words) {
		assert_true(ga_service_ok(*row));
		ga_strv_push(&list, *row);
	}
	ga_services_parse(&list, &s);
	EQUAL(s.n, GA_NELEMS(want));
	for (size_t i = 0; i < s.n; i++) {
		STREQ(s.v[i].name, want[i].name);
		STREQ(s.v[i].command, want[i].command);
		EQUAL(s.v[i].ready != NULL, want[i].ready != NULL);
		if (s.v[i].ready)
			STREQ(s.v[i].ready, want[i].ready);
	}
}

TEST(a_service_is_written_as_it_is_read)
{
	static const struct {
		const char *command, *text;
		size_t most;
	} t[] = {
		{ "  make check\n", "make check", 100 },
		{ "printf 'a\\n'", "printf 'a\\n'", 100 },
		{ "a\nb", "a\\nb", 100 },
		{ "abcdef", "abc...", 3 },
		{ "ab\xc3\xa4", "ab...", 3 },
		{ "a\xe2\x80\xae", "a\\u{202e}", 100 },
	};

	for_each (row, t) {
		cleanup_free char *text = ga_command_text(row->command, row->most);

		STREQ(text, row->text);
	}
}

TEST(the_end_of_a_check_is_kept)
{
	static const struct {
		struct ga_check c;
		const char *word, *text;
	} t[] = {
		{ { GA_CHECK_EXITED, 2, "make check" }, "exited 2 make check", "make check \xe2\x86\x92 2" },
		{ { GA_CHECK_TIMED_OUT, 0, "a" }, "timed-out 0 a", "a \xe2\x86\x92 timed out" },
		{ { GA_CHECK_INTERRUPTED, 0, "a" }, "interrupted 0 a", "a \xe2\x86\x92 interrupted" },
		{ { GA_CHECK_NOT_RUN, 0, "a" }, "not-run 0 a", "a \xe2\x86\x92 not run" },
	};
	static const char *const bad[] = { "", "exited", "exited 0", "exited 256 a", "exited x a",
					   "passed 0 a", "exited 0 a\nb", "exited 0 a\x1b" };
	struct ga_check c;

	for_each (row, t) {
		cleanup_free char *word = ga_check_encode(&row->c);
		cleanup_free char *text = ga_check_text(&row->c);

		STREQ(word, row->word);
		STREQ(text, row->text);
		assert_true(ga_check_parse(word, &c));
		EQUAL(c.end, row->c.end);
		EQUAL(c.status, row->c.status);
		STREQ(c.command, row->c.command);
	}
	for_each (row, bad)
		assert_false(ga_check_parse(*row, &c));
}

TEST(a_repository_needs_trust_for_commands)
{
	static const char *const keys[] = { "setup: [a]\n", "services: {a: b}\n", "finish: [a]\n" };

	for (size_t i = 0; i < GA_NELEMS(keys) * 2; i++) {
		cleanup_config struct ga_config c = GA_CONFIG_INIT;
		ERR(err);
		const char *text = keys[i / 2];

		ga_config_defaults(&c, "/h", NULL, "/h/c");
		c.from.trusted = i % 2;
		EQUAL(ga_config_read(&c, GA_ORIGIN_REPOSITORY, "f", text, strlen(text), &err), c.from.trusted ? 0 : -1);
		EQUAL(c.beside.setup.n + c.beside.services.n + c.beside.finish.n, c.from.trusted);
	}
}

TEST_MAIN(NULL, NULL)
