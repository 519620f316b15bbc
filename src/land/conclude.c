/* SPDX-License-Identifier: MIT
 *
 * A landing that git left to the user: finish it or give it up, as git does.
 */

#include "ga/session/worktree.h"
#include "ga/sys/signals.h"
#include "landing.h"

static int fail_none(const char *what, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "there is no landing to %s in this working tree", what);
	return ga_hint(err, "'git status' shows what git has in progress");
}

/* `git merge --continue` is git commit; comments of git's about conflicts go, as in an editor. */
static int commit(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	const struct proposal p = { .how = rec->how, .head = rec->head, .tip = rec->tip };
	cleanup_buf struct ga_buf message = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *args[8] = { "commit", "--quiet", "--no-edit", "--cleanup=strip" };
	struct ga_outlived outlived;
	int status, rc;

	if (l->opts->message || rec->how == GA_LAND_SQUASH) {
		if (land_message(l, &p, false, &message, err))
			return -1;
		args[4] = "-m";
		args[5] = message.ptr;
	}
	ga_outlive_terminal(&outlived);
	rc = land_run(l, args, LAND_SHOW, &status, &why, err);
	ga_heed_terminal(&outlived);
	return rc;
}

static int finish(const struct landing *l, struct record *rec, struct ga_error *err)
{
	int rc = commit(l, rec, err) ? -1 : land_find_made(l->repo, rec, &rec->commit, err);

	if (rc <= 0)
		return rc;
	(void)ga_fail(err, GA_ECONFLICT, "git did not commit the landing of agent/%s", l->s->name);
	return ga_hint(err, "resolve what it names and 'git add', then --continue again; or "
		       "--abort");
}

static int continue_landing(const struct landing *l, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	enum land_settled settled;
	int rc = land_settle(l, &rec, &settled, err);

	if (rc < 0)
		return -1;
	if (rc || (rec.phase != RECORD_HANDED_OVER && settled != LAND_SETTLED_COMPLETED))
		return fail_none("continue", err);
	return land_check_session(l->s, &rec, "--continue", err) ||
	       (rec.phase == RECORD_HANDED_OVER && finish(l, &rec, err)) ||
	       land_judge_made(l, &rec, err) || land_complete(l, &rec, 0, err) ? -1 : 0;
}

int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		      const struct ga_risk_paths *risk, const char *message,
		      struct ga_land_result *ret, struct ga_error *err)
{
	const struct ga_land_opts opts = { .risk = risk, .message = message };
	struct landing l = { .repo = r, .s = s, .report = report, .opts = &opts, .ret = ret };

	return land_locked(&l, continue_landing, err);
}

/* As git does it. What was killed while git gave it up is something that git refuses to give up
 * again: then path by path. */
static int give_up(const struct landing *l, struct record *rec, struct ga_error *err)
{
	static const char *const merge[] = { "merge", "--abort", NULL };
	static const char *const squash[] = { "reset", "--quiet", "--merge", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (land_run(l, rec->how == GA_LAND_SQUASH ? squash : merge, LAND_QUIET, &status, &why,
		     err) || land_remove_locks(l->lock, err))
		return -1;
	if (!status)
		return record_remove(l->repo, rec, err);
	if (status == 128)
		return land_roll_back_landing(l, rec, err) < 0 ? -1 : 0;
	(void)ga_fail(err, GA_ELOSE, "git was interrupted while it aborted the merge");
	return ga_hint(err, "'git agent land --abort %s' again", rec->session);
}

static int abort_landing(const struct landing *l, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	enum land_settled settled;
	int rc = land_settle(l, &rec, &settled, err);

	if (rc < 0)
		return -1;
	if (settled == LAND_SETTLED_ROLLED_BACK && (rc || rec.phase == RECORD_DONE))
		return 0;
	if (rc)
		return fail_none("abort", err);
	if (land_check_session(l->s, &rec, "--abort", err))
		return -1;
	if (rec.phase == RECORD_HANDED_OVER)
		return give_up(l, &rec, err);
	(void)ga_fail(err, GA_EFATAL, "agent/%s has landed; there is nothing to abort",
		      l->s->name);
	return ga_hint(err, "'git agent land --undo %s' undoes it", l->s->name);
}

int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	struct landing l = { .repo = r, .s = s };

	return land_locked(&l, abort_landing, err);
}

int ga_land_last(struct ga_repo *r, char **ret_session, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	int rc = record_read(r, &rec, err);

	if (!rc)
		*ret_session = ga_steal(&rec.session);
	return rc;
}

int ga_land_unfinished(struct ga_repo *r, struct ga_strv *ret, struct ga_strv *ret_conflicts,
		       struct ga_error *err)
{
	cleanup_strv struct ga_strv gitdirs = GA_STRV_INIT;

	ga_worktree_gitdirs(r, &gitdirs);
	for (size_t i = 0; i < gitdirs.n; i++) {
		cleanup_record struct record rec = RECORD_INIT;
		int rc = record_read_in(gitdirs.v[i], &rec, err);

		if (rc < 0)
			return -1;
		/* what git left may have been finished, or given up, by git since */
		if (rc || rec.phase == RECORD_DONE ||
		    (rec.phase == RECORD_HANDED_OVER && !land_is_left(gitdirs.v[i], &rec)))
			continue;
		ga_strv_push(ret, rec.session);
		if (ret_conflicts && ga_index_is_unmerged(gitdirs.v[i]))
			ga_strv_push(ret_conflicts, rec.session);
	}
	ga_strv_sort_unique(ret);
	return 0;
}

int ga_land_check_over(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (ga_land_unfinished(r, &names, NULL, err))
		return -1;
	if (ga_strv_find(&names, s->name) < 0)
		return 0;
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s is not finished", s->name);
	return ga_hint(err, "'git agent land --abort %s' in the working tree that it landed in",
		       s->name);
}
