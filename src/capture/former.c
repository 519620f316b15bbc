/* SPDX-License-Identifier: MIT
 *
 * What earlier runs of the session published: it is still on the branch, and is not looked at
 * again. Its flags are in the report that was made then.
 */
#include "ga/repo/objects.h"
#include "result.h"

/* Flag a commit against each of its parents: a merge gets flags of its own for what it brings. */
static int flag_commit(struct capture *c, const struct outcome *o, const struct ga_oid *id,
		       struct ga_report *r, struct ga_error *err)
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
		    ga_classify(c->e->repo, &o->facts, &old, &commit.tree, &changes, &flags, err))
			return -1;
		ga_report_add_flags(r, GA_FROM_SESSION, &flags, NULL);
	}
	return 0;
}

/* Without the report there are no verdicts either: the user is asked about everything again. */
static int flag_anew(struct capture *c, const struct outcome *o, struct ga_report *r,
		     struct ga_error *err)
{
	cleanup_report struct ga_report anew = GA_REPORT_INIT;
	cleanup_free struct ga_oid *commits = NULL;
	struct ga_oid hide[2] = { c->s->id.onto };
	const struct ga_oid *users;
	size_t n;

	if (find_users(c, &hide[1], &users, err) ||
	    list_history(c, &c->base.branch, 1, hide, users ? 2 : 1, &commits, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (flag_commit(c, o, &commits[i], &anew, err))
			return -1;
	ga_report_add_former(r, &anew);
	ga_strv_push(&r->notes, "the report of the former run could not be read: what it had "
				"published is flagged once more");
	return 0;
}

int add_former(struct capture *c, const struct outcome *o, struct ga_report *r,
	       struct ga_error *err)
{
	cleanup_report struct ga_report former = GA_REPORT_INIT;
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;
	int rc;

	if (!c->s->run.resumed || ga_oid_is_zero(&c->s->result.base_report))
		return 0;
	if (ga_report_read_at(c->e->repo, c->s, &c->s->result.base_report, &former, &damaged))
		return flag_anew(c, o, r, err);
	if (ga_oid_is_zero(&former.tip))
		return 0;
	/* not if the user has rewritten its commits and `git gc` has removed what was there
	 * before */
	rc = ga_commit_here(c->e->repo, &former.tip, err);
	if (rc > 0)
		rc = ga_is_ancestor(c->e->repo, &former.tip, &c->base.branch, err);
	if (rc > 0)
		ga_report_add_former(r, &former);
	return rc < 0 ? -1 : 0;
}
