/* SPDX-License-Identifier: MIT
 *
 * A session that runs, seen by other processes of its user: a socket in its directory, through
 * which it says how it is, shows its terminal, takes what is typed, starts further commands in its
 * sandbox and is told to end. Nothing of the sandbox reaches that directory, and only processes of
 * the same user are heard. What they say is bounded and checked all the same: it can end the
 * session, which they may, and nothing else of it.
 *
 * The socket is there from before the session's state says RUNNING. Whoever is connected
 * sees its end when the supervisor is gone: the work is captured then, or the supervisor was
 * killed. What that leaves of the socket is in nobody's way.
 *
 * What the command wrote last (GA_LIVE_KEPT bytes) is kept for who comes later. One terminal at a
 * time is attached: the next takes the session over. Who does not keep up with the output misses
 * some of it and is told; the command never waits for anybody.
 */
#ifndef GA_LIVE_H
#define GA_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/error.h"
#include "ga/run.h"
#include "ga/sandbox.h"

#define GA_LIVE_KEPT ((size_t)256 << 10)

/* ---- the supervisor's side; ga_run_session() does the rest */

struct ga_live;
/* The directory's lock is held. */
int ga_live_open(const char *dir, struct ga_live **ret, struct ga_error *err);
/* The socket is removed. NULL is fine. */
void ga_live_close(struct ga_live *l);

/* What a supervisor that was killed left of it; the lock is held. */
void ga_live_remove(const char *dir);

/* ---- the others */

struct ga_live_peer {
	int fd;
	pid_t pid;       /* the supervisor's */
	bool detached;   /* it has no terminal of its own */
	bool before;     /* a command of the user's runs before its agent, */
	bool after;      /* or after it */
	bool attached;   /* somebody's is attached */
	uint32_t shells; /* further commands */
	uint64_t idle;   /* milliseconds since the last output */
};
#define GA_LIVE_PEER_INIT { .fd = -1 }
void ga_live_peer_release(struct ga_live_peer *p);
#define cleanup_live_peer cleanup_(ga_live_peer_release)

/* Connect. 1: nobody is there (yet, or any more). */
int ga_live_connect(const char *dir, struct ga_live_peer *ret, struct ga_error *err);
/* How it is: wait `ms` for the answer. 1 if none comes, as while its work is captured. */
int ga_live_ask(struct ga_live_peer *p, unsigned ms, struct ga_error *err);
/* Wait until the supervisor is gone; 1 if it is not after `ms` (-1: for ever). */
int ga_live_wait(const struct ga_live_peer *p, int ms);

/* Tell it to end the command: as a hang-up does and, when it still runs after `ms`, by SIGKILL. */
void ga_live_stop(const struct ga_live_peer *p, unsigned ms);
/* After that wait until the command has ended: 0, or 1 when the supervisor is gone; 2 if neither
 * happens in that time and a few seconds. */
int ga_live_wait_exit(const struct ga_live_peer *p, unsigned ms);

/* Attach the terminal that standard input and output are, until one of these. The session must be
 * detached, and its agent run. What it shows goes through the filter of ga/termfilter.h unless
 * `unfiltered`; whatever happens, the terminal is as it was when this returns. Signals are taken
 * over meanwhile; one that ends a program detaches, and does its work then. */
enum ga_live_end {
	GA_LIVE_GONE,     /* the supervisor */
	GA_LIVE_ENDED,    /* the command, with `*ret_status` */
	GA_LIVE_DETACHED, /* Ctrl-\ d, or the terminal was hung up */
	GA_LIVE_TAKEN,    /* by another terminal */
};
int ga_live_attach(const struct ga_live_peer *p, bool unfiltered, enum ga_live_end *ret,
		   int *ret_status, struct ga_error *err);

/* See what it wrote last and, with `follow`, everything up to its end; through the filter. */
#define GA_LIVE_UNREAD 2
struct ga_live_watch {
	bool follow;
	/* 0, or GA_LIVE_UNREAD: nobody reads on */
	int (*output)(void *payload, const char *p, size_t n);
	void (*missed)(void *payload); /* something: we were too slow; or NULL */
	void *payload;
};
/* 0, or 1: nobody reads on. */
int ga_live_watch(const struct ga_live_peer *p, const struct ga_live_watch *w,
		  struct ga_error *err);

/* Have it look again at everything the host has below its layers (ga_mount_refresh()): what was
 * replaced there, in a directory that it shares above all, shows inside from then on. `stage_dir`
 * is that of its struct ga_spec. Done by a process of ours within the namespaces of the stage. */
int ga_live_refresh(const struct ga_live_peer *p, const char *stage_dir, struct ga_error *err);

/* Show one of these directories that is another one by now: an overlay with these layers, of which
 * `work` is new, in the place of the former, which stays to who has something open in it. `project`
 * is the session's. Fails if the agent has moved what it is in. */
int ga_live_remount(const struct ga_live_peer *p, const char *stage_dir, const char *project,
		    const struct ga_shared *sh, struct ga_error *err);

/* Run a further command in its sandbox, like ga_run_session(). Of `c` no environment is looked
 * at: it is that of the session's command, TERM being `term` (NULL: the same). It ends with the
 * session. */
int ga_live_command(const struct ga_live_peer *p, const struct ga_run_command *c, const char *term,
		    int *ret_status, struct ga_error *err);

#endif
