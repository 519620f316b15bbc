/* SPDX-License-Identifier: MIT
 *
 * Dropping a session: its directory goes to <state>/trash/<name>-<time>, its
 * refs to refs/agent-trash/<name>-<time>/, so that nothing it held is pruned.
 */
#ifndef GA_TRASH_H
#define GA_TRASH_H

#include "ga/error.h"
#include "ga/repo.h"
#include "ga/session.h"

/* Move a session (lock held, not running) to the trash: refs in one
 * transaction, then the directory. Safe to repeat after a crash. Fails (GA_EFATAL)
 * when the branch is checked out in a working tree. `*ret_where` (owned by the
 * caller) is the directory in the trash. */
int ga_trash_session(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     char **ret_where, struct ga_error *err);

#endif
