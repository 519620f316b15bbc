/* SPDX-License-Identifier: MIT
 *
 * Words of network.publish and network.sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ga/net.h"

static void published(void **state)
{
	static const struct {
		const char *word, *at; /* NULL: refused */
		unsigned host_port, port;
	} cases[] = {
		{ "3000", "127.0.0.1", 3000, 3000 },
		{ "auto:3000", "127.0.0.1", 0, 3000 },
		{ "8080:3000", "127.0.0.1", 8080, 3000 },
		{ "127.0.0.1:8080:3000", "127.0.0.1", 8080, 3000 },
		{ "0.0.0.0:auto:65535", "0.0.0.0", 0, 65535 },
		{ "[::1]:8080:3000", "::1", 8080, 3000 },
		{ "[::1]:auto:1", "::1", 0, 1 },
		{ "", NULL, 0, 0 },
		{ "0", NULL, 0, 0 },
		{ "65536", NULL, 0, 0 },
		{ "03000", NULL, 0, 0 },
		{ "+3000", NULL, 0, 0 },
		{ "3000 ", NULL, 0, 0 },
		{ "auto", NULL, 0, 0 },
		{ "auto:", NULL, 0, 0 },
		{ ":3000", NULL, 0, 0 },
		{ "0:3000", NULL, 0, 0 },
		{ "8080:auto", NULL, 0, 0 },
		{ "::3000", NULL, 0, 0 },
		{ ":8080:3000", NULL, 0, 0 },
		{ "::1:8080:3000", NULL, 0, 0 },
		{ "[127.0.0.1]:8080:3000", NULL, 0, 0 },
		{ "localhost:8080:3000", NULL, 0, 0 },
		{ "127.1:8080:3000", NULL, 0, 0 },
		{ "127.0.0.1:8080:3000/udp", NULL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		struct ga_net_publish p;
		cleanup_free char *at = NULL;

		if (ga_net_publish_parse(cases[i].word, &p) != (cases[i].at != NULL) ||
		    ga_net_publish_ok(cases[i].word) != (cases[i].at != NULL))
			fail_msg("'%s'", cases[i].word);
		if (!cases[i].at)
			continue;
		at = ga_net_addr_text(&p.addr);
		assert_string_equal(at, cases[i].at);
		assert_int_equal(p.host_port, cases[i].host_port);
		assert_int_equal(p.port, cases[i].port);
	}
}

static void sockets(void **state)
{
	static const char *const good[] = { "/run/postgresql/.s.PGSQL.5432", "/tmp/a b", "~/a",
					    "/a:b", "/a:/b", "~/a:~/b", "/a:b:/c" };
	static const char *const bad[] = { "", "/", "a", "~", "~/", "~a/b", "~/../b", "/a:/",
					   ":/a", "/a:/b:/../c", "/a:~/", "/a/../b", "/a/./b", "/a//b", "/a/",
					   "/a\n", "/a\x7f" };

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(good); i++)
		assert_true(ga_net_socket_ok(good[i]));
	for (size_t i = 0; i < GA_NELEMS(bad); i++)
		if (ga_net_socket_ok(bad[i]))
			fail_msg("'%s'", bad[i]);
}

static void who_reaches_it(void **state)
{
	static const char *const here[] = { "1", "auto:1", "2:1", "127.0.0.1:2:1", "127.9.9.9:auto:1",
					    "[::1]:auto:1" };
	static const char *const open[] = { "0.0.0.0:2:1", "192.0.2.1:auto:1", "[::]:2:1",
					    "[2001:db8::1]:2:1", "[::ffff:192.0.2.1]:2:1" };

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(here); i++)
		assert_false(ga_net_publish_open(here[i]));
	for (size_t i = 0; i < GA_NELEMS(open); i++)
		assert_int_equal(ga_net_publish_open(open[i]), ga_net_publish_ok(open[i]));
	assert_true(ga_net_publish_open(open[0]) && ga_net_publish_open(open[2]));
}

static void places(void **state)
{
	static const char *const cases[][3] = {
		{ "/r/s", "/r/s", "/r/s" },
		{ "~/.gnupg/S", "/h/u/.gnupg/S", "/h/u/.gnupg/S" },
		{ "/r/S.extra:~/.gnupg/S", "/r/S.extra", "/h/u/.gnupg/S" },
		{ "~/a:/b", "/h/u/a", "/b" },
		{ "/a:0:/b:1", "/a:0", "/b:1" },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_net_socket struct ga_net_socket s;

		assert_true(ga_net_socket_parse(cases[i][0], "/h/u", &s));
		assert_string_equal(s.host, cases[i][1]);
		assert_string_equal(s.inside, cases[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published),
		cmocka_unit_test(sockets),
		cmocka_unit_test(who_reaches_it),
		cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
