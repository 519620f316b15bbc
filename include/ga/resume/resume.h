/* SPDX-License-Identifier: MIT
 *
 * Resume a captured session.
 */
#pragma once

#include "ga/start/start.h"

/* Prepare to resume a captured session: the same layers, updated by git inside with the host's
 * later changes to the branch, and the branch as its private HEAD. Of `o` only command (`argc` 0:
 * the session's own), message, expose and filter are used. Takes over `s` and its lock.
 * On failure only its layers may have changed, by some of those changes. */
int ga_resume(struct ga_env *e, const struct ga_start_opts *o, struct ga_session *s,
	      int *lock, struct ga_start *ret, struct ga_error *err);
