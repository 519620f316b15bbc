/* SPDX-License-Identifier: MIT
 *
 * The monotonic clock, for deadlines.
 */
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC in milliseconds. */
int64_t ga_now_ms(void);
/* The milliseconds left until `deadline`, as the timeout of poll(2): 0 once it has passed, -1 (no
 * timeout) if `deadline` is 0. */
int ga_poll_timeout(int64_t deadline);
