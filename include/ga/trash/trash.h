/* SPDX-License-Identifier: MIT
 *
 * Drop and restore sessions: the directory moves to <state>/trash/<name>-<time>, the refs to
 * refs/agent-trash/<name>-<time>/, so that none of its objects is pruned.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/session/session.h"

/* Move a session (lock held, not running) to the trash: first save its name there, with the state
 * DROPPED; then move the refs in one transaction, then the directory. If it was killed, call it
 * again for a session of that state: it uses the same name. Fails (GA_EFATAL) if the branch is
 * checked out in a working tree. `*ret_where` (owned by the caller) is the directory in the
 * trash. */
int ga_trash_session(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     char **ret_where, struct ga_error *err);

/* Read a session in the trash: `name` is the session's (of several the one dropped last) or that of
 * a directory in the trash. Returns 1 if there is none. With `whole_or_null`, only one that was
 * started while that session, the superproject's, was running: of several of the same name, its
 * own. */
int ga_trash_load(const char *state_dir, const char *name, const struct ga_session *whole_or_null,
		  struct ga_session *ret, struct ga_error *err);
/* The same, to be restored. Fails (GA_EFATAL) if a session or branch of that name exists, or if the
 * session's state was damaged. `ret->dir` is its future place. */
int ga_trash_find(struct ga_repo *r, const char *state_dir, const char *name,
		  const struct ga_session *whole_or_null, struct ga_session *ret,
		  struct ga_error *err);
/* Restore it: its refs in one transaction that overwrites none, then the directory. Safe to repeat
 * after a crash, from ga_trash_find() on. The session comes locked. */
int ga_trash_restore(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     int *ret_lock, struct ga_error *err);

/* Delete directories and refs of sessions dropped before that time. `dry`: delete nothing. Adds the
 * names of the directories to `names`, and when each was dropped, for users, to `whys`. Safe to
 * repeat after a crash, and while something is being restored. */
int ga_trash_sweep(struct ga_repo *r, const char *state_dir, uint64_t before, bool dry,
		   struct ga_strv *names, struct ga_strv *whys, struct ga_error *err);
