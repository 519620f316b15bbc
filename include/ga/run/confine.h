/* SPDX-License-Identifier: MIT
 *
 * Limits on what a session may use of the machine. Those on memory, tasks and processor time are
 * enforced by the kernel and set up here; those on time, output and layers are watched by the
 * supervisor (src/start/watch.c).
 *
 * The tasks of an ordinary user's session are limited by RLIMIT_NPROC, which since Linux 5.14
 * counts the processes of the sandbox's own user namespace only. Everything else needs a cgroup: a
 * sibling of our own where that is delegated to us, else a scope made by systemd (the user's
 * manager or, for root, the system's). Without either, memory is limited per process by a resource
 * limit, and processor time cannot be limited.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/config/limits.h"
#include "ga/run/run.h"

enum ga_confined {
	GA_CONFINED_NOT,     /* no limit was requested, or a default one cannot be enforced here */
	GA_CONFINED_RLIMIT,  /* a resource limit; for memory: of each process */
	GA_CONFINED_CGROUP,  /* a cgroup, sibling of our own */
	GA_CONFINED_SYSTEMD, /* a scope of systemd's */
};
const char *ga_confined_name(enum ga_confined c); /* "none", "rlimit", "cgroup", "systemd" */

struct ga_confine {
	struct ga_use_limits limits;
	enum ga_confined memory, tasks, cpu;
	char *cgroup;  /* parent of the cgroup to create, or NULL */
	char *busctl;  /* path of busctl(1), to ask systemd; NULL: no manager can be asked */
	bool system;   /* use the system's manager, not the user's */
};
#define GA_CONFINE_INIT { .memory = GA_CONFINED_NOT }
void ga_confine_release(struct ga_confine *c);
#define cleanup_confine cleanup_(ga_confine_release)

/* Decide how each limit of `l` can be enforced on this host; changes nothing. `env` is the caller's
 * environment, `path` the value of PATH. A limit that the user asked for and that cannot be
 * enforced is an error (GA_ESTART). */
int ga_confine_plan(const struct ga_use_limits *l, const char *const *env, const char *path,
		    struct ga_confine *ret, struct ga_error *err);
/* Append to `ret`, for users and the state file, "LIMIT VALUE BY" for each limit that is set; BY
 * is "watch" for those that the supervisor watches. */
void ga_confine_describe(const struct ga_confine *c, struct ga_strv *ret);

/* Apply the limits to a sandbox that is ready but has not started the agent. The cgroup or scope
 * made for it is removed by ga_run_end(). */
int ga_run_confine(struct ga_sandbox *sb, const struct ga_confine *c, struct ga_error *err);
/* How many of its processes the kernel killed for lack of memory (0 unless a cgroup limits it).
 * Call before ga_run_end(). */
uint64_t ga_run_oom_kills(const struct ga_sandbox *sb, const struct ga_confine *c);
