/* SPDX-License-Identifier: MIT */
#include "ga/wip.h"

#include "ga/objects.h"
#include "ga/path.h"
#include "ga/refs.h"

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

/* Find the paths of the uncommitted part that the agent changed. */
static int find_paths(struct ga_repo *r, const struct ga_session *s, struct ga_wip *w,
		      struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv wip = GA_STRV_INIT;
	struct ga_oid old, new;

	ga_strv_extend(&wip, &s->left_out);
	ga_strv_sort_unique(&wip);
	if (ga_commit_tree(r, &w->snapshot, &old, err) || ga_commit_tree(r, &w->seen, &new, err) ||
	    ga_tree_diff(r, &old, &new, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&wip, all.v[i].path) >= 0)
			ga_strv_push(&w->paths, all.v[i].path);
	return 0;
}

int ga_wip_load(struct ga_repo *r, const struct ga_session *s, struct ga_wip *ret,
		struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(s, "carried"), *objects = ga_wip_objects(s);
	cleanup_repo struct ga_repo *p = NULL;
	int rc;

	*ret = (struct ga_wip)GA_WIP_INIT;
	ret->objects = ga_steal(&objects);
	if (ga_oid_equal(&s->base, &s->onto))
		return 0;
	ret->snapshot = s->base;
	rc = ga_ref_read(r, ref, &ret->seen, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return ga_repo_open_private(r, ret->objects, &p, err) || find_paths(p, s, ret, err) ? -1
											    : 0;
}
