/* SPDX-License-Identifier: MIT
 *
 * The parts of the relay.
 */
#ifndef RELAY_INTERNAL_H
#define RELAY_INTERNAL_H

#include <sys/resource.h>

#include "net-internal.h"

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
	NET_L_RULE,    /* index: that of the plan's listener */
	NET_L_PROXY,
	NET_L_DNS,     /* the resolver's datagram socket */
	NET_L_DNS_TCP,
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
	NET_LINGERS,  /* it was refused, and is given time to read that */
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
	const char *variable;  /* the one that names it; NULL: there is none */
	bool used;             /* it is of a kind that can be */
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
	struct net_conn *queue;  /* connections that have more to do */
	struct net_job *jobs[NET_JOBS];
	struct net_pipes pipes;
	struct net_pool pool[2]; /* IPv4, IPv6 */
	struct net_uses uses;
	struct rlimit limit;     /* the original limit on descriptors */
	bool raised;
	struct net_ports host;
};

/* ---- watch.c: what all of them use */

int net_watch(struct ga_relay *r, struct net_source *s, uint32_t events);
/* Call this before closing `fd`. Closing alone does not end the watch while a child that was just
 * forked holds a copy, and later events would belong to a source that is gone. */
void net_unwatch(const struct ga_relay *r, int fd);
/* A destination for users: with the name that the address stands for. */
char *net_to_text(const struct ga_relay *r, const struct ga_net_addr *a, uint16_t port);

void net_dns(struct ga_relay *r, const void *query, size_t n, struct ga_net_dns_reply *ret);
/* Is it an address where a session has servers of its own: a loopback address that stands for no
 * name? */
bool net_is_loopback(const struct ga_relay *r, const struct ga_net_addr *a);
/* Does a published port lead to this port inside? */
bool net_is_published(const struct ga_relay *r, uint16_t port);
/* Is this refusal of the kernel's worth reporting? */
bool net_is_refusal(struct ga_relay *r, const struct net_refusal *f);

/* ---- jobs.c */

void net_inside_open(struct ga_relay *r);
void net_inside_close(struct ga_relay *r);
/* Get a socket inside for connecting. -1: none can be had; NET_LATER: they are being made. */
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
/* Tell all that wait for a look-up, which is forgotten. */
void net_conns_found(struct ga_relay *r, struct net_job *j, const struct net_addrs *a);
/* Tell all that wait for a socket inside: there are some or, if not `ok`, none can be had. */
void net_conns_inside(struct ga_relay *r, bool ip6, bool ok);
void net_conn_free(struct ga_relay *r, struct net_conn *c);

#define NET_LOOKUP_MS 30000
/* The look-up of this name, begun if there is none. NULL: there are too many, or it failed. */
struct net_job *net_job_for(struct ga_relay *r, const char *name, bool *ret_full);
/* It has ended, and is to be forgotten once it was told. */
void net_job_end(struct ga_relay *r, struct net_job *j, struct net_addrs *ret);
/* End it if it takes too long. */
bool net_job_late(struct ga_relay *r, struct net_job *j, int64_t now);
void net_job_forget(struct ga_relay *r, struct net_job *j);
void net_jobs_abandon(struct ga_relay *r);

/* ---- via.c: the host's proxy */

void net_via_find(const char *const *env, struct net_via *ret);
void net_via_release(struct net_via *v);
/* Does the way to this host lead through it? */
bool net_via_for(const struct net_via *v, const struct ga_net_host *h);
bool net_via_is(const struct net_via *v, const struct ga_net_host *h, uint16_t port);
bool net_via_ask(const struct net_via *v, int fd, const char *to);
/* 1: the answer is complete, and what follows it is left in `b`; 0: it is not; -1: it says no. */
int net_via_answer(struct ga_buf *b);

/* ---- publish.c: the host's listener of what is published */

int net_listen_host(struct ga_net_publish *p, struct ga_error *err);

/* `written` is as in struct ga_relay_opts */

/* Create the `i`th socket in `dir`, which stands for the host's socket `path`. */
int net_listen_unix(const char *path, int dir, size_t i, struct ga_error *err);
/* Refuse a socket whose path enters a `written` place, or would do so once missing parts of it
 * exist. */
int net_check_unix(const char *path, const struct ga_strv *written, struct ga_error *err);
/* Connect to a socket of the host. -1 with errno; EXDEV if its path enters such a place. */
int net_dial_unix(const char *path, const struct ga_strv *written);

#endif
