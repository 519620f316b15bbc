/* SPDX-License-Identifier: MIT
 *
 * A session whose supervisor is gone: it is removed if it never ran, and repaired if not.
 */
#include <time.h>
#include <unistd.h>

#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/run/live.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "start-internal.h"

/* How long the processes of a sandbox may take to end once its supervisor is gone: each has to be
 * scheduled, and to finish writing to the disk. */
#define GONE_MS 30000
#define GONE_STEP_MS 10

void start_save_if_possible(const struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	(void)ga_session_save(s, &ignored);
}

/* Nothing can be removed of a part whose repository is gone, and nothing need be. */
static int discard_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	(void)payload;
	return at->s && at->env ? ga_start_discard(at->env, at->s, err) : 0;
}

int ga_start_discard(struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	static const char *const kinds[] = { "base", "from", "held", "orig", "report" };

	if (ga_start_each_part(e, s, true, discard_part, NULL, err) ||
	    ga_worktree_entry_remove(e->repo, s, err))
		return -1;
	/* the branch was made for this session and stands where it was made; a user
	 * who moved it keeps it */
	if (ga_ref_delete(e->repo, s->id.branch, &s->id.onto, err))
		ga_error_release(err);
	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		cleanup_free char *name = ga_session_ref(s, kinds[i]);
		struct ga_oid oid;
		int rc = ga_ref_read(e->repo, name, &oid, err);

		if (rc < 0 || (!rc && ga_ref_delete(e->repo, name, &oid, err)))
			return -1;
	}
	return ga_session_remove_dir(s->dir, err);
}

static void journal_damage(const struct ga_session *s, const struct ga_strv *gone)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < gone->n; i++)
		(void)json_array_append_new(list, json_string(gone->v[i]));
	(void)json_object_set_new(o, "refs", list);
	(void)ga_journal(s->dir, "damaged", o);
}

/* Is the commit damaged that the report names, or gone, and its ref with it? Of a branch that the
 * user rewrote, git may have removed the former commit. */
static bool is_gone(struct ga_env *e, const struct ga_session *s, const char *ref,
		    const struct ga_oid *oid)
{
	/* asked first, as a damaged object is removed */
	bool here = !ga_oid_is_zero(oid) && ga_object_here(e->repo, oid);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid now;

	return !ga_oid_is_zero(oid) && !ga_commit_whole(e->repo, oid, &s->id.onto) &&
	       (here || ga_ref_read(e->repo, ref, &now, &ignored) > 0);
}

/* Is the report damaged (`rc` of reading it), or what it names? Or gone: the capture of layers that
 * show anything else than the base wrote one. */
static bool has_lost(struct ga_env *e, const struct ga_session *s,
		     const struct ga_report *r, int rc)
{
	cleanup_free char *held = ga_session_ref(s, "held");
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid base;

	if (rc > 0)
		return !ga_commit_tree(e->repo, &s->id.base, &base, &ignored) &&
		       !ga_oid_equal(&base, &s->view.tree);
	return rc || is_gone(e, s, s->id.branch, &r->tip) || is_gone(e, s, held, &r->held);
}

static int put_back(struct ga_env *e, const char *name, const struct ga_oid *oid,
		    struct ga_error *err)
{
	struct ga_oid is;
	int rc = ga_oid_is_zero(oid) ? 0 : ga_ref_read(e->repo, name, &is, err);

	return rc > 0 ? ga_ref_create(e->repo, name, oid, "agent: repair", err) : rc;
}

/* Capturing again would undo what was decided. 1: nothing was. */
static int keep_decided(struct ga_env *e, const struct ga_session *s,
			const struct ga_report *r, struct ga_error *err)
{
	cleanup_free char *held = ga_session_ref(s, "held");

	for (size_t i = 0; i < r->n_flags; i++)
		if (r->flags[i].verdict != GA_VERDICT_OPEN)
			return put_back(e, s->id.branch, &r->tip, err) ||
			       put_back(e, held, &r->held, err) ? -1 : 0;
	return 1;
}

/* Refs that lead nowhere go, as they would make git fail. If some did, or what was captured is gone
 * without them, it is captured again from the layers, unless all that was decided about is there.
 * Nothing is touched while the commit it started from cannot be read either: an object store may be
 * missing for a while. */
static int repair(struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *space = ga_strf(GA_SESSION_REFS "%s", s->name);
	cleanup_free char *upper = ga_session_path(s, "upper"), *git = ga_session_path(s, "git");
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	cleanup_report struct ga_report report = GA_REPORT_INIT;
	cleanup_free char *name = ga_session_ref(s, "report");
	cleanup_strv struct ga_strv gone = GA_STRV_INIT;
	bool here = ga_commit_whole(e->repo, &s->id.onto, &s->id.onto), lost;
	struct ga_oid oid;
	int rc;

	ga_session_clear_locks(e->repo, s);
	if (here && ga_refs_repair(e->repo, s->id.branch, space, &s->id.onto, &gone, err))
		return -1;
	rc = ga_report_read(e->repo, s, &report, &unreadable);
	ga_report_tell(&report, s);
	if (!here)
		return 0;
	if (rc < 0 && !ga_ref_read(e->repo, name, &oid, err) &&
	    ga_ref_delete(e->repo, name, &oid, err))
		return -1;
	lost = has_lost(e, s, &report, rc);
	if (gone.n)
		journal_damage(s, &gone);
	if ((!lost && !gone.n) || s->state != GA_STATE_CAPTURED || s->id.remote ||
	    access(upper, F_OK) || access(git, F_OK) || !ga_oid_is_zero(&s->view.bring))
		return 0;
	rc = lost ? 1 : keep_decided(e, s, &report, err);
	if (rc <= 0)
		return rc;
	s->state = GA_STATE_INTERRUPTED;
	s->damaged = true;
	return ga_session_save(s, err);
}

int ga_start_recover(struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *upper = ga_session_path(s, "upper");

	if (s->state == GA_STATE_NEW && ga_dir_is_empty(upper)) {
		ga_session_clear_locks(e->repo, s);
		return ga_start_discard(e, s, err) ? -1 : 1;
	}
	/* it ran, but a power cut took the state file that said so */
	if (s->state == GA_STATE_NEW)
		s->state = GA_STATE_RUNNING;
	if (s->state != GA_STATE_RUNNING)
		return repair(e, s, err);
	/* init ends with the socket to its supervisor: soon, but maybe not before we look */
	for (int i = 0; ga_run_alive(s->run.pid, s->run.pidns); i++) {
		struct timespec t = { 0, GONE_STEP_MS * 1000000 };

		if (i == GONE_MS / GONE_STEP_MS) {
			(void)ga_fail(err, GA_EFATAL, "processes of session '%s' are still running",
				      s->name);
			return ga_hint(err, "end them (pid namespace %llu), then try again",
				       (unsigned long long)s->run.pidns);
		}
		(void)nanosleep(&t, NULL);
	}
	ga_live_remove(s->dir);
	ga_strv_release(&s->run.published);
	if (!s->run.finished) {
		s->run.finished = (uint64_t)time(NULL);
		(void)ga_journal(s->dir, "interrupted", NULL);
		start_save_if_possible(s);
	}
	/* this state is never stored */
	s->state = GA_STATE_INTERRUPTED;
	return repair(e, s, err);
}
