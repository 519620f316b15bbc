/* SPDX-License-Identifier: MIT */
#include "ga/trash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/worktree.h"

static int move_refs(struct ga_repo *r, const struct ga_session *s, const char *stamp,
		     struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_free char *reason = ga_strf("agent: drop %s", s->name);
	cleanup_free char *prefix = ga_session_ref(s, "");
	cleanup_free char *tip = ga_strf("refs/agent-trash/%s/tip", stamp);
	const struct ga_oid none = { { 0 } };
	struct ga_oid oid;
	int rc = ga_ref_read(r, s->branch, &oid, err);

	if (rc < 0)
		return -1;
	if (!rc) {
		ga_ref_updates_add(&u, tip, &none, &oid);
		ga_ref_updates_add(&u, s->branch, &oid, NULL);
	}
	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		cleanup_free char *to = ga_strf("refs/agent-trash/%s/%s", stamp,
						refs.v[i].name + strlen(prefix));

		ga_ref_updates_add(&u, to, &none, &refs.v[i].oid);
		ga_ref_updates_add(&u, refs.v[i].name, &refs.v[i].oid, NULL);
	}
	return ga_refs_update(r, &u, reason, err);
}

/* NAME-TIME, or NAME-TIME-N where sessions of one name are dropped within a second. */
static char *free_stamp(struct ga_repo *r, const char *trash, const char *name)
{
	uint64_t now = (uint64_t)time(NULL);

	for (unsigned n = 1;; n++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_free char *stamp = n == 1 ? ga_strf("%s-%" PRIu64, name, now)
						  : ga_strf("%s-%" PRIu64 "-%u", name, now, n);
		cleanup_free char *dir = ga_path_join(trash, stamp);
		cleanup_free char *prefix = ga_strf("refs/agent-trash/%s/", stamp);
		cleanup_refs struct ga_refs refs = GA_REFS_INIT;

		if (access(dir, F_OK) && (ga_refs_list(r, prefix, &refs, &ignored) || !refs.n))
			return ga_steal(&stamp);
	}
}

/* What overlays kept for themselves, in directories that are closed to their owner too: 'rm -r'
 * would stop at them. Nothing in it is the agent's work. */
static void remove_work(const char *dir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int at = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (at >= 0)
		(void)ga_rmtree_at(at, "work", &ignored);
}

int ga_trash_session(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     char **ret_where, struct ga_error *err)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash");
	cleanup_free char *stamp = free_stamp(r, trash, s->name), *to = ga_path_join(trash, stamp);

	if (ga_worktree_check_free(r, s, err) || ga_mkdir_p(trash, 0700, err) ||
	    ga_worktree_entry_remove(r, s, err) || move_refs(r, s, stamp, err))
		return -1;
	s->state = GA_STATE_DROPPED;
	if (ga_session_save(s, err))
		return -1;
	if (rename(s->dir, to)) {
		cleanup_free char *q = ga_escape(to);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot move session '%s' to '%s'",
				     s->name, q);
	}
	remove_work(to);
	*ret_where = ga_steal(&to);
	return 0;
}
