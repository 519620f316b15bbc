/* SPDX-License-Identifier: MIT
 *
 * How far a long step is, in the way git says it: one line on standard error, written over while it
 * counts, and nothing where the step is over before the delay. Whether somebody looks is the
 * caller's to know: nothing here asks for a terminal.
 *
 *     ga_progress_begin(&p, delay_ms, "Capturing files", 0);
 *     ... ga_progress_step(&p) for each ...
 *     ga_progress_end(&p);
 */
#ifndef GA_PROGRESS_H
#define GA_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define GA_PROGRESS_NEVER ((int64_t)-1)

struct ga_progress {
	const char *title; /* borrowed; ours, and no name of anybody's */
	uint64_t n, total; /* total 0: not known */
	int64_t due;       /* when to write the next time; < 0: never */
	bool shown;
};

/* `delay_ms`: GA_PROGRESS_NEVER, or how long to wait before the first line. */
void ga_progress_begin(struct ga_progress *p, int64_t delay_ms, const char *title, uint64_t total);
/* One more is done. Costs next to nothing: the clock is read for one of many. */
void ga_progress_step(struct ga_progress *p);
/* The last line, if there was one before; done, unless it is known that it is not. What follows
 * begins a new one. */
void ga_progress_end(struct ga_progress *p);

#endif
