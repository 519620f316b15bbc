/* SPDX-License-Identifier: MIT
 *
 * Announced connect(2) calls. The address is in the memory of the caller, which can change it
 * before the call continues; so what is decided from it may only ever make a destination reachable
 * that is open anyway.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "init.h"
#include "renames.h"

/* The kernel accepts an IPv6 address without its scope id as well (RFC 2133). */
#define IN6_MIN 24

/* The destination of the call; false if that is no internet address. */
static bool look(const struct seccomp_notif *n, struct ga_connect *ret)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ip4;
		struct sockaddr_in6 ip6;
	} sa;
	size_t len = n->data.args[2] < sizeof(sa) ? (size_t)n->data.args[2] : sizeof(sa);
	struct iovec ours = { &sa, len }, theirs = { (void *)(uintptr_t)n->data.args[1], len };
	ssize_t got;

	memset(&sa, 0, sizeof(sa));
	got = len ? process_vm_readv((pid_t)n->pid, &ours, 1, &theirs, 1, 0) : -1;
	if (got >= (ssize_t)sizeof(sa.ip4) && sa.any.sa_family == AF_INET) {
		ret->port = ntohs(sa.ip4.sin_port);
		memcpy(ret->addr, &sa.ip4.sin_addr, 4);
		return ret->port != 0;
	}
	if (got >= IN6_MIN && sa.any.sa_family == AF_INET6) {
		ret->ip6 = 1;
		ret->port = ntohs(sa.ip6.sin6_port);
		memcpy(ret->addr, &sa.ip6.sin6_addr, 16);
		return ret->port != 0;
	}
	return false;
}

bool connects_full(const struct connects *c)
{
	for (size_t i = 0; i < GA_CONNECTS; i++)
		if (!c->calls[i].used)
			return false;
	return true;
}

void connects_ask(struct connects *c, int listener, const struct seccomp_notif *n)
{
	struct ga_connect m = { .id = n->id };

	while (c->calls[m.who].used)
		m.who++;
	/* few are under way at a time, so the socket has room */
	if (c->sock < 0 || !look(n, &m) ||
	    send(c->sock, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof(m)) {
		call_answer(listener, n->id, true, 0);
		return;
	}
	c->calls[m.who] = (struct connect_call){ true, listener, n->id };
}

static void answered(struct connect_call *call, int errnum)
{
	if (call->used && call->listener >= 0)
		call_answer(call->listener, call->id, !errnum, errnum);
	call->used = false;
}

void connects_answered(struct connects *c)
{
	struct ga_connect m;
	ssize_t n = recv(c->sock, &m, sizeof(m), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(m)) {
		if (m.who < GA_CONNECTS && c->calls[m.who].id == m.id)
			answered(&c->calls[m.who], m.errnum);
		return;
	}
	(void)close(c->sock);
	c->sock = -1;
	for (size_t i = 0; i < GA_CONNECTS; i++)
		answered(&c->calls[i], 0);
}

void connects_drop(struct connects *c, int listener)
{
	for (size_t i = 0; i < GA_CONNECTS; i++)
		if (c->calls[i].listener == listener)
			c->calls[i].listener = -1;
}
