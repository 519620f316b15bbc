/* SPDX-License-Identifier: MIT
 *
 * Where a session goes on: on its branch as the host has it now. Its layers show what was captured
 * of them last; what the user did to the branch since is brought to them, path by path: commits on
 * top, what was rejected, another history altogether.
 */
#include <string.h>
#include <time.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/worktree.h"
#include "resume.h"

#define MESSAGE "uncommitted work at the start of a session\n"

void start_point_release(struct start_point *p)
{
	ga_changes_release(&p->bring);
	ga_changes_release(&p->again);
	ga_changes_release(&p->doubt);
}

/* ---- the branch ------------------------------------------------------------------ */

static int branch_gone(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "the branch 'agent/%s' is gone", s->name);
	return ga_hint(err, "'git branch agent/%s %s' brings it back", s->name, GA_HEX(&s->tip));
}

static int find_branch(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret,
		       struct ga_error *err)
{
	cleanup_error struct ga_error missing = GA_ERROR_INIT;
	int rc = ga_ref_read(e->repo, s->branch, ret, err);
	struct ga_oid tree;

	if (rc <= 0)
		return rc;
	*ret = ga_oid_is_zero(&s->tip) ? s->onto : s->tip;
	if (ga_oid_is_zero(&s->tip))
		return 0;
	/* a branch that has landed is there to be deleted */
	return s->state != GA_STATE_LANDED || ga_commit_tree(e->repo, ret, &tree, &missing)
		       ? branch_gone(s, err) : 0;
}

/* A directory at the path of a file is nothing that a file is merged with. */
static int entry_at(struct ga_start_env *e, const struct ga_oid *tree, const char *path,
		    struct ga_entry *ret, struct ga_error *err)
{
	if (ga_tree_entry(e->repo, tree, path, ret, err))
		return -1;
	if (ret->mode == GA_MODE_TREE)
		*ret = (struct ga_entry){ 0 };
	return 0;
}

/* Where one has a file and the other a directory, what is done would remove what nobody asked for.
 * 1: it does, `*ret_path`. */
static int check_collision(struct ga_start_env *e, const struct ga_changes *done,
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

/* Do to `tree` what was done between two others (sorted). `bring` gets what that changes,
 * `ret_tree` is what comes of it; 1: `*ret_path` (the caller's) was changed on both sides. */
static int replay(struct ga_start_env *e, const struct ga_changes *done, const struct ga_oid *tree,
		  struct ga_changes *bring, struct ga_oid *ret_tree, char **ret_path,
		  struct ga_error *err)
{
	for (size_t i = 0; i < done->n; i++) {
		const struct ga_change *c = &done->v[i];
		struct ga_entry is, want;
		int rc;

		if (entry_at(e, tree, c->path, &is, err))
			return -1;
		rc = ga_merge_entry(e->repo, &c->old, &is, &c->new, &want, err);
		if (rc > 0)
			*ret_path = ga_strdup(c->path);
		if (rc)
			return rc;
		if (!ga_entry_equal(&is, &want))
			(void)ga_changes_add(bring, c->path, &is, &want);
	}
	ga_changes_sort(bring);
	return ga_tree_apply(e->repo, NULL, tree, bring, ret_tree, err)
		       ? -1 : check_collision(e, done, tree, ret_tree, ret_path, err);
}

/* What the agent changed in work of the user's that was not committed stands in the layers alone.
 * Once the branch has that very work, committed and with nothing of the agent's, they are what
 * they are to be. */
static int drop_committed(struct ga_start_env *e, const struct ga_session *s,
			  const struct ga_changes *done, struct ga_changes *ret,
			  struct ga_error *err)
{
	struct ga_oid onto, base;

	if (ga_commit_tree(e->repo, &s->onto, &onto, err) ||
	    ga_commit_tree(e->repo, &s->base, &base, err))
		return -1;
	for (size_t i = 0; i < done->n; i++) {
		const struct ga_change *c = &done->v[i];
		struct ga_entry was, is;

		if (entry_at(e, &onto, c->path, &was, err) ||
		    entry_at(e, &base, c->path, &is, err))
			return -1;
		if (!ga_entry_equal(&was, &c->old) || !ga_entry_equal(&is, &c->new))
			(void)ga_changes_add(ret, c->path, &c->old, &c->new);
	}
	return 0;
}

static int both_changed(const struct ga_session *s, const char *what, const char *path,
			const char *remedy, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);

	(void)ga_fail(err, GA_EFATAL, "%s '%s' was also changed on agent/%s", what, q, s->name);
	return ga_hint(err, "%s", remedy);
}

/* The branch with what is still held back. */
static int find_full(struct ga_start_env *e, const struct ga_session *s, struct start_point *p,
		     struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(s, "held");
	cleanup_changes struct ga_changes held = GA_CHANGES_INIT, bring = GA_CHANGES_INIT;
	cleanup_commit struct ga_commit c = { .parents = NULL };
	struct ga_oid oid, under, tip;
	cleanup_free char *path = NULL;
	int rc = ga_ref_read(e->repo, ref, &oid, err);

	if (rc < 0 || ga_commit_tree(e->repo, &p->under, &tip, err))
		return -1;
	p->full = tip;
	if (rc)
		return 0;
	if (ga_commit_read(e->repo, &oid, &c, err))
		return -1;
	if (!c.n_parents)
		return ga_fail(err, GA_EFATAL, "'%s' stands on nothing", ref);
	if (ga_commit_tree(e->repo, &c.parents[0], &under, err) ||
	    ga_tree_diff(e->repo, &under, &c.tree, &held, err))
		return -1;
	rc = replay(e, &held, &tip, &bring, &p->full, &path, err);
	if (rc > 0)
		return both_changed(s, "held-back", path, "reject it, or take that change off the "
				    "branch first", err);
	return rc;
}

/* What was begun is brought to its end, and all else done to that: what of the layers is the
 * agent's and what the host's is known of whole trees alone. */
static int find_start(struct ga_start_env *e, const struct ga_session *s, struct start_point *p,
		      struct ga_error *err)
{
	bool begun = !ga_oid_is_zero(&s->bring);

	p->was = begun ? s->bring : s->view;
	p->was_full = begun ? s->bring_full : s->full;
	return begun ? ga_tree_diff(e->repo, &s->view, &s->bring, &p->again, err) : 0;
}

/* What the layers are to show. */
static int find_view(struct ga_start_env *e, const struct ga_session *s, struct start_point *p,
		     struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, done = GA_CHANGES_INIT;
	cleanup_free char *remedy = NULL, *path = NULL;
	int rc;

	if (find_start(e, s, p, err) ||
	    ga_tree_diff(e->repo, &p->was_full, &p->full, &all, err)) {
		(void)ga_error_wrap(err, "what session '%s' came to last is not in the repository "
				    "any more", s->name);
		return start_anew_hint(s, err);
	}
	if (drop_committed(e, s, &all, &done, err))
		return -1;
	rc = replay(e, &done, &p->was, &p->bring, &p->view, &path, err);
	if (rc > 0) {
		remedy = ga_strf("take that change off the branch first; or 'git agent start "
				 "--base agent/%s COMMAND' begins a new session on it", s->name);
		return both_changed(s, "your uncommitted", path, remedy, err);
	}
	return rc;
}

/* ---- the user's uncommitted work on top of it -------------------------------------- */

/* What the branch has, done to the work it was made on. Where the two cannot be told apart it is
 * as the agent had it. */
static int carry(struct ga_start_env *e, const struct ga_session *s, const struct start_point *p,
		 struct ga_oid *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes done = GA_CHANGES_INIT, apply = GA_CHANGES_INIT;
	struct ga_oid onto, base, under;

	if (ga_commit_tree(e->repo, &s->onto, &onto, err) ||
	    ga_commit_tree(e->repo, &s->base, &base, err) ||
	    ga_commit_tree(e->repo, &p->under, &under, err) ||
	    ga_tree_diff(e->repo, &onto, &under, &done, err))
		return -1;
	for (size_t i = 0; i < done.n; i++) {
		const struct ga_change *c = &done.v[i];
		struct ga_entry is, want;
		int rc;

		if (entry_at(e, &base, c->path, &is, err))
			return -1;
		rc = ga_merge_entry(e->repo, &c->old, &is, &c->new, &want, err);
		if (rc < 0 || (rc && entry_at(e, &p->view, c->path, &want, err)))
			return -1;
		if (!ga_entry_equal(&is, &want))
			(void)ga_changes_add(&apply, c->path, &is, &want);
	}
	ga_changes_sort(&apply);
	return ga_tree_apply(e->repo, NULL, &base, &apply, ret, err);
}

/* A commit that keeps alive what the layers stand on, too. */
static int make_from(struct ga_start_env *e, const struct ga_session *s, struct start_point *p,
		     struct ga_error *err)
{
	struct ga_oid parents[] = { p->under, s->base };
	cleanup_free char *who = NULL;
	char message[] = MESSAGE, extra[] = "";
	struct ga_commit c = { .parents = parents, .n_parents = GA_NELEMS(parents),
			       .extra = extra, .message = message };

	if (carry(e, s, p, &c.tree, err) ||
	    ga_repo_signature(e->repo, &e->config, time(NULL), &who, err))
		return -1;
	c.author = c.committer = who;
	return ga_commit_write(e->repo, &c, &p->from, err);
}

int start_find_point(struct ga_start_env *e, const struct ga_session *s, struct start_point *ret,
		     struct ga_error *err)
{
	if (ga_worktree_check_free(e->repo, s, err) || find_branch(e, s, &ret->under, err) ||
	    find_full(e, s, ret, err) || find_view(e, s, ret, err) ||
	    start_find_former(e, s, &ret->former, err))
		return -1;
	ret->from = ret->under;
	if (ga_oid_equal(&s->base, &s->onto))
		return 0;
	ret->from = s->base;
	return ga_oid_equal(&ret->under, &s->onto) ? 0 : make_from(e, s, ret, err);
}
