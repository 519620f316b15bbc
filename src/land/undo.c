/* SPDX-License-Identifier: MIT
 *
 * Undo the last landing of a working tree: its uncommitted changes, then branch, index and files by
 * git. Only while HEAD is at the landing; else name the git command that undoes it.
 */
#include <string.h>

#include "ga/base/json.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/journal.h"
#include "ga/sys/fd.h"
#include "ga/sys/signals.h"
#include "land-internal.h"

static int fail_moved_on(const struct record *rec, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "your branch has moved on since agent/%s landed",
		      rec->session);
	if (ga_oid_is_zero(&rec->head))
		return -1;
	if (rec->how == GA_LAND_MERGE)
		return ga_hint(err, "'git revert -m 1 %.10s' makes a commit that undoes it",
			       GA_HEX(&rec->commit));
	return ga_hint(err, "'git revert %.10s..%.10s' makes commits that undo it",
		       GA_HEX(&rec->head), GA_HEX(&rec->commit));
}

static int check_head(struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(r, &head, &branch, err);

	if (rc < 0)
		return -1;
	if (!branch != !rec->branch || (branch && strcmp(branch, rec->branch) != 0)) {
		const char *name = rec->branch ? ga_ref_branch(rec->branch) : NULL;
		cleanup_free char *word = ga_quote_shell(name ? name : "");

		(void)ga_fail(err, GA_ELOSE, "agent/%s landed on another branch than this",
			      rec->session);
		return name ? ga_hint(err, "'git switch %s', then undo", word) : -1;
	}
	return rc || !ga_oid_equal(&head, &rec->commit) ? fail_moved_on(rec, err) : 0;
}

/* A path that was only applied by a later landing is recorded twice. */
static bool is_last(const struct record *rec, size_t i)
{
	for (size_t k = i + 1; k < rec->n; k++)
		if (!strcmp(rec->v[k].path, rec->v[i].path))
			return false;
	return true;
}

/* Every file with uncommitted changes is as the landing left it, or as before. */
static int check_files(const struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	cleanup_close int root = ga_work_open(r, err);
	cleanup_free char *what = ga_strf("changed since agent/%s landed", rec->session);
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;

	if (root < 0)
		return -1;
	for (size_t i = 0; i < rec->n; i++) {
		const struct record_path *p = &rec->v[i];
		struct ga_work_stat now;

		if (!is_last(rec, i))
			continue;
		if (!ga_work_stat(root, p->path, &now) ||
		    (!ga_work_stat_equal(&now, &p->before) && !ga_work_stat_equal(&now, &p->after)))
			ga_strv_push(&changed, p->path);
	}
	return land_refuse(&changed, what, "restore them or move them away", "undo",
			   err);
}

static int check(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	static const struct ga_strv none = GA_STRV_INIT;
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct land_step step = { .changes = &changes, .conflicts = &none, .then = "undo" };

	return check_head(l->repo, rec, err) || check_files(l->repo, rec, err) ||
	       ga_commit_tree(l->repo, &rec->commit, &step.from, err) ||
	       land_tree_of(l->repo, &rec->head, &step.to, err) ||
	       ga_tree_diff(l->repo, &step.from, &step.to, &changes, err) ||
	       land_preflight(l, &step, err) ? -1 : 0;
}

static int run_git(const struct landing *l, const char *const *args, struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	int status;

	if (land_run(l, args, LAND_QUIET, &status, &why, err))
		return -1;
	if (!status)
		return 0;
	line = ga_git_last_line(&why);
	return ga_fail(err, GA_ELOSE, "git refused to undo it%s%s", line ? ": " : "",
		       line ? line : "");
}

/* Make HEAD's branch unborn, as it was. */
static int restore_unborn(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	struct ga_oid empty;
	const char *const drop[] = { "update-ref", "-d", rec->branch, GA_HEX(&rec->commit), NULL };

	if (land_tree_of(l->repo, &rec->head, &empty, err))
		return -1;
	return run_git(l,
		       (const char *const[]){ "read-tree", "-m", "-u", GA_HEX(&rec->commit),
					      GA_HEX(&empty), NULL },
		       err) || run_git(l, drop, err)
		       ? -1
		       : 0;
}

static int move_back(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	const char *branch = ga_ref_branch(rec->branch);
	const char *const on[] = { "checkout", "--quiet", "--no-overwrite-ignore",
				   "--ignore-other-worktrees", "-B", branch, GA_HEX(&rec->head),
				   NULL };
	const char *const detached[] = { "checkout", "--quiet", "--no-overwrite-ignore", "--detach",
					 GA_HEX(&rec->head), NULL };

	if (ga_oid_equal(&rec->head, &rec->commit))
		return 0;
	if (ga_fault_stop("undo:move", err))
		return -1;
	return ga_oid_is_zero(&rec->head) ? restore_unborn(l, rec, err)
					  : run_git(l, branch ? on : detached, err);
}

static int save_undone(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	struct ga_strv *left_out = &l->report->left_out;
	const size_t n = left_out->n;
	struct ga_session *s = l->s;
	json_t *o;

	for (size_t i = 0; i < rec->n; i++)
		ga_strv_push(left_out, rec->v[i].path);
	ga_strv_sort_unique(left_out);
	if (l->report->session && left_out->n > n && land_save_report(l, err))
		return -1;
	s->state = GA_STATE_CAPTURED;
	s->result.landed = (struct ga_oid){{0}};
	ga_report_copy_result(l->report, s);
	o = json_object();
	ga_json_set_oid(o, "commit", &rec->commit);
	(void)ga_journal(s->dir, "undone", o);
	return ga_session_save(s, err);
}

static int undo_record(const struct landing *l, struct record *rec, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;
	struct ga_saved_signals outlived;
	int rc;

	rec->phase = RECORD_UNDOING;
	/* the session before the files, and its report first: after a kill the session may be
	 * recorded as landed again, but never a left-out path as applied */
	if (record_save(l->repo, rec, err) || save_undone(l, rec, err))
		return -1;
	ga_catch_terminal_signals(&outlived);
	rc = record_apply(l->repo, rec, 0, true, &left, err) || ga_fault_stop("undo:files", err) ||
	     move_back(l, rec, err) ? land_recover(l, rec, err) : 0;
	ga_restore_terminal_signals(&outlived);
	return rc || ga_fault_stop("undo:moved", err) || record_remove(l->repo, rec, err) ? -1 : 0;
}

static int undo(const struct landing *l, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	enum land_settled settled;
	int rc = land_settle(l, &rec, &settled, err);

	if (rc < 0)
		return -1;
	if (rc)
		return ga_fail(err, GA_ENEGATIVE, "there is no landing to undo in this working tree"
			       GA_HINT "'git log' shows what is on your branch; 'git revert' "
			       "undoes it");
	if (land_check_session(l->s, &rec, "--undo", err))
		return -1;
	if (rec.phase == RECORD_HANDED_OVER)
		return ga_fail(err, GA_ELOSE, "the landing of agent/%s waits to be finished"
			       GA_HINT "'git agent land --abort %s' rolls it back", l->s->name,
			       l->s->name);
	l->ret->commit = rec.head;
	return check(l, &rec, err) || undo_record(l, &rec, err) ? -1 : 0;
}

int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err)
{
	struct ga_land_result ret = GA_LAND_RESULT_INIT;
	cleanup_report struct ga_report report = GA_REPORT_INIT;
	struct landing l = { .repo = r, .s = s, .report = &report, .ret = &ret };
	int rc = ga_report_read(r, s, &report, err) < 0 ? -1 : land_locked(&l, undo, err);

	*ret_head = ret.commit;
	return rc;
}
