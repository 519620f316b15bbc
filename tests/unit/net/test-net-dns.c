/* SPDX-License-Identifier: MIT
 *
 * The name server of a sandbox, message by message.
 */
#include "../test.h"

#include "ga/net/netplan.h"

enum { A = 1, NS = 2, PTR = 12, TXT = 16, AAAA = 28, HTTPS = 65, ANY = 255 };

static int setup(void **state)
{
	ERR(err);
	STRV(allow);
	struct ga_net_options o = { .ip6 = true };
	static struct ga_net_plan p;

	ga_strv_push_many(&allow, "api.example.org:443", "*.example.net:443", "localhost:1", "192.0.2.1:80", NULL);
	*state = &p;
	return ga_net_plan_make(&allow, &o, &p, &err);
}

static int teardown(void **state)
{
	ga_net_plan_release(*state);
	return 0;
}

static void put16(struct ga_buf *b, unsigned v)
{
	ga_buf_addch(b, (char)(v >> 8));
	ga_buf_addch(b, (char)v);
}

static void put_header(struct ga_buf *b, unsigned flags, unsigned qd, unsigned an, unsigned ns, unsigned ar)
{
	put16(b, 0x1234);
	put16(b, flags);
	put16(b, qd);
	put16(b, an);
	put16(b, ns);
	put16(b, ar);
}

/* "a.b" as labels, with the root behind them unless it ends in '!' */
static void put_name(struct ga_buf *b, const char *name)
{
	while (*name && *name != '!') {
		size_t n = strcspn(name, ".!");

		ga_buf_addch(b, (char)n);
		ga_buf_add(b, name, n);
		name += n + (name[n] == '.');
	}
	if (*name != '!')
		ga_buf_addch(b, 0);
}

static void put_question(struct ga_buf *b, const char *name, unsigned type)
{
	put_name(b, name);
	put16(b, type);
	put16(b, 1);
}

static void put_opt(struct ga_buf *b, unsigned version, unsigned data)
{
	ga_buf_addch(b, 0);
	put16(b, 41);
	put16(b, 4096);
	put16(b, version);
	put16(b, 0x8000);
	put16(b, data);
	for (unsigned i = 0; i < data; i++)
		ga_buf_addch(b, 'x');
}

static void ask(const struct ga_net_plan *p, const struct ga_buf *b, struct ga_net_dns_reply *r)
{
	/* exactly as long, so that reading beyond is seen */
	cleanup_free void *exact = ga_memdup(b->ptr, b->len);

	ga_net_dns_answer(p, exact, b->len, r);
}

static unsigned at16(const struct ga_net_dns_reply *r, size_t i)
{
	return (unsigned)r->b[i] << 8 | r->b[i + 1];
}

TEST(a_name_gets_its_answer_or_none)
{
	static const struct {
		const char *name;
		unsigned type, rcode;
		enum ga_net_dns verdict;
		const char *data; /* of the records, in hex */
		const char *shown; /* NULL: name in lower case */
	} cases[] = {
		{ "api.example.org", A, 0, GA_NET_DNS_ANSWERED, "7f400002", NULL },
		{ "aPi.eXample.ORG", A, 0, GA_NET_DNS_ANSWERED, "7f400002", "api.example.org" },
		{ "api.example.org", AAAA, 0, GA_NET_DNS_ANSWERED, "fd676974616700000000000000000002", NULL },
		{ "api.example.org", ANY, 0, GA_NET_DNS_ANSWERED, "7f400002fd676974616700000000000000000002", NULL },
		{ "api.example.org", TXT, 0, GA_NET_DNS_ANSWERED, "", NULL },
		{ "api.example.org", HTTPS, 0, GA_NET_DNS_ANSWERED, "", NULL },
		{ "localhost", A, 0, GA_NET_DNS_ANSWERED, "7f000001", NULL },
		{ "x.localhost", AAAA, 0, GA_NET_DNS_ANSWERED, "00000000000000000000000000000001", NULL },
		{ "example.org", A, 3, GA_NET_DNS_REFUSED, "", NULL },
		{ "b.api.example.org", A, 3, GA_NET_DNS_REFUSED, "", NULL },
		{ "secret.evil.example", TXT, 3, GA_NET_DNS_REFUSED, "", NULL },
		{ "a.b.Example.net", A, 3, GA_NET_DNS_BY_PROXY, "", "a.b.example.net" },
		{ "example.net", A, 3, GA_NET_DNS_REFUSED, "", NULL },
		{ "192.0.2.1", A, 3, GA_NET_DNS_REFUSED, "", NULL },
		{ "1.0.0.127.in-addr.arpa", PTR, 3, GA_NET_DNS_QUIET, "", NULL },
		{ "1.0.ip6.arpa", PTR, 3, GA_NET_DNS_QUIET, "", NULL },
		{ "", NS, 0, GA_NET_DNS_QUIET, "", NULL },
		{ "a\xff\n.b\\ c", A, 3, GA_NET_DNS_REFUSED, "", "a\\255\\010.b\\092\\032c" },
	};

	for_each (row, cases)
		for (int edns = 0; edns < 2; edns++) {
			BUF(q);
			BUF(data);
			struct ga_net_dns_reply r;
			size_t pos;

			put_header(&q, 0x0110, 1, 0, 0, edns ? 1 : 0);
			put_question(&q, row->name, row->type);
			pos = q.len;
			if (edns)
				put_opt(&q, 0, 7);
			ask(*state, &q, &r);
			if (r.verdict != row->verdict || r.type != row->type ||
			    strcmp(r.name, row->shown ? row->shown : row->name) != 0)
				fail_msg("%s: %d %s", row->name, (int)r.verdict, r.name);
			EQUAL(at16(&r, 0), 0x1234);
			EQUAL(at16(&r, 2), 0x8590 | row->rcode);
			EQUAL(at16(&r, 4), 1);
			EQUAL(at16(&r, 8), 0);
			EQUAL(at16(&r, 10), edns);
			/* the question as it was written */
			assert_memory_equal(r.b + 12, q.ptr + 12, pos - 12);
			for (unsigned k = 0; k < at16(&r, 6); k++) {
				EQUAL(at16(&r, pos), 0xc00c);
				for (unsigned b = 0; b < at16(&r, pos + 10); b++)
					ga_buf_addf(&data, "%02x", r.b[pos + 12 + b]);
				pos += 12 + at16(&r, pos + 10);
			}
			STREQ(data.ptr, row->data);
			if (edns) {
				EQUAL(r.b[pos], 0);
				EQUAL(at16(&r, pos + 1), 41);
				EQUAL(at16(&r, pos + 9), 0);
				pos += 11;
			}
			EQUAL(r.n, pos);
		}
}

/* What is no query, by the answer to it; -1: none. */
static void malformed_one(const struct ga_net_plan *p, const char *what, const struct ga_buf *q, int rcode)
{
	struct ga_net_dns_reply r;

	ask(p, q, &r);
	if (r.verdict != GA_NET_DNS_MALFORMED || *r.name || (rcode < 0) != !r.n ||
	    (rcode >= 0 && (r.b[3] & 15) != (rcode & 15)))
		fail_msg("%s: %d, %zu bytes, code %d", what, (int)r.verdict, r.n, r.b[3] & 15);
	if (r.n)
		assert_memory_equal(r.b, q->ptr, 2);
	assert_true(r.n <= GA_NET_DNS_REPLY_MAX);
}

TEST(a_malformed_message_gets_an_error_or_no_reply)
{
	static const struct {
		const char *what;
		unsigned flags, qd, an, ar;
		const char *rest;
		size_t n;
		int rcode;
	} cases[] = {
		{ "a reply", 0x8000, 1, 0, 0, "\1a\0\0\1\0\1", 7, -1 },
		{ "status", 0x1000, 1, 0, 0, "\1a\0\0\1\0\1", 7, 4 },
		{ "update", 0x2800, 1, 0, 0, "\1a\0\0\1\0\1", 7, 4 },
		{ "cut short", 0x0200, 1, 0, 0, "\1a\0\0\1\0\1", 7, 1 },
		{ "no question", 0, 0, 0, 0, "", 0, 1 },
		{ "two questions", 0, 2, 0, 0, "\1a\0\0\1\0\1\1a\0\0\1\0\1", 14, 1 },
		{ "65535 questions", 0, 65535, 0, 0, "\1a\0\0\1\0\1", 7, 1 },
		{ "none there", 0, 1, 0, 0, "", 0, 1 },
		{ "a name without end", 0, 1, 0, 0, "\1a", 2, 1 },
		{ "a label without end", 0, 1, 0, 0, "\5ab", 3, 1 },
		{ "no type", 0, 1, 0, 0, "\1a\0\0\1", 5, 1 },
		{ "a pointer to itself", 0, 1, 0, 0, "\xc0\x0c\0\1\0\1", 6, 1 },
		{ "a pointer to the header", 0, 1, 0, 0, "\xc0\x00\0\1\0\1", 6, 1 },
		{ "a pointer behind a label", 0, 1, 0, 0, "\1a\xc0\x0c\0\1\0\1", 8, 1 },
		{ "a label of 64", 0, 1, 0, 0, "\x40", 1, 1 },
		{ "an extended label", 0, 1, 0, 0, "\x41\1a\0\0\1\0\1", 8, 1 },
		{ "junk behind", 0, 1, 0, 0, "\1a\0\0\1\0\1x", 8, 1 },
		{ "an answer that is not there", 0, 1, 1, 0, "\1a\0\0\1\0\1", 7, 1 },
		{ "a record that is not there", 0, 1, 0, 65535, "\1a\0\0\1\0\1", 7, 1 },
		{ "a record that is cut", 0, 1, 0, 1, "\1a\0\0\1\0\1\0\0\1\0\1\0\0\0\0\0\5ab", 20, 1 },
		{ "options among the answers", 0, 1, 1, 0, "\1a\0\0\1\0\1\0\0\x29\4\0\0\0\0\0\0\0", 18, 1 },
		{ "options of a name", 0, 1, 0, 1, "\1a\0\0\1\0\1\1a\0\0\x29\4\0\0\0\0\0\0\0", 20, 1 },
		{ "options twice", 0, 1, 0, 2, "\1a\0\0\1\0\1\0\0\x29\4\0\0\0\0\0\0\0\0\0\x29\4\0\0\0\0\0\0\0", 29, 1 },
		{ "a version to come", 0, 1, 0, 1, "\1a\0\0\1\0\1\0\0\x29\4\0\0\1\0\0\0\0", 18, 16 },
		{ "chaos", 0, 1, 0, 0, "\1a\0\0\1\0\3", 7, 5 },
	};
	BUF(longest);

	for_each (row, cases) {
		BUF(q);

		put_header(&q, row->flags, row->qd, row->an, 0, row->ar);
		ga_buf_add(&q, row->rest, row->n);
		malformed_one(*state, row->what, &q, row->rcode);
	}
	put_header(&longest, 0, 1, 0, 0, 0);
	ga_buf_truncate(&longest, 11);
	malformed_one(*state, "11 bytes", &longest, -1);
	ga_buf_clear(&longest);
	malformed_one(*state, "nothing", &longest, -1);
	while (longest.len <= GA_NET_DNS_QUERY_MAX)
		ga_buf_addch(&longest, 0);
	malformed_one(*state, "too long a message", &longest, -1);
}

/* 255 bytes are a name, 256 are not; and whatever they are, the reply and the text hold them. */
TEST(a_name_has_255_bytes_at_most)
{
	for (size_t last = 61; last <= 62; last++)
		for (int c = 'a'; c <= 0xff; c += 0xff - 'a') {
			BUF(q);
			struct ga_net_dns_reply r;

			put_header(&q, 0, 1, 0, 0, 1);
			for (int i = 0; i < 4; i++) {
				size_t n = i < 3 ? 63 : last;

				ga_buf_addch(&q, (char)n);
				while (n--)
					ga_buf_addch(&q, (char)c);
			}
			ga_buf_add(&q, "\0\0\1\0\1", 5);
			put_opt(&q, 0, 0);
			if (last == 62) {
				malformed_one(*state, "256 bytes", &q, 1);
				continue;
			}
			ask(*state, &q, &r);
			EQUAL(r.verdict, GA_NET_DNS_REFUSED);
			EQUAL(strlen(r.name), c == 'a' ? 253 : 4 * 250 + 3);
			EQUAL(r.n, q.len);
		}
}

TEST(a_dot_within_a_label_makes_another_name)
{
	BUF(q);
	struct ga_net_dns_reply r;

	put_header(&q, 0, 1, 0, 0, 0);
	ga_buf_add(&q, "\xf" "api.example.org\0\0\1\0\1", 21);
	ask(*state, &q, &r);
	EQUAL(r.verdict, GA_NET_DNS_REFUSED);
	STREQ(r.name, "api\\046example\\046org");
	ga_buf_clear(&q);
	put_header(&q, 0, 1, 0, 0, 0);
	ga_buf_add(&q, "\x10" "api.example.org\0\0\0\1\0\1", 22);
	ask(*state, &q, &r);
	EQUAL(r.verdict, GA_NET_DNS_REFUSED);
}

TEST(without_ipv6_there_is_no_AAAA_record)
{
	struct ga_net_plan p = *(struct ga_net_plan *)*state;
	BUF(q);
	struct ga_net_dns_reply r;

	p.ip6 = false;
	put_header(&q, 0, 1, 0, 0, 0);
	put_question(&q, "api.example.org", AAAA);
	ask(&p, &q, &r);
	EQUAL(r.verdict, GA_NET_DNS_ANSWERED);
	EQUAL(at16(&r, 6), 0);
	EQUAL(r.b[3] & 15, 0);
}

TEST(messages_over_tcp_have_their_length_in_front)
{
	static const struct {
		const char *p;
		size_t n;
		int ret;
		size_t len;
	} cases[] = {
		{ "", 0, 0, 0 },
		{ "\0", 1, 0, 0 },
		{ "\0\0", 2, -1, 0 },
		{ "\0\1", 2, 0, 0 },
		{ "\0\1a", 3, 1, 1 },
		{ "\0\1a\0\2", 5, 1, 1 },
		{ "\x10\x00", 2, 0, 0 },
		{ "\x10\x01", 2, -1, 0 },
		{ "\xff\xff", 2, -1, 0 },
	};

	for_each (row, cases) {
		size_t off = 0, n = 0;

		EQUAL(ga_net_dns_frame(row->p, row->n, &off, &n), row->ret);
		EQUAL(n, row->len);
		EQUAL(off, row->ret == 1 ? 2 : 0);
	}
}

TEST_MAIN(setup, teardown)
