/* SPDX-License-Identifier: MIT
 *
 * Sessions that ran elsewhere, exchanged through a git remote. What comes from there is an agent's
 * work, whoever pushed it, and just as hostile: objects go through the import of ga/import.h; rules
 * and holding are applied here, with the facts of this host; no flag, verdict or base commit
 * that the other side states is believed.
 */
#ifndef GA_FETCH_H
#define GA_FETCH_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/report.h"
#include "ga/session.h"
#include "ga/start.h"

/* A session as a remote has it. */
struct ga_remote_session {
	char *name;
	struct ga_oid tip, held; /* the branch; the same with what was held there, or zero */
};
struct ga_remote_sessions {
	struct ga_remote_session *v;
	size_t n, cap;
};
#define GA_REMOTE_SESSIONS_INIT { NULL, 0, 0 }
void ga_remote_sessions_release(struct ga_remote_sessions *l);
#define cleanup_remote_sessions cleanup_(ga_remote_sessions_release)
/* List the sessions of a remote, sorted by name, at most GA_REMOTE_SESSIONS_MAX; refs that cannot
 * be a session's are left out. */
#define GA_REMOTE_SESSIONS_MAX 10000
int ga_remote_list(struct ga_repo *r, const char *remote, struct ga_remote_sessions *ret,
		   struct ga_error *err);

/* Callback: fill `ret`, which is empty, with the paths configured (`risk`) for sessions based on
 * the commit `onto`. */
typedef int ga_fetch_risk_fn(void *payload, const struct ga_oid *onto, struct ga_risk_paths *ret,
			     struct ga_error *err);

/* Fetch one as session `name` of this repository: branch, what is held of it here, and a
 * report, but no layers. Its base is the last of the branch's first-parent ancestors that a branch,
 * remote branch or tag of the host has. The limits are those of `e`; `risk` supplies the configured
 * paths. `ret` comes locked.
 *
 * Returns 1 if it is here already as it is there. GA_ELOSE, with nothing done, if another session
 * or branch has that name, or if what was fetched before was decided about or changed here since.
 * GA_EFATAL for what is refused, with the reason. */
int ga_fetch_session(struct ga_start_env *e, const char *remote,
		     const struct ga_remote_session *from, const char *name,
		     ga_fetch_risk_fn *risk, void *payload, struct ga_session *ret, int *ret_lock,
		     struct ga_report *ret_report, struct ga_error *err);

/* Push a captured session: branch and report and, with `held`, what is held; without it, what
 * the remote has of that is deleted there. `force`: the branch there may be replaced. If the push
 * of the branch is refused, nothing else is pushed. Both pushes run the user's hooks. */
int ga_push_session(struct ga_repo *r, const char *remote, const struct ga_session *s, bool held,
		    bool force, struct ga_error *err);

#endif
