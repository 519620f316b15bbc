/* SPDX-License-Identifier: MIT
 *
 * Internals of the relay.
 */
#ifndef NET_INTERNAL_H
#define NET_INTERNAL_H

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ga/net/net.h"

/* Between the plan's addresses and the kernel's: publish.c, */
socklen_t net_sockaddr(const struct ga_net_addr *a, uint16_t port, struct sockaddr_storage *ret);
/* and watch.c: has this machine that address, now, on any of its interfaces? */
bool net_is_own(const struct ga_net_addr *a);

/* ---- children.c */

/* A child that is at work: once `fd` is readable it has done its part. */
struct net_child {
	pid_t pid;
	int fd;
};
#define NET_CHILD_INIT { 0, -1 }
/* Take nothing of it any more: kill and reap it. */
void net_child_end(struct net_child *c);

#define NET_ADDRS_MAX 16
struct net_addrs {
	size_t n;
	struct ga_net_addr v[NET_ADDRS_MAX];
};
/* Begin a look-up. False with errno on failure. */
bool net_lookup_begin(struct net_child *ret, const char *name);
/* End a look-up and get the answer; none if the name does not resolve. */
void net_lookup_end(struct net_child *c, struct net_addrs *ret);

struct net_space {
	int net, user; /* the namespace, and the user namespace that owns it; -1 */
};
#define NET_SPACE_INIT { -1, -1 }
int net_space_open(struct net_space *s, pid_t pid, struct ga_error *err);
void net_space_close(struct net_space *s);

/* A socket to be made inside. */
struct net_want {
	int family, type;
	bool listens;             /* it is bound and, if it is a stream socket, listens; else it is
				   * left as created */
	struct ga_net_addr addr;
	uint16_t port;
	const void *filter;       /* for AF_PACKET: a struct sock_fprog to attach */
};
/* Make all of them, non-blocking, into `ret`; with `setup`, set up addresses and routes first. On
 * failure none is left. Waits for the child that makes them. */
int net_space_sockets(const struct net_space *s, const struct ga_net_plan *setup,
		      const struct net_want *want, size_t n, int *ret, struct ga_error *err);

/* The same without waiting. -1 with errno; when ended, the errno of what the child could not do. */
int net_space_begin(const struct net_space *s, const struct ga_net_plan *setup,
		    const struct net_want *want, size_t n, struct net_child *ret,
		    struct ga_error *err);
int net_space_end(struct net_child *c, int *ret, size_t n, struct ga_error *err);

/* ---- refusals.c: what the kernel refused, seen as the answers it sends */

struct net_want net_refusal_want(bool ip6);
/* Parse one packet from such a socket: the destination of the connection or datagram that was
 * refused. */
struct net_refusal {
	struct ga_net_addr addr;
	uint16_t port;
	bool udp, ip6;
};
bool net_refusal_read(const void *p, size_t n, bool ip6, struct net_refusal *ret);

/* Ports that the host listens on, on any of its addresses */

struct net_ports {
	int64_t read;
	unsigned char bits[(UINT16_MAX + 1) / 8];
};
/* Add the ports of a table in the format of /proc/net/tcp. */
void net_ports_add(struct net_ports *p, FILE *f);
/* Read the tables in a directory like /proc/net; if one cannot be read, all ports count. */
void net_ports_read(struct net_ports *p, const char *dir);
/* Does the host listen on this port, as of the last second? True in doubt. */
bool net_host_listens(struct net_ports *p, uint16_t port);

/* ---- watch.c: what was connected to, and what was refused */

struct net_uses {
	struct ga_use *v;
	size_t n, cap;
	size_t others, names; /* number of entries that are no connections, and of those that are
			       * look-ups */
	uint64_t more;
	int64_t begun;
};
void net_uses_release(struct net_uses *u);
/* Count one more use; `which` is 0 or 1 if the same thing is asked for in two ways, of which the
 * more frequent one counts. Returns the entry, or -1 if there is no room to remember it. */
ssize_t net_use(struct net_uses *u, enum ga_use_kind kind, const char *to, unsigned which);

/* ---- flow.c: bytes from one socket to another */

struct net_pipes {
	int (*v)[2];
	size_t n, cap; /* unused pipes, which are empty */
};
void net_pipes_release(struct net_pipes *p);

struct net_end {
	int fd; /* -1 */
	bool readable, writable; /* as far as is known: announced once (EPOLLET), valid until
				  * EAGAIN */
};
struct net_flow {
	struct net_end *from, *to;
	int pipe[2];      /* -1 while nothing is buffered */
	size_t n;         /* bytes in the pipe */
	bool ended, over; /* `ended`: nothing more comes; `over`: the receiver was told so */
	uint64_t total;
};
void net_flow_init(struct net_flow *f, struct net_end *from, struct net_end *to);
void net_flow_release(struct net_flow *f, struct net_pipes *pipes);
/* Put bytes in front of all that is read: at most NET_EARLY_MAX, once, before the first move. */
#define NET_EARLY_MAX 65536
bool net_flow_put(struct net_flow *f, struct net_pipes *pipes, const void *p, size_t n);
/* Move what can be moved. Returns 1 if there may be more but others are to have their turn; 0 if
 * the ends are not ready, or it is over; -1 if the connection is broken. */
int net_flow_move(struct net_flow *f, struct net_pipes *pipes);

#endif
