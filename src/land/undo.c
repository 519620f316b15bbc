/* SPDX-License-Identifier: MIT
 *
 * Undo the last landing of a working tree: the files that were brought, then branch, index and
 * files by git. Only while HEAD is at the landing; else a command of git's does it, which is
 * named. /
 */
#include <string.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/signals.h"
#include "ga/trace.h"
#include "landing.h"

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

/* A path that could not be brought at first is there again for the time when it was. */
static bool is_last(const struct record *rec, size_t i)
{
	for (size_t k = i + 1; k < rec->n; k++)
		if (!strcmp(rec->v[k].path, rec->v[i].path))
			return false;
	return true;
}

/* Files that were brought are as they were brought, or as before. */
static int check_files(const struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	cleanup_close int root = land_open_root(r, err);
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (root < 0)
		return -1;
	for (size_t i = 0; i < rec->n; i++) {
		const struct record_path *p = &rec->v[i];
		struct land_look now;

		if (!is_last(rec, i))
			continue;
		if (!land_look_here(root, p->path, &now) ||
		    (!land_look_equal(&now, &p->before) && !land_look_equal(&now, &p->after)))
			ga_strv_push(&changed, p->path);
	}
	if (!changed.n)
		return 0;
	list = land_list_paths(&changed);
	(void)ga_fail(err, GA_ELOSE, "changed since agent/%s landed: %s", rec->session, list);
	return ga_hint(err, "put them as they were, or move them away, then undo");
}

static int check(struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct ga_oid from, to;

	return check_head(r, rec, err) || check_files(r, rec, err) ||
	       ga_commit_tree(r, &rec->commit, &from, err) || land_old_tree(r, rec, &to, err) ||
	       ga_tree_diff(r, &from, &to, &changes, err) ||
	       land_preflight(r, &from, &to, &changes, false, "undo", err) ? -1 : 0;
}

/* ---- undoing it ------------------------------------------------------------------------------ */

/* The last that was brought first: a path may have been brought twice. */
static int restore_files(const struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	cleanup_close int root = land_open_root(r, err);

	if (root < 0)
		return -1;
	for (size_t i = rec->n; i-- > 0;)
		if (record_put(rec, root, i, true, err) < 0)
			return -1;
	return 0;
}

static int run(struct ga_repo *r, const char *const *args, int lock, struct ga_error *err)
{
	const struct land_git g = { .args = args, .lock = lock };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	int status;

	if (land_run(r, &g, &status, &why, err))
		return -1;
	if (!status)
		return 0;
	line = ga_git_last_line(&why);
	return ga_fail(err, GA_ELOSE, "git refused to undo it%s%s", line ? ": " : "",
		       line ? line : "");
}

/* A branch that had no commit has none again. */
static int unborn(struct ga_repo *r, const struct record *rec, int lock, struct ga_error *err)
{
	struct ga_oid empty;
	const char *const drop[] = { "update-ref", "-d", rec->branch, GA_HEX(&rec->commit), NULL };

	if (land_old_tree(r, rec, &empty, err))
		return -1;
	return run(r, (const char *const[]){ "read-tree", "-m", "-u", GA_HEX(&rec->commit),
					     GA_HEX(&empty), NULL }, lock, err) ||
	       run(r, drop, lock, err) ? -1 : 0;
}

static int move_back(struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	const char *branch = ga_ref_branch(rec->branch);
	const char *const on[] = { "checkout", "--quiet", "--no-overwrite-ignore",
				   "--ignore-other-worktrees", "-B", branch, GA_HEX(&rec->head),
				   NULL };
	const char *const detached[] = { "checkout", "--quiet", "--no-overwrite-ignore", "--detach",
					 GA_HEX(&rec->head), NULL };
	cleanup_close int lock = -1;

	if (ga_oid_equal(&rec->head, &rec->commit))
		return 0;
	lock = record_lock(rec, err);
	if (lock < 0 || ga_fault_stop("undo:move", err))
		return -1;
	return ga_oid_is_zero(&rec->head) ? unborn(r, rec, lock, err)
					  : run(r, branch ? on : detached, lock, err);
}

static int note(struct ga_session *s, const struct record *rec, struct ga_error *err)
{
	json_t *o = json_object();

	s->state = GA_STATE_CAPTURED;
	s->result.landed = (struct ga_oid){{0}};
	for (size_t i = 0; i < rec->n; i++)
		if (rec->v[i].kept && !ga_strv_has(&s->result.left_out, rec->v[i].path))
			ga_strv_push(&s->result.left_out, rec->v[i].path);
	ga_strv_sort_unique(&s->result.left_out);
	ga_json_set_oid(o, "commit", &rec->commit);
	(void)ga_journal(s->dir, "undone", o);
	return ga_session_save(s, err);
}

/* What was done by then is rolled back: the landing stands as before. */
static int recover(struct ga_repo *r, const struct ga_gitconfig *c, struct record *rec,
		   struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	enum land_settled settled;

	record_release(rec);
	if (land_remove_locks(r, &second) || land_settle(r, c, rec, &settled, &second) < 0)
		(void)ga_error_wrap(err, "%s", second.msg);
	return -1;
}

static int undo(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_session *s,
		struct ga_oid *ret_head, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	struct ga_outlived outlived;
	enum land_settled settled;
	int rc = land_settle(r, c, &rec, &settled, err);

	if (rc < 0)
		return -1;
	if (rc) {
		(void)ga_fail(err, GA_ENEGATIVE, "there is no landing to undo in this working "
			      "tree");
		return ga_hint(err, "'git log' shows what is on your branch; 'git revert' "
			       "undoes it");
	}
	if (land_check_session(s, &rec, "--undo", err))
		return -1;
	if (rec.phase == RECORD_HANDED_OVER) {
		(void)ga_fail(err, GA_ELOSE, "the landing of agent/%s waits to be finished",
			      s->name);
		return ga_hint(err, "'git agent land --abort %s' gives it up", s->name);
	}
	if (check(r, &rec, err))
		return -1;
	rec.phase = RECORD_UNDOING;
	/* the session first: if we are killed, it is noted again that it has landed, but never that
	 * what it left out has been brought */
	if (record_save(&rec, err) || note(s, &rec, err))
		return -1;
	ga_outlive_terminal(&outlived);
	rc = restore_files(r, &rec, err) || ga_fault_stop("undo:files", err) ||
	     move_back(r, &rec, err) ? recover(r, c, &rec, err) : 0;
	ga_heed_terminal(&outlived);
	*ret_head = rec.head;
	return rc || ga_fault_stop("undo:moved", err) || record_remove(&rec, err) ? -1 : 0;
}

int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err)
{
	struct ga_gitconfig config = GA_GITCONFIG_INIT;
	cleanup_land_lock struct land_lock lock = LAND_LOCK_INIT;
	int rc = land_lock(r, &lock, err) || ga_gitconfig_load(r, &config, err)
			 ? -1
			 : undo(r, &config, s, ret_head, err);

	lock.failed = rc && lock.repo;
	ga_gitconfig_release(&config);
	return rc;
}
