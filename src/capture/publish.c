/* SPDX-License-Identifier: MIT
 *
 * The end of a capture: holds, report, refs, state.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/session/worktree.h"
#include "ga/sys/fd.h"
#include "ga/sys/sync.h"
#include "result.h"

#define MAX_NAMED 10 /* paths in one note */

void outcome_release(struct outcome *o)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	free(o->committer);
	ga_host_facts_release(&o->facts);
	ga_refs_abandon(o->refs);
	/* something else failed, and that is reported */
	(void)ga_sync_beside_end(o->syncing_early, &ignored);
	(void)ga_sync_beside_end(o->syncing, &ignored);
	ga_strv_release(&o->early);
	ga_changes_release(&o->newer);
	ga_changes_release(&o->rest.changes);
	ga_flags_release(&o->rest.flags);
	ga_strv_release(&o->hold_always);
	ga_rewrite_release(&o->rewrite);
	ga_strv_release(&o->left_out);
	ga_strv_release(&o->renamed);
}

/* ---- what must be held whatever the rules say -------------------------- */

/* All commits count, not only the last: a rebase checks each of them out. */
int gather_holds(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	struct ga_oid tree;
	size_t n;

	if (list_history(c, &o->history, 1, &c->base.branch, 1, &commits, &n, err) ||
	    ga_commit_tree(c->e->repo, &c->base.branch, &tree, err))
		return -1;
	if (find_in_the_way(c, commits, n, &tree, &o->hold_always, err) ||
	    hold_links(c, commits, n, &o->hold_always, err))
		return -1;
	ga_strv_extend(&o->hold_always, &c->convert.unfiltered);
	ga_strv_sort_unique(&o->hold_always);
	return 0;
}

/* ---- the report -------------------------------------------------------- */

static void note_paths(struct ga_strv *notes, const char *what, const struct ga_strv *paths)
{
	cleanup_free char *named = ga_quote_list(paths, MAX_NAMED);

	if (paths->n)
		ga_strv_pushf(notes, "%s: %s", what, named);
}

/* No rule flags these, so nothing else would say that they are held. */
static void note_in_the_way(const struct capture *c, const struct outcome *o,
			    struct ga_strv *notes)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, unfiltered = GA_STRV_INIT;

	for (size_t i = 0; i < o->rewrite.held_paths.n; i++) {
		const char *path = o->rewrite.held_paths.v[i];

		if (ga_strv_find(&c->convert.unfiltered, path) >= 0)
			ga_strv_push(&unfiltered, path);
		/* hold_links() has said why */
		else if (ga_strv_find(&o->hold_always, path) >= 0 &&
			 !ga_strv_has(&c->s->id.submodules, path))
			ga_strv_push(&paths, path);
	}
	note_paths(notes, "held, since you ignore the path or have a file there that git does "
			  "not track", &paths);
	note_paths(notes, "held, since no filter of yours ran on what was taken", &unfiltered);
}

/* Does the line in the list of what is left stand for a directory with everything in it, or for a
 * file? */
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

/* Apply rules to paths that stay in the session. No merge can bring these, but they are flagged in
 * the list of them, with the severity they would have on the branch. */
static void flag_left(const struct capture *c, const struct outcome *o, struct ga_report *r)
{
	const struct ga_left_list *left = &c->upper.left;
	cleanup_free char *layer = ga_path_join(c->s->dir, "upper");
	cleanup_close int upper = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };

	for (size_t i = 0; i < left->n; i++)
		ga_classify_path(&o->facts, left->v[i].path,
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
	for (size_t i = 0; i < r->n_flags; i++) {
		struct ga_report_flag *f = &r->flags[i];
		const struct ga_report_flag *was = ga_report_find(former, f->id, f->path,
								  &f->entry);

		if (was && was->severity >= f->severity &&
		    !(resumed && was->verdict == GA_VERDICT_REJECTED))
			f->verdict = was->verdict;
	}
}

/* A verdict on a file is kept for its present version, too, if what was changed since then needs
 * none: it has no severe flag, the mode is the same, and the same was said of the file. */
static int keep_for_changed(struct capture *c, struct outcome *o, const struct ga_report *former,
			    struct ga_error *err)
{
	cleanup_changes struct ga_changes since = GA_CHANGES_INIT;
	cleanup_strmap struct ga_strmap severe = GA_STRMAP_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	cleanup_strv struct ga_strv kept = GA_STRV_INIT;
	struct ga_report *r = o->report;
	struct ga_oid was, is;

	if (!ga_report_open(r) || ga_oid_is_zero(&former->tip) || ga_oid_is_zero(&r->tip) ||
	    ga_commit_here(c->e->repo, &former->tip, err) != 1)
		return err->code ? -1 : 0;
	if (ga_commit_tree(c->e->repo, &former->tip, &was, err) ||
	    ga_commit_tree(c->e->repo, &r->tip, &is, err) ||
	    ga_tree_diff(c->e->repo, &was, &is, &since, err) ||
	    ga_classify(c->e->repo, &o->facts, &was, &is, &since, &flags, err))
		return -1;
	for (size_t i = 0; i < flags.n; i++)
		if (flags.v[i].severity >= GA_HIGH)
			ga_strmap_add(&severe, flags.v[i].path, strlen(flags.v[i].path), 0);
	for (size_t i = 0; i < r->n_flags; i++) {
		struct ga_report_flag *f = &r->flags[i];
		const struct ga_change *ch = ga_changes_find(&since, f->path);
		const struct ga_report_flag *had =
			ch ? ga_report_find(former, f->id, f->path, &ch->old) : NULL;

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

/* Flag what is left out of the branch, too: a landing brings it as uncommitted changes. */
static int flag_left_out(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, some = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	if (!o->left_out.n)
		return 0;
	if (ga_tree_diff(c->e->repo, &c->base.tree, &c->upper.tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&o->left_out, all.v[i].path) >= 0)
			(void)ga_changes_add(&some, all.v[i].path, &all.v[i].old, &all.v[i].new);
	if (ga_classify(c->e->repo, &o->facts, &c->base.tree, &c->upper.tree, &some, &flags, err))
		return -1;
	ga_report_add_flags(o->report, GA_FROM_SESSION, &flags, NULL);
	return 0;
}

static int fill_report(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_flags struct ga_flags inodes = GA_FLAGS_INIT;
	struct ga_report *r = o->report;

	ga_report_begin(r, c->s);
	r->tip = anything(c, o) ? o->rewrite.tip : (struct ga_oid){ { 0 } };
	r->held = o->rewrite.held;
	ga_report_add_flags(r, GA_FROM_SESSION, &o->rewrite.flags, &o->rewrite.held_paths);
	if (flag_left_out(c, o, err))
		return -1;
	flag_inodes(c, &c->upper.set_id, "setuid-caps-xattr", &inodes);
	flag_inodes(c, &c->upper.linked, "hardlink", &inodes);
	ga_report_add_flags(r, GA_FROM_SESSION, &inodes, NULL);
	ga_left_extend(&r->left, &c->upper.left);
	flag_left(c, o, r);
	if (c->s->view.incomplete)
		ga_strv_pushf(&r->notes, "session incomplete: %s", c->s->view.incomplete);
	ga_strv_extend(&r->notes, &c->s->run.remarks);
	ga_strv_extend(&r->notes, &c->notes);
	ga_strv_extend(&r->notes, &c->upper.notes);
	ga_strv_extend(&r->unkept, &c->unkept);
	r->unkept_more = c->unkept_more;
	note_paths(&r->notes, "newly ignored", &c->upper.newly_ignored);
	note_in_the_way(c, o, &r->notes);
	report_limits(c, r);
	ga_strv_extend(&r->left_out, &o->left_out);
	if (o->left_out.n) {
		r->shown = c->s->id.base;
		r->seen = c->upper.tree;
	}
	return 0;
}

int make_report(struct capture *c, struct outcome *o, struct ga_error *err)
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
	if (fill_report(c, o, err) || add_former(c, o, o->report, err))
		return -1;
	if (!rc)
		keep_verdicts(o->report, &former, c->s->run.resumed != 0);
	if (!rc && keep_for_changed(c, o, &former, err))
		return -1;
	/* writing it would mean to wait for three files to be synced */
	if (have && ga_report_says_nothing(o->report))
		return 0;
	return ga_report_write(c->e->repo, o->report, o->committer, have ? NULL : &parent,
			       &o->report_id, err);
}

static void fill_session(struct capture *c, const struct outcome *o)
{
	struct ga_session *s = c->s;

	s->state = GA_STATE_CAPTURED;
	ga_report_tell(o->report, s);
	s->view.tree = c->upper.tree;
	s->view.full = o->rewrite.full;
	ga_strv_release(&s->view.renamed);
	ga_strv_extend(&s->view.renamed, &o->renamed);
}

/* A hook that runs the tests or the program runs what the agent wrote: say which, and when. */
static void note_hooks(struct capture *c, const struct ga_reach *h)
{
	static const char *const when[] = {
		[GA_REACH_PUSH] = "when you push",
		[GA_REACH_COMMIT] = "when a squash, an amend or a resolved conflict is committed",
		[GA_REACH_GIT] = "as soon as git has the branch in your working tree",
	};

	for (size_t i = 0; i < h->n; i++) {
		if (h->v[i].what == GA_REACH_SAID)
			ga_strv_pushf(&c->notes,
				      "your %s hook runs %s, and so what the agent wrote, %s",
				      h->v[i].text, h->v[i].why, when[h->v[i].when]);
	}
}

int need_facts(struct capture *c, struct outcome *o, struct ga_error *err)
{
	if (o->have_facts)
		return 0;
	if (ga_host_facts_gather(c->e->repo, c->e->config, c->e->risk, &o->facts, err))
		return -1;
	o->facts.attributes_tree = c->base.agent_tree;
	o->facts.attributes_dir = ga_strdup(c->s->id.project);
	o->have_facts = true;
	note_hooks(c, &o->facts.reach);
	return 0;
}

void sync_early(struct capture *c, struct outcome *o)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT, paths = GA_STRV_INIT;
	cleanup_free char *base = ga_session_ref(c->s, "base");

	if (o->early.n)
		return;
	ga_ref_paths(c->e->repo, base, &all);
	ga_ref_paths(c->e->repo, c->s->id.branch, &all);
	/* a file that `git pack-refs` removed is new if it is written again */
	for (size_t i = 0; i < all.n; i++)
		if (!access(all.v[i], F_OK))
			ga_strv_push(&o->early, all.v[i]);
	ga_strv_sort_unique(&o->early);
	ga_strv_extend(&paths, &o->early);
	/* nobody is waiting for this sync */
	o->syncing_early = ga_sync_beside(&paths, 1);
}

int end_sync_early(struct outcome *o, struct ga_error *err)
{
	return ga_sync_beside_end(ga_steal(&o->syncing_early), err);
}

int need_refs(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_free char *reason = ga_strf("agent: capture %s", c->s->name);

	return o->refs ? 0 : ga_refs_begin(c->e->repo, reason, c->e->lock, &o->refs, err);
}

/* Bring what the refs will name out of the session's own objects, if it has some. */
static int publish_objects(struct capture *c, const struct plan *p, struct ga_error *err)
{
	cleanup_free struct ga_oid *tips = ga_calloc(p->u.n + 1, sizeof(*tips)), *hide = NULL;
	cleanup_refs struct ga_refs host = GA_REFS_INIT;
	size_t n = 0, n_hide = 0;

	if (!ga_repo_is_private(c->e->repo))
		return 0;
	for (size_t i = 0; i < p->u.n; i++)
		if (!ga_oid_is_zero(&p->u.v[i].new))
			tips[n++] = p->u.v[i].new;
	if (ga_session_host_refs(c->e->repo, &host, err))
		return -1;
	hide = ga_calloc(host.n + 2, sizeof(*hide));
	hide[n_hide++] = c->s->id.onto;
	hide[n_hide++] = c->base.branch;
	for (size_t i = 0; i < host.n; i++)
		hide[n_hide++] = host.v[i].oid;
	return ga_private_publish(c->e->repo, tips, n, hide, n_hide, &c->keeps, err);
}

/* Get objects to the disk first, then the refs that point to them. */
static int update_refs(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_(plan_release) struct plan p = PLAN_INIT;

	if (ga_batch_commit(c->e->repo, &c->keeps, err) || make_plan(c, o, &p, err) ||
	    publish_objects(c, &p, err) || ga_fault_stop("capture:before-refs", err))
		return -1;
	if (ga_refs_need_git(&p.u) && need_refs(c, o, err))
		return -1;
	if (!has_result(c, &p))
		ga_strv_release(&p.stand);
	return ga_refs_end(c->e->repo, ga_steal(&o->refs), &p.u, &p.stand, &o->early, &o->syncing,
			   err);
}

int publish(struct capture *c, struct outcome *o, struct ga_error *err)
{
	if (update_refs(c, o, err) || ga_fault_stop("capture:after-refs", err))
		return -1;
	drop_keeps(c);
	if (ga_worktree_entry_remove(c->e->repo, c->s, err))
		return -1;
	fill_session(c, o);
	if (ga_fault_stop("capture:before-state", err) || end_sync_early(o, err))
		return -1;
	return ga_session_save_after(c->s, &o->syncing, err);
}
