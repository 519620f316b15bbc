/* SPDX-License-Identifier: MIT
 *
 * How the tree written for a commit differs from the commit's own: a list of values for each
 * commit, which mostly is its parent's.
 */
#include "rewrite-internal.h"

#include <string.h>

#include "ga/path.h"

/* Greatest number of files in a directory that is displaced by a file. */
#define BENEATH_MAX ((size_t)10000000)

/* Add the file of `tree` that is an ancestor of `path`, if any, as deleted. */
static int find_file_above(struct range *g, const struct ga_oid *tree, const char *path,
			   struct ga_changes *out, struct ga_error *err)
{
	static const struct ga_entry none;

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *above = ga_strndup(path, (size_t)(p - path));
		struct ga_entry e;

		if (ga_tree_entry(g->r, tree, above, &e, err))
			return -1;
		if (e.mode == GA_MODE_TREE)
			continue;
		if (e.mode)
			(void)ga_changes_add(out, above, &e, &none);
		return 0;
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

/* Resolve collisions between values that come from several parents: the file stays, and what would
 * be beneath it goes. True if there were any. */
static bool settle(struct ga_changes *over)
{
	bool any = false;

	for (size_t i = 0; i < over->n; i++) {
		const char *path = over->v[i].path;

		for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
			cleanup_free char *above = ga_strndup(path, (size_t)(p - path));
			const struct ga_change *c = ga_changes_find(over, above);

			if (!c || !c->new.mode)
				continue;
			over->v[i].new = (struct ga_entry){ 0 };
			any = true;
		}
	}
	return any;
}

static void drop_idle(struct ga_changes *c)
{
	size_t out = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (ga_entry_equal(&c->v[i].old, &c->v[i].new))
			free(c->v[i].path);
		else
			c->v[out++] = c->v[i];
	}
	c->n = out;
}

/* Of several entries for one path, keep the first. */
static void unique(struct ga_changes *c)
{
	size_t out = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (out && !strcmp(c->v[out - 1].path, c->v[i].path))
			free(c->v[i].path);
		else
			c->v[out++] = c->v[i];
	}
	c->n = out;
}

int close_over_collisions(struct range *g, const struct ga_oid *tree, struct ga_changes *over,
			  bool *ret_any, struct ga_error *err)
{
	cleanup_changes struct ga_changes more = GA_CHANGES_INIT;

	ga_changes_sort(over);
	*ret_any = settle(over);
	drop_idle(over);
	for (size_t i = 0; i < over->n; i++)
		if (over->v[i].new.mode &&
		    (find_file_above(g, tree, over->v[i].path, &more, err) ||
		     find_files_below(g, tree, over->v[i].path, &more, err)))
			return -1;
	ga_changes_sort(&more);
	unique(&more);
	for (size_t i = 0, n = over->n; i < more.n; i++) {
		struct ga_changes had = { over->v, n, 0 };

		if (!ga_changes_find(&had, more.v[i].path))
			(void)ga_changes_add(over, more.v[i].path, &more.v[i].old, &more.v[i].new);
	}
	*ret_any |= more.n > 0;
	ga_changes_sort(over);
	return 0;
}

/* ---- lists ------------------------------------------------------------------------------ */

/* Shared by commits, each of which counts as a user as long as it has children to come: a list for
 * each would not fit into memory with thousands of paths and thousands of commits. */
struct over_list {
	struct ga_changes c;
	size_t users;
	bool collided;
};

static const struct ga_changes none_over = GA_CHANGES_INIT;

void leave_over(struct node *n)
{
	struct over_list *l = ga_steal(&n->list);

	n->over = &none_over;
	if (!l || --l->users)
		return;
	ga_changes_release(&l->c);
	free(l);
}

bool over_collided(const struct node *n)
{
	return n->list && n->list->collided;
}

static void share_over(struct node *n, const struct node *with)
{
	leave_over(n);
	if (!with->list)
		return;
	n->list = with->list;
	n->list->users++;
	n->over = &n->list->c;
	n->differs = true;
}

static bool same_list(const struct ga_changes *a, const struct ga_changes *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].path, b->v[i].path) ||
		    !ga_entry_equal(&a->v[i].old, &b->v[i].old) ||
		    !ga_entry_equal(&a->v[i].new, &b->v[i].new))
			return false;
	return true;
}

void set_over(const struct range *g, struct node *n, struct ga_changes *over, bool collided)
{
	const struct node *p = n->c.n_parents ? range_find(g, &n->c.parents[0]) : NULL;

	leave_over(n);
	if (!over->n)
		return;
	if (p && over_collided(p) == collided && same_list(p->over, over)) {
		share_over(n, p);
		return;
	}
	n->list = ga_malloc(sizeof(*n->list));
	*n->list = (struct over_list){ *over, 1, collided };
	*over = (struct ga_changes)GA_CHANGES_INIT;
	n->over = &n->list->c;
	n->differs = true;
}

void count_children(struct range *g)
{
	for (size_t i = 0; i < g->n; i++)
		g->v[i].children = 0;
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->v[i].c.n_parents; k++) {
			struct node *p = range_find(g, &g->v[i].c.parents[k]);

			if (p)
				p->children++;
		}
}

void leave_parents(const struct range *g, const struct node *n)
{
	for (size_t i = 0; i < n->c.n_parents; i++) {
		struct node *p = range_find(g, &n->c.parents[i]);

		if (p && !--p->children)
			leave_over(p);
	}
}

/* ---- from a parent's -------------------------------------------------------------------- */

/* Does the sorted list have a path above or beneath this one? */
static bool has_related(const struct ga_changes *list, const char *path)
{
	cleanup_free char *below = ga_strf("%s/", path);
	size_t lo = 0, hi = list->n, n = strlen(below);

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *above = ga_strndup(path, (size_t)(p - path));

		if (ga_changes_find(list, above))
			return true;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(list->v[mid].path, below) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < list->n && !strncmp(list->v[lo].path, below, n);
}

bool over_meets(const struct ga_changes *over, const struct ga_changes *changes)
{
	for (size_t i = 0; over->n && i < changes->n; i++)
		if (has_related(over, changes->v[i].path))
			return true;
	return false;
}

void follow_over(const struct range *g, struct node *n, const struct node *p,
		 const struct ga_changes *changes, const struct ga_changes *fresh)
{
	cleanup_changes struct ga_changes over = GA_CHANGES_INIT;
	bool changed = fresh->n > 0;

	for (size_t i = 0; !changed && p->over->n && i < changes->n; i++)
		changed = ga_changes_find(p->over, changes->v[i].path) != NULL;
	if (!changed) {
		share_over(n, p);
		return;
	}
	for (size_t i = 0; i < p->over->n; i++) {
		const struct ga_change *c = &p->over->v[i];

		if (!ga_changes_find(changes, c->path) && !ga_changes_find(fresh, c->path))
			(void)ga_changes_add(&over, c->path, &c->old, &c->new);
	}
	for (size_t i = 0; i < fresh->n; i++) {
		const struct ga_change *c = &fresh->v[i];

		(void)ga_changes_add(&over, c->path, &c->old, &c->new);
	}
	ga_changes_sort(&over);
	set_over(g, n, &over, false);
}
