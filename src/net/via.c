/* SPDX-License-Identifier: MIT
 *
 * The host's HTTP proxy: the relay finds it in the environment as curl does, and connects through
 * it by HTTP CONNECT (RFC 9110).
 */
#include <stdlib.h>
#include <string.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/sys/process.h"
#include "netplan-internal.h"
#include "relay-internal.h"

#define PORT_USUAL 1080 /* curl's, where none is given */
#define ANSWER_MAX 16384

/* Find "host:port" or "[host]:port" in `n` bytes; `*port` stays without one. */
static bool parse_place(const char *s, size_t n, struct ga_net_host *host, uint16_t *port)
{
	const char *colon = memrchr(s, ':', n), *bracket = memchr(s, ']', n);
	size_t len = colon && (!bracket || colon > bracket) ? (size_t)(colon - s) : n;
	cleanup_free char *digits = len < n ? ga_strndup(colon + 1, n - len - 1) : NULL;
	uint64_t number = 0;

	if (digits && (!ga_parse_u64(digits, UINT16_MAX, &number) || !number))
		return false;
	if (digits)
		*port = (uint16_t)number;
	return ga_net_host_parse(s, len, host);
}

/* "%41" -> "A". */
static void decode(const char *s, size_t n, struct ga_buf *ret)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	for (size_t i = 0; i < n; i++) {
		const char *high = i + 2 < n && s[i] == '%' ? strchr(digits, s[i + 1]) : NULL;
		const char *low = high ? strchr(digits, s[i + 2]) : NULL;
		char c = s[i];

		if (low) {
			c = (char)((high - digits) % 16 * 16 + (low - digits) % 16);
			i += 2;
		}
		ga_buf_addch(ret, c);
	}
}

/* `[http://][user[:password]@]host[:port][/]`. Returns false for any other kind of proxy. */
static bool parse(const char *url, struct net_via *ret)
{
	static const char scheme[] = "http://";
	bool has = !strncasecmp(url, scheme, sizeof(scheme) - 1);
	const char *s = has ? url + sizeof(scheme) - 1 : url, *at;
	size_t n = strcspn(s, "/?#");
	cleanup_buf struct ga_buf user = GA_BUF_INIT;

	/* an '@' or '/' in a password is written in hexadecimal */
	at = memrchr(s, '@', n);
	ret->port = PORT_USUAL;
	if ((!has && strstr(url, "://")) ||
	    !parse_place(at ? at + 1 : s, at ? n - (size_t)(at + 1 - s) : n, &ret->host,
			 &ret->port))
		return false;
	if (!strcmp(ret->host.name, "localhost"))
		ret->host = (struct ga_net_host){ .addr = net_addr("127.0.0.1") };
	if (at) {
		decode(s, (size_t)(at - s), &user);
		ret->login = ga_base64(user.ptr, user.len);
	}
	return true;
}

void net_via_find(const char *const *env, struct net_via *ret)
{
	static const char *const names[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
					     "http_proxy", "HTTP_PROXY" };
	const char *no = ga_environ_get(env, "no_proxy");

	for (size_t i = 0; i < GA_NELEMS(names) && !ret->variable; i++) {
		const char *url = ga_environ_get(env, names[i]);

		if (!url || !*url)
			continue;
		ret->variable = names[i];
		ret->used = parse(url, ret);
	}
	no = no ? no : ga_environ_get(env, "NO_PROXY");
	ret->no = ga_strdup(no ? no : "");
}

void net_via_release(struct net_via *v)
{
	free(v->login);
	free(v->no);
	*v = (struct net_via){ 0 };
}

/* Is `name` this one, or below it? */
static bool is_below(const char *name, const char *domain, size_t n)
{
	size_t len = strlen(name);

	return n && len >= n && !strncasecmp(name + len - n, domain, n) &&
	       (len == n || name[len - n - 1] == '.');
}

/* Does a word of no_proxy, "example.org", ".example.org", "*.example.org", "192.0.2.1" or
 * "192.0.2.0/24", cover the host? */
static bool covers(const char *word, size_t n, const struct ga_net_host *h)
{
	const char *slash = memchr(word, '/', n);
	struct ga_net_host net;
	uint64_t bits = 0;

	if (n == 1 && *word == '*')
		return true;
	if (*h->name) {
		size_t skip = strspn(word, "*.");

		return skip < n && is_below(h->name, word + skip, n - skip);
	}
	if (slash) {
		cleanup_free char *text = ga_strndup(slash + 1, n - (size_t)(slash + 1 - word));

		if (!ga_parse_u64(text, 128, &bits))
			return false;
		n = (size_t)(slash - word);
	}
	if (!ga_net_host_parse(word, n, &net) || *net.name || net.addr.ip6 != h->addr.ip6 ||
	    bits > (net.addr.ip6 ? 128 : 32))
		return false;
	return net_addr_within(&h->addr, &net.addr,
			       slash ? (unsigned)bits : net.addr.ip6 ? 128 : 32);
}

bool net_via_for(const struct net_via *v, const struct ga_net_host *h)
{
	if (!v->used || (!*h->name && net_addr_class(&h->addr) == NET_MACHINE))
		return false;
	for (const char *p = v->no + strspn(v->no, ", \t"); *p; p += strspn(p, ", \t")) {
		size_t n = strcspn(p, ", \t");

		if (covers(p, n, h))
			return false;
		p += n;
	}
	return true;
}

bool net_via_is(const struct net_via *v, const struct ga_net_host *h, uint16_t port)
{
	if (!v->used || port != v->port || !*h->name != !*v->host.name)
		return false;
	return *h->name ? !strcmp(h->name, v->host.name)
			: ga_net_addr_same(&h->addr, &v->host.addr) ||
			  (net_addr_is_localhost(&h->addr) && net_addr_is_localhost(&v->host.addr));
}

bool net_via_ask(const struct net_via *v, int fd, const char *to)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_addf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", to, to);
	if (v->login)
		ga_buf_addf(&b, "Proxy-Authorization: Basic %s\r\n", v->login);
	ga_buf_adds(&b, "\r\n");
	/* it is the first that is sent, and short */
	return send(fd, b.ptr, b.len, MSG_NOSIGNAL) == (ssize_t)b.len;
}

int net_via_answer(struct ga_buf *b)
{
	const char *end = memmem(b->ptr, b->len, "\r\n\r\n", 4);
	size_t n;

	if (!end)
		return b->len < ANSWER_MAX ? 0 : -1;
	if (b->len < 12 || strncmp(b->ptr, "HTTP/1.", 7) != 0 || b->ptr[8] != ' ' ||
	    b->ptr[9] != '2')
		return -1;
	n = (size_t)(end + 4 - b->ptr);
	memmove(b->ptr, b->ptr + n, b->len - n);
	ga_buf_truncate(b, b->len - n);
	return 1;
}
