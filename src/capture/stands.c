/* SPDX-License-Identifier: MIT
 *
 * The commits of the user's uncommitted work. Each resume of a session makes a new one, and what
 * the agent built on earlier ones is still in its git dir: none of them may ever be published.
 */
#include "capture-internal.h"
#include "ga/objects.h"
#include "ga/refs.h"

static void add_known(struct capture *c, const struct ga_oid *oid)
{
	GA_GROW(c->known, c->n_known, c->cap_known);
	c->known[c->n_known++] = *oid;
}

static void add_stand(struct capture *c, const struct ga_oid *work, const struct ga_oid *on)
{
	if (ga_oid_equal(work, &c->agent_base))
		return;
	GA_GROW(c->stands, c->n_stands, c->cap_stands);
	c->stands[c->n_stands++] = (struct ga_stand){ *work, *on };
	add_known(c, work);
}

/* Add one that a resume made: its first parent is the branch's commit then. */
static int add_later(struct capture *c, const struct ga_oid *work, struct ga_error *err)
{
	cleanup_commit struct ga_commit commit = { .parents = NULL };

	if (ga_commit_read(c->e->repo, work, &commit, err))
		return -1;
	if (commit.n_parents)
		add_stand(c, work, &commit.parents[0]);
	return 0;
}

int find_stands(struct capture *c, struct ga_error *err)
{
	cleanup_free char *prefix = ga_session_ref(c->s, "stood/");
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;

	add_known(c, &c->agent_base);
	add_known(c, &c->branch_base);
	if (ga_oid_equal(&c->s->base, &c->s->onto))
		return 0;
	add_stand(c, &c->s->base, &c->s->onto);
	if (ga_refs_list(c->e->repo, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++)
		if (add_later(c, &refs.v[i].oid, err))
			return -1;
	return 0;
}

bool is_stand(const struct capture *c, const struct ga_oid *oid)
{
	for (size_t i = 0; i < c->n_stands; i++)
		if (ga_oid_equal(&c->stands[i].work, oid))
			return true;
	return ga_oid_equal(oid, &c->agent_base);
}

/* The first one is enough: it is an ancestor of the later ones. */
int check_unpublished(struct capture *c, const struct ga_oid *tip, struct ga_error *err)
{
	const struct ga_oid *work = &c->s->base;
	int rc;

	if (ga_oid_equal(work, &c->s->onto) || ga_oid_is_zero(tip) ||
	    ga_oid_equal(tip, &c->branch_base))
		return 0;
	rc = ga_is_ancestor(c->e->repo, work, tip, err);
	/* if the branch that is published on has it, the user published it */
	if (rc > 0 && !(rc = ga_is_ancestor(c->e->repo, work, &c->branch_base, err))) {
		(void)ga_fail(err, GA_EFATAL, "the agent's commits stand on your uncommitted work "
			      "(commit %s): publishing them would publish that", GA_HEX(work));
		return ga_hint(err, "they do so by a branch or tag of yours: 'git for-each-ref "
				    "--contains %s' lists it; without it 'git agent capture %s' "
				    "can go on", GA_HEX(work), c->s->name);
	}
	return rc < 0 ? -1 : 0;
}
