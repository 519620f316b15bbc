/* SPDX-License-Identifier: MIT
 *
 * The guard of a repository (agent.guard in its git configuration, which no agent can write): high
 * paths are held back as well (ga_flag_holds()), and while anything is undecided, hooks of ours
 * keep plain git from bringing it to a branch, or pushing it.
 *
 *     <commondir>/git-agent/guard/
 *         {reference-transaction,pre-push,post-merge}   the hooks
 *         {paths,lines,commits}   what they look for: paths, each with a NUL behind it; entries as
 *                                 `git ls-tree` shows them; ids
 *         hooks/   stands in for the user's hook directory, where need be
 */
#ifndef GA_GUARD_H
#define GA_GUARD_H

#include <stdbool.h>

#include "ga/error.h"
#include "ga/repo.h"

/* How the hooks are there. */
enum ga_guard_how {
	GA_GUARD_NOT,
	GA_GUARD_HOOKS,     /* links in the repository's hook directory, which has none of these */
	GA_GUARD_DIRECTORY, /* core.hooksPath names ours, whose hooks run the user's */
	GA_GUARD_CONFIG,    /* hook.git-agent-*.event, with a git that has it (2.54) */
};
struct ga_guard {
	bool on;
	size_t undecided;      /* flags of all sessions, those that block landing ... */
	size_t sessions;       /* ... and how many have some */
	enum ga_guard_how how;
	bool elsewhere;        /* core.hooksPath is set where it counts more: ours is not used */
};

/* Set or unset agent.guard in the repository's own configuration. */
int ga_guard_set(struct ga_repo *r, const struct ga_gitconfig *c, bool on, struct ga_error *err);

/* Bring hooks and what they look for to what sessions are now: there while the guard is on
 * and something is undecided, else gone without a trace. Safe to repeat after a crash. `ret` may be
 * NULL; without `change` it is all that is done. */
int ga_guard_refresh(struct ga_repo *r, const char *state_dir, bool change, struct ga_guard *ret,
		     struct ga_error *err);

/* Is the guard off, by what git's configuration was when `c` was read, and nothing of it there?
 * Then there is nothing to refresh. */
bool ga_guard_idle(const struct ga_repo *r, const struct ga_gitconfig *c);

/* "not", "hooks", "directory", "config" */
const char *ga_guard_how_name(enum ga_guard_how how);

#endif
