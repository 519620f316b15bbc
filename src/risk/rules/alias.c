/* SPDX-License-Identifier: MIT
 *
 * Other paths that a file has because of a link: if web/.vscode links to tools/vscode, an editor
 * reads tools/vscode/tasks.json as web/.vscode/tasks.json. Every link of the old tree counts, and
 * every one that changes.
 */
#include <string.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "risk/internal.h"

enum { HOPS_MAX = 10, TARGET_MAX = 4096, DEPTH_MAX = 4096 };

struct search {
	struct ga_look *k;
	const struct ga_oid *tree;
	struct ga_buf path;
};

/* Does a rule that is high or critical cover a link of this name? */
static bool matters(struct ga_look *k, const char *path)
{
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;
	bool severe = false;

	ga_name_fold(&folded, path);
	ga_matcher_find(k->matcher, folded.ptr, true, &hits);
	for (size_t i = 0; i < hits.n; i++)
		severe |= ((const struct ga_rule *)hits.v[i].of)->severity >= GA_HIGH;
	return severe;
}

/* Where the link at `path` leads in the end, following further links; NULL: out of the project. */
static char *end_of(struct search *s, const char *path, const struct ga_entry *link)
{
	cleanup_free char *at = ga_strdup(path);
	struct ga_entry e = *link;

	for (int hops = 0; e.mode == GA_MODE_LINK; hops++) {
		cleanup_buf struct ga_buf target = GA_BUF_INIT;
		cleanup_free char *dir = ga_path_parent(at);
		char *next = NULL;

		if (hops < HOPS_MAX && !ga_look_blob(s->k, &e, TARGET_MAX, &target))
			next = ga_path_resolve(dir, target.ptr);
		if (!next)
			return NULL;
		free(at);
		at = next;
		e = ga_look_entry(s->k, s->tree, at);
	}
	return *at ? ga_steal(&at) : NULL;
}

static void add_link(struct search *s, const char *path, const struct ga_entry *link)
{
	struct ga_look *k = s->k;
	char *target;

	if (!matters(k, path))
		return;
	target = end_of(s, path, link);
	if (!target)
		return;
	GA_GROW(k->aliases.v, k->aliases.n, k->aliases.cap);
	ga_strmap_add(&k->aliases.targets, target, strlen(target), (uint32_t)k->aliases.n);
	k->aliases.v[k->aliases.n++] = (struct ga_alias){ ga_strdup(path), target };
}

static void look_through(struct search *s, const struct ga_oid *tree, int depth)
{
	cleanup_tree_level struct ga_tree_level level = GA_TREE_LEVEL_INIT;
	struct ga_error err = GA_ERROR_INIT;
	size_t before = s->path.len;

	/* a tree that cannot be read is flagged where something in it changes */
	if (ga_tree_level_read(s->k->repo, tree, &level, &err)) {
		ga_error_release(&err);
		return;
	}
	for (size_t i = 0; i < level.n; i++) {
		const struct ga_level_entry *e = &level.v[i];

		ga_buf_addf(&s->path, "%s%s", before ? "/" : "", e->name);
		if (e->entry.mode == GA_MODE_LINK)
			add_link(s, s->path.ptr, &e->entry);
		else if (e->entry.mode == GA_MODE_TREE && depth < DEPTH_MAX)
			look_through(s, &e->entry.oid, depth + 1);
		ga_buf_truncate(&s->path, before);
	}
}

void ga_look_aliases(struct ga_look *k)
{
	struct search old = {.k = k, .tree = k->old_tree, .path = GA_BUF_INIT};
	struct search new = {.k = k, .tree = k->new_tree, .path = GA_BUF_INIT};
	const struct ga_change top = {.path = (char *)(uintptr_t) ""};

	/* no change is looked at yet, but reading blobs can fire a rule, which needs one */
	/* cppcheck-suppress autoVariables */
	k->c = &top;
	if (k->old_tree)
		look_through(&old, k->old_tree, 0);
	ga_buf_release(&old.path);
	for (size_t i = 0; i < k->changes->n; i++)
		if (k->changes->v[i].new.mode == GA_MODE_LINK)
			add_link(&new, k->changes->v[i].path, &k->changes->v[i].new);
	ga_look_forget(k);
}

void ga_aliases_release(struct ga_aliases *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].link);
		free(a->v[i].target);
	}
	free(a->v);
	ga_strmap_release(&a->targets);
}
