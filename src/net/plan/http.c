/* SPDX-License-Identifier: MIT
 *
 * The HTTP side of the proxy (RFC 9110, 9112). A header has only one accepted reading: lines end in
 * CR LF, nothing is folded, a request line has three words. Everything else is refused, because the
 * next reader might read it differently.
 */
#include "net/netplan-internal.h"

#include <string.h>
#include <strings.h>

static const char end_of_header[] = "\r\n\r\n";
static const char token_chars[] = "!#$%&'*+-.^_`|~0123456789"
				  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Fields about this connection rather than the request, which are not passed on. */
static const char *const own_fields[] = {
	"host", "connection", "keep-alive", "te", "upgrade", "http2-settings",
};

/* A piece of the header. */
struct piece {
	const char *p;
	size_t n;
};

/* Append a whole response, after which the connection is closed. */
static void refuse(struct ga_net_ask *a, const char *status, const char *text)
{
	ga_buf_addf(&a->out, "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		    "Connection: close\r\n\r\n%s\n", status, strlen(text) + 1, text);
	ga_buf_clear(&a->early);
	a->state = GA_NET_ASK_CLOSE;
}

static void refuse_bad(struct ga_net_ask *a, const char *text)
{
	refuse(a, "400 Bad Request", text);
}

static void too_long(struct ga_net_ask *a)
{
	refuse(a, "431 Request Header Fields Too Large", "the header is too long");
}

/* Find where the header ends; 0 if it is not complete. What was searched is not searched again:
 * `step` records how far. Returns false if there is a byte that is invalid in a header. */
static bool find_end(struct ga_net_ask *a, size_t *ret)
{
	const char *p = a->in.ptr;
	size_t n = a->in.len < GA_NET_ASK_MAX ? a->in.len : GA_NET_ASK_MAX;

	*ret = 0;
	for (size_t i = a->step; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c == '\n' ? !i || p[i - 1] != '\r' : i && p[i - 1] == '\r')
			return false;
		if ((c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
			return false;
		if (i >= 3 && !memcmp(p + i - 3, end_of_header, 4)) {
			*ret = i + 1;
			return true;
		}
	}
	a->step = (unsigned)n;
	return true;
}

/* The next line before `end`; false after the last. */
static bool next_line(const char **at, const char *end, struct piece *ret)
{
	const char *cr;

	if (*at >= end)
		return false;
	cr = memchr(*at, '\r', (size_t)(end - *at));
	if (!cr || cr == *at)
		return false;
	*ret = (struct piece){ *at, (size_t)(cr - *at) };
	*at = cr + 2;
	return true;
}

/* The next word, up to a blank, which is skipped; false if there is no blank, or nothing before
 * it. */
static bool next_word(struct piece *line, struct piece *ret)
{
	const char *blank = memchr(line->p, ' ', line->n);

	if (!blank || blank == line->p)
		return false;
	*ret = (struct piece){ line->p, (size_t)(blank - line->p) };
	line->n -= ret->n + 1;
	line->p = blank + 1;
	return true;
}

static bool is_token(const struct piece *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->p[i] || !strchr(token_chars, w->p[i]))
			return false;
	return w->n > 0;
}

static bool is_text(const struct piece *w, const char *text)
{
	return w->n == strlen(text) && !memcmp(w->p, text, w->n);
}

/* The name of "name: value"; it must not be followed by a blank. */
static bool field_name(const struct piece *line, struct piece *ret)
{
	const char *colon = memchr(line->p, ':', line->n);

	if (!colon)
		return false;
	*ret = (struct piece){ line->p, (size_t)(colon - line->p) };
	return is_token(ret);
}

static bool is_own_field(const struct piece *name)
{
	if (name->n >= 6 && !strncasecmp(name->p, "proxy-", 6))
		return true;
	for (size_t i = 0; i < GA_NELEMS(own_fields); i++)
		if (name->n == strlen(own_fields[i]) &&
		    !strncasecmp(name->p, own_fields[i], name->n))
			return true;
	return false;
}

/* Parse host:port; the port is required if `port`, the default, is 0. No user is allowed. */
static bool read_authority(const char *s, size_t n, uint16_t port, struct ga_net_ask *a)
{
	const char *bracket = n && s[0] == '[' ? memchr(s, ']', n) : NULL;
	const char *from = bracket ? bracket + 1 : s;
	const char *colon = memchr(from, ':', n - (size_t)(from - s));
	size_t host = colon ? (size_t)(colon - s) : n;

	if (n && s[0] == '[' && (!bracket || bracket != s + host - 1))
		return false;
	if (!colon && !port)
		return false;
	a->port = port;
	return (!colon || net_port_parse(colon + 1, n - host - 1, &a->port)) &&
	       ga_net_host_parse(s, host, &a->host);
}

/* Parse "http://host[:port][/path][?query]"; `*ret` is what follows the host. */
static bool read_url(const struct piece *url, struct ga_net_ask *a, struct piece *ret)
{
	static const char scheme[] = "http://";
	size_t skip = strlen(scheme), host = skip;

	if (url->n < skip || strncasecmp(url->p, scheme, skip) != 0 ||
	    memchr(url->p, '#', url->n))
		return false;
	while (host < url->n && url->p[host] != '/' && url->p[host] != '?')
		host++;
	*ret = (struct piece){ url->p + host, url->n - host };
	return read_authority(url->p + skip, host - skip, 80, a);
}

/* Rewrite the request into the form for the target's server. False if a line of it is no field. */
static bool rewrite(struct ga_net_ask *a, const struct piece *method, const struct piece *path,
		    const struct piece *version, const char *at, const char *end)
{
	cleanup_free char *host = ga_net_host_text(&a->host, a->port);
	struct ga_buf *b = &a->early;
	struct piece line, name;

	if (a->port == 80)
		host[strlen(host) - 3] = 0;
	ga_buf_add(b, method->p, method->n);
	ga_buf_adds(b, path->n && path->p[0] == '/' ? " " : " /");
	ga_buf_add(b, path->p, path->n);
	ga_buf_addch(b, ' ');
	ga_buf_add(b, version->p, version->n);
	ga_buf_addf(b, "\r\nHost: %s\r\n", host);
	while (next_line(&at, end, &line)) {
		if (!field_name(&line, &name))
			return false;
		if (is_own_field(&name))
			continue;
		ga_buf_add(b, line.p, line.n);
		ga_buf_adds(b, "\r\n");
	}
	ga_buf_adds(b, "Connection: close\r\n\r\n");
	return true;
}

static bool fields_ok(const char *at, const char *end)
{
	struct piece line, name;

	while (next_line(&at, end, &line))
		if (!field_name(&line, &name))
			return false;
	return true;
}

/* What is wrong with the request in the first `n` bytes; NULL: nothing. */
static const char *read_request(struct ga_net_ask *a, size_t n)
{
	const char *at = a->in.ptr, *end = a->in.ptr + n;
	struct piece line, method, target, path = { "", 0 };

	if (!next_line(&at, end, &line) || !next_word(&line, &method) || !is_token(&method) ||
	    !next_word(&line, &target) ||
	    !(is_text(&line, "HTTP/1.1") || is_text(&line, "HTTP/1.0")))
		return "this proxy reads HTTP/1.1 and SOCKS requests only";
	a->plain = !is_text(&method, "CONNECT");
	if (!fields_ok(at, end))
		return "a line of the header is no field";
	if (!a->plain)
		return read_authority(target.p, target.n, 0, a) ?
			NULL : "CONNECT takes host:port";
	if (!read_url(&target, a, &path))
		return "this proxy takes CONNECT host:port, and http:// URLs for other methods";
	if (!rewrite(a, &method, &path, &line, at, end))
		return "a line of the header is no field";
	return NULL;
}

void net_http_feed(struct ga_net_ask *a)
{
	const char *why;
	size_t end;

	if (!find_end(a, &end)) {
		refuse_bad(a, "a byte of the header has no place there");
		return;
	}
	if (!end) {
		if (a->in.len >= GA_NET_ASK_MAX)
			too_long(a);
		return;
	}
	why = read_request(a, end);
	if (why) {
		refuse_bad(a, why);
		return;
	}
	ga_buf_add(&a->early, a->in.ptr + end, a->in.len - end);
	ga_buf_clear(&a->in);
	a->state = GA_NET_ASK_TARGET;
}

void net_http_answer(struct ga_net_ask *a, enum ga_net_outcome how)
{
	static const struct {
		const char *status, *why;
	} failed[] = {
		[GA_NET_REFUSED] = { "403 Not Allowed By git-agent",
				     "this session may not reach it. To allow it, its user lists "
				     "it in network.allow" },
		[GA_NET_NO_NAME] = { "502 Unknown Host", "the host has no such name" },
		[GA_NET_UNREACHABLE] = { "502 Unreachable", "nobody answers there" },
		[GA_NET_TIMEOUT] = { "504 Timeout", "it did not answer in time" },
	};
	cleanup_free char *target = ga_net_host_text(&a->host, a->port), *text = NULL;

	if (how == GA_NET_CONNECTED) {
		if (!a->plain)
			ga_buf_adds(&a->out, "HTTP/1.1 200 Connection established\r\n\r\n");
		return;
	}
	text = ga_strf("git-agent: cannot connect to %s: %s", target, failed[how].why);
	refuse(a, failed[how].status, text);
}
