/* SPDX-License-Identifier: MIT
 *
 * Compute what would land, in objects only.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "land-internal.h"

void proposal_release(struct proposal *p)
{
	free(p->branch);
	free(p->steps);
	ga_changes_release(&p->changes);
	ga_strv_release(&p->conflicts);
	*p = (struct proposal)PROPOSAL_INIT;
}

bool land_is_requested(const struct landing *l, const char *path)
{
	const struct ga_strv *wanted = l->opts->paths;

	for (size_t i = 0; wanted && i < wanted->n; i++)
		if (!*wanted->v[i] || ga_path_inside(path, wanted->v[i]))
			return true;
	return !wanted;
}

/* Is it a requested path, or in place of a directory of one? */
static bool is_requested_change(const struct landing *l, const struct ga_change *c)
{
	bool wanted = land_is_requested(l, c->path);

	for (size_t i = 0; !wanted && !c->new.mode && i < l->opts->paths->n; i++)
		wanted = ga_path_inside(l->opts->paths->v[i], c->path);
	return wanted;
}

/* Is the path, or anything beneath it, in the session, in HEAD, or in the session's base? */
static int is_known(const struct landing *l, const struct proposal *p, const char *path,
		    struct ga_error *err)
{
	const struct ga_oid *const commits[] = { &p->head, &p->tip, &l->s->result.held,
						 &l->s->id.onto };
	const struct ga_strv *left_out = &l->s->result.left_out;
	struct ga_entry e = { .mode = *path ? GA_MODE_NONE : GA_MODE_TREE };
	struct ga_oid tree;

	for (size_t i = 0; i < left_out->n; i++)
		if (ga_path_inside(left_out->v[i], path))
			return 1;
	for (size_t i = 0; i < GA_NELEMS(commits) && !e.mode; i++)
		if (!ga_oid_is_zero(commits[i]) && ga_object_exists(l->repo, commits[i]) &&
		    (ga_commit_tree(l->repo, commits[i], &tree, err) ||
		     ga_tree_entry(l->repo, &tree, path, &e, err)))
			return -1;
	return e.mode != 0;
}

static int check_paths(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	const struct ga_strv *paths = l->opts->paths;

	for (size_t i = 0; paths && i < paths->n; i++) {
		int rc = is_known(l, p, paths->v[i], err);

		if (rc <= 0)
			return rc ? -1 : ga_fail(err, GA_EFATAL, "pathspec '%s' did not match any "
						 "files of agent/%s", paths->v[i], l->s->name);
	}
	return 0;
}

static int keep_requested(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = p->changes;
	cleanup_strv struct ga_strv conflicts = p->conflicts;

	p->changes = (struct ga_changes)GA_CHANGES_INIT;
	p->conflicts = (struct ga_strv)GA_STRV_INIT;
	for (size_t i = 0; i < conflicts.n; i++)
		if (land_is_requested(l, conflicts.v[i]))
			ga_strv_push(&p->conflicts, conflicts.v[i]);
	if (p->conflicts.n) {
		cleanup_free char *list = ga_quote_list(&p->conflicts, GA_LISTED);

		return ga_fail(err, GA_ELOSE, "merging agent/%s conflicts in %s"
			       GA_HINT "'git agent land %s' leaves the conflict for you to resolve",
			       l->s->name, list, l->s->name);
	}
	p->part = conflicts.n;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_change *c = &all.v[i];

		if (is_requested_change(l, c))
			(void)ga_changes_add(&p->changes, c->path, &c->old, &c->new);
		else
			p->part = true;
	}
	return ga_tree_apply(l->repo, NULL, &p->old, &p->changes, &p->tree, err);
}

char *land_name_tip(const struct landing *l, const struct proposal *p)
{
	cleanup_free char *name = ga_strf("agent/%s", l->s->name);
	struct ga_oid oid;

	return !ga_repo_resolve(l->repo, name, &oid, GA_IGNORED) && ga_oid_equal(&oid, &p->tip)
		       ? ga_steal(&name)
		       : ga_strdup(GA_HEX(&p->tip));
}

/* Rebase the session's own commits onto HEAD. */
static int replay(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	const struct ga_oid *onto = &l->s->id.onto;
	bool base = !l->opts->with_base && ga_commit_exists(l->repo, onto, err) > 0;

	if (err->msg || ga_work_replay(l->repo, l->config, &p->tip, base ? onto : NULL, &p->head,
				       &p->steps, &p->n_steps, err))
		return err->code == GA_ELOSE ? ga_error_wrap(err, "agent/%s", l->s->name) : -1;
	p->commit = p->n_steps ? p->steps[p->n_steps - 1] : p->head;
	return ga_commit_tree(l->repo, &p->commit, &p->tree, err);
}

/* Fill tree, commit and conflicts. A merge of what HEAD has already gives HEAD's tree. */
static int make_result(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	enum ga_land_how how = l->opts->how;
	cleanup_free char *tip = NULL;
	int rc;

	if (ga_oid_is_zero(&p->head) && how != GA_LAND_FF_ONLY)
		return ga_fail(err, GA_ELOSE, "your branch has no commits yet"
			       GA_HINT "'git agent land --ff-only %s' starts it with the "
			       "session's commits", l->s->name);
	if (how == GA_LAND_REBASE)
		return replay(l, p, err);
	if (how == GA_LAND_FF_ONLY) {
		rc = ga_oid_is_zero(&p->head) ? 1
		     : ga_is_ancestor(l->repo, &p->head, &p->tip, err);
		p->commit = p->tip;
		if (rc)
			return rc < 0 ? -1 : ga_commit_tree(l->repo, &p->tip, &p->tree, err);
		return ga_fail(err, GA_ELOSE, "cannot fast-forward: your branch has commits that "
			       "agent/%s lacks"
			       GA_HINT "'git agent land --merge %s' or --rebase", l->s->name,
			       l->s->name);
	}
	if (ga_is_near_ancestor(l->repo, &p->head, &p->tip))
		return ga_commit_tree(l->repo, &p->tip, &p->tree, err);
	tip = land_name_tip(l, p);
	return ga_work_merge_trees(l->repo, "HEAD", tip, &p->tree, &p->conflicts, err);
}

static int read_head(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	if (ga_repo_head(l->repo, &p->head, &p->branch, err) < 0)
		return -1;
	if (p->branch && !strcmp(p->branch, l->s->id.branch))
		return ga_fail(err, GA_EFATAL, "you are on agent/%s itself"
			       GA_HINT "'git switch' to the branch that it is to land on",
			       l->s->name);
	return land_tree_of(l->repo, &p->head, &p->old, err);
}

int land_read_branch(struct ga_repo *r, const struct ga_session *s, struct ga_oid *ret,
		     struct ga_error *err)
{
	int rc = ga_ref_read(r, s->id.branch, ret, err);

	if (rc <= 0)
		return rc;
	if (ga_oid_is_zero(&s->result.tip) || s->state == GA_STATE_LANDED)
		return 0;
	return ga_fail(err, GA_EFATAL, "the branch 'agent/%s' is gone"
		       GA_HINT "'git branch agent/%s %s' restores it", s->name, s->name,
		       GA_HEX(&s->result.tip));
}

int land_check_moved(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		     bool rewritten, struct ga_error *err)
{
	int rc = ga_branch_lacks(r, s, branch, err);

	if (rc > 0 && rewritten)
		rc = ga_is_ancestor(r, branch, &s->result.tip, err);
	else if (rc > 0)
		rc = !ga_landed(r, s, err);
	if (rc <= 0)
		return rc;
	return ga_fail(err, GA_ELOSE, "branch 'agent/%s' was moved: it lacks commits of the session"
		       GA_HINT "'git branch -f agent/%s %s' restores it", s->name, s->name,
		       GA_HEX(&s->result.tip));
}

/* Name a branch, or tag, that has the commit; NULL if none has. */
static char *name_holder(const struct landing *l, const struct ga_oid *commit)
{
	const char *const args[] = { "name-rev", "--name-only", "--no-undefined",
				     "--refs=refs/heads/*", "--refs=refs/remotes/*",
				     "--refs=refs/tags/*", "--exclude=*agent/*", GA_HEX(commit),
				     NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const struct ga_git g = GA_GIT(.args = args, .out = &out);

	/* "main~3" */
	return ga_git_ok(l->repo, &g, GA_IGNORED) ? NULL
	       : ga_strndup(out.ptr, strcspn(out.ptr, "~^\n"));
}

/* Only the session's own commits land, which were reviewed: refuse if it is based on others that
 * the user's branch lacks. */
static int check_base(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	cleanup_free char *name = NULL;
	int rc;

	if (l->opts->with_base || l->opts->how == GA_LAND_REBASE || ga_oid_is_zero(&p->head) ||
	    ga_oid_is_zero(&l->s->id.onto))
		return 0;
	rc = ga_commit_exists(l->repo, &l->s->id.onto, err);
	if (rc > 0)
		rc = ga_is_ancestor(l->repo, &l->s->id.onto, &p->head, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	/* a branch that was rebased by hand may not have it any more */
	rc = ga_is_ancestor(l->repo, &l->s->id.onto, &p->tip, err);
	if (rc <= 0)
		return rc;
	name = name_holder(l, &l->s->id.onto);
	return ga_fail(err, GA_ELOSE, "agent/%s is based on commits that your branch lacks: %.10s "
		       "of %s%s%s"
		       GA_HINT "--with-base lands those, too; --rebase lands only the session's "
		       "own", l->s->name, GA_HEX(&l->s->id.onto), name ? "'" : "",
		       name ? name : "no branch", name ? "'" : "");
}

/* Does HEAD have the session's branch? Asked of git only where a fast-forward would be refused. */
static int is_merged(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	if (ga_oid_is_zero(&p->head))
		return 0;
	if (l->opts->how == GA_LAND_FF_ONLY)
		return ga_is_ancestor(l->repo, &p->tip, &p->head, err);
	return ga_is_near_ancestor(l->repo, &p->tip, &p->head);
}

int land_propose(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	int here;

	if (read_head(l, p, err) || land_read_branch(l->repo, l->s, &p->tip, err) ||
	    check_paths(l, p, err))
		return -1;
	p->how = l->opts->how;
	p->tree = p->old;
	if (ga_oid_is_zero(&p->tip))
		return 0;
	here = is_merged(l, p, err);
	if (here < 0 || (!here && (make_result(l, p, err) ||
				   ga_tree_diff(l->repo, &p->old, &p->tree, &p->changes, err) ||
				   (l->opts->paths && keep_requested(l, p, err)))))
		return -1;
	/* nothing if all of it is here already, squashed or picked */
	p->moves = p->changes.n || p->conflicts.n;
	if (land_check_moved(l->repo, l->s, &p->tip, p->moves, err))
		return -1;
	return p->moves ? check_base(l, p, err) : 0;
}

int land_tree_of(struct ga_repo *r, const struct ga_oid *commit, struct ga_oid *ret,
		 struct ga_error *err)
{
	static const struct ga_changes none = GA_CHANGES_INIT;

	return ga_oid_is_zero(commit) ? ga_tree_apply(r, NULL, NULL, &none, ret, err)
				      : ga_commit_tree(r, commit, ret, err);
}
