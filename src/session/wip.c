/* SPDX-License-Identifier: MIT */
#include "ga/session/session.h"

#include <string.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"

void ga_wip_release(struct ga_wip *w)
{
	free(w->objects);
	ga_strv_release(&w->paths);
	*w = (struct ga_wip)GA_WIP_INIT;
}

char *ga_wip_objects(const struct ga_session *s)
{
	return ga_path_join(s->dir, "objects");
}

int ga_wip_use(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *objects = ga_wip_objects(s);

	if (ga_oid_equal(&s->id.base, &s->id.onto) && !s->id.live)
		return 0;
	return ga_repo_use_private(r, objects, err);
}

int ga_wip_attach(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *objects = ga_wip_objects(s);

	return ga_repo_read_private(r, objects, err);
}

/* The first entry of the sorted list that is not before `s`. */
static size_t lower_bound(const struct ga_strv *paths, const char *s)
{
	size_t lo = 0, hi = paths->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(paths->v[mid], s) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool ga_wip_has(const struct ga_strv *paths, const char *path)
{
	cleanup_free char *below = ga_strf("%s/", path);
	size_t at = lower_bound(paths, below);

	if (at < paths->n && !strncmp(paths->v[at], below, strlen(below)))
		return true;
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *above = ga_strndup(path, (size_t)(p - path));

		if (ga_strv_find(paths, above) >= 0)
			return true;
	}
	return ga_strv_find(paths, path) >= 0;
}

int ga_wip_paths(struct ga_repo *r, const struct ga_session *s, struct ga_strv *ret,
		 struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_oid old, new;

	if (ga_oid_equal(&s->id.base, &s->id.onto))
		return 0;
	if (ga_commit_tree(r, &s->id.onto, &old, err) ||
	    ga_commit_tree(r, &s->id.base, &new, err) ||
	    ga_tree_diff(r, &old, &new, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		ga_strv_push(ret, all.v[i].path);
	ga_strv_extend(ret, &s->view.renamed);
	ga_strv_sort_unique(ret);
	return 0;
}

int ga_wip_changes(struct ga_repo *r, const struct ga_wip *w, struct ga_changes *ret,
		   struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_oid old;

	if (!w->paths.n)
		return 0;
	if (ga_commit_tree(r, &w->snapshot, &old, err) ||
	    ga_tree_diff(r, &old, &w->seen, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&w->paths, all.v[i].path) >= 0)
			(void)ga_changes_add(ret, all.v[i].path, &all.v[i].old, &all.v[i].new);
	return 0;
}

void ga_wip_load(const struct ga_session *s, struct ga_wip *ret)
{
	*ret = (struct ga_wip)GA_WIP_INIT;
	ret->objects = ga_wip_objects(s);
	if (ga_oid_equal(&s->id.base, &s->id.onto))
		return;
	ret->snapshot = s->id.base;
	ret->seen = s->view.tree;
	ga_strv_extend(&ret->paths, &s->result.left_out);
	ga_strv_sort_unique(&ret->paths);
}
