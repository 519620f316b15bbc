/* SPDX-License-Identifier: MIT
 *
 * Running a sandbox: launch, spawn, relay, teardown. One poll loop, one
 * thread. The caller's SIGCHLD, SIGWINCH, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and
 * SIGPIPE are taken over between ga_run_trees() and ga_run_end(); during a session they are the
 * command's, at other times one that ends a program makes the call fail and takes effect after
 * ga_run_end(). What the caller ignores stays ignored, and so does SIGHUP once a session or
 * services were hung up, or ga_run_ignore_hangup() was called. The terminal is restored on every
 * way out. Descriptors 0, 1 and 2 must be open.
 */
#ifndef GA_RUN_H
#define GA_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/net.h"
#include "ga/sandbox.h"
#include "ga/strv.h"

struct ga_sandbox; /* a running one: control socket, pidfd of its pid 1, bwrap's pid, log pipe */

struct ga_run_paths {
	const char *stage; /* absolute path of git-agent-stage */
	const char *init;  /* absolute path of git-agent-init */
	const char *bwrap;
};

/* Start the stage and let it mount what surrounds home and project, and then start bwrap; of `s`
 * only what ga_spec_plan_root() names need be known yet. bwrap runs in a minimal environment, with
 * a session keyring of its own (keyctl JOIN), no core dumps, all descriptors but its own closed.
 * init is shown inside at /run/git-agent/init. Nothing of the agent's runs before
 * ga_run_session() or ga_run_exec(). */
int ga_run_begin(const struct ga_spec *s, const struct ga_run_paths *p, struct ga_sandbox **ret,
		 struct ga_error *err);

/* The same for a program that is going to execute another at once: what the stage is told is
 * gathered by a child process, which the caller does not wait for. One thread. ga_run_told(), in
 * either program, waits for it: false if the stage was not told all, and why is met again by
 * ga_run_begin(). */
int ga_run_begin_beside(const struct ga_spec *s, const struct ga_run_paths *p,
			struct ga_sandbox **ret, struct ga_error *err);
bool ga_run_told(struct ga_sandbox *sb);

/* For a program that begins a sandbox and then executes another, which goes on with it: append
 * one word that says to that one what there is. Its descriptors stay open across exec(3) from now
 * on, so execute at once, or ga_run_finish(). */
int ga_run_hand_over(struct ga_sandbox *sb, struct ga_buf *ret, struct ga_error *err);
/* In that other program: from such a word what ga_run_begin_beside() gave. */
int ga_run_take_over(const char *word, struct ga_sandbox **ret, struct ga_error *err);

/* The agents' home, which must be there. After ga_run_told(). */
int ga_run_home(struct ga_sandbox *sb, const struct ga_spec *s, struct ga_error *err);

/* The project, which must be there with all its layers; return while they are mounted
 * and bwrap and init come up. On failure here or below `sb` is still to be finished. */
int ga_run_trees(struct ga_sandbox *sb, const struct ga_spec *s, struct ga_error *err);

/* Wait until init is READY and everything is mounted. On failure the stage's record, or what bwrap
 * wrote to the log pipe, becomes the error (GA_ESTART). */
int ga_run_wait_ready(struct ga_sandbox *sb, struct ga_error *err);

/* All four, for who has nothing to do meanwhile. */
int ga_run_launch(const struct ga_spec *s, const struct ga_run_paths *p, struct ga_sandbox **ret,
		  struct ga_error *err);

/* Serve a relay, entered already, while a command runs in here. It stays the caller's, and must be
 * there as long; NULL: none any more. */
void ga_run_relay(struct ga_sandbox *sb, struct ga_relay *r);

/* Have all connections of its commands told on this socket (ga/connects.h), which stays the
 * caller's: before the first command. One that cannot be watched so is not started. */
int ga_run_learn(struct ga_sandbox *sb, int fd, struct ga_error *err);

/* Facts for the state file, known once it is ready. */
pid_t ga_run_pid(const struct ga_sandbox *sb);      /* pid 1 of the sandbox, in our pid namespace */
uint64_t ga_run_pidns(const struct ga_sandbox *sb); /* inode number of its pid namespace */

/* Append the directories of the home ("home/REL") in which a credential file that the host puts
 * there from now on shows, and absolute paths of those of the system in which one does that only
 * root may read (those that are "loose" in ga/plan.h). Once it is ready. */
void ga_run_loose(const struct ga_sandbox *sb, struct ga_strv *ret);

/* Did the project leave its place inside while a command ran? (GA_CTL_LOST in ga/control.h.) What
 * was written under its path after that is not in its layers. */
bool ga_run_lost(const struct ga_sandbox *sb);

/* Why that could not be served for a command that asked for it: an errno, 0 if it was. */
int ga_run_no_renames(const struct ga_sandbox *sb);

/* Run a command to its end with the caller's terminal or standard streams
 * relayed: a pty of its own when standard input and output are terminals, else
 * pipes for each of the three (never the caller's own files). Job control, window
 * size, hang-up as the shell user expects. It is ended, as by a hang-up, when the project is
 * lost. What goes to a terminal goes through the filter of ga/termfilter.h unless `unfiltered`; in
 * either case what is left switched on there is undone. `*ret_status` is the agent's: 0-255,
 * 128+n. A command that could not be executed is GA_ESTART. */
struct ga_run_sink;
struct ga_live;
struct ga_run_command {
	const char *cwd;
	const char *const *argv;
	const char *const *envp;
	bool unfiltered;
	bool renames; /* serve renames of directories that an overlay refuses (ga/control.h) */
	/* called every so often while it runs; must not block. True: end it, as by a hang-up.
	 * NULL: not called */
	unsigned tick_ms;
	bool (*tick)(void *payload);
	void *payload;
	uint64_t *written; /* before each call of that: bytes of its output so far; NULL */
	const struct ga_run_sink *sink; /* NULL: nobody */
	/* called once, when the command was executed; NULL: not called */
	void (*started)(void *payload);
	/* who else sees and asks for something (ga/live.h); NULL: nobody can */
	struct ga_live *live;
	/* A command of the user's before or after the agent's: it has nothing to read, and all it
	 * writes goes to standard error, or with `silent` nowhere. Others can see it and end it
	 * through `live`, and not attach. A signal that ends programs is passed on to it, ends it
	 * soon after, and is in `*signal` then. */
	bool beside, silent;
	bool after; /* of those: there is no agent to come */
	int *signal;
	bool *ended; /* somebody asked for its end: `tick`, a hang-up, `live`; NULL */
	/* nothing of the caller's: a pty of that size, which is reached through `live`; with
	 * `beside` no pty, and that the agent has one so */
	bool detached;
	unsigned columns, rows;
};
/* Who looks on. */
struct ga_run_sink {
	/* what the command wrote, as it comes, before any filter: to its terminal, or to standard
	 * output and error one after the other */
	void (*output)(void *payload, const char *p, size_t n);
	/* the size of its terminal, at first and whenever it may be another; without one never */
	void (*size)(void *payload, unsigned columns, unsigned rows);
	void *payload;
};
int ga_run_session(struct ga_sandbox *sb, const struct ga_run_command *c, int *ret_status,
		   struct ga_error *err);

/* A command that runs on beside others. What it writes is in the directory `log`, a file NAME.log
 * and the one before it, NAME.log.old, of 4 MiB each; whoever runs a command here with
 * ga_run_session() sees to that. Ends with the sandbox. The first is number 0, and there are no
 * more than that: the caller counts. */
#define GA_RUN_SERVICES_MAX 16
struct ga_run_service {
	const char *name; /* one that a file can have */
	const char *cwd;
	const char *const *argv;
	const char *const *envp;
	bool renames;
	const char *log;
};
int ga_run_service(struct ga_sandbox *sb, const struct ga_run_service *v, struct ga_error *err);
struct ga_run_service_state {
	bool over, failed; /* `failed`: it never ran, and `status` is an errno */
	int status;        /* 128 + n for signal n */
	const char *tail;  /* the last it wrote, 1 KiB at most; bytes, while the sandbox is there */
	size_t tail_n;
};
size_t ga_run_services(const struct ga_sandbox *sb); /* how many */
void ga_run_service_state(const struct ga_sandbox *sb, size_t i, struct ga_run_service_state *ret);
/* Ask all of them to end by SIGTERM, and kill them when they have not after `ms`, or at a signal
 * that ends programs. */
void ga_run_services_end(struct ga_sandbox *sb, unsigned ms);

/* Run a command without a terminal: bytes in, bytes out (bounded, error beyond `out_max`), or its
 * output streamed to `out_fd` when that is not -1. Standard error goes to
 * `errout`, cut at 64 KiB. `timeout_ms` 0: none. */
struct ga_run_exec {
	const char *cwd;
	const char *const *argv;
	const char *const *envp;
	const void *in;
	size_t in_len;
	struct ga_buf *out;
	size_t out_max;
	int out_fd;
	struct ga_buf *errout;
	unsigned timeout_ms;
};
int ga_run_exec(struct ga_sandbox *sb, const struct ga_run_exec *x, int *ret_status,
		struct ga_error *err);

/* Ignore SIGHUP from now on: for who has work to do behind a session, and is not to leave it undone
 * for a terminal that goes. What it runs ignores it as well. */
void ga_run_ignore_hangup(void);

/* End it: everything inside is killed, then wait until pid 1's pidfd is
 * readable. After this nothing writes to the layers any more, and signals are the caller's
 * again. The layers stay mounted somewhere until ga_run_finish(): they can be read, but
 * must not be mounted a second time. NULL is fine. */
void ga_run_end(struct ga_sandbox *sb);
/* The same, then wait until stage and bwrap are gone too. Frees `sb`; NULL is fine. */
void ga_run_finish(struct ga_sandbox *sb);
/* The same without that wait, for a program about to end itself: the kernel takes some
 * milliseconds to unmount what the stage mounted. They are dying, and nobody's children then. */
void ga_run_leave(struct ga_sandbox *sb);

/* For recovery: is the sandbox with this pid 1 and this pid namespace still there?
 * Both, since the kernel uses either number again. */
bool ga_run_alive(pid_t pid, uint64_t pidns);

#endif
