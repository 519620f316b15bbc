/* SPDX-License-Identifier: MIT
 *
 * Off the user's uncommitted work: what the agent's history stands on (`base`)
 * differs from what the published one is to stand on (`onto`) in the paths the
 * user had changed. Those need thought, and what the agent made of them under other names
 * (rewrite-origin.c); everything else of a commit's tree is taken as it is.
 */
#include "rewrite-internal.h"

#include <stdint.h>

/* Is what came to a carried path the user's work of another one? */
static int came_from_another(struct range *g, struct stand *s, size_t i, const struct ga_entry *is,
			     struct ga_strv *unsure, struct ga_error *err)
{
	const struct ga_change *c = &s->carried.v[i];
	const struct origin_query q = { .is = is, .was = &c->old, .but = i };
	int rc;

	if (ga_entry_equal(is, &c->old) || ga_entry_equal(is, &c->new))
		return 0;
	rc = judge_origin(g, s, &q, err);
	if (rc == 2 && unsure)
		ga_strv_push(unsure, c->path);
	return rc == 2 ? 0 : rc;
}

/* Replay one path: what the commit did to it since `base`, done to what it is in
 * `onto`. What cannot be told apart is left out. `ret`: of the last commit, else NULL. */
static int replay_path(struct range *g, const struct node *n, struct stand *s, size_t i,
		       struct ga_changes *over, struct ga_rewrite *ret, struct ga_error *err)
{
	const struct ga_change *carried = &s->carried.v[i];
	struct ga_entry is, want;
	int rc;

	if (ga_tree_entry(g->r, &n->c.tree, carried->path, &is, err))
		return -1;
	/* A directory in its place: what the commit put there collides with the
	 * file, or stands beside its absence. */
	if (is.mode == GA_MODE_TREE)
		is = (struct ga_entry){ 0 };
	rc = came_from_another(g, s, i, &is, ret ? &ret->unsure : NULL, err);
	if (!rc)
		rc = ga_merge_entry(g->r, &carried->old, &carried->new, &is, &want, err);
	if (rc < 0)
		return -1;
	if (rc)
		want = carried->new;
	if (rc && ret)
		ga_strv_push(&ret->left_out, carried->path);
	if (!ga_entry_equal(&want, &is))
		(void)ga_changes_add(over, carried->path, &is, &want);
	return 0;
}

/* What is left out besides: the user's work under other names; and what gives way to a file of
 * `onto`, which was not asked for by anybody's merge. */
static void add_collisions(const struct ga_changes *over, const struct ga_changes *carried,
			   struct ga_strv *left_out)
{
	for (size_t i = 0; i < over->n; i++)
		if (!ga_changes_find(carried, over->v[i].path))
			ga_strv_push(left_out, over->v[i].path);
}

/* ---- under other names -------------------------------------------------------------- */

/* Paths that one of the commit's parents in the range had left out, and those that it has just as a
 * parent of the host's: sorted. */
struct parents {
	struct ga_strv followed, hosts;
};

static void parents_release(struct parents *p)
{
	ga_strv_release(&p->followed);
	ga_strv_release(&p->hosts);
}

static int look_at_host(struct range *g, const struct node *n, const struct ga_oid *parent,
			const struct ga_changes *made, struct parents *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes since = GA_CHANGES_INIT;
	struct ga_oid tree;

	if (ga_commit_tree(g->r, parent, &tree, err) ||
	    ga_tree_diff(g->r, &tree, &n->c.tree, &since, err))
		return -1;
	for (size_t i = 0; i < made->n; i++)
		if (!ga_changes_find(&since, made->v[i].path))
			ga_strv_push(&ret->hosts, made->v[i].path);
	return 0;
}

static int look_at_parents(struct range *g, const struct node *n, const struct stand *s,
			   const struct ga_changes *made, struct parents *ret,
			   struct ga_error *err)
{
	for (size_t i = 0; i < n->c.n_parents; i++) {
		const struct ga_oid *id = &n->c.parents[i];
		const struct node *p = range_find(g, id);

		if (!p && !find_stand(g, id) && look_at_host(g, n, id, made, ret, err))
			return -1;
		for (size_t k = 0; p && k < p->over->n; k++)
			if (!ga_changes_find(&s->carried, p->over->v[k].path))
				ga_strv_push(&ret->followed, p->over->v[k].path);
	}
	ga_strv_sort_unique(&ret->followed);
	ga_strv_sort_unique(&ret->hosts);
	return 0;
}

/* One path that is no carried one. What cannot be told for there is too much is named. */
static int judge_made(struct range *g, struct stand *s, const struct ga_change *c,
		      const struct parents *p, struct ga_changes *over, struct ga_strv *unsure,
		      struct ga_error *err)
{
	const struct origin_query q = { .is = &c->new, .was = &c->old, .but = SIZE_MAX,
					.followed = ga_strv_find(&p->followed, c->path) >= 0 };
	struct ga_entry want;
	int rc;

	if (ga_strv_find(&p->hosts, c->path) >= 0)
		return origin_is_known(g, s, &c->new.oid, err);
	rc = judge_origin(g, s, &q, err);
	if (rc == 2 && unsure)
		ga_strv_push(unsure, c->path);
	if (rc != 1)
		return rc < 0 ? -1 : 0;
	if (file_entry(g->r, &s->on_tree, c->path, &want, err))
		return -1;
	(void)ga_changes_add(over, c->path, &c->new, &want);
	return 0;
}

/* Leave out what the commit has under other names of the work that it stands on. */
static int leave_out_made(struct range *g, struct node *n, struct stand *s,
			  struct ga_changes *over, struct ga_strv *unsure, struct ga_error *err)
{
	cleanup_(parents_release) struct parents p = { GA_STRV_INIT, GA_STRV_INIT };
	cleanup_changes struct ga_changes made = GA_CHANGES_INIT;

	if (ga_tree_diff(g->r, &s->work_tree, &n->c.tree, &made, err) ||
	    look_at_parents(g, n, s, &made, &p, err))
		return -1;
	for (size_t i = 0; i < made.n; i++)
		if (made.v[i].new.mode && !ga_changes_find(&s->carried, made.v[i].path) &&
		    judge_made(g, s, &made.v[i], &p, over, unsure, err))
			return -1;
	return 0;
}

/* `ret`: of the last commit, else NULL. */
static int carry_node(struct range *g, struct node *n, struct stand *s, struct ga_rewrite *ret,
		      struct ga_error *err)
{
	cleanup_changes struct ga_changes over = GA_CHANGES_INIT;

	for (size_t i = 0; i < s->carried.n; i++)
		if (replay_path(g, n, s, i, &over, ret, err))
			return -1;
	if (leave_out_made(g, n, s, &over, ret ? &ret->unsure : NULL, err) ||
	    close_over_collisions(g, &n->c.tree, &over, err))
		return -1;
	if (ret)
		add_collisions(&over, &s->carried, &ret->left_out);
	set_over(g, n, &over);
	return write_node(g, n, err);
}

/* ---- all of them -------------------------------------------------------------------- */

/* What a commit stands on. A merge has the latest work of the user's, and one on none may have
 * been put together in a working tree that shows that. */
static struct stand *choose_stand(struct range *g, struct node *n)
{
	for (size_t i = 0; i < n->c.n_parents; i++) {
		const struct node *p = range_find(g, &n->c.parents[i]);
		size_t stand = p ? p->stand : find_stand(g, &n->c.parents[i]);

		if (n->stand < stand)
			n->stand = stand;
	}
	return &g->stands[n->stand ? n->stand - 1 : g->n_stands - 1];
}

static int need_carried(struct range *g, struct stand *s, struct ga_error *err)
{
	if (s->have_carried)
		return 0;
	if (ga_commit_tree(g->r, &s->work, &s->work_tree, err) ||
	    ga_commit_tree(g->r, &s->on, &s->on_tree, err) ||
	    ga_tree_diff(g->r, &s->work_tree, &s->on_tree, &s->carried, err))
		return -1;
	s->have_carried = true;
	return 0;
}

int carry_over(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	for (size_t i = 0; i < g->n; i++) {
		struct stand *s = choose_stand(g, &g->v[i]);

		/* what counts as left out is what the last commit lacks */
		if (need_carried(g, s, err) ||
		    carry_node(g, &g->v[i], s, i + 1 == g->n ? ret : NULL, err))
			return -1;
	}
	ga_strv_sort_unique(&ret->left_out);
	ga_strv_sort_unique(&ret->unsure);
	return 0;
}
