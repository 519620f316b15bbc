/* SPDX-License-Identifier: MIT
 *
 * The relay without a sandbox: what is told of what was refused, and of what the host listens on.
 */
#include "../test.h"

#include <signal.h>

#include "ga/net/net.h"
#include "ga/sys/fd.h"
#include "net/relay-internal.h"

static struct ga_net_dns_reply look_up(struct ga_relay *r, const char *name)
{
	BUF(q);
	struct ga_net_dns_reply reply;

	ga_buf_add(&q, "\1\2\1\0\0\1\0\0\0\0\0\0", 12);
	for (const char *p = name; *p; p += strspn(p, ".")) {
		size_t n = strcspn(p, ".");

		ga_buf_addch(&q, (char)n);
		ga_buf_add(&q, p, n);
		p += n;
	}
	ga_buf_add(&q, "\0\0\1\0\1", 5);
	net_dns(r, q.ptr, q.len, &reply);
	return reply;
}

static size_t uses_of(const struct ga_relay *r, enum ga_use_kind kind)
{
	size_t n, found = 0;
	uint64_t more;
	const struct ga_use *u = ga_relay_uses(r, &n, &more);

	for (size_t i = 0; i < n; i++)
		found += u[i].kind == kind;
	return found;
}

/* A name that is not listed has an address where nobody listens, so that the port is known when
 * somebody connects; but not any number of names, and they do not hide what is refused. */
TEST(refused_names_get_an_address_so_that_their_port_is_known)
{
	const struct ga_net_options po = { .ip6 = true };
	cleanup_net_plan struct ga_net_plan plan = GA_NET_PLAN_INIT;
	STRV(allow);
	struct ga_relay_opts o = { .plan = &plan, .socket_dir = -1 };
	cleanup_free char *text = NULL;
	struct ga_relay *r = NULL;
	struct ga_net_dns_reply reply;

	ga_strv_push_many(&allow, "listed.example.org:1", "*.wild.example.org:1", NULL);
	OK(ga_net_plan_make(&allow, &po, &plan, &err));
	OK(ga_relay_open(&o, &r, &err));
	reply = look_up(r, "listed.example.org");
	EQUAL(reply.verdict, GA_NET_DNS_ANSWERED);
	reply = look_up(r, "a.wild.example.org");
	EQUAL(reply.verdict, GA_NET_DNS_BY_PROXY);
	EQUAL(reply.b[3] & 15, 3);
	reply = look_up(r, "_service.example.org");
	EQUAL(reply.b[3] & 15, 3);
	EQUAL(plan.n_names, 1);

	reply = look_up(r, "Other.example.org");
	EQUAL(reply.verdict, GA_NET_DNS_REFUSED);
	EQUAL(reply.b[3] & 15, 0);
	EQUAL(reply.b[7], 1);
	EQUAL(plan.n_names, 2);
	assert_false(ga_net_addr_same(&plan.names[0].ip4, &plan.names[1].ip4));
	assert_memory_equal(reply.b + reply.n - 4, plan.names[1].ip4.b, 4);
	text = net_to_text(r, &plan.names[1].ip4, 443);
	STREQ(text, "other.example.org:443");
	assert_false(net_is_loopback(r, &plan.names[1].ip4));
	assert_true(ga_net_plan_match(r->plan, &(struct ga_net_host){ .name = "other.example.org" }, 1) < 0);

	for (int i = 1; i < GA_NET_ASKED_NAMES; i++) {
		cleanup_free char *name = ga_strf("%d.example.org", i);

		reply = look_up(r, name);
		EQUAL(reply.b[3] & 15, 0);
	}
	reply = look_up(r, "one-more.example.org");
	EQUAL(reply.verdict, GA_NET_DNS_REFUSED);
	EQUAL(reply.b[3] & 15, 3);
	EQUAL(plan.n_names, 1 + GA_NET_ASKED_NAMES);
	EQUAL(look_up(r, "listed.example.org").verdict, GA_NET_DNS_ANSWERED);
	EQUAL(uses_of(r, GA_USE_LOOKED_UP), GA_RELAY_USES_MAX / 4 - 1);
	EQUAL(uses_of(r, GA_USE_REFUSED), 1);
	for (int i = 0; i < GA_RELAY_USES_MAX; i++) {
		cleanup_free char *to = ga_strf("192.0.2.1:%d", i + 1);

		(void)net_use(&r->uses, GA_USE_REFUSED, to, 0);
	}
	EQUAL(uses_of(r, GA_USE_REFUSED), GA_RELAY_USES_MAX / 4 + 1);
	assert_true(net_use(&r->uses, GA_USE_ALLOWED, "192.0.2.1:1", 0) >= 0);
	ga_relay_close(r);
}

TEST(names_without_an_address_hide_no_refusal)
{
	const struct ga_net_options po = { .ip6 = true };
	cleanup_net_plan struct ga_net_plan plan = GA_NET_PLAN_INIT;
	STRV(allow);
	struct ga_relay_opts o = { .plan = &plan, .socket_dir = -1 };
	struct ga_relay *r = NULL;

	OK(ga_net_plan_make(&allow, &po, &plan, &err));
	OK(ga_relay_open(&o, &r, &err));
	for (int i = 0; i < GA_RELAY_USES_MAX; i++) {
		cleanup_free char *name = ga_strf("_%d.example.org", i);

		(void)look_up(r, name);
	}
	EQUAL(plan.n_names, 0);
	EQUAL(uses_of(r, GA_USE_REFUSED), GA_RELAY_USES_MAX / 4);
	assert_true(net_use(&r->uses, GA_USE_REFUSED, "192.0.2.1:443", 0) >= 0);
	ga_relay_close(r);
}

/* At the inside port of a published one nobody may listen yet, which is no refusal where the
 * session's own servers are; everywhere else it is one. */
TEST(a_published_port_that_nobody_serves_is_no_refusal)
{
	static const struct {
		const char *to;
		uint16_t port;
		bool udp, refusal;
	} cases[] = {
		{ "192.0.2.1", 3000, false, true },   { "192.0.2.1", 3000, true, true },
		{ "2001:db8::1", 3000, false, true }, { "192.0.2.1", 3001, false, true },
		{ "127.64.0.2", 3000, false, true },  { "127.0.0.1", 3000, false, false },
		{ "127.0.0.2", 3000, false, false },  { "::1", 3000, false, false },
		{ "127.0.0.1", 3001, true, false },
	};
	const struct ga_net_options po = { .ip6 = true };
	cleanup_net_plan struct ga_net_plan plan = GA_NET_PLAN_INIT;
	STRV(allow);
	STRV(publish);
	struct ga_relay_opts o = { .plan = &plan, .publish = &publish, .socket_dir = -1 };
	struct ga_relay *r = NULL;

	ga_strv_push(&publish, "auto:3000");
	OK(ga_net_plan_make(&allow, &po, &plan, &err));
	OK(ga_relay_open(&o, &r, &err));
	assert_true(ga_net_plan_add_name(&plan, "other.example.org"));
	for_each (row, cases) {
		struct net_refusal f = { .port = row->port, .udp = row->udp };
		struct ga_net_host h;

		assert_true(ga_net_host_parse(row->to, strlen(row->to), &h));
		f.addr = h.addr;
		if (net_is_refusal(r, &f) != row->refusal)
			fail_msg("%s:%u", row->to, row->port);
	}
	ga_relay_close(r);
}

TEST(refusals_are_read_from_packets_cut_anywhere)
{
	static const struct {
		const char *p;
		size_t n;
		bool ip6, udp;
		const char *to;
	} cases[] = {
		{ "\x45\0\0\x28\0\0\x40\0\x40\6\0\0\xc0\0\2\1\x7f\0\0\1"
		  "\1\xbb\x80\0\0\0\0\0\0\0\0\1\x50\x14", 34, false, false, "192.0.2.1:443" },
		{ "\x45\xc0\0\x38\0\0\0\0\x40\1\0\0\x08\x08\x08\x08\x7f\0\0\1\3\3\0\0\0\0\0\0"
		  "\x45\0\0\x1c\0\0\x40\0\x40\x11\0\0\x7f\0\0\1\x08\x08\x08\x08"
		  "\x80\0\0\x35", 52, false, true, "8.8.8.8:53" },
		{ "\x60\0\0\0\0\x14\6\x40\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
		  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50\x80\0\0\0\0\0\0\0\0\1\x50\x14",
		  54, true, false, "[2001:db8::1]:80" },
		{ "\x60\0\0\0\0\x38\x3a\x40\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
		  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\4\0\0\0\0\0\0"
		  "\x60\0\0\0\0\x08\x11\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
		  "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x80\0\0\x7b", 92, true, true,
		  "[2001:db8::1]:123" },
	};

	for_each (row, cases) {
		struct net_refusal f;
		cleanup_free char *text = NULL;

		assert_true(net_refusal_read(row->p, row->n, row->ip6, &f));
		text = ga_net_host_text(&(struct ga_net_host){ .addr = f.addr }, f.port);
		STREQ(text, row->to);
		EQUAL(f.udp, row->udp);
		for (size_t n = 0; n < row->n; n++) {
			cleanup_free char *part = ga_strndup(row->p, 0);

			part = ga_realloc(part, n + 1);
			memcpy(part, row->p, n);
			assert_false(net_refusal_read(part, n, row->ip6, &f));
		}
	}
}

/* ---- what the host listens on */

#define LINE(port, state) "   0: 0100007F:" port " 00000000:0000 " state " 00000000:00000000\n"

TEST(ports_of_the_host_are_read_up_to_a_bound)
{
	cleanup_free struct net_ports *p = ga_calloc(1, sizeof(*p));
	BUF(b);
	size_t listening;
	FILE *f;

	ga_buf_adds(&b, "  sl  local_address rem_address   st tx_queue rx_queue\n"
			LINE("1538", "0A") LINE("0016", "0A"));
	listening = b.len;
	for (int i = 0; i < 10000; i++)
		ga_buf_adds(&b, LINE("0050", "06"));
	f = fmemopen(b.ptr, b.len, "r");
	assert_non_null(f);
	net_ports_add(p, f);
	assert_true(p->bits[5432 / 8] & 1U << 5432 % 8);
	assert_true(p->bits[22 / 8] & 1U << 22 % 8);
	assert_false(p->bits[80 / 8] & 1U << 80 % 8);
	assert_in_range(ftell(f), listening, listening + strlen(LINE("0050", "06")));
	EQUAL(fclose(f), 0);

	ga_buf_truncate(&b, listening);
	for (int i = 0; i < 100000; i++)
		ga_buf_adds(&b, LINE("1538", "0A"));
	f = fmemopen(b.ptr, b.len, "r");
	assert_non_null(f);
	net_ports_add(p, f);
	assert_true((size_t)ftell(f) < b.len / 10);
	/* in doubt it does */
	assert_true(p->bits[80 / 8] & 1U << 80 % 8);
	EQUAL(fclose(f), 0);
}

/* That there is no IPv6 is one thing, that it cannot be read another: then every port may be one. */
TEST(a_table_that_cannot_be_read_means_every_port)
{
	static const char head[] = "  sl  local_address rem_address   st tx_queue rx_queue\n";
	char dir[] = "/tmp/test-net-refused-XXXXXX";
	cleanup_free struct net_ports *p = ga_calloc(1, sizeof(*p));
	cleanup_close int at = -1;

	assert_non_null(mkdtemp(dir));
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(at >= 0);
	net_ports_read(p, dir);
	assert_true(p->bits[80 / 8] & 1U << 80 % 8);

	OK(ga_write_new(at, "tcp", head, strlen(head), 0600, &err));
	net_ports_read(p, dir);
	assert_false(p->bits[80 / 8] & 1U << 80 % 8);
	/* what is there and cannot be opened, or not be read */
	EQUAL(symlinkat("tcp6", at, "tcp6"), 0);
	net_ports_read(p, dir);
	assert_true(p->bits[80 / 8] & 1U << 80 % 8);
	EQUAL(unlinkat(at, "tcp6", 0) | mkdirat(at, "tcp6", 0700), 0);
	net_ports_read(p, dir);
	assert_true(p->bits[80 / 8] & 1U << 80 % 8);

	EQUAL(unlinkat(at, "tcp6", AT_REMOVEDIR) | unlinkat(at, "tcp", 0), 0);
	EQUAL(rmdir(dir), 0);
}

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	return RUN_TESTS(NULL, NULL);
}
