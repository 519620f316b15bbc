/* SPDX-License-Identifier: MIT
 *
 * Writing one commit of a history again.
 */
#include "rewrite-internal.h"

#include "ga/repo/objects.h"

struct node *range_find(const struct range *g, const struct ga_oid *id)
{
	size_t i;

	return ga_oidmap_get(&g->index, id, &i) ? &g->v[i] : NULL;
}

struct ga_oid range_mapped(const struct range *g, const struct ga_oid *id)
{
	const struct node *p = range_find(g, id);

	return p ? p->new_id : *id;
}

/* Write the commit that the node becomes, with its texts, which are made safe to show, and without
 * signatures, which no longer hold. */
static int write_commit(struct range *g, struct node *n, const struct ga_oid *parents,
			struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .parents = NULL };

	if (ga_commit_read(g->r, &n->id, &c, err))
		return -1;
	if (n->unclean)
		(void)clean_commit(&c);
	drop_signatures(&c);
	for (size_t i = 0; i < c.n_parents; i++)
		c.parents[i] = parents[i];
	c.tree = n->new_tree;
	return ga_pack_add_commit(g->pack, &c, &n->new_id, err);
}

/* Did the commit change something of which nothing is left? */
static int is_emptied(struct range *g, const struct node *n, const struct ga_oid *parents,
		      bool *ret, struct ga_error *err)
{
	const struct node *p;
	struct ga_oid was, is;

	*ret = false;
	for (size_t i = 1; i < n->c.n_parents; i++)
		if (!ga_oid_equal(&parents[i], &parents[0]))
			return 0;
	if (!n->c.n_parents)
		return 0;
	p = range_find(g, &n->c.parents[0]);
	if (!p && ga_commit_tree(g->r, &n->c.parents[0], &was, err))
		return -1;
	is = p ? p->new_tree : was;
	was = p ? p->c.tree : was;
	*ret = ga_oid_equal(&n->new_tree, &is) && !ga_oid_equal(&n->c.tree, &was);
	return 0;
}

int write_node(struct range *g, struct node *n, struct ga_error *err)
{
	const struct ga_commit *c = &n->c;
	cleanup_free struct ga_oid *parents = NULL;
	bool same = !n->unclean, emptied;

	parents = ga_calloc(c->n_parents ? c->n_parents : 1, sizeof(*parents));
	for (size_t i = 0; i < c->n_parents; i++) {
		parents[i] = range_mapped(g, &c->parents[i]);
		same &= ga_oid_equal(&parents[i], &c->parents[i]);
	}
	n->new_id = n->id;
	n->new_tree = c->tree;
	if (same && !n->over.n)
		return 0;
	if (ga_tree_apply(g->r, g->pack, &c->tree, &n->over, &n->new_tree, err) ||
	    is_emptied(g, n, parents, &emptied, err))
		return -1;
	if (!emptied)
		return write_commit(g, n, parents, err);
	n->new_id = parents[0];
	return 0;
}
