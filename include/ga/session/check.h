/* SPDX-License-Identifier: MIT
 *
 * How a command of the setting `finish` ended. These run in the session after its agent, on what
 * the agent left, so their result proves no more than the agent's own word does.
 */
#ifndef GA_CHECK_H
#define GA_CHECK_H

#include <stdbool.h>

enum ga_check_end {
	GA_CHECK_EXITED,      /* `status` is 0 to 255; 128 + n for signal n */
	GA_CHECK_TIMED_OUT,
	GA_CHECK_INTERRUPTED,
	GA_CHECK_NOT_RUN,
};

struct ga_check {
	enum ga_check_end end;
	int status;           /* 0 unless GA_CHECK_EXITED */
	const char *command;  /* one line, safe to show; borrowed */
};

/* "exited", "timed-out", "interrupted", "not-run" */
const char *ga_check_end_name(enum ga_check_end e);

/* One string ("END STATUS COMMAND") for the lists in state files and reports; the caller frees it.
 * Parsing it returns false if it is malformed; `ret->command` then points into `word`. */
char *ga_check_encode(const struct ga_check *c);
bool ga_check_parse(const char *word, struct ga_check *ret);

/* For people: "make check → 0", "make test → timed out". The caller frees it. */
char *ga_check_text(const struct ga_check *c);

#endif
