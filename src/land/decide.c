/* SPDX-License-Identifier: MIT
 *
 * Carries out verdicts. Everything is computed first, objects are written next, and then a single
 * transaction of refs makes it take effect.
 */
#include <string.h>
#include <time.h>

#include "ga/repo/history.h"
#include "decide.h"
#include "ga/base/json.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"

static void decision_release(struct decision *d)
{
	free(d->committer);
	free(d->chosen.verdict);
	ga_strmap_release(&d->chosen.accepts);
	ga_strmap_release(&d->chosen.rejects);
	ga_strmap_release(&d->chosen.flagged);
	ga_changes_release(&d->at.held);
	ga_changes_release(&d->undone);
	ga_strv_release(&d->chosen.accept);
	ga_strv_release(&d->chosen.reject);
	ga_strv_release(&d->chosen.restore);
	ga_strv_release(&d->chosen.unlist);
	ga_strv_release(&d->chosen.by_name);
	ga_strv_release(&d->chosen.blocked);
	ga_strv_release(&d->chosen.leftovers);
}

static bool has(const struct ga_strv *sorted, const char *path)
{
	return ga_strv_find(sorted, path) >= 0;
}

/* ---- the new tree of the branch ----------------------------------------- */

static int changed_since(const char *path, struct ga_error *err)
{
	return ga_fail(err, GA_ECONFLICT, "held-back '%s' was also changed on the branch"
		       GA_HINT "reject it, or take that change off the branch first", path);
}

/* Add the result of merging one held change onto `tree` to `out`. 1: both changed the path. */
static int merge_held(struct decision *d, const struct ga_oid *tree, const struct ga_change *c,
		      struct ga_changes *out, struct ga_error *err)
{
	struct ga_entry ours, merged;
	int rc;

	/* a directory there is no version of the file; the file replaces it */
	if (ga_tree_file(d->repo, tree, c->path, &ours, err))
		return -1;
	rc = ga_merge_entry(d->repo, &c->old, &ours, &c->new, &merged, err);
	if (!rc && !ga_entry_equal(&ours, &merged))
		(void)ga_changes_add(out, c->path, &ours, &merged);
	return rc;
}

static int list_accepted(struct decision *d, const struct ga_oid *tree, struct ga_changes *out,
			 struct ga_error *err)
{
	for (size_t i = 0; i < d->chosen.accept.n; i++) {
		const struct ga_change *c = ga_changes_find(&d->at.held, d->chosen.accept.v[i]);
		int rc = merge_held(d, tree, c, out, err);

		if (rc)
			return rc < 0 ? -1 : changed_since(c->path, err);
	}
	ga_changes_sort(out);
	return 0;
}

/* List the paths that are restored. */
static int list_undone(struct decision *d, struct ga_changes *out, struct ga_error *err)
{
	for (size_t i = 0; i < d->chosen.restore.n; i++) {
		const char *path = d->chosen.restore.v[i];
		struct ga_entry was, is;

		if (ga_tree_file(d->repo, &d->at.base_tree, path, &was, err) ||
		    ga_tree_file(d->repo, &d->at.tip_tree, path, &is, err))
			return -1;
		(void)ga_changes_add(out, path, &is, &was);
	}
	ga_changes_sort(out);
	return 0;
}

/* A file in place of a directory, or the reverse, changes more paths than were named. A path that
 * is held for that reason is included; any other needs a verdict of its own. */
static int check_extent(struct decision *d, const struct ga_oid *old, const struct ga_oid *new,
			bool accept, struct ga_error *err)
{
	cleanup_changes struct ga_changes done = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv more = GA_STRV_INIT;
	const char *path = NULL;

	if (ga_tree_diff(d->repo, old, new, &done, err))
		return -1;
	for (size_t i = 0; i < done.n && !path; i++) {
		const char *p = done.v[i].path;

		if (has(accept ? &d->chosen.accept : &d->chosen.restore, p))
			continue;
		if (accept && decide_held(d, p) && !decide_flagged(d, p))
			ga_strv_push(&more, p);
		else
			path = p;
	}
	if (path)
		return ga_fail(err, GA_EFATAL, "that would also change '%s'"
			       GA_HINT "decide about both together: name it too", path);
	ga_strv_extend(&d->chosen.accept, &more);
	ga_strv_sort_unique(&d->chosen.accept);
	return 0;
}

/* Is the path rejected: restored, or dropped from the held or left-out ones? */
static bool decide_undone(const struct decision *d, const char *path)
{
	return has(&d->chosen.restore, path) || has(&d->chosen.reject, path) ||
	       has(&d->chosen.unlist, path);
}

/* The verdict that this decision gives a flag; open: none. */
static enum ga_verdict verdict_of(const struct decision *d, size_t flag)
{
	return decide_undone(d, d->report->flags.v[flag].path) ? GA_VERDICT_REJECTED
							     : d->chosen.verdict[flag];
}

static void add_verdicts(const struct decision *d, enum ga_verdict v, struct ga_buf *m)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->report->flags.n && shown < GA_REPORT_TRAILERS; i++) {
		const struct ga_flag *f = &d->report->flags.v[i];

		if (verdict_of(d, i) != v)
			continue;
		ga_report_trailer(m, v == GA_VERDICT_ACCEPTED ? "Agent-Accepted" : "Agent-Rejected",
				  f, true);
		shown++;
	}
}

static char *message(const struct decision *d, enum ga_verdict v)
{
	bool accepted = v == GA_VERDICT_ACCEPTED;
	const struct ga_strv *paths = accepted ? &d->chosen.accept : &d->chosen.restore;
	cleanup_buf struct ga_buf m = GA_BUF_INIT;

	ga_buf_adds(&m, accepted ? "Accept what was held\n\n" : "Restore rejected paths\n\n");
	for (size_t i = 0; i < paths->n && i < 100; i++)
		ga_buf_addf(&m, "%s\n", GA_QUOTED(paths->v[i]));
	if (paths->n > 100)
		ga_buf_addf(&m, "and %zu more\n", paths->n - 100);
	ga_buf_addf(&m, "\nAgent-Session: %s\n", d->s->name);
	add_verdicts(d, v, &m);
	return ga_buf_steal(&m);
}

static int write_commit(struct decision *d, const struct ga_oid *tree, const struct ga_oid *parent,
			char *text, struct ga_oid *ret, struct ga_error *err)
{
	static char empty[1];
	struct ga_oid p = *parent;
	const struct ga_commit c = {.tree = *tree,
				    .parents = &p,
				    .n_parents = 1,
				    .author = d->committer,
				    .committer = d->committer,
				    .extra = empty,
				    .message = text};

	return ga_commit_write(d->repo, &c, ret, err);
}

/* Add a commit to the branch, if it changes anything. */
static int add_commit(struct decision *d, const struct ga_changes *changes, enum ga_verdict v,
		      struct ga_error *err)
{
	cleanup_free char *text = NULL;
	struct ga_oid tree, parent = d->new_tip;

	if (!changes->n)
		return 0;
	if (ga_tree_apply(d->repo, NULL, &d->new_tip_tree, changes, &tree, err) ||
	    check_extent(d, &d->new_tip_tree, &tree, v == GA_VERDICT_ACCEPTED, err))
		return -1;
	if (ga_oid_equal(&tree, &d->new_tip_tree))
		return 0;
	d->new_tip_tree = tree;
	text = message(d, v);
	return write_commit(d, &tree, &parent, text, &d->new_tip, err);
}

/* First the commit that undoes what was rejected, then the one that adds what was held. */
static int make_tip(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes undo = GA_CHANGES_INIT, accepted = GA_CHANGES_INIT;

	d->new_tip = d->at.tip;
	d->new_tip_tree = d->at.tip_tree;
	if (list_undone(d, &undo, err) || add_commit(d, &undo, GA_VERDICT_REJECTED, err) ||
	    list_accepted(d, &d->new_tip_tree, &accepted, err))
		return -1;
	return add_commit(d, &accepted, GA_VERDICT_ACCEPTED, err);
}

/* ---- what stays held ---------------------------------------------------- */

/* What stays held, as changes to the new tip. 1: one of them was also changed on the branch. */
static int carry_held(struct decision *d, const struct ga_changes *stay, struct ga_changes *ret,
		      struct ga_error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < stay->n; i++)
		rc = merge_held(d, &d->new_tip_tree, &stay->v[i], ret, err);
	ga_changes_sort(ret);
	return rc;
}

/* Write the new `held` as a child of the new tip. If that would replace the branch's version of a
 * path, it keeps its parent, so that the conflict stays visible. */
static int write_held(struct decision *d, const struct ga_changes *stay, struct ga_error *err)
{
	cleanup_changes struct ga_changes carried = GA_CHANGES_INIT;
	cleanup_commit struct ga_commit was = {.parents = NULL};
	int rc = carry_held(d, stay, &carried, err);
	struct ga_oid tree;

	if (rc < 0 || (!rc && !carried.n))
		return rc;
	if (ga_tree_apply(d->repo, NULL, rc ? &d->at.under_tree : &d->new_tip_tree,
			  rc ? stay : &carried, &tree, err) ||
	    ga_commit_read(d->repo, &d->at.held_ref, &was, err))
		return -1;
	return write_commit(d, &tree, rc ? &d->at.under : &d->new_tip, was.message, &d->new_held,
			    err);
}

static int make_held(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes stay = GA_CHANGES_INIT;

	d->new_held = d->at.held_ref;
	if (ga_oid_is_zero(&d->at.held_ref) ||
	    (!d->chosen.accept.n && !d->chosen.reject.n &&
	     ga_oid_equal(&d->new_tip, &d->at.tip)))
		return 0;
	for (size_t i = 0; i < d->at.held.n; i++) {
		const struct ga_change *c = &d->at.held.v[i];

		if (!has(&d->chosen.accept, c->path) && !has(&d->chosen.reject, c->path))
			(void)ga_changes_add(&stay, c->path, &c->old, &c->new);
	}
	d->new_held = (struct ga_oid){{0}};
	return stay.n ? write_held(d, &stay, err) : 0;
}

/* ---- carrying it out ---------------------------------------------------- */

static void remove_all(struct ga_strv *from, const struct ga_strv *what)
{
	struct ga_strv rest = GA_STRV_INIT;

	for (size_t i = 0; i < from->n; i++)
		if (!has(what, from->v[i]))
			ga_strv_push(&rest, from->v[i]);
	ga_strv_release(from);
	*from = rest;
}

/* The report as it will be. The one that was given changes only once the refs have. */
static int make_report(struct decision *d, struct ga_report *ret, struct ga_error *err)
{
	cleanup_free char *text = ga_report_encode(d->report);

	if (ga_report_decode(text, strlen(text), ret, err))
		return -1;
	for (size_t i = 0; i < ret->flags.n; i++) {
		struct ga_flag *f = &ret->flags.v[i];

		if (verdict_of(d, i) != GA_VERDICT_OPEN)
			f->verdict = verdict_of(d, i);
		if (has(&d->chosen.accept, f->path) || has(&d->chosen.reject, f->path))
			f->held = false;
	}
	remove_all(&ret->left_out, &d->chosen.unlist);
	if (!ga_oid_is_zero(&d->at.branch) || !ga_oid_equal(&d->new_tip, &d->at.tip))
		ret->tip = d->new_tip;
	ret->held = d->new_held;
	return 0;
}

/* Moving a branch that is checked out would make the files there look edited. */
static int check_free(struct decision *d, struct ga_error *err)
{
	return ga_oid_equal(&d->new_tip, &d->at.tip) ? 0
	       : ga_worktree_check_free(d->repo, d->s, err);
}

static void add_update(struct ga_ref_updates *u, const char *name, const struct ga_oid *old,
		       const struct ga_oid *new)
{
	if (!ga_oid_equal(old, new))
		ga_ref_updates_add(u, name, old, ga_oid_is_zero(new) ? NULL : new);
}

static const char *reason(const struct decision *d)
{
	if (!d->what->reject.n)
		return "agent: accept";
	return d->what->accept.n ? "agent: accept and reject" : "agent: reject";
}

static int update_refs(struct decision *d, const struct ga_report *report, struct ga_error *err)
{
	cleanup_free char *held = ga_session_ref(d->s, "held"),
			  *ref = ga_session_ref(d->s, "report");
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	const struct ga_oid *parent = ga_oid_is_zero(&d->at.report_ref) ? NULL : &d->at.report_ref;
	struct ga_oid commit;

	if (ga_report_write(d->repo, report, d->committer, parent, &commit, err))
		return -1;
	if (!ga_oid_equal(&d->new_tip, &d->at.tip))
		ga_ref_updates_add(&u, d->s->id.branch, &d->at.branch, &d->new_tip);
	add_update(&u, held, &d->at.held_ref, &d->new_held);
	add_update(&u, ref, &d->at.report_ref, &commit);
	return ga_refs_update(d->repo, &u, reason(d), err);
}

static void journal_verdict(const struct decision *d, const struct ga_report *new, bool accept,
			    const struct ga_strv *paths)
{
	json_t *o = json_object();

	(void)json_object_set_new(o, "accept", json_boolean(accept));
	(void)json_object_set_new(o, "paths", ga_report_paths_json(paths));
	ga_json_set_oid(o, "tip", &new->tip);
	ga_json_set_oid(o, "held", &new->held);
	(void)ga_journal(d->s->dir, "verdict", o);
}

static void note_all(const struct decision *d, const struct ga_report *new)
{
	if (d->what->accept.n || d->what->accept_all)
		journal_verdict(d, new, true, &d->what->accept);
	if (d->what->reject.n)
		journal_verdict(d, new, false, &d->what->reject);
}

static int finish(struct decision *d, struct ga_report *new, struct ga_error *err)
{
	if (ga_fault_stop("decide:published", err))
		return -1;
	note_all(d, new);
	ga_report_release(d->report);
	*d->report = *new;
	*new = (struct ga_report)GA_REPORT_INIT;
	ga_report_copy_result(d->report, d->s);
	/* there is something new to land */
	if (d->s->state == GA_STATE_LANDED && !ga_oid_equal(&d->new_tip, &d->at.tip))
		d->s->state = GA_STATE_CAPTURED;
	return ga_session_save(d->s, err);
}

static int read_refs(struct decision *d, struct ga_error *err)
{
	cleanup_free char *held = ga_session_ref(d->s, "held");
	cleanup_free char *report = ga_session_ref(d->s, "report");

	return land_read_branch(d->repo, d->s, &d->at.branch, err) ||
	       ga_ref_read(d->repo, held, &d->at.held_ref, err) < 0 ||
	       ga_ref_read(d->repo, report, &d->at.report_ref, err) < 0 ? -1 : 0;
}

/* A flag that a landing found, on a path that the session does not change: there is nothing to
 * restore, and the next landing would find it again. */
static int check_landing(const struct decision *d, struct ga_error *err)
{
	for (size_t i = 0; i < d->report->flags.n; i++) {
		const struct ga_flag *f = &d->report->flags.v[i];

		if (d->chosen.verdict[i] != GA_VERDICT_REJECTED || !f->landing ||
		    decide_undone(d, f->path))
			continue;
		return ga_fail(err, GA_EFATAL, "rejecting '%s' restores nothing: agent/%s changes "
			       "it only where it lands"
			       GA_HINT "reject the path that it comes from: 'git diff "
			       "HEAD...agent/%s' shows all that lands", f->path, d->s->name,
			       d->s->name);
	}
	return 0;
}

static int read_all(struct decision *d, struct ga_error *err)
{
	const struct ga_oid own = *ga_session_own_base(d->s);
	cleanup_commit struct ga_commit held = {.parents = NULL};

	if (!d->report->session)
		return ga_fail(err, GA_EFATAL, "session '%s' has no report: nothing to decide",
			       d->s->name);
	if (read_refs(d, err) ||
	    ga_repo_signature(d->repo, NULL, time(NULL), &d->committer, err))
		return -1;
	if (!ga_oid_is_zero(&d->what->reviewed) &&
	    !ga_oid_equal(&d->what->reviewed, &d->at.branch))
		return ga_fail(err, GA_ECONFLICT, "'agent/%s' is not where it was when it was "
			       "reviewed"
			       GA_HINT "review it again: there are new commits on it", d->s->name);
	if (!ga_oid_is_zero(&d->at.branch) &&
	    land_check_moved(d->repo, d->s, &d->at.branch, true, err))
		return -1;
	d->at.tip = ga_oid_is_zero(&d->at.branch) ? own : d->at.branch;
	if (ga_commit_tree(d->repo, &d->at.tip, &d->at.tip_tree, err) ||
	    ga_commit_tree(d->repo, &own, &d->at.base_tree, err))
		return -1;
	d->chosen.verdict = ga_calloc(d->report->flags.n + 1, sizeof(*d->chosen.verdict));
	if (ga_oid_is_zero(&d->at.held_ref))
		return 0;
	if (ga_commit_read(d->repo, &d->at.held_ref, &held, err))
		return -1;
	d->at.under = held.n_parents ? held.parents[0] : own;
	if (ga_commit_tree(d->repo, &d->at.under, &d->at.under_tree, err))
		return -1;
	return ga_tree_diff(d->repo, &d->at.under_tree, &held.tree, &d->at.held, err);
}

/* Add the left-out paths that are rejected to d->undone. */
static int list_left_out(struct decision *d, struct ga_error *err)
{
	struct ga_oid base;

	if (!d->chosen.unlist.n)
		return 0;
	if (ga_commit_tree(d->repo, &d->s->id.base, &base, err))
		return -1;
	for (size_t i = 0; i < d->chosen.unlist.n; i++) {
		struct ga_entry was, is;

		if (ga_tree_file(d->repo, &base, d->chosen.unlist.v[i], &was, err) ||
		    ga_tree_file(d->repo, &d->s->view.tree, d->chosen.unlist.v[i], &is, err))
			return -1;
		(void)ga_changes_add(&d->undone, d->chosen.unlist.v[i], &was, &is);
	}
	return 0;
}

/* List what was rejected, from each path as it is afterwards to what the agent had. */
static int list_rejected(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes undo = GA_CHANGES_INIT;

	if (list_undone(d, &undo, err) || list_left_out(d, err))
		return -1;
	for (size_t i = 0; i < undo.n; i++)
		(void)ga_changes_add(&d->undone, undo.v[i].path, &undo.v[i].new, &undo.v[i].old);
	for (size_t i = 0; i < d->chosen.reject.n; i++) {
		const struct ga_change *c = ga_changes_find(&d->at.held, d->chosen.reject.v[i]);

		(void)ga_changes_add(&d->undone, c->path, &c->old, &c->new);
	}
	ga_changes_sort(&d->undone);
	return 0;
}

static void sort_chosen(struct decision *d)
{
	ga_strv_sort_unique(&d->chosen.accept);
	ga_strv_sort_unique(&d->chosen.reject);
	ga_strv_sort_unique(&d->chosen.restore);
	ga_strv_sort_unique(&d->chosen.unlist);
}

static int decide(struct decision *d, struct ga_error *err)
{
	cleanup_report struct ga_report new = GA_REPORT_INIT;

	if (read_all(d, err) || decide_choose(d, err))
		return -1;
	sort_chosen(d);
	if (make_tip(d, err) || check_landing(d, err) || make_held(d, err) ||
	    make_report(d, &new, err) || check_free(d, err) || list_rejected(d, err) ||
	    update_refs(d, &new, err))
		return -1;
	return finish(d, &new, err);
}

int ga_decide(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	      const struct ga_decision *what, struct ga_changes *rejected_or_null,
	      struct ga_error *err)
{
	struct decision d = {.repo = r, .s = s, .report = report, .what = what};
	int rc = what->reject.n ? ga_land_check_ended(r, s, err) : 0;

	if (!rc)
		rc = decide(&d, err);

	if (!rc && rejected_or_null) {
		*rejected_or_null = d.undone;
		d.undone = (struct ga_changes)GA_CHANGES_INIT;
	}
	decision_release(&d);
	return rc;
}
