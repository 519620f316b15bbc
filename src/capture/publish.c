/* SPDX-License-Identifier: MIT
 *
 * The end of a capture: holds, report, refs, state.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/sync.h"
#include "ga/trace.h"
#include "ga/worktree.h"
#include "result.h"

#define MAX_NAMED 10 /* paths in one note */

void outcome_release(struct outcome *o)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	free(o->committer);
	ga_host_facts_release(&o->facts);
	ga_refs_abandon(o->refs);
	/* something else failed, and was told */
	(void)ga_sync_beside_end(o->syncing_early, &ignored);
	(void)ga_sync_beside_end(o->syncing, &ignored);
	ga_strv_release(&o->early);
	ga_changes_release(&o->rest.changes);
	ga_flags_release(&o->rest.flags);
	ga_strv_release(&o->hold_always);
	ga_rewrite_release(&o->rewrite);
}

/* ---- what must be held whatever the rules say -------------------------- */

/* Every commit counts, not only the last: a rebase checks each of them out. */
int gather_holds(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	size_t n;

	if (list_history(c, &o->history, 1, &c->from, 1, &commits, &n, err))
		return -1;
	if (find_in_the_way(c, commits, n, &c->from_tree, &o->hold_always, err) ||
	    hold_links(c, commits, n, &o->hold_always, err))
		return -1;
	ga_strv_extend(&o->hold_always, &c->unfiltered);
	ga_strv_sort_unique(&o->hold_always);
	return 0;
}

/* ---- the report -------------------------------------------------------- */

static void note_paths(struct ga_strv *notes, const char *what, const struct ga_strv *paths)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (!paths->n)
		return;
	ga_buf_adds(&b, what);
	for (size_t i = 0; i < paths->n && i < MAX_NAMED; i++) {
		cleanup_free char *q = ga_quote(paths->v[i]);

		ga_buf_addf(&b, "%s%s", i ? ", " : ": ", q);
	}
	if (paths->n > MAX_NAMED)
		ga_buf_addf(&b, " and %zu more", paths->n - MAX_NAMED);
	ga_strv_push(notes, b.ptr);
}

/* No rule fires on these: nothing else would say that they are held back. */
static void note_in_the_way(const struct capture *c, const struct outcome *o,
			    struct ga_strv *notes)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, unfiltered = GA_STRV_INIT;

	for (size_t i = 0; i < o->rewrite.held_paths.n; i++) {
		const char *path = o->rewrite.held_paths.v[i];

		if (ga_strv_find(&c->unfiltered, path) >= 0)
			ga_strv_push(&unfiltered, path);
		/* hold_links() has said why */
		else if (ga_strv_find(&o->hold_always, path) >= 0 &&
			 !ga_strv_has(&c->s->submodules, path))
			ga_strv_push(&paths, path);
	}
	note_paths(notes, "held back, since you ignore the path or have a file there that git does "
			  "not track", &paths);
	note_paths(notes, "held back, since no filter of yours ran on what was taken", &unfiltered);
}

/* A line stands for a directory with all below it, or for one file. */
static bool left_is_dir(const struct ga_session *s, int upper, const char *path)
{
	cleanup_close int fd = -1;

	if (ga_strv_has(&s->shared, path))
		return true;
	fd = ga_openat_beneath(upper, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	return fd >= 0;
}

/* Rules on paths that are in no tree. Nothing a merge could bring: they are told where these are
 * listed, as severe as they are there. */
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
	ga_report_add_left_flags(r, &flags);
}

static void flag_inodes(const struct capture *c, const struct ga_strv *paths, const char *rule,
			struct ga_flags *ret)
{
	for (size_t i = 0; i < paths->n; i++) {
		const struct ga_change *change = ga_changes_find(&c->upper.changes, paths->v[i]);

		/* no commit has what was odd about the file: it is told, and in nobody's way */
		if (change)
			ga_flags_add_rule(ret, rule, GA_MEDIUM, paths->v[i], &change->new,
					  "the branch has the file without that");
	}
}

/* A flag that is there again on the very same content was judged already. What was rejected, and
 * so gone, and came back when the session was resumed, was not. */
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

/* Is there to be a branch? Not when nothing was changed, nor for commits of which
 * nothing may be on it. */
static bool anything(const struct capture *c, const struct outcome *o)
{
	return !ga_oid_is_zero(&o->rewrite.tip) && !ga_oid_equal(&o->rewrite.tip, &c->s->onto);
}

/* What is left out of the branch comes with a landing all the same, as uncommitted edits. */
static int flag_left_out(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, some = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	struct ga_oid tree;

	if (!o->rewrite.left_out.n)
		return 0;
	if (ga_commit_tree(c->e->repo, &o->rewrite.carried, &tree, err) ||
	    ga_tree_diff(c->e->repo, &c->base_tree, &tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&o->rewrite.left_out, all.v[i].path) >= 0)
			(void)ga_changes_add(&some, all.v[i].path, &all.v[i].old, &all.v[i].new);
	if (ga_classify(c->e->repo, &o->facts, &c->base_tree, &tree, &some, &flags, err))
		return -1;
	ga_report_add_flags(o->report, &flags, NULL);
	return 0;
}

static int fill_report(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_flags struct ga_flags inodes = GA_FLAGS_INIT;
	struct ga_report *r = o->report;

	ga_report_begin(r, c->s);
	r->tip = anything(c, o) ? o->rewrite.tip : (struct ga_oid){ { 0 } };
	r->held = o->rewrite.held;
	ga_report_add_flags(r, &o->rewrite.flags, &o->rewrite.held_paths);
	if (flag_left_out(c, o, err))
		return -1;
	flag_inodes(c, &c->upper.set_id, "setuid-caps-xattr", &inodes);
	flag_inodes(c, &c->upper.linked, "hardlink", &inodes);
	ga_report_add_flags(r, &inodes, NULL);
	ga_left_extend(&r->left, &c->upper.left);
	flag_left(c, o, r);
	if (c->s->incomplete)
		ga_strv_pushf(&r->notes, "session incomplete: %s", c->s->incomplete);
	ga_strv_extend(&r->notes, &c->s->remarks);
	ga_strv_extend(&r->notes, &c->notes);
	ga_strv_extend(&r->notes, &c->upper.notes);
	ga_strv_extend(&r->unkept, &c->unkept);
	r->unkept_more = c->unkept_more;
	note_paths(&r->notes, "newly ignored", &c->upper.newly_ignored);
	note_in_the_way(c, o, &r->notes);
	note_paths(&r->notes, "too much to look for your uncommitted work in what is on the branch",
		   &o->rewrite.unsure);
	note_paths(&r->notes, "too much to take your uncommitted work out of in each commit: only "
		   "the last one has all that was done to", &o->rewrite.summed);
	report_limits(c, r);
	ga_strv_extend(&r->left_out, &o->rewrite.left_out);
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
	if (!rc) {
		keep_verdicts(o->report, &former, c->s->resumed != 0);
		o->former_tip = former.tip;
	}
	/* its objects are three files to wait for */
	if (have && ga_report_says_nothing(o->report))
		return 0;
	return ga_report_write(c->e->repo, o->report, o->committer, have ? NULL : &parent,
			       &o->report_id, err);
}

/* ---- refs -------------------------------------------------------------- */

/* What is done to the refs. */
struct plan {
	struct ga_ref_updates u;
	struct ga_strv stand; /* these have their value already, but may not be on the disk yet */
};

static void plan_release(struct plan *p)
{
	ga_ref_updates_release(&p->u);
	ga_strv_release(&p->stand);
}

/* A session that did nothing has its base and no more, which nobody need wait for. */
static bool has_result(const struct capture *c, const struct plan *p)
{
	cleanup_free char *base = ga_session_ref(c->s, "base");
	bool has = false;

	for (size_t i = 0; i < p->u.n; i++)
		has |= !ga_oid_is_zero(&p->u.v[i].new);
	for (size_t i = 0; i < p->stand.n; i++)
		has |= strcmp(p->stand.v[i], base) != 0;
	return has;
}

/* Bring `name` from what it is now to `new` (zero: gone). */
static int update_to(struct capture *c, struct plan *p, const char *name,
		     const struct ga_oid *new, struct ga_error *err)
{
	static const struct ga_oid zero;
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, name, &old, err);

	if (rc < 0)
		return -1;
	if (rc)
		old = zero;
	if (!ga_oid_equal(&old, new))
		ga_ref_updates_add(&p->u, name, &old, ga_oid_is_zero(new) ? NULL : new);
	else if (!ga_oid_is_zero(new))
		ga_strv_push(&p->stand, name);
	return 0;
}

static int hint_rename(const struct capture *c, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(ga_repo_info(c->e->repo)->workdir);

	/* of a submodule the user is told while standing in the superproject */
	return ga_hint(err, "rename it: git%s%s branch -m agent/%s NEW-NAME",
		       c->s->within ? " -C " : "", c->s->within ? word : "", c->s->name);
}

/* The branch is the session's as long as it stands where the session put it. */
static int update_branch(struct capture *c, const struct outcome *o, struct plan *p,
			 struct ga_error *err)
{
	static const struct ga_oid none;
	const struct ga_oid *new = anything(c, o) ? &o->rewrite.tip : &none;
	const struct ga_oid *known[] = { &c->under, &c->s->onto, &c->s->base, &c->s->tip,
					 &o->former_tip, new };
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, c->s->branch, &old, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; !rc && i <= GA_NELEMS(known); i++) {
		if (i == GA_NELEMS(known)) {
			(void)ga_fail(err, GA_EFATAL, "branch '%s' was moved while the session ran",
				      c->s->branch);
			return hint_rename(c, err);
		}
		if (ga_oid_equal(known[i], &old))
			break;
	}
	return update_to(c, p, c->s->branch, new, err);
}

/* Is `oid` the agent's own of an earlier run, or of a capture that read more of this one, and
 * reached by nothing that is published? */
static int is_only_here(struct capture *c, const struct outcome *o, const struct ga_oid *oid,
			struct ga_error *err)
{
	const struct ga_oid *tip = anything(c, o) ? &o->rewrite.tip : &c->under;
	int rc;

	if ((!c->s->resumed && !c->unread) || ga_oid_is_zero(oid))
		return 0;
	rc = ga_is_ancestor(c->e->repo, oid, tip, err);
	return rc < 0 ? -1 : !rc;
}

static bool is_planned(const struct plan *p, const char *ref)
{
	for (size_t i = 0; i < p->u.n; i++)
		if (!strcmp(p->u.v[i].name, ref))
			return true;
	return false;
}

/* What is on `name` by now gives way to `new`, which need not stand on it: it stays on a ref of its
 * own. */
static int keep_earlier(struct capture *c, const struct outcome *o, struct plan *p,
			const char *name, const struct ga_oid *new, struct ga_error *err)
{
	cleanup_free char *kind = NULL, *ref = NULL;
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, name, &old, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = ga_oid_equal(&old, new) ? 0 : is_only_here(c, o, &old, err);
	if (rc > 0 && !ga_oid_is_zero(new)) {
		rc = ga_is_ancestor(c->e->repo, &old, new, err);
		rc = rc < 0 ? -1 : !rc;
	}
	if (rc <= 0)
		return rc;
	kind = ga_strf("earlier/%s", GA_HEX(&old));
	ref = ga_session_ref(c->s, kind);
	/* several may have stood on it, and once is enough */
	return is_planned(p, ref) ? 0 : update_to(c, p, ref, &old, err);
}

static bool is_head(const struct capture *c, const char *name)
{
	for (size_t i = 0; i < c->heads.n; i++)
		if (!strcmp(c->heads.v[i].name, name))
			return true;
	return false;
}

/* The session's own branch, as it is called among them. */
static const char *own_branch(const struct capture *c)
{
	return c->s->branch + strlen("refs/");
}

/* What an operation that was not finished stands on: a resume ends that, not the agent, and the
 * other working trees as well, which were in a /tmp that is gone. */
static bool is_of_an_operation(const char *name)
{
	const char *other = name + strlen(GA_OTHERS);

	return !strncmp(name, GA_OTHERS, strlen(GA_OTHERS)) &&
	       (!strchr(other, '/') || !strncmp(other, "worktrees/", 10));
}

/* It stands where a new one is a directory, or the reverse: no transaction of git's does both, so
 * it goes before. `keep`: not without a ref of its own, if nothing else has it. */
static int give_way(struct capture *c, const struct outcome *o, const struct ga_ref *had,
		    bool keep, struct ga_error *err)
{
	cleanup_(plan_release) struct plan first = { GA_REF_UPDATES_INIT, GA_STRV_INIT };
	cleanup_free char *reason = ga_strf("agent: capture %s", c->s->name);
	static const struct ga_oid none;

	if (keep && keep_earlier(c, o, &first, had->name, &none, err))
		return -1;
	ga_ref_updates_add(&first.u, had->name, &had->oid, NULL);
	return ga_refs_update(c->e->repo, &first.u, reason, err);
}

/* What a former capture kept and the agent has no more. `clashing`: what is in the way of others,
 * and nothing else. */
static int remove_heads(struct capture *c, const struct outcome *o, struct plan *p,
			const char *kind, bool clashing, struct ga_error *err)
{
	cleanup_free char *prefix = ga_session_ref(c->s, kind);
	cleanup_refs struct ga_refs had = GA_REFS_INIT;

	if (ga_refs_list(c->e->repo, prefix, &had, err))
		return -1;
	for (size_t i = 0; i < had.n; i++) {
		const char *name = had.v[i].name + strlen(prefix) - strlen(kind);
		/* left behind by an agent that went on elsewhere, it was not removed by the agent:
		 * the resume put it on something else */
		bool left = !strcmp(name, own_branch(c)) || is_of_an_operation(name);
		int rc;

		if (is_head(c, name) || clashes_with_head(c, name) != clashing)
			continue;
		if (clashing) {
			if (give_way(c, o, &had.v[i], left || c->unread, err))
				return -1;
			continue;
		}
		/* what could not be read is not gone */
		rc = c->unread ? 1 : left ? is_only_here(c, o, &had.v[i].oid, err) : 0;
		if (rc < 0)
			return -1;
		if (!rc)
			ga_ref_updates_add(&p->u, had.v[i].name, &had.v[i].oid, NULL);
	}
	return 0;
}

static int update_heads(struct capture *c, const struct outcome *o, struct plan *p,
			struct ga_error *err)
{
	/* first: what it keeps is then there for the others too */
	if (remove_heads(c, o, p, GA_HEADS, true, err) ||
	    remove_heads(c, o, p, GA_OTHERS, true, err))
		return -1;
	for (size_t i = 0; i < c->heads.n; i++) {
		const struct ga_ref *head = &c->heads.v[i];
		cleanup_free char *name = ga_session_ref(c->s, head->name);

		/* which of two of this name it was then, nobody knows */
		bool keep = c->unread || !strcmp(head->name, own_branch(c)) ||
			    is_of_an_operation(head->name);

		if ((keep && keep_earlier(c, o, p, name, &head->oid, err)) ||
		    update_to(c, p, name, &head->oid, err))
			return -1;
	}
	return remove_heads(c, o, p, GA_HEADS, false, err) ||
	       remove_heads(c, o, p, GA_OTHERS, false, err) ? -1 : 0;
}

static int make_plan(struct capture *c, const struct outcome *o, struct plan *p,
		     struct ga_error *err)
{
	/* history the agent itself turned its back on is kept whole instead */
	bool strayed = !ga_oid_is_zero(&c->head) && !c->related;
	const struct {
		const char *what;
		const struct ga_oid *oid;
	} refs[] = {
		{ "base", &c->s->base },
		{ "held", &o->rewrite.held },
		{ "carried", &o->rewrite.carried },
		{ "orig", strayed ? &c->head : &o->rewrite.orig },
		{ "stash", &c->stash },
		{ "report", &o->report_id },
	};

	if (update_branch(c, o, p, err) || update_heads(c, o, p, err))
		return -1;
	for (size_t i = 0; i < GA_NELEMS(refs); i++) {
		cleanup_free char *name = ga_session_ref(c->s, refs[i].what);
		/* what could not be read is not gone, nor are the commits of an earlier run, for
		 * which nothing was held this time */
		bool orig = !strcmp(refs[i].what, "orig");
		bool keep = (c->unread && (orig || refs[i].oid == &c->stash)) ||
			    (c->s->resumed && orig);

		if (keep && ga_oid_is_zero(refs[i].oid))
			continue;
		if (keep && keep_earlier(c, o, p, name, refs[i].oid, err))
			return -1;
		if (update_to(c, p, name, refs[i].oid, err))
			return -1;
	}
	return 0;
}

static void fill_session(struct capture *c, const struct outcome *o)
{
	struct ga_session *s = c->s;

	s->state = GA_STATE_CAPTURED;
	s->tip = o->report->tip;
	s->held = o->rewrite.held;
	s->view = c->upper.tree;
	s->full = o->rewrite.full;
	ga_strv_release(&s->notes);
	ga_strv_extend(&s->notes, &o->report->notes);
	ga_strv_release(&s->left_out);
	ga_strv_extend(&s->left_out, &o->rewrite.left_out);
}

int need_facts(struct capture *c, struct outcome *o, struct ga_error *err)
{
	if (o->have_facts)
		return 0;
	if (ga_host_facts_gather(c->e->repo, c->e->config, c->e->risk, &o->facts, err))
		return -1;
	o->facts.attributes_tree = c->from_tree;
	o->facts.attributes_dir = ga_strdup(c->s->project);
	o->have_facts = true;
	return 0;
}

void sync_early(struct capture *c, struct outcome *o)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT, paths = GA_STRV_INIT;
	cleanup_free char *base = ga_session_ref(c->s, "base");

	if (o->early.n)
		return;
	ga_ref_paths(c->e->repo, base, &all);
	ga_ref_paths(c->e->repo, c->s->branch, &all);
	/* what `git pack-refs` took away is new when it comes again */
	for (size_t i = 0; i < all.n; i++)
		if (!access(all.v[i], F_OK))
			ga_strv_push(&o->early, all.v[i]);
	ga_strv_sort_unique(&o->early);
	ga_strv_extend(&paths, &o->early);
	/* nobody waits for it */
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

/* Objects first, then what points to them. */
static int update_refs(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_(plan_release) struct plan p = { GA_REF_UPDATES_INIT, GA_STRV_INIT };

	if (ga_batch_commit(c->e->repo, &c->keeps, err) || make_plan(c, o, &p, err) ||
	    ga_fault_stop("capture:before-refs", err))
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
