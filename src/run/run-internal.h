/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "ga/base/clock.h"
#include "ga/run/init-protocol.h"
#include "ga/run/run.h"
#include "ga/run/termfilter.h"

struct ga_sandbox {
	int ctl;            /* our end of the control socket; closing it ends the sandbox */
	int pidfd;          /* pidfd of pid 1, -1 before READY */
	int child;          /* pidfd of the stage */
	int status;         /* pipe of the stage's records; at end of file everything is mounted */
	struct ga_buf records; /* of the stage, read so far */
	int log;            /* standard error of bwrap and init, non-blocking */
	int plan;           /* the stage's plan; -1 once it is sent completely */
	int args, seccomp;  /* bwrap's input, likewise */
	int sigfd;
	struct ga_run_facts is;
	pid_t bwrap;        /* 0 once reaped */
	pid_t sender;       /* the child of ga_run_begin_async(); 0 once reaped */
	struct ga_relay *relay; /* the caller's, or NULL */
	char *cgroup;       /* its cgroup, to be removed with it; or NULL */
	uint32_t last_id;
	struct run_services *services; /* NULL: none */
	char *trees;        /* init-messages.c: the project as the stage has it, or NULL ... */
	struct ga_strv shared; /* ... and for each shared directory its path in it, and the file
			       * that says that it was removed */
	bool elsewhere;     /* another process runs the sandbox: `ctl` is a socket to that */
	bool masked;        /* old_mask must be restored */
	sigset_t old_mask;
};

struct ga_sandbox *run_sandbox_new(void);
/* Wait until the process of `pidfd` has exited; false if it has not after `ms` (-1: no limit). */
bool run_wait_gone(int pidfd, int ms);
/* Kill bwrap and its children, and reap it. Returns its wait status. */
int run_kill_bwrap(struct ga_sandbox *sb);

/* ---- polling the relay, if there is one */

static inline struct pollfd run_relay_poll(const struct ga_sandbox *sb)
{
	return (struct pollfd){ .fd = sb->relay ? ga_relay_fd(sb->relay) : -1, .events = POLLIN };
}

/* The latest time to serve it; 0: never. */
static inline int64_t run_relay_next(const struct ga_sandbox *sb)
{
	return sb->relay ? ga_relay_next(sb->relay) : 0;
}

static inline void run_relay_serve(const struct ga_sandbox *sb, const struct pollfd *p)
{
	int64_t next = p->revents ? 0 : run_relay_next(sb);

	if (p->revents || (next && ga_now_ms() >= next))
		ga_relay_serve(sb->relay);
}

/* ---- confine.c: control groups, version 2 */

struct run_cgroup_setting {
	const char *controller; /* the controller that the file belongs to */
	const char *file, *value;
	bool optional; /* no error if the file does not exist */
};
/* The directory of a process's cgroup (0: our own); NULL without cgroup version 2. */
char *run_cgroup_of(pid_t pid);
/* The nearest cgroup, from our own upwards, in which a group with these settings can be created;
 * with `marked`, only those that systemd marks as delegated and that contain no manager. NULL:
 * none. */
char *run_cgroup_find(const struct run_cgroup_setting *v, size_t n, bool marked);
/* Create a group in `parent` with these settings, and move a process there. `*ret` must be removed
 * when that has exited. Stale groups of killed sessions are removed, too. */
int run_cgroup_enter(const char *parent, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		     char **ret, struct ga_error *err);
/* The number that follows a word in a file of a group; 0 if it is not there. */
uint64_t run_cgroup_number(const char *dir, const char *file, const char *word);
/* Does a file of a group have this value? */
bool run_cgroup_has(const char *dir, const char *file, const char *value);

/* ---- signals.c: signals of the caller while a sandbox runs */

/* Block the signals and open the descriptor for them; undone by run_signals_restore(). */
int run_signals_take(struct ga_sandbox *sb, struct ga_error *err);
void run_signals_restore(struct ga_sandbox *sb);
/* The next signal that arrived, 0 if none. */
int run_signals_next(const struct ga_sandbox *sb);
/* The same for a caller that acts on it. When a terminal is closed SIGHUP arrives more than once:
 * from the shell, and again when the shell exits. After the first one, SIGHUP is neither reported
 * nor ends us while the work is captured. */
int run_signals_act(const struct ga_sandbox *sb);
/* Is a signal that ends programs pending? Returns its number and leaves it pending: the caller
 * fails, and the signal takes effect when the mask is restored. */
int run_signals_fatal_pending(void);
/* Stop as Ctrl-Z stops a job, and return when continued. */
void run_signals_suspend(const struct ga_sandbox *sb);

/* ---- init-messages.c: talking to init */

/* Create a pipe whose end `ret_ours` does not block. The caller closes both, also on failure. */
int run_pipe(int *ret_ours, int *ret_theirs, bool we_read, struct ga_error *err);
/* Request a command. `fds` are duplicated; `n` is 1 (GA_SPAWN_TTY) or 3. `*ret_id` identifies it in
 * messages. */
int run_spawn(struct ga_sandbox *sb, uint32_t flags, const char *cwd, const char *const *argv,
	      const char *const *envp, const int *fds, size_t n, uint32_t *ret_id,
	      struct ga_error *err);
void run_send(const struct ga_sandbox *sb, uint32_t type, uint32_t id, int32_t value);
/* Returns 1 with a message; 0 if there is none; -1 if the socket is closed (err has the last line
 * of bwrap or init). Records GA_CTL_LOST. */
int run_recv(struct ga_sandbox *sb, struct ga_ctl_msg *m, struct ga_error *err);
/* The same, with the sender's pid, and without the reason at the end. A descriptor is accepted only
 * with `ret_fd`, which is left alone if none comes, else it is the caller's. */
int run_recv_raw(const struct ga_sandbox *sb, struct ga_ctl_msg *m, pid_t *ret_pid, int *ret_fd);
/* The master of a new terminal of the sandbox, or -1. Messages for clients of `control` (may be
 * NULL) are passed on while waiting. */
int run_ask_pty(struct ga_sandbox *sb, struct ga_control *control, struct ga_error *err);
int run_ctl_ended(const struct ga_sandbox *sb, struct ga_error *err);
/* Turn a FAILED message into an error. */
int run_spawn_failed(const struct ga_ctl_msg *m, const char *cwd, const char *program,
		     struct ga_error *err);
/* Append the last line from the log pipe, quoted; false if there is none. */
bool run_log_line(const struct ga_sandbox *sb, struct ga_buf *ret);

/* run_recv() with a descriptor, the master of a pty, which becomes the caller's; -1: none came. */
int run_recv_fd(struct ga_sandbox *sb, struct ga_ctl_msg *m, int *ret_fd, struct ga_error *err);

/* ---- stream.c: opening */

struct run_terminal;
/* Open a pty of the sandbox with the settings and size of the caller's terminal. */
int run_pty_open(struct ga_sandbox *sb, struct ga_control *control, const struct run_terminal *t,
		 int *ret_master, int *ret_slave, struct ga_error *err);

/* ---- terminal.c: the caller's terminal */

struct run_terminal {
	int fd;                /* the terminal; -1: none */
	bool raw;              /* we changed its settings */
	struct termios saved;  /* its original settings */
	struct ga_termfilter *filter; /* the filter that knows which modes are switched on */
};
/* Reopen the file of `fd` for non-blocking writes: O_NONBLOCK belongs to the open file description,
 * which other processes share. The caller closes it; -1 if it cannot be opened, as another user's
 * terminal (su) or a socket. */
int run_open_again(int fd);
/* Write to a terminal; fails after a second without progress. */
void run_terminal_write(int fd, const char *p, size_t n);
int run_terminal_raw(struct run_terminal *t);
void run_terminal_restore(struct run_terminal *t);
void run_pty_resize(const struct run_terminal *t, int master);

/* ---- stream.c: bytes from one descriptor to another */

#define RUN_STREAM_CHUNK ((size_t)32 << 10)
/* Bytes read at a time when they go through a filter. */
#define RUN_FILTER_CHUNK ((size_t)4 << 10)

/* One direction of data. Reading stops while the buffer is full, so memory is bounded and a fast
 * writer is held up by its own pipe. */
struct run_stream {
	int from, to;          /* -1 when done */
	bool own_from, own_to; /* we close it */
	bool small;            /* `to` blocks: write only as much at a time as poll(2) guarantees */
	bool limited;          /* read at most `left` more bytes, and not beyond the first time
				* there are none */
	size_t left;
	uint64_t total;        /* bytes read so far */
	struct ga_termfilter *filter; /* the caller's, for a terminal; or NULL */
	bool watch;            /* the filter only observes */
	struct run_keys *keys; /* the caller's: our keys are removed; or NULL */
	bool leave;            /* they were typed */
	bool cut;              /* not everything that was read was written */
	const struct ga_run_sink *sink; /* the caller's, or NULL */
	size_t at, n;          /* pending bytes */
	char buf[RUN_STREAM_CHUNK];
};
#define RUN_STREAM_POLLS 2
/* Is there nothing left to read or write? */
bool run_stream_done(const struct run_stream *s);
/* Fill in the poll events; after poll(2), move available data. */
void run_stream_poll(const struct run_stream *s, struct pollfd p[RUN_STREAM_POLLS]);
void run_stream_move(struct run_stream *s, const struct pollfd p[RUN_STREAM_POLLS]);
/* After the writer has exited: read its remaining output, at most `most` bytes, without waiting for
 * other processes that hold the pipe open. */
void run_stream_finish(struct run_stream *s, size_t most);
/* Does the buffer have room for the rest? Then do not poll: nothing announces the end. */
bool run_stream_stop_waiting(const struct run_stream *s);
void run_stream_close(struct run_stream *s);
/* Reset the modes that the output enabled in the terminal `fd`. */
void run_stream_undo(struct run_stream *s, int fd);

/* Redirect the stream to `fd`, which it takes over, unfiltered. */
void run_stream_turn(struct run_stream *s, int fd);

/* ---- terminal.c: input of an attached terminal */

#define RUN_KEYS_HELD 32
struct run_keys {
	size_t n;
	char held[RUN_KEYS_HELD]; /* the first of our two keys, until the next key */
};
/* Returns true if the user detached. `out` gets the input for the session, and has room for
 * RUN_KEYS_HELD more bytes than `in`. */
bool run_keys(struct run_keys *k, const char *in, size_t n, char *out, size_t *ret_n);

/* ---- service.c: background commands, if any */

void run_services_poll(const struct ga_sandbox *sb, struct pollfd p[GA_RUN_SERVICES_MAX]);
void run_services_move(const struct ga_sandbox *sb, const struct pollfd p[GA_RUN_SERVICES_MAX]);
/* Process a message about one of the services. */
void run_services_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m);
void run_services_free(struct ga_sandbox *sb);
bool run_services_over(const struct run_services *all);
void run_services_signal(const struct ga_sandbox *sb, int n);

/* ---- init-messages.c: shared directories that a program inside removes */

void run_shares_set(struct ga_sandbox *sb, const struct ga_spec *s);
/* Flags of a GA_CTL_SPAWN: GA_SPAWN_DEEP if there is one in a directory of the project. */
uint32_t run_shares_flags(const struct ga_sandbox *sb);
/* Answer the message if it is about a shared directory. */
void run_shares_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m);

/* ---- control.c: the supervisor's side of ga/run/control.h */

struct ga_control;
struct run_control_session {
	struct ga_sandbox *sb;
	const char *const *envp;
	bool detached;
	bool auxiliary, after;   /* as in struct ga_run_command; attaching is refused then */
	bool renames;            /* renames are served for this and further commands */
	unsigned columns, rows;  /* size of the command's terminal */
	void *payload;
	/* requests of clients */
	void (*size)(void *payload, unsigned columns, unsigned rows);
	void (*stop)(void *payload, unsigned ms);
	void (*resume)(void *payload); /* continue the command, which was stopped */
};
#define RUN_CONTROL_POLLS (2 + 64)
/* Input of clients is read from `*ret_typed`, which the callee owns; -1: none. */
int run_control_begin(struct ga_control *l, const struct run_control_session *s, int *ret_typed,
		      struct ga_error *err);
/* The same once its session has become detached. */
int run_control_detach(struct ga_control *l, int *ret_typed, struct ga_error *err);
void run_control_output(struct ga_control *l, const char *p, size_t n);
void run_control_typed(struct ga_control *l); /* the command was given input */
void run_control_poll(const struct ga_control *l, struct pollfd p[RUN_CONTROL_POLLS]);
void run_control_move(struct ga_control *l, const struct pollfd p[RUN_CONTROL_POLLS]);
int64_t run_control_next(const struct ga_control *l); /* 0: never */
/* Pass on a message of init that is not about the session's command; false if it has no
 * recipient. */
bool run_control_message(struct ga_control *l, const struct ga_ctl_msg *m, int *fd);
/* The command was stopped from its terminal. Returns false if no client could continue it. */
bool run_control_stopped(struct ga_control *l);
/* The command has ended, and another one of the session follows: clients are not notified. */
void run_control_pause(struct ga_control *l);
/* The command has ended: all clients get the rest of the output and its status. */
void run_control_end(struct ga_control *l, int status);

enum { IN, OUT, ERR, N_STREAMS };

struct session {
	struct ga_sandbox *sb;
	uint32_t id;
	bool tty;
	bool detached;             /* without the caller's terminal */
	struct run_keys keys;
	bool unfiltered;
	const struct ga_run_command *c;
	struct ga_control *control;      /* or NULL */
	struct run_control_session control_session;
	struct ga_run_sink sink, typed;
	bool started, exited;
	int status;
	int master;                /* master of the pty; -1 without one, or once hung up */
	struct run_terminal term;
	struct run_stream *streams; /* IN, OUT, ERR; with a terminal there is no ERR */
	int64_t start_by;          /* by when the command must be executed */
	int64_t deadline;          /* when to kill it, after it was told to end; 0: none */
	int64_t term_at;           /* when to send SIGTERM again */
	int64_t tick;              /* when to call `tick` next; 0: never */
	bool killed;
	bool suspended;            /* we stopped it, not the command itself */
	int signal;                /* the fatal signal that an auxiliary command got */
};

/* Open the command's standard streams, `theirs`, which the caller closes: a terminal of the sandbox
 * (theirs[0]) or pipes; our ends go into s->streams. */
int session_open(struct session *s, int theirs[3], struct ga_error *err);
void session_resize(const struct session *s);
void session_set_size(void *payload, unsigned columns, unsigned rows);
/* Callback of s->typed: the command is given input. */
void session_typed(void *payload, const char *p, size_t n);
/* Callback of s->sink: pass output on to clients and the recorder. */
void session_output(void *payload, const char *p, size_t n);

/* ---- record.c: names of the recordings of a session's runs, from 1 */

#define RECORD_RUNS_MAX 9999
