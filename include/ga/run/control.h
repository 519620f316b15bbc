/* SPDX-License-Identifier: MIT
 *
 * Access to a running session by other processes of its user: a socket in the session's directory,
 * through which the supervisor reports its status, shows the terminal, takes input, starts further
 * commands in the sandbox and is told to end the session. Nothing inside the sandbox reaches that
 * directory, and only processes of the same user are served. What they send is bounded and
 * validated all the same: the worst it can do is end the session, which they may do anyway.
 *
 * The socket exists from before the session's state says RUNNING. A connected client sees end of
 * file when the supervisor has exited: by then the work is captured, or the supervisor was killed.
 * A stale socket is harmless.
 *
 * The last GA_CONTROL_KEPT bytes of the command's output are kept for clients that connect later.
 * One terminal at a time is attached; the next one to attach takes over. A client that does not
 * keep up with the output misses some of it and is told so; the command never waits for a client.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/base/error.h"
#include "ga/run/run.h"
#include "ga/sandbox/sandbox.h"

#define GA_CONTROL_KEPT ((size_t)256 << 10)

/* ---- the supervisor's side; ga_run_session() does the rest */

struct ga_control;
/* The caller holds the session's lock. */
int ga_control_open(const char *dir, struct ga_control **ret, struct ga_error *err);
/* Close it and remove the socket. NULL is allowed. */
void ga_control_close(struct ga_control *l);

/* Remove the socket of a supervisor that was killed; the caller holds the session's lock. */
void ga_control_remove(const char *dir);

/* ---- the clients' side */

/* The supervisor's status, sent as this struct. */
struct ga_control_status {
	uint32_t detached; /* the supervisor itself has no terminal (`start -d`) */
	uint32_t before;   /* `setup` runs, before the agent, */
	uint32_t after;    /* or `finish`, after it */
	uint32_t attached; /* a terminal is attached */
	uint32_t asks;     /* a bell rang, or a notification was sent, since the last input */
	uint32_t shells;   /* number of further commands (ga_control_command()) */
	uint64_t idle;     /* milliseconds since the last output */
};
struct ga_control_peer {
	int fd;
	pid_t pid; /* the supervisor's */
	struct ga_control_status is;
};
#define GA_CONTROL_PEER_INIT { .fd = -1 }
void ga_control_peer_release(struct ga_control_peer *p);
#define cleanup_control_peer cleanup_(ga_control_peer_release)

/* Connect. Returns 1 if there is no supervisor (yet, or any more). */
int ga_control_connect(const char *dir, struct ga_control_peer *ret, struct ga_error *err);
/* Ask for its status and wait `ms` for the answer. Returns 1 if none comes, as while the work is
 * being captured. */
int ga_control_ask(struct ga_control_peer *p, unsigned ms, struct ga_error *err);
/* Wait until the supervisor has exited. Returns 1 if it still runs after `ms` (-1: no limit). */
int ga_control_wait(const struct ga_control_peer *p, int ms);

/* Tell it to end the command: by a hang-up and, if it still runs after `ms`, by SIGKILL. */
void ga_control_stop(const struct ga_control_peer *p, unsigned ms);
/* After ga_control_stop(), wait until the command has ended. Returns 0; 1 if the supervisor has
 * exited; 2 if neither happens within `ms` and a few seconds. */
int ga_control_wait_exit(const struct ga_control_peer *p, unsigned ms);

/* Type a text of at most GA_CONTROL_SEND_MAX bytes, or if `n` is 0 the key Enter, into a session
 * that is detached and whose agent runs. A text of several lines is sent as a bracketed paste, if
 * the agent enabled that. No character in it may be a control character but '\n' and '\t'. */
#define GA_CONTROL_SEND_MAX ((size_t)4000)
int ga_control_send(const struct ga_control_peer *p, const char *text, size_t n,
		    struct ga_error *err);

/* Attach the terminal on standard input and output, until one of the ends below. The session must
 * be detached and its agent running. Output goes through the filter of ga/run/termfilter.h unless
 * `unfiltered`; whatever happens, the terminal is restored when this returns. Signals are taken
 * over before; one that would end a program detaches first and takes effect then. */
enum ga_control_end {
	GA_CONTROL_GONE,     /* the supervisor has exited */
	GA_CONTROL_ENDED,    /* the command ended, with `*ret_status` */
	GA_CONTROL_DETACHED, /* Ctrl-\ d, or the terminal was hung up */
	GA_CONTROL_TAKEN,    /* another terminal attached */
};

/* Watch its last output and, with `follow`, all further output up to its end, filtered. */
#define GA_CONTROL_UNREAD 2
#define GA_CONTROL_OVER 3
struct ga_control_watch {
	bool follow;
	/* Returns 0, or GA_CONTROL_UNREAD to stop, as the reader has closed its end. */
	int (*output)(void *payload, const char *p, size_t n);
	void (*missed)(void *payload); /* some output was missed because we were too slow; or
					* NULL */
	void *payload;
};
/* Returns 0; GA_CONTROL_UNREAD if `output` stopped it; GA_CONTROL_OVER if the session ended before
 * it gave any. */
int ga_control_watch(const struct ga_control_peer *p, const struct ga_control_watch *w);

/* Make host changes below the layers of the running session visible inside (ga_mount_refresh()),
 * above all files that were replaced in a shared directory. `stage_dir` is that of its struct
 * ga_spec. Done by a child of ours that enters the namespaces of the stage. */
int ga_control_refresh(const struct ga_control_peer *p, const char *stage_dir,
		       struct ga_error *err);

/* Replace the overlay of a shared directory that the host recreated: mount one with these layers,
 * of which `work` is new, over the former, which remains for processes that have files open in it.
 * `project` is the session's. Fails if the agent has moved the directory that contains it. */
int ga_control_remount(const struct ga_control_peer *p, const char *stage_dir, const char *project,
		       const struct ga_shared *sh, struct ga_error *err);

/* Run a further command in its sandbox, like ga_run_session(). `c->envp` is not used: the
 * environment is that of the session's command, with TERM set to `term` (NULL: the same). It ends
 * with the session. */
int ga_control_command(const struct ga_control_peer *p, const struct ga_run_command *c,
		       const char *term, int *ret_status, struct ga_error *err);
int ga_control_attach(const struct ga_control_peer *p, bool unfiltered, enum ga_control_end *ret,
		      int *ret_status, struct ga_error *err);
