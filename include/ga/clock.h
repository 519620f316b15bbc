/* SPDX-License-Identifier: MIT
 *
 * Time for deadlines: it never goes back and nobody can set it.
 */
#ifndef GA_CLOCK_H
#define GA_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in milliseconds. */
int64_t ga_now_ms(void);
/* What is left until `deadline` as poll(2) wants it: 0 when it has passed, -1 (for
 * ever) for the deadline 0. */
int ga_poll_timeout(int64_t deadline);

#endif
