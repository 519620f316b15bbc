/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: the commands of the user beside the agent.
 */
#ifndef STEP_H
#define STEP_H

#include "watch.h"

/* step.c: one of them, by a shell inside. */
struct start_step {
	struct start_watch *watch;
	struct ga_start *st;
	const char *script;  /* what that shell runs, with $0 `heading` and $1 `command`; NULL: the
			      * line, then the command */
	const char *heading, *command;
	int64_t deadline;    /* start_step_deadline() */
	bool after;          /* the agent has ended */
	/* asked often: true ends it; NULL */
	bool (*give_up)(void *payload);
	void *payload;
};
/* How it went. */
struct start_stepped {
	int status, signal;
	bool timed_out, ended;
	char tail[1024];     /* the last it wrote */
	size_t tail_n;
};
int64_t start_step_deadline(uint64_t seconds); /* 0: none */
int start_step(const struct start_step *s, struct start_stepped *ret, struct ga_error *err);
/* Why it did not end by itself, for people; NULL: it did. The caller frees it. */
char *start_step_cut(const struct start_step *s, const struct start_stepped *how,
		     const char *limit, uint64_t seconds);
/* The last line of some output, safe to show; "" if there is none. */
char *start_last_line(const char *p, size_t n);

/* beside.c: what is run before the agent; a failure is GA_ESTART. */
int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* After it, with how each ended in the session's `checks`; `ended`: the agent was ended. */
void start_run_finish(struct start_watch *w, struct ga_start *st, bool ended);
/* services.c: beside it, from now on, all of them ready; until then. */
int start_run_services(struct start_watch *w, struct ga_start *st, struct ga_error *err);
void start_end_services(struct ga_start *st);
/* All of them as lines of a plan. */
void start_describe_commands(struct ga_start *st);

#endif
