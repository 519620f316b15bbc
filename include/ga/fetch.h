/* SPDX-License-Identifier: MIT
 *
 * Sessions that ran elsewhere, through a git remote. What comes from there is an agent's, whoever
 * pushed it, and no less hostile: objects go through the import of ga/import.h, rules and holding
 * back are done here, with the facts of this host, and no flag, verdict or commit id of a base that
 * the other side says is believed.
 */
#ifndef GA_FETCH_H
#define GA_FETCH_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/report.h"
#include "ga/session.h"
#include "ga/start.h"

/* One as a remote has it. */
struct ga_remote_session {
	char *name;
	struct ga_oid tip, held; /* its branch; with what was held back there, or zero */
};
struct ga_remote_sessions {
	struct ga_remote_session *v;
	size_t n, cap;
};
#define GA_REMOTE_SESSIONS_INIT { NULL, 0, 0 }
void ga_remote_sessions_release(struct ga_remote_sessions *l);
#define cleanup_remote_sessions cleanup_(ga_remote_sessions_release)
/* By name; what can be no session's is passed over. At most GA_REMOTE_SESSIONS_MAX. */
#define GA_REMOTE_SESSIONS_MAX 10000
int ga_remote_list(struct ga_repo *r, const char *remote, struct ga_remote_sessions *ret,
		   struct ga_error *err);

/* Which paths are configured for sessions that stand on a commit: fills `ret`, which is empty. */
typedef int ga_fetch_risk_fn(void *payload, const struct ga_oid *onto, struct ga_risk_paths *ret,
			     struct ga_error *err);

/* Bring one, as session `name` of this repository: branch, what is held back of it here, and a
 * report, but no layers. It stands on the last commit of its first parents that a branch, remote
 * branch or tag of the host has. Limits are those of `e`, and `risk` says what rules are
 * told besides. `ret` comes locked.
 *
 * Returns 1 if it is here as it is there. GA_ELOSE, and nothing done, when there is a session or
 * branch of that name that is another one, or what was fetched before was decided about or changed
 * here since. GA_EFATAL for what is refused, with the reason. */
int ga_fetch_session(struct ga_start_env *e, const char *remote,
		     const struct ga_remote_session *from, const char *name,
		     ga_fetch_risk_fn *risk, void *payload, struct ga_session *ret, int *ret_lock,
		     struct ga_report *ret_report, struct ga_error *err);

/* Push a captured session: branch and report, and with `held` what is held back; else what the
 * remote has of that is removed there. `force`: the branch there may be replaced. When that is
 * refused nothing else is pushed. The user's hooks run, for each of the two. */
int ga_push_session(struct ga_repo *r, const char *remote, const struct ga_session *s, bool held,
		    bool force, struct ga_error *err);

#endif
