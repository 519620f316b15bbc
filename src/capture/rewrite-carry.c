/* SPDX-License-Identifier: MIT
 *
 * Off the user's uncommitted work: what the agent's history stands on (`base`)
 * differs from what the published one is to stand on (`onto`) in the paths the
 * user had changed. Only those need thought; everything else of a commit's tree
 * is taken as it is.
 */
#include "rewrite-internal.h"

/* Replay one path: what the commit did to it since `base`, done to what it is in
 * `onto`. Sets `*separable` to false if that cannot be told apart. */
static int replay_path(struct range *g, const struct node *n, const struct ga_change *carried,
		       struct ga_changes *over, bool *separable, struct ga_error *err)
{
	struct ga_entry is, want;
	int rc;

	if (ga_tree_entry(g->r, &n->c.tree, carried->path, &is, err))
		return -1;
	/* A directory in its place: what the commit put there collides with the
	 * file, or stands beside its absence. */
	if (is.mode == GA_MODE_TREE)
		is = (struct ga_entry){ 0 };
	rc = ga_merge_entry(g->r, &carried->old, &carried->new, &is, &want, err);
	if (rc < 0)
		return -1;
	*separable = rc == 0;
	if (rc)
		want = carried->new;
	if (!ga_entry_equal(&want, &is))
		(void)ga_changes_add(over, carried->path, &is, &want);
	return 0;
}

/* What gives way to a file of `onto` was not asked for by anybody's merge: it
 * is left out. */
static void add_collisions(const struct ga_changes *over, const struct ga_changes *carried,
			   struct ga_strv *left_out)
{
	for (size_t i = 0; i < over->n; i++)
		if (!ga_changes_find(carried, over->v[i].path))
			ga_strv_push(left_out, over->v[i].path);
}

static int carry_node(struct range *g, struct node *n, const struct ga_changes *carried,
		      struct ga_strv *left_out, struct ga_error *err)
{
	cleanup_changes struct ga_changes over = GA_CHANGES_INIT;

	for (size_t i = 0; i < carried->n; i++) {
		bool separable;

		if (replay_path(g, n, &carried->v[i], &over, &separable, err))
			return -1;
		if (!separable && left_out)
			ga_strv_push(left_out, carried->v[i].path);
	}
	if (close_over_collisions(g, &n->c.tree, &over, err))
		return -1;
	if (left_out)
		add_collisions(&over, carried, left_out);
	set_over(g, n, &over);
	return write_node(g, n, err);
}

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
	struct ga_oid work, on;

	if (s->have_carried)
		return 0;
	if (ga_commit_tree(g->r, &s->work, &work, err) || ga_commit_tree(g->r, &s->on, &on, err) ||
	    ga_tree_diff(g->r, &work, &on, &s->carried, err))
		return -1;
	s->have_carried = true;
	return 0;
}

int carry_over(struct range *g, struct ga_strv *left_out, struct ga_error *err)
{
	for (size_t i = 0; i < g->n; i++) {
		struct stand *s = choose_stand(g, &g->v[i]);

		/* what counts as left out is what the last commit lacks */
		if (need_carried(g, s, err) ||
		    carry_node(g, &g->v[i], &s->carried, i + 1 == g->n ? left_out : NULL, err))
			return -1;
	}
	ga_strv_sort_unique(left_out);
	return 0;
}
