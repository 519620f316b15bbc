/* SPDX-License-Identifier: MIT
 *
 * The user's limits, as values: those of a capture (docs/limits.md says what each is for and what
 * happens when it is reached), and those on what a session may use (0: none). Times are in seconds,
 * sizes in bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ga_limits {
	/* on what is read from layers */
	uint64_t depth, entries, file_size, total_size, rules_size;
	/* on the agent's commits */
	uint64_t commits, history, branches, pack_size, objects, object_size, unpacked_size;
	uint64_t read_time; /* for one walk of a layer */
	uint64_t git_time;  /* for one git command inside; for reading all of the agent's commits,
			     * ten times as much */
	uint32_t lowered;   /* bit 1 << enum ga_limit for each that a repository's file set */
};

enum ga_limit {
	GA_LIMIT_DEPTH,
	GA_LIMIT_ENTRIES,
	GA_LIMIT_FILE_SIZE,
	GA_LIMIT_TOTAL_SIZE,
	GA_LIMIT_RULES_SIZE,
	GA_LIMIT_COMMITS,
	GA_LIMIT_HISTORY,
	GA_LIMIT_BRANCHES,
	GA_LIMIT_PACK_SIZE,
	GA_LIMIT_OBJECTS,
	GA_LIMIT_OBJECT_SIZE,
	GA_LIMIT_UNPACKED_SIZE,
	GA_LIMIT_READ_TIME,
	GA_LIMIT_GIT_TIME,
};
#define GA_LIMITS_N (GA_LIMIT_GIT_TIME + 1)

/* Limits while a session runs. */
struct ga_use_limits {
	uint64_t memory; /* all processes together */
	uint64_t tasks;  /* processes and threads */
	uint64_t files;  /* open files of each process */
	uint64_t cpu;    /* in percent of one processor */
	uint64_t time;   /* from start to end */
	uint64_t output; /* what the command writes to its terminal or streams */
	uint64_t upper;  /* disk space of its layers */
	uint64_t setup, ready, finish; /* for the commands that run beside the agent */
	bool tasks_default; /* `tasks` is the default, not configured */
};

/* The value of that limit in `l`, as text. The caller frees it. */
static inline bool ga_limit_is_lowered(const struct ga_limits *l, enum ga_limit which)
{
	return l->lowered >> which & 1;
}
