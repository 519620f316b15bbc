/* SPDX-License-Identifier: MIT
 *
 * What a key takes for its value, and the message about what it does not take.
 */
#include "ga/config/config.h"
#include "config-support.h"

#include "config/schema.h"
#include "ga/config/service.h"

TEST(every_limit_has_a_key_of_its_own)
{
	struct ga_limits l;

	ga_limits_default(&l);
	for (unsigned i = 0; i < GA_LIMITS_N; i++) {
		const char *key = ga_limit_key((enum ga_limit)i);
		cleanup_free char *text = ga_limit_text(&l, (enum ga_limit)i);
		cleanup_config struct ga_config c = GA_CONFIG_INIT;
		cleanup_free char *same = NULL;

		defaults_into(&c);
		same = ga_config_text(&c, number_of(key));
		STREQ(text, same);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(key, ga_limit_key((enum ga_limit)k));
	}
	STREQ(ga_limit_key(GA_LIMIT_DEPTH), "limits.capture.depth");
	STREQ(ga_limit_key(GA_LIMIT_GIT_TIME), "limits.capture.git_time");
}

/* A user's file and what becomes of one key, or the error with its hint. */
TEST(a_value_is_taken_or_refused_with_its_place)
{
	static const struct {
		const char *file, *key, *value, *error, *hint;
	} cases[] = {
#define HOME(s) "f:1:7: 'home' takes a path that begins with / or ~/, without '..', not '" s "'"
#define DEPTH(s) "f:1:27: 'limits.capture.depth' takes a number from 1 to 512, not '" s "'"
		{ "", "dirty", "carry", NULL, NULL },
		{ "dirty: refuse", "dirty", "refuse", NULL, NULL },
		{ "dirty: Refuse", NULL, NULL, "f:1:8: 'dirty' takes carry, ignore or refuse, not 'Refuse'", NULL },
		{ "dirty: [carry]", NULL, NULL, "f:1:8: 'dirty' takes one value", NULL },
		{ "dirty:", NULL, NULL, "f:1:7: 'dirty' takes carry, ignore or refuse, not ''", NULL },
		{ "home: /x/y", "home", "/x/y", NULL, NULL },
		{ "home: /x/y/", "home", "/x/y", NULL, NULL },
		{ "home: \"/x\\u00e4\"", "home", "/x\xc3\xa4", NULL, NULL },
		{ "home: x", NULL, NULL, HOME("x"), NULL },
		{ "home: ~root/x", NULL, NULL, HOME("~root/x"), NULL },
		{ "home: /x/../y", NULL, NULL, HOME("/x/../y"), NULL },
		{ "home: \"/x\\ny\"", NULL, NULL, HOME("/x\\ny"), NULL },
		{ "state_dir: /s", "state_dir", "/s", NULL, NULL },
		{ "limits: {capture: {depth: 512}}", "limits.capture.depth", "512", NULL, NULL },
		{ "limits: {capture: {depth: 0}}", NULL, NULL, DEPTH("0"), NULL },
		{ "limits: {capture: {depth: 513}}", NULL, NULL, DEPTH("513"), NULL },
		{ "limits: {capture: {file_size: 64MiB}}", "limits.capture.file_size", "64MiB", NULL, NULL },
		{ "limits: {capture: {file_size: 2TiB}}", NULL, NULL,
		  "f:1:31: 'limits.capture.file_size' takes a size from 1 to 1TiB, not '2TiB'", NULL },
		{ "limits: {capture: {git_time: 90s}}", "limits.capture.git_time", "90s", NULL, NULL },
		{ "limits: {capture: {git_time: 2h}}", NULL, NULL,
		  "f:1:30: 'limits.capture.git_time' takes a time from 1s to 1h, not '2h'", NULL },
		{ "limits:\n  capture:\n", "limits.capture.depth", "128", NULL, NULL },
		{ "limits: x", NULL, NULL, "f:1:9: 'limits' takes keys of its own", NULL },
		{ "dirtty: carry", NULL, NULL, "f:1:1: unknown key 'dirtty'", "did you mean 'dirty'?" },
		{ "limits:\n  captures:\n    depth: 1", NULL, NULL, "f:2:3: unknown key 'limits.captures'",
		  "did you mean 'limits.capture'?" },
		{ "limits.capture.depth: 1", NULL, NULL, "f:1:1: unknown key 'limits.capture.depth'",
		  "keys are nested: what is before a dot is on a line above, followed by a colon" },
		{ "limits: {capture.depth: 1}", NULL, NULL, "f:1:10: unknown key 'limits.capture.depth'",
		  "keys are nested: what is before a dot is on a line above, followed by a colon" },
		{ "network: {mode: none}", "network.mode", "none", NULL, NULL },
		{ "network: {allow: ['db.test:5432', '[::1]:80']}", "network.allow",
		  "db.test:5432, [::1]:80", NULL, NULL },
		{ "network: {allow: [db.test]}", NULL, NULL,
		  "f:1:19: 'network.allow' takes host:port or host:port-port; host is a name, "
		  "*.name, an IPv4 address or an [IPv6] address, not 'db.test'", NULL },
		{ "network: {publish: [0]}", NULL, NULL,
		  "f:1:21: 'network.publish' takes PORT, auto:PORT, HOST_PORT:PORT or "
		  "ADDRESS:HOST_PORT:PORT, not '0'", NULL },
		{ "network: {sockets: [a/b]}", NULL, NULL,
		  "f:1:21: 'network.sockets' takes the path of a socket, or PATH:PATH with the one "
		  "inside: each with / or ~/, without '..', not 'a/b'", NULL },
		{ "\"a\\e\": x", NULL, NULL, "f:1:1: unknown key 'a\\e'", NULL },
	};

	for_each (row, cases) {
		cleanup_config struct ga_config c = GA_CONFIG_INIT;
		ERR(err);
		cleanup_free char *got = NULL;
		int rc;

		defaults_into(&c);
		rc = ga_config_read(&c, GA_ORIGIN_USER, "f", row->file, strlen(row->file), &err);
		if (rc != (row->error ? -1 : 0) || (rc && strcmp(err.msg, row->error) != 0))
			fail_msg("'%s': %s", row->file, rc ? err.msg : "accepted");
		if (row->hint && (!err.hint || strcmp(err.hint, row->hint) != 0))
			fail_msg("'%s': hint %s", row->file, err.hint ? err.hint : "none");
		if (rc)
			continue;
		got = ga_config_text(&c, number_of(row->key));
		STREQ(got, row->value);
	}
}

TEST(a_long_key_is_cut_in_messages)
{
	cleanup_config struct ga_config c = GA_CONFIG_INIT;
	ERR(err);
	BUF(text);

	defaults_into(&c);
	for (int i = 0; i < 1000; i++)
		ga_buf_addch(&text, 'k');
	ga_buf_adds(&text, ": 1");
	EQUAL(ga_config_read(&c, GA_ORIGIN_USER, "f", text.ptr, text.len, &err), -1);
	assert_true(strlen(err.msg) < 100);
	assert_has(err.msg, "kkk...'");
}

TEST(more_than_16_services_are_refused)
{
	cleanup_config struct ga_config c = GA_CONFIG_INIT;
	ERR(err);
	BUF(text);

	defaults_into(&c);
	ga_buf_adds(&text, "services:\n");
	for (int i = 1; i <= GA_SERVICES_MAX; i++)
		ga_buf_addf(&text, "  s%d: {command: sleep 1, ready: 'true'}\n", i);
	EQUAL(ga_config_read(&c, GA_ORIGIN_USER, "f", text.ptr, text.len, &err), 0);
	EQUAL(ga_config_set_key(&c, "services", "s3: sleep 2", &err), 0);
	EQUAL(ga_config_set_key(&c, "services", "sleep 2", &err), -1);
	STREQ(err.msg, "there are more than 16 services");
	ga_error_release(&err);

	ga_config_release(&c);
	defaults_into(&c);
	ga_buf_adds(&text, "  more: sleep 1\n");
	EQUAL(ga_config_read(&c, GA_ORIGIN_USER, "f", text.ptr, text.len, &err), -1);
	STREQ(err.msg, "f:18:9: there are more than 16 services");
}

TEST_MAIN(NULL, NULL)
