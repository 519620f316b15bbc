/* SPDX-License-Identifier: MIT
 *
 * Parse and match one word of `network.allow`.
 */
#include "net/netplan-internal.h"

#include <arpa/inet.h>
#include <string.h>

#include "ga/base/quote.h"
#include "ga/net/netplan.h"

/* Hosts as text, parsed strictly: a rule must match the host that is connected to, however the
 * agent spells it. */

#define LABEL_MAX 63 /* RFC 1035, 2.3.4 */

static const unsigned char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

struct ga_net_addr ga_net_addr_make(bool ip6, const void *bytes)
{
	struct ga_net_addr a = { 0 };

	a.ip6 = ip6 && memcmp(bytes, mapped, sizeof(mapped)) != 0;
	if (a.ip6)
		memcpy(a.b, bytes, 16);
	else
		memcpy(a.b, (const unsigned char *)bytes + (ip6 ? sizeof(mapped) : 0), 4);
	return a;
}

bool ga_net_addr_same(const struct ga_net_addr *a, const struct ga_net_addr *b)
{
	return a->ip6 == b->ip6 && !memcmp(a->b, b->b, sizeof(a->b));
}

char *ga_net_addr_text(const struct ga_net_addr *a)
{
	char text[INET6_ADDRSTRLEN];

	if (!inet_ntop(a->ip6 ? AF_INET6 : AF_INET, a->b, text, sizeof(text)))
		GA_BUG("an address without a text");
	return ga_strdup(text);
}

char *ga_net_host_text(const struct ga_net_host *h, uint16_t port)
{
	cleanup_free char *addr = *h->name ? NULL : ga_net_addr_text(&h->addr);
	bool brackets = addr && h->addr.ip6;

	return ga_strf("%s%s%s:%u", brackets ? "[" : "", addr ? addr : h->name,
		       brackets ? "]" : "", (unsigned)port);
}

/* inet_pton() accepts only four decimal numbers without leading zeros, and no zones. */
static bool parse_addr(const char *s, size_t n, bool ip6, struct ga_net_host *ret)
{
	struct ga_net_host h = { 0 };
	unsigned char bytes[16];
	char text[INET6_ADDRSTRLEN];

	if (n >= sizeof(text) || memchr(s, 0, n))
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	if (inet_pton(ip6 ? AF_INET6 : AF_INET, text, bytes) != 1)
		return false;
	h.addr = ga_net_addr_make(ip6, bytes);
	*ret = h;
	return true;
}

/* Would some parser read a name with this last label as an address? "1", "0x7f", "0x". */
static bool is_number(const char *s)
{
	size_t n = strlen(s);

	if (s[0] == '0' && s[1] == 'x')
		return strspn(s + 2, "0123456789abcdef") == n - 2;
	return strspn(s, "0123456789") == n;
}

static bool label_ok(const char *s, size_t n)
{
	return n && n <= LABEL_MAX && s[0] != '-' && s[n - 1] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") >= n;
}

static bool parse_name(const char *s, size_t n, struct ga_net_host *ret)
{
	struct ga_net_host h = { 0 };
	const char *label = h.name;

	if (n && s[n - 1] == '.')
		n--;
	if (!n || n > GA_NET_NAME_MAX || memchr(s, 0, n))
		return false;
	for (size_t i = 0; i < n; i++)
		h.name[i] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] - 'A' + 'a') : s[i];
	for (;;) {
		size_t len = strcspn(label, ".");

		if (!label_ok(label, len))
			return false;
		if (!label[len])
			break;
		label += len + 1;
	}
	if (is_number(label))
		return false;
	*ret = h;
	return true;
}

bool ga_net_host_parse(const char *s, size_t n, struct ga_net_host *ret)
{
	if (n >= 2 && s[0] == '[' && s[n - 1] == ']')
		return parse_addr(s + 1, n - 2, true, ret);
	if (n && memchr(s, ':', n))
		return parse_addr(s, n, true, ret);
	return parse_addr(s, n, false, ret) || parse_name(s, n, ret);
}

/* Classes of addresses. The owner of a name decides what it resolves to, so addresses of this
 * machine and its networks are distinguished from others. */

/* The first match counts. */
static const struct {
	const char *net;
	unsigned bits;
	enum net_class class;
} nets[] = {
	{ "0.0.0.0", 8, NET_MACHINE },
	{ "127.0.0.0", 8, NET_MACHINE },
	{ "169.254.0.0", 16, NET_SPECIAL },     /* link-local; 169.254.169.254: metadata */
	{ "100.100.100.200", 32, NET_SPECIAL }, /* metadata: Alibaba */
	{ "168.63.129.16", 32, NET_SPECIAL },   /* metadata: Azure */
	{ "192.0.0.192", 32, NET_SPECIAL },     /* metadata: Oracle */
	{ "10.0.0.0", 8, NET_PRIVATE },         /* RFC 1918 */
	{ "172.16.0.0", 12, NET_PRIVATE },
	{ "192.168.0.0", 16, NET_PRIVATE },
	{ "100.64.0.0", 10, NET_PRIVATE },      /* RFC 6598 */
	{ "192.0.0.0", 24, NET_PRIVATE },       /* RFC 6890 */
	{ "198.18.0.0", 15, NET_PRIVATE },      /* RFC 2544 */
	{ "224.0.0.0", 3, NET_SPECIAL },        /* multicast, reserved, broadcast */
	{ "::", 128, NET_MACHINE },
	{ "::1", 128, NET_MACHINE },
	{ "fe80::", 10, NET_SPECIAL },          /* link-local */
	{ "fd00:ec2::", 32, NET_SPECIAL },      /* metadata and credentials: Amazon */
	{ "fd20:ce::254", 128, NET_SPECIAL },   /* metadata: Google */
	{ "fd00:c1::a9fe:a9fe", 128, NET_SPECIAL }, /* metadata: Oracle */
	{ "fd00:42::42", 128, NET_SPECIAL },    /* metadata: Scaleway */
	{ "fd00:a9fe:a9fe::1", 128, NET_SPECIAL },  /* metadata: Akamai */
	{ "fd00:100::100:200", 128, NET_SPECIAL },  /* metadata: Alibaba */
	{ "ff00::", 8, NET_SPECIAL },           /* multicast */
	{ "fc00::", 7, NET_PRIVATE },           /* RFC 4193 */
	{ "fec0::", 10, NET_PRIVATE },          /* RFC 3879 */
	{ "64:ff9b:1::", 48, NET_PRIVATE },     /* RFC 8215 */
	{ "2001::", 32, NET_PRIVATE },          /* Teredo (RFC 4380) */
};

/* IPv6 addresses that embed an IPv4 one, to which a gateway or the kernel may send the packets. */
static const struct {
	const char *net;
	unsigned bits;
	size_t at;
} embeds[] = {
	{ "::ffff:0:0:0", 96, 12 }, /* translated (RFC 2765) */
	{ "::", 96, 12 },           /* compatible (RFC 4291) */
	{ "64:ff9b::", 96, 12 },    /* NAT64 (RFC 6052) */
	{ "64:ff9b:1::", 48, 12 },  /* the same within a network, if the IPv4 address comes last */
	{ "2002::", 16, 2 },        /* 6to4 (RFC 3056) */
};

struct ga_net_addr net_addr(const char *text)
{
	struct ga_net_host h;

	if (!ga_net_host_parse(text, strlen(text), &h) || *h.name)
		GA_BUG("no address");
	return h.addr;
}

static bool within(const unsigned char *a, const unsigned char *net, unsigned bits)
{
	unsigned rest = bits % 8;

	return !memcmp(a, net, bits / 8) &&
	       (!rest || !((a[bits / 8] ^ net[bits / 8]) >> (8 - rest)));
}

bool net_addr_within(const struct ga_net_addr *a, const struct ga_net_addr *net, unsigned bits)
{
	return a->ip6 == net->ip6 && within(a->b, net->b, bits);
}

static enum net_class plain_class(const struct ga_net_addr *a)
{
	for (size_t i = 0; i < GA_NELEMS(nets); i++) {
		struct ga_net_addr net = net_addr(nets[i].net);

		if (net.ip6 == a->ip6 && within(a->b, net.b, nets[i].bits))
			return nets[i].class;
	}
	return NET_ORDINARY;
}

enum net_class net_addr_class(const struct ga_net_addr *a)
{
	enum net_class worst = plain_class(a);

	for (size_t i = 0; a->ip6 && i < GA_NELEMS(embeds); i++) {
		struct ga_net_addr inner = { 0 };
		struct ga_net_addr net = net_addr(embeds[i].net);
		enum net_class c;

		if (!within(a->b, net.b, embeds[i].bits))
			continue;
		memcpy(inner.b, a->b + embeds[i].at, 4);
		c = plain_class(&inner);
		if (c > worst)
			worst = c;
	}
	return worst;
}

bool net_addr_is_localhost(const struct ga_net_addr *a)
{
	struct ga_net_addr v4 = net_addr("127.0.0.1"), v6 = net_addr("::1");

	return ga_net_addr_same(a, &v4) || ga_net_addr_same(a, &v6);
}

bool net_port_parse(const char *s, size_t n, uint16_t *ret)
{
	unsigned v = 0;

	if (!n || n > 5 || s[0] == '0')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (unsigned)(s[i] - '0');
	}
	if (v > UINT16_MAX)
		return false;
	*ret = (uint16_t)v;
	return true;
}

bool net_name_below(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m + 1 && name[n - m - 1] == '.' && !strcmp(name + n - m, suffix);
}

static bool parse_ports(const char *s, struct ga_net_rule *r)
{
	const char *dash = strchr(s, '-');
	size_t n = dash ? (size_t)(dash - s) : strlen(s);

	if (!net_port_parse(s, n, &r->first))
		return false;
	r->last = r->first;
	return !dash || (net_port_parse(dash + 1, strlen(dash + 1), &r->last) &&
			 r->last >= r->first);
}

/* Why an address is refused; NULL: it is valid. Metadata services and the like may be listed
 * explicitly. */
static const char *judge_literal(const struct ga_net_addr *a)
{
	struct ga_net_addr broadcast = net_addr("255.255.255.255"), none = net_addr("::");

	if (a->ip6 ? a->b[0] == 0xff : (a->b[0] & 0xf0) == 0xe0)
		return "that is an address of many";
	if (ga_net_addr_same(a, &broadcast) || ga_net_addr_same(a, &none) || (!a->ip6 && !a->b[0]))
		return "that address cannot be connected to; this machine is localhost";
	if (a->ip6 && a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80)
		return "a link-local address says nothing without its interface";
	return NULL;
}

/* Why the host is refused; NULL: it is valid. */
static const char *parse_host(const char *s, size_t n, struct ga_net_rule *r)
{
	bool wild = n > 2 && s[0] == '*' && s[1] == '.';

	if (n && memchr(s, ':', n) && s[0] != '[')
		return "an IPv6 address is written in brackets: [::1]:5432";
	if (memchr(s + (wild ? 2 : 0), '*', n - (wild ? 2 : 0)))
		return "'*' matches the first labels of a name only: *.example.org:443";
	if (!ga_net_host_parse(s + (wild ? 2 : 0), n - (wild ? 2 : 0), &r->host))
		return "that is no host name or address";
	if (strchr(r->host.name, '_'))
		return "a host name has letters, digits and hyphens";
	if (wild && (!*r->host.name || !strchr(r->host.name, '.')))
		return "'*.' goes before a name of two labels or more: *.example.org:443";
	if (net_name_below(r->host.name, "localhost"))
		return "names below localhost are the sandbox's own; list localhost";
	r->kind = wild ? GA_NET_WILDCARD
		  : !strcmp(r->host.name, "localhost") ? GA_NET_LOCALHOST
		  : *r->host.name ? GA_NET_NAMED : GA_NET_LITERAL;
	return r->kind == GA_NET_LITERAL ? judge_literal(&r->host.addr) : NULL;
}

int ga_net_rule_parse(const char *word, struct ga_net_rule *ret, struct ga_error *err)
{
	const char *bracket = word[0] == '[' ? strchr(word, ']') : NULL;
	const char *colon = strrchr(bracket ? bracket : word, ':');
	const char *why = NULL;
	struct ga_net_rule r = { 0 };

	if (!colon || (bracket && colon != bracket + 1))
		why = "a port is missing: example.org:443";
	else if (!parse_ports(colon + 1, &r))
		why = "a port is a number from 1 to 65535, or two with '-' between them";
	else
		why = parse_host(word, (size_t)(colon - word), &r);
	if (!why && r.kind != GA_NET_WILDCARD && r.last - r.first >= GA_NET_PORTS_MAX)
		why = "these are too many ports for one host; 256 can be listed at once";
	if (why)
		return ga_fail(err, GA_EUSAGE, "cannot allow '%s': %s"
			       GA_HINT "a rule is " GA_NET_RULE_TAKES, word, why);
	*ret = r;
	return 0;
}

bool ga_net_rule_ok(const char *word)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_net_rule r;

	return !ga_net_rule_parse(word, &r, &err);
}

char *ga_net_rule_text(const struct ga_net_rule *r)
{
	cleanup_free char *one = ga_net_host_text(&r->host, r->first);
	const char *star = r->kind == GA_NET_WILDCARD ? "*." : "";

	if (r->last == r->first)
		return ga_strf("%s%s", star, one);
	return ga_strf("%s%s-%u", star, one, (unsigned)r->last);
}

bool ga_net_rule_match(const struct ga_net_rule *r, const struct ga_net_host *h, uint16_t port)
{
	if (port < r->first || port > r->last)
		return false;
	if (r->kind == GA_NET_WILDCARD)
		return net_name_below(h->name, r->host.name);
	if (r->kind == GA_NET_LITERAL)
		return !*h->name && ga_net_addr_same(&r->host.addr, &h->addr);
	if (r->kind == GA_NET_LOCALHOST && !*h->name)
		return net_addr_is_localhost(&h->addr);
	return !strcmp(r->host.name, h->name);
}

bool net_rule_leads_to(const struct ga_net_rule *r, const struct ga_net_addr *a, uint16_t port)
{
	struct ga_net_host h = { .addr = *a };
	enum net_class class = net_addr_class(a);

	if (port < r->first || port > r->last)
		return false;
	if (r->kind == GA_NET_NAMED)
		return class == NET_ORDINARY || class == NET_PRIVATE;
	if (r->kind == GA_NET_WILDCARD)
		return class == NET_ORDINARY;
	return ga_net_rule_match(r, &h, port);
}
