/* SPDX-License-Identifier: MIT
 *
 * Inside of src/run.
 */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "ga/control.h"
#include "ga/net.h"
#include "ga/run.h"
#include "ga/termfilter.h"

struct ga_sandbox {
	int ctl;            /* our end of the control socket; closing it ends the sandbox */
	int pidfd;          /* of pid 1, -1 before READY */
	int child;          /* pidfd of the stage */
	int status;         /* the stage's records; at end of file all is mounted */
	struct ga_buf said; /* what came there */
	int log;            /* standard error of bwrap and init, without blocking */
	int plan;           /* the stage reads it; -1 once it has all of it */
	int args, seccomp;  /* the same for bwrap */
	int sigfd;
	pid_t pid;          /* of pid 1, in our namespace */
	pid_t bwrap;        /* 0 once reaped */
	pid_t teller;       /* of ga_run_begin_beside(); 0 once reaped */
	uint64_t pidns;
	struct ga_relay *relay; /* the caller's, or NULL */
	char *cgroup;       /* to be removed with it, or NULL */
	uint32_t last_id;
	bool lost;          /* GA_CTL_LOST came */
	struct run_services *services; /* NULL: none */
	bool elsewhere;     /* another process runs it: `ctl` is a socket to that */
	int no_renames;     /* of a command's STARTED message */
	bool masked;        /* old_mask is to be restored */
	sigset_t old_mask;
};

/* One that has nothing yet. */
struct ga_sandbox *run_sandbox_new(void);
/* Wait until what `pidfd` names is gone; false after `ms` (-1: for ever). */
bool run_wait_gone(int pidfd, int ms);
/* Kill bwrap and what it started, and reap it. Returns its wait status. */
int run_kill_bwrap(struct ga_sandbox *sb);

/* ---- relay.c: of the sandbox's network, for whoever waits; nothing without a relay */

struct pollfd run_relay_poll(const struct ga_sandbox *sb);
int64_t run_relay_next(const struct ga_sandbox *sb); /* 0: never */
void run_relay_serve(const struct ga_sandbox *sb, const struct pollfd *p);

/* ---- cgroup.c: control groups, version 2 */

struct run_cgroup_setting {
	const char *controller; /* that has this file */
	const char *file, *value;
	bool optional; /* where there is no such file */
};
/* The directory of a process's, 0: our own; NULL without version 2. */
char *run_cgroup_of(pid_t pid);
/* The nearest directory from our own upwards in which we may make a group with these, of those
 * alone that systemd marks as left to others, and no manager is in, if `marked`; or NULL. */
char *run_cgroup_find(const struct run_cgroup_setting *v, size_t n, bool marked);
/* Make one in `parent`, with these, and move a process there. `*ret` is to be removed when that is
 * gone. Also removes what others left there. */
int run_cgroup_enter(const char *parent, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		     char **ret, struct ga_error *err);
/* The number behind a word in a file of a group; 0 if it is not there. */
uint64_t run_cgroup_number(const char *dir, const char *file, const char *word);
/* Does a file of a group have that value? */
bool run_cgroup_has(const char *dir, const char *file, const char *value);

/* ---- signals.c: what the caller's signals mean while a sandbox runs */

/* Block and open the descriptor; undone by run_signals_restore(). */
int run_signals_take(struct ga_sandbox *sb, struct ga_error *err);
void run_signals_restore(struct ga_sandbox *sb);
/* The next one that came, 0 if none. */
int run_signals_next(const struct ga_sandbox *sb);
/* The same for who acts on it. A terminal that goes tells of it more than once: a shell passes it
 * on to its jobs, and its own end tells them once more. So after the first SIGHUP, read here or
 * noticed otherwise, none comes any more, and none ends us while the work is captured. */
int run_signals_act(const struct ga_sandbox *sb);
/* Is one that ends a program waiting? Its number, left where it is: the caller gives
 * up, and the signal does its work when the mask is restored. */
int run_signals_fatal_pending(void);
/* Stop as Ctrl-Z would stop our job, and return when continued. */
void run_signals_suspend(const struct ga_sandbox *sb);

/* ---- control.c: talking to init */

/* Ask for a command. `fds` are duplicated, `n` is 1 (GA_SPAWN_TTY) or 3.
 * `*ret_id` is what its messages carry. */
int run_spawn(struct ga_sandbox *sb, uint32_t flags, const char *cwd, const char *const *argv,
	      const char *const *envp, const int *fds, size_t n, uint32_t *ret_id,
	      struct ga_error *err);
void run_send(const struct ga_sandbox *sb, uint32_t type, uint32_t id, int32_t value);
/* 1: a message; 0: none there; -1: the socket is at its end (err is set, with what bwrap
 * or init said last). Takes note of GA_CTL_LOST. */
int run_recv(struct ga_sandbox *sb, struct ga_ctl_msg *m, struct ga_error *err);
/* The same, with the sender's pid, and without looking for the reason at the end. Only with
 * `ret_fd` does a descriptor come in: left alone if there is none, else the caller's. */
int run_recv_raw(const struct ga_sandbox *sb, struct ga_ctl_msg *m, pid_t *ret_pid, int *ret_fd);
/* The master of a new terminal of the sandbox, or -1. What is said meanwhile to clients of `live`
 * (NULL: there are none) is passed on. */
int run_ask_pty(struct ga_sandbox *sb, struct ga_live *live, struct ga_error *err);
/* A FAILED message as an error. */
int run_spawn_failed(const struct ga_ctl_msg *m, const char *cwd, const char *program,
		     struct ga_error *err);
/* Append the last line of the log pipe, quoted; false if there is none. */
bool run_log_line(const struct ga_sandbox *sb, struct ga_buf *ret);

/* The same with a descriptor, which is the caller's; -1: none came. It is the master of a pty. */
int run_recv_fd(struct ga_sandbox *sb, struct ga_ctl_msg *m, int *ret_fd, struct ga_error *err);

/* ---- terminal.c: the caller's terminal */

struct run_terminal {
	int fd;                /* of the terminal, -1: none */
	bool raw;              /* changed by us */
	struct termios saved;  /* as it was */
	struct ga_termfilter *filter; /* what knows the modes of its screen */
};
/* Write to a terminal, as long as it takes something: not to one that takes nothing for a
 * second. */
void run_terminal_write(int fd, const char *p, size_t n);
int run_terminal_raw(struct run_terminal *t);
void run_terminal_restore(struct run_terminal *t);
/* A pty of the sandbox with the caller's settings and size. */
int run_pty_open(struct ga_sandbox *sb, struct ga_live *live, const struct run_terminal *t,
		 int *ret_master, int *ret_slave, struct ga_error *err);
void run_pty_resize(const struct run_terminal *t, int master);

/* ---- stream.c: bytes from one descriptor to another */

#define RUN_STREAM_CHUNK ((size_t)32 << 10)
/* Read at once when it goes through a filter. */
#define RUN_FILTER_CHUNK ((size_t)4 << 10)

/* Reading stops while the buffer is full, so memory is bounded and whoever
 * writes too fast is held up by its own pipe. */
struct run_stream {
	int from, to;          /* -1 once over */
	bool own_from, own_to; /* ours to close */
	bool small;            /* `to` blocks: only as much at once as poll(2) promises */
	bool limited;          /* read `left` more bytes, or until there are none */
	size_t left;
	uint64_t total;        /* bytes that were read */
	struct ga_termfilter *filter; /* the caller's: to a terminal; or NULL */
	bool watch;            /* the filter only takes note */
	bool cut;              /* not all that was read was written */
	const struct ga_run_sink *sink; /* the caller's, or NULL */
	size_t at, n;          /* what waits to be written */
	char buf[RUN_STREAM_CHUNK];
};
#define RUN_STREAM_POLLS 2
/* Nothing will come or go any more. */
bool run_stream_done(const struct run_stream *s);
/* What to wait for, and then: move what can be moved. */
void run_stream_poll(const struct run_stream *s, struct pollfd p[RUN_STREAM_POLLS]);
void run_stream_move(struct run_stream *s, const struct pollfd p[RUN_STREAM_POLLS]);
/* The writer ended: read what it left, `most` bytes, and do not wait for others that
 * hold the same pipe open. */
void run_stream_finish(struct run_stream *s, size_t most);
/* It has room for what is left: do not wait, nothing announces that there is no more. */
bool run_stream_hurry(const struct run_stream *s);
void run_stream_close(struct run_stream *s);
/* What is left switched on in the terminal `fd` by what went there is switched off. */
void run_stream_undo(struct run_stream *s, int fd);

/* ---- keys.c: what is typed into an attached terminal */

#define RUN_KEYS_HELD 32
struct run_keys {
	size_t n;
	char held[RUN_KEYS_HELD]; /* the first of our keys, until the next */
};
/* True: it is to be detached. What goes on to the session is in `out`, which has room for
 * RUN_KEYS_HELD bytes more than came. */
bool run_keys(struct run_keys *k, const char *in, size_t n, char *out, size_t *ret_n);

/* ---- service.c: commands beside others; with none of them nothing happens */

void run_services_poll(const struct ga_sandbox *sb, struct pollfd p[GA_RUN_SERVICES_MAX]);
void run_services_move(const struct ga_sandbox *sb, const struct pollfd p[GA_RUN_SERVICES_MAX]);
/* Take note of a message that is about one of them. */
void run_services_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m);
void run_services_free(struct ga_sandbox *sb);

/* ---- live.c: what ga/live.h shows of a session while it runs */

struct ga_live;
struct run_live_session {
	struct ga_sandbox *sb;
	const char *const *envp;
	bool detached;
	bool beside, after;      /* as in struct ga_run_command: nobody can attach */
	bool renames;            /* served for the command, and so for further ones */
	unsigned columns, rows;  /* of the command's terminal */
	void *payload;
	/* what others ask for */
	void (*size)(void *payload, unsigned columns, unsigned rows);
	void (*stop)(void *payload, unsigned ms);
	void (*go_on)(void *payload); /* the command that was stopped */
};
#define RUN_LIVE_POLLS (2 + 64)
/* What is typed comes out of `*ret_typed`, which stays its own; -1: nothing is. */
int run_live_begin(struct ga_live *l, const struct run_live_session *s, int *ret_typed,
		   struct ga_error *err);
void run_live_output(struct ga_live *l, const char *p, size_t n);
void run_live_poll(const struct ga_live *l, struct pollfd p[RUN_LIVE_POLLS]);
void run_live_move(struct ga_live *l, const struct pollfd p[RUN_LIVE_POLLS]);
int64_t run_live_next(const struct ga_live *l); /* 0: never */
/* A message of init's that is not about the session's command; false: nobody's. */
bool run_live_message(struct ga_live *l, const struct ga_ctl_msg *m, int *fd);
/* The command was stopped from its terminal: false if nobody could continue it. */
bool run_live_stopped(struct ga_live *l);
/* It ended, and another command of the session is to come: nobody is told. */
void run_live_pause(struct ga_live *l);
/* It ended: everybody gets the rest of the output and its status. */
void run_live_end(struct ga_live *l, int status);

/* ---- record.c, record-read.c: names of the recordings of a session's runs, from 1 */

#define RECORD_RUNS_MAX 9999
char *record_file_name(unsigned run);

#endif
