/* SPDX-License-Identifier: MIT
 *
 * Publish a capture: holds, objects, refs, state. A .keep file stops a concurrent `git repack -ad`
 * from dropping objects that no ref reaches yet; one that outlives its capture would exclude the
 * pack from every later repack.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/repo/history.h"
#include "capture-internal.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/import.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/sys/sync.h"

/* The changes to refs. */
struct plan {
	struct ga_ref_updates u;
	struct ga_strv stand; /* refs that have their value already, but maybe not on the disk
			       * yet */
};
#define PLAN_INIT \
	{ \
		GA_REF_UPDATES_INIT, GA_STRV_INIT \
	}

/* ---- what must be held whatever the rules say -------------------------- */

/* All commits count, not only the last: a rebase checks each of them out. */
int gather_holds(struct capture *c, struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	struct ga_oid tree;
	size_t n;

	if (list_history(c, &c->out.history, 1, &c->base.branch, 1, &commits, &n, err) ||
	    ga_commit_tree(c->e->repo, &c->base.branch, &tree, err))
		return -1;
	if (find_in_the_way(c, commits, n, &tree, &c->out.hold_always, err) ||
	    hold_links(c, commits, n, &c->out.hold_always, err))
		return -1;
	ga_strv_extend(&c->out.hold_always, &c->convert.unfiltered);
	ga_strv_sort_unique(&c->out.hold_always);
	return 0;
}

static void fill_session(struct capture *c)
{
	struct ga_session *s = c->s;

	s->state = GA_STATE_CAPTURED;
	ga_report_copy_result(c->out.report, s);
	s->view.tree = c->upper.tree;
	s->view.full = c->out.rewrite.full;
	ga_strv_release(&s->view.renamed);
	ga_strv_extend(&s->view.renamed, &c->out.renamed);
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
		if (h->v[i].what == GA_REACH_PROJECT)
			ga_strv_pushf(&c->notes,
				      "your %s hook runs %s, and so what the agent wrote, %s",
				      h->v[i].text, h->v[i].why, when[h->v[i].when]);
	}
}

int need_facts(struct capture *c, struct ga_error *err)
{
	if (c->out.have_facts)
		return 0;
	if (ga_host_facts_gather(c->e->repo, c->e->config, c->e->risk, &c->out.facts, err))
		return -1;
	c->out.facts.attributes_tree = c->base.agent_tree;
	c->out.facts.attributes_dir = ga_strdup(c->s->id.project);
	c->out.have_facts = true;
	note_hooks(c, &c->out.facts.reach);
	return 0;
}

void sync_early(struct capture *c)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT, paths = GA_STRV_INIT;
	cleanup_free char *base = ga_session_ref(c->s, "base");

	if (c->out.early.n)
		return;
	ga_ref_paths(c->e->repo, base, &all);
	ga_ref_paths(c->e->repo, c->s->id.branch, &all);
	/* a file that `git pack-refs` removed is new if it is written again */
	for (size_t i = 0; i < all.n; i++)
		if (!access(all.v[i], F_OK))
			ga_strv_push(&c->out.early, all.v[i]);
	ga_strv_sort_unique(&c->out.early);
	ga_strv_extend(&paths, &c->out.early);
	/* nobody is waiting for this sync */
	c->out.syncing_early = ga_sync_begin(&paths, 1);
}

int end_sync_early(struct capture *c, struct ga_error *err)
{
	return ga_sync_end(ga_steal(&c->out.syncing_early), err);
}

int need_refs(struct capture *c, struct ga_error *err)
{
	cleanup_free char *reason = ga_strf("agent: capture %s", c->s->name);

	return c->out.refs ? 0 : ga_refs_begin(c->e->repo, reason, c->e->lock, &c->out.refs, err);
}

/* A merge of the user's branch alone is no change. */
bool has_changes(const struct capture *c)
{
	const struct ga_oid *tip = &c->out.rewrite.tip;

	return !ga_oid_is_zero(tip) && !ga_oid_equal(tip, &c->s->id.onto) &&
	       (!ga_oid_is_zero(&c->s->result.tip) || !ga_oid_equal(tip, &c->s->view.updated));
}

static void plan_release(struct plan *p)
{
	ga_ref_updates_release(&p->u);
	ga_strv_release(&p->stand);
}

/* Does the session have a result? A mere base need not be synced. */
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

/* Plan to change `name` from its current value to `new` (zero: remove it). */
static int update_to(struct capture *c, struct plan *p, const char *name, const struct ga_oid *new,
		     struct ga_error *err)
{
	int rc = ga_ref_updates_set(c->e->repo, &p->u, name, new, err);

	if (rc > 0 && !ga_oid_is_zero(new))
		ga_strv_push(&p->stand, name);
	return rc < 0 ? -1 : 0;
}

static int hint_rename(const struct capture *c, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(ga_repo_info(c->e->repo)->workdir);

	/* for a submodule this is shown in the superproject */
	return ga_hint(err, "rename it: git%s%s branch -m agent/%s NEW-NAME",
		       c->s->id.within ? " -C " : "", c->s->id.within ? word : "", c->s->name);
}

/* The branch belongs to the session as long as it has a value that the session gave it. */
static int update_branch(struct capture *c, struct plan *p, struct ga_error *err)
{
	const struct ga_oid *new = has_changes(c) ? &c->out.rewrite.tip : &ga_oid_none;
	const struct ga_oid *known[] = { &c->base.branch, &c->s->id.onto, &c->s->result.tip, new };
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, c->s->id.branch, &old, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; !rc && i <= GA_NELEMS(known); i++) {
		if (i == GA_NELEMS(known)) {
			(void)ga_fail(err, GA_EFATAL, "branch '%s' was moved while the session ran",
				      c->s->id.branch);
			return hint_rename(c, err);
		}
		if (ga_oid_equal(known[i], &old))
			break;
	}
	return update_to(c, p, c->s->id.branch, new, err);
}

/* Is `oid` the agent's work from an earlier run, or from a capture that could read more of this
 * run, that nothing published reaches? */
static int is_only_here(struct capture *c, const struct ga_oid *oid, struct ga_error *err)
{
	const struct ga_oid *tip = has_changes(c) ? &c->out.rewrite.tip : &c->base.branch;
	int rc;

	if ((!c->s->run.resumed && !c->git.unread) || ga_oid_is_zero(oid))
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

/* If `new` replaces a value of `name` that it is not based on, and that nothing else has, keep the
 * old value on a ref of its own. */
static int keep_earlier(struct capture *c, struct plan *p, const char *name,
			const struct ga_oid *new, struct ga_error *err)
{
	cleanup_free char *kind = NULL, *ref = NULL;
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, name, &old, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = ga_oid_equal(&old, new) ? 0 : is_only_here(c, &old, err);
	if (rc > 0 && !ga_oid_is_zero(new)) {
		rc = ga_is_ancestor(c->e->repo, &old, new, err);
		rc = rc < 0 ? -1 : !rc;
	}
	if (rc <= 0)
		return rc;
	kind = ga_strf("earlier/%s", GA_HEX(&old));
	ref = ga_session_ref(c->s, kind);
	/* several refs may have had it, and one is enough */
	return is_planned(p, ref) ? 0 : update_to(c, p, ref, &old, err);
}

static bool is_head(const struct capture *c, const char *name)
{
	for (size_t i = 0; i < c->git.heads.n; i++)
		if (!strcmp(c->git.heads.v[i].name, name))
			return true;
	return false;
}

/* The name that the session's own branch has among the heads. */
static const char *own_branch(const struct capture *c)
{
	return c->s->id.branch + strlen("refs/");
}

/* Is it a commit of an unfinished operation, or of another working tree? A resume ends these, not
 * the agent: the other working trees were in a /tmp that no longer exists. */
static bool is_of_an_operation(const char *name)
{
	const char *other = name + strlen(GA_OTHERS);

	return !strncmp(name, GA_OTHERS, strlen(GA_OTHERS)) &&
	       (!strchr(other, '/') || !strncmp(other, "worktrees/", 10));
}

/* A new ref is to be a directory where `had` is a ref, or the reverse. No ref transaction of git's
 * does both, so `had` is removed first. `keep`: if nothing else has its value, that is kept on a
 * ref of its own. */
static int remove_clashing_ref(struct capture *c, const struct ga_ref *had, bool keep,
			       struct ga_error *err)
{
	cleanup_(plan_release) struct plan first = PLAN_INIT;
	cleanup_free char *reason = ga_strf("agent: capture %s", c->s->name);

	if (keep && keep_earlier(c, &first, had->name, &ga_oid_none, err))
		return -1;
	ga_ref_updates_add(&first.u, had->name, &had->oid, NULL);
	return ga_refs_update(c->e->repo, &first.u, reason, err);
}

/* Is the ref that was kept still a branch of the agent with the same value, though that has been
 * published since? */
static bool is_same_branch(const struct capture *c, const char *name, const struct ga_oid *oid)
{
	cleanup_free char *full = ga_strf("refs/%s", name);
	const struct ga_ref *is = ga_refs_find(&c->git.standing, full);

	return is && ga_oid_equal(&is->oid, oid);
}

/* Remove refs of an earlier capture that the agent no longer has. `clashing`: only those whose
 * names clash with new ones. */
static int remove_heads(struct capture *c, struct plan *p, const char *kind, bool clashing,
			struct ga_error *err)
{
	cleanup_free char *prefix = ga_session_ref(c->s, kind);
	cleanup_refs struct ga_refs had = GA_REFS_INIT;

	if (ga_refs_list(c->e->repo, prefix, &had, err))
		return -1;
	for (size_t i = 0; i < had.n; i++) {
		const char *name = had.v[i].name + strlen(prefix) - strlen(kind);
		/* these were not removed by the agent: the resume moved the one, and ended the
		 * other */
		bool left = !strcmp(name, own_branch(c)) || is_of_an_operation(name);
		int rc;

		if (is_head(c, name) || clashes_with_head(c, name) != clashing)
			continue;
		if (clashing) {
			if (remove_clashing_ref(c, &had.v[i], left || c->git.unread, err))
				return -1;
			continue;
		}
		/* what could not be read may still be there */
		if (c->git.unread || is_same_branch(c, name, &had.v[i].oid))
			continue;
		rc = left ? is_only_here(c, &had.v[i].oid, err) : 0;
		if (rc < 0)
			return -1;
		if (!rc)
			ga_ref_updates_add(&p->u, had.v[i].name, &had.v[i].oid, NULL);
	}
	return 0;
}

static int update_heads(struct capture *c, struct plan *p, struct ga_error *err)
{
	/* first, so that what this keeps is known to the steps after it */
	if (remove_heads(c, p, GA_HEADS, true, err) || remove_heads(c, p, GA_OTHERS, true, err))
		return -1;
	for (size_t i = 0; i < c->git.heads.n; i++) {
		const struct ga_ref *head = &c->git.heads.v[i];
		cleanup_free char *name = ga_session_ref(c->s, head->name);

		/* two refs of this name, of different runs, may be different things */
		bool keep = c->git.unread || !strcmp(head->name, own_branch(c)) ||
			    is_of_an_operation(head->name);

		if ((keep && keep_earlier(c, p, name, &head->oid, err)) ||
		    update_to(c, p, name, &head->oid, err))
			return -1;
	}
	return remove_heads(c, p, GA_HEADS, false, err) || remove_heads(c, p, GA_OTHERS, false, err)
		       ? -1
		       : 0;
}

/* Refs whose names clash with new ones are removed when this returns. */
static int make_plan(struct capture *c, struct plan *p, struct ga_error *err)
{
	/* history that the agent abandoned is kept as a whole */
	bool strayed = !ga_oid_is_zero(&c->git.head) && !c->git.related && !c->git.older;
	const struct {
		const char *what;
		const struct ga_oid *oid;
	} refs[] = {
		{ "base", &c->s->id.onto },
		{ "held", &c->out.rewrite.held },
		{ "orig", strayed ? &c->git.head : &c->out.rewrite.orig },
		{ "stash", &c->git.stash },
		{ "report", &c->out.report_id },
	};

	if (update_branch(c, p, err) || update_heads(c, p, err))
		return -1;
	for (size_t i = 0; i < GA_NELEMS(refs); i++) {
		cleanup_free char *name = ga_session_ref(c->s, refs[i].what);
		/* what could not be read may still be there; and the commits of an earlier run
		 * stay, although nothing was held this time */
		bool orig = !strcmp(refs[i].what, "orig");
		bool keep = (c->git.unread && (orig || refs[i].oid == &c->git.stash)) ||
			    (c->s->run.resumed && orig);

		if (keep && ga_oid_is_zero(refs[i].oid))
			continue;
		if (keep && keep_earlier(c, p, name, refs[i].oid, err))
			return -1;
		if (update_to(c, p, name, refs[i].oid, err))
			return -1;
	}
	return 0;
}

int ga_capture_lock_keeps(const struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *path =
		ga_path_join(ga_repo_info(r)->commondir, "git-agent/capture.lock");
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0)
		return ga_fail_path(err, errno, "open", path);
	if (ga_flock(fd, false, true, err))
		return -1;
	return ga_steal_fd(&fd);
}

/* Remove the .keep files: the packs are reachable now, or not needed, and git may repack them. */
static void drop_keeps(struct capture *c)
{
	for (size_t i = 0; i < c->keeps.n; i++)
		(void)unlink(c->keeps.v[i]);
	ga_strv_release(&c->keeps);
}

void sweep_keeps(struct capture *c, int lock)
{
	cleanup_error struct ga_error busy = GA_ERROR_INIT;

	/* not earlier: a capture that is done again after it was cut short does not rewrite what
	 * it finds in such packs, and until its refs exist only these files protect that */
	if (!ga_flock(lock, true, false, &busy))
		ga_keeps_sweep(c->e->repo);
}

/* Copy the objects of the new refs from the session's object directory, if it has one. */
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
static int update_refs(struct capture *c, struct ga_error *err)
{
	cleanup_(plan_release) struct plan p = PLAN_INIT;

	if (ga_batch_commit(c->e->repo, &c->keeps, err) || make_plan(c, &p, err) ||
	    publish_objects(c, &p, err) || ga_fault_stop("capture:before-refs", err))
		return -1;
	if (ga_refs_need_git(&p.u) && need_refs(c, err))
		return -1;
	if (!has_result(c, &p))
		ga_strv_release(&p.stand);
	return ga_refs_end(c->e->repo, ga_steal(&c->out.refs), &p.u, &p.stand, &c->out.early,
			   &c->out.syncing, err);
}

int publish(struct capture *c, struct ga_error *err)
{
	if (update_refs(c, err) || ga_fault_stop("capture:after-refs", err))
		return -1;
	drop_keeps(c);
	if (ga_worktree_entry_remove(c->e->repo, c->s, err))
		return -1;
	fill_session(c);
	if (ga_fault_stop("capture:before-state", err) || end_sync_early(c, err))
		return -1;
	return ga_session_save_after(c->s, &c->out.syncing, err);
}
