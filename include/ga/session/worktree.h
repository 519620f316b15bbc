/* SPDX-License-Identifier: MIT
 *
 * The entry <commondir>/worktrees/agent-<name>: while it exists, `git worktree list` shows the
 * session and git refuses to switch to, move or delete its branch. It names a working tree that
 * does not exist on the host and is locked, so nothing prunes it and no command can enter it.
 */
#ifndef GA_WORKTREE_H
#define GA_WORKTREE_H

#include "ga/base/error.h"
#include "ga/session/session.h"

/* Create the entry, or replace one that a crash of this session left. Fails if a working tree of
 * the user's has that name. */
int ga_worktree_entry_create(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Have the bare repository `gitdir` know the directory `tree` as its working tree `name`, with the
 * commit `head` (in hex) checked out: as `git worktree add --no-checkout --detach` does, but at
 * once. What that makes has a HEAD for a moment that names nothing, and every git in the repository
 * fails meanwhile. */
int ga_worktree_add(const char *gitdir, const char *name, const char *tree, const char *head,
		    struct ga_error *err);

/* Fail (GA_EFATAL) if the session's branch is checked out in a working tree of the user's, where it
 * must neither move nor be deleted, or if a rebase or bisection in progress there will return to
 * it. */
int ga_worktree_check_free(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Append the git directories of all working trees of the repository, the main one's first. */
void ga_worktree_gitdirs(const struct ga_repo *r, struct ga_strv *ret);

/* Remove the entry if it is this session's. It is no error if there is none, or another's. */
int ga_worktree_entry_remove(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

#endif
