/* SPDX-License-Identifier: MIT
 *
 * A landing from beginning to end: what must hold (prepare()), then what is done (run()). Before
 * run() nothing of the user's is touched.
 */
#include "ga/land.h"

#include <stdlib.h>
#include <string.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/signals.h"
#include "ga/trace.h"
#include "in-the-way.h"
#include "left-note.h"
#include "note.h"
#include "work.h"
#include "landing.h"

static void land_release(struct land *l)
{
	if (!l->opts->config)
		ga_gitconfig_release(&l->config);
	ga_changes_release(&l->changes);
	for (size_t i = 0; i < LAND_BESIDES; i++)
		ga_changes_release(&l->beside[i]);
	ga_strv_release(&l->conflicted);
	land_carries_release(&l->carries);
	land_ask_staged_abandon(l);
	land_let_go(l);
	ga_buf_release(&l->picks);
	land_work_release(l);
	ga_left_files_release(&l->ignored.files);
	ga_strv_release(&l->hidden);
	ga_strv_release(&l->marked);
	free(l->ignored.had);
	free(l->ignored.will);
	free(l->ignored.seen);
	free(l->notes);
	free(l->ref);
	free(l->instead);
}

/* ---- before anything ---------------------------------------------------- */

static int check_state(const struct ga_session *s, struct ga_error *err)
{
	switch (s->state) {
	case GA_STATE_CAPTURED:
	case GA_STATE_LANDED:
		return 0;
	case GA_STATE_NEW:
	case GA_STATE_RUNNING:
	case GA_STATE_INTERRUPTED:
		(void)ga_fail(err, GA_EFATAL, "session '%s' is %s: it has not been captured",
			      s->name, ga_state_name(s->state));
		return ga_hint(err, "end the agent, or 'git agent capture %s'", s->name);
	case GA_STATE_DROPPED:
		break;
	}
	return ga_fail(err, GA_EFATAL, "session '%s' was dropped", s->name);
}

static int read_head(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	int rc;

	if (land_check_operation(l, "land again", err))
		return -1;
	rc = ga_repo_head(l->repo, &l->head, &branch, err);
	if (rc < 0)
		return -1;
	if (rc) {
		(void)ga_fail(err, GA_EFATAL, "this branch has no commit yet to land on");
		return ga_hint(err, "commit something first, or switch to another branch");
	}
	if (branch && !strcmp(branch, l->s->branch)) {
		(void)ga_fail(err, GA_EFATAL, "you are on agent/%s itself", l->s->name);
		return ga_hint(err, "switch to the branch it is to land on");
	}
	return ga_commit_tree(l->repo, &l->head, &l->head_tree, err);
}

/* A branch that lacks the session's last commit does not land it: refused, unless that commit has
 * arrived already. A branch that was rewritten and has something to merge is the user's own
 * version, and lands. */
static int check_moved(struct land *l, struct ga_error *err)
{
	int rc = ga_branch_lacks(l->repo, l->s, &l->tip, err);

	if (rc > 0)
		rc = l->merge ? ga_is_ancestor(l->repo, &l->tip, &l->s->tip, err) : 1;
	if (rc > 0) {
		rc = ga_landed(l->repo, l->s, err);
		l->moved = rc > 0;
		rc = rc < 0 ? -1 : !rc;
	}
	return rc > 0 ? land_fail_moved(l->s, err) : rc;
}

/* The branch is merged as it is now, with commits that the user added: the rules run on the result,
 * whatever is in it. */
static int read_tip(struct land *l, struct ga_error *err)
{
	struct land_refs refs;

	l->merged = l->head_tree;
	/* the branch has arrived, and may be deleted by now */
	if (l->rest_only)
		return 0;
	if (land_refs_read(l->repo, l->s, &refs, err))
		return -1;
	l->held = refs.held;
	if (ga_oid_is_zero(&refs.branch))
		return land_narrow(l, err);
	l->tip = refs.branch;
	if (land_ask_staged(l, err))
		return -1;
	/* land_preview() finds nothing to merge if HEAD has all of it already */
	return land_preview(l, err) || check_moved(l, err) || land_narrow(l, err) ? -1 : 0;
}

/* A session has no report if nothing happened in it. If it has something to land all the same,
 * nobody has checked that. */
static int check_report(struct land *l, struct ga_error *err)
{
	if (l->report->session || (!l->merge && !l->s->left_out.n) || l->rest_only)
		return 0;
	(void)ga_fail(err, GA_EFATAL, "session '%s' has no report, so its flags are not known",
		      l->s->name);
	return ga_hint(err, "'git agent capture %s' makes one", l->s->name);
}

/* What leaves a state of git's, or is a check of git's, and so needs git's own merge: the word for
 * it, or NULL. */
static const char *needs_git(const struct land *l)
{
	if (l->opts->how == GA_LAND_REBASE)
		return "rebased";
	if (ga_gitconfig_bool(&l->config, "merge.verifysignatures", false))
		return "verified (merge.verifySignatures)";
	return l->opts->no_commit ? "left uncommitted" : NULL;
}

/* Plan to land path by path, so that left-out paths can be committed: 1. 0: the plan is refused; as
 * nothing is in its way, git merges, and left-out paths come without a commit. */
static int plan_wanted(struct land *l, const struct land_found *f, struct ga_error *err)
{
	cleanup_error struct ga_error refused = GA_ERROR_INIT;

	if (!land_work_plan(l, f, &refused))
		return 1;
	if (refused.code != GA_ELOSE)
		return ga_error_move(err, &refused);
	land_note_forget(l);
	land_work_release(l);
	free(l->notes);
	l->notes = NULL;
	ga_strv_release(&l->ret->brought);
	ga_strv_release(&l->ret->not_brought);
	return 0;
}

/* Only git could land it in this way, and something of the user's is in its way. */
static int refuse_git(const struct land *l, const struct land_found *f, struct ga_error *err)
{
	cleanup_free char *what = ga_strf("with uncommitted changes in the way agent/%s cannot be "
					  "%s", l->s->name, needs_git(l));
	cleanup_strv struct ga_strv marked = GA_STRV_INIT, paths = GA_STRV_INIT;
	cleanup_free char *hint = NULL;

	if (f->files.n && !f->staged.n && !f->intended.n && !f->changed.n)
		return way_refuse_untracked(&f->files, err);
	way_marked(f, &marked);
	if (marked.n)
		return land_refuse(&marked, what, WAY_UNMARK "land again", err);
	ga_strv_extend(&paths, &f->staged);
	ga_strv_extend(&paths, &f->intended);
	ga_strv_extend(&paths, &f->changed);
	ga_strv_sort_unique(&paths);
	hint = way_put_away(l, f, &paths, "land again");
	if (paths.n)
		return land_refuse(&paths, what, hint, err);
	/* land_options_put_away() knows of no paths */
	(void)ga_fail(err, GA_ELOSE, "%s", what);
	return ga_hint(err, "%s", hint);
}

/* Git merges, unless something of the user's is in its way, or a left-out path can be committed. */
static int choose(struct land *l, struct ga_error *err)
{
	cleanup_(land_found_release) struct land_found f = { .all = GA_STRV_INIT };
	int rc;

	if (land_check_how(l, err) || land_find_work(l, &f, err))
		return -1;
	rc = f.staged.n || f.intended.n || f.changed.n || f.files.n || l->opts->paths;
	if (!rc)
		rc = land_options_put_away(l, err);
	if (!rc && !needs_git(l)) {
		rc = land_work_wanted(l, err);
		if (rc > 0)
			rc = plan_wanted(l, &f, err);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
	if (rc > 0 && !l->opts->paths && needs_git(l))
		return refuse_git(l, &f, err);
	if (rc > 0)
		return land_work_plan(l, &f, err);
	if (!rc && l->opts->how == GA_LAND_REBASE)
		rc = land_rebase_check_way(l, err);
	ga_strv_extend(&l->hidden, &f.hidden);
	ga_strv_extend(&l->marked, &f.marked);
	return rc < 0 ? -1 : land_check_hidden(l, err);
}

/* Is there something to merge, or can opts->paths name left-out paths? */
static bool wants_work(const struct land *l)
{
	return l->merge || (l->opts->paths && l->s->left_out.n && !l->rest_only);
}

/* A rejection that was killed half way is in the report, and not in the session yet. */
static void heed_rejected(struct land *l)
{
	cleanup_strv struct ga_strv all = l->s->left_out, known = GA_STRV_INIT;

	l->s->left_out = (struct ga_strv)GA_STRV_INIT;
	ga_strv_extend(&known, &l->report->left_out);
	ga_strv_sort_unique(&known);
	for (size_t i = 0; i < all.n; i++)
		if (!l->report->session || ga_strv_find(&known, all.v[i]) >= 0)
			ga_strv_push(&l->s->left_out, all.v[i]);
}

static int prepare(struct land *l, struct ga_error *err)
{
	bool more;

	heed_rejected(l);

	l->rest_only = l->s->state == GA_STATE_LANDED && l->opts->ignored && l->opts->ignored->n;
	if (l->opts->config)
		l->config = *l->opts->config;
	else if (ga_gitconfig_load(l->repo, &l->config, err))
		return -1;
	if (check_state(l->s, err) || read_head(l, err) || read_tip(l, err) ||
	    check_report(l, err))
		return -1;
	more = !l->rest_only && (l->merge || l->s->left_out.n || !ga_oid_is_zero(&l->held));
	/* what arrived by plain git is no longer ours to stop */
	if (more && l->report->session && land_check_flags(l, err))
		return -1;
	if ((wants_work(l) && choose(l, err)) || land_ignored_check(l, err))
		return -1;
	if (l->rest_only)
		return 0;
	return (!l->work && land_carry_decide(l, err)) || land_check_beside(l, err) ? -1 : 0;
}

/* ---- doing it ----------------------------------------------------------- */

/* Does HEAD alone say what landed? With a power cut the session then is as if it had been killed
 * right after git's merge, and the next command notes that it has landed (ga_landed()). */
static bool shows_in_head(const struct land *l)
{
	return l->merge && l->opts->how == GA_LAND_MERGE && !l->rebase && !l->work && !l->moved &&
	       !l->ret->brought.n && !l->ret->not_brought.n && !l->ret->ignored.n;
}

static int record(struct land *l, struct ga_error *err)
{
	json_t *o = json_object();

	l->s->state = GA_STATE_LANDED;
	l->s->landed = l->ret->commit;
	if (!ga_oid_is_zero(&l->tip) && !l->moved)
		l->s->tip = l->tip;
	ga_json_set_oid(o, "commit", &l->ret->commit);
	ga_json_set_oid(o, "tip", &l->tip);
	(void)json_object_set_new(o, "brought", ga_report_paths_json(&l->ret->brought));
	(void)json_object_set_new(o, "not_brought", ga_json_strv(&l->ret->not_brought));
	(void)ga_journal(l->s->dir, "landed", o);
	if (shows_in_head(l) ? ga_session_save_quick(l->s, err) : ga_session_save(l->s, err))
		return ga_error_wrap(err, "agent/%s is landed, but that could not be noted",
				     l->s->name);
	return 0;
}

/* The landing came to its end: from here on it is undone only if somebody asks. */
static int finish_work(struct land *l, struct ga_error *err)
{
	if ((l->rest && ga_session_save(l->s, err)) || ga_fault_stop("land:recorded", err) ||
	    land_note_done(l, err))
		return -1;
	work_after(l);
	return land_ignored_write(l, err);
}

/* The user makes the commit. Left-out paths are brought by landing again after that. */
static int leave_uncommitted(struct land *l)
{
	land_note_forget(l);
	l->ret->uncommitted = true;
	ga_strv_release(&l->ret->brought);
	return 0;
}

/* Git did not bring it. The note goes, unless it has the only copy of something. */
static int give_up(struct land *l, struct ga_error *err)
{
	cleanup_error struct ga_error lost = GA_ERROR_INIT;
	bool told = l->hidden_lost;

	if ((!told && land_settle_hidden(l, &lost)) || land_mark_again(l, &lost)) {
		(void)ga_error_wrap(err, "%s", lost.msg);
		free(err->hint);
		err->hint = ga_steal(&lost.hint);
	}
	if (!l->hidden_lost)
		land_note_forget(l);
	return -1;
}

static int note(struct land *l, struct ga_error *err)
{
	bool merges = l->merge && l->opts->how == GA_LAND_MERGE;

	if ((!merges || !land_left_note(l, false, err)) && !land_note(l, err) &&
	    (!l->merge || (!land_note_git(l, err) && !land_hold(l, LAND_NOTE_RECORD, err))))
		return 0;
	if (merges)
		land_left_forget(l);
	land_note_forget(l);
	return -1;
}

static int run(struct land *l, struct ga_error *err)
{
	/* the tip may have been merged by other means: that counts as landed too */
	bool arrived = !ga_oid_is_zero(&l->tip) && l->s->state != GA_STATE_LANDED;

	l->ret->commit = l->head;
	l->ret->rest = l->rest;
	/* the paths that were asked for may have landed before, and others not */
	l->ret->nothing = !(l->work ? l->work->n : l->merge) && !l->ret->brought.n &&
			  !l->ret->not_brought.n && !l->ret->ignored.n;
	if (l->opts->dry_run) {
		if (l->conflicts && !l->work) {
			(void)ga_fail(err, GA_ECONFLICT, "merging agent/%s would conflict",
				      l->s->name);
			return ga_hint(err, "landing leaves the conflict for you to resolve");
		}
		return 0;
	}
	if ((l->merge || l->work) && l->ret->nothing) {
		land_note_forget(l);
		return 0;
	}
	if (l->work)
		return land_work_apply(l, err) || (!l->rest && record(l, err)) ||
		       finish_work(l, err) ? -1 : 0;
	if ((l->merge || l->ret->brought.n || l->ret->ignored.n) && note(l, err))
		return -1;
	if (l->merge && (land_note_marks(l, err) || land_keep_hidden(l, err) || land_merge(l, err)))
		return give_up(l, err);
	if (l->merge && (land_settle_hidden(l, err) || land_mark_again(l, err)))
		return ga_error_wrap(err, "it is merged, but that is not noted yet");
	if (l->opts->no_commit && l->merge)
		return leave_uncommitted(l);
	if (l->merge && land_note_made(l, err))
		return -1;
	if (land_carry_write(l, err) || ga_fault_stop("land:brought", err) ||
	    (arrived && !l->notes && land_forget_earlier(l, err)))
		return -1;
	if (((l->merge || arrived || l->ret->brought.n) && record(l, err)) ||
	    land_note_done(l, err))
		return -1;
	/* last: if a file is in the way here, all else has landed, and that is recorded */
	return land_ignored_write(l, err);
}

int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err)
{
	if (land_is_new())
		return land_new(r, s, report, o, ret, err);
	struct land l = { .repo = r, .s = s, .report = report, .opts = o, .ret = ret,
			  .rebase = o->how == GA_LAND_REBASE };
	struct ga_outlived outlived;
	cleanup_close int lock = o->dry_run ? -1 : land_begin(r, err);
	int rc = (lock < 0 || land_mark_again(&l, err)) && !o->dry_run
		     ? -1
		     : land_recover(&l, o->dry_run, err);

	ret->taken_back = rc == 1;
	if (rc >= 0 && !o->dry_run)
		rc = land_check_others(&l, err);
	if (rc >= 0)
		rc = prepare(&l, err);
	/* planning made a note, and nothing comes of it */
	if (l.work && (rc || o->dry_run))
		land_note_forget(&l);
	if (!rc) {
		/* who interrupts git is not to interrupt that it is taken back, and `git agent`
		 * even sends us the signal twice */
		ga_outlive_terminal(&outlived);
		rc = run(&l, err);
		ga_heed_terminal(&outlived);
	}
	land_release(&l);
	return rc;
}

/* Left-out paths are decided about by what the merge changes (land_preview()), not by all
 * differences between HEAD and the tip (l->changes, here): those include what the user committed
 * since the session began. */
static int decide_carried(struct land *l, struct ga_error *err)
{
	struct land begun = { .repo = l->repo, .s = l->s, .head = l->head,
			      .head_tree = l->head_tree, .tip = l->tip, .rebase = l->rebase };
	struct ga_changes all = l->changes;
	int rc = l->s->left_out.n ? land_preview(&begun, err) : 0;

	l->changes = begun.changes;
	l->merged = begun.merged;
	if (!rc)
		rc = land_carry_decide(l, err) || land_check_beside(l, err) ? -1 : 0;
	ga_changes_release(&l->changes);
	ga_strv_release(&begun.conflicted);
	l->changes = all;
	/* what is to be committed is not checked yet */
	l->merged = (struct ga_oid){{0}};
	if (!rc || err->code != GA_EFLAGS)
		return rc;
	return ga_hint_instead(err, "'git agent review %s', then --accept their paths; 'git agent "
			       "land --continue %s' goes on then, --abort goes back, to reject "
			       "them", l->s->name, l->s->name);
}

/* Make the commit of a merge that conflicted or was refused, and do what comes after it. */
static int finish(struct land *l, struct ga_error *err)
{
	l->merge = true;
	heed_rejected(l);
	if (check_state(l->s, err) || land_check_left(l, err) || check_report(l, err) ||
	    ga_gitconfig_load(l->repo, &l->config, err))
		return -1;
	/* left-out paths are brought when nothing else is left to land */
	if (!l->rest && decide_carried(l, err))
		return -1;
	if (land_note(l, err) || land_hold(l, LAND_NOTE_RECORD, err) || land_note_marks(l, err) ||
	    (l->rebase && land_unmark_left(l, err)) || land_finish(l, err)) {
		land_note_forget(l);
		return -1;
	}
	/* from here on it is committed, and the note says where HEAD was; for a rebase
	 * land_finish() has read the result already */
	if (!l->rebase && land_read_result(l, err))
		return -1;
	if (!l->rebase && land_check_on_head(l, err)) {
		land_note_forget(l);
		return -1;
	}
	l->ret->rest = l->rest;
	return land_note_made(l, err) || land_carry_write(l, err) ||
	       (!l->rest && record(l, err)) || land_note_done(l, err) ? -1 : 0;
}

int ga_land_continue(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
		     const struct ga_risk_paths *risk, struct ga_land_result *ret,
		     struct ga_error *err)
{
	const struct ga_land_opts merge = { .how = GA_LAND_MERGE, .risk = risk };
	if (land_is_new())
		return land_new_continue(r, s, report, risk, NULL, ret, err);
	struct land l = { .repo = r, .s = s, .report = report, .opts = &merge, .ret = ret };
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	struct ga_outlived outlived;
	cleanup_close int lock = land_begin(r, err);
	int rc = lock < 0 || land_mark_again(&l, err) ? -1 : land_recover(&l, false, err);

	if (rc == 1) {
		ret->taken_back = true;
		rc = ga_fail(err, GA_EFATAL,
			     "the landing of agent/%s had been interrupted, and was taken back",
			     s->name);
		(void)ga_hint(err, "'git agent land %s' lands it anew", s->name);
	}
	ga_outlive_terminal(&outlived);
	if (rc >= 0)
		rc = land_check_others(&l, err) || finish(&l, err) ? -1 : 0;
	if (lock >= 0 && land_mark_again(&l, rc ? &second : err))
		rc = -1;
	ga_heed_terminal(&outlived);
	land_release(&l);
	return rc;
}
