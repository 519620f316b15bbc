/* SPDX-License-Identifier: MIT
 *
 * The guard of a repository, switched by agent.guard in its git configuration, which no agent can
 * write. While it is on, high paths are held as well (ga_flag_holds()), and as long as
 * anything is undecided, hooks of ours keep plain git from bringing it to a branch or pushing it.
 *
 *     <commondir>/git-agent/guard/
 *         {reference-transaction,pre-push,post-merge}   ours
 *         {paths,lines,commits}   what they look for: paths, each ended by a NUL; entries as
 *                                 `git ls-tree` prints them; commit ids
 *         hooks/   named by core.hooksPath: ours, and beside them the user's
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/repo/repo.h"

struct ga_guard {
	bool on;
	size_t undecided;      /* flags of all sessions that block landing ... */
	size_t sessions;       /* ... and the number of sessions that have any */
	bool installed;
	bool elsewhere;        /* core.hooksPath is overridden in another scope: our hooks do not
			        * run */
};

/* Set or unset agent.guard in the repository's own configuration. */
int ga_guard_set(struct ga_repo *r, const struct ga_gitconfig *c, bool on, struct ga_error *err);

/* Update the hooks and their lists for the current sessions: installed while the guard is on and
 * something is undecided, else removed without a trace. Safe to repeat after a crash. Without
 * `change` only fills `ret`, which may be NULL. */
int ga_guard_refresh(struct ga_repo *r, const char *state_dir, bool change, struct ga_guard *ret,
		     struct ga_error *err);

/* Is the guard off in the configuration `c`, and no file of it left? */
bool ga_guard_idle(const struct ga_repo *r, const struct ga_gitconfig *c);
