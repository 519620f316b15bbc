/* SPDX-License-Identifier: MIT
 *
 * A client of the proxy: the first byte says in what pieces it sends the rest. However it is cut, the
 * same target comes out, and the same bytes for it; and what goes to a server names that one.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/net/netplan.h"

static size_t feed(struct ga_net_ask *a, const uint8_t *p, size_t n, size_t step)
{
	size_t at = 0;

	while (at < n && a->state == GA_NET_ASK_MORE) {
		size_t some = n - at < step ? n - at : step;
		cleanup_free char *exact = fuzz_exact(p + at, some);

		(void)ga_net_ask_feed(a, exact, some);
		at += some;
		CHECK(a->in.len <= GA_NET_ASK_MAX + step);
		CHECK(a->out.len < 1024);
	}
	return at;
}

/* One host line, which is the target's; one connection. */
static void check_plain(const struct ga_net_ask *a)
{
	cleanup_free char *text = ga_strndup(a->early.ptr, a->early.len);
	cleanup_free char *host = ga_net_host_text(&a->host, a->port), *line = NULL;
	const char *first = strstr(text, "\r\nHost: "), *end = strstr(text, "\r\n\r\n");

	CHECK(first && end && first < end);
	if (a->port == 80)
		host[strlen(host) - 3] = 0;
	line = ga_strf("\r\nHost: %s\r\n", host);
	CHECK(!strncmp(first, line, strlen(line)));
	first = strcasestr(first + 2, "\r\nhost:");
	CHECK(!first || first > end);
	CHECK(strstr(text, "\r\nConnection: close\r\n\r\n") == end - strlen("\r\nConnection: close"));
}

static void check_target(const struct ga_net_ask *a)
{
	cleanup_free char *text = ga_net_host_text(&a->host, a->port);
	struct ga_net_host h;

	CHECK(a->port);
	*strrchr(text, ':') = 0;
	CHECK(ga_net_host_parse(text, strlen(text), &h));
	CHECK(!strcmp(h.name, a->host.name) && ga_net_addr_same(&h.addr, &a->host.addr));
	if (a->plain)
		check_plain(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_(ga_net_ask_release) struct ga_net_ask a = GA_NET_ASK_INIT, b = GA_NET_ASK_INIT;
	struct fuzz_in in = { data, n };
	size_t step = fuzz_byte(&in) + 1, used = feed(&a, in.p, in.n, step);
	enum ga_net_outcome how = (enum ga_net_outcome)(step % 5);

	(void)feed(&b, in.p, in.n, in.n);
	CHECK(a.state == b.state);
	if (a.state != GA_NET_ASK_TARGET)
		return 0;
	check_target(&a);
	ga_buf_add(&a.early, in.p + used, in.n - used);
	CHECK(a.port == b.port && !strcmp(a.host.name, b.host.name));
	CHECK(ga_net_addr_same(&a.host.addr, &b.host.addr));
	CHECK(a.early.len == b.early.len && !memcmp(a.early.ptr, b.early.ptr, a.early.len));
	CHECK(ga_net_ask_answer(&a, how) == (how == GA_NET_CONNECTED ? GA_NET_ASK_RELAY : GA_NET_ASK_CLOSE));
	CHECK(a.out.len < 1024);
	return 0;
}
