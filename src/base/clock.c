/* SPDX-License-Identifier: MIT */
#include "ga/base/clock.h"

#include <limits.h>
#include <time.h>

int64_t ga_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int ga_poll_timeout(int64_t deadline)
{
	int64_t left;

	if (!deadline)
		return -1;
	left = deadline - ga_now_ms();
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}
