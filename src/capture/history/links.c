/* SPDX-License-Identifier: MIT
 *
 * Set the gitlinks of submodules in the superproject. Each submodule was captured before, in its
 * own repository; here its commits only have to exist.
 */
#include <string.h>

#include "ga/repo/history.h"
#include "capture/capture-internal.h"
#include "ga/base/oid.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"

#define MAX_ASKED 1000 /* most ids that one submodule's repository is asked about */

void ga_links_release(struct ga_links *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].path);
		free(l->v[i].dir);
	}
	free(l->v);
	*l = (struct ga_links)GA_LINKS_INIT;
}

static void note_link(struct capture *c, const struct ga_link *l)
{
	cleanup_free char *q = ga_quote(l->path), *word = ga_quote_shell(l->dir);
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;

	if (l->lost)
		ga_strv_pushf(&c->notes, "submodule %s: %s", q, l->lost);
	if (!l->told)
		return;
	ga_quote_add_text(&safe, word, strlen(word));
	ga_strv_pushf(&c->notes, "submodule %s: %s: 'git -C %s agent review %s'", q,
		      ga_oid_is_zero(&l->tip) ? "it has a report of its own"
					      : "its commits are on a branch of its own",
		      safe.ptr, c->s->name);
}

/* Record what `git add` of each submodule would, had everything in it been committed. */
int capture_links(struct capture *c, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	struct ga_oid tree = c->upper.tree;

	for (size_t i = 0; c->e->links && i < c->e->links->n; i++) {
		const struct ga_link *l = &c->e->links->v[i];
		const struct ga_entry new = { .mode = GA_MODE_GITLINK, .oid = l->tip };
		struct ga_entry now;

		note_link(c, l);
		if (ga_tree_entry(c->e->repo, &tree, l->path, &now, err))
			return -1;
		/* the agent's commits may have dropped it */
		if (now.mode == GA_MODE_GITLINK && !ga_oid_is_zero(&l->tip) &&
		    !ga_entry_equal(&now, &new))
			(void)ga_changes_add(&changes, l->path, &now, &new);
	}
	if (!changes.n)
		return 0;
	ga_changes_sort(&changes);
	return ga_tree_apply(c->e->repo, NULL, &tree, &changes, &c->upper.tree, err);
}

/* Would somebody who merges the superproject find the commit in the submodule's repository, on a
 * branch whose content was checked? */
static int is_published(struct ga_repo *sub, const struct ga_link *l, const struct ga_oid *was,
			const struct ga_oid *oid, bool *ret, struct ga_error *err)
{
	*ret = ga_oid_equal(oid, was) || ga_oid_equal(oid, &l->tip);
	if (*ret || !sub)
		return 0;
	return ga_is_on_branch(sub, oid, ga_oid_is_zero(&l->tip) ? was : &l->tip, false, ret, err);
}

static int must_hold_link(struct capture *c, const struct ga_link *l, const struct ga_oid *history,
			  size_t n, bool *ret, struct ga_error *err)
{
	cleanup_oidmap struct ga_oidmap asked = GA_OIDMAP_INIT;
	cleanup_repo struct ga_repo *sub = NULL;
	struct ga_entry was;

	*ret = false;
	if (ga_tree_entry(c->e->repo, &c->base.tree, l->path, &was, err) ||
	    (!l->gone && ga_repo_open(l->dir, &sub, err)))
		return -1;
	for (size_t i = 0; i < n && !*ret; i++) {
		struct ga_entry e;
		struct ga_oid tree;
		bool published;

		if (ga_commit_tree(c->e->repo, &history[i], &tree, err) ||
		    ga_tree_entry(c->e->repo, &tree, l->path, &e, err))
			return -1;
		if (e.mode != GA_MODE_GITLINK || !ga_oidmap_add(&asked, &e.oid, 0))
			continue;
		if (asked.n > MAX_ASKED) {
			*ret = true;
			break;
		}
		if (is_published(sub, l, &was.oid, &e.oid, &published, err))
			return -1;
		*ret = !published;
	}
	return 0;
}

int hold_links(struct capture *c, const struct ga_oid *history, size_t n, struct ga_strv *ret,
	       struct ga_error *err)
{
	for (size_t i = 0; c->e->links && i < c->e->links->n; i++) {
		const struct ga_link *l = &c->e->links->v[i];
		cleanup_free char *q = ga_quote(l->path);
		bool hold;

		if (must_hold_link(c, l, history, n, &hold, err))
			return -1;
		if (!hold)
			continue;
		ga_strv_push(ret, l->path);
		ga_strv_pushf(&c->notes,
			      "submodule %s is held: a commit names one of it that is not "
			      "published there", q);
	}
	return 0;
}

void leave_links(struct capture *c, struct ga_strv *left_out)
{
	cleanup_strv struct ga_strv all = *left_out;

	*left_out = (struct ga_strv)GA_STRV_INIT;
	for (size_t i = 0; i < all.n; i++) {
		cleanup_free char *q = NULL;

		if (!ga_strv_has(&c->s->id.submodules, all.v[i])) {
			ga_strv_push(left_out, all.v[i]);
			continue;
		}
		q = ga_quote(all.v[i]);
		ga_strv_pushf(&c->notes, "submodule %s: you have not committed the one it is based "
			      "on, so that no commit here names it: a merge in it moves it", q);
	}
}
