/* SPDX-License-Identifier: MIT
 *
 * The progress of a long step, shown in git's way: one line on standard error that is overwritten
 * while counting, and nothing if the step is over before the delay. The caller checks for a
 * terminal.
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
	const char *title; /* borrowed; trusted text, printed unescaped */
	uint64_t n, total; /* total 0: unknown */
	int64_t due;       /* when to write next (ga_now_ms()); < 0: never */
	bool shown;
};

/* `delay_ms`: how long to wait before the first line, or GA_PROGRESS_NEVER. */
void ga_progress_begin(struct ga_progress *p, int64_t delay_ms, const char *title, uint64_t total);
/* One more is done. Cheap: only one in many calls reads the clock. */
void ga_progress_step(struct ga_progress *p);
/* End the line, if one was shown: with ", done" unless the known total was not reached. */
void ga_progress_end(struct ga_progress *p);

#endif
