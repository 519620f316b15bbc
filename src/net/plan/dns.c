/* SPDX-License-Identifier: MIT
 *
 * The name server of a sandbox (RFC 1035; 6891 for EDNS). It answers from the plan alone, so no
 * query leaves the machine. A reply is built from scratch: only the id, two flags and the question
 * are taken from the query.
 */
#include "net/netplan-internal.h"

#include <string.h>

enum {
	HEADER = 12,
	QNAME_MAX = 255, /* bytes of a whole name in a message (RFC 1035, 2.3.4) */
	OWN_PAYLOAD = 1232,
	TTL = 60,
};
enum rcode { NOERROR = 0, FORMERR = 1, NXDOMAIN = 3, NOTIMP = 4, REFUSED = 5, BADVERS = 16 };
enum type { TYPE_A = 1, TYPE_AAAA = 28, TYPE_OPT = 41, TYPE_ANY = 255, CLASS_IN = 1 };
enum flag { QR = 0x8000, OPCODE = 0x7800, AA = 0x0400, TC = 0x0200, RD = 0x0100, RA = 0x0080,
	    CD = 0x0010 };

struct query {
	const unsigned char *p;
	size_t n, pos;
	unsigned flags;
	size_t question;     /* bytes of the question, from HEADER on; 0: do not repeat it */
	unsigned type, class;
	bool edns;
	unsigned version;    /* EDNS version */
};

static unsigned u16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static void put16(struct ga_net_dns_reply *r, unsigned v)
{
	r->b[r->n++] = (unsigned char)(v >> 8);
	r->b[r->n++] = (unsigned char)v;
}

static void put(struct ga_net_dns_reply *r, const void *p, size_t n)
{
	if (n > sizeof(r->b) - r->n)
		GA_BUG("a reply too long");
	memcpy(r->b + r->n, p, n);
	r->n += n;
}

static void add_label(const unsigned char *p, size_t n, char **to)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = p[i];

		if (c >= 'A' && c <= 'Z')
			c = (unsigned char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') {
			*(*to)++ = (char)c;
			continue;
		}
		*(*to)++ = '\\';
		*(*to)++ = (char)('0' + c / 100);
		*(*to)++ = (char)('0' + c / 10 % 10);
		*(*to)++ = (char)('0' + c % 10);
	}
}

/* Read the name of a question: nothing precedes it, so it contains no pointer. */
static bool read_qname(struct query *q, char *to)
{
	size_t start = q->pos;

	for (;;) {
		size_t len;

		if (q->pos >= q->n)
			return false;
		len = q->p[q->pos++];
		if (!len)
			break;
		if (len > 63 || len > q->n - q->pos || q->pos + len - start >= QNAME_MAX)
			return false;
		if (q->pos - 1 > start)
			*to++ = '.';
		add_label(q->p + q->pos, len, &to);
		q->pos += len;
	}
	*to = 0;
	return true;
}

/* Skip the name of a record, which a pointer may end; where that leads does not matter. */
static bool skip_name(struct query *q)
{
	size_t start = q->pos;

	while (q->pos < q->n && q->pos - start < QNAME_MAX) {
		size_t len = q->p[q->pos++];

		if (!len)
			return true;
		if ((len & 0xc0) == 0xc0)
			return q->pos++ < q->n;
		if (len > 63 || len > q->n - q->pos)
			return false;
		q->pos += len;
	}
	return false;
}

static bool read_record(struct query *q, bool additional)
{
	size_t start = q->pos, len;
	const unsigned char *fixed;

	if (!skip_name(q) || q->n - q->pos < 10)
		return false;
	fixed = q->p + q->pos;
	len = u16(fixed + 8);
	if (len > q->n - q->pos - 10)
		return false;
	q->pos += 10 + len;
	if (u16(fixed) != TYPE_OPT)
		return true;
	/* at most one, in the additional section, for the root */
	if (!additional || q->edns || q->p[start])
		return false;
	q->edns = true;
	q->version = fixed[5];
	return true;
}

/* The error code to answer with if the query cannot be processed. */
static enum rcode read_query(struct query *q, char *name)
{
	unsigned before, records;

	q->flags = u16(q->p + 2);
	if (q->flags & OPCODE)
		return NOTIMP;
	if (u16(q->p + 4) != 1 || (q->flags & TC))
		return FORMERR;
	q->pos = HEADER;
	if (!read_qname(q, name) || q->n - q->pos < 4)
		return FORMERR;
	q->type = u16(q->p + q->pos);
	q->class = u16(q->p + q->pos + 2);
	q->pos += 4;
	q->question = q->pos - HEADER;
	before = u16(q->p + 6) + u16(q->p + 8);
	records = before + u16(q->p + 10);
	for (unsigned i = 0; i < records; i++)
		if (!read_record(q, i >= before))
			return FORMERR;
	if (q->pos != q->n)
		return FORMERR;
	if (q->edns && q->version)
		return BADVERS;
	return q->class == CLASS_IN ? NOERROR : REFUSED;
}

static bool is_or_below(const char *name, const char *suffix)
{
	return !strcmp(name, suffix) || net_name_below(name, suffix);
}

static const struct ga_net_name *find(const struct ga_net_plan *p, const char *name,
				      struct ga_net_name *localhost)
{
	if (is_or_below(name, "localhost")) {
		localhost->ip4 = net_addr("127.0.0.1");
		localhost->ip6 = net_addr("::1");
		return localhost;
	}
	return net_find_name(p, name);
}

static enum ga_net_dns judge_unknown(const struct ga_net_plan *p, const char *name)
{
	if (!*name || is_or_below(name, "in-addr.arpa") || is_or_below(name, "ip6.arpa"))
		return GA_NET_DNS_QUIET;
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == GA_NET_WILDCARD &&
		    net_name_below(name, p->rules[i].host.name))
			return GA_NET_DNS_BY_PROXY;
	return GA_NET_DNS_REFUSED;
}

static void put_header(const struct query *q, enum rcode code, unsigned answers,
		       struct ga_net_dns_reply *r)
{
	put(r, q->p, 2);
	/* AA and RA: without them a resolver takes an empty answer for a referral and asks on */
	put16(r, QR | AA | RA | (q->flags & (OPCODE | RD | CD)) | ((unsigned)code & 15));
	put16(r, q->question ? 1 : 0);
	put16(r, answers);
	put16(r, 0);
	put16(r, q->edns ? 1 : 0);
	put(r, q->p + HEADER, q->question);
}

static void put_address(const struct ga_net_addr *a, struct ga_net_dns_reply *r)
{
	put16(r, 0xc000 | HEADER); /* a pointer to the name of the question */
	put16(r, a->ip6 ? TYPE_AAAA : TYPE_A);
	put16(r, CLASS_IN);
	put16(r, 0);
	put16(r, TTL);
	put16(r, a->ip6 ? 16 : 4);
	put(r, a->b, a->ip6 ? 16 : 4);
}

static void put_opt(enum rcode code, struct ga_net_dns_reply *r)
{
	put(r, "", 1);
	put16(r, TYPE_OPT);
	put16(r, OWN_PAYLOAD);
	put16(r, ((unsigned)code >> 4) << 8);
	put16(r, 0);
	put16(r, 0);
}

static void reply(const struct query *q, enum rcode code, const struct ga_net_addr *addrs[2],
		  struct ga_net_dns_reply *r)
{
	unsigned answers = (addrs[0] ? 1U : 0) + (addrs[1] ? 1U : 0);

	put_header(q, code, answers, r);
	for (int i = 0; i < 2; i++)
		if (addrs[i])
			put_address(addrs[i], r);
	if (q->edns)
		put_opt(code, r);
}

void ga_net_dns_answer(const struct ga_net_plan *p, const void *query, size_t n,
		       struct ga_net_dns_reply *ret)
{
	struct query q = { .p = query, .n = n };
	const struct ga_net_addr *addrs[2] = { NULL, NULL };
	const struct ga_net_name *known;
	struct ga_net_name localhost = { 0 };
	enum rcode code;

	*ret = (struct ga_net_dns_reply){ .verdict = GA_NET_DNS_MALFORMED };
	/* send nothing in reply to what is no message or is itself a reply: two servers could
	 * continue for ever */
	if (n < HEADER || n > GA_NET_DNS_QUERY_MAX || (u16(q.p + 2) & QR))
		return;
	code = read_query(&q, ret->name);
	if (code != NOERROR) {
		*ret->name = 0;
		reply(&q, code, addrs, ret);
		return;
	}
	ret->type = (uint16_t)q.type;
	known = find(p, ret->name, &localhost);
	if (!known) {
		ret->verdict = judge_unknown(p, ret->name);
		/* the root exists */
		reply(&q, *ret->name ? NXDOMAIN : NOERROR, addrs, ret);
		return;
	}
	ret->verdict = known->refused ? GA_NET_DNS_REFUSED : GA_NET_DNS_ANSWERED;
	if (q.type == TYPE_A || q.type == TYPE_ANY)
		addrs[0] = &known->ip4;
	if (p->ip6 && (q.type == TYPE_AAAA || q.type == TYPE_ANY))
		addrs[1] = &known->ip6;
	reply(&q, NOERROR, addrs, ret);
}

int ga_net_dns_frame(const void *p, size_t n, size_t *ret_off, size_t *ret_n)
{
	size_t len;

	if (n < 2)
		return 0;
	len = u16(p);
	if (!len || len > GA_NET_DNS_QUERY_MAX)
		return -1;
	if (len > n - 2)
		return 0;
	*ret_off = 2;
	*ret_n = len;
	return 1;
}
