/* SPDX-License-Identifier: MIT */
#include "ga/trash/trash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/review/report.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

/* If the branch is gone, or does not have the session's last commit, keep that on a ref in the
 * trash, named like those of earlier runs. */
static int keep_own(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    const char *stamp, struct ga_ref_updates *u, struct ga_error *err)
{
	cleanup_free char *kind = ga_strf("earlier/%s", GA_HEX(&s->result.tip));
	cleanup_free char *ref = ga_session_ref(s, kind);
	cleanup_free char *to = ga_strf(GA_TRASH_REFS "%s/%s", stamp, kind);
	struct ga_oid oid;
	int rc;

	if (ga_oid_is_zero(&s->result.tip) || !ga_commit_whole(r, &s->result.tip, &s->id.onto))
		return 0;
	if (branch) {
		rc = ga_is_ancestor(r, &s->result.tip, branch, err);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
	rc = ga_ref_read(r, ref, &oid, err);
	if (rc > 0)
		ga_ref_updates_add(u, to, &ga_oid_none, &s->result.tip);
	return rc < 0 ? -1 : 0;
}

static int move_refs(struct ga_repo *r, const struct ga_session *s, const char *stamp,
		     struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_free char *reason = ga_strf("agent: drop %s", s->name);
	cleanup_free char *prefix = ga_session_ref(s, "");
	cleanup_free char *trash = ga_strf(GA_TRASH_REFS "%s/", stamp);
	cleanup_free char *tip = ga_strf("%stip", trash);
	struct ga_oid oid;
	int rc;

	/* all were moved at once */
	if (ga_refs_list(r, trash, &refs, err) || refs.n)
		return refs.n ? 0 : -1;
	rc = ga_ref_read(r, s->id.branch, &oid, err);
	if (rc < 0)
		return -1;
	if (!rc)
		ga_ref_updates_move(&u, s->id.branch, tip, &oid);
	if (keep_own(r, s, rc ? NULL : &oid, stamp, &u, err) || ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		cleanup_free char *to = ga_strf(GA_TRASH_REFS "%s/%s", stamp,
						refs.v[i].name + strlen(prefix));

		ga_ref_updates_move(&u, refs.v[i].name, to, &refs.v[i].oid);
	}
	return ga_refs_update(r, &u, reason, err);
}

/* NAME-TIME, or NAME-TIME-N if sessions of the same name are dropped within a second. */
static char *free_stamp(struct ga_repo *r, const char *trash, const char *name)
{
	uint64_t now = (uint64_t)time(NULL);

	for (unsigned n = 1;; n++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_free char *stamp = n == 1 ? ga_strf("%s-%" PRIu64, name, now)
						  : ga_strf("%s-%" PRIu64 "-%u", name, now, n);
		cleanup_free char *dir = ga_path_join(trash, stamp);
		cleanup_free char *prefix = ga_strf(GA_TRASH_REFS "%s/", stamp);
		cleanup_refs struct ga_refs refs = GA_REFS_INIT;

		if (access(dir, F_OK) && (ga_refs_list(r, prefix, &refs, &ignored) || !refs.n))
			return ga_steal(&stamp);
	}
}

/* Save where it goes before anything is moved there. */
static int note_stamp(struct ga_repo *r, const char *trash, struct ga_session *s,
		      struct ga_error *err)
{
	if (s->state == GA_STATE_DROPPED && s->result.stamp)
		return 0;
	free(s->result.stamp);
	s->result.stamp = free_stamp(r, trash, s->name);
	s->state = GA_STATE_DROPPED;
	(void)ga_journal(s->dir, "dropped", NULL);
	return ga_session_save(s, err);
}

int ga_trash_session(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     char **ret_where, struct ga_error *err)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash"), *to = NULL;
	cleanup_free char *space = ga_strf(GA_SESSION_REFS "%s", s->name);
	cleanup_strv struct ga_strv damaged = GA_STRV_INIT;
	const enum ga_state was = s->state;

	if (ga_worktree_check_free(r, s, err) || ga_mkdir_p(trash, 0700, err) ||
	    ga_refs_repair(r, s->id.branch, space, &s->id.onto, &damaged, err) ||
	    ga_worktree_entry_remove(r, s, err) || note_stamp(r, trash, s, err) ||
	    ga_fault_stop("drop:noted", err))
		return -1;
	if (move_refs(r, s, s->result.stamp, err)) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;

		s->state = was;
		(void)ga_session_save(s, &ignored);
		return -1;
	}
	to = ga_path_join(trash, s->result.stamp);
	if (ga_fault_stop("drop:refs", err))
		return -1;
	if (rename(s->dir, to)) {
		cleanup_free char *q = ga_escape(to);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot move session '%s' to '%s'",
				     s->name, q);
	}
	if (ga_fault_stop("drop:moved", err))
		return -1;
	ga_session_remove_work(to);
	*ret_where = ga_steal(&to);
	return 0;
}
