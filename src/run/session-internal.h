/* SPDX-License-Identifier: MIT
 *
 * A command that runs: what session.c, which serves it, and session-open.c, which connects it,
 * have in common.
 */
#ifndef SESSION_INTERNAL_H
#define SESSION_INTERNAL_H

#include "run-internal.h"

enum { IN, OUT, ERR, N_STREAMS };

struct session {
	struct ga_sandbox *sb;
	uint32_t id;
	bool tty;
	bool unfiltered;
	const struct ga_run_command *c;
	struct ga_live *live;      /* or NULL */
	struct run_live_session live_session;
	struct ga_run_sink sink;
	bool started, exited;
	int status;
	int master;                /* of the pty, -1 without or once hung up */
	struct run_terminal term;
	struct run_stream *streams; /* IN, OUT, ERR; a terminal has no ERR */
	int64_t start_by;          /* when the command must have been executed */
	int64_t deadline;          /* once asked to end; 0: none */
	int64_t term_at;           /* when to ask once more */
	int64_t tick;              /* when to ask the caller next, 0: never */
	bool killed;
	bool suspended;            /* by us, not by itself */
	int signal;                /* that was to end what runs beside */
};

/* What the command reads and writes, for `theirs`, which the caller closes: a terminal of the
 * sandbox's (theirs[0]) or pipes, and our ends in s->streams. */
int session_open(struct session *s, int theirs[3], struct ga_error *err);
/* The terminal inside gets the size of the caller's. */
void session_resize(const struct session *s);
/* For struct run_live_session: this size. */
void session_set_size(void *payload, unsigned columns, unsigned rows);
/* For s->sink: who sees or keeps what it writes. */
void session_output(void *payload, const char *p, size_t n);

#endif
