/* SPDX-License-Identifier: MIT
 *
 * Verdicts. Everything is computed first, objects are written next, and one
 * transaction of refs makes it true.
 */
#include <string.h>
#include <time.h>

#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/worktree.h"
#include "land-internal.h"

struct decision {
	struct ga_repo *repo;
	struct ga_session *s;
	struct ga_report *report;
	const struct ga_strv *paths;
	bool all, accept, critical_too;

	struct land_refs refs;
	char *committer;
	struct ga_oid tip, tip_tree; /* of the branch, or of what it would stand on */
	struct ga_oid base_tree;
	struct ga_oid under, under_tree; /* the parent of `held` */
	struct ga_changes held;        /* what `held` has beyond it */
	bool *chosen;                  /* by flag */
	struct ga_strv bring, give_up; /* held paths accepted, rejected */
	struct ga_strv restore;        /* branch paths put back */
	struct ga_strv unlist;         /* left-out paths not to be brought */
	struct ga_strv by_name;        /* critical ones only their directory was given for */
	struct ga_strv unseen;         /* what was left behind, and nobody has looked into */
	bool any;                      /* the paths given meant something */

	struct ga_oid new_tip, new_tip_tree, new_held;
};

static void decision_release(struct decision *d)
{
	free(d->committer);
	free(d->chosen);
	ga_changes_release(&d->held);
	ga_strv_release(&d->bring);
	ga_strv_release(&d->give_up);
	ga_strv_release(&d->restore);
	ga_strv_release(&d->unlist);
	ga_strv_release(&d->by_name);
	ga_strv_release(&d->unseen);
}

/* ---- what was meant ----------------------------------------------------- */

enum match { NOT, BENEATH, EXACT };

/* "." and "dir/" mean everything beneath; flags of the session as a whole have no path. */
static enum match match_one(const char *given, const char *path)
{
	size_t n;

	while (!strncmp(given, "./", 2))
		given += 2;
	n = strlen(given);
	while (n && given[n - 1] == '/')
		n--;
	if (!n || (n == 1 && *given == '.'))
		return *path ? BENEATH : EXACT;
	if (strncmp(given, path, n) != 0)
		return NOT;
	return path[n] == '/' ? BENEATH : path[n] ? NOT : EXACT;
}

static enum match match(const struct decision *d, const char *path)
{
	enum match best = NOT;

	if (d->all)
		return EXACT;
	for (size_t i = 0; i < d->paths->n; i++) {
		enum match m = match_one(d->paths->v[i], path);

		if (m > best)
			best = m;
	}
	return best;
}

static bool is_held(const struct decision *d, const char *path)
{
	return ga_changes_find(&d->held, path) != NULL;
}

static bool flagged(const struct decision *d, const char *path)
{
	for (size_t i = 0; i < d->report->n_flags; i++)
		if (!strcmp(d->report->flags[i].path, path))
			return true;
	return false;
}

/* May this path be accepted as it was given? Remembers what was not named. */
static bool may_accept(struct decision *d, const char *path, bool grave, enum match m)
{
	if (m == NOT || !grave)
		return m != NOT;
	if (d->critical_too && m == EXACT)
		return true;
	ga_strv_push(&d->by_name, path);
	return false;
}

static void choose_accepted(struct decision *d)
{
	for (size_t i = 0; i < d->report->n_flags; i++) {
		const struct ga_report_flag *f = &d->report->flags[i];
		enum match m = match(d, f->path);
		bool held = is_held(d, f->path);

		if (ga_report_flag_of_place(f)) {
			if (m != NOT)
				ga_strv_push(&d->unseen, f->path);
			continue;
		}
		d->any = d->any || m != NOT;
		if (f->verdict != GA_VERDICT_OPEN ||
		    !may_accept(d, f->path, f->severity == GA_CRITICAL || f->held || held, m))
			continue;
		d->chosen[i] = true;
		if (held)
			ga_strv_push(&d->bring, f->path);
	}
	/* held without a flag of its own: for standing in the way of one that has */
	for (size_t i = 0; i < d->held.n; i++) {
		const char *path = d->held.v[i].path;
		enum match m = match(d, path);

		d->any = d->any || m != NOT;
		if (!flagged(d, path) && may_accept(d, path, true, m))
			ga_strv_push(&d->bring, path);
	}
}

/* `--reject` takes any path the session changed, flagged or not; all of them only
 * if they are flagged and open. */
static bool rejects(struct decision *d, const char *path)
{
	if (!d->all)
		return match(d, path) != NOT;
	for (size_t i = 0; i < d->report->n_flags; i++)
		if (d->report->flags[i].verdict == GA_VERDICT_OPEN &&
		    !strcmp(d->report->flags[i].path, path))
			return true;
	return false;
}

static int choose_rejected(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (ga_tree_diff(d->repo, &d->base_tree, &d->tip_tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (rejects(d, all.v[i].path))
			ga_strv_push(&d->restore, all.v[i].path);
	for (size_t i = 0; i < d->held.n; i++)
		if (rejects(d, d->held.v[i].path))
			ga_strv_push(&d->give_up, d->held.v[i].path);
	for (size_t i = 0; i < d->s->left_out.n; i++)
		if (rejects(d, d->s->left_out.v[i]))
			ga_strv_push(&d->unlist, d->s->left_out.v[i]);
	d->any = d->restore.n || d->give_up.n || d->unlist.n;
	for (size_t i = 0; i < d->report->n_flags; i++) {
		const struct ga_report_flag *f = &d->report->flags[i];

		d->chosen[i] =
		    (d->all && f->verdict == GA_VERDICT_OPEN) || match(d, f->path) != NOT;
		if (d->all && f->verdict != GA_VERDICT_OPEN)
			d->chosen[i] = false;
		d->any = d->any || d->chosen[i];
	}
	return 0;
}

static int fail_nothing(struct decision *d, struct ga_error *err)
{
	cleanup_free char *list = NULL;

	ga_strv_sort_unique(&d->unseen);
	if (d->unseen.n) {
		list = land_list(&d->unseen);
		(void)ga_fail(err, GA_EFATAL, "left behind, and not looked into yet: %s", list);
		return ga_hint(err,
			       "'git agent land --with-ignored PATH %s' does that; what it refuses "
			       "can be accepted then",
			       d->s->name);
	}
	list = land_list(d->paths);
	(void)ga_fail(err, GA_EFATAL, "nothing in session '%s' to %s at: %s", d->s->name,
		      d->accept ? "accept" : "reject", list);
	return ga_hint(err,
		       "paths are relative to the top of the working tree; "
		       "'git agent review %s' lists them",
		       d->s->name);
}

static int choose(struct decision *d, struct ga_error *err)
{
	cleanup_free char *list = NULL;
	size_t n_chosen = 0;

	if (d->accept)
		choose_accepted(d);
	else if (choose_rejected(d, err))
		return -1;
	ga_strv_sort_unique(&d->bring);
	ga_strv_sort_unique(&d->by_name);
	for (size_t i = 0; i < d->report->n_flags; i++)
		n_chosen += d->chosen[i];
	if (!d->any && !d->all)
		return fail_nothing(d, err);
	if (!n_chosen && !d->bring.n && d->by_name.n && !d->all) {
		list = land_list(&d->by_name);
		(void)ga_fail(err, GA_EFATAL, "critical paths are accepted one by one: %s", list);
		return ga_hint(err, "'git agent review --accept %s PATH...' with their own names",
			       d->s->name);
	}
	return 0;
}

/* ---- the new tree of the branch ----------------------------------------- */

static int changed_since(const char *path, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);

	(void)ga_fail(err, GA_ECONFLICT, "held-back '%s' was also changed on the branch", q);
	return ga_hint(err, "reject it, or take that change off the branch first");
}

/* Add the three-way of one held change onto `tree` to `out`. 1: both changed it. */
static int merge_held(struct decision *d, const struct ga_oid *tree, const struct ga_change *c,
		      struct ga_changes *out, struct ga_error *err)
{
	struct ga_entry ours, merged;
	int rc;

	if (ga_tree_entry(d->repo, tree, c->path, &ours, err))
		return -1;
	/* a directory there is no version of the file: it goes if the file comes */
	if (ours.mode == GA_MODE_TREE)
		ours = (struct ga_entry){0};
	rc = ga_merge_entry(d->repo, &c->old, &ours, &c->new, &merged, err);
	if (!rc && !ga_entry_equal(&ours, &merged))
		(void)ga_changes_add(out, c->path, &ours, &merged);
	return rc;
}

static int list_changes(struct decision *d, struct ga_changes *out, struct ga_error *err)
{
	for (size_t i = 0; i < d->bring.n; i++) {
		const struct ga_change *c = ga_changes_find(&d->held, d->bring.v[i]);
		int rc = merge_held(d, &d->tip_tree, c, out, err);

		if (rc)
			return rc < 0 ? -1 : changed_since(c->path, err);
	}
	for (size_t i = 0; i < d->restore.n; i++) {
		struct ga_entry was, is;

		if (ga_tree_entry(d->repo, &d->base_tree, d->restore.v[i], &was, err) ||
		    ga_tree_entry(d->repo, &d->tip_tree, d->restore.v[i], &is, err))
			return -1;
		if (was.mode == GA_MODE_TREE)
			was = (struct ga_entry){0};
		if (is.mode == GA_MODE_TREE)
			is = (struct ga_entry){0};
		(void)ga_changes_add(out, d->restore.v[i], &is, &was);
	}
	ga_changes_sort(out);
	return 0;
}

/* A file in place of a directory, or the other way round, takes more with it than
 * was named. What is held for that very reason comes along; anything else was not
 * decided about. */
static int check_extent(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes done = GA_CHANGES_INIT;
	const char *path = NULL;

	if (ga_tree_diff(d->repo, &d->tip_tree, &d->new_tip_tree, &done, err))
		return -1;
	for (size_t i = 0; i < done.n && !path; i++) {
		const char *p = done.v[i].path;

		if (ga_strv_has(d->accept ? &d->bring : &d->restore, p))
			continue;
		if (d->accept && is_held(d, p) && !flagged(d, p))
			ga_strv_push(&d->bring, p);
		else
			path = p;
	}
	if (path) {
		cleanup_free char *q = ga_escape(path);

		(void)ga_fail(err, GA_EFATAL, "that would also change '%s'", q);
		return ga_hint(err, "decide about both together: name it too");
	}
	return 0;
}

static bool undone(const struct decision *d, const char *path)
{
	return ga_strv_has(&d->restore, path) || ga_strv_has(&d->give_up, path) ||
	       ga_strv_has(&d->unlist, path);
}

/* Does the flag get the verdict now? */
static bool judged(const struct decision *d, size_t flag)
{
	return d->chosen[flag] || (!d->accept && undone(d, d->report->flags[flag].path));
}

static void add_verdicts(const struct decision *d, struct ga_buf *m)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->report->n_flags && shown < GA_REPORT_TRAILERS; i++) {
		const struct ga_report_flag *f = &d->report->flags[i];

		if (!judged(d, i))
			continue;
		ga_report_trailer(m, d->accept ? "Agent-Accepted" : "Agent-Rejected", f->severity,
				  f->id, f->path, &f->entry);
		shown++;
	}
}

static char *message(const struct decision *d)
{
	const struct ga_strv *paths = d->accept ? &d->bring : &d->restore;
	cleanup_buf struct ga_buf m = GA_BUF_INIT;

	ga_buf_adds(&m,
		    d->accept ? "Accept what was held back\n\n" : "Put rejected paths back\n\n");
	for (size_t i = 0; i < paths->n && i < 100; i++) {
		cleanup_free char *q = ga_quote(paths->v[i]);

		ga_buf_addf(&m, "%s\n", q);
	}
	if (paths->n > 100)
		ga_buf_addf(&m, "and %zu more\n", paths->n - 100);
	ga_buf_addf(&m, "\nAgent-Session: %s\n", d->s->name);
	add_verdicts(d, &m);
	return ga_buf_steal(&m);
}

static int write_commit(struct decision *d, const struct ga_oid *tree, const struct ga_oid *parent,
			char *text, struct ga_oid *ret, struct ga_error *err)
{
	struct ga_oid p = *parent;
	char empty[1] = "";
	const struct ga_commit c = {.tree = *tree,
				    .parents = &p,
				    .n_parents = 1,
				    .author = d->committer,
				    .committer = d->committer,
				    .extra = empty,
				    .message = text};

	return ga_commit_write(d->repo, &c, ret, err);
}

static int make_tip(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_free char *text = NULL;

	d->new_tip = d->tip;
	d->new_tip_tree = d->tip_tree;
	if (!d->bring.n && !d->restore.n)
		return 0;
	if (list_changes(d, &changes, err) ||
	    ga_tree_apply(d->repo, NULL, &d->tip_tree, &changes, &d->new_tip_tree, err) ||
	    check_extent(d, err))
		return -1;
	if (ga_oid_equal(&d->new_tip_tree, &d->tip_tree))
		return 0;
	text = message(d);
	return write_commit(d, &d->new_tip_tree, &d->tip, text, &d->new_tip, err);
}

/* ---- what stays held ---------------------------------------------------- */

/* What stays, as changes to the new tip. 1: one of them was also changed on the branch. */
static int carry_held(struct decision *d, const struct ga_changes *stay, struct ga_changes *ret,
		      struct ga_error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < stay->n; i++)
		rc = merge_held(d, &d->new_tip_tree, &stay->v[i], ret, err);
	ga_changes_sort(ret);
	return rc;
}

/* A child of the new tip. Where that would take the place of what the branch made of a path,
 * it stays on what it stood on: only so can it still be told, when that path's turn comes, that
 * both changed it. */
static int write_held(struct decision *d, const struct ga_changes *stay, struct ga_error *err)
{
	cleanup_changes struct ga_changes carried = GA_CHANGES_INIT;
	cleanup_commit struct ga_commit was = {.parents = NULL};
	int rc = carry_held(d, stay, &carried, err);
	struct ga_oid tree;

	if (rc < 0 || (!rc && !carried.n))
		return rc;
	if (ga_tree_apply(d->repo, NULL, rc ? &d->under_tree : &d->new_tip_tree,
			  rc ? stay : &carried, &tree, err) ||
	    ga_commit_read(d->repo, &d->refs.held, &was, err))
		return -1;
	return write_commit(d, &tree, rc ? &d->under : &d->new_tip, was.message, &d->new_held, err);
}

static int make_held(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes stay = GA_CHANGES_INIT;

	d->new_held = d->refs.held;
	if (ga_oid_is_zero(&d->refs.held) ||
	    (!d->bring.n && !d->give_up.n && ga_oid_equal(&d->new_tip, &d->tip)))
		return 0;
	for (size_t i = 0; i < d->held.n; i++) {
		const struct ga_change *c = &d->held.v[i];

		if (!ga_strv_has(&d->bring, c->path) && !ga_strv_has(&d->give_up, c->path))
			(void)ga_changes_add(&stay, c->path, &c->old, &c->new);
	}
	d->new_held = (struct ga_oid){{0}};
	return stay.n ? write_held(d, &stay, err) : 0;
}

/* ---- making it true ----------------------------------------------------- */

static void remove_all(struct ga_strv *from, const struct ga_strv *what)
{
	struct ga_strv rest = GA_STRV_INIT;

	for (size_t i = 0; i < from->n; i++)
		if (!ga_strv_has(what, from->v[i]))
			ga_strv_push(&rest, from->v[i]);
	ga_strv_release(from);
	*from = rest;
}

/* A report as it will be; the one given changes only once the refs have. */
static int make_report(struct decision *d, struct ga_report *ret, struct ga_error *err)
{
	cleanup_free char *text = ga_report_encode(d->report);

	if (ga_report_decode(text, strlen(text), ret, err))
		return -1;
	for (size_t i = 0; i < ret->n_flags; i++) {
		struct ga_report_flag *f = &ret->flags[i];

		if (judged(d, i))
			f->verdict = d->accept ? GA_VERDICT_ACCEPTED : GA_VERDICT_REJECTED;
		if (ga_strv_has(&d->bring, f->path) || ga_strv_has(&d->give_up, f->path))
			f->held = false;
	}
	remove_all(&ret->left_out, &d->unlist);
	if (!ga_oid_is_zero(&d->refs.branch) || !ga_oid_equal(&d->new_tip, &d->tip))
		ret->tip = d->new_tip;
	ret->held = d->new_held;
	return 0;
}

/* Moving a branch beneath a working tree would make its files look edited. */
static int check_free(struct decision *d, struct ga_error *err)
{
	return ga_oid_equal(&d->new_tip, &d->tip) ? 0 : ga_worktree_check_free(d->repo, d->s, err);
}

static void add_update(struct ga_ref_updates *u, const char *name, const struct ga_oid *old,
		       const struct ga_oid *new)
{
	if (!ga_oid_equal(old, new))
		ga_ref_updates_add(u, name, old, ga_oid_is_zero(new) ? NULL : new);
}

static int update_refs(struct decision *d, const struct ga_report *report, struct ga_error *err)
{
	cleanup_free char *held = ga_session_ref(d->s, "held"),
			  *ref = ga_session_ref(d->s, "report");
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	const struct ga_oid *parent = ga_oid_is_zero(&d->refs.report) ? NULL : &d->refs.report;
	struct ga_oid commit;

	if (ga_report_write(d->repo, report, d->committer, parent, &commit, err))
		return -1;
	if (!ga_oid_equal(&d->new_tip, &d->tip))
		ga_ref_updates_add(&u, d->s->branch, &d->refs.branch, &d->new_tip);
	add_update(&u, held, &d->refs.held, &d->new_held);
	add_update(&u, ref, &d->refs.report, &commit);
	return ga_refs_update(d->repo, &u, d->accept ? "agent: accept" : "agent: reject", err);
}

static int finish(struct decision *d, struct ga_report *new, struct ga_error *err)
{
	json_t *o = json_object();

	(void)json_object_set_new(o, "accept", json_boolean(d->accept));
	(void)json_object_set_new(o, "paths", ga_report_paths_json(d->paths));
	ga_json_set_oid(o, "tip", &new->tip);
	ga_json_set_oid(o, "held", &new->held);
	(void)ga_journal(d->s->dir, "verdict", o);
	ga_report_release(d->report);
	*d->report = *new;
	*new = (struct ga_report)GA_REPORT_INIT;
	d->s->tip = d->report->tip;
	d->s->held = d->report->held;
	remove_all(&d->s->left_out, &d->unlist);
	/* there is something new to land */
	if (d->s->state == GA_STATE_LANDED && !ga_oid_equal(&d->new_tip, &d->tip))
		d->s->state = GA_STATE_CAPTURED;
	return ga_session_save(d->s, err);
}

static int read_all(struct decision *d, struct ga_error *err)
{
	cleanup_commit struct ga_commit held = {.parents = NULL};

	if (!d->report->session)
		return ga_fail(err, GA_EFATAL, "session '%s' has no report: nothing to decide",
			       d->s->name);
	if (land_refs_read(d->repo, d->s, &d->refs, err) ||
	    ga_repo_signature(d->repo, NULL, time(NULL), &d->committer, err))
		return -1;
	d->tip = ga_oid_is_zero(&d->refs.branch) ? d->s->onto : d->refs.branch;
	if (ga_commit_tree(d->repo, &d->tip, &d->tip_tree, err) ||
	    ga_commit_tree(d->repo, &d->s->onto, &d->base_tree, err))
		return -1;
	d->chosen = ga_calloc(d->report->n_flags + 1, sizeof(*d->chosen));
	if (ga_oid_is_zero(&d->refs.held))
		return 0;
	if (ga_commit_read(d->repo, &d->refs.held, &held, err))
		return -1;
	d->under = held.n_parents ? held.parents[0] : d->s->onto;
	if (ga_commit_tree(d->repo, &d->under, &d->under_tree, err))
		return -1;
	return ga_tree_diff(d->repo, &d->under_tree, &held.tree, &d->held, err);
}

static int decide(struct decision *d, struct ga_error *err)
{
	cleanup_report struct ga_report new = GA_REPORT_INIT;

	if (read_all(d, err) || choose(d, err) || make_tip(d, err) || make_held(d, err) ||
	    make_report(d, &new, err) || check_free(d, err) || update_refs(d, &new, err))
		return -1;
	return finish(d, &new, err);
}

int ga_decide(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	      const struct ga_strv *paths, bool all, bool accept, bool critical_too,
	      struct ga_error *err)
{
	struct decision d = {.repo = r,
			     .s = s,
			     .report = report,
			     .paths = paths,
			     .all = all,
			     .accept = accept,
			     .critical_too = critical_too};
	int rc = decide(&d, err);

	decision_release(&d);
	return rc;
}
