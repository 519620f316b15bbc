/* SPDX-License-Identifier: MIT
 *
 * Running a sandbox: launch, spawn, relay, teardown. One poll loop, one thread.
 *
 * From ga_run_trees() to ga_run_end() this takes over the caller's SIGCHLD, SIGWINCH, SIGINT,
 * SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT and SIGPIPE. While a session runs they are passed to
 * its command; at other times a signal that ends a program makes the current call fail and takes
 * effect after ga_run_end(). Signals that the caller ignores stay ignored, and so does SIGHUP after
 * a session or services were hung up, or after ga_run_ignore_hangup(). The terminal is restored on
 * every way out. Descriptors 0, 1 and 2 must be open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/net/net.h"
#include "ga/sandbox/sandbox.h"

struct ga_sandbox; /* a running sandbox: control socket, pidfd of its pid 1, bwrap's pid, log
		    * pipe */

struct ga_run_paths {
	const char *stage; /* absolute path of git-agent-stage */
	const char *init;  /* absolute path of git-agent-init */
	const char *bwrap;
};

/* Start the stage, which mounts everything except home and project, then bwrap; of `s` only what
 * ga_spec_plan_root() uses is needed. bwrap runs with a minimal environment, a session keyring of
 * its own (keyctl JOIN), no core dumps, and all descriptors but its own closed. init is visible
 * inside at /run/git-agent/init. No file of the agent runs before ga_run_session() or
 * ga_run_exec(). */
int ga_run_begin(const struct ga_spec *s, const struct ga_run_paths *p, struct ga_sandbox **ret,
		 struct ga_error *err);

/* The same for a program that executes another one at once: a child process, which the caller does
 * not wait for, sends the plan to the stage. One thread. ga_run_wait_sent(), in either program,
 * waits for that child; it returns false if the plan was not sent completely, in which case
 * ga_run_begin() fails for the same reason. */
int ga_run_begin_async(const struct ga_spec *s, const struct ga_run_paths *p,
		       struct ga_sandbox **ret, struct ga_error *err);
bool ga_run_wait_sent(struct ga_sandbox *sb);

/* For a program that begins a sandbox and then executes another program, which continues with it:
 * append one word that describes the sandbox to that program. Its descriptors now stay open across
 * exec(3), so execute at once, or call ga_run_finish(). */
int ga_run_hand_over(struct ga_sandbox *sb, struct ga_buf *ret, struct ga_error *err);
/* In that other program: from such a word, what ga_run_begin_async() returned. */
int ga_run_take_over(const char *word, struct ga_sandbox **ret, struct ga_error *err);

/* Have the agents' home, which must exist, mounted. Call it after ga_run_wait_sent(). */
int ga_run_home(struct ga_sandbox *sb, const struct ga_spec *s, struct ga_error *err);

/* Have the project, which must exist with all its layers, mounted; returns while the layers are
 * being mounted and bwrap and init start. If this or a later step fails, `sb` must still be
 * finished. */
int ga_run_trees(struct ga_sandbox *sb, const struct ga_spec *s, struct ga_error *err);

/* Wait until init is READY and everything is mounted. On failure the stage's record, or what bwrap
 * wrote to the log pipe, becomes the error (GA_ESTART). */
int ga_run_wait_ready(struct ga_sandbox *sb, struct ga_error *err);

/* ga_run_begin() to ga_run_wait_ready() in one, for a caller with nothing to do in between. */
int ga_run_launch(const struct ga_spec *s, const struct ga_run_paths *p, struct ga_sandbox **ret,
		  struct ga_error *err);

/* Serve an entered relay while commands run. The caller keeps it and must not free it before; NULL:
 * stop serving. */
void ga_run_relay(struct ga_sandbox *sb, struct ga_relay *r);

/* Facts about the sandbox; the first two are valid once it is ready. */
struct ga_run_facts {
	pid_t pid;      /* pid 1 of the sandbox, in our pid namespace */
	uint64_t pidns; /* inode number of its pid namespace */
	bool lost;      /* the project was moved inside while a command ran (GA_CTL_LOST in
			 * ga/run/init-protocol.h): what was written under its path after that is
			 * not in its layers */
	int no_renames; /* the errno for which renames of directories could not be served for a
			 * command that asked for it (GA_SPAWN_RENAMES); 0 if they were */
};
const struct ga_run_facts *ga_run_facts(const struct ga_sandbox *sb);

/* Append what the stage reported as "loose" (ga/sandbox/plan.h), once the sandbox is ready:
 * directories of the home ("home/REL") in which a credential file that the host creates from now on
 * would be visible, and absolute paths of system directories in which a file that only root may
 * read would be. */
void ga_run_loose(const struct ga_sandbox *sb, struct ga_strv *ret);

/* Run a command to its end with the caller's terminal or standard streams relayed: through a pty of
 * its own if standard input and output are terminals, else through a pipe for each of the three
 * (never the caller's own files). Job control, window size and hang-up work as in a shell. The
 * command is ended, as by a hang-up, when the project is lost. Output to a terminal goes through
 * the filter of ga/run/termfilter.h unless `unfiltered`; in either case the terminal's state is
 * reset afterwards. `*ret_status` is the command's: 0-255, 128+n. A command that could not be
 * executed is GA_ESTART. */
struct ga_run_sink;
struct ga_control;
struct ga_run_command {
	const char *cwd;
	const char *const *argv;
	const char *const *envp;
	bool unfiltered;
	bool renames; /* serve renames of directories that an overlay refuses */
	/* Called every `tick_ms` or so while it runs; must not block. Returns true to end the
	 * command, as by a hang-up. NULL: not called. */
	unsigned tick_ms;
	bool (*tick)(void *payload);
	void *payload;
	uint64_t *written; /* set to the bytes of output so far before each call of `tick`; NULL */
	const struct ga_run_sink *sink; /* receives the output; NULL: none */
	/* Called once, after the command was executed; NULL: not called. */
	void (*started)(void *payload);
	/* The access that other processes have (ga/run/control.h); NULL: none. */
	struct ga_control *control;
	/* A `setup` or `finish` command of the user. Its standard input is empty, and its output
	 * goes to standard error or, if `silent`, is discarded. Others can see it and end it
	 * through `control`, but not attach. A signal that ends programs is passed on to it, and
	 * kills it soon after. */
	bool auxiliary, silent;
	bool after; /* it runs after the agent has exited */
	int *signal; /* set to a signal that ends programs, if one came while it ran; NULL */
	bool *ended; /* set if its end was asked for, by `tick`, a hang-up or `control`; NULL */
	/* Runs on a pty of this size that is reached through `control`, not on the caller's
	 * terminal. With `auxiliary`: the agent has such a pty, this command has none. */
	bool detached;
	unsigned columns, rows;
	/* Called after the user typed Ctrl-\ d and the caller's terminal was released: from then on
	 * the command is `detached`. Needs `control`. NULL: these keys go to the command. */
	void (*leave)(void *payload);
};
/* A listener to a session's output. */
struct ga_run_sink {
	/* Raw output of the command, before any filter: of its terminal, or standard output and
	 * error in one stream. */
	void (*output)(void *payload, const char *p, size_t n);
	/* The size of its terminal, first at the start and then whenever it may have changed; never
	 * called without a terminal. */
	void (*size)(void *payload, unsigned columns, unsigned rows);
	void *payload;
};
int ga_run_session(struct ga_sandbox *sb, const struct ga_run_command *c, int *ret_status,
		   struct ga_error *err);

/* A service: a background command. Its output goes to a file NAME.log in the directory `log`, and
 * the previous one, NAME.log.old, of at most 4 MiB each; it is written while some command runs by
 * ga_run_session(). A service ends with the sandbox. They are numbered from 0; the caller starts at
 * most GA_RUN_SERVICES_MAX. */
#define GA_RUN_SERVICES_MAX 16
struct ga_run_service {
	const char *name; /* can be used in a file name */
	const char *cwd;
	const char *const *argv;
	const char *const *envp;
	bool renames;
	const char *log;
};
int ga_run_service(struct ga_sandbox *sb, const struct ga_run_service *v, struct ga_error *err);
struct ga_run_service_state {
	bool over, failed; /* `failed`: it was not executed, and `status` is an errno */
	int status;        /* 128 + n for signal n */
	const struct ga_tail *tail; /* of what it wrote; valid while the sandbox exists */
};
size_t ga_run_services(const struct ga_sandbox *sb); /* the number of services */
void ga_run_service_state(const struct ga_sandbox *sb, size_t i, struct ga_run_service_state *ret);
/* End all services by SIGTERM, and kill them if they have not ended after `ms`, or at a signal that
 * ends programs. */
void ga_run_services_end(struct ga_sandbox *sb, unsigned ms);

/* Run a command without a terminal: bytes in, bytes out (an error beyond `out_max`), or its output
 * streamed to `out_fd` if that is not -1. Standard error goes to `errout`, truncated at 64 KiB.
 * `timeout_ms` 0: none. */
struct ga_run_exec {
	const char *cwd;
	const char *const *argv;
	const char *const *envp;
	const struct ga_buf *in; /* may be NULL */
	struct ga_buf *out;
	size_t out_max;
	int out_fd;
	struct ga_buf *errout;
	unsigned timeout_ms;
};
int ga_run_exec(struct ga_sandbox *sb, const struct ga_run_exec *x, int *ret_status,
		struct ga_error *err);

/* Ignore SIGHUP from now on, for a caller that must finish its work after a session although the
 * terminal is closed. Programs it runs ignore it as well. */
void ga_run_ignore_hangup(void);

/* End it: kill everything inside, then wait until pid 1's pidfd is readable. After this nothing
 * writes to the layers, and the caller handles signals again. The layers may remain mounted in some
 * namespace until ga_run_finish(): they can be read, but must not be mounted a second time. NULL is
 * fine. */
void ga_run_end(struct ga_sandbox *sb);
/* The same, then wait until stage and bwrap have exited, too. Frees `sb`; NULL is allowed. */
void ga_run_finish(struct ga_sandbox *sb);
/* The same without that wait, for a program about to exit: the kernel takes some milliseconds to
 * unmount what the stage mounted. Stage and bwrap are reparented while they exit. */
void ga_run_abandon(struct ga_sandbox *sb);

/* For recovery: does the sandbox with this pid 1 and this pid namespace still exist? Both are
 * compared, because the kernel reuses either number. */
bool ga_run_alive(pid_t pid, uint64_t pidns);
