/* SPDX-License-Identifier: MIT
 *
 * Streamed output: text is written while it is produced, so that a reader does not wait for all of
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"

struct ga_out {
	struct ga_buf text; /* not written yet; all of the text if `write` is NULL */
	/* Returns 0; 1 if the reader has closed its end, so stop; or -1. */
	int (*write)(void *to, const char *text, size_t n, struct ga_error *err);
	void *to;
};
#define GA_OUT_INIT { GA_BUF_INIT, NULL, NULL }
void ga_out_release(struct ga_out *o);
#define cleanup_out cleanup_(ga_out_release)

/* Write the pending text; ga_out_offer() does so only once there is enough to be worth it. Both
 * return what `write` does, or 0. */
int ga_out_flush(struct ga_out *o, struct ga_error *err);
int ga_out_offer(struct ga_out *o, struct ga_error *err);

/* ---- progress */

/* The progress of a long step, shown in git's way: one line on standard error that is overwritten
 * while counting, and nothing if the step is over before the delay. The caller decides whether
 * anybody is looking: nothing here checks for a terminal.
 *
 *     ga_progress_begin(&p, delay_ms, "Capturing files", 0);
 *     ... ga_progress_step(&p) for each ...
 *     ga_progress_end(&p); */

#define GA_PROGRESS_NEVER ((int64_t)-1)

struct ga_progress {
	const char *title; /* borrowed; a text of ours, printed unchanged */
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
