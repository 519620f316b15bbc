/* SPDX-License-Identifier: MIT
 *
 * One word of `network.allow`.
 */
#include "net/netplan-internal.h"

#include <string.h>

#include "ga/base/quote.h"

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

/* What is wrong with an address; NULL: nothing. Metadata services and the like may be listed:
 * whoever does so means it. */
static const char *judge_literal(const struct ga_net_addr *a)
{
	struct ga_net_addr broadcast = net_addr("255.255.255.255"), none = net_addr("::");

	if (a->ip6 ? a->b[0] == 0xff : (a->b[0] & 0xf0) == 0xe0)
		return "that is an address of many";
	if (ga_net_addr_same(a, &broadcast) || ga_net_addr_same(a, &none) || (!a->ip6 && !a->b[0]))
		return "nobody can connect to that address; this machine is localhost";
	if (a->ip6 && a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80)
		return "a link-local address says nothing without its interface";
	return NULL;
}

/* What is wrong with the host before `n` bytes; NULL: nothing. */
static const char *parse_host(const char *s, size_t n, struct ga_net_rule *r)
{
	bool wild = n > 2 && s[0] == '*' && s[1] == '.';

	if (n && memchr(s, ':', n) && s[0] != '[')
		return "an IPv6 address stands in brackets: [::1]:5432";
	if (memchr(s + (wild ? 2 : 0), '*', n - (wild ? 2 : 0)))
		return "'*' stands for the first labels of a name only: *.example.org:443";
	if (!ga_net_host_parse(s + (wild ? 2 : 0), n - (wild ? 2 : 0), &r->host))
		return "that is no host name or address";
	if (strchr(r->host.name, '_'))
		return "a host name has letters, digits and hyphens";
	if (wild && (!*r->host.name || !strchr(r->host.name, '.')))
		return "'*.' stands before a name of two labels or more: *.example.org:443";
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
	if (why) {
		cleanup_free char *shown = ga_escape(word);

		(void)ga_fail(err, GA_EUSAGE, "cannot allow '%s': %s", shown, why);
		return ga_hint(err, "a rule is " GA_NET_RULE_TAKES);
	}
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
