/* SPDX-License-Identifier: MIT
 *
 * Writing one commit of a history again, without what is held off it.
 */
#include "rewrite-internal.h"

#include "ga/base/path.h"
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

/* Greatest number of files in a directory that is displaced by a file. */
#define BENEATH_MAX ((size_t)10000000)

/* Add the file of `tree` that is an ancestor of `path`, if any, as deleted. */
static int find_file_above(struct range *g, const struct ga_oid *tree, const char *path,
			   struct ga_changes *out, struct ga_error *err)
{
	static const struct ga_entry none;
	struct ga_entry e;
	size_t n;

	if (ga_tree_above(g->r, tree, path, &e, &n, err))
		return -1;
	if (e.mode) {
		cleanup_free char *above = ga_strndup(path, n);

		(void)ga_changes_add(out, above, &e, &none);
	}
	return 0;
}

/* Add all files that `tree` has beneath `path`, as deleted. */
static int find_files_below(struct range *g, const struct ga_oid *tree, const char *path,
			    struct ga_changes *out, struct ga_error *err)
{
	static const struct ga_entry none;
	cleanup_changes struct ga_changes files = GA_CHANGES_INIT;
	struct ga_entry e;

	if (ga_tree_entry(g->r, tree, path, &e, err))
		return -1;
	if (e.mode != GA_MODE_TREE)
		return 0;
	if (ga_tree_list(g->r, &e.oid, BENEATH_MAX, &files, err))
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		cleanup_free char *below = ga_path_join(path, files.v[i].path);

		(void)ga_changes_add(out, below, &files.v[i].new, &none);
	}
	return 0;
}

int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  struct ga_error *err)
{
	cleanup_changes struct ga_changes more = GA_CHANGES_INIT;

	/* where `tree` has a file, it has nothing above or below */
	for (size_t i = 0; i < over->n; i++)
		if (over->v[i].new.mode && !over->v[i].old.mode &&
		    (find_file_above(g, tree, over->v[i].path, &more, err) ||
		     find_files_below(g, tree, over->v[i].path, &more, err)))
			return -1;
	ga_changes_sort(&more);
	for (size_t i = 0, n = over->n; i < more.n; i++) {
		const struct ga_changes had = { over->v, n, 0 };
		const struct ga_change *c = &more.v[i];

		if (!ga_changes_find(&had, c->path) && (!i || strcmp(c[-1].path, c->path) != 0))
			(void)ga_changes_add(over, c->path, &c->old, &c->new);
	}
	if (more.n)
		ga_changes_sort(over);
	return 0;
}
