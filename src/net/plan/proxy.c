/* SPDX-License-Identifier: MIT
 *
 * Protocols of the proxy: HTTP, SOCKS 4, 4a and 5.
 */
#include "net/netplan-internal.h"

#include <string.h>
#include <strings.h>

/* The HTTP side of the proxy (RFC 9110, 9112). A header is accepted in one form only: lines end in
 * CR LF, nothing is folded, a request line has three words. Other forms are refused, because
 * servers might parse them differently. */

static const char end_of_header[] = "\r\n\r\n";
static const char token_chars[] = "!#$%&'*+-.^_`|~0123456789"
				  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Fields about this connection rather than the request, which are not passed on. */
static const char *const own_fields[] = {
	"host", "connection", "keep-alive", "te", "upgrade", "http2-settings",
};

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

/* Why the request in the first `n` bytes is refused; NULL: it is valid. */
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

static void net_http_feed(struct ga_net_ask *a)
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

static void net_http_answer(struct ga_net_ask *a, enum ga_net_outcome how)
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

/* SOCKS 5 without authentication (RFC 1928), SOCKS 4 and 4a. The widths of the length fields limit
 * all messages to a few hundred bytes. */

enum { V5 = 5, V5_NO_AUTH = 0, V5_NO_METHOD = 0xff, CONNECT = 1, V4_FIELD_MAX = 255 };
enum { V5_IP4 = 1, V5_NAME = 3, V5_IP6 = 4 };
enum v5_code { V5_OK, V5_GENERAL, V5_NOT_ALLOWED, V5_NET, V5_HOST, V5_CONNREFUSED, V5_TTL,
	       V5_COMMAND, V5_ADDRESS };
enum v4_code { V4_OK = 0x5a, V4_REFUSED = 0x5b };
enum { STEP_METHODS, STEP_REQUEST }; /* values of `step` for SOCKS 5 */

static void take(struct ga_net_ask *a, size_t n)
{
	memmove(a->in.ptr, a->in.ptr + n, a->in.len - n);
	ga_buf_truncate(&a->in, a->in.len - n);
}

static void put_v5(struct ga_net_ask *a, enum v5_code code)
{
	const unsigned char b[10] = { V5, (unsigned char)code, 0, V5_IP4 };

	ga_buf_add(&a->out, b, sizeof(b));
}

static void refuse_v5(struct ga_net_ask *a, enum v5_code code)
{
	put_v5(a, code);
	a->state = GA_NET_ASK_CLOSE;
}

/* The request is complete in the first `n` bytes; what follows is for the target. */
static void have_target(struct ga_net_ask *a, size_t n)
{
	take(a, n);
	ga_buf_add(&a->early, a->in.ptr, a->in.len);
	ga_buf_clear(&a->in);
	a->state = GA_NET_ASK_TARGET;
}

/* Are all methods there? False also if the client was refused. */
static bool v5_methods(struct ga_net_ask *a)
{
	const unsigned char *p = (const unsigned char *)a->in.ptr;
	unsigned char answer[2] = { V5, V5_NO_AUTH };

	if (a->in.len < 2 || a->in.len < 2U + p[1])
		return false;
	if (!memchr(p + 2, V5_NO_AUTH, p[1])) {
		answer[1] = V5_NO_METHOD;
		a->state = GA_NET_ASK_CLOSE;
	}
	ga_buf_add(&a->out, answer, sizeof(answer));
	if (a->state == GA_NET_ASK_CLOSE)
		return false;
	take(a, 2U + p[1]);
	a->step = STEP_REQUEST;
	return true;
}

static void v5_request(struct ga_net_ask *a)
{
	const unsigned char *p = (const unsigned char *)a->in.ptr;
	size_t have = a->in.len, host = 4, n;

	if (have < 5)
		return;
	if (p[0] != V5 || p[2] != 0) {
		refuse_v5(a, V5_GENERAL);
		return;
	}
	if (p[1] != CONNECT) {
		refuse_v5(a, V5_COMMAND);
		return;
	}
	if (p[3] != V5_IP4 && p[3] != V5_NAME && p[3] != V5_IP6) {
		refuse_v5(a, V5_ADDRESS);
		return;
	}
	n = p[3] == V5_IP4 ? 4 : p[3] == V5_IP6 ? 16 : p[4];
	if (p[3] == V5_NAME)
		host++;
	if (have < host + n + 2)
		return;
	if (p[3] == V5_NAME && !ga_net_host_parse((const char *)p + host, n, &a->host)) {
		refuse_v5(a, V5_GENERAL);
		return;
	}
	if (p[3] != V5_NAME)
		a->host.addr = ga_net_addr_make(p[3] == V5_IP6, p + host);
	a->port = (uint16_t)(p[host + n] << 8 | p[host + n + 1]);
	if (!a->port)
		refuse_v5(a, V5_GENERAL);
	else
		have_target(a, host + n + 2);
}

static void net_socks5_feed(struct ga_net_ask *a)
{
	if (a->step == STEP_REQUEST || v5_methods(a))
		v5_request(a);
}

static void net_socks5_answer(struct ga_net_ask *a, enum ga_net_outcome how)
{
	static const enum v5_code codes[] = {
		[GA_NET_CONNECTED] = V5_OK, [GA_NET_REFUSED] = V5_NOT_ALLOWED,
		[GA_NET_NO_NAME] = V5_HOST, [GA_NET_UNREACHABLE] = V5_CONNREFUSED,
		[GA_NET_TIMEOUT] = V5_TTL,
	};

	put_v5(a, codes[how]);
}

static void put_v4(struct ga_net_ask *a, enum v4_code code)
{
	const unsigned char b[8] = { 0, (unsigned char)code };

	ga_buf_add(&a->out, b, sizeof(b));
}

static void refuse_v4(struct ga_net_ask *a)
{
	put_v4(a, V4_REFUSED);
	a->state = GA_NET_ASK_CLOSE;
}

/* The number of bytes from `at` up to and including the NUL; 0 if it is not there yet, -1 if it is
 * too far away. */
static ssize_t v4_field(const struct ga_net_ask *a, size_t at)
{
	size_t have = a->in.len - at, most = V4_FIELD_MAX + 1;
	const char *end = memchr(a->in.ptr + at, 0, have < most ? have : most);

	if (end)
		return end - (a->in.ptr + at) + 1;
	return have < most ? 0 : -1;
}

/* Steps of ga_net_ask_feed(); each looks at all of `in`. */
static void net_socks4_feed(struct ga_net_ask *a)
{
	static const unsigned char zero[3] = { 0 };
	const unsigned char *p = (const unsigned char *)a->in.ptr;
	size_t end = 8;
	ssize_t n;
	bool named;

	if (a->in.len < end)
		return;
	a->port = (uint16_t)(p[2] << 8 | p[3]);
	named = !memcmp(p + 4, zero, sizeof(zero)) && p[7];
	n = v4_field(a, end); /* the user's name, which is ignored */
	if (p[1] != CONNECT || !a->port || n < 0) {
		refuse_v4(a);
		return;
	}
	if (!n)
		return;
	end += (size_t)n;
	if (!named) {
		a->host.addr = ga_net_addr_make(false, p + 4);
		have_target(a, end);
		return;
	}
	n = v4_field(a, end);
	if (!n)
		return;
	if (n < 0 || !ga_net_host_parse(a->in.ptr + end, (size_t)n - 1, &a->host))
		refuse_v4(a);
	else
		have_target(a, end + (size_t)n);
}

/* The rest of ga_net_ask_answer(): appends to `out`. */
static void net_socks4_answer(struct ga_net_ask *a, enum ga_net_outcome how)
{
	put_v4(a, how == GA_NET_CONNECTED ? V4_OK : V4_REFUSED);
}

void ga_net_ask_release(struct ga_net_ask *a)
{
	ga_buf_release(&a->out);
	ga_buf_release(&a->early);
	ga_buf_release(&a->in);
	*a = (struct ga_net_ask)GA_NET_ASK_INIT;
}

/* The first byte decides: a version, or the first letter of a method. */
static enum ga_net_ask_kind kind_of(unsigned char first)
{
	if (first == 5)
		return GA_NET_ASK_SOCKS5;
	if (first == 4)
		return GA_NET_ASK_SOCKS4;
	return first >= 'A' && first <= 'Z' ? GA_NET_ASK_HTTP : GA_NET_ASK_UNKNOWN;
}

enum ga_net_ask_state ga_net_ask_feed(struct ga_net_ask *a, const void *p, size_t n)
{
	if (a->state != GA_NET_ASK_MORE)
		GA_BUG("a proxy's client was read from too early");
	ga_buf_add(&a->in, p, n);
	if (!a->in.len)
		return a->state;
	if (a->kind == GA_NET_ASK_UNKNOWN)
		a->kind = kind_of((unsigned char)a->in.ptr[0]);
	switch (a->kind) {
	case GA_NET_ASK_HTTP:
		net_http_feed(a);
		break;
	case GA_NET_ASK_SOCKS5:
		net_socks5_feed(a);
		break;
	case GA_NET_ASK_SOCKS4:
		net_socks4_feed(a);
		break;
	case GA_NET_ASK_UNKNOWN:
		a->state = GA_NET_ASK_CLOSE;
		break;
	}
	return a->state;
}

enum ga_net_ask_state ga_net_ask_answer(struct ga_net_ask *a, enum ga_net_outcome how)
{
	if (a->state != GA_NET_ASK_TARGET)
		GA_BUG("an answer to a proxy's client that wants none");
	if (a->kind == GA_NET_ASK_HTTP)
		net_http_answer(a, how);
	else if (a->kind == GA_NET_ASK_SOCKS5)
		net_socks5_answer(a, how);
	else
		net_socks4_answer(a, how);
	a->state = how == GA_NET_CONNECTED ? GA_NET_ASK_RELAY : GA_NET_ASK_CLOSE;
	return a->state;
}
