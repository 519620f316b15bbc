/* SPDX-License-Identifier: MIT
 *
 * Exchange sessions through a git remote. Fetched work is an agent's, whoever pushed it, and just
 * as hostile: objects go through the import of ga/repo/import.h; rules and holding are applied
 * here, with the facts of this host; no flag, verdict or base commit of the remote is trusted.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/session/session.h"
#include "ga/view/env.h"

/* A session as a remote has it. */
struct ga_remote_session {
	char *name;
	struct ga_oid tip, held; /* the branch; the same with the changes held there, or zero */
};
struct ga_remote_sessions {
	struct ga_remote_session *v;
	size_t n, cap;
	struct ga_refs refs; /* its other branches, and its tags */
};
#define GA_REMOTE_SESSIONS_INIT { .v = NULL, .refs = GA_REFS_INIT }
void ga_remote_sessions_release(struct ga_remote_sessions *l);
#define cleanup_remote_sessions cleanup_(ga_remote_sessions_release)
/* List the sessions of a remote, sorted by name, at most GA_REMOTE_SESSIONS_MAX; other refs are
 * ignored. */
#define GA_REMOTE_SESSIONS_MAX 10000
int ga_remote_list(struct ga_repo *r, const char *remote, struct ga_remote_sessions *ret,
		   struct ga_error *err);

/* Callback: fill `ret`, which is empty, with the paths configured (`risk`) for sessions based on
 * the commit `onto`. */
typedef int ga_fetch_risk_fn(void *payload, const struct ga_oid *onto, struct ga_risk_paths *ret,
			     struct ga_error *err);

struct ga_fetch_opts {
	const char *remote;
	const char *label;           /* of a session on another machine: its host; NULL: a remote */
	const struct ga_refs *refs;  /* of ga_remote_list() */
	const struct ga_oid *base;   /* a commit that the session is based on, or on an ancestor of
				      * it; NULL: it is inferred */
	const struct ga_oid *snapshot; /* a commit of uncommitted work on top of `base` that the
				      * session was shown as well, or NULL ... */
	const char *objects;         /* ... the object directory that has it ... */
	const struct ga_buf *patch;  /* ... and a git patch of what the session did to that work */
	ga_fetch_risk_fn *risk;      /* supplies the configured paths */
	void *payload;
};
/* Fetch one as session `name` of this repository: branch, what is held of it here, and a
 * report, but no layers. The limits are those of `e`. `ret` comes locked.
 *
 * The known commits are those of `base`, or else of the remote-tracking branches of the remote, and
 * of the tags that it lists as they are here; or, if it has no such branch, of the branches that it
 * lists and HEAD contains. Git tells the remote of no others. The session is based on the last of
 * its first-parent ancestors that is known, and whatever else it reaches must have come from the
 * remote, and be on no branch of the user: neither an id nor a copy of a private branch brings
 * it.
 *
 * With a label, what does not descend from what was fetched before is refused.
 *
 * Returns 1 if it is here already as it is there. GA_ELOSE, with nothing done, if another session
 * or branch has that name, or if what was fetched before has verdicts here or has changed since.
 * GA_EFATAL for what is refused, with the reason. */
int ga_fetch_session(struct ga_env *e, const struct ga_fetch_opts *o,
		     const struct ga_remote_session *from, const char *name, struct ga_session *ret,
		     int *ret_lock, struct ga_report *ret_report, struct ga_error *err);

/* Has this fetched session verdicts here, or was its branch moved? */
int ga_fetch_touched(struct ga_env *e, const struct ga_session *s, struct ga_error *err);

/* Push a captured session: branch and report and, with `held`, the held changes; without it, those
 * are deleted on the remote. `force`: the branch there may be replaced. If the push of the branch
 * is refused, nothing else is pushed. Both pushes run the user's hooks. */
int ga_push_session(struct ga_repo *r, const char *remote, const struct ga_session *s, bool held,
		    bool force, struct ga_error *err);
