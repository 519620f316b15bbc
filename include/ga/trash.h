/* SPDX-License-Identifier: MIT
 *
 * Dropping a session, and restoring it: its directory goes to <state>/trash/<name>-<time>, its refs
 * to refs/agent-trash/<name>-<time>/, so that nothing it held is pruned.
 */
#ifndef GA_TRASH_H
#define GA_TRASH_H

#include "ga/error.h"
#include "ga/repo.h"
#include "ga/session.h"
#include "ga/strv.h"

#define GA_TRASH_REFS "refs/agent-trash/"

/* Move a session (lock held, not running) to the trash: refs in one transaction, then the
 * directory. Safe to repeat after a crash. Fails (GA_EFATAL) if the branch is checked out in a
 * working tree. `*ret_where` (owned by the caller) is the directory in the trash. */
int ga_trash_session(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     char **ret_where, struct ga_error *err);

/* Restore what was moved there: `name` is a session's (of several the one dropped last) or that of
 * a directory in the trash. Its refs are restored in one transaction that overwrites none, then the
 * directory. Safe to repeat after a crash. Fails (GA_EFATAL) if a session or branch of that name
 * exists, or if the session's state was damaged. The session comes locked. Returns 1 if there is
 * none. With `whole_or_null`, only one that was started while that session, the superproject's, was
 * at work: of several of the same name, its own. */
int ga_trash_restore(struct ga_repo *r, const char *state_dir, const char *name,
		     const struct ga_session *whole_or_null, struct ga_session *ret, int *ret_lock,
		     struct ga_error *err);

/* Delete for good what was dropped before that time, directories and refs. `dry`: delete nothing.
 * Adds the names of the directories to `names`, and when each was dropped, for people, to `whys`.
 * Safe to repeat after a crash, and while something is being restored. */
int ga_trash_sweep(struct ga_repo *r, const char *state_dir, uint64_t before, bool dry,
		   struct ga_strv *names, struct ga_strv *whys, struct ga_error *err);

#endif
