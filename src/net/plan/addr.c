/* SPDX-License-Identifier: MIT
 *
 * Where addresses lead. The owner of a name decides what it resolves to, so addresses close to this
 * machine are told apart from others.
 */
#include "net/netplan-internal.h"

#include <string.h>

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
