/* SPDX-License-Identifier: MIT */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "cli.h"

/* One session by name, settled: 0 (locked), 1 there is none (any more), 2 it runs. With
 * `capture` an interrupted one is captured, else it stays GA_STATE_INTERRUPTED. */
int cli_load_session(struct cli *c, const char *name, bool capture, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err);

/* Capture an interrupted session (locked), saying so. */
int cli_capture_interrupted(struct cli *c, struct ga_session *s, struct ga_error *err);

/* The object list and show print; `r` may be NULL. */
json_t *cli_session_json(const struct ga_session *s, bool running, const struct ga_report *r);

/* Is there anything in it that landing could bring? */
bool cli_has_work(const struct ga_session *s);

/* What happened in a captured session, in a few lines on `f`, with the next command to type. */
int cli_summary(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		struct ga_error *err);

#endif
