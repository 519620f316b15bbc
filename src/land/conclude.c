/* SPDX-License-Identifier: MIT
 *
 * A landing that git left to the user: finish it or give it up, as git does.
 */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/signals.h"
#include "landing.h"

static int fail_none(const char *what, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "there is no landing to %s in this working tree", what);
	return ga_hint(err, "'git status' shows what git has in progress");
}

/* ---- continue -------------------------------------------------------------------- */

/* `git merge --continue` is git commit; comments of git's about conflicts go, as in an editor. */
static int commit(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	const struct proposal p = { .head = rec->head, .tip = rec->tip };
	cleanup_buf struct ga_buf message = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *args[8] = { "commit", "--quiet", "--no-edit", "--cleanup=strip" };
	struct land_git g = { .args = args, .show = true };
	struct ga_outlived outlived;
	int status, rc;

	if (l->opts->message || rec->how == GA_LAND_SQUASH) {
		if (land_message(l, &p, false, &message, err))
			return -1;
		args[4] = "-m";
		args[5] = message.ptr;
	}
	g.lock = record_lock(rec, err);
	if (g.lock < 0)
		return -1;
	ga_outlive_terminal(&outlived);
	rc = land_run(l->repo, &g, &status, &why, err);
	ga_heed_terminal(&outlived);
	ga_cleanup_closep(&g.lock);
	return rc;
}

static int continue_landing(const struct landing *l, struct record *rec, enum land_settled settled,
		 struct ga_error *err)
{
	int rc;

	if (rec->phase == RECORD_HANDED_OVER) {
		if (commit(l, rec, err))
			return -1;
		rc = land_find_made(l->repo, rec, &rec->commit, err);
		if (rc > 0) {
			(void)ga_fail(err, GA_ECONFLICT, "git did not commit the landing of "
				      "agent/%s", l->s->name);
			return ga_hint(err, "resolve what it names and 'git add', then --continue "
				       "again; or --abort");
		}
		if (rc)
			return -1;
	} else if (settled != LAND_SETTLED_COMPLETED) {
		return fail_none("continue", err);
	}
	return land_judge_made(l, rec, err) ||
	       land_complete(l, rec, 0, err) ? -1 : 0;
}

int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		      const struct ga_risk_paths *risk, const char *message,
		      struct ga_land_result *ret, struct ga_error *err)
{
	struct ga_gitconfig config = GA_GITCONFIG_INIT;
	struct ga_land_opts opts = { .risk = risk, .message = message, .how = GA_LAND_MERGE };
	const struct landing l = { .repo = r, .s = s, .report = report, .opts = &opts, .ret = ret,
				   .config = &config };
	cleanup_record struct record rec = RECORD_INIT;
	cleanup_land_lock struct land_lock lock = LAND_LOCK_INIT;
	enum land_settled settled;
	int rc = land_lock(r, &lock, err) || ga_gitconfig_load(r, &config, err)
			 ? -1
			 : land_settle(r, &config, &rec, &settled, err);

	if (rc > 0)
		rc = fail_none("continue", err);
	if (!rc) {
		opts.how = rec.how;
		rc = land_check_session(s, &rec, "--continue", err) ||
		     continue_landing(&l, &rec, settled, err) ? -1 : 0;
	}
	lock.failed = rc && lock.repo;
	ga_gitconfig_release(&config);
	return rc;
}

/* ---- abort ----------------------------------------------------------------------- */

/* As git does it. What was killed while git gave it up is something that git refuses to give up
 * again: then path by path. */
static int give_up(struct ga_repo *r, const struct ga_gitconfig *c, struct record *rec,
		   struct ga_error *err)
{
	static const char *const merge[] = { "merge", "--abort", NULL };
	static const char *const squash[] = { "reset", "--quiet", "--merge", NULL };
	const struct land_git g = { .args = rec->how == GA_LAND_SQUASH ? squash : merge,
				    .lock = -1 };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (land_run(r, &g, &status, &why, err) || land_remove_locks(r, err))
		return -1;
	if (!status)
		return record_remove(rec, err);
	if (status == 128)
		return land_roll_back_landing(r, c, rec, err);
	(void)ga_fail(err, GA_ELOSE, "git was interrupted while it aborted the merge");
	return ga_hint(err, "'git agent land --abort %s' again", rec->session);
}

static int abort_landing(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_session *s,
			 struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	enum land_settled settled;
	int rc = land_settle(r, c, &rec, &settled, err);

	if (rc < 0)
		return -1;
	if (settled == LAND_SETTLED_ROLLED_BACK && (rc || rec.phase == RECORD_DONE))
		return 0;
	if (rc)
		return fail_none("abort", err);
	if (land_check_session(s, &rec, "--abort", err))
		return -1;
	if (rec.phase == RECORD_HANDED_OVER)
		return give_up(r, c, &rec, err) < 0 ? -1 : 0;
	(void)ga_fail(err, GA_EFATAL, "agent/%s has landed; there is nothing to abort", s->name);
	return ga_hint(err, "'git agent land --undo %s' undoes it", s->name);
}

int ga_land_abort(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	struct ga_gitconfig config = GA_GITCONFIG_INIT;
	cleanup_land_lock struct land_lock lock = LAND_LOCK_INIT;
	int rc = land_lock(r, &lock, err) || ga_gitconfig_load(r, &config, err) ? -1
								: abort_landing(r, &config, s, err);

	lock.failed = rc && lock.repo;
	ga_gitconfig_release(&config);
	return rc;
}

/* ---- what others ask ------------------------------------------------------------- */

bool ga_land_waits(struct ga_repo *r, const struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_record struct record rec = RECORD_INIT;

	return !record_read(r, &rec, &ignored) && rec.phase == RECORD_HANDED_OVER &&
	       !strcmp(rec.session, s->name) && land_is_left(r, &rec);
}

int ga_land_last(struct ga_repo *r, char **ret_session, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	int rc = record_read(r, &rec, err);

	if (!rc)
		*ret_session = ga_strdup(rec.session);
	return rc;
}

/* What git left may have been finished, or given up, by git since. */
static bool has_state(const char *gitdir)
{
	cleanup_free char *merge = ga_path_join(gitdir, "MERGE_HEAD");
	cleanup_free char *squash = ga_path_join(gitdir, "SQUASH_MSG");

	return !access(merge, F_OK) || !access(squash, F_OK);
}

static int check_over_in(const char *gitdir, const struct ga_session *s, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	int rc = record_read_in(gitdir, &rec, err);

	if (rc || rec.phase == RECORD_DONE || strcmp(rec.session, s->name) != 0 ||
	    (rec.phase == RECORD_HANDED_OVER && !has_state(gitdir)))
		return rc < 0 ? -1 : 0;
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s is not finished", s->name);
	return ga_hint(err, "'git agent land --abort %s' in the working tree that it landed in",
		       s->name);
}

int ga_land_check_over(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *place = ga_path_join(ga_repo_info(r)->commondir, "worktrees");
	struct dirent *e;
	DIR *d;
	int rc = 0;

	if (check_over_in(ga_repo_info(r)->commondir, s, err))
		return -1;
	d = opendir(place);
	if (!d)
		return 0;
	while (!rc && (e = readdir(d))) {
		cleanup_free char *gitdir = ga_path_join(place, e->d_name);

		if (*e->d_name != '.')
			rc = check_over_in(gitdir, s, err);
	}
	(void)closedir(d);
	return rc;
}
