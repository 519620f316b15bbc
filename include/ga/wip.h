/* SPDX-License-Identifier: MIT
 *
 * The uncommitted part of a session: what the agent did to work that the user had not committed
 * when it started. It is on no branch; a landing brings it as uncommitted changes.
 */
#ifndef GA_WIP_H
#define GA_WIP_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/session.h"
#include "ga/strv.h"

struct ga_wip {
	char *objects;          /* the session's object directory; see ga_repo_open_private() */
	struct ga_oid snapshot; /* commit: what the agent was shown; zero: no uncommitted work */
	struct ga_oid seen;     /* commit or tree: what the agent left, whole; zero: nothing yet */
	struct ga_strv paths;   /* paths of the uncommitted part in which snapshot and seen differ,
				 * sorted */
};
#define GA_WIP_INIT { NULL, { { 0 } }, { { 0 } }, GA_STRV_INIT }
void ga_wip_release(struct ga_wip *w);
#define cleanup_wip cleanup_(ga_wip_release)

/* Read it. A session without uncommitted work has neither snapshot nor paths. */
int ga_wip_load(struct ga_repo *r, const struct ga_session *s, struct ga_wip *ret,
		struct ga_error *err);

/* The session's object directory; the caller frees it. */
char *ga_wip_objects(const struct ga_session *s);

#endif
