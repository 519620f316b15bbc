/* SPDX-License-Identifier: MIT
 *
 * The meaning of `network: allow`, as values: rules, the plan of a sandbox's network made from
 * them, and the three protocols spoken inside (DNS, HTTP proxy, SOCKS). Nothing here opens a
 * socket, reads a file or asks a resolver; the owner of the sockets passes bytes in and sends bytes
 * out.
 *
 * The sandbox has a network namespace whose only interface is lo, where every address is local
 * (`local 0.0.0.0/0 dev lo`, `local ::/0 dev lo`). So a connection to an address without a listener
 * is refused at once, and listeners can have any address: that of a listed literal, 127.0.0.1 and
 * ::1 for localhost, and one of our own for each listed name. A connection to such a listener is
 * connected, from the host's side, to what its rule names; only then is the name resolved there,
 * once.
 *
 * Everything that comes out of the sandbox is hostile: each parser is bounded, takes its input in
 * pieces of any size, and gives the same answer however the input is cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"

#define GA_NET_NAME_MAX 253       /* bytes of a host name as text, without a last dot (RFC 1035) */
#define GA_NET_RULES_MAX 256      /* rules of one sandbox */
#define GA_NET_PORTS_MAX 256      /* ports of one rule that needs a listener for each port */
#define GA_NET_LISTENERS_MAX 1024 /* listeners of one sandbox, each a descriptor */

/* ---- hosts and rules ---- */

/* An IPv4 or IPv6 address in network byte order. An IPv4-mapped one (::ffff:a.b.c.d) is always
 * stored as IPv4. */
struct ga_net_addr {
	bool ip6;
	unsigned char b[16]; /* IPv4: the first four; the others are zero */
};
/* From 4 bytes or, with `ip6`, 16 bytes in network order, as in a socket address or a message. */
struct ga_net_addr ga_net_addr_make(bool ip6, const void *bytes);
bool ga_net_addr_same(const struct ga_net_addr *a, const struct ga_net_addr *b);
/* "192.0.2.1", "2001:db8::1" (RFC 5952). The caller frees it. */
char *ga_net_addr_text(const struct ga_net_addr *a);

/* A host: a name in lower case without a dot at its end, or, with "" for a name, an address. */
struct ga_net_host {
	char name[GA_NET_NAME_MAX + 1];
	struct ga_net_addr addr;
};
/* Parse `n` bytes of text: a name of letters, digits, hyphens and (not in rules) underscores, in
 * labels of 1 to 63 bytes, optionally with a final dot; or an address, IPv6 with or without
 * brackets. Strict about addresses, because others read more into them: IPv4 is four decimal
 * numbers without leading zeros, and a name whose last label is a number in any notation ("127.1",
 * "0x7f000001") is refused. So are IPv6 zones. Returns false, with *ret untouched, for anything
 * else. */
bool ga_net_host_parse(const char *s, size_t n, struct ga_net_host *ret);
/* "host:port", with an IPv6 address in brackets: the rule that would allow it. The caller frees
 * it. */
char *ga_net_host_text(const struct ga_net_host *h, uint16_t port);

enum ga_net_kind {
	GA_NET_NAMED,     /* host.name: exactly this host */
	GA_NET_WILDCARD,  /* host.name: any host with at least one label before ".<name>" */
	GA_NET_LITERAL,   /* host.addr */
	GA_NET_LOCALHOST, /* host.name "localhost": the host's 127.0.0.1 and ::1 */
};
struct ga_net_rule {
	enum ga_net_kind kind;
	struct ga_net_host host;
	uint16_t first, last; /* ports, 1 ... 65535, both included */
};
/* What ga_net_rule_ok() accepts, for messages. */
#define GA_NET_RULE_TAKES \
	"host:port or host:port-port; host is a name, *.name, an IPv4 address or an [IPv6] address"
/* Parse one word of `network.allow`. A name is taken as it appears in a query (for IDNA: its xn--
 * form). Refused, besides malformed words: wildcards other than `*` as the whole first label before
 * at least two more; addresses that cannot be connected to (unspecified, multicast, broadcast, IPv6
 * link-local); more than GA_NET_PORTS_MAX ports (except for wildcards); names below "localhost".
 * Fails with GA_EUSAGE. */
int ga_net_rule_parse(const char *word, struct ga_net_rule *ret, struct ga_error *err);
bool ga_net_rule_ok(const char *word);
/* The shortest text that parses to the same rule. The caller frees it. */
char *ga_net_rule_text(const struct ga_net_rule *r);
/* Does the rule cover this host and port? localhost also covers 127.0.0.1 and ::1; a wildcard
 * covers no address. */
bool ga_net_rule_match(const struct ga_net_rule *r, const struct ga_net_host *h, uint16_t port);

/* ---- the plan ---- */

/* Addresses of our own services inside. DNS: UDP and TCP. The proxy speaks HTTP and SOCKS on one
 * port. */
#define GA_NET_SERVICE_ADDRESS "127.0.0.53"
#define GA_NET_DNS_PORT 53
#define GA_NET_PROXY_PORT 3128

enum ga_net_for { GA_NET_FOR_RULE, GA_NET_FOR_PROXY, GA_NET_FOR_DNS };
struct ga_net_listener {
	struct ga_net_addr addr;
	uint16_t port;
	enum ga_net_for what; /* GA_NET_FOR_DNS wants a datagram and a stream socket */
	/* for GA_NET_FOR_RULE: the index of the rule, whose host is what to connect to, at
	 * `port` */
	size_t rule;
};

/* A name and the addresses it has inside. */
struct ga_net_name {
	char *name;
	struct ga_net_addr ip4, ip6;
	bool refused; /* not listed, but was looked up: without a listener */
};

struct ga_net_plan {
	struct ga_net_rule *rules; /* in the order they were listed */
	size_t n_rules;
	bool ip6;
	struct ga_net_name *names; /* each once, without localhost; the listed ones first */
	size_t n_names, max_names;
	struct ga_net_listener *listeners; /* no two with the same address and port */
	size_t n_listeners;
	/* To be added to lo besides 127.0.0.1 and ::1: with AI_ADDRCONFIG, getaddrinfo() skips a
	 * family that has no other address (glibc, check_pf.c). */
	struct ga_net_addr own4, own6; /* /32 and /128 */
	char *hosts;        /* text of /etc/hosts */
	char *resolv;       /* text of /etc/resolv.conf */
	struct ga_strv env; /* NAME=value: the proxy variables, or nothing */
	size_t next4, next6; /* private */
};
#define GA_NET_PLAN_INIT { 0 }
void ga_net_plan_release(struct ga_net_plan *p);
#define cleanup_net_plan cleanup_(ga_net_plan_release)

struct ga_net_options {
	bool ip6;             /* the kernel has IPv6 (a socket of AF_INET6 can be made) */
	const char *hostname; /* the sandbox's own name, for /etc/hosts; may be NULL */
	bool nothing;         /* nothing will be allowed: names that are not listed do not exist */
};
/* Make a plan from the words of `network.allow`. Without words nothing is reachable, and there is
 * no proxy. The same words and options give the same plan. Names get addresses from 127.64.0.0/10
 * and fd67:6974:6167::, in the order of their first rule, skipping any that is listed itself. The
 * listeners of DNS and of the proxy, if there is one, come first. Fails (GA_EUSAGE, naming the
 * word) if a word does not parse or would need the address and port of our own services, or if
 * there are too many. The plan owns all it holds; do not move it in memory while it is in use. */
int ga_net_plan_make(const struct ga_strv *allow, const struct ga_net_options *o,
		     struct ga_net_plan *ret, struct ga_error *err);
/* The index of the first rule that covers this host and port, or -1. */
ssize_t ga_net_plan_match(const struct ga_net_plan *p, const struct ga_net_host *h, uint16_t port);

/* The host that an address inside stands for: localhost, a name, or the address itself. */
void ga_net_plan_host(const struct ga_net_plan *p, const struct ga_net_addr *a,
		      struct ga_net_host *ret);

/* Give an unlisted name that was looked up an address without a listener: a connection is refused
 * at once, and its name and port can be reported. No pointer into the plan moves. Returns false if
 * it is no valid name, is a service's (begins with '_'), if the plan is for `nothing`, or if there
 * are GA_NET_ASKED_NAMES already. */
#define GA_NET_ASKED_NAMES 4096
bool ga_net_plan_add_name(struct ga_net_plan *p, const char *name);

/* May a connection for `rule` go to this address, to which its name was resolved? The owner of a
 * name decides where it leads, so a listed name must not open what is not listed:
 *   literal    only to itself;
 *   localhost  only to 127.0.0.1 and ::1;
 *   any name   not to this machine (127/8, ::1, 0/8), link-local addresses, the metadata
 *              services of clouds, multicast and broadcast, also when embedded in IPv6 (mapped,
 *              NAT64, 6to4);
 *   wildcard   nor to a private network (RFC 1918, 6598, 4193): its owner chooses names as well;
 * unless a rule lists that very address (for this machine: or localhost) and port. The other
 * addresses of this machine are not known here; the caller checks for them. Ask this for each
 * address before connecting to it, and connect to that very address. */
bool ga_net_addr_allowed(const struct ga_net_plan *p, size_t rule, const struct ga_net_addr *a,
			 uint16_t port);

/* The text of /etc/nsswitch.conf with hosts looked up in files and DNS only, all else as in `text`
 * (the host's; "" if there is none). The caller frees it. */
char *ga_net_nsswitch(const char *text);

/* ---- DNS ---- */

#define GA_NET_DNS_QUERY_MAX 4096 /* longer queries are malformed */
#define GA_NET_DNS_REPLY_MAX 512  /* a reply is never longer, so never truncated (RFC 1035) */

enum ga_net_dns {
	GA_NET_DNS_ANSWERED,  /* listed, or localhost: its address, or no record if there is none of
			       * the type */
	GA_NET_DNS_REFUSED,   /* not listed: an address where nobody listens if the name has one
			       * (ga_net_plan_add_name()), else NXDOMAIN */
	GA_NET_DNS_BY_PROXY,  /* not listed, but covered by a wildcard: NXDOMAIN; the proxy can
			       * reach it */
	GA_NET_DNS_QUIET,     /* NXDOMAIN, and not worth reporting: reverse look-ups, the root */
	GA_NET_DNS_MALFORMED, /* an error code (FORMERR, NOTIMP, REFUSED, BADVERS), or no reply */
};
struct ga_net_dns_reply {
	enum ga_net_dns verdict;
	uint16_t type; /* the type that was asked for: 1 is A, 28 AAAA */
	/* The name that was asked for (not for GA_NET_DNS_MALFORMED), in lower case and without a
	 * final dot; bytes other than letters, digits, '-', '_' and the '.' between labels as \DDD
	 * (RFC 4343). */
	char name[4 * GA_NET_NAME_MAX + 5];
	size_t n; /* 0: send nothing */
	unsigned char b[GA_NET_DNS_REPLY_MAX];
};
/* Answer one message. Names compare without case, and the reply repeats the question as it was
 * written (0x20). */
void ga_net_dns_answer(const struct ga_net_plan *p, const void *query, size_t n,
		       struct ga_net_dns_reply *ret);

/* DNS over TCP has a length of two bytes before each message (RFC 1035, 4.2.2). Is there a whole
 * message at the start of these bytes? Returns 1: *ret_off and *ret_n locate it, and the next
 * begins at their sum; 0: not yet; -1: it is empty or longer than GA_NET_DNS_QUERY_MAX, so
 * close. */
int ga_net_dns_frame(const void *p, size_t n, size_t *ret_off, size_t *ret_n);

/* ---- the proxy ---- */

#define GA_NET_ASK_MAX 32768 /* bytes that a client may send in all before it is connected */

enum ga_net_ask_state {
	GA_NET_ASK_MORE,   /* read on; `out` may hold something to send first */
	GA_NET_ASK_TARGET, /* `host` and `port` are the target; call ga_net_ask_answer() */
	GA_NET_ASK_CLOSE,  /* send `out`, then close: malformed or refused */
	GA_NET_ASK_RELAY,  /* connected and answered: send `out` to the client and `early` to the
			    * target, then relay both ways */
};
enum ga_net_ask_kind { GA_NET_ASK_UNKNOWN, GA_NET_ASK_HTTP, GA_NET_ASK_SOCKS5, GA_NET_ASK_SOCKS4 };
/* One client of the proxy, from its first byte until it is connected or refused:
 *   HTTP       CONNECT host:port; and any other method of an http:// URL, whose request is passed
 *              on with the URL's host as its Host, without the headers meant for the proxy, and
 *              with `Connection: close`: further requests of the client would go to the same
 *              target, so they can reach nothing else;
 *   SOCKS5     no authentication; CONNECT; IPv4, IPv6 and names (RFC 1928);
 *   SOCKS4(a)  CONNECT.
 * The caller sends `out` to the client whenever it holds something, and empties it. */
struct ga_net_ask {
	enum ga_net_ask_state state;
	enum ga_net_ask_kind kind;
	struct ga_net_host host;
	uint16_t port;
	struct ga_buf out;   /* to send to the client now */
	struct ga_buf early; /* to send to the target first */
	/* Private */
	struct ga_buf in;
	unsigned step;
	bool plain;          /* HTTP without CONNECT */
};
#define GA_NET_ASK_INIT { .out = GA_BUF_INIT, .early = GA_BUF_INIT, .in = GA_BUF_INIT }
void ga_net_ask_release(struct ga_net_ask *a);
/* Feed more bytes from the client, in state MORE only. All are kept: what the client sent ahead of
 * time is in `early` at the end. Returns the new state. */
enum ga_net_ask_state ga_net_ask_feed(struct ga_net_ask *a, const void *p, size_t n);

enum ga_net_outcome {
	GA_NET_CONNECTED,
	GA_NET_REFUSED,     /* no rule covers it, or the address it resolves to */
	GA_NET_NO_NAME,     /* the name does not resolve */
	GA_NET_UNREACHABLE, /* connection refused, no route, ... */
	GA_NET_TIMEOUT,
};
/* Report the outcome of connecting, in state TARGET only. Fills `out`; the state becomes RELAY or
 * CLOSE and is returned. A refusal over HTTP names the target and the rule that would allow it. */
enum ga_net_ask_state ga_net_ask_answer(struct ga_net_ask *a, enum ga_net_outcome how);
