/* SPDX-License-Identifier: MIT
 *
 * Limits of what a session may use of the machine: memory, tasks and processor by the kernel, here;
 * time, output and layers by who watches it (src/start/watch.c).
 *
 * Tasks of an ordinary user's session are counted by a resource limit, which since Linux 5.14
 * counts those of the sandbox's own user namespace alone. All else needs a cgroup: one beside our
 * own where that is delegated to us, or a scope of systemd's, the user's own or, for root, the
 * system's. Where there is none, memory is limited for each process by itself, and the rest cannot
 * be.
 */
#ifndef GA_CONFINE_H
#define GA_CONFINE_H

#include <stdbool.h>

#include "ga/error.h"
#include "ga/limits.h"
#include "ga/run.h"
#include "ga/strv.h"

enum ga_confined {
	GA_CONFINED_NOT,     /* no limit, or one by default that cannot be had here */
	GA_CONFINED_RLIMIT,  /* memory: of each process */
	GA_CONFINED_CGROUP,  /* made beside our own */
	GA_CONFINED_SYSTEMD, /* a scope */
};
const char *ga_confined_name(enum ga_confined c); /* "none", "rlimit", "cgroup", "systemd" */

struct ga_confine {
	struct ga_use_limits limits;
	enum ga_confined memory, tasks, cpu;
	char *cgroup;  /* where ours is to be made; NULL */
	char *busctl;  /* what asks systemd; NULL: there is no manager that can be asked */
	bool system;   /* systemd's own manager, not the user's */
};
#define GA_CONFINE_INIT { .memory = GA_CONFINED_NOT }
void ga_confine_release(struct ga_confine *c);
#define cleanup_confine cleanup_(ga_confine_release)

/* How can these be had here? Looks at the host; `env` is the caller's environment, `path` $PATH.
 * One that was asked for and cannot be had is an error (GA_ESTART). */
int ga_confine_plan(const struct ga_use_limits *l, const char *const *env, const char *path,
		    struct ga_confine *ret, struct ga_error *err);
/* For people and the state file: "LIMIT VALUE BY", one for each limit that is set, the watched ones
 * ("watch") too. Adds to `ret`. */
void ga_confine_describe(const struct ga_confine *c, struct ga_strv *ret);

/* Put a sandbox that is ready, with nothing of the agent's in it yet, under these. What was made
 * for it goes with ga_run_end(). */
int ga_run_confine(struct ga_sandbox *sb, const struct ga_confine *c, struct ga_error *err);
/* How many of its processes the kernel has ended for want of memory, where a cgroup limits that;
 * before ga_run_end(). */
uint64_t ga_run_oom_kills(const struct ga_sandbox *sb, const struct ga_confine *c);

#endif
