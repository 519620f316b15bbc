/* SPDX-License-Identifier: MIT
 *
 * Streamed output: text is written while it is produced, so that a reader does not wait for all of
 * it.
 */
#ifndef GA_OUT_H
#define GA_OUT_H

#include <stddef.h>

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

#endif
