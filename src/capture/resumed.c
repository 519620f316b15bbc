/* SPDX-License-Identifier: MIT
 *
 * What is different when a session was resumed: its layers stand on the base they always had, its
 * history on the branch as it was at the resume. The difference between the two, what was held
 * or stands on the user's uncommitted work, is in the layers but in no commit.
 */
#include "capture-internal.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"

/* What the layers showed at the resume and the agent's commits lack counts as tracked unless they
 * changed the path: otherwise ignore rules could take away what is held. */
static int add_uncommitted(struct capture *c, struct ga_oid *tree, struct ga_error *err)
{
	cleanup_changes struct ga_changes shown = GA_CHANGES_INIT, add = GA_CHANGES_INIT;
	struct ga_repo *r = c->e->repo;

	if (ga_tree_diff(r, &c->base.agent_tree, &c->s->view.tree, &shown, err))
		return -1;
	for (size_t i = 0; i < shown.n; i++) {
		const struct ga_change *s = &shown.v[i];
		struct ga_entry e, was;

		if (s->new.mode == GA_MODE_NONE)
			continue;
		/* if this replaced a directory, that is compared, too */
		if (ga_tree_entry(r, &c->base.agent_tree, s->path, &was, err) ||
		    ga_tree_entry(r, tree, s->path, &e, err))
			return -1;
		if (ga_entry_equal(&e, &was))
			(void)ga_changes_add(&add, s->path, &s->old, &s->new);
	}
	return add.n ? ga_tree_apply(r, NULL, tree, &add, tree, err) : 0;
}

int find_tracked_tree(struct capture *c, const struct ga_oid **ret, struct ga_error *err)
{
	bool own = !ga_oid_is_zero(&c->git.head);

	*ret = NULL;
	if (!own && !c->s->run.resumed)
		return 0;
	c->git.tracked_tree = own ? c->git.head_tree : c->base.agent_tree;
	*ret = &c->git.tracked_tree;
	return c->s->run.resumed ? add_uncommitted(c, &c->git.tracked_tree, err) : 0;
}

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
	/* a branch of the user's whose commit is missing, for whatever reason, does not matter */
	rc = ga_commit_here(c->e->repo, users, err);
	if (rc > 0)
		*ret = users;
	return rc < 0 ? -1 : 0;
}
