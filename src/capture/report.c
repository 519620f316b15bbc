/* SPDX-License-Identifier: MIT
 *
 * Make the report of a capture. Changes that earlier runs published are not checked again: their
 * flags are in the former report.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/repo/history.h"
#include "capture-internal.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"

#define MAX_NAMED 10 /* paths in one note */

/* ---- what was published before -------------------------------------------- */

int find_users(struct capture *c, struct ga_oid *users, const struct ga_oid **ret,
	       struct ga_error *err)
{
	int rc;

	*users = c->s->view.updated;
	*ret = ga_oid_is_zero(users) ? NULL : users;
	if (*ret || !c->s->run.resumed || !c->s->id.onto_ref)
		return 0;
	rc = ga_ref_read(c->e->repo, c->s->id.onto_ref, users, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	/* a branch of the user whose commit is missing does not matter */
	rc = ga_commit_exists(c->e->repo, users, err);
	if (rc > 0)
		*ret = users;
	return rc < 0 ? -1 : 0;
}

/* Flag a commit against each of its parents: a merge gets flags of its own for what it adds. */
static int flag_commit(struct capture *c, const struct ga_oid *id, struct ga_report *r,
		       struct ga_error *err)
{
	cleanup_commit struct ga_commit commit = { .parents = NULL };

	if (ga_commit_read(c->e->repo, id, &commit, err))
		return -1;
	for (size_t i = 0; i < commit.n_parents; i++) {
		cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
		struct ga_oid old;

		if (ga_commit_tree(c->e->repo, &commit.parents[i], &old, err) ||
		    ga_tree_diff(c->e->repo, &old, &commit.tree, &changes, err) ||
		    ga_classify(c->e->repo, &c->out.facts, &old, &commit.tree, &changes, &flags,
				err))
			return -1;
		ga_report_add_flags(r, GA_FROM_SESSION, &flags, NULL);
	}
	return 0;
}

/* Without the report there are no verdicts either: the user is asked about everything again. */
static int flag_anew(struct capture *c, struct ga_report *r, struct ga_error *err)
{
	cleanup_report struct ga_report fresh = GA_REPORT_INIT;
	cleanup_free struct ga_oid *commits = NULL;
	struct ga_oid hide[2] = { c->s->id.onto };
	const struct ga_oid *users;
	size_t n;

	if (find_users(c, &hide[1], &users, err) ||
	    list_history(c, &c->base.branch, 1, hide, users ? 2 : 1, &commits, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (flag_commit(c, &commits[i], &fresh, err))
			return -1;
	ga_report_add_former(r, &fresh);
	ga_strv_push(&r->notes, "the report of the former run could not be read: what it had "
				"published is flagged once more");
	return 0;
}

static int add_former(struct capture *c, struct ga_report *r, struct ga_error *err)
{
	cleanup_report struct ga_report former = GA_REPORT_INIT;
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;
	int rc;

	if (!c->s->run.resumed || ga_oid_is_zero(&c->s->result.base_report))
		return 0;
	if (ga_report_read_at(c->e->repo, c->s, &c->s->result.base_report, &former, &damaged))
		return flag_anew(c, r, err);
	if (ga_oid_is_zero(&former.tip))
		return 0;
	/* not if the user has rewritten its commits and `git gc` has removed what was there
	 * before */
	rc = ga_commit_exists(c->e->repo, &former.tip, err);
	if (rc > 0)
		rc = ga_is_ancestor(c->e->repo, &former.tip, &c->base.branch, err);
	if (rc > 0)
		ga_report_add_former(r, &former);
	return rc < 0 ? -1 : 0;
}

/* ---- the whole ---- */

static void note_paths(struct ga_strv *notes, const char *what, const struct ga_strv *paths)
{
	cleanup_free char *named = ga_quote_list(paths, MAX_NAMED);

	if (paths->n)
		ga_strv_pushf(notes, "%s: %s", what, named);
}

/* No rule flags these, so nothing else would say that they are held. */
static void note_in_the_way(const struct capture *c, struct ga_strv *notes)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, unfiltered = GA_STRV_INIT;

	for (size_t i = 0; i < c->out.rewrite.held_paths.n; i++) {
		const char *path = c->out.rewrite.held_paths.v[i];

		if (ga_strv_find(&c->convert.unfiltered, path) >= 0)
			ga_strv_push(&unfiltered, path);
		/* hold_links() has added a note */
		else if (ga_strv_find(&c->out.hold_always, path) >= 0 &&
			 !ga_strv_has(&c->s->id.submodules, path))
			ga_strv_push(&paths, path);
	}
	note_paths(notes,
		   "held, since you ignore the path or have a file there that git does "
		   "not track",
		   &paths);
	note_paths(notes, "held, since your filter did not run on it", &unfiltered);
}

/* Is this leftover a directory with everything in it, or a file? */
static bool left_is_dir(const struct ga_session *s, int upper, const char *path)
{
	cleanup_strv struct ga_strv shared = GA_STRV_INIT;
	cleanup_close int fd = -1;

	ga_session_shared(s, &shared);
	if (ga_strv_has(&shared, path))
		return true;
	fd = ga_openat_beneath(upper, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	return fd >= 0;
}

/* Apply rules to paths that stay in the session. No merge can add these, but they are flagged in
 * the list of them, with the severity they would have on the branch. */
static void flag_left(const struct capture *c, struct ga_report *r)
{
	const struct ga_leftovers *left = &c->upper.left;
	cleanup_free char *layer = ga_path_join(c->s->dir, "upper");
	cleanup_close int upper = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };

	for (size_t i = 0; i < left->n; i++)
		ga_classify_path(&c->out.facts, left->v[i].path,
				 left_is_dir(c->s, upper, left->v[i].path), &flags);
	for (size_t i = 0; i < c->upper.newly_ignored.n; i++)
		ga_flags_add_rule(&flags, "ignore-rules-source", GA_HIGH,
				  c->upper.newly_ignored.v[i], &none,
				  c->upper.newly_ignored_by.v[i]);
	ga_report_add_flags(r, GA_FROM_LEFTOVERS, &flags, NULL);
}

static void flag_inodes(const struct capture *c, const struct ga_strv *paths, const char *rule,
			struct ga_flags *ret)
{
	for (size_t i = 0; i < paths->n; i++) {
		const struct ga_change *change = ga_changes_find(&c->upper.changes, paths->v[i]);

		/* no commit can have this property of the file, so the flag only informs */
		if (change)
			ga_flags_add_rule(ret, rule, GA_MEDIUM, paths->v[i], &change->new,
					  "the branch has the file without that");
	}
}

/* Keep the verdict on a flag whose content has not changed, unless that was rejected, and so
 * removed, and is there again because the session was resumed. */
static void keep_verdicts(struct ga_report *r, const struct ga_report *former, bool resumed)
{
	for (size_t i = 0; i < r->flags.n; i++) {
		struct ga_flag *f = &r->flags.v[i];
		const struct ga_flag *was = ga_flags_find(&former->flags, f);

		if (was && was->severity >= f->severity &&
		    !(resumed && was->verdict == GA_VERDICT_REJECTED))
			f->verdict = was->verdict;
	}
}

/* A verdict on a file is kept for its present version if the changes since need none: without a
 * severe flag, with the same mode, and with the same flags on the file. */
static int keep_for_changed(struct capture *c, const struct ga_report *former, struct ga_error *err)
{
	cleanup_changes struct ga_changes since = GA_CHANGES_INIT;
	cleanup_strmap struct ga_strmap severe = GA_STRMAP_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	cleanup_strv struct ga_strv kept = GA_STRV_INIT;
	struct ga_report *r = c->out.report;
	struct ga_oid was, is;

	if (!ga_report_open(r) || ga_oid_is_zero(&former->tip) || ga_oid_is_zero(&r->tip) ||
	    ga_commit_exists(c->e->repo, &former->tip, err) != 1)
		return err->code ? -1 : 0;
	if (ga_commit_tree(c->e->repo, &former->tip, &was, err) ||
	    ga_commit_tree(c->e->repo, &r->tip, &is, err) ||
	    ga_tree_diff(c->e->repo, &was, &is, &since, err) ||
	    ga_classify(c->e->repo, &c->out.facts, &was, &is, &since, &flags, err))
		return -1;
	for (size_t i = 0; i < flags.n; i++)
		if (flags.v[i].severity >= GA_HIGH)
			ga_strmap_add(&severe, flags.v[i].path, strlen(flags.v[i].path), 0);
	for (size_t i = 0; i < r->flags.n; i++) {
		struct ga_flag *f = &r->flags.v[i];
		const struct ga_change *ch = ga_changes_find(&since, f->path);
		struct ga_flag before = *f;
		const struct ga_flag *had;

		if (!ch)
			continue;
		before.entry = ch->old;
		had = ga_flags_find(&former->flags, &before);

		if (!ga_report_flag_blocks(f) || f->held || f->severity > GA_HIGH || !had ||
		    had->verdict != GA_VERDICT_ACCEPTED || had->severity < f->severity ||
		    strcmp(had->reason, f->reason) != 0 || ch->old.mode != f->entry.mode ||
		    ga_oid_cmp(&ch->new.oid, &f->entry.oid) != 0 ||
		    ga_strmap_first(&severe, f->path, strlen(f->path)) >= 0)
			continue;
		f->verdict = GA_VERDICT_ACCEPTED;
		ga_strv_push(&kept, f->path);
	}
	ga_strv_sort_unique(&kept);
	note_paths(&r->notes, "accepted before, and nothing that was added since needs a verdict",
		   &kept);
	return 0;
}

/* Flag left-out paths, too: a landing applies them as uncommitted changes. */
static int flag_left_out(struct capture *c, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, some = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	if (!c->out.left_out.n)
		return 0;
	if (ga_tree_diff(c->e->repo, &c->base.tree, &c->upper.tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&c->out.left_out, all.v[i].path) >= 0)
			(void)ga_changes_add(&some, all.v[i].path, &all.v[i].old, &all.v[i].new);
	if (ga_classify(c->e->repo, &c->out.facts, &c->base.tree, &c->upper.tree, &some, &flags,
			err))
		return -1;
	ga_report_add_flags(c->out.report, GA_FROM_SESSION, &flags, NULL);
	return 0;
}

static int fill_report(struct capture *c, struct ga_error *err)
{
	cleanup_flags struct ga_flags inodes = GA_FLAGS_INIT;
	struct ga_report *r = c->out.report;

	ga_report_begin(r, c->s);
	r->tip = has_changes(c) ? c->out.rewrite.tip : (struct ga_oid){ { 0 } };
	r->held = c->out.rewrite.held;
	ga_report_add_flags(r, GA_FROM_SESSION, &c->out.rewrite.flags, &c->out.rewrite.held_paths);
	if (flag_left_out(c, err))
		return -1;
	flag_inodes(c, &c->upper.set_id, "setuid-caps-xattr", &inodes);
	flag_inodes(c, &c->upper.linked, "hardlink", &inodes);
	ga_report_add_flags(r, GA_FROM_SESSION, &inodes, NULL);
	ga_leftovers_extend(&r->left, &c->upper.left);
	flag_left(c, r);
	if (c->s->view.incomplete)
		ga_strv_pushf(&r->notes, "session incomplete: %s", c->s->view.incomplete);
	ga_strv_extend(&r->notes, &c->s->run.remarks);
	ga_strv_extend(&r->notes, &c->notes);
	ga_strv_extend(&r->notes, &c->upper.notes);
	ga_strv_extend(&r->unkept, &c->unkept);
	r->unkept_more = c->unkept_more;
	note_paths(&r->notes, "newly ignored", &c->upper.newly_ignored);
	note_in_the_way(c, &r->notes);
	report_limits(c, r);
	ga_strv_extend(&r->left_out, &c->out.left_out);
	if (c->out.left_out.n) {
		r->shown = c->s->id.base;
		r->seen = c->upper.tree;
	}
	return 0;
}

int make_report(struct capture *c, struct ga_error *err)
{
	cleanup_report struct ga_report former = GA_REPORT_INIT;
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;
	cleanup_free char *name = ga_session_ref(c->s, "report");
	struct ga_oid parent;
	int have = ga_ref_read(c->e->repo, name, &parent, err), rc;

	if (have < 0)
		return -1;
	rc = have ? 1 : ga_report_read(c->e->repo, c->s, &former, &damaged);
	if (rc < 0)
		ga_strv_push(&c->notes,
			     "the former report could not be read: its verdicts are open again");
	if (fill_report(c, err) || add_former(c, c->out.report, err))
		return -1;
	if (!rc)
		keep_verdicts(c->out.report, &former, c->s->run.resumed != 0);
	if (!rc && keep_for_changed(c, &former, err))
		return -1;
	/* writing it would mean to wait for three files to be synced */
	if (have && ga_report_is_empty(c->out.report))
		return 0;
	return ga_report_write(c->e->repo, c->out.report, c->out.committer, have ? NULL : &parent,
			       &c->out.report_id, err);
}
