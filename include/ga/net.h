/* SPDX-License-Identifier: MIT
 *
 * The relay of a session with a network of its own (ga/netplan.h): listeners inside the sandbox's
 * network namespace, accepted on by the supervisor, which connects from the host's side and moves
 * bytes both ways. It is served by the caller's poll loop: nothing here waits but
 * ga_relay_enter(), for the child that makes the listeners. One thread; SIGPIPE blocked or
 * ignored. Names are resolved by child processes, one for each look-up, which the relay reaps
 * itself.
 *
 * What is inside of the namespace is hostile: connections at once, what is buffered for them, and
 * what is remembered of them are bounded.
 */
#ifndef GA_NET_H
#define GA_NET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/error.h"
#include "ga/netplan.h"
#include "ga/strv.h"

#define GA_RELAY_CONNECTIONS 1024 /* at once; those beyond are reset */
#define GA_RELAY_SOCKETS_MAX 64   /* words of network.sockets, and of network.publish */
#define GA_RELAY_USES_MAX 1000    /* destinations that are remembered; half of them not reached,
				   * a quarter of them looked up only */

/* One word of `network.publish`: "3000", "auto:3000", "8080:3000", "127.0.0.1:8080:3000",
 * "[::1]:auto:3000": where the host listens, on 127.0.0.1 unless it says, and the port inside. */
#define GA_NET_PUBLISH_TAKES "PORT, auto:PORT, HOST_PORT:PORT or ADDRESS:HOST_PORT:PORT"
struct ga_net_publish {
	struct ga_net_addr addr;
	uint16_t host_port; /* 0: any that is free */
	uint16_t port;
};
bool ga_net_publish_parse(const char *word, struct ga_net_publish *ret);
bool ga_net_publish_ok(const char *word);
/* Does it listen where others than this machine come to? */
bool ga_net_publish_open(const char *word);

/* One word of `network.sockets`: the path of a unix socket of the host, and behind a ':' that which
 * it has inside, where it is another. Each begins with "/" or "~/" and is without "." and "..". */
#define GA_NET_SOCKET_TAKES                                                                  \
	"the path of a socket, or PATH:PATH with the one inside: each with / or ~/, without '..'"
struct ga_net_socket {
	char *host, *inside; /* absolute */
};
/* `home` is what "~" is. False, and nothing in `ret`, if it is no such word. */
bool ga_net_socket_parse(const char *word, const char *home, struct ga_net_socket *ret);
bool ga_net_socket_ok(const char *word);
void ga_net_socket_release(struct ga_net_socket *s);
#define cleanup_net_socket cleanup_(ga_net_socket_release)

struct ga_relay;

struct ga_relay_opts {
	/* What is reachable; NULL: nothing, and nobody is told what was tried. Borrowed until
	 * close; names that are asked for are added, and to one that learns all else. */
	struct ga_net_plan *plan;
	/* Paths of unix sockets on the host (stream sockets). For each a socket is made in
	 * `socket_dir`, a directory of the caller's that is empty, named "0", "1", ...: to be
	 * shown inside. What connects to it is connected to the path, looked up then. */
	const struct ga_strv *sockets;
	int socket_dir;
	/* Where what is inside can write, as paths without links (NULL: nowhere). Links on the way
	 * to a socket are followed, but none that enters such a place: opening refuses it, and a
	 * connection that finds the way changed is GA_USE_FORBIDDEN. A directory of these is known
	 * where it is mounted elsewhere as well; one below it is not. */
	const struct ga_strv *written;
	const struct ga_strv *publish; /* listeners are opened on the host at once */
};

/* The host's side of it. On failure (GA_ESTART: a port is taken, ...) nothing is left. */
int ga_relay_open(const struct ga_relay_opts *o, struct ga_relay **ret, struct ga_error *err);
/* Closes everything, connections included; NULL is fine. */
void ga_relay_close(struct ga_relay *r);

/* The inside: enter the network namespace of process `pid` (the sandbox's first, which is ready and
 * has not started anything) by a child that makes lo up, gives it routes by which every address is
 * local, and hands the listening sockets out. Refused if that namespace is our own. GA_ESTART. */
int ga_relay_enter(struct ga_relay *r, pid_t pid, struct ga_error *err);

/* For a relay that learns: the end of ga/connects.h's socket that is for init, once; the
 * caller's. */
int ga_relay_calls(struct ga_relay *r);

/* For a poll loop: POLLIN of this descriptor, or the time (of ga_now_ms(); 0: none), is when to
 * call ga_relay_serve(). */
int ga_relay_fd(const struct ga_relay *r);
int64_t ga_relay_next(const struct ga_relay *r);
void ga_relay_serve(struct ga_relay *r);

/* What is published: "127.0.0.1:43211:3000", for each word in its order. Adds to `ret`. */
void ga_relay_published(const struct ga_relay *r, struct ga_strv *ret);

#define GA_USE_UDP "/udp"
enum ga_use_kind {
	GA_USE_ALLOWED,   /* connected */
	GA_USE_FAILED,    /* allowed, and nobody answers there, or the name does not resolve */
	GA_USE_REFUSED,   /* connections to, or datagrams for, what no rule names; look-ups of a
			   * name of which nothing more can be learnt */
	GA_USE_LOOKED_UP, /* a name that no rule names; connections are told on their own */
	GA_USE_FORBIDDEN, /* an allowed name that leads to an address it may not lead to: as
			   * ga_net_addr_allowed() says, or one of this machine's own; a
			   * socket by way of where what is inside can write */
	GA_USE_FULL,      /* over GA_RELAY_CONNECTIONS; `to` is empty */
};
const char *ga_use_name(enum ga_use_kind k); /* "allowed", "failed", "refused", ... */
/* One destination. */
struct ga_use {
	enum ga_use_kind kind;
	char *to;         /* "host:port", with GA_USE_UDP behind it of datagrams, the path of a
			   * socket, or of a look-up the name */
	uint64_t count;   /* of connections, or look-ups */
	uint64_t in, out; /* bytes that went into the sandbox and out of it, connections that are
			   * over */
	int64_t first;    /* milliseconds since the relay was entered */
	uint64_t times[2]; /* private */
};
/* All of them, in the order of their first; they belong to `r` and move with the next call of
 * ga_relay_serve(). `*ret_more`: how often there was none to remember it in. */
const struct ga_use *ga_relay_uses(const struct ga_relay *r, size_t *ret_n, uint64_t *ret_more);

/* What a relay that learns has learnt so far, as words of network.allow: those that would have
 * sufficed for all that was connected, sorted; those of what was tried and not reached; and what
 * was reached that no list can have. Adds to `ret`. */
struct ga_relay_learnt {
	struct ga_strv allow, failed, unlistable;
};
#define GA_RELAY_LEARNT_INIT { GA_STRV_INIT, GA_STRV_INIT, GA_STRV_INIT }
void ga_relay_learnt(const struct ga_relay *r, struct ga_relay_learnt *ret);
void ga_relay_learnt_release(struct ga_relay_learnt *l);

#endif
