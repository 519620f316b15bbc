/* SPDX-License-Identifier: MIT
 *
 * Text that is written while it is still being made, so that who reads it need not wait for its
 * end.
 */
#ifndef GA_OUT_H
#define GA_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/buf.h"
#include "ga/error.h"

struct ga_out {
	struct ga_buf text; /* what is not written yet; all of it where `write` is NULL */
	/* Returns 0; 1: nobody reads on, and nothing more is to be made; -1. */
	int (*write)(void *to, const char *text, size_t n, struct ga_error *err);
	void *to;
};
#define GA_OUT_INIT { GA_BUF_INIT, NULL, NULL }
void ga_out_release(struct ga_out *o);
#define cleanup_out cleanup_(ga_out_release)

/* Write what there is now, or, the second, if it is worth it. Return what `write` does. */
int ga_out_flush(struct ga_out *o, struct ga_error *err);
int ga_out_offer(struct ga_out *o, struct ga_error *err);

#endif
