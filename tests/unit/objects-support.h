/* SPDX-License-Identifier: MIT
 *
 * For tests of what reads and writes objects: repositories, ids from git, and
 * numbers that repeat with their seed.
 */
#pragma once

#include "repo-support.h"

#include "ga/repo/objects.h"

/* The id a script prints. */
#define OID(dir, ...) \
	({ \
		cleanup_free char *out_ = sh(dir, __VA_ARGS__); \
		struct ga_oid oid_; \
		if (!ga_oid_parse(out_, strlen(out_), &oid_)) \
			fail_msg("no id: %s", out_); \
		oid_; \
	})

/* Small and repeatable, which is all that is asked of it. */
static uint32_t rnd_state;
static inline uint32_t rnd(uint32_t below)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 17;
	rnd_state ^= rnd_state << 5;
	return rnd_state % below;
}

static inline void rnd_seed(void)
{
	const char *given = getenv("SEED");

	rnd_state = given ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)time(NULL);
	if (!rnd_state)
		rnd_state = 1;
	print_message("# SEED=%u\n", rnd_state);
}
