/* SPDX-License-Identifier: MIT
 *
 * A message to the name server of a sandbox. The reply is bounded, has the id and the question of
 * the query and nothing else of it, and addresses for listed names only. The same bytes are read
 * as a stream of messages.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/net/netplan.h"

enum { HEADER = 12 };

static void make_plan(struct ga_net_plan *p)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_strv struct ga_strv allow = GA_STRV_INIT;
	struct ga_net_options o = { .ip6 = true };

	ga_strv_push_many(&allow, "a.b:1", "*.c.d:1", NULL);
	CHECK(!ga_net_plan_make(&allow, &o, p, &err));
}

static void check_name(const char *name)
{
	size_t n = strlen(name);

	CHECK(n <= 4 * 250 + 3);
	CHECK(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.\\") == n);
}

static void check_reply(const uint8_t *data, size_t n, const struct ga_net_dns_reply *r)
{
	size_t question = 0;
	unsigned rcode;

	if (!r->n) {
		CHECK(r->verdict == GA_NET_DNS_MALFORMED);
		return;
	}
	CHECK(n >= HEADER && r->n >= HEADER && r->n <= GA_NET_DNS_REPLY_MAX);
	CHECK(!memcmp(r->b, data, 2) && (r->b[2] & 0x80) && !(data[2] & 0x80));
	rcode = r->b[3] & 15;
	/* an answer, for what is listed only */
	if (r->b[7])
		CHECK(r->verdict == GA_NET_DNS_ANSWERED && (!strcmp(r->name, "a.b") || strstr(r->name, "localhost")));
	if (r->verdict == GA_NET_DNS_REFUSED || r->verdict == GA_NET_DNS_BY_PROXY)
		CHECK(rcode == 3 && *r->name);
	if (r->verdict == GA_NET_DNS_ANSWERED)
		CHECK(rcode == 0);
	if (!r->b[5])
		return;
	while (data[HEADER + question])
		question += 1U + data[HEADER + question];
	question += 5;
	CHECK(question <= 259 && HEADER + question <= r->n);
	CHECK(!memcmp(r->b + HEADER, data + HEADER, question));
	CHECK(r->n <= HEADER + question + 16 + 28 + 11);
}

static void check_frames(const uint8_t *data, size_t n)
{
	size_t off, len;

	while (ga_net_dns_frame(data, n, &off, &len) == 1) {
		CHECK(off == 2 && len && len <= GA_NET_DNS_QUERY_MAX && off + len <= n);
		data += off + len;
		n -= off + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_net_plan struct ga_net_plan p = GA_NET_PLAN_INIT;
	struct ga_net_dns_reply r;
	cleanup_free char *exact = fuzz_exact(data, n);

	make_plan(&p);
	ga_net_dns_answer(&p, exact, n, &r);
	check_name(r.name);
	check_reply(data, n, &r);
	check_frames(data, n);
	return 0;
}
