/* SPDX-License-Identifier: MIT
 *
 * Internals of src/run.
 */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "ga/base/clock.h"
#include "ga/run/control.h"
#include "ga/run/run.h"
#include "ga/run/termfilter.h"

struct ga_sandbox {
	int ctl;            /* our end of the control socket; closing it ends the sandbox */
	int pidfd;          /* pidfd of pid 1, -1 before READY */
	int child;          /* pidfd of the stage */
	int status;         /* pipe of the stage's records; at end of file everything is mounted */
	struct ga_buf said; /* the records read so far */
	int log;            /* standard error of bwrap and init, non-blocking */
	int plan;           /* the stage's plan; -1 once it is sent completely */
	int args, seccomp;  /* bwrap's input, likewise */
	int sigfd;
	struct ga_run_facts is;
	pid_t bwrap;        /* 0 once reaped */
	pid_t teller;       /* the child of ga_run_begin_beside(); 0 once reaped */
	struct ga_relay *relay; /* the caller's, or NULL */
	char *cgroup;       /* its cgroup, to be removed with it; or NULL */
	uint32_t last_id;
	struct run_services *services; /* NULL: none */
	char *trees;        /* control.c: the project as the stage has it; NULL: not yet ... */
	struct ga_strv shared; /* ... and for each shared directory its path in it, and the file
			       * that says that it was removed */
	bool elsewhere;     /* another process runs the sandbox: `ctl` is a socket to that */
	bool masked;        /* old_mask must be restored */
	sigset_t old_mask;
};

struct ga_sandbox *run_sandbox_new(void);
/* Wait until the process of `pidfd` is gone; false if it is not after `ms` (-1: no limit). */
bool run_wait_gone(int pidfd, int ms);
/* Kill bwrap and what it started, and reap it. Returns its wait status. */
int run_kill_bwrap(struct ga_sandbox *sb);

/* ---- the relay of the sandbox's network, for whoever waits; nothing without a relay */

static inline struct pollfd run_relay_poll(const struct ga_sandbox *sb)
{
	return (struct pollfd){ .fd = sb->relay ? ga_relay_fd(sb->relay) : -1, .events = POLLIN };
}

/* When it is to be served at the latest; 0: never. */
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
/* The nearest directory, from our own group upwards, in which we may make a group with these
 * settings; with `marked` only among groups that systemd marks as delegated and that no manager is
 * in. NULL: there is none. */
char *run_cgroup_find(const struct run_cgroup_setting *v, size_t n, bool marked);
/* Make a group in `parent` with these settings, and move a process there. `*ret` must be removed
 * when that is gone. Also removes groups left by sessions that were killed. */
int run_cgroup_enter(const char *parent, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		     char **ret, struct ga_error *err);
/* The number that follows a word in a file of a group; 0 if it is not there. */
uint64_t run_cgroup_number(const char *dir, const char *file, const char *word);
/* Does a file of a group have this value? */
bool run_cgroup_has(const char *dir, const char *file, const char *value);

/* ---- signals.c: what the caller's signals mean while a sandbox runs */

/* Block the signals and open the descriptor for them; undone by run_signals_restore(). */
int run_signals_take(struct ga_sandbox *sb, struct ga_error *err);
void run_signals_restore(struct ga_sandbox *sb);
/* The next signal that arrived, 0 if none. */
int run_signals_next(const struct ga_sandbox *sb);
/* The same for a caller that acts on it. When a terminal goes away SIGHUP comes more than once: the
 * shell passes it on to its jobs, and its own end causes another one. So after the first SIGHUP,
 * whether read here or noticed otherwise, none is reported any more, and none ends us while the
 * work is captured. */
int run_signals_act(const struct ga_sandbox *sb);
/* Is a signal that ends programs pending? Returns its number and leaves it pending: the caller
 * fails, and the signal takes effect when the mask is restored. */
int run_signals_fatal_pending(void);
/* Stop as Ctrl-Z stops a job, and return when continued. */
void run_signals_suspend(const struct ga_sandbox *sb);

/* ---- control.c: talking to init */

/* Create a pipe, of which our end does not block. Both are the caller's, also on failure. */
int run_pipe(int *ret_ours, int *ret_theirs, bool we_read, struct ga_error *err);
/* Request a command. `fds` are duplicated; `n` is 1 (GA_SPAWN_TTY) or 3. `*ret_id` identifies it in
 * messages. */
int run_spawn(struct ga_sandbox *sb, uint32_t flags, const char *cwd, const char *const *argv,
	      const char *const *envp, const int *fds, size_t n, uint32_t *ret_id,
	      struct ga_error *err);
void run_send(const struct ga_sandbox *sb, uint32_t type, uint32_t id, int32_t value);
/* Returns 1 with a message; 0 if there is none; -1 if the socket is closed (err is set, with what
 * bwrap or init said last). Records GA_CTL_LOST. */
int run_recv(struct ga_sandbox *sb, struct ga_ctl_msg *m, struct ga_error *err);
/* The same, with the sender's pid, and without looking for the reason at the end. A descriptor is
 * accepted only with `ret_fd`, which is left alone if none comes, else it is the caller's. */
int run_recv_raw(const struct ga_sandbox *sb, struct ga_ctl_msg *m, pid_t *ret_pid, int *ret_fd);
/* The master of a new terminal of the sandbox, or -1. Messages to clients of `live` (NULL: there
 * are none) that come meanwhile are passed on. */
int run_ask_pty(struct ga_sandbox *sb, struct ga_live *live, struct ga_error *err);
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
int run_pty_open(struct ga_sandbox *sb, struct ga_live *live, const struct run_terminal *t,
		 int *ret_master, int *ret_slave, struct ga_error *err);

/* ---- terminal.c: the caller's terminal */

struct run_terminal {
	int fd;                /* the terminal; -1: none */
	bool raw;              /* we changed its settings */
	struct termios saved;  /* its original settings */
	struct ga_termfilter *filter; /* the filter that knows which modes are switched on */
};
/* Reopen what `fd` is, to write to it without waiting: O_NONBLOCK belongs to the open file
 * description, which others share. The caller closes it; -1: it cannot be opened, as another user's
 * terminal (su) or a socket. */
int run_open_again(int fd);
/* Write to a terminal, failing if it takes nothing for a second. */
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
	struct run_keys *keys; /* the caller's: our keys are taken out; or NULL */
	bool leave;            /* they were typed */
	bool cut;              /* not everything that was read was written */
	const struct ga_run_sink *sink; /* the caller's, or NULL */
	size_t at, n;          /* bytes that wait to be written */
	char buf[RUN_STREAM_CHUNK];
};
#define RUN_STREAM_POLLS 2
/* Is it over in both respects: nothing to read, nothing to write? */
bool run_stream_done(const struct run_stream *s);
/* Fill in what to poll for; afterwards move what can be moved. */
void run_stream_poll(const struct run_stream *s, struct pollfd p[RUN_STREAM_POLLS]);
void run_stream_move(struct run_stream *s, const struct pollfd p[RUN_STREAM_POLLS]);
/* The writer has ended: read what it left, at most `most` bytes, without waiting for others that
 * hold the same pipe open. */
void run_stream_finish(struct run_stream *s, size_t most);
/* Does the buffer have room for the rest? Then do not wait: nothing announces that there is no
 * more. */
bool run_stream_hurry(const struct run_stream *s);
void run_stream_close(struct run_stream *s);
/* Switch off what the output left switched on in the terminal `fd`. */
void run_stream_undo(struct run_stream *s, int fd);

/* Write what comes from now on to `fd`, which becomes the stream's, unfiltered. */
void run_stream_turn(struct run_stream *s, int fd);

/* ---- terminal.c: what is typed into an attached terminal */

#define RUN_KEYS_HELD 32
struct run_keys {
	size_t n;
	char held[RUN_KEYS_HELD]; /* the first of our two keys, until the next key */
};
/* Returns true if the terminal is to be detached. What is passed on to the session is in `out`,
 * which has room for RUN_KEYS_HELD more bytes than the input. */
bool run_keys(struct run_keys *k, const char *in, size_t n, char *out, size_t *ret_n);

/* ---- service.c: commands beside others; with none of them nothing happens */

void run_services_poll(const struct ga_sandbox *sb, struct pollfd p[GA_RUN_SERVICES_MAX]);
void run_services_move(const struct ga_sandbox *sb, const struct pollfd p[GA_RUN_SERVICES_MAX]);
/* Process a message about one of the services. */
void run_services_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m);
void run_services_free(struct ga_sandbox *sb);
bool run_services_over(const struct run_services *all);
void run_services_signal(const struct ga_sandbox *sb, int n);

/* ---- control.c: shared directories that a program inside removes */

void run_shares_set(struct ga_sandbox *sb, const struct ga_spec *s);
/* Flags of a GA_CTL_SPAWN: GA_SPAWN_DEEP if there is one in a directory of the project. */
uint32_t run_shares_flags(const struct ga_sandbox *sb);
/* Answer a message about one of them, if it is about one. */
void run_shares_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m);

/* ---- live.c: what ga/run/live.h shows of a session while it runs */

struct ga_live;
struct run_live_session {
	struct ga_sandbox *sb;
	const char *const *envp;
	bool detached;
	bool beside, after;      /* as in struct ga_run_command; nobody can attach then */
	bool renames;            /* renames are served for the command, and so for further ones */
	unsigned columns, rows;  /* size of the command's terminal */
	void *payload;
	/* requests of clients */
	void (*size)(void *payload, unsigned columns, unsigned rows);
	void (*stop)(void *payload, unsigned ms);
	void (*go_on)(void *payload); /* continue the command, which was stopped */
};
#define RUN_LIVE_POLLS (2 + 64)
/* What clients type is read from `*ret_typed`, which remains the callee's; -1: nothing is. */
int run_live_begin(struct ga_live *l, const struct run_live_session *s, int *ret_typed,
		   struct ga_error *err);
/* The same once its session has become detached. */
int run_live_detach(struct ga_live *l, int *ret_typed, struct ga_error *err);
void run_live_output(struct ga_live *l, const char *p, size_t n);
void run_live_typed(struct ga_live *l); /* the command was given input */
void run_live_poll(const struct ga_live *l, struct pollfd p[RUN_LIVE_POLLS]);
void run_live_move(struct ga_live *l, const struct pollfd p[RUN_LIVE_POLLS]);
int64_t run_live_next(const struct ga_live *l); /* 0: never */
/* Pass on a message of init's that is not about the session's command; false if it is nobody's. */
bool run_live_message(struct ga_live *l, const struct ga_ctl_msg *m, int *fd);
/* The command was stopped from its terminal. Returns false if nobody could continue it. */
bool run_live_stopped(struct ga_live *l);
/* The command has ended, and another one of the session follows: no client is told. */
void run_live_pause(struct ga_live *l);
/* The command has ended: all clients get the rest of the output and its status. */
void run_live_end(struct ga_live *l, int status);

enum { IN, OUT, ERR, N_STREAMS };

struct session {
	struct ga_sandbox *sb;
	uint32_t id;
	bool tty;
	bool detached;             /* it has no terminal of the caller's, or no longer */
	struct run_keys keys;
	bool unfiltered;
	const struct ga_run_command *c;
	struct ga_live *live;      /* or NULL */
	struct run_live_session live_session;
	struct ga_run_sink sink, typed;
	bool started, exited;
	int status;
	int master;                /* master of the pty; -1 without one, or once hung up */
	struct run_terminal term;
	struct run_stream *streams; /* IN, OUT, ERR; with a terminal there is no ERR */
	int64_t start_by;          /* by when the command must be executed */
	int64_t deadline;          /* when to kill it, once it was asked to end; 0: none */
	int64_t term_at;           /* when to ask it once more */
	int64_t tick;              /* when to call `tick` next; 0: never */
	bool killed;
	bool suspended;            /* we stopped it, not the command itself */
	int signal;                /* the signal that was to end a command beside the agent */
};

/* Open the command's standard streams, `theirs`, which the caller closes: a terminal of the
 * sandbox's (theirs[0]) or pipes; our ends go into s->streams. */
int session_open(struct session *s, int theirs[3], struct ga_error *err);
void session_resize(const struct session *s);
void session_set_size(void *payload, unsigned columns, unsigned rows);
/* Callback of s->typed: the command is given input. */
void session_typed(void *payload, const char *p, size_t n);
/* Callback of s->sink: pass output on to those who show or record it. */
void session_output(void *payload, const char *p, size_t n);

/* ---- record.c: names of the recordings of a session's runs, from 1 */

#define RECORD_RUNS_MAX 9999

#endif
