/* SPDX-License-Identifier: MIT
 *
 * What is said over the socket of ga/live.h. Each message is one packet: a struct ga_ctl_msg and,
 * for some, bytes behind it. The first is LIVE_HELLO, and what is answered LIVE_STATUS. After that
 * the client asks for one of LIVE_ATTACH, LIVE_WATCH, LIVE_STOP, LIVE_SHELL and LIVE_STAGE.
 */
#ifndef LIVE_INTERNAL_H
#define LIVE_INTERNAL_H

#include "ga/live.h"
#include "run-internal.h"

#define LIVE_VERSION 2
#define LIVE_BYTES ((size_t)16 << 10) /* behind a message */
#define LIVE_TYPED ((size_t)4 << 10)  /* behind LIVE_INPUT: what goes into a pipe whole */
#define LIVE_FDS 4                    /* with a message */

/* Apart from those of ga/control.h. */
enum live_type {
	/* from the client */
	LIVE_HELLO = 64, /* value: version */
	LIVE_ATTACH,     /* value: columns, flags: rows */
	LIVE_INPUT,      /* bytes: typed */
	LIVE_SIZE,       /* value: columns, flags: rows, id: not 0: show everything once more */
	LIVE_GO_ON,      /* after LIVE_STOPPED */
	LIVE_WATCH,      /* value: not 0: to the end, else what there is */
	LIVE_STOP,       /* value: milliseconds until it is killed */
	LIVE_SHELL,      /* answered by LIVE_ENV; what follows is ga/control.h, see live-shell.c */
	LIVE_STAGE,      /* answered by LIVE_STAGE_IS */
	/* to it */
	LIVE_STATUS = 96, /* value: version; struct live_status */
	LIVE_RESET,      /* what comes is from another place; bytes: what was switched on */
	LIVE_OUTPUT,     /* bytes */
	LIVE_DONE,       /* that is all there is */
	LIVE_EXITED,     /* value: the command's exit status */
	LIVE_STOPPED,    /* the command was stopped from its terminal */
	LIVE_TAKEN,      /* another terminal was attached */
	LIVE_ENV,        /* the command's environment, NUL behind each; without bytes: its end */
	LIVE_STAGE_IS,   /* pidfds of git-agent-stage, which holds every mount of the session, and
			  * of process 1 inside, to which they show */
};

struct live_status {
	uint32_t detached, attached, shells, before, after;
	uint64_t idle; /* milliseconds */
};

struct live_packet {
	struct ga_ctl_msg m;
	size_t n;
	char bytes[LIVE_BYTES];
	int fds[LIVE_FDS]; /* -1 behind the last */
};
void live_close_fds(struct live_packet *p);

/* A descriptor of the directory of a socket and the name by which it is found there, however
 * long the path: `at` stays open as long as the name is used. */
int live_listen(const char *dir, struct ga_error *err);
int live_unlink(const char *dir);
/* -1 with errno */
int live_dial(const char *dir, pid_t *ret_pid);
/* Does the one at the other end belong to us? */
bool live_is_ours(int fd, pid_t *ret_pid);

/* 0; 1: not now; -1: nobody is there. */
int live_send(int fd, const struct ga_ctl_msg *m, const void *bytes, size_t n, const int *fds,
	      size_t n_fds);
int live_say(int fd, uint32_t type, int32_t value, uint32_t flags);
/* 1: one; 0: there is none now; -1: nobody is there, or it makes no sense. Descriptors are the
 * caller's. */
int live_recv(int fd, struct live_packet *p);
/* The same, waiting until `deadline` (0: for ever). */
int live_wait(int fd, struct live_packet *p, int64_t deadline);
/* What it says makes no sense, or it is gone: -1. */
int live_fail(struct ga_error *err);

/* ---- ring.c: the last of what was written */

struct run_ring {
	char *buf;
	uint64_t start, end;          /* what is there, counted from the first byte ever */
	struct ga_termfilter before;  /* has seen what is not there any more */
};
void run_ring_add(struct run_ring *r, const char *p, size_t n);
/* Up to `n` bytes from `at` on, which is there. */
size_t run_ring_get(const struct run_ring *r, uint64_t at, char *to, size_t n);
/* The first place where no sequence is under way, and what is switched on there. */
uint64_t run_ring_begin(const struct run_ring *r, struct ga_termstate *ret);

/* ---- the supervisor's side */

#define LIVE_CLIENTS 64

enum live_role { LIVE_NEW, LIVE_KNOWN, LIVE_WATCHES, LIVE_TYPES, LIVE_STOPS, LIVE_COMMANDS };

struct live_client {
	int fd;            /* -1: none, or gone */
	enum live_role role;
	int64_t hello_by;
	bool gone;         /* but what it typed before is still to be read */
	/* of those who see the output */
	bool fresh, follow;
	uint64_t at;
	/* of LIVE_COMMANDS */
	bool waits_pty;
	uint32_t id;       /* of its command, 0: none */
	uint32_t theirs;   /* what it calls that */
	int64_t deadline;  /* gone: when its command is killed */
};

struct ga_live {
	char *dir;
	int fd;
	struct live_client clients[LIVE_CLIENTS];
	struct run_ring ring;
	int64_t last;      /* output */
	const struct run_live_session *s; /* NULL before it runs and when it has ended */
	int in_rd, in_wr;  /* what is typed goes through here */
	size_t in_n;       /* what waits for room there */
	char in[LIVE_TYPED];
	bool stopped;
	int64_t resize_at; /* the second half of a change of size that changes nothing; 0: none */
	unsigned columns, rows;
	size_t n_ptys;     /* who waits for a terminal, in order: numbers of clients, or gone */
	int ptys[LIVE_CLIENTS];
};

void live_drop(struct ga_live *l, struct live_client *c);

/* live-shell.c: 0, or -1: it is to be dropped. */
int live_shell_begin(struct ga_live *l, struct live_client *c);
int live_shell_packet(struct ga_live *l, struct live_client *c, struct live_packet *p);
void live_shell_gone(struct ga_live *l, struct live_client *c);
/* Of init's: true if it is of one of these. `*fd` may be taken. */
bool live_shell_message(struct ga_live *l, const struct ga_ctl_msg *m, int *fd);
int64_t live_shell_next(const struct ga_live *l);
void live_shell_tick(struct ga_live *l);

#endif
