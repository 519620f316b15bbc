/* SPDX-License-Identifier: MIT
 *
 * The entry <commondir>/worktrees/agent-<name>: while it is there, `git worktree
 * list` shows the session and git refuses to switch to, move or delete its
 * branch. It names a working tree that does not exist on the host and is locked,
 * so nothing prunes it and no command can enter it.
 */
#ifndef GA_WORKTREE_H
#define GA_WORKTREE_H

#include "ga/error.h"
#include "ga/repo.h"
#include "ga/session.h"

/* Make it, or make it anew if a crash left one of this session. Fails if a
 * working tree of the user's has that name. */
int ga_worktree_entry_create(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Fail (GA_EFATAL) if the session's branch is checked out in a working tree of the user's, beneath
 * which it must neither move nor go away, or if a rebase or bisection there comes back to it. */
int ga_worktree_check_free(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Remove it if it is this session's. None, or a foreign one, is no error. */
int ga_worktree_entry_remove(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

#endif
