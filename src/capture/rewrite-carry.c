/* SPDX-License-Identifier: MIT
 *
 * Removing the user's uncommitted work from the agent's history: what that is based on (`base`)
 * differs from what the published history is to be based on (`onto`) in the paths that the user had
 * changed. Each of these is merged on its own, and files that the agent made from them under other
 * names are found (rewrite-origin.c) and left out; the rest of a commit's tree is taken as it is.
 */
#include "rewrite-internal.h"

#include <stdint.h>

/* What the merges of all commits but the last may cost together, as in ga_merge_entry_within(). */
#define MERGES ((uint64_t)4 << 30)

static void add_unsure(struct range *g, struct ga_rewrite *ret, const char *path)
{
	ga_strv_push(&ret->unsure, path);
	/* the path is added for each commit that has it, so duplicates are removed whenever the
	 * list has doubled */
	if (ret->unsure.n < 2 * g->n_unsure + 1000)
		return;
	ga_strv_sort_unique(&ret->unsure);
	g->n_unsure = ret->unsure.n;
}

/* ---- what the user had changed ------------------------------------------------------- */

/* Was the new content of a carried path made from the user's work at another path? Returns 1 if
 * so. */
static int came_from_another(struct range *g, struct stand *s, size_t i, const struct ga_entry *is,
			     struct ga_rewrite *ret, struct ga_error *err)
{
	const struct ga_change *c = &s->carried.v[i];
	const struct origin_query q = { .is = is, .was = &c->old, .but = i };
	int rc;

	if (ga_entry_equal(is, &c->old) || ga_entry_equal(is, &c->new))
		return 0;
	rc = judge_origin(g, s, &q, err);
	if (rc == 2)
		add_unsure(g, ret, c->path);
	return rc == 2 ? 0 : rc;
}

/* Merge a carried path: apply what the commit did to it since `base` to the value in `onto`.
 * Returns 1 if the agent's changes cannot be separated from the user's; `want` is the value in
 * `onto` then. */
static int merge_path(struct range *g, struct stand *s, size_t i, const struct ga_entry *is,
		      uint64_t *left, struct ga_entry *want, struct ga_rewrite *ret,
		      struct ga_error *err)
{
	const struct ga_change *carried = &s->carried.v[i];
	int rc = came_from_another(g, s, i, is, ret, err);

	if (!rc)
		rc = ga_merge_entry_within(g->r, &carried->old, &carried->new, is, left, want, err);
	/* a merge by lines sees a line that was moved as one removed and one that the agent
	 * added */
	if (!rc)
		rc = ga_rewrite_shows(g->r, &carried->old, &carried->new, want, NULL, err);
	if (rc == 1)
		*want = carried->new;
	return rc;
}

/* Replay one path; if it cannot be separated it is left out. */
static int replay_path(struct range *g, const struct node *n, struct stand *s, size_t i,
		       struct ga_changes *over, struct ga_rewrite *ret, struct ga_error *err)
{
	const struct ga_change *carried = &s->carried.v[i];
	struct replayed *was = &s->replayed[i];
	bool last = n == &g->v[g->n - 1];
	struct ga_entry is;

	/* A directory in its place counts as a deletion here; if the path becomes a file all the
	 * same, what the directory has collides with that. */
	if (file_entry(g->r, &n->c.tree, carried->path, &is, err))
		return -1;
	/* most often the value is the same as in the previous commit */
	if (!was->known || !ga_entry_equal(&was->is, &is)) {
		int rc = merge_path(g, s, i, &is, last ? NULL : &g->merges, &was->want, ret, err);

		if (rc < 0)
			return -1;
		was->is = is;
		was->left_out = rc;
		/* it may have failed only because `merges` is used up, which does not limit the
		 * last commit */
		was->known = !rc || last || g->merges;
		if (!was->known && !was->summed)
			ga_strv_push(&ret->summed, carried->path);
		was->summed |= !was->known;
	}
	/* only what the last commit lacks counts as left out */
	if (was->left_out && last)
		ga_strv_push(&ret->left_out, carried->path);
	if (!ga_entry_equal(&was->want, &is))
		(void)ga_changes_add(over, carried->path, &is, &was->want);
	return 0;
}

/* Add the other paths that are left out: the user's work under other names, and paths that give way
 * to a file of `onto` with which they collide, although no merge decided that. */
static void add_collisions(const struct ga_changes *over, const struct ga_changes *carried,
			   struct ga_strv *left_out)
{
	for (size_t i = 0; i < over->n; i++)
		if (!ga_changes_find(carried, over->v[i].path))
			ga_strv_push(left_out, over->v[i].path);
}

/* ---- under other names -------------------------------------------------------------- */

/* Did a parent in the range leave the path out? */
static bool is_followed(const struct range *g, const struct node *n, const char *path)
{
	for (size_t i = 0; i < n->c.n_parents; i++) {
		const struct node *p = range_find(g, &n->c.parents[i]);

		if (p && ga_changes_find(p->over, path))
			return true;
	}
	return false;
}

static bool is_hosts(const struct range *g, const struct ga_oid *parent)
{
	return !range_find(g, parent) && !find_stand(g, parent);
}

/* Does a parent that the host knows have this value at the path? Returns 1 if so. */
static int host_has(struct range *g, const struct node *n, const struct ga_change *c,
		    struct ga_error *err)
{
	for (size_t i = 0; i < n->c.n_parents; i++) {
		struct ga_entry e;
		struct ga_oid tree;

		if (!is_hosts(g, &n->c.parents[i]))
			continue;
		if (ga_commit_tree(g->r, &n->c.parents[i], &tree, err) ||
		    file_entry(g->r, &tree, c->path, &e, err))
			return -1;
		if (ga_entry_equal(&e, &c->new))
			return 1;
	}
	return 0;
}

/* Judge a path that was not carried. If there is too much to compare it is noted as unsure, or left
 * out if it was left out before. */
static int judge_made(struct range *g, const struct node *n, struct stand *s,
		      const struct ga_change *c, struct ga_changes *over, struct ga_rewrite *ret,
		      struct ga_error *err)
{
	const struct origin_query q = { .is = &c->new, .was = &c->old, .but = SIZE_MAX,
					.followed = is_followed(g, n, c->path) };
	struct ga_entry want;
	int rc = host_has(g, n, c, err);

	if (rc)
		return rc < 0 ? -1 : origin_is_known(g, s, &c->new.oid, err);
	rc = judge_origin(g, s, &q, err);
	if (rc == 2 && !q.followed)
		add_unsure(g, ret, c->path);
	if (rc < 0 || !rc || (rc == 2 && !q.followed))
		return rc < 0 ? -1 : 0;
	if (file_entry(g->r, &s->on_tree, c->path, &want, err))
		return -1;
	(void)ga_changes_add(over, c->path, &c->new, &want);
	return 0;
}

/* ---- one commit --------------------------------------------------------------------- */

/* Carry over everything in the commit's tree. */
static int carry_whole(struct range *g, struct node *n, struct stand *s, struct ga_rewrite *ret,
		       struct ga_error *err)
{
	cleanup_changes struct ga_changes over = GA_CHANGES_INIT, made = GA_CHANGES_INIT;
	bool collided;

	for (size_t i = 0; i < s->carried.n; i++)
		if (replay_path(g, n, s, i, &over, ret, err))
			return -1;
	if (ga_tree_diff(g->r, &s->work_tree, &n->c.tree, &made, err))
		return -1;
	for (size_t i = 0; i < made.n; i++)
		if (made.v[i].new.mode && !ga_changes_find(&s->carried, made.v[i].path) &&
		    judge_made(g, n, s, &made.v[i], &over, ret, err))
			return -1;
	if (close_over_collisions(g, &n->c.tree, &over, &collided, err))
		return -1;
	if (n == &g->v[g->n - 1])
		add_collisions(&over, &s->carried, &ret->left_out);
	set_over(g, n, &over, collided);
	return 0;
}

/* A parent from which everything can be taken that the commit does not change, or NULL. */
static const struct node *reference(const struct range *g, const struct node *n)
{
	const struct node *ret = NULL;

	for (size_t i = 0; i < n->c.n_parents; i++) {
		const struct node *p = range_find(g, &n->c.parents[i]);

		/* with a parent that the host knows, any value may be one that the host has,
		 * whatever another parent was rewritten to */
		if (is_hosts(g, &n->c.parents[i]))
			return NULL;
		if (!ret && p && p->stand == n->stand && !over_collided(p))
			ret = p;
	}
	return ret;
}

/* Carry over one path that the commit changes. */
static int carry_change(struct range *g, const struct node *n, struct stand *s,
			const struct ga_change *c, struct ga_changes *over,
			struct ga_rewrite *ret, struct ga_error *err)
{
	const struct ga_change *carried = ga_changes_find(&s->carried, c->path);
	struct ga_change made = { c->path, { 0 }, c->new };

	if (carried)
		return replay_path(g, n, s, (size_t)(carried - s->carried.v), over, ret, err);
	if (!c->new.mode)
		return 0;
	if (file_entry(g->r, &s->work_tree, c->path, &made.old, err))
		return -1;
	return ga_entry_equal(&made.old, &made.new) ? 0 :
						      judge_made(g, n, s, &made, over, ret, err);
}

/* Carry over only what the commit changes since the parent `p`. Returns 1 if that is not enough. */
static int carry_changes(struct range *g, struct node *n, const struct node *p, struct stand *s,
			 struct ga_rewrite *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT, over = GA_CHANGES_INIT;
	bool collided;

	if (ga_tree_diff(g->r, &p->c.tree, &n->c.tree, &changes, err))
		return -1;
	if (over_meets(p->over, &changes))
		return 1;
	for (size_t i = 0; i < changes.n; i++)
		if (carry_change(g, n, s, &changes.v[i], &over, ret, err))
			return -1;
	if (close_over_collisions(g, &n->c.tree, &over, &collided, err))
		return -1;
	if (collided)
		return 1;
	follow_over(g, n, p, &changes, &over);
	return 0;
}

static int carry_node(struct range *g, struct node *n, struct stand *s, struct ga_rewrite *ret,
		      struct ga_error *err)
{
	/* for the last commit, everything that is left out has to be listed */
	const struct node *p = n == &g->v[g->n - 1] ? NULL : reference(g, n);
	int rc = p ? carry_changes(g, n, p, s, ret, err) : 1;

	if (rc == 1)
		rc = carry_whole(g, n, s, ret, err);
	if (rc || write_node(g, n, err))
		return -1;
	leave_parents(g, n);
	return 0;
}

/* ---- all of them -------------------------------------------------------------------- */

/* Choose the stand that a commit is based on. For a merge it is the latest; a commit that is based
 * on none may have been made in a working tree that shows the latest. */
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
	s->replayed = ga_calloc(s->carried.n ? s->carried.n : 1, sizeof(*s->replayed));
	s->have_carried = true;
	return 0;
}

/* Remove paths from `summed` that are left out: of these not even the tip has everything. */
static void drop_left_out(struct ga_rewrite *ret)
{
	size_t out = 0;

	for (size_t i = 0; i < ret->summed.n; i++) {
		if (ga_strv_find(&ret->left_out, ret->summed.v[i]) >= 0)
			free(ret->summed.v[i]);
		else
			ret->summed.v[out++] = ret->summed.v[i];
	}
	ret->summed.n = out;
	if (ret->summed.v)
		ret->summed.v[out] = NULL;
}

int carry_over(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	g->merges = g->o->merges ? g->o->merges : MERGES;
	count_children(g);
	for (size_t i = 0; i < g->n; i++) {
		struct stand *s = choose_stand(g, &g->v[i]);

		if (need_carried(g, s, err) || carry_node(g, &g->v[i], s, ret, err))
			return -1;
	}
	ga_strv_sort_unique(&ret->left_out);
	ga_strv_sort_unique(&ret->unsure);
	ga_strv_sort_unique(&ret->summed);
	drop_left_out(ret);
	return 0;
}
