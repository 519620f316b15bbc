/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the relay.
 */
#pragma once

#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ga/net/net.h"

/* Between the plan's addresses and the kernel's: publish.c, */
socklen_t net_sockaddr(const struct ga_net_addr *a, uint16_t port, struct sockaddr_storage *ret);
/* and jobs.c: has this machine that address, now, on any of its interfaces? */
bool net_is_own(const struct ga_net_addr *a);

/* ---- children.c */

/* A child that is running: once `fd` is readable it has done its part. */
struct net_child {
	pid_t pid;
	int fd;
};
#define NET_CHILD_INIT { 0, -1 }
/* Kill and reap it, discarding its result. */
void net_child_end(struct net_child *c);

#define NET_ADDRS_MAX 16
struct net_addrs {
	size_t n;
	struct ga_net_addr v[NET_ADDRS_MAX];
};
/* Begin a look-up. False with errno on failure. */
bool net_lookup_begin(struct net_child *ret, const char *name);
/* End a look-up and get its addresses; none if the name does not resolve. */
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

/* ---- refusals.c: connections that the kernel refused */

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

/* ---- jobs.c: the connection log */

struct net_uses {
	struct ga_use *v;
	size_t n, cap;
	size_t others, names; /* number of entries that are no connections, and of those that are
			       * look-ups */
	uint64_t more;
	int64_t begun;
};
void net_uses_release(struct net_uses *u);
/* Count one more use; `which` is 0 or 1 if clients try two ways to the same destination, of which
 * the more frequent one counts. Returns the entry, or -1 if the log is full. */
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
/* Move available data. Returns 1 if there may be more after other connections had their turn; 0 if
 * the ends are not ready, or at the end; -1 if the connection is broken. */
int net_flow_move(struct net_flow *f, struct net_pipes *pipes);

/* The sources of epoll(7) events. */
enum net_source_kind {
	NET_LISTENER, /* owner: a struct net_listener */
	NET_LOOKUP,   /* owner: a struct net_job */
	NET_CLIENT,   /* owner: a struct net_conn; the same for the next */
	NET_TARGET,
	NET_POOLED,   /* owner: a struct net_pool */
};
struct net_source {
	enum net_source_kind kind;
	int fd;
	void *owner;
};

enum net_listener_kind {
	NET_L_RULE = GA_NET_FOR_RULE, /* index: that of the plan's listener; the same for these */
	NET_L_PROXY = GA_NET_FOR_PROXY,
	NET_L_DNS_TCP = GA_NET_FOR_DNS,
	NET_L_DNS,     /* the resolver's datagram socket */
	NET_L_REFUSED, /* a packet socket; index: 1 for IPv6 */
	NET_L_UNIX,    /* index: of the word of network.sockets */
	NET_L_PUBLISH, /* index: of the word of network.publish */
};
struct net_listener {
	struct net_source s;
	enum net_listener_kind kind;
	size_t index;
};

/* A look-up, and the connections that wait for it. */
struct net_job {
	struct net_source s;
	struct net_child child;
	char *name;
	int64_t deadline;
};

enum net_state {
	NET_ASKS,     /* a client of the proxy is sending its request */
	NET_DNS,      /* a client of the resolver */
	NET_WAITS,    /* waits for a look-up */
	NET_NEEDS,    /* waits for a socket inside */
	NET_CONNECTS,
	NET_TUNNELS,  /* waits for the answer of the host's proxy */
	NET_RELAYS,
	NET_LINGERS,  /* refused; the client may still read the answer */
	NET_DEAD,
};
struct net_conn {
	struct net_source client_src, target_src;
	struct net_end client, target;
	struct net_flow up, down; /* from the client to the target, and back */
	enum net_state state;
	enum net_listener_kind kind;
	size_t index;         /* the `index` of its listener */
	struct ga_net_ask ask; /* for NET_L_PROXY */
	struct ga_buf in;     /* for NET_L_DNS_TCP, and of the host's proxy */
	bool via;             /* it goes through that */
	char *to;             /* the destination, for users */
	size_t rule;
	char *name;           /* the name to look up, or NULL */
	struct net_job *job;  /* the look-up that it waits for; NULL: until there is room for one,
			       * or until its deadline */
	struct net_addrs addrs;
	size_t next;          /* index of the next address to try */
	uint16_t port;
	bool forbidden;       /* one of the addresses was forbidden */
	int64_t deadline;     /* 0: none */
	ssize_t use;          /* its entry in the uses; -1: none */
	bool queued;
	struct net_conn *after; /* next one in the queue */
};

#define NET_JOBS 32
#define NET_POOL 16

/* Sockets inside for connecting, and the child that makes more of them, if any. */
struct net_pool {
	int v[NET_POOL];
	size_t n;
	struct net_child child;
	struct net_source s;
	int64_t deadline;
};

/* The host's own proxy. */
struct net_via {
	const char *variable;  /* the environment variable that names it; NULL: none */
	bool used;             /* its kind is supported */
	struct ga_net_host host;
	uint16_t port;
	char *login;           /* in base64, or NULL */
	char *no;              /* no_proxy */
};

struct ga_relay {
	struct net_via via;
	struct ga_net_plan *plan;
	struct ga_strv sockets, written;
	struct ga_net_publish *publish;
	size_t n_publish;
	int epoll;
	int spare;               /* a descriptor that is given up when none are left */
	struct net_space space;
	struct net_listener *listeners;
	size_t n_listeners, cap_listeners;
	struct net_conn **conns;
	size_t n_conns, cap_conns, max_conns;
	size_t timed;            /* roughly how many of them have a deadline */
	struct net_conn *queue;  /* connections with pending work */
	struct net_job *jobs[NET_JOBS];
	struct net_pipes pipes;
	struct net_pool pool[2]; /* IPv4, IPv6 */
	struct net_uses uses;
	struct rlimit limit;     /* the original limit on descriptors */
	bool raised;
	struct net_ports host;
};

/* ---- jobs.c: shared helpers */

int net_watch(struct ga_relay *r, struct net_source *s, uint32_t events);
/* Call this before closing `fd`. Closing alone does not end the watch while a child that was just
 * forked holds a copy, and later events would belong to a source that is gone. */
void net_unwatch(const struct ga_relay *r, int fd);
/* A destination as text for users, with the name of the address. */
char *net_to_text(const struct ga_relay *r, const struct ga_net_addr *a, uint16_t port);

void net_dns(struct ga_relay *r, const void *query, size_t n, struct ga_net_dns_reply *ret);
/* Can a server of the session listen at this address: a loopback address without a name? */
bool net_is_loopback(const struct ga_relay *r, const struct ga_net_addr *a);
/* Does a published port lead to this port inside? */
bool net_is_published(const struct ga_relay *r, uint16_t port);
/* Should this refusal be reported? */
bool net_is_refusal(struct ga_relay *r, const struct net_refusal *f);

/* ---- jobs.c */

void net_inside_open(struct ga_relay *r);
void net_inside_close(struct ga_relay *r);
/* Get a socket inside for connecting. -1: failed; NET_LATER: they are being created. */
#define NET_LATER (-2)
int net_inside(struct ga_relay *r, bool ip6);
bool net_inside_event(struct ga_relay *r, struct net_pool *p);
/* End it if it takes too long. */
bool net_inside_late(struct ga_relay *r, bool ip6, int64_t now);
int64_t net_inside_next(const struct ga_relay *r); /* when; 0: never */

/* ---- conn.c */

/* Begin a connection that was accepted; takes over `fd`. */
void net_conn_begin(struct ga_relay *r, const struct net_listener *l, int fd);
void net_conn_event(struct ga_relay *r, struct net_conn *c, bool of_client, uint32_t events);
void net_conn_run(struct ga_relay *r, struct net_conn *c);
void net_conn_timeout(struct ga_relay *r, struct net_conn *c);
/* Continue all connections that wait for a look-up, which is then freed. */
void net_conns_found(struct ga_relay *r, struct net_job *j, const struct net_addrs *a);
/* Continue all connections that wait for a socket inside: sockets are ready or, if not `ok`,
 * failed. */
void net_conns_inside(struct ga_relay *r, bool ip6, bool ok);
void net_conn_free(struct ga_relay *r, struct net_conn *c);

#define NET_LOOKUP_MS 30000
/* The look-up of this name, started if necessary. NULL: there are too many, or it failed. */
struct net_job *net_job_for(struct ga_relay *r, const char *name, bool *ret_full);
/* Get the result of a look-up that ended; net_job_forget() frees it. */
void net_job_end(struct ga_relay *r, struct net_job *j, struct net_addrs *ret);
/* End it if it takes too long. */
bool net_job_late(struct ga_relay *r, struct net_job *j, int64_t now);
void net_job_forget(struct ga_relay *r, struct net_job *j);
void net_jobs_abandon(struct ga_relay *r);

/* ---- via.c: the host's proxy */

void net_via_find(const char *const *env, struct net_via *ret);
void net_via_release(struct net_via *v);
/* Is this host reached through the proxy? */
bool net_via_for(const struct net_via *v, const struct ga_net_host *h);
bool net_via_is(const struct net_via *v, const struct ga_net_host *h, uint16_t port);
bool net_via_ask(const struct net_via *v, int fd, const char *to);
/* 1: the answer is complete, and what follows it is left in `b`; 0: it is not; -1: it says no. */
int net_via_answer(struct ga_buf *b);

/* ---- publish.c: the host's listener of what is published */

int net_listen_host(struct ga_net_publish *p, struct ga_error *err);

/* `written` is as in struct ga_relay_opts */

/* Create the `i`th socket in `dir`, which leads to the host's socket `path`. */
int net_listen_unix(const char *path, int dir, size_t i, struct ga_error *err);
/* Refuse a socket whose path enters a `written` place, or would do so once missing parts of it
 * exist. */
int net_check_unix(const char *path, const struct ga_strv *written, struct ga_error *err);
/* Connect to a socket of the host. -1 with errno; EXDEV if its path enters such a place. */
int net_dial_unix(const char *path, const struct ga_strv *written);
