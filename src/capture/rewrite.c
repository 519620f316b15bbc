/* SPDX-License-Identifier: MIT */
#include "rewrite-internal.h"

#include <string.h>

#include "ga/path.h"
#include "ga/refs.h"
#include "ga/report.h"
#include "ga/session.h"

#define COMMITS_MAX ((size_t)1000000)

void ga_rewrite_release(struct ga_rewrite *r)
{
	ga_strv_release(&r->held_paths);
	ga_strv_release(&r->left_out);
	ga_strv_release(&r->unsure);
	ga_strv_release(&r->summed);
	ga_flags_release(&r->flags);
	ga_strv_release(&r->keeps);
	*r = (struct ga_rewrite)GA_REWRITE_INIT;
}

/* ---- the range ------------------------------------------------------------------------ */

static void range_release(struct range *g)
{
	for (size_t i = 0; i < g->n; i++) {
		leave_over(&g->v[i]);
		ga_commit_release(&g->v[i].c);
	}
	free(g->v);
	ga_oidmap_release(&g->index);
	for (size_t i = 0; i < g->n_stands; i++) {
		ga_changes_release(&g->stands[i].carried);
		free(g->stands[i].replayed);
		origins_free(g->stands[i].origins);
	}
	free(g->stands);
	ga_pack_free(g->pack);
}

struct node *range_find(const struct range *g, const struct ga_oid *id)
{
	size_t i;

	return ga_oidmap_get(&g->index, id, &i) ? &g->v[i] : NULL;
}

size_t find_stand(const struct range *g, const struct ga_oid *id)
{
	for (size_t i = 0; i < g->n_stands; i++)
		if (ga_oid_equal(&g->stands[i].work, id))
			return i + 1;
	return 0;
}

static void set_stands(struct range *g)
{
	const struct ga_rewrite_opts *o = g->o;

	g->stands = ga_calloc(o->n_stands + 1, sizeof(*g->stands));
	for (size_t i = 0; i < o->n_stands; i++)
		g->stands[g->n_stands++] = (struct stand){ .work = o->stands[i].work,
							   .on = o->stands[i].on };
	g->stands[g->n_stands++] = (struct stand){ .work = *o->base, .on = *o->onto };
}

struct oids {
	struct ga_oid *v;
	size_t n, cap;
};

static void add_oid(struct oids *l, const struct ga_oid *oid)
{
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = *oid;
}

/* What the host knows is what its refs reach, except for those that this tool made from the work of
 * agents. */
static int host_tips(struct ga_repo *r, struct oids *l, struct ga_error *err)
{
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;

	if (ga_session_host_refs(r, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++)
		add_oid(l, &refs.v[i].oid);
	return 0;
}

/* Read a commit into its node, without the texts. */
static int read_node(struct range *g, struct node *n, const struct ga_oid *id,
		     struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .parents = NULL };

	if (ga_commit_read(g->r, id, &c, err))
		return -1;
	ga_commit_release(&n->c);
	n->id = *id;
	n->c.tree = c.tree;
	n->c.n_parents = c.n_parents;
	n->c.parents = ga_steal(&c.parents);
	n->unclean = g->texts && clean_commit(&c);
	return 0;
}

/* Add a commit to the range, unless it is one of the stands: these are the user's work, not the
 * agent's. */
static int add_node(struct range *g, const struct ga_oid *id, struct ga_error *err)
{
	struct node *n = &g->v[g->n];

	if (find_stand(g, id))
		return 0;
	if (read_node(g, n, id, err))
		return -1;
	n->new_tree = n->c.tree;
	leave_over(n);
	(void)ga_oidmap_add(&g->index, id, g->n++);
	return 0;
}

static int range_load(struct range *g, const struct ga_oid *tips, size_t n_tips,
		      const struct ga_oid *known, size_t n_known, struct ga_error *err)
{
	cleanup_free struct ga_oid *ids = NULL, *hide = NULL;
	struct oids l = { 0 };
	size_t n;
	int rc;

	set_stands(g);
	for (size_t i = 0; i < n_known; i++)
		add_oid(&l, &known[i]);
	add_oid(&l, g->o->base);
	if (!g->o->fresh)
		add_oid(&l, g->o->onto);
	rc = g->o->fresh ? 0 : host_tips(g->r, &l, err);
	hide = l.v;
	if (rc || ga_rev_list(g->r, tips, n_tips, hide, l.n, COMMITS_MAX, &ids, &n, err))
		return -1;
	g->v = ga_calloc(n ? n : 1, sizeof(*g->v));
	for (size_t i = 0; i < n; i++)
		if (add_node(g, &ids[i], err))
			return -1;
	return 0;
}

/* ---- writing ---------------------------------------------------------------------------- */

static struct ga_oid mapped(const struct range *g, const struct ga_oid *id)
{
	size_t stand = find_stand(g, id);
	const struct ga_oid *to = stand ? &g->stands[stand - 1].on : id;
	const struct node *p = range_find(g, to);

	return p ? p->new_id : *to;
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

int write_node(struct range *g, struct node *n, struct ga_error *err)
{
	const struct ga_commit *c = &n->c;
	cleanup_free struct ga_oid *parents = NULL;
	bool same = !n->unclean;

	parents = ga_calloc(c->n_parents ? c->n_parents : 1, sizeof(*parents));
	for (size_t i = 0; i < c->n_parents; i++) {
		parents[i] = mapped(g, &c->parents[i]);
		same &= ga_oid_equal(&parents[i], &c->parents[i]);
	}
	if (same && !n->over->n) {
		n->new_id = n->id;
		n->new_tree = c->tree;
		return 0;
	}
	if (ga_tree_apply(g->r, g->pack, &c->tree, n->over, &n->new_tree, err))
		return -1;
	return write_commit(g, n, parents, err);
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

/* Make the commits that this step wrote the input of the next. */
static int advance(struct range *g, struct ga_error *err)
{
	ga_oidmap_release(&g->index);
	for (size_t i = 0; i < g->n; i++) {
		struct node *n = &g->v[i];

		if (read_node(g, n, &n->new_id, err))
			return -1;
		n->differs = false;
		leave_over(n);
		/* two commits may have become one: the first then represents both */
		(void)ga_oidmap_add(&g->index, &n->id, i);
	}
	return 0;
}

static int step_carry(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	if (ga_pack_begin(g->r, &g->pack, err) || carry_over(g, ret, err) ||
	    finish_pack(g, &ret->keeps, err))
		return -1;
	ret->carried = *g->o->tip;
	return advance(g, err);
}

/* ---- the held commit ------------------------------------------------------------------------ */

static char *held_message(const struct range *g, const struct ga_rewrite *ret)
{
	size_t n = ret->held_paths.n, shown = 0;
	cleanup_buf struct ga_buf m = GA_BUF_INIT;

	ga_buf_addf(&m, "held back: %zu %s\n\nAgent-Session: %s\n", n, n == 1 ? "path" : "paths",
		    g->o->session);
	for (size_t i = 0; i < ret->flags.n && shown < GA_REPORT_TRAILERS; i++) {
		const struct ga_flag *f = &ret->flags.v[i];

		if (!ga_flag_holds(g->o->facts, f) || ga_strv_find(&ret->held_paths, f->path) < 0)
			continue;
		ga_report_trailer(&m, "Agent-Flagged", f->severity, f->rule, f->path, NULL);
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

	for (size_t i = 0; i < tip->over->n; i++)
		ga_strv_push(&ret->held_paths, tip->over->v[i].path);
	c.message = message = held_message(g, ret);
	return ga_pack_add_commit(g->pack, &c, &ret->held, err);
}

/* Commits that the agent made empty are its own affair. But if holding back emptied all of them
 * there is nothing to publish, and their branch would look like work that can be merged. */
static int changes_anything(struct range *g, const struct ga_oid *since, bool *ret,
			    struct ga_error *err)
{
	struct ga_oid tree;

	if (ga_commit_tree(g->r, since, &tree, err))
		return -1;
	*ret = false;
	for (size_t i = 0; i < g->n; i++)
		*ret |= !ga_oid_equal(&g->v[i].new_tree, &tree);
	return 0;
}

/* Is nothing left of the commit of what the agent left uncommitted? */
static int is_emptied(struct range *g, const struct node *tip, bool *ret, struct ga_error *err)
{
	const struct node *p = range_find(g, &tip->c.parents[0]);
	struct ga_oid tree;

	if (p)
		tree = p->new_tree;
	else if (ga_commit_tree(g->r, &tip->c.parents[0], &tree, err))
		return -1;
	*ret = ga_oid_equal(&tree, &tip->new_tree);
	return 0;
}

static int step_hold(struct range *g, bool any, struct ga_rewrite *ret, struct ga_error *err)
{
	const struct node *tip = &g->v[g->n - 1];
	bool still, emptied = false;

	if (ga_pack_begin(g->r, &g->pack, err) || hold_back(g, ret, err) ||
	    changes_anything(g, g->o->onto, &still, err) ||
	    (g->o->rest && is_emptied(g, tip, &emptied, err)))
		return -1;
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].differs)
			ret->orig = tip->id;
	ret->tip = emptied ? mapped(g, &tip->c.parents[0]) : tip->new_id;
	if (any && !still)
		ret->tip = *g->o->onto;
	ret->full = tip->c.tree;
	if (tip->over->n && write_held(g, tip, ret, err))
		return -1;
	return finish_pack(g, &ret->keeps, err);
}

/* The agent has no commit of its own: its tip is the base or a commit that the host knew. The flags
 * still help whoever will merge it. */
static int nothing_new(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	ret->tip = mapped(g, g->o->tip);
	return ga_commit_tree(g->r, &ret->tip, &ret->full, err) ||
	       flag_since(g, &ret->full, &ret->flags, err) ? -1 : 0;
}

static int rewrite(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	bool any;

	if (range_load(g, g->o->tip, 1, NULL, 0, err))
		return -1;
	if (!g->n)
		return nothing_new(g, ret, err);
	if (changes_anything(g, g->o->base, &any, err))
		return -1;
	if (!ga_oid_equal(g->o->base, g->o->onto) && step_carry(g, ret, err))
		return -1;
	return step_hold(g, any, ret, err);
}

int ga_rewrite(struct ga_repo *r, const struct ga_rewrite_opts *o, struct ga_rewrite *ret,
	       struct ga_error *err)
{
	struct range g = { .r = r, .o = o };
	int rc;

	ga_rewrite_release(ret);
	rc = rewrite(&g, ret, err);
	range_release(&g);
	if (rc)
		ga_rewrite_release(ret);
	return rc;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static int rewrite_texts(struct range *g, const struct ga_oid *known, size_t n_known,
			 struct ga_oid *tips, size_t n_tips, size_t *ret_cleaned,
			 struct ga_strv *keeps, struct ga_error *err)
{
	*ret_cleaned = 0;
	if (range_load(g, tips, n_tips, known, n_known, err))
		return -1;
	for (size_t i = 0; i < g->n; i++)
		*ret_cleaned += g->v[i].unclean;
	if (!*ret_cleaned)
		return 0;
	if (ga_pack_begin(g->r, &g->pack, err))
		return -1;
	for (size_t i = 0; i < g->n; i++)
		if (write_node(g, &g->v[i], err))
			return -1;
	for (size_t i = 0; i < n_tips; i++) {
		const struct node *n = range_find(g, &tips[i]);

		if (n)
			tips[i] = n->new_id;
	}
	return finish_pack(g, keeps, err);
}

int ga_rewrite_texts(struct ga_repo *r, const struct ga_oid *known, size_t n_known,
		     struct ga_oid *tips, size_t n_tips, size_t *ret_cleaned,
		     struct ga_strv *keeps, struct ga_error *err)
{
	const struct ga_rewrite_opts o = { .base = known, .onto = known };
	struct range g = { .r = r, .o = &o, .texts = true };
	int rc = rewrite_texts(&g, known, n_known, tips, n_tips, ret_cleaned, keeps, err);

	range_release(&g);
	return rc;
}
