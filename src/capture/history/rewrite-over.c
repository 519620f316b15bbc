/* SPDX-License-Identifier: MIT
 *
 * Collisions of files and directories, when some paths of a tree get the values of another.
 */
#include "rewrite-internal.h"

#include <string.h>

#include "ga/base/path.h"

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
