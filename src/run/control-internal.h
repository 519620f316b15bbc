/* SPDX-License-Identifier: MIT
 *
 * The messages on the socket of ga/run/control.h. Each is one packet: a struct ga_ctl_msg, followed
 * by bytes for some. The first is CONTROL_HELLO, answered by CONTROL_STATUS. After that the client
 * sends one of CONTROL_ATTACH, CONTROL_WATCH, CONTROL_STOP, CONTROL_SHELL, CONTROL_STAGE and
 * CONTROL_SEND.
 */
#pragma once

#include "ga/run/control.h"
#include "run-internal.h"

#define CONTROL_VERSION 3
#define CONTROL_BYTES ((size_t)16 << 10) /* bytes that follow a message */
#define CONTROL_TYPED ((size_t)4 << 10)  /* bytes that follow CONTROL_INPUT: a pipe takes them
					  * atomically */
#define CONTROL_FDS 4                    /* descriptors with a message */

/* Numbers that those of ga/run/init-protocol.h do not use. */
enum control_type {
	/* from the client */
	CONTROL_HELLO = 64, /* value: version */
	CONTROL_ATTACH,     /* value: columns, flags: rows */
	CONTROL_INPUT,      /* bytes: typed */
	CONTROL_SIZE,       /* value: columns, flags: rows, id: not 0: redraw everything */
	CONTROL_RESUME,     /* after CONTROL_STOPPED */
	CONTROL_WATCH,      /* value: not 0: until the end, else only the kept output */
	CONTROL_STOP,       /* value: milliseconds until it is killed */
	CONTROL_SHELL,      /* answered by CONTROL_ENV; then init's protocol, see control-shell.c */
	CONTROL_STAGE,      /* answered by CONTROL_STAGE_IS */
	CONTROL_SEND,       /* bytes: text to type; none: the key Enter. Answered by CONTROL_DONE */
	/* to the client */
	CONTROL_STATUS = 96, /* value: version; the status, unless the client's is another */
	CONTROL_RESET,      /* output continues after a gap; bytes: the modes enabled there */
	CONTROL_OUTPUT,     /* bytes */
	CONTROL_DONE,       /* the end of an answer */
	CONTROL_EXITED,     /* value: the command's exit status */
	CONTROL_STOPPED,    /* the command was stopped from its terminal */
	CONTROL_TAKEN,      /* another terminal was attached */
	CONTROL_ENV,        /* the command's environment, each variable ended by NUL; without bytes:
			  * the end */
	CONTROL_STAGE_IS,   /* pidfds of git-agent-stage, whose namespace has every mount of the
			  * session, and of process 1 inside, into which they propagate */
};

struct control_packet {
	struct ga_ctl_msg m;
	size_t n;
	char bytes[CONTROL_BYTES];
	int fds[CONTROL_FDS]; /* -1 behind the last one */
};
void control_close_fds(struct control_packet *p);

/* Listen on the socket in `dir`, or connect to it, however long its path is. */
int control_listen(const char *dir, struct ga_error *err);
int control_unlink(const char *dir);
/* -1 with errno */
int control_dial(const char *dir, pid_t *ret_pid);
/* Does the peer belong to our user? */
bool control_is_ours(int fd, pid_t *ret_pid);

/* Returns 0; 1 if the socket buffer is full; -1 with errno if the peer has closed, or the
 * descriptors cannot be sent (ETOOMANYREFS, ga/sys/scm.h). */
int control_send(int fd, const struct ga_ctl_msg *m, const void *bytes, size_t n, const int *fds,
		 size_t n_fds);
int control_send_message(int fd, uint32_t type, int32_t value, uint32_t flags);
/* Returns 1 with a packet; 0 if there is none now; -1 if the peer has closed or the packet is
 * malformed. Descriptors become the caller's. */
int control_recv(int fd, struct control_packet *p);
/* The same, waiting until `deadline` (0: no limit). */
int control_wait(int fd, struct control_packet *p, int64_t deadline);
/* The error for a closed or misbehaving peer. Returns -1. */
int control_fail(struct ga_error *err);

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

#define CONTROL_CLIENTS 64

enum control_role {
	CONTROL_NEW, CONTROL_KNOWN, CONTROL_WATCHES, CONTROL_TYPES, CONTROL_SENDS, CONTROL_STOPS,
	CONTROL_COMMANDS
};

struct control_client {
	int fd;            /* -1: free slot, or the client is gone */
	enum control_role role;
	int64_t hello_by;
	bool gone;         /* closed, but its input is still to be read */
	/* for clients that watch the output */
	bool fresh, follow;
	uint64_t at;
	/* for clients of CONTROL_SHELL */
	bool waits_pty;
	uint32_t id;       /* init's id of its command; 0: none */
	uint32_t theirs;   /* the client's id for it */
	int64_t deadline;  /* if it is gone: when its command is killed */
};

struct ga_control {
	char *dir;
	int fd;
	struct control_client clients[CONTROL_CLIENTS];
	struct run_ring ring;
	int64_t last;      /* time of the last output */
	uint64_t typed;    /* what the ring's end was at the last input */
	const struct run_control_session *s; /* NULL unless the session runs */
	int in_rd, in_wr;  /* a pipe for input of clients */
	size_t in_n;       /* bytes that wait for room in it */
	char in[CONTROL_TYPED];
	bool stopped;
	int64_t resize_at; /* when to restore the size after a change that only notifies the
			    * command; 0: no change is pending */
	unsigned columns, rows;
	size_t n_ptys;     /* the clients that wait for a terminal, in order: indices; some may be
			    * gone */
	int ptys[CONTROL_CLIENTS];
};

/* In control-shell.c: close it, and end its command. */
void control_drop(struct ga_control *l, struct control_client *c);
/* Continue the command, which was stopped from a terminal that has closed. */
void control_resume_shells(struct ga_control *l);

/* In control-shell.c. Returns 0, or -1: drop the client. */
int control_shell_begin(struct ga_control *l, struct control_client *c);
int control_shell_packet(struct ga_control *l, struct control_client *c, struct control_packet *p);
/* A message of init's: true if it belongs to one of these clients. `*fd` may be taken. */
bool control_shell_message(struct ga_control *l, const struct ga_ctl_msg *m, int *fd);
int64_t control_shell_next(const struct ga_control *l);
void control_shell_tick(struct ga_control *l);
