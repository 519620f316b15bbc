/* SPDX-License-Identifier: MIT
 *
 * The messages on the socket of ga/run/live.h. Each is one packet: a struct ga_ctl_msg, followed by
 * bytes for some. The first is LIVE_HELLO, answered by LIVE_STATUS. After that the client sends one
 * of LIVE_ATTACH, LIVE_WATCH, LIVE_STOP, LIVE_SHELL, LIVE_STAGE and LIVE_SEND.
 */
#pragma once

#include "ga/run/live.h"
#include "run-internal.h"

#define LIVE_VERSION 3
#define LIVE_BYTES ((size_t)16 << 10) /* bytes that follow a message */
#define LIVE_TYPED ((size_t)4 << 10)  /* bytes that follow LIVE_INPUT: as many as are written to a
				       * pipe atomically */
#define LIVE_FDS 4                    /* descriptors with a message */

/* Numbers that those of ga/run/control.h do not use. */
enum live_type {
	/* from the client */
	LIVE_HELLO = 64, /* value: version */
	LIVE_ATTACH,     /* value: columns, flags: rows */
	LIVE_INPUT,      /* bytes: typed */
	LIVE_SIZE,       /* value: columns, flags: rows, id: not 0: redraw everything */
	LIVE_RESUME,      /* after LIVE_STOPPED */
	LIVE_WATCH,      /* value: not 0: until the end, else only the kept output */
	LIVE_STOP,       /* value: milliseconds until it is killed */
	LIVE_SHELL,      /* answered by LIVE_ENV; then ga/run/control.h, see live-shell.c */
	LIVE_STAGE,      /* answered by LIVE_STAGE_IS */
	LIVE_SEND,       /* bytes: a text to be typed; none: the key Enter. Answered by LIVE_DONE */
	/* to the client */
	LIVE_STATUS = 96, /* value: version; the status, unless the client's is another */
	LIVE_RESET,      /* output continues after a gap; bytes: the modes enabled there */
	LIVE_OUTPUT,     /* bytes */
	LIVE_DONE,       /* the end of an answer */
	LIVE_EXITED,     /* value: the command's exit status */
	LIVE_STOPPED,    /* the command was stopped from its terminal */
	LIVE_TAKEN,      /* another terminal was attached */
	LIVE_ENV,        /* the command's environment, each variable ended by NUL; without bytes:
			  * the end */
	LIVE_STAGE_IS,   /* pidfds of git-agent-stage, whose namespace has every mount of the
			  * session, and of process 1 inside, into which they propagate */
};

struct live_packet {
	struct ga_ctl_msg m;
	size_t n;
	char bytes[LIVE_BYTES];
	int fds[LIVE_FDS]; /* -1 behind the last one */
};
void live_close_fds(struct live_packet *p);

/* Listen on the socket in `dir`, or connect to it, however long its path is. */
int live_listen(const char *dir, struct ga_error *err);
int live_unlink(const char *dir);
/* -1 with errno */
int live_dial(const char *dir, pid_t *ret_pid);
/* Does the peer belong to our user? */
bool live_is_ours(int fd, pid_t *ret_pid);

/* Returns 0; 1 if the socket buffer is full; -1 with errno if the peer has closed, or the
 * descriptors cannot be sent (ETOOMANYREFS, ga/sys/scm.h). */
int live_send(int fd, const struct ga_ctl_msg *m, const void *bytes, size_t n, const int *fds,
	      size_t n_fds);
int live_send_message(int fd, uint32_t type, int32_t value, uint32_t flags);
/* Returns 1 with a packet; 0 if there is none now; -1 if the peer has closed or the packet is
 * malformed. Descriptors become the caller's. */
int live_recv(int fd, struct live_packet *p);
/* The same, waiting until `deadline` (0: no limit). */
int live_wait(int fd, struct live_packet *p, int64_t deadline);
/* The error for a closed or misbehaving peer. Returns -1. */
int live_fail(struct ga_error *err);

/* ---- ring.c: the last output */

struct run_ring {
	char *buf;
	uint64_t start, end;          /* the range that is kept, counted from the first byte ever */
	struct ga_termfilter before;  /* state of the terminal after everything that was
				       * discarded */
};
void run_ring_add(struct run_ring *r, const char *p, size_t n);
/* Copy up to `n` bytes from offset `at`, which is kept. */
size_t run_ring_get(const struct run_ring *r, uint64_t at, char *to, size_t n);
/* The first offset that is not within a sequence, and the modes enabled there. */
uint64_t run_ring_begin(const struct run_ring *r, struct ga_termstate *ret);
void run_ring_end(const struct run_ring *r, struct ga_termstate *ret);
/* Does the output kept from offset `since` on contain a bell or a notification? */
bool run_ring_rang(const struct run_ring *r, uint64_t since);

/* ---- the supervisor's side */

#define LIVE_CLIENTS 64

enum live_role {
	LIVE_NEW, LIVE_KNOWN, LIVE_WATCHES, LIVE_TYPES, LIVE_SENDS, LIVE_STOPS, LIVE_COMMANDS
};

struct live_client {
	int fd;            /* -1: free slot, or the client is gone */
	enum live_role role;
	int64_t hello_by;
	bool gone;         /* closed, but its input is still to be read */
	/* for clients that watch the output */
	bool fresh, follow;
	uint64_t at;
	/* for clients of LIVE_SHELL */
	bool waits_pty;
	uint32_t id;       /* init's id of its command; 0: none */
	uint32_t theirs;   /* the client's id for it */
	int64_t deadline;  /* if it is gone: when its command is killed */
};

struct ga_live {
	char *dir;
	int fd;
	struct live_client clients[LIVE_CLIENTS];
	struct run_ring ring;
	int64_t last;      /* time of the last output */
	uint64_t typed;    /* what the ring's end was at the last input */
	const struct run_live_session *s; /* NULL before the session runs and after it has ended */
	int in_rd, in_wr;  /* a pipe for input of clients */
	size_t in_n;       /* bytes that wait for room in it */
	char in[LIVE_TYPED];
	bool stopped;
	int64_t resize_at; /* when to restore the size after a change that only notifies the
			    * command; 0: no change is pending */
	unsigned columns, rows;
	size_t n_ptys;     /* the clients that wait for a terminal, in order: indices; some may be
			    * gone */
	int ptys[LIVE_CLIENTS];
};

/* In live-shell.c: close it, and end its command. */
void live_drop(struct ga_live *l, struct live_client *c);
/* Continue the command, which was stopped from a terminal that has closed. */
void live_resume_shells(struct ga_live *l);

/* In live-shell.c. Returns 0, or -1: drop the client. */
int live_shell_begin(struct ga_live *l, struct live_client *c);
int live_shell_packet(struct ga_live *l, struct live_client *c, struct live_packet *p);
/* A message of init's: true if it belongs to one of these clients. `*fd` may be taken. */
bool live_shell_message(struct ga_live *l, const struct ga_ctl_msg *m, int *fd);
int64_t live_shell_next(const struct ga_live *l);
void live_shell_tick(struct ga_live *l);
