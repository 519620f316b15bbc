/* SPDX-License-Identifier: MIT
 *
 * Hold paths back: no commit of the published history, not even one in the middle, has a value that
 * is new to the host in a path of the user's uncommitted work or a critical one, since `git rebase`
 * and `git bisect` check out every commit.
 */
#include "ga/repo/history.h"
#include "rewrite-internal.h"

#include <string.h>

#include "ga/base/strmap.h"
#include "ga/session/session.h"

struct hold {
	struct range *g;
	struct ga_rewrite *ret;
	struct ga_strv always;       /* opts.hold_always, sorted */
	struct ga_oid base_tree;
	struct ga_strmap told;       /* from the paths of the flags in `ret` to their indices */
	const struct ga_classified *whole; /* from the base to everything ... */
	struct ga_classified own;    /* ... unless that is opts.known */
	/* of the node being worked on */
	struct node *n;
	struct ga_strv critical;     /* paths that it changes and may not */
	const struct ga_oid *ref;    /* the parent whose value a held path gets; NULL: none */
	struct ga_changes changes;   /* from its first parent, if that held any path */
};

/* ---- flags -------------------------------------------------------------------------- */

static void classified_release(struct ga_classified *c)
{
	ga_changes_release(&c->changes);
	ga_flags_release(&c->flags);
}

/* Add a flag, each path once per rule: that of the final tree, which comes first, or of the commit
 * that had it; and again if it was more severe in between. */
static void add_flag(struct hold *h, const struct ga_flag *f)
{
	struct ga_flags *to = &h->ret->flags;

	for (int32_t i = ga_strmap_first(&h->told, f->path, strlen(f->path)); i >= 0;
	     i = h->told.nodes[i].next) {
		const struct ga_flag *had = &to->v[h->told.nodes[i].value];

		if (!strcmp(had->rule, f->rule) && had->severity >= f->severity)
			return;
	}
	ga_flags_copy(to, f);
	f = &to->v[to->n - 1];
	ga_strmap_add(&h->told, f->path, strlen(f->path), (uint32_t)(to->n - 1));
}

static void add_flags(struct hold *h, const struct ga_flags *from)
{
	for (size_t i = 0; i < from->n; i++)
		add_flag(h, &from->v[i]);
}

/* Run the rules on a change, unless its result is known. Returns NULL on failure; the result may be
 * `scratch`. */
static const struct ga_classified *classify(struct hold *h, const struct ga_oid *old,
					    const struct ga_oid *new,
					    struct ga_classified *scratch, struct ga_error *err)
{
	const struct ga_classified *known[] = { h->whole, h->g->o->known };

	for (size_t i = 0; old && i < GA_NELEMS(known); i++)
		if (known[i] && ga_oid_equal(&known[i]->old, old) &&
		    ga_oid_equal(&known[i]->new, new))
			return known[i];
	if (ga_tree_diff(h->g->r, old, new, &scratch->changes, err) ||
	    ga_classify(h->g->r, h->g->o->facts, old, new, &scratch->changes, &scratch->flags, err))
		return NULL;
	scratch->old = old ? *old : (struct ga_oid){ { 0 } };
	scratch->new = *new;
	return scratch;
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
	over = p ? ga_changes_find(&p->over, path) : NULL;
	if (over) {
		*ret = over->new;
		return 0;
	}
	return ga_tree_file(h->g->r, &tree, path, ret, err);
}

/* Does the user's commit opts.users have this value? Returns 1 if so. */
static int is_users_value(struct range *g, const char *path, const struct ga_entry *value,
			  struct ga_error *err)
{
	struct ga_entry e;
	struct ga_oid tree;

	if (!g->o || !g->o->users)
		return 0;
	return ga_commit_tree(g->r, g->o->users, &tree, err) ||
	       ga_tree_file(g->r, &tree, path, &e, err) ? -1 : ga_entry_equal(&e, value);
}

/* Does a parent that the host knows have it? Returns 1 if so. */
static int is_host_value(struct hold *h, const char *path, const struct ga_entry *value,
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
	return is_users_value(h->g, path, value, err);
}

/* Find the parent whose value a held path gets: the first that the host knows, else the first. A
 * parent that is an ancestor of the base is passed over: its values would revert what came since,
 * in paths that the agent did not touch. */
static int find_reference(struct hold *h, struct ga_error *err)
{
	const struct ga_commit *c = &h->n->c;

	h->ref = c->n_parents ? &c->parents[0] : NULL;
	for (size_t i = 0; i < c->n_parents; i++) {
		int rc = 0;

		if (range_find(h->g, &c->parents[i]))
			continue;
		if (c->n_parents > 1 && !ga_oid_equal(&c->parents[i], &h->g->base))
			rc = ga_is_ancestor(h->g->r, &c->parents[i], &h->g->base, err);
		if (rc < 0)
			return -1;
		if (!rc) {
			h->ref = &c->parents[i];
			return 0;
		}
	}
	return 0;
}

/* ---- one commit -------------------------------------------------------------------------- */

/* Find the paths whose content is unchanged, but was committed because git inside, lacking a
 * filter, took it for modified. The user knows that content. */
static int find_shown(struct hold *h, const struct ga_flags *flags, struct ga_strv *ret,
		      struct ga_error *err)
{
	for (size_t i = 0; h->g->o->shows && i < flags->n; i++) {
		const struct ga_flag *f = &flags->v[i];
		bool shows = false;

		if (strcmp(f->rule, "filter-not-run") != 0)
			continue;
		if (h->g->o->shows(h->g->o->payload, f->path, &f->entry.oid, &shows, err))
			return -1;
		if (shows)
			ga_strv_push(ret, f->path);
	}
	ga_strv_sort_unique(ret);
	return 0;
}

/* Add the flags of a commit, but not those for values that a parent known to the host has as well:
 * these are not new. */
static int add_new_flags(struct hold *h, const struct ga_flags *flags, struct ga_error *err)
{
	cleanup_strv struct ga_strv shown = GA_STRV_INIT;

	if (find_shown(h, flags, &shown, err))
		return -1;
	for (size_t i = 0; i < flags->n; i++) {
		const struct ga_flag *f = &flags->v[i];
		int rc = is_host_value(h, f->path, &f->entry, err);

		if (rc < 0)
			return -1;
		if (!rc && ga_strv_find(&shown, f->path) < 0)
			add_flag(h, f);
	}
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
	cleanup_(classified_release) struct ga_classified scratch = { .changes = GA_CHANGES_INIT };
	const struct ga_classified *k;

	if (h->g->wip)
		return find_wip(h, old, err);
	k = classify(h, old, &h->n->c.tree, &scratch, err);
	if (!k)
		return -1;
	for (size_t i = 0; i < k->flags.n; i++)
		if (ga_flag_holds(h->g->o->facts, &k->flags.v[i]))
			ga_strv_push(&h->critical, k->flags.v[i].path);
	for (size_t i = 0; i < k->changes.n; i++)
		if (ga_strv_find(&h->always, k->changes.v[i].path) >= 0)
			ga_strv_push(&h->critical, k->changes.v[i].path);
	return k == h->whole ? 0 : add_new_flags(h, &k->flags, err);
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

/* Would this value be held if the commit were directly on the base? */
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
static int still_held(struct hold *h, const char *path, const struct ga_entry *is,
		      struct ga_error *err)
{
	for (size_t i = 0; i < h->n->c.n_parents; i++) {
		const struct node *p = range_find(h->g, &h->n->c.parents[i]);
		const struct ga_change *had = p ? ga_changes_find(&p->over, path) : NULL;

		if (had && ga_entry_equal(&had->old, is))
			return 1;
	}
	return still_critical(h, path, is, err);
}

/* What the commit has in a path. Most paths that its first parent held it has as that had them. */
static int own_entry(struct hold *h, const char *path, struct ga_entry *ret, struct ga_error *err)
{
	const struct ga_commit *c = &h->n->c;
	const struct node *p = c->n_parents ? range_find(h->g, &c->parents[0]) : NULL;
	const struct ga_change *had = p ? ga_changes_find(&p->over, path) : NULL;

	if (!had || ga_changes_find(&h->changes, path))
		return ga_tree_file(h->g->r, &c->tree, path, ret, err);
	*ret = had->old;
	return 0;
}

static int consider(struct hold *h, const char *path, struct ga_error *err)
{
	const bool must = h->g->wip || ga_strv_find(&h->critical, path) >= 0;
	struct ga_entry is, want = { 0 };
	int rc;

	if (own_entry(h, path, &is, err))
		return -1;
	rc = is_host_value(h, path, &is, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	rc = must ? 1 : still_held(h, path, &is, err);
	if (rc <= 0)
		return rc;
	if (h->ref && rewritten_entry(h, h->ref, path, &want, err))
		return -1;
	if (!ga_entry_equal(&is, &want))
		(void)ga_changes_add(&h->n->over, path, &is, &want);
	return 0;
}

static void gather_candidates(struct hold *h, struct ga_strv *ret)
{
	ga_strv_extend(ret, &h->critical);
	for (size_t i = 0; i < h->n->c.n_parents; i++) {
		const struct node *p = range_find(h->g, &h->n->c.parents[i]);

		for (size_t k = 0; p && k < p->over.n; k++)
			ga_strv_push(ret, p->over.v[k].path);
	}
	ga_strv_sort_unique(ret);
}

/* Free the lists of parents that no child needs any more: all at once they would not fit into
 * memory, with thousands of paths and thousands of commits. */
static void leave_parents(const struct range *g, const struct node *n)
{
	for (size_t i = 0; i < n->c.n_parents; i++) {
		struct node *p = range_find(g, &n->c.parents[i]);

		if (p && p->last == (size_t)(n - g->v))
			ga_changes_release(&p->over);
	}
}

/* Consider all paths that the commit may not change and all that were held in its parents. */
static int hold_node(struct hold *h, struct ga_error *err)
{
	const struct ga_commit *c = &h->n->c;
	const struct node *p = c->n_parents ? range_find(h->g, &c->parents[0]) : NULL;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	if (gather_critical(h, err))
		return -1;
	gather_candidates(h, &paths);
	if (paths.n && find_reference(h, err))
		return -1;
	if (p && p->over.n && ga_tree_diff(h->g->r, &p->c.tree, &c->tree, &h->changes, err))
		return -1;
	for (size_t i = 0; i < paths.n; i++)
		if (consider(h, paths.v[i], err))
			return -1;
	if (close_over_collisions(h->g, &h->n->c.tree, &h->n->over, err) ||
	    write_node(h->g, h->n, err))
		return -1;
	leave_parents(h->g, h->n);
	return 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Without those of values that the user's commit has as well: from a rebase or a merge. */
static int copy_own(struct range *g, const struct ga_flags *all, struct ga_flags *ret,
		    struct ga_error *err)
{
	for (size_t i = 0; i < all->n; i++) {
		int rc = is_users_value(g, all->v[i].path, &all->v[i].entry, err);

		if (rc < 0)
			return -1;
		if (!rc)
			ga_flags_copy(ret, &all->v[i]);
	}
	return 0;
}

int flag_since(struct range *g, const struct ga_oid *tree, struct ga_flags *ret,
	       struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags all = GA_FLAGS_INIT;
	struct ga_oid since;

	return ga_commit_tree(g->r, g->o->since ? g->o->since : g->o->base, &since, err) ||
	       ga_tree_diff(g->r, &since, tree, &changes, err) ||
	       ga_classify(g->r, g->o->facts, &since, tree, &changes, &all, err) ||
	       copy_own(g, &all, ret, err) ? -1 : 0;
}

/* Find the flags of the whole, which come first, and of what was published before. */
static int flag_whole(struct hold *h, struct ga_error *err)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	struct range *g = h->g;
	const struct ga_oid *tree = &g->v[g->n - 1].c.tree;

	if (ga_commit_tree(g->r, &g->base, &h->base_tree, err))
		return -1;
	h->whole = classify(h, &h->base_tree, tree, &h->own, err);
	if (!h->whole || copy_own(g, &h->whole->flags, &flags, err) ||
	    (g->o->since && !ga_oid_equal(g->o->since, g->o->base) &&
	     flag_since(g, tree, &flags, err)))
		return -1;
	add_flags(h, &flags);
	return 0;
}

static int hold_all(struct hold *h, struct ga_error *err)
{
	struct range *g = h->g;

	if (!g->wip && flag_whole(h, err))
		return -1;
	for (size_t i = g->n_wip_bases; i < g->n; i++) {
		h->n = &g->v[i];
		if (hold_node(h, err))
			return -1;
	}
	return 0;
}

int hold_back(struct range *g, struct ga_rewrite *ret, struct ga_error *err)
{
	struct hold h = { .g = g, .ret = ret };
	int rc;

	if (g->o && g->o->hold_always)
		ga_strv_extend(&h.always, g->o->hold_always);
	ga_strv_sort_unique(&h.always);
	rc = hold_all(&h, err);
	if (ret)
		ga_flags_sort(&ret->flags);
	ga_strv_release(&h.always);
	ga_strv_release(&h.critical);
	ga_strmap_release(&h.told);
	classified_release(&h.own);
	ga_changes_release(&h.changes);
	return rc;
}
