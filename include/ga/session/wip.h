/* SPDX-License-Identifier: MIT
 *
 * The uncommitted part of a session: what the agent did to work that the user had not committed
 * when it started. It is on no branch; a landing brings it as uncommitted changes.
 */
#ifndef GA_WIP_H
#define GA_WIP_H

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"
#include "ga/session/session.h"

struct ga_wip {
	char *objects;          /* the session's object directory; see ga_repo_open_private() */
	struct ga_oid snapshot; /* commit: what the agent was shown; zero: no uncommitted work */
	struct ga_oid seen;     /* tree: what the agent left, whole; zero: nothing yet */
	struct ga_strv paths;   /* paths of the uncommitted part in which snapshot and seen differ,
				 * sorted */
};
#define GA_WIP_INIT { NULL, { { 0 } }, { { 0 } }, GA_STRV_INIT }
void ga_wip_release(struct ga_wip *w);
#define cleanup_wip cleanup_(ga_wip_release)

/* Fill it. A session without uncommitted work has neither snapshot nor paths. */
void ga_wip_load(const struct ga_session *s, struct ga_wip *ret);

/* What the agent did to those paths, from the snapshot to what it left. */
int ga_wip_changes(struct ga_repo *r, const struct ga_wip *w, struct ga_changes *ret,
		   struct ga_error *err);

/* All paths in which the user had uncommitted work, changed by the agent or not, and what they were
 * renamed to; sorted. None of them may be in a commit of the session's. */
int ga_wip_paths(struct ga_repo *r, const struct ga_session *s, struct ga_strv *ret,
		 struct ga_error *err);
/* Is the path one of these sorted ones, beneath one, or a directory that one is in? */
bool ga_wip_has(const struct ga_strv *paths, const char *path);

/* The session's object directory; the caller frees it. */
char *ga_wip_objects(const struct ga_session *s);
/* Have the handle use it, if the session has, or may be shown, uncommitted work ... */
int ga_wip_use(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);
/* ... or only read it. */
int ga_wip_attach(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

#endif
