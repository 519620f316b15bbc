/* SPDX-License-Identifier: MIT
 *
 * Clients of the proxy, each request whole and byte by byte.
 */
#include "../test.h"

#include "ga/net/netplan.h"

#define BYTES(s) (s), sizeof(s) - 1

/* Feed all, in pieces of `step` bytes, until it is more than a question of bytes. Returns what was used. */
static size_t feed(struct ga_net_ask *a, const char *p, size_t n, size_t step)
{
	size_t at = 0;

	while (at < n && a->state == GA_NET_ASK_MORE) {
		size_t some = n - at < step ? n - at : step;
		cleanup_free void *exact = ga_memdup(p + at, some);

		(void)ga_net_ask_feed(a, exact, some);
		at += some;
	}
	return at;
}

#define REFUSED(s) { BYTES(s), NULL, NULL }
#define NO_TARGET(s) REFUSED("CONNECT " s " HTTP/1.1\r\n\r\n")

static const struct {
	const char *in;
	size_t n;
	const char *target; /* NULL: refused */
	const char *early;  /* what the target gets first, all of it being there; NULL: nothing */
} cases[] = {
	/* CONNECT */
	{ BYTES("CONNECT example.org:443 HTTP/1.1\r\n\r\n"), "example.org:443", NULL },
	{ BYTES("CONNECT Example.ORG.:443 HTTP/1.0\r\n\r\n"), "example.org:443", NULL },
	{ BYTES("CONNECT example.org:443 HTTP/1.1\r\nHost: evil.example:1\r\nX:\ty\r\n\r\n\x16\x03"),
	  "example.org:443", "\x16\x03" },
	{ BYTES("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n"), "[2001:db8::1]:443", NULL },
	{ BYTES("CONNECT [::ffff:169.254.169.254]:80 HTTP/1.1\r\n\r\n"), "169.254.169.254:80", NULL },
	{ BYTES("CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n"), "127.0.0.1:22", NULL },
	/* http:// */
	{ BYTES("GET http://example.org/a?b HTTP/1.1\r\nHost: evil.example\r\nAccept: */*\r\n"
		"Proxy-Connection: keep-alive\r\nproxy-authorization: x\r\nConnection: x\r\n\r\nbody"),
	  "example.org:80", "GET /a?b HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n"
	  "Connection: close\r\n\r\nbody" },
	{ BYTES("POST HTTP://Example.org:8080 HTTP/1.0\r\nContent-Length: 1\r\nHost: a\r\nHOST: b\r\n"
		"Upgrade: h2c\r\n\r\n1"),
	  "example.org:8080", "POST / HTTP/1.0\r\nHost: example.org:8080\r\nContent-Length: 1\r\n"
	  "Connection: close\r\n\r\n1" },
	{ BYTES("GET http://[2001:db8::1]?q HTTP/1.1\r\n\r\n"), "[2001:db8::1]:80",
	  "GET /?q HTTP/1.1\r\nHost: [2001:db8::1]\r\nConnection: close\r\n\r\n" },
	{ BYTES("OPTIONS http://a.b:80/ HTTP/1.1\r\nX-Te: 1\r\nTE: trailers\r\n\r\n"), "a.b:80",
	  "OPTIONS / HTTP/1.1\r\nHost: a.b\r\nX-Te: 1\r\nConnection: close\r\n\r\n" },
	/* SOCKS 5 */
	{ BYTES("\5\1\0\5\1\0\3\xb" "example.org\1\xbbtls"), "example.org:443", "tls" },
	{ BYTES("\5\2\2\0\5\1\0\1\xc0\0\2\1\0\x50"), "192.0.2.1:80", NULL },
	{ BYTES("\5\1\0\5\1\0\4\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0\x50"), "[2001:db8::1]:80", NULL },
	{ BYTES("\5\1\0\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1\0\x50"), "127.0.0.1:80", NULL },
	{ BYTES("\5\1\0\5\1\0\3\x9" "127.0.0.1\0\x50"), "127.0.0.1:80", NULL },
	/* SOCKS 4 and 4a */
	{ BYTES("\4\1\0\x50\xc0\0\2\1\0rest"), "192.0.2.1:80", "rest" },
	{ BYTES("\4\1\0\x50\xc0\0\2\1user\0"), "192.0.2.1:80", NULL },
	{ BYTES("\4\1\1\xbb\0\0\0\1u\0example.org\0tls"), "example.org:443", "tls" },
	/* not a line of HTTP as it has to be */
	REFUSED("CONNECT example.org:443 HTTP/1.1\n\n"),
	REFUSED("CONNECT example.org:443 HTTP/1.1\rX\r\n\r\n"), NO_TARGET(" example.org:443"),
	REFUSED("CONNECT example.org:443 HTTP/1.1 \r\n\r\n"),
	REFUSED("CONNECT example.org:443 HTTP/2.0\r\n\r\n"),
	REFUSED("CONNECT example.org:443\r\n\r\n"), REFUSED("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	REFUSED("C@NNECT a:1 HTTP/1.1\r\n\r\n"), REFUSED("CONNECT a:1 HTTP/1.1\r\nX : y\r\n\r\n"),
	REFUSED("CONNECT a:1 HTTP/1.1\r\nX: y\r\n folded\r\n\r\n"),
	REFUSED("CONNECT a:1 HTTP/1.1\r\nnothing\r\n\r\n"),
	REFUSED("GET http://a/ HTTP/1.1\r\n: x\r\n\r\n"),
	REFUSED("CONNECT a:1 HTTP/1.1\r\nX: \0\r\n\r\n"),
	REFUSED("CONNECT a:1 HTTP/1.1\r\nX: \x1b[0m\r\n\r\n"),
	/* not a target */
	NO_TARGET("example.org"), NO_TARGET("example.org:"), NO_TARGET("example.org:0"),
	NO_TARGET("example.org:443:1"), NO_TARGET("example.org:99999"),
	NO_TARGET("user@example.org:443"), NO_TARGET("example.org:443@evil.example:443"),
	NO_TARGET("2130706433:80"), NO_TARGET("0x7f.0.0.1:80"), NO_TARGET("127.1:80"),
	NO_TARGET("::1:80"), NO_TARGET("[::1]x:80"), NO_TARGET("[::1:80"),
	NO_TARGET("[example.org]:80"), NO_TARGET("http://example.org:80"),
	NO_TARGET("example%2eorg:80"), NO_TARGET("b\xc3\xbc.example:80"),
	REFUSED("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
	REFUSED("GET https://example.org/ HTTP/1.1\r\n\r\n"),
	REFUSED("GET http:///a HTTP/1.1\r\n\r\n"),
	REFUSED("GET http://u:p@example.org/ HTTP/1.1\r\n\r\n"),
	REFUSED("GET http://example.org/#f HTTP/1.1\r\n\r\n"),
	REFUSED("GET http://example.org\\@evil.example/ HTTP/1.1\r\n\r\n"),
	REFUSED("OPTIONS * HTTP/1.1\r\n\r\n"),
	/* not SOCKS as it has to be */
	REFUSED("\5\0\5\1"), REFUSED("\5\1\2"), REFUSED("\5\1\0\4\1\0\1\1\1\1\1\0\1"),
	REFUSED("\5\1\0\5\2\0\1\1\1\1\1\0\1"), REFUSED("\5\1\0\5\3\0\1\1\1\1\1\0\1"),
	REFUSED("\5\1\0\5\1\0\2\1\1\1\1\0\1"), REFUSED("\5\1\0\5\1\1\1\1\1\1\1\0\1"),
	REFUSED("\5\1\0\5\1\0\1\1\1\1\1\0\0"), REFUSED("\5\1\0\5\1\0\3\0\0\1"),
	REFUSED("\5\1\0\5\1\0\3\x14" "evil\0.example.org\0\0\0\0\1"),
	REFUSED("\5\1\0\5\1\0\3\5" "a b.c\0\1"), REFUSED("\4\2\0\x50\xc0\0\2\1\0"),
	REFUSED("\4\1\0\0\xc0\0\2\1\0"), REFUSED("\4\1\0\1\0\0\0\1\0\0"),
	REFUSED("\4\1\0\1\0\0\0\1\0a b\0"),
	/* neither */
	REFUSED("\x16\x03\x01"), REFUSED("get http://a/ HTTP/1.1\r\n\r\n"),
	REFUSED("\r\nGET http://a/ HTTP/1.1\r\n\r\n"),
};

TEST(nw04_a_request_is_read_in_one_way_only_or_refused)
{
	static const size_t steps[] = { 1, 2, 7, 1000000 };

	for_index (i, cases)
		for_index (k, steps) {
			cleanup_(ga_net_ask_release) struct ga_net_ask a = GA_NET_ASK_INIT;
			size_t used = feed(&a, cases[i].in, cases[i].n, steps[k]);
			cleanup_free char *target = ga_net_host_text(&a.host, a.port);
			const char *early = cases[i].early ? cases[i].early : "";

			if (!cases[i].target) {
				if (a.state != GA_NET_ASK_CLOSE)
					fail_msg("case %zu is not refused: %s", i, target);
				continue;
			}
			if (a.state != GA_NET_ASK_TARGET || strcmp(target, cases[i].target) != 0)
				fail_msg("case %zu: %d %s", i, (int)a.state, a.out.ptr);
			ga_buf_add(&a.early, cases[i].in + used, cases[i].n - used);
			if (a.early.len != strlen(early) || strcmp(a.early.ptr, early) != 0)
				fail_msg("case %zu: %s", i, a.early.ptr);
		}
}

TEST(the_beginning_of_a_request_asks_for_more)
{
	for_each (row, cases)
		for (size_t n = 0; row->target && n < row->n; n++) {
			cleanup_(ga_net_ask_release) struct ga_net_ask a = GA_NET_ASK_INIT;
			cleanup_(ga_net_ask_release) struct ga_net_ask b = GA_NET_ASK_INIT;
			size_t used = feed(&a, row->in, n, 1);

			(void)feed(&b, row->in, n, n);
			EQUAL(a.state, b.state);
			assert_int_not_equal(a.state, GA_NET_ASK_CLOSE);
			if (a.state == GA_NET_ASK_MORE)
				EQUAL(used, n);
		}
}

TEST(each_outcome_has_its_reply)
{
	static const struct {
		const char *in;
		size_t n;
		enum ga_net_outcome how;
		const char *out;
		size_t out_n; /* of the beginning that is compared */
	} says[] = {
#define CONNECT BYTES("CONNECT a:1 HTTP/1.1\r\n\r\n")
#define SOCKS BYTES("\5\1\0\5\1\0\1\1\1\1\1\0\1")
		{ CONNECT, GA_NET_CONNECTED, BYTES("HTTP/1.1 200 Connection established\r\n\r\n") },
		{ BYTES("GET http://a/ HTTP/1.1\r\n\r\n"), GA_NET_CONNECTED, BYTES("") },
		{ CONNECT, GA_NET_REFUSED, BYTES("HTTP/1.1 403 ") },
		{ BYTES("GET http://a/ HTTP/1.1\r\n\r\n"), GA_NET_NO_NAME, BYTES("HTTP/1.1 502 ") },
		{ CONNECT, GA_NET_UNREACHABLE, BYTES("HTTP/1.1 502 ") },
		{ CONNECT, GA_NET_TIMEOUT, BYTES("HTTP/1.1 504 ") },
		{ SOCKS, GA_NET_CONNECTED, BYTES("\5\0\5\0\0\1\0\0\0\0\0\0") },
		{ SOCKS, GA_NET_REFUSED, BYTES("\5\0\5\2\0\1\0\0\0\0\0\0") },
		{ SOCKS, GA_NET_NO_NAME, BYTES("\5\0\5\4\0\1\0\0\0\0\0\0") },
		{ SOCKS, GA_NET_UNREACHABLE, BYTES("\5\0\5\5\0\1\0\0\0\0\0\0") },
		{ BYTES("\4\1\0\1\1\1\1\1\0"), GA_NET_CONNECTED, BYTES("\0\x5a\0\0\0\0\0\0") },
		{ BYTES("\4\1\0\1\1\1\1\1\0"), GA_NET_REFUSED, BYTES("\0\x5b\0\0\0\0\0\0") },
	};

	for_each (row, says) {
		cleanup_(ga_net_ask_release) struct ga_net_ask a = GA_NET_ASK_INIT;
		bool yes = row->how == GA_NET_CONNECTED;

		(void)feed(&a, row->in, row->n, 1);
		EQUAL(a.state, GA_NET_ASK_TARGET);
		EQUAL(ga_net_ask_answer(&a, row->how), yes ? GA_NET_ASK_RELAY : GA_NET_ASK_CLOSE);
		assert_true(a.out.len >= row->out_n);
		assert_memory_equal(a.out.ptr, row->out, row->out_n);
		if (yes || a.kind != GA_NET_ASK_HTTP)
			EQUAL(a.out.len, row->out_n);
		else
			assert_has(a.out.ptr, "git-agent: cannot connect to a:");
		if (!yes)
			EQUAL(a.early.len, 0);
	}
}

TEST(nw08_a_request_without_an_end_is_closed)
{
	static const char start[] = "GET http://a/ HTTP/1.1\r\nX: ";
	static const char tail[] = "\r\n\r\n";

	for (size_t all = GA_NET_ASK_MAX; all <= GA_NET_ASK_MAX + 1; all++)
		for (size_t step = 1000; step <= 1000000; step *= 1000) {
			cleanup_(ga_net_ask_release) struct ga_net_ask a = GA_NET_ASK_INIT;
			cleanup_free char *text = ga_malloc(all);

			memset(text, 'x', all);
			memcpy(text, start, strlen(start));
			memcpy(text + all - 4, tail, 4);
			(void)feed(&a, text, all, step);
			EQUAL(a.state, all > GA_NET_ASK_MAX ? GA_NET_ASK_CLOSE : GA_NET_ASK_TARGET);
			if (all > GA_NET_ASK_MAX)
				assert_memory_equal(a.out.ptr, "HTTP/1.1 431", 12);
		}
	for (int named = 0; named < 2; named++) {
		cleanup_(ga_net_ask_release) struct ga_net_ask a = GA_NET_ASK_INIT;
		BUF(b);

		ga_buf_add(&b, "\4\1\0\1\0\0\0\1", 8);
		if (named)
			ga_buf_addch(&b, 0);
		for (int i = 0; i < 300; i++)
			ga_buf_addch(&b, 'a');
		assert_true(feed(&a, b.ptr, b.len, 1) < b.len);
		EQUAL(a.state, GA_NET_ASK_CLOSE);
	}
}

TEST_MAIN(NULL, NULL)
