/* SPDX-License-Identifier: MIT
 *
 * Holding back: no commit of the published history has a value that the host did not have before in
 * a path of the user's uncommitted work or a critical one, not even temporarily, since `git rebase`
 * and `git bisect` check out every commit.
 */
#include "rewrite-internal.h"

#include <string.h>

#include "ga/strmap.h"
#include "ga/wip.h"

struct hold {
	struct range *g;
	struct ga_rewrite *ret;
	struct ga_strv always;       /* opts.hold_always, sorted */
	struct ga_oid base_tree;
	struct ga_strmap seen;       /* from "rule path" of flags in `ret` to their severities
				      * ... */
	struct ga_strv seen_keys;    /* ... with keys that are owned by this */
	struct ga_flags final;       /* from the base to everything */
	const struct node *tip;
	/* of the node being worked on */
	struct node *n;
	struct ga_strv critical;     /* paths that it changes and may not */
	bool have_ref;               /* `ref` is set: reference_parent() looks once */
	const struct ga_oid *ref;
};

/* ---- flags -------------------------------------------------------------------------- */

static void copy_flag(struct ga_flags *to, const struct ga_flag *f)
{
	GA_GROW(to->v, to->n, to->cap);
	to->v[to->n] = *f;
	to->v[to->n].path = ga_strdup(f->path);
	to->v[to->n].reason = ga_strdup(f->reason);
	to->v[to->n].also = (struct ga_strv)GA_STRV_INIT;
	ga_strv_extend(&to->v[to->n++].also, &f->also);
}

/* Is there a flag of this rule and path already, no less severe? */
static bool told(const struct hold *h, const char *key, enum ga_severity s)
{
	for (int32_t i = ga_strmap_first(&h->seen, key, strlen(key)); i >= 0;
	     i = h->seen.nodes[i].next)
		if (h->seen.nodes[i].value >= (uint32_t)s)
			return true;
	return false;
}

/* Add flags, each path once for a rule: the flag of the final tree, which comes first, or of the
 * commit that had it; and once more if it was more severe in between. */
static void add_flags(struct hold *h, const struct ga_flags *from)
{
	for (size_t i = 0; i < from->n; i++) {
		char *key = ga_strf("%s %s", from->v[i].rule, from->v[i].path);
		enum ga_severity s = from->v[i].severity;

		if (told(h, key, s)) {
			free(key);
			continue;
		}
		ga_strv_take(&h->seen_keys, key);
		ga_strmap_add(&h->seen, key, strlen(key), (uint32_t)s);
		copy_flag(&h->ret->flags, &from->v[i]);
	}
}

static int classify(struct hold *h, const struct ga_oid *old, const struct ga_oid *new,
		    struct ga_flags *flags, struct ga_changes *changes, struct ga_error *err)
{
	const struct ga_classified *k = h->g->o->known;

	if (k && ga_oid_equal(&k->old, old) && ga_oid_equal(&k->new, new)) {
		for (size_t i = 0; i < k->flags.n; i++)
			copy_flag(flags, &k->flags.v[i]);
		for (size_t i = 0; i < k->changes.n; i++) {
			const struct ga_change *c = &k->changes.v[i];

			(void)ga_changes_add(changes, c->path, &c->old, &c->new);
		}
		return 0;
	}
	if (ga_tree_diff(h->g->r, old, new, changes, err))
		return -1;
	return ga_classify(h->g->r, h->g->o->facts, old, new, changes, flags, err);
}

/* ---- what a parent has ---------------------------------------------------------------- */

/* The tree of a parent as the agent had it, and its node, or NULL if the host knows the parent. */
static int parent_tree(struct hold *h, const struct ga_oid *id, struct ga_oid *ret,
		       struct node **ret_node, struct ga_error *err)
{
	*ret_node = range_find(h->g, id);
	if (*ret_node) {
		*ret = (*ret_node)->c.tree;
		return 0;
	}
	return ga_commit_tree(h->g->r, id, ret, err);
}

/* The value of a path in what a parent was rewritten to. */
static int rewritten_entry(struct hold *h, const struct ga_oid *id, const char *path,
			   struct ga_entry *ret, struct ga_error *err)
{
	const struct ga_change *over;
	struct ga_oid tree;
	struct node *p;

	if (parent_tree(h, id, &tree, &p, err))
		return -1;
	over = p ? ga_changes_find(p->over, path) : NULL;
	if (over) {
		*ret = over->new;
		return 0;
	}
	return ga_tree_file(h->g->r, &tree, path, ret, err);
}

/* Does a parent that the host knows have this value? Returns 1 if so. */
static int host_has(struct hold *h, const char *path, const struct ga_entry *value,
		    struct ga_error *err)
{
	for (size_t i = 0; i < h->n->c.n_parents; i++) {
		struct ga_entry e;
		struct ga_oid tree;
		struct node *p;

		if (parent_tree(h, &h->n->c.parents[i], &tree, &p, err))
			return -1;
		if (p)
			continue;
		if (ga_tree_file(h->g->r, &tree, path, &e, err))
			return -1;
		if (ga_entry_equal(&e, value))
			return 1;
	}
	return 0;
}

/* The parent whose value a held path gets: the first that the host knows, else the first. A parent
 * that the base has long left behind is passed over: its values would revert what came since, in
 * paths that the agent did not touch. */
static int reference_parent(struct hold *h, const struct ga_oid **ret, struct ga_error *err)
{
	const struct ga_commit *c = &h->n->c;

	if (h->have_ref) {
		*ret = h->ref;
		return 0;
	}
	*ret = c->n_parents ? &c->parents[0] : NULL;
	for (size_t i = 0; i < c->n_parents; i++) {
		int rc = 0;

		if (range_find(h->g, &c->parents[i]))
			continue;
		if (c->n_parents > 1 && !ga_oid_equal(&c->parents[i], &h->g->base))
			rc = ga_is_ancestor(h->g->r, &c->parents[i], &h->g->base, err);
		if (rc < 0)
			return -1;
		if (!rc) {
			*ret = &c->parents[i];
			break;
		}
	}
	h->have_ref = true;
	h->ref = *ret;
	return 0;
}

/* ---- one commit -------------------------------------------------------------------------- */

/* Drop the flags of a merge for values that a parent known to the host has as well: these are not
 * new. */
static int drop_known(struct hold *h, struct ga_flags *flags, struct ga_error *err)
{
	size_t out = 0;
	int rc = 0;

	for (size_t i = 0; i < flags->n; i++) {
		struct ga_flag *f = &flags->v[i];

		if (rc >= 0)
			rc = host_has(h, f->path, &f->entry, err);
		if (rc == 0) {
			flags->v[out++] = *f;
			continue;
		}
		ga_flag_release(f);
	}
	flags->n = out;
	return rc < 0 ? -1 : 0;
}

/* Drop the flags of content that nobody changed, but that was committed because git inside took it
 * for changed, lacking the filter that would tell. The user knows that content. */
static int drop_shown(struct hold *h, struct ga_flags *flags, struct ga_error *err)
{
	cleanup_strv struct ga_strv shown = GA_STRV_INIT;
	size_t out = 0;

	for (size_t i = 0; h->g->o->shows && i < flags->n; i++) {
		const struct ga_flag *f = &flags->v[i];
		bool shows = false;

		if (strcmp(f->rule, "filter-not-run") != 0)
			continue;
		if (h->g->o->shows(h->g->o->payload, f->path, &f->entry.oid, &shows, err))
			return -1;
		if (shows)
			ga_strv_push(&shown, f->path);
	}
	if (!shown.n)
		return 0;
	ga_strv_sort_unique(&shown);
	for (size_t i = 0; i < flags->n; i++)
		if (ga_strv_find(&shown, flags->v[i].path) >= 0)
			ga_flag_release(&flags->v[i]);
		else
			flags->v[out++] = flags->v[i];
	flags->n = out;
	return 0;
}

/* Find the paths of uncommitted work that the commit changes. */
static int find_wip(struct hold *h, const struct ga_oid *old, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;

	if (ga_tree_diff(h->g->r, old, &h->n->c.tree, &changes, err))
		return -1;
	for (size_t i = 0; i < changes.n; i++)
		if (ga_wip_has(h->g->wip, changes.v[i].path))
			ga_strv_push(&h->critical, changes.v[i].path);
	return 0;
}

static int against_parent(struct hold *h, const struct ga_oid *old, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	if (h->g->wip)
		return find_wip(h, old, err);
	/* the most frequent case, a single commit: classified already */
	if (old && ga_oid_equal(old, &h->base_tree) &&
	    ga_oid_equal(&h->n->c.tree, &h->tip->c.tree)) {
		if (ga_tree_diff(h->g->r, old, &h->n->c.tree, &changes, err))
			return -1;
		for (size_t i = 0; i < h->final.n; i++)
			copy_flag(&flags, &h->final.v[i]);
	} else if (classify(h, old, &h->n->c.tree, &flags, &changes, err)) {
		return -1;
	}
	for (size_t i = 0; i < flags.n; i++)
		if (ga_flag_holds(h->g->o->facts, &flags.v[i]))
			ga_strv_push(&h->critical, flags.v[i].path);
	for (size_t i = 0; i < changes.n; i++)
		if (ga_strv_find(&h->always, changes.v[i].path) >= 0)
			ga_strv_push(&h->critical, changes.v[i].path);
	if (drop_known(h, &flags, err) || drop_shown(h, &flags, err))
		return -1;
	add_flags(h, &flags);
	return 0;
}

static int gather_critical(struct hold *h, struct ga_error *err)
{
	ga_strv_release(&h->critical);
	for (size_t i = 0; i < h->n->c.n_parents; i++) {
		struct ga_oid tree;
		struct node *p;

		if (parent_tree(h, &h->n->c.parents[i], &tree, &p, err) ||
		    against_parent(h, &tree, err))
			return -1;
	}
	if (!h->n->c.n_parents && against_parent(h, NULL, err))
		return -1;
	ga_strv_sort_unique(&h->critical);
	return 0;
}

static void hold_path(struct ga_changes *over, const char *path, const struct ga_entry *is,
		      const struct ga_entry *want)
{
	if (!ga_entry_equal(is, want))
		(void)ga_changes_add(over, path, is, want);
}

static int hold_critical(struct hold *h, const char *path, const struct ga_entry *is,
			 struct ga_changes *over, struct ga_error *err)
{
	const struct ga_oid *ref;
	struct ga_entry want = { 0 };

	if (reference_parent(h, &ref, err) || (ref && rewritten_entry(h, ref, path, &want, err)))
		return -1;
	hold_path(over, path, is, &want);
	return 0;
}

/* Would this value be held back if the commit were directly on the base? */
static int still_critical(struct hold *h, const char *path, const struct ga_entry *is,
			  struct ga_error *err)
{
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	struct ga_entry base;

	if (ga_strv_find(&h->always, path) >= 0)
		return 1;
	if (ga_tree_file(h->g->r, &h->base_tree, path, &base, err))
		return -1;
	if (ga_entry_equal(&base, is))
		return 0;
	(void)ga_changes_add(&c, path, &base, is);
	if (ga_classify(h->g->r, h->g->o->facts, &h->base_tree, &h->n->c.tree, &c, &flags, err))
		return -1;
	for (size_t i = 0; i < flags.n; i++)
		if (ga_flag_holds(h->g->o->facts, &flags.v[i]) &&
		    !strcmp(flags.v[i].path, path))
			return 1;
	return 0;
}

/* A path that was held in a parent stays held as long as the commit leaves it alone, or changes it
 * to something that is no better. */
static int hold_inherited(struct hold *h, const char *path, const struct ga_entry *is,
			  struct ga_changes *over, struct ga_error *err)
{
	int rc;

	for (size_t i = 0; i < h->n->c.n_parents; i++) {
		const struct node *p = range_find(h->g, &h->n->c.parents[i]);
		const struct ga_change *had = p ? ga_changes_find(p->over, path) : NULL;

		if (had && ga_entry_equal(&had->old, is)) {
			hold_path(over, path, is, &had->new);
			return 0;
		}
	}
	rc = still_critical(h, path, is, err);
	return rc > 0 ? hold_critical(h, path, is, over, err) : rc;
}

static int consider(struct hold *h, const char *path, struct ga_changes *over,
		    struct ga_error *err)
{
	struct ga_entry is;
	int rc;

	if (ga_tree_file(h->g->r, &h->n->c.tree, path, &is, err))
		return -1;
	rc = host_has(h, path, &is, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return h->g->wip || ga_strv_find(&h->critical, path) >= 0
		       ? hold_critical(h, path, &is, over, err)
		       : hold_inherited(h, path, &is, over, err);
}

static void gather_candidates(struct hold *h, struct ga_strv *ret)
{
	ga_strv_extend(ret, &h->critical);
	for (size_t i = 0; i < h->n->c.n_parents; i++) {
		const struct node *p = range_find(h->g, &h->n->c.parents[i]);

		for (size_t k = 0; p && k < p->over->n; k++)
			ga_strv_push(ret, p->over->v[k].path);
	}
	ga_strv_sort_unique(ret);
}

/* Consider all paths that the commit may not change and all that were held in its parents. */
static int hold_whole(struct hold *h, struct ga_error *err)
{
	cleanup_changes struct ga_changes over = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	bool collided;

	gather_candidates(h, &paths);
	for (size_t i = 0; i < paths.n; i++)
		if (consider(h, paths.v[i], &over, err))
			return -1;
	if (close_over_collisions(h->g, &h->n->c.tree, &over, &collided, err))
		return -1;
	set_over(h->g, h->n, &over, collided);
	return 0;
}

/* Consider, of the paths held in the only parent, just those that the commit changes. Returns 1 if
 * that is not enough. */
static int hold_changes(struct hold *h, const struct node *p, struct ga_error *err)
{
	cleanup_changes struct ga_changes over = GA_CHANGES_INIT, changes = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	bool collided;

	if (over_collided(p))
		return 1;
	if (ga_tree_diff(h->g->r, &p->c.tree, &h->n->c.tree, &changes, err))
		return -1;
	if (over_meets(p->over, &changes))
		return 1;
	ga_strv_extend(&paths, &h->critical);
	for (size_t i = 0; p->over->n && i < changes.n; i++)
		if (ga_changes_find(p->over, changes.v[i].path))
			ga_strv_push(&paths, changes.v[i].path);
	ga_strv_sort_unique(&paths);
	for (size_t i = 0; i < paths.n; i++)
		if (consider(h, paths.v[i], &over, err))
			return -1;
	if (close_over_collisions(h->g, &h->n->c.tree, &over, &collided, err))
		return -1;
	if (collided)
		return 1;
	follow_over(h->g, h->n, p, &changes, &over);
	return 0;
}

static int hold_node(struct hold *h, struct ga_error *err)
{
	const struct ga_commit *c = &h->n->c;
	const struct node *p = c->n_parents == 1 ? range_find(h->g, &c->parents[0]) : NULL;
	int rc;

	h->have_ref = false;
	if (gather_critical(h, err))
		return -1;
	rc = p ? hold_changes(h, p, err) : 1;
	if (rc == 1)
		rc = hold_whole(h, err);
	if (rc || write_node(h->g, h->n, err))
		return -1;
	leave_parents(h->g, h->n);
	return 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Drop the flags of values that the user's own branch has as well: brought by a rebase or a merge
 * there. */
static int drop_users(struct range *g, struct ga_flags *flags, struct ga_error *err)
{
	struct ga_oid tree;
	size_t out = 0;
	int rc = 0;

	if (!g->o->users)
		return 0;
	if (ga_commit_tree(g->r, g->o->users, &tree, err))
		return -1;
	for (size_t i = 0; i < flags->n; i++) {
		struct ga_flag *f = &flags->v[i];
		struct ga_entry e = { 0 };

		if (!rc)
			rc = ga_tree_file(g->r, &tree, f->path, &e, err);
		if (rc || !ga_entry_equal(&e, &f->entry)) {
			flags->v[out++] = *f;
			continue;
		}
		ga_flag_release(f);
	}
	flags->n = out;
	return rc;
}

int flag_since(struct range *g, const struct ga_oid *tree, struct ga_flags *ret,
	       struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct ga_oid since;

	return ga_commit_tree(g->r, g->o->since ? g->o->since : g->o->base, &since, err) ||
	       ga_tree_diff(g->r, &since, tree, &changes, err) ||
	       ga_classify(g->r, g->o->facts, &since, tree, &changes, ret, err) ||
	       drop_users(g, ret, err) ? -1 : 0;
}

/* Add the flags of what was published before. */
static int flag_all(struct hold *h, struct ga_error *err)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	struct range *g = h->g;

	if (!g->o->since || ga_oid_equal(g->o->since, g->o->base))
		return 0;
	if (flag_since(g, &h->tip->c.tree, &flags, err))
		return -1;
	add_flags(h, &flags);
	return 0;
}

/* Find the flags of the whole, which come first. */
static int flag_whole(struct hold *h, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct range *g = h->g;

	if (ga_commit_tree(g->r, &g->base, &h->base_tree, err) ||
	    classify(h, &h->base_tree, &h->tip->c.tree, &h->final, &changes, err))
		return -1;
	add_flags(h, &h->final);
	return flag_all(h, err);
}

static int hold_all(struct hold *h, struct ga_error *err)
{
	struct range *g = h->g;

	if (!g->wip && flag_whole(h, err))
		return -1;
	count_children(g);
	for (size_t i = g->n_stands; i < g->n; i++) {
		h->n = &g->v[i];
		if (hold_node(h, err))
			return -1;
	}
	return 0;
}

int hold_back(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	struct hold h = { .g = g, .ret = ret, .tip = g->n ? &g->v[g->n - 1] : NULL };
	int rc;

	if (g->o && g->o->hold_always)
		ga_strv_extend(&h.always, g->o->hold_always);
	ga_strv_sort_unique(&h.always);
	rc = hold_all(&h, err);
	if (ret)
		ga_flags_sort(&ret->flags);
	ga_strv_release(&h.always);
	ga_strv_release(&h.critical);
	ga_strmap_release(&h.seen);
	ga_strv_release(&h.seen_keys);
	ga_flags_release(&h.final);
	return rc;
}
