/* SPDX-License-Identifier: MIT
 *
 * The relay's own parts.
 */
#ifndef RELAY_INTERNAL_H
#define RELAY_INTERNAL_H

#include <sys/resource.h>

#include "ga/connects.h"
#include "net-internal.h"

/* What epoll(7) tells of. */
enum net_source_kind {
	NET_LISTENER, /* owner: struct net_listener */
	NET_LOOKUP,   /* struct net_job */
	NET_CLIENT,   /* struct net_conn, as the next */
	NET_TARGET,
	NET_CALLS,    /* struct net_learn */
	NET_CALL,     /* struct net_call */
	NET_POOLED,   /* struct net_pool */
};
struct net_source {
	enum net_source_kind kind;
	int fd;
	void *owner;
};

enum net_listener_kind {
	NET_L_RULE,    /* index: of the plan's listener */
	NET_L_PROXY,
	NET_L_DNS,     /* datagrams */
	NET_L_DNS_TCP,
	NET_L_REFUSED, /* a packet socket; index: 1 for IPv6 */
	NET_L_UNIX,    /* index: of the word of network.sockets */
	NET_L_PUBLISH, /* index: of the word of network.publish */
	NET_L_LEARNT,  /* index: for net_learn_place() */
};
struct net_listener {
	struct net_source s;
	enum net_listener_kind kind;
	size_t index;
};

/* A look-up, and who waits for it. */
struct net_job {
	struct net_source s;
	struct net_lookup l;
	char *name;
	int64_t deadline;
};

struct net_place {
	struct ga_net_addr addr;
	uint16_t port;
};
/* A connect(2) inside that waits: for the host's port to answer, for its turn, for a listener to be
 * made, or for another that wants the same. */
struct net_call {
	bool used;
	struct net_source s;
	struct ga_connect m;
	struct net_place at;
	int dial;
	struct net_child child;
	bool turn;        /* it waits until more may be made */
	int64_t deadline; /* 0: it waits for another */
};

enum net_state {
	NET_ASKS,     /* a client of the proxy says what it wants */
	NET_DNS,      /* one of the resolver's */
	NET_WAITS,    /* for a name */
	NET_NEEDS,    /* a socket inside */
	NET_CONNECTS,
	NET_RELAYS,
	NET_LINGERS,  /* it was told no, and is to read that */
	NET_DEAD,
};
struct net_conn {
	struct net_source client_src, target_src;
	struct net_end client, target;
	struct net_flow up, down; /* from the client, and to it */
	enum net_state state;
	enum net_listener_kind kind;
	size_t index;         /* of its listener */
	struct ga_net_ask ask; /* of NET_L_PROXY */
	struct ga_buf in;     /* of NET_L_DNS_TCP */
	char *to;             /* for people */
	size_t rule;
	char *name;           /* to be looked up, or NULL */
	struct net_job *job;  /* that it waits for; NULL: until there is room for one, or its
			       * deadline */
	struct net_addrs addrs;
	size_t next;          /* of these */
	uint16_t port;
	bool forbidden;       /* one of them was */
	int64_t deadline;     /* 0: none */
	ssize_t use;          /* its entry, -1: none */
	bool queued;
	struct net_conn *after; /* in the queue */
};

#define NET_JOBS 32
#define NET_POOL 16

/* Sockets inside to connect with, and the child that makes more of them, if any. */
struct net_pool {
	int v[NET_POOL];
	size_t n;
	struct net_child child;
	struct net_source s;
	int64_t deadline;
};

struct ga_relay {
	struct ga_net_plan *plan;
	struct ga_strv sockets, written;
	struct ga_net_publish *publish;
	size_t n_publish;
	int epoll;
	int spare;               /* given up where there are no descriptors left */
	struct net_space space;
	struct net_listener *listeners;
	size_t n_listeners, cap_listeners;
	struct net_conn **conns;
	size_t n_conns, cap_conns, max_conns;
	size_t timed;            /* of them with a deadline, about */
	struct net_conn *queue;  /* that have more to do */
	struct net_job *jobs[NET_JOBS];
	struct net_pipes pipes;
	struct net_pool pool[2]; /* IPv4, IPv6 */
	struct net_uses uses;
	struct rlimit limit;     /* of descriptors, as it was */
	bool raised;
	struct net_learn *learn; /* NULL: it does not */
	struct net_ports host;
};

/* ---- relay.c */

int net_watch(struct ga_relay *r, struct net_source *s, uint32_t events);
/* Before it is closed: that alone ends nothing while a child that was just forked holds a copy, and
 * what is told then would be of a source that is gone. */
void net_unwatch(const struct ga_relay *r, int fd);
/* A destination as people know it: the name that stands for the address. */
char *net_to_text(const struct ga_relay *r, const struct ga_net_addr *a, uint16_t port);

/* Where a session has servers of its own: on a loopback address that is no name's. */
bool net_is_loopback(const struct ga_relay *r, const struct ga_net_addr *a);
/* Does a published port lead to this one, inside? */
bool net_is_published(const struct ga_relay *r, uint16_t port);
/* Is what the kernel refused worth telling? */
bool net_is_refusal(struct ga_relay *r, const struct net_refusal *f);
/* A listener that was made for a call; takes over `fd`. */
int net_add_learnt(struct ga_relay *r, size_t index, int fd);

/* ---- inside.c */

void net_inside_open(struct ga_relay *r);
void net_inside_close(struct ga_relay *r);
/* A socket inside to connect with; -1: there is none to be had; NET_LATER: net_conns_inside() will
 * say when. */
#define NET_LATER (-2)
int net_inside(struct ga_relay *r, bool ip6);
void net_inside_event(struct ga_relay *r, struct net_pool *p);
void net_inside_time(struct ga_relay *r, int64_t now);
int64_t net_inside_next(const struct ga_relay *r); /* 0: never */

/* ---- learn.c: what is different in a session that learns, and what is in others */

struct net_learn *net_learn_open(void);
void net_learn_close(struct ga_relay *r);
int net_learn_watch(struct ga_relay *r);
void net_learn_calls(struct ga_relay *r);
void net_learn_event(struct ga_relay *r, struct net_call *c);
void net_learn_time(struct ga_relay *r, int64_t now);
int64_t net_learn_next(const struct ga_relay *r); /* 0: never */
/* Where such a listener stands, and for whom. */
void net_learn_place(const struct ga_relay *r, size_t i, struct net_place *ret,
		     struct ga_net_host *host);
/* The rule that names this host and port; -1: there is none. */
ssize_t net_rule_for(struct ga_relay *r, const struct ga_net_host *h, uint16_t port);
/* ga_net_addr_allowed(); nor to an address of this machine's that is not listed itself. */
bool net_may_go(const struct ga_relay *r, size_t rule, const struct ga_net_addr *a, uint16_t port);
/* It was connected, and there. */
void net_learn_reached(struct ga_relay *r, size_t rule, const struct ga_net_addr *a, uint16_t port);
/* Answer a query, and take note of a name that is refused. */
void net_dns(struct ga_relay *r, const void *query, size_t n, struct ga_net_dns_reply *ret);

/* ---- conn.c */

/* Takes over `fd`. */
void net_conn_begin(struct ga_relay *r, const struct net_listener *l, int fd);
void net_conn_event(struct ga_relay *r, struct net_conn *c, bool of_client, uint32_t events);
void net_conn_run(struct ga_relay *r, struct net_conn *c);
void net_conn_timeout(struct ga_relay *r, struct net_conn *c);
/* In so many milliseconds; 0: never. */
void net_conn_deadline(struct ga_relay *r, struct net_conn *c, int ms);
/* What it waited for. */
void net_conn_found(struct ga_relay *r, struct net_conn *c, const struct net_addrs *a);
/* For all that need a socket inside: there are some, or there are none to be had. */
void net_conns_inside(struct ga_relay *r, bool ip6, bool ok);
void net_conn_free(struct ga_relay *r, struct net_conn *c);

/* ---- jobs.c */

/* Have the name of `c` looked up, together with others that want the same. */
void net_job_want(struct ga_relay *r, struct net_conn *c);
void net_job_done(struct ga_relay *r, struct net_job *j);
/* End those that take too long. */
void net_jobs_time(struct ga_relay *r, int64_t now);
void net_jobs_abandon(struct ga_relay *r);

/* ---- publish.c: the host's listener of what is published */

int net_listen_host(struct ga_net_publish *p, struct ga_error *err);

/* ---- unix.c; `written` as in struct ga_relay_opts */

/* The socket that stands for a path inside: the `i`th, in `dir`. */
int net_listen_unix(const char *path, int dir, size_t i, struct ga_error *err);
/* Refused where the way to it enters what is written, or would, for what is not there yet. */
int net_check_unix(const char *path, const struct ga_strv *written, struct ga_error *err);
/* A connection to a socket of the host's; -1 with errno, EXDEV where the way enters that. */
int net_dial_unix(const char *path, const struct ga_strv *written);

#endif
