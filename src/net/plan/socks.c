/* SPDX-License-Identifier: MIT
 *
 * SOCKS 5 without authentication (RFC 1928), SOCKS 4 and 4a. The widths of the length fields limit
 * all messages to a few hundred bytes.
 */
#include "net/netplan-internal.h"

#include <string.h>

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

void net_socks5_feed(struct ga_net_ask *a)
{
	if (a->step == STEP_REQUEST || v5_methods(a))
		v5_request(a);
}

void net_socks5_answer(struct ga_net_ask *a, enum ga_net_outcome how)
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

void net_socks4_feed(struct ga_net_ask *a)
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

void net_socks4_answer(struct ga_net_ask *a, enum ga_net_outcome how)
{
	put_v4(a, how == GA_NET_CONNECTED ? V4_OK : V4_REFUSED);
}
