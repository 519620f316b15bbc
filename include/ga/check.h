/* SPDX-License-Identifier: MIT
 *
 * How a command ended that ran in a session after its agent (`finish`). It ran where the agent
 * did, on what the agent left: what it says is no more than the agent's word.
 */
#ifndef GA_CHECK_H
#define GA_CHECK_H

#include <stdbool.h>

enum ga_check_end {
	GA_CHECK_EXITED,      /* `status` is 0 to 255, 128 + n for signal n */
	GA_CHECK_TIMED_OUT,
	GA_CHECK_INTERRUPTED,
	GA_CHECK_NOT_RUN,
};

struct ga_check {
	enum ga_check_end end;
	int status;           /* 0 unless it exited */
	const char *command;  /* one line, safe to show */
};

/* "exited", "timed-out", "interrupted", "not-run" */
const char *ga_check_end_name(enum ga_check_end e);

/* One word of a list for states and reports, and back: `ret` points into it. False: it is none. */
char *ga_check_encode(const struct ga_check *c);
bool ga_check_parse(const char *word, struct ga_check *ret);

/* "make check → 0", "make test → timed out"; caller frees. */
char *ga_check_text(const struct ga_check *c);

#endif
