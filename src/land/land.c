/* SPDX-License-Identifier: MIT
 *
 * Land a session: preconditions, record, git's merge, uncommitted changes; and continue or abort a
 * landing that git left to the user. No file of the user is touched before the record is written.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/base/json.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/sys/signals.h"
#include "land-internal.h"

/* ---- before anything ------------------------------------------------------------------------ */

static int check_state(const struct ga_session *s, struct ga_error *err)
{
	if (s->state == GA_STATE_CAPTURED || s->state == GA_STATE_LANDED)
		return 0;
	return ga_fail(err, GA_EFATAL, "session '%s' is %s: it has not been captured"
		       GA_HINT "end the agent, or 'git agent capture %s'", s->name,
		       ga_state_name(s->state), s->name);
}

int land_check_session(const struct ga_session *s, const struct record *rec, const char *what,
		       struct ga_error *err)
{
	if (!strcmp(rec->session, s->name))
		return 0;
	return ga_fail(err, GA_ELOSE, "the last landing in this working tree is that of agent/%s"
		       GA_HINT "'git agent land %s %s'", rec->session, what, rec->session);
}

static int fail_left(const struct record *rec, struct ga_error *err)
{
	return ga_fail(err, GA_ELOSE, "a landing of agent/%s waits to be finished"
		       GA_HINT "'git agent land --continue %s' or --abort, then land again",
		       rec->session, rec->session);
}

/* `completed`: git has moved, and what comes beside it is left. */
static int check(const struct landing *l, bool completed, struct proposal *p, struct ga_error *err)
{
	if (check_state(l->s, err) || land_propose(l, p, err))
		return -1;
	p->moves &= !completed;
	if ((p->moves || l->s->result.left_out.n || !ga_oid_is_zero(&l->s->result.held)) &&
	    land_judge(l, p, err))
		return -1;
	p->needs_git = p->moves && land_needs_git(l, p);
	return p->moves ? land_check(l, p, err) : 0;
}

/* ---- the record ------------------------------------------------------------------------------ */

/* Where git moves nothing and HEAD is at the last landing, what is applied extends its record. */
static void begin_record(const struct landing *l, const struct proposal *p, struct record *last,
			 struct record *rec)
{
	if (!p->moves && last->session && last->phase == RECORD_DONE &&
	    !strcmp(last->session, l->s->name) && ga_oid_equal(&last->commit, &p->head)) {
		*rec = *last;
		*last = (struct record)RECORD_INIT;
		return;
	}
	rec->session = ga_strdup(l->s->name);
	rec->objects = ga_wip_objects(l->s);
	rec->how = l->opts->how;
	rec->part = p->part;
	rec->branch = p->branch ? ga_strdup(p->branch) : NULL;
	rec->head = p->head;
	rec->tree = p->tree;
	if (p->moves)
		rec->tip = p->tip;
	else
		rec->commit = p->head;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* Remove applied paths from the report's left-out ones. `left`: paths that were not applied; NULL:
 * the session has landed, with any commits that the user added to its branch. */
static int forget_applied(const struct landing *l, const struct record *rec,
			  const struct ga_strv *left, struct ga_error *err)
{
	struct ga_report *r = l->report;
	cleanup_strv struct ga_strv was = r->left_out;
	struct ga_oid tip = r->tip;

	r->left_out = (struct ga_strv)GA_STRV_INIT;
	for (size_t i = 0; left && i < was.n; i++) {
		bool applied = false;

		for (size_t k = 0; k < rec->n && !applied; k++)
			applied = !strcmp(rec->v[k].path, was.v[i]);
		if (!applied || ga_strv_has(left, was.v[i]))
			ga_strv_push(&r->left_out, was.v[i]);
	}
	if (!left && !ga_oid_is_zero(&rec->tip))
		r->tip = rec->tip;
	ga_report_copy_result(r, l->s);
	return !r->session || (r->left_out.n == was.n && ga_oid_equal(&r->tip, &tip))
		       ? 0 : land_save_report(l, err);
}

/* `left`: paths that could not be applied. */
static int note_landed(const struct landing *l, const struct record *rec,
		       const struct ga_strv *left, struct ga_error *err)
{
	bool all = !rec->part && !left->n;
	struct ga_session *s = l->s;
	json_t *o = json_object();

	if (all) {
		s->state = GA_STATE_LANDED;
		s->result.landed = rec->commit;
	}
	ga_json_set_oid(o, "commit", &rec->commit);
	ga_json_set_oid(o, "tip", &rec->tip);
	(void)json_object_set_new(o, "brought", ga_report_paths_json(&l->ret->applied));
	(void)json_object_set_new(o, "not_brought", ga_json_strv(&l->ret->not_applied));
	(void)ga_journal(s->dir, "landed", o);
	if (!forget_applied(l, rec, all ? NULL : left, err) && !ga_session_save(s, err))
		return 0;
	err->code = GA_EPART;
	return ga_error_wrap(err, "agent/%s has landed, but that could not be noted", s->name);
}

/* Recover first; a dry run only checks. */
static int settle(const struct landing *l, struct record *last, bool *ret_completed,
		  struct ga_error *err)
{
	enum land_settled settled = LAND_SETTLED_NOTHING;
	int rc = l->opts->dry_run ? record_read(l->repo, last, err)
				  : land_settle(l, last, &settled, err);

	l->ret->rolled_back = settled == LAND_SETTLED_ROLLED_BACK;
	*ret_completed = settled == LAND_SETTLED_COMPLETED && !strcmp(last->session, l->s->name);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (last->phase == RECORD_HANDED_OVER)
		return fail_left(last, err);
	if (last->phase == RECORD_DONE)
		return 0;
	return ga_fail(err, GA_ELOSE, "a landing of agent/%s was killed"
		       GA_HINT "'git agent land --abort %s' rolls it back", last->session,
		       last->session);
}

static int fail_part(const struct landing *l, const struct ga_strv *left, struct ga_error *err)
{
	cleanup_free char *list = ga_quote_list(left, GA_LISTED);

	return ga_fail(err, GA_EPART, "agent/%s has landed, but its uncommitted changes could not "
		       "be applied: %s has changed"
		       GA_HINT "'git agent land %s' tries again, 'git agent diff --uncommitted %s' "
		       "prints them", l->s->name, list, l->s->name, l->s->name);
}

/* land.c: the landing happened: apply the uncommitted changes from path number
 * `first` on, and note it in the session. GA_EPART if something could not be applied. */
static int land_complete(const struct landing *l, struct record *rec, size_t first,
			 struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;

	if (ga_fault_stop("land:moved", err) ||
	    record_apply(l->repo, rec, first, false, &left, err) ||
	    ga_fault_stop("land:applied", err))
		return -1;
	for (size_t i = 0; i < left.n; i++) {
		cleanup_free char *q = ga_quote(left.v[i]);

		ga_strv_pushf(&l->ret->not_applied, "%s: it has changed since", q);
	}
	for (size_t i = first; i < rec->n; i++)
		if (!ga_strv_has(&left, rec->v[i].path))
			ga_strv_push(&l->ret->applied, rec->v[i].path);
	rec->phase = RECORD_DONE;
	l->ret->commit = rec->commit;
	l->ret->rest = rec->part || l->ret->not_applied.n;
	if (record_save(l->repo, rec, err) || ga_fault_stop("land:recorded", err) ||
	    note_landed(l, rec, &left, err))
		return -1;
	return left.n ? fail_part(l, &left, err) : 0;
}

static int move(const struct landing *l, const struct proposal *p, struct record *rec,
		struct ga_error *err)
{
	struct ga_saved_signals outlived;
	struct ga_oid tree;
	int rc;

	/* Ctrl-C ends git alone, and what that had done is rolled back */
	ga_catch_terminal_signals(&outlived);
	rc = land_move(l, p, rec, err);
	if (rc && err->code != GA_ECONFLICT)
		(void)land_recover(l, rec, err);
	ga_restore_terminal_signals(&outlived);
	if (rc || l->ret->uncommitted)
		return rc;
	if (ga_commit_tree(l->repo, &rec->commit, &tree, err))
		return -1;
	return ga_oid_equal(&tree, &p->tree) ? 0 : land_judge_made(l, rec, err);
}

static int fail_conflict(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	cleanup_free char *list = ga_quote_list(&p->conflicts, GA_LISTED);

	return ga_fail(err, GA_ECONFLICT, "merging agent/%s would conflict in %s"
		       GA_HINT "landing leaves the conflict for you to resolve", l->s->name, list);
}

/* All of the session is in HEAD already, without `land`. */
static int note_arrived(const struct landing *l, const struct proposal *p,
			const struct record *rec, struct ga_error *err)
{
	if ((ga_oid_is_zero(&p->tip) && !l->s->result.left_out.n) || rec->part ||
	    l->s->state == GA_STATE_LANDED)
		return 0;
	l->s->state = GA_STATE_LANDED;
	l->s->result.landed = p->head;
	return forget_applied(l, rec, NULL, err) || ga_session_save(l->s, err) ? -1 : 0;
}

/* The last of what touches nothing: what is applied beside it, the result, and the commit as far as
 * it is made in memory. */
static int prepare(const struct landing *l, const struct proposal *p, bool completed,
		   struct record *rec, struct ga_error *err)
{
	const size_t first = rec->n;

	if (land_plan_uncommitted(l, rec, err))
		return -1;
	l->ret->commit = p->head;
	l->ret->rest = rec->part;
	l->ret->nothing = !p->moves && !completed && rec->n == first;
	if (l->opts->dry_run)
		return p->conflicts.n ? fail_conflict(l, p, err) : 0;
	return p->moves ? land_make_commit(l, p, rec, err) : 0;
}

static int land(const struct landing *l, struct ga_error *err)
{
	cleanup_proposal struct proposal p = PROPOSAL_INIT;
	cleanup_record struct record last = RECORD_INIT, rec = RECORD_INIT;
	bool completed;
	size_t first;

	if (settle(l, &last, &completed, err) || check(l, completed, &p, err))
		return -1;
	begin_record(l, &p, &last, &rec);
	first = rec.n;
	if (prepare(l, &p, completed, &rec, err) || l->opts->dry_run)
		return err->msg ? -1 : 0;
	if (l->ret->nothing)
		return note_arrived(l, &p, &rec, err);
	if (record_save(l->repo, &rec, err) || (p.moves && move(l, &p, &rec, err)))
		return -1;
	return l->ret->uncommitted ? 0 : land_complete(l, &rec, first, err);
}

int land_locked(const struct landing *asked,
		int (*what)(const struct landing *l, struct ga_error *err), struct ga_error *err)
{
	struct ga_gitconfig config = GA_GITCONFIG_INIT;
	struct land_lock lock = LAND_LOCK_INIT;
	struct landing l = *asked;
	int rc = l.opts && l.opts->dry_run ? 0 : land_lock(l.repo, &lock, err);

	l.lock = &lock;
	l.config = l.opts && l.opts->config ? l.opts->config : &config;
	if (!rc && l.config == &config)
		rc = ga_gitconfig_load(l.repo, &config, err);
	if (!rc)
		rc = what(&l, err);
	lock.failed = rc != 0;
	land_unlock(&lock);
	ga_gitconfig_release(&config);
	return rc;
}

int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err)
{
	const struct landing l = { .repo = r, .s = s, .report = report, .opts = o, .ret = ret };

	return land_locked(&l, land, err);
}

void ga_land_result_release(struct ga_land_result *r)
{
	ga_strv_release(&r->applied);
	ga_strv_release(&r->not_applied);
	ga_strv_release(&r->new_flags);
	*r = (struct ga_land_result)GA_LAND_RESULT_INIT;
}

static int fail_none(const char *what, struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "there is no landing to %s in this working tree"
		       GA_HINT "'git status' shows what git has in progress", what);
}

/* `git merge --continue` is git commit; comments of git's about conflicts go, as in an editor. */
static int commit_left(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	const struct proposal p = { .how = rec->how, .head = rec->head, .tip = rec->tip };
	cleanup_buf struct ga_buf message = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *args[8] = { "commit", "--quiet", "--no-edit", "--cleanup=strip" };
	struct ga_saved_signals outlived;
	int status, rc;

	if (l->opts->message || rec->how == GA_LAND_SQUASH) {
		if (land_message(l, &p, false, &message, err))
			return -1;
		args[4] = "-m";
		args[5] = message.ptr;
	}
	ga_catch_terminal_signals(&outlived);
	rc = land_run(l, args, LAND_SHOW, &status, &why, err);
	ga_restore_terminal_signals(&outlived);
	return rc;
}

static int finish_left(const struct landing *l, struct record *rec, struct ga_error *err)
{
	int rc = commit_left(l, rec, err) ? -1 : land_find_made(l->repo, rec, &rec->commit, err);

	if (rc <= 0)
		return rc;
	return ga_fail(err, GA_ECONFLICT, "git did not commit the landing of agent/%s"
		       GA_HINT "resolve what it names and 'git add', then --continue again; or "
		       "--abort", l->s->name);
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
	       (rec.phase == RECORD_HANDED_OVER && finish_left(l, &rec, err)) ||
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

/* Abort by git. If an earlier abort was killed git refuses to repeat it: then roll back path by
 * path. */
static int abort_git_merge(const struct landing *l, struct record *rec, struct ga_error *err)
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
	return ga_fail(err, GA_ELOSE, "git was interrupted while it aborted the merge"
		       GA_HINT "'git agent land --abort %s' again", rec->session);
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
		return abort_git_merge(l, &rec, err);
	return ga_fail(err, GA_EFATAL, "agent/%s has landed; there is nothing to abort"
		       GA_HINT "'git agent land --undo %s' undoes it", l->s->name, l->s->name);
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
		/* the user may have committed or aborted it by git since */
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

int ga_land_check_ended(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (ga_land_unfinished(r, &names, NULL, err))
		return -1;
	if (ga_strv_find(&names, s->name) < 0)
		return 0;
	return ga_fail(err, GA_ELOSE, "a landing of agent/%s is not finished"
		       GA_HINT "'git agent land --abort %s' in the working tree that it landed in",
		       s->name, s->name);
}
