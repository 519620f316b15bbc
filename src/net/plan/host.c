/* SPDX-License-Identifier: MIT
 *
 * Hosts as text. Each has only one reading, the strictest: what a rule allows must be what is
 * connected to, however the agent spells it.
 */
#include "ga/net/netplan.h"

#include <arpa/inet.h>
#include <string.h>

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

/* Would some parser take a name with this last label for an address? "1", "0x7f", "0x". */
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
