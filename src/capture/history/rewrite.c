/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "rewrite-internal.h"

#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/session/session.h"

#define COMMITS_MAX ((size_t)1000000)

void ga_rewrite_release(struct ga_rewrite *r)
{
	ga_strv_release(&r->held_paths);
	ga_flags_release(&r->flags);
	ga_strv_release(&r->keeps);
	*r = (struct ga_rewrite)GA_REWRITE_INIT;
}

static void range_release(struct range *g)
{
	for (size_t i = 0; i < g->n; i++) {
		ga_changes_release(&g->v[i].over);
		ga_commit_release(&g->v[i].c);
	}
	free(g->v);
	ga_oidmap_release(&g->index);
	ga_pack_free(g->pack);
}

/* Read a commit into its node, without the texts, and add that to the range. */
static int add_node(struct range *g, const struct ga_oid *id, struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .parents = NULL };
	struct node *n;

	if (ga_commit_read(g->r, id, &c, err))
		return -1;
	GA_GROW(g->v, g->n, g->cap);
	n = &g->v[g->n];
	*n = (struct node){ .id = *id };
	n->c.tree = n->new_tree = c.tree;
	n->c.n_parents = c.n_parents;
	n->c.parents = ga_steal(&c.parents);
	if (g->claimed)
		find_claimed(&c, g->claimed);
	n->unclean = g->texts && clean_commit(&c);
	for (size_t i = 0; i < n->c.n_parents; i++) {
		struct node *p = range_find(g, &n->c.parents[i]);

		if (p)
			p->last = g->n;
	}
	(void)ga_oidmap_add(&g->index, id, g->n++);
	return 0;
}

/* A snapshot maps to its parent. */
static int add_wip_base(struct range *g, const struct ga_wip_base *s, struct ga_error *err)
{
	struct node *n;

	if (range_find(g, &s->work))
		return 0;
	if (add_node(g, &s->work, err))
		return -1;
	n = &g->v[g->n - 1];
	if (ga_commit_tree(g->r, &s->on, &n->new_tree, err) ||
	    ga_tree_diff(g->r, &n->c.tree, &n->new_tree, &n->over, err))
		return -1;
	n->new_id = g->base = s->on;
	n->stand = g->n_wip_bases = g->n;
	return 0;
}

/* Load the commits that `tips` reach and `known` and, unless they are `fresh`, the host's refs do
 * not. */
static int range_load(struct range *g, const struct ga_oid *tips, size_t n_tips,
		      const struct ga_oid *known, size_t n_known, bool fresh,
		      struct ga_error *err)
{
	cleanup_free struct ga_oid *ids = NULL, *hide = NULL;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	size_t n;

	if (!fresh && ga_session_host_refs(g->r, &refs, err))
		return -1;
	hide = ga_calloc(n_known + refs.n + 1, sizeof(*hide));
	for (size_t i = 0; i < n_known + refs.n; i++)
		hide[i] = i < n_known ? known[i] : refs.v[i - n_known].oid;
	if (ga_rev_list(g->r, tips, n_tips, hide, n_known + refs.n, COMMITS_MAX, &ids, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_node(g, &ids[i], err))
			return -1;
	return ga_pack_begin(g->r, &g->pack, err);
}

/* Move the pack in, so that what was written can be read. */
static int finish_pack(struct range *g, struct ga_strv *keeps, struct ga_error *err)
{
	char *keep = NULL;

	if (ga_pack_commit(g->pack, &keep, err))
		return -1;
	g->pack = NULL;
	if (keep)
		ga_strv_take(keeps, keep);
	return 0;
}

static void map_tips(const struct range *g, struct ga_oid *tips, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tips[i] = range_mapped(g, &tips[i]);
}

int ga_rewrite_wip(struct ga_repo *r, const struct ga_wip_opts *o, struct ga_oid *tips,
		   size_t n_tips, struct ga_strv *paths, bool *ret_exact, struct ga_strv *keeps,
		   struct ga_error *err)
{
	cleanup_(range_release) struct range g = { .r = r, .wip = paths };
	cleanup_free struct ga_oid *known = ga_calloc(o->n_wip_bases + 1, sizeof(*known));

	*ret_exact = false;
	for (size_t i = 0; i < o->n_wip_bases; i++) {
		known[i] = o->wip_bases[i].work;
		if (add_wip_base(&g, &o->wip_bases[i], err))
			return -1;
	}
	if (range_load(&g, tips, n_tips, known, o->n_wip_bases, false, err) ||
	    find_moved(&g, o->rename_ms, paths, ret_exact, err) || hold_back(&g, NULL, err))
		return -1;
	map_tips(&g, tips, n_tips);
	return finish_pack(&g, keeps, err);
}

static char *held_message(const struct range *g, const struct ga_rewrite *ret)
{
	size_t n = ret->held_paths.n, shown = 0;
	cleanup_buf struct ga_buf m = GA_BUF_INIT;

	ga_buf_addf(&m, "held: %zu %s\n\nAgent-Session: %s\n", n, n == 1 ? "path" : "paths",
		    g->o->session);
	for (size_t i = 0; i < ret->flags.n && shown < GA_REPORT_TRAILERS; i++) {
		const struct ga_flag *f = &ret->flags.v[i];

		if (!ga_flag_holds(g->o->facts, f) || ga_strv_find(&ret->held_paths, f->path) < 0)
			continue;
		ga_report_trailer(&m, "Agent-Flagged", f, false);
		shown++;
	}
	return ga_buf_steal(&m);
}

/* Write a child of what is published that has everything. */
static int write_held(struct range *g, const struct node *tip, struct ga_rewrite *ret,
		      struct ga_error *err)
{
	cleanup_free char *who = ga_strdup(g->o->committer), *message = NULL;
	struct ga_oid parent = ret->tip;
	struct ga_commit c = { .tree = tip->c.tree, .parents = &parent, .n_parents = 1,
			       .author = who, .committer = who };

	for (size_t i = 0; i < tip->over.n; i++)
		ga_strv_push(&ret->held_paths, tip->over.v[i].path);
	c.message = message = held_message(g, ret);
	return ga_pack_add_commit(g->pack, &c, &ret->held, err);
}

/* The agent has no commit of its own: its tip is the base or a commit that the host knew. The flags
 * still help whoever will merge it. */
static int flag_known_tip(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	ret->tip = *g->o->tip;
	return ga_commit_tree(g->r, &ret->tip, &ret->full, err) ||
	       flag_since(g, &ret->full, &ret->flags, err) ? -1 : 0;
}

int ga_rewrite(struct ga_repo *r, const struct ga_rewrite_opts *o, struct ga_rewrite *ret,
	       struct ga_error *err)
{
	cleanup_(range_release) struct range g = { .r = r, .o = o, .base = *o->base };
	const struct node *tip;

	if (range_load(&g, o->tip, 1, o->base, 1, o->fresh, err))
		return -1;
	if (!g.n)
		return flag_known_tip(&g, ret, err);
	tip = &g.v[g.n - 1];
	if (hold_back(&g, ret, err))
		return -1;
	for (size_t i = 0; i < g.n; i++)
		if (!ga_oid_equal(&g.v[i].new_tree, &g.v[i].c.tree))
			ret->orig = tip->id;
	ret->tip = tip->new_id;
	ret->full = tip->c.tree;
	if (tip->over.n && write_held(&g, tip, ret, err))
		return -1;
	return finish_pack(&g, &ret->keeps, err);
}

int ga_rewrite_texts(struct ga_repo *r, const struct ga_oid *known, size_t n_known,
		     struct ga_oid *tips, size_t n_tips, size_t *ret_cleaned,
		     struct ga_strv *claimed, struct ga_strv *keeps, struct ga_error *err)
{
	cleanup_(range_release) struct range g = { .r = r, .texts = true, .claimed = claimed };

	*ret_cleaned = 0;
	if (range_load(&g, tips, n_tips, known, n_known, false, err))
		return -1;
	for (size_t i = 0; i < g.n; i++)
		*ret_cleaned += g.v[i].unclean;
	if (!*ret_cleaned)
		return 0;
	for (size_t i = 0; i < g.n; i++)
		if (write_node(&g, &g.v[i], err))
			return -1;
	map_tips(&g, tips, n_tips);
	return finish_pack(&g, keeps, err);
}
