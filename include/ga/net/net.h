/* SPDX-License-Identifier: MIT
 *
 * The relay of a session with a network of its own (ga/net/netplan.h): listeners inside the
 * sandbox's network namespace, on which the supervisor accepts connections; it connects from the
 * host's side and moves bytes both ways. The caller's poll loop serves it: nothing here blocks but
 * ga_relay_enter(), on the child that makes the listeners. One thread; SIGPIPE blocked or ignored.
 * Names are resolved by one child process per look-up, which the relay reaps itself.
 *
 * What comes from inside the namespace is hostile: the number of connections, their buffers and the
 * log of them are bounded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/net/netplan.h"

#define GA_RELAY_CONNECTIONS 1024 /* at a time; those beyond are reset */
#define GA_RELAY_SOCKETS_MAX 64   /* words of network.sockets, and as many of network.publish */
#define GA_RELAY_USES_MAX 1000    /* destinations that are logged; at most half of them not
				   * reached, and a quarter only looked up */

/* One word of `network.publish`: "3000", "auto:3000", "8080:3000", "127.0.0.1:8080:3000",
 * "[::1]:auto:3000": where the host listens (by default on 127.0.0.1), and the port inside. */
#define GA_NET_PUBLISH_TAKES "PORT, auto:PORT, HOST_PORT:PORT or ADDRESS:HOST_PORT:PORT"
struct ga_net_publish {
	struct ga_net_addr addr;
	uint16_t host_port; /* 0: any free one */
	uint16_t port;
};
bool ga_net_publish_parse(const char *word, struct ga_net_publish *ret);
bool ga_net_publish_ok(const char *word);
/* Does it listen on an address that other machines can reach? */
bool ga_net_publish_open(const char *word);

/* One word of `network.sockets`: the path of a unix socket of the host and, if its path inside
 * differs, ':' and that. Each begins with "/" or "~/" and has no "." or ".." component. */
#define GA_NET_SOCKET_TAKES                                                                  \
	"the path of a socket, or PATH:PATH with the one inside: each with / or ~/, without '..'"
struct ga_net_socket {
	char *host, *inside; /* absolute */
};
/* `home` replaces "~". Returns false, leaving `ret` empty, if it is no such word. */
bool ga_net_socket_parse(const char *word, const char *home, struct ga_net_socket *ret);
bool ga_net_socket_ok(const char *word);
void ga_net_socket_release(struct ga_net_socket *s);
#define cleanup_net_socket cleanup_(ga_net_socket_release)

struct ga_relay;

struct ga_relay_opts {
	/* What is reachable; NULL: nothing, and attempts are not reported. Borrowed until the relay
	 * is closed; names that are asked for are added to it. */
	struct ga_net_plan *plan;
	/* Paths of unix stream sockets on the host. For each a socket named "0", "1", ... is
	 * created in `socket_dir`, an empty directory of the caller's, to be shown inside. A
	 * connection to it is connected to the path, which is resolved at that moment. */
	const struct ga_strv *sockets;
	int socket_dir;
	/* Directories that programs inside can write to, as paths without symlinks (NULL: none).
	 * Symlinks in the path of a socket are followed, but not into such a directory:
	 * ga_relay_open() refuses such a path, and a connection that finds the path changed is
	 * GA_USE_FORBIDDEN. Other mounts of these directories are recognised, too; mounts of their
	 * subdirectories are not. */
	const struct ga_strv *written;
	/* The host's environment, or NULL: connections that `plan` allows go through the HTTP proxy
	 * that it names (CONNECT, with the user and password of its URL), except to localhost and
	 * hosts in no_proxy. The proxy then resolves names. The proxy itself cannot be reached from
	 * inside. */
	const char *const *environ;
	const struct ga_strv *publish; /* the host's listeners; opened by ga_relay_open() */
};

/* Open the host's side. On failure (GA_ESTART: a port is taken, ...) nothing is left. */
int ga_relay_open(const struct ga_relay_opts *o, struct ga_relay **ret, struct ga_error *err);
/* Close all connections and listeners; NULL is allowed. */
void ga_relay_close(struct ga_relay *r);

/* Open the inside: a child enters the network namespace of process `pid` (the sandbox's first,
 * which is ready and has started nothing yet), brings lo up, adds routes that make every address
 * local, and passes the listening sockets back. Refused if that namespace is our own. GA_ESTART. */
int ga_relay_enter(struct ga_relay *r, pid_t pid, struct ga_error *err);

/* For a poll loop: call ga_relay_serve() when this descriptor is readable (POLLIN), or at the time
 * ga_relay_next() returns (of ga_now_ms(); 0: none). */
int ga_relay_fd(const struct ga_relay *r);
int64_t ga_relay_next(const struct ga_relay *r);
void ga_relay_serve(struct ga_relay *r);

/* Append the published port for each word of `publish` in order: "127.0.0.1:43211:3000". */
void ga_relay_published(const struct ga_relay *r, struct ga_strv *ret);

/* The variable that names the host's proxy; NULL: none does. `*ret_at`, which the caller frees:
 * "host:port", or NULL for one of a kind that is not used (SOCKS, or TLS to it). */
const char *ga_relay_proxy(const struct ga_relay *r, char **ret_at);

#define GA_USE_UDP "/udp"
enum ga_use_kind {
	GA_USE_ALLOWED,   /* connected */
	GA_USE_FAILED,    /* allowed, but unreachable, or the name does not resolve */
	GA_USE_REFUSED,   /* a connection or datagrams to what no rule names; or the look-up of a
			   * name about which nothing more can be found out */
	GA_USE_LOOKED_UP, /* a look-up of a name that no rule names; connections to it are reported
			   * by themselves */
	GA_USE_FORBIDDEN, /* an allowed name that resolves to an address it must not lead to
			   * (ga_net_addr_allowed(), or one of this machine's own); or a socket
			   * whose path leads through a place that programs inside can write to */
	GA_USE_FULL,      /* more than GA_RELAY_CONNECTIONS; `to` is empty */
};
const char *ga_use_name(enum ga_use_kind k); /* "allowed", "failed", "refused", ... */
/* One destination. */
struct ga_use {
	enum ga_use_kind kind;
	char *to;         /* "host:port", for datagrams followed by GA_USE_UDP; the path of a
			   * socket; or the name that was looked up */
	uint64_t count;   /* connections or look-ups */
	uint64_t in, out; /* bytes into and out of the sandbox, of closed connections */
	int64_t first;    /* milliseconds since the relay was entered */
	uint64_t times[2]; /* private */
};
/* All destinations, in the order of their first use; they belong to `r` and are valid until the
 * next call of ga_relay_serve(). `*ret_more`: the number of uses beyond the limit. */
const struct ga_use *ga_relay_uses(const struct ga_relay *r, size_t *ret_n, uint64_t *ret_more);
