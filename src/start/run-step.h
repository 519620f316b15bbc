/* SPDX-License-Identifier: MIT
 *
 * The commands of the user that run before, beside and after the agent.
 */
#ifndef RUN_STEP_H
#define RUN_STEP_H

#include "watch.h"

/* run-step.c: one command, run by a shell inside. */
struct start_step {
	struct start_watch *watch;
	struct ga_start *st;
	const char *script;  /* what that shell runs, with $0 `heading` and $1 `command`; NULL:
			      * print the heading, then run the command */
	const char *heading, *command;
	int64_t deadline;    /* start_step_deadline() */
	bool after;          /* the agent has ended */
	bool (*give_up)(void *payload); /* asked often: true ends the command; or NULL */
	void *payload;
};
/* How it ended. */
struct start_stepped {
	int status;
	int signal;          /* a fatal signal that we passed on to it, or 0 */
	bool timed_out;
	bool ended;          /* somebody told the supervisor to end it */
	struct ga_tail tail; /* of its output */
};
int64_t start_step_deadline(uint64_t seconds); /* 0: none */
int start_step(const struct start_step *s, struct start_stepped *ret, struct ga_error *err);
/* Why it did not end by itself, for users; NULL: it did. Caller frees. */
char *start_step_cut(const struct start_step *s, const struct start_stepped *how,
		     const char *limit, uint64_t seconds);
/* ": " and the last line of some output, safe to show; "" if there is none. Caller frees. */
char *start_said(const struct ga_tail *t);
/* Note in the journal how a command ended, shown as `text`; `name` may be NULL. */
void start_note_step(const struct ga_start *st, const char *event, const char *name,
		     const char *text, const char *end, int status);

/* setup-and-finish.c: run `setup`; a failure is GA_ESTART. */
int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* Merge what was asked for into a resumed session; a conflict is left there. */
int start_run_update(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* Run `finish`, and note in the session's `checks` how each command ended. `ended`: the agent was
 * told to end, and they are not run. */
void start_run_finish(struct start_watch *w, struct ga_start *st, bool ended);
/* services.c: start `services`, and wait until all of them are ready. */
int start_run_services(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* End them. */
void start_end_services(struct ga_start *st);
/* setup-and-finish.c: add lines about all three to the banner. */
void start_describe_commands(struct ga_start *st);

#endif
