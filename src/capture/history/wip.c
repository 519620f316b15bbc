/* SPDX-License-Identifier: MIT
 *
 * Take the user's uncommitted work out of the history: the snapshots that the agent's history is
 * based on, and the agent's changes to them, which no commit may have.
 */
#include "ga/repo/history.h"
#include "capture/capture-internal.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"

static void add_known(struct capture *c, const struct ga_oid *oid)
{
	GA_GROW(c->base.known, c->base.n_known, c->base.cap_known);
	c->base.known[c->base.n_known++] = *oid;
}

static void add_wip_base(struct capture *c, const struct ga_oid *work, const struct ga_oid *on)
{
	for (size_t i = 0; i < c->base.n_wip_bases; i++)
		if (ga_oid_equal(&c->base.wip_bases[i].work, work))
			return;
	GA_GROW(c->base.wip_bases, c->base.n_wip_bases, c->base.cap_wip_bases);
	c->base.wip_bases[c->base.n_wip_bases++] = (struct ga_wip_base){ *work, *on };
	add_known(c, work);
}

/* Add one that a resume made: its first parent is the branch's commit then. */
static int add_later(struct capture *c, const struct ga_oid *work, struct ga_error *err)
{
	cleanup_commit struct ga_commit commit = { .parents = NULL };

	if (ga_commit_read(c->e->repo, work, &commit, err))
		return -1;
	if (commit.n_parents)
		add_wip_base(c, work, &commit.parents[0]);
	return 0;
}

int find_wip_bases(struct capture *c, struct ga_error *err)
{
	add_known(c, &c->base.agent);
	add_known(c, &c->base.branch);
	if (ga_oid_equal(&c->s->id.base, &c->s->id.onto))
		return 0;
	add_wip_base(c, &c->s->id.base, &c->s->id.onto);
	for (size_t i = 0; i < c->s->view.former_bases.n; i++) {
		struct ga_oid work;

		if (!ga_oid_parse(c->s->view.former_bases.v[i], GA_OID_HEXSZ, &work))
			return ga_fail(err, GA_EFATAL, "the state of session '%s' names no commit",
				       c->s->name);
		if (add_later(c, &work, err))
			return -1;
	}
	add_wip_base(c, &c->base.agent, &c->base.branch);
	return 0;
}

bool is_wip_base(const struct capture *c, const struct ga_oid *oid)
{
	for (size_t i = 0; i < c->base.n_wip_bases; i++)
		if (ga_oid_equal(&c->base.wip_bases[i].work, oid))
			return true;
	return ga_oid_equal(oid, &c->base.agent);
}

/* All that may become a ref, but not the agent's HEAD if that is in the history of `o`. */
static size_t find_tips(struct capture *c, struct ga_oid **ret)
{
	size_t n = 0;

	ret[n++] = &c->out.history;
	if (!ga_oid_is_zero(&c->git.head) && !c->git.related)
		ret[n++] = &c->git.head;
	if (!ga_oid_is_zero(&c->git.stash))
		ret[n++] = &c->git.stash;
	for (size_t i = 0; i < c->git.heads.n; i++)
		ret[n++] = &c->git.heads.v[i].oid;
	return n;
}

/* Has it changes to uncommitted work that are neither in the history nor in what was left? */
static int has_more(struct capture *c, const struct ga_strv *paths, const struct ga_oid *tip,
		    bool *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_oid tree;
	int rc = ga_is_ancestor(c->e->repo, tip, &c->out.carried, err);

	*ret = false;
	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_commit_tree(c->e->repo, tip, &tree, err) ||
	    ga_tree_diff(c->e->repo, &c->base.tree, &tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n && !*ret; i++) {
		struct ga_entry e;

		if (!all.v[i].new.mode || !ga_wip_has(paths, all.v[i].path))
			continue;
		if (ga_tree_entry(c->e->repo, &c->upper.tree, all.v[i].path, &e, err))
			return -1;
		*ret = !ga_entry_equal(&e, &all.v[i].new);
	}
	return 0;
}

/* Replace a tip by its rewritten commit. One of which nothing is left needs no ref. */
static int replace_tip(struct capture *c, const struct ga_strv *paths, struct ga_oid *tip,
		       const struct ga_oid *with, const struct ga_oid *history,
		       struct ga_error *err)
{
	bool more = false;

	if (tip != &c->out.history && has_more(c, paths, tip, &more, err))
		return -1;
	if (more) {
		cleanup_free char *what = describe_tip(c, tip);
		cleanup_free char *note = ga_strf("%s has changes to your uncommitted work, which "
						  "stay in the session", what);

		note_unkept(c, note);
	}
	*tip = *with;
	/* no stash any more, but the commit below it */
	if (tip == &c->git.stash && ga_is_near_ancestor(c->e->repo, with, history))
		*tip = (struct ga_oid){ { 0 } };
	for (size_t i = 0; tip != &c->out.history && i < c->base.n_wip_bases; i++)
		if (ga_oid_equal(with, &c->base.wip_bases[i].on))
			*tip = (struct ga_oid){ { 0 } };
	return 0;
}

static int rewrite_tips(struct capture *c, struct ga_strv *paths, struct ga_error *err)
{
	cleanup_free struct ga_oid **from = ga_calloc(c->git.heads.n + 3, sizeof(*from));
	cleanup_free struct ga_oid *tips = ga_calloc(c->git.heads.n + 3, sizeof(*tips));
	struct ga_wip_opts wo = { .wip_bases = c->base.wip_bases,
				  .n_wip_bases = c->base.n_wip_bases,
				  .rename_ms = (unsigned)c->e->limits->git_time * 1000 };
	size_t n = find_tips(c, from);
	bool exact;

	/* nothing was done */
	if (n == 1 && ga_oid_equal(&c->out.history, &c->base.agent)) {
		c->out.history = c->base.branch;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		tips[i] = *from[i];
	if (ga_rewrite_wip(c->e->repo, &wo, tips, n, paths, &exact, &c->keeps, err))
		return -1;
	for (size_t i = n; i-- > 0;)
		if (replace_tip(c, paths, from[i], &tips[i], &tips[0], err))
			return -1;
	forget_zero_heads(c);
	if (exact)
		ga_strv_push(&c->notes, "renames of files with uncommitted changes were only found "
					"where the content is the same");
	return 0;
}

/* Diff the snapshot and the agent's tree for the changes to uncommitted work, including paths that
 * collide with it, such as a file in place of a directory. */
static int find_left_out(struct capture *c, const struct ga_strv *paths, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_oid published;

	if (ga_tree_diff(c->e->repo, &c->base.tree, &c->out.tree, &all, err) ||
	    ga_commit_tree(c->e->repo, &c->out.history, &published, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		struct ga_entry e;

		if (ga_tree_entry(c->e->repo, &published, all.v[i].path, &e, err))
			return -1;
		if (!ga_entry_equal(&e, &all.v[i].new) || ga_wip_has(paths, all.v[i].path))
			ga_strv_push(&c->out.left_out, all.v[i].path);
	}
	leave_links(c, &c->out.left_out);
	return 0;
}

int leave_wip(struct capture *c, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, had = GA_STRV_INIT;

	if (ga_oid_equal(&c->s->id.base, &c->s->id.onto))
		return 0;
	c->out.carried = c->out.history;
	if (ga_wip_paths(c->e->repo, c->s, &paths, err))
		return -1;
	ga_strv_extend(&had, &paths);
	if (rewrite_tips(c, &paths, err) || find_left_out(c, &paths, err))
		return -1;
	ga_strv_extend(&c->out.renamed, &c->s->view.renamed);
	for (size_t i = 0; i < paths.n; i++)
		if (ga_strv_find(&had, paths.v[i]) < 0)
			ga_strv_push(&c->out.renamed, paths.v[i]);
	return 0;
}
