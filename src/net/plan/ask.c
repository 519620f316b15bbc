/* SPDX-License-Identifier: MIT
 *
 * A client of the proxy, in any of its protocols.
 */
#include "net/netplan-internal.h"

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
