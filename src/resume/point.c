/* SPDX-License-Identifier: MIT
 *
 * Find where a session continues: on its branch as the host has it now. Its layers show the last
 * capture; the user's later changes to the branch are applied to them, path by path: commits on
 * top, rejected paths, or a rewritten history.
 */
#include "ga/repo/history.h"
#include "resume-internal.h"

int resume_layers_lost(const struct ga_session *s, const char *path, struct ga_error *err)
{
	(void)ga_fail(err, GA_ESTART, "session '%s' lost some of its work when the machine went "
		      "down: '%s' is not as it was captured", s->name, path);
	return resume_anew_hint(s, err);
}

int resume_find_doubt(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		      struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv notes = GA_STRV_INIT;
	cleanup_free char *boot = ga_boot_id();
	struct ga_oid shown;

	/* without a reboot nothing is lost, whatever is killed */
	if (*boot && s->view.boot && !strcmp(boot, s->view.boot))
		return 0;
	if (ga_start_peek(e, s, &shown, &notes, err) ||
	    ga_tree_diff(e->repo, &s->view.tree, &shown, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_change *c = &all.v[i];

		/* an interrupted resume was writing this, and it is rewritten */
		if (ga_changes_find(&p->again, c->path))
			continue;
		/* a removed file reappeared */
		if (c->old.mode == GA_MODE_NONE)
			return resume_layers_lost(s, c->path, err);
		(void)ga_changes_add(&p->doubt, c->path, &c->new, &c->old);
	}
	return 0;
}

#define MESSAGE "uncommitted work at the start of a session\n"

int resume_anew_hint(const struct ga_session *s, struct ga_error *err)
{
	return ga_hint(err, "'git agent start --base agent/%s COMMAND' begins a new session on its "
			    "branch", s->name);
}

void resume_point_release(struct resume_point *p)
{
	ga_changes_release(&p->apply);
	ga_changes_release(&p->again);
	ga_changes_release(&p->doubt);
}

static int find_branch(struct ga_env *e, const struct ga_session *s, struct ga_oid *ret,
		       struct ga_error *err)
{
	int rc = ga_ref_read(e->repo, s->id.branch, ret, err);
	struct ga_oid tree;

	if (rc <= 0)
		return rc;
	*ret = ga_oid_is_zero(&s->result.tip) ? *ga_session_own_base(s) : s->result.tip;
	if (ga_oid_is_zero(&s->result.tip))
		return 0;
	/* a landed branch may be deleted */
	if (s->state == GA_STATE_LANDED && !ga_commit_tree(e->repo, ret, &tree, GA_IGNORED))
		return 0;
	return ga_fail(err, GA_EFATAL, "the branch 'agent/%s' is gone" GA_HINT "'git branch "
		       "agent/%s %s' restores it", s->name, s->name, GA_HEX(&s->result.tip));
}

/* Do `tree` and `with` differ in any path but those in `done`? A file replaced by a directory, or
 * vice versa, would remove other paths. 1: `*ret_path` is one. */
static int check_collision(struct ga_env *e, const struct ga_changes *done,
			   const struct ga_oid *tree, const struct ga_oid *with, char **ret_path,
			   struct ga_error *err)
{
	cleanup_changes struct ga_changes touched = GA_CHANGES_INIT;

	if (ga_tree_diff(e->repo, tree, with, &touched, err))
		return -1;
	for (size_t i = 0; i < touched.n; i++)
		if (!ga_changes_find(done, touched.v[i].path)) {
			*ret_path = ga_strdup(touched.v[i].path);
			return 1;
		}
	return 0;
}

/* Apply the changes `done` (sorted) to `tree`: `apply` gets the differences, `*ret_tree` is the
 * result. 1: `*ret_path` (caller frees) was changed on both sides. */
static int replay(struct ga_env *e, const struct ga_changes *done, const struct ga_oid *tree,
		  struct ga_changes *apply, struct ga_oid *ret_tree, char **ret_path,
		  struct ga_error *err)
{
	for (size_t i = 0; i < done->n; i++) {
		const struct ga_change *c = &done->v[i];
		struct ga_entry is, want;
		int rc;

		/* a file cannot be merged with a directory */
		if (ga_tree_file(e->repo, tree, c->path, &is, err))
			return -1;
		rc = ga_merge_entry(e->repo, &c->old, &is, &c->new, &want, err);
		if (rc > 0)
			*ret_path = ga_strdup(c->path);
		if (rc)
			return rc;
		if (!ga_entry_equal(&is, &want))
			(void)ga_changes_add(apply, c->path, &is, &want);
	}
	ga_changes_sort(apply);
	return ga_tree_apply(e->repo, NULL, tree, apply, ret_tree, err)
		       ? -1 : check_collision(e, done, tree, ret_tree, ret_path, err);
}

static int both_changed(const struct ga_session *s, const char *what, const char *path,
			const char *remedy, struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "%s '%s' was also changed on agent/%s" GA_HINT "%s", what,
		       path, s->name, remedy);
}

/* Find p->full: the branch with the held changes. */
static int find_full(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		     struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(s, "held");
	cleanup_changes struct ga_changes held = GA_CHANGES_INIT, apply = GA_CHANGES_INIT;
	cleanup_commit struct ga_commit c = { .parents = NULL };
	struct ga_oid oid, tip;
	cleanup_free char *path = NULL;
	int rc = ga_ref_read(e->repo, ref, &oid, err);

	if (rc < 0 || ga_commit_tree(e->repo, &p->branch_base, &tip, err))
		return -1;
	p->full = tip;
	if (rc)
		return 0;
	if (ga_commit_read(e->repo, &oid, &c, err))
		return -1;
	if (!c.n_parents)
		return ga_fail(err, GA_EFATAL, "'%s' is based on nothing", ref);
	if (ga_tree_diff(e->repo, &c.parents[0], &oid, &held, err))
		return -1;
	rc = replay(e, &held, &tip, &apply, &p->full, &path, err);
	if (rc > 0)
		return both_changed(s, "held-back", path, "reject it, or take that change off the "
				    "branch first", err);
	return rc;
}

/* Find what the layers show now. An interrupted resume is finished first (p->again), since its
 * half-done changes cannot be told from the agent's, and the rest is applied on top. */
static int find_start(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		      struct ga_error *err)
{
	bool begun = !ga_oid_is_zero(&s->view.target);

	p->was = begun ? s->view.target : s->view.tree;
	p->was_full = begun ? s->view.target_full : s->view.full;
	return begun ? ga_tree_diff(e->repo, &s->view.tree, &s->view.target, &p->again, err) : 0;
}

/* Find p->view, what the layers must show, and p->apply, the changes to apply. */
static int find_view(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		     struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, done = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv wip = GA_STRV_INIT;
	cleanup_free char *remedy = NULL, *path = NULL;
	int rc;

	if (find_start(e, s, p, err) || ga_tree_diff(e->repo, &p->was_full, &p->full, &all, err)) {
		(void)ga_error_wrap(err, "what session '%s' came to last is not in the repository "
				    "any more", s->name);
		return resume_anew_hint(s, err);
	}
	/* the agent's changes to paths without the user's uncommitted work are only in the layers,
	 * and are kept */
	if (ga_wip_paths(e->repo, s, &wip, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (!ga_wip_has(&wip, all.v[i].path))
			(void)ga_changes_add(&done, all.v[i].path, &all.v[i].old, &all.v[i].new);
	rc = replay(e, &done, &p->was, &p->apply, &p->view, &path, err);
	if (rc > 0) {
		remedy = ga_strf("take that change off the branch first; or 'git agent start "
				 "--base agent/%s COMMAND' begins a new session on it", s->name);
		return both_changed(s, "your uncommitted", path, remedy, err);
	}
	return rc;
}

/* Make the tree of the branch with the uncommitted work on top, for the layers to show. */
static int carry(struct ga_env *e, const struct ga_session *s, const struct resume_point *p,
		 struct ga_oid *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, some = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv wip = GA_STRV_INIT;
	struct ga_oid under;

	if (ga_wip_paths(e->repo, s, &wip, err) ||
	    ga_commit_tree(e->repo, &p->branch_base, &under, err) ||
	    ga_tree_diff(e->repo, &under, &p->view, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_wip_has(&wip, all.v[i].path))
			(void)ga_changes_add(&some, all.v[i].path, &all.v[i].old, &all.v[i].new);
	return ga_tree_apply(e->repo, NULL, &under, &some, ret, err);
}

/* Make the commit of uncommitted work, the new base of the agent's history. */
static int make_from(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		     struct ga_error *err)
{
	struct ga_oid parents[] = { p->branch_base };
	cleanup_free char *who = NULL;
	char message[] = MESSAGE, extra[] = "";
	struct ga_commit c = { .parents = parents, .n_parents = GA_NELEMS(parents),
			       .extra = extra, .message = message };

	if (carry(e, s, p, &c.tree, err) ||
	    ga_repo_signature(e->repo, &e->config, time(NULL), &who, err))
		return -1;
	c.author = c.committer = who;
	return ga_commit_write(e->repo, &c, &p->agent_base, err);
}

int resume_find_point(struct ga_env *e, const struct ga_session *s, struct resume_point *ret,
		      struct ga_error *err)
{
	cleanup_free char *report = ga_session_ref(s, "report");

	if (ga_worktree_check_free(e->repo, s, err) || find_branch(e, s, &ret->branch_base, err) ||
	    find_full(e, s, ret, err) || find_view(e, s, ret, err) ||
	    ga_ref_read(e->repo, report, &ret->base_report, err) < 0)
		return -1;
	ret->agent_base = ret->branch_base;
	return ga_oid_equal(&s->id.base, &s->id.onto) ? 0 : make_from(e, s, ret, err);
}
