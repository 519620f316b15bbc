/* SPDX-License-Identifier: MIT
 *
 * A running command: shared by session.c, which serves it, and stream.c, which connects it.
 */
#ifndef SESSION_INTERNAL_H
#define SESSION_INTERNAL_H

#include "run-internal.h"

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

#endif
