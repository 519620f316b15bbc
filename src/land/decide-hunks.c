/* SPDX-License-Identifier: MIT
 *
 * Rejecting edits of files. What is left of a file is content that nobody has judged yet: the rules
 * run on it, and what they find is decided about anew.
 */
#include <stdlib.h>
#include <string.h>

#include "decide.h"
#include "ga/base/quote.h"
#include "ga/repo/diff.h"
#include "ga/repo/hunk.h"
#include "ga/repo/objects.h"

static int fail_moved(const struct ga_change *c, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(c->path);

	(void)ga_fail(err, GA_ECONFLICT, "'%s' is not what was reviewed any more", q);
	return ga_hint(err, "review it again");
}

/* Is the file still what the edits were counted in? */
static int check_same(struct decision *d, const struct ga_hunk_choice *h, struct ga_error *err)
{
	const struct ga_change *held = ga_changes_find(&d->at.held, h->change.path);
	struct ga_entry old, new;

	if (h->held)
		return held && ga_entry_equal(&held->old, &h->change.old) &&
			       ga_entry_equal(&held->new, &h->change.new) ?
			       0 : fail_moved(&h->change, err);
	if (ga_tree_entry(d->repo, &d->at.base_tree, h->change.path, &old, err) ||
	    ga_tree_entry(d->repo, &d->at.tip_tree, h->change.path, &new, err))
		return -1;
	return ga_entry_equal(&old, &h->change.old) && ga_entry_equal(&new, &h->change.new) ?
		       0 : fail_moved(&h->change, err);
}

static int read_version(struct decision *d, const struct ga_entry *e, struct ga_buf *out,
			struct ga_error *err)
{
	int rc = e->mode == GA_MODE_NONE ?
			 0 : ga_blob_read(d->repo, &e->oid, GA_DIFF_BLOB_MAX, out, err);

	/* it was short enough to be compared a moment ago */
	return rc == 1 ? ga_fail(err, GA_EFATAL, "a version of a file is too long") : rc;
}

static int write_rest(struct decision *d, const struct ga_hunk_choice *h,
		      const struct ga_hunks *hunks, struct ga_entry *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf old = GA_BUF_INIT, new = GA_BUF_INIT, rest = GA_BUF_INIT;

	if (read_version(d, &h->change.old, &old, err) ||
	    read_version(d, &h->change.new, &new, err))
		return -1;
	if (ga_hunks_undo(hunks, h->undo, &old, &new, &rest))
		return fail_moved(&h->change, err);
	ret->mode = h->change.new.mode ? h->change.new.mode : h->change.old.mode;
	return ga_blob_write(d->repo, rest.ptr, rest.len, &ret->oid, err);
}

static bool all(const bool *undo, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!undo[i])
			return false;
	return true;
}

/* 1: nothing is left of what was changed. Else `ret` is what is left. */
static int cut_one(struct decision *d, const struct ga_hunk_choice *h, struct ga_entry *ret,
		   struct ga_error *err)
{
	cleanup_hunks struct ga_hunks hunks = GA_HUNKS_INIT;
	int rc;

	if (check_same(d, h, err))
		return -1;
	rc = ga_hunks_read(d->repo, &h->change.old, &h->change.new, &hunks, err);
	if (rc < 0)
		return -1;
	if (rc || hunks.n_edits != h->n)
		return fail_moved(&h->change, err);
	/* of a new or deleted file an empty one would be left, or the same */
	if (all(h->undo, h->n) && (!h->change.old.mode || !h->change.new.mode))
		return 1;
	if (write_rest(d, h, &hunks, ret, err))
		return -1;
	return ga_entry_equal(ret, &h->change.old);
}

/* Flags on the file as it was are rejected, since that version was not accepted. A verdict on what
 * is left (NULL: nothing) stays. */
static void judge(struct decision *d, const char *path, const struct ga_entry *rest)
{
	const struct ga_strmap *m = &d->chosen.flagged;

	for (int32_t n = ga_strmap_first(m, path, strlen(path)); n >= 0; n = m->nodes[n].next) {
		const struct ga_report_flag *f = &d->report->flags[m->nodes[n].value];

		if (!f->left && !(rest && ga_entry_equal(&f->entry, rest)))
			d->chosen.verdict[m->nodes[n].value] = GA_VERDICT_REJECTED;
	}
}

static void add_cut(struct decision *d, const struct ga_hunk_choice *h, const struct ga_entry *rest)
{
	const char *path = h->change.path;

	(void)ga_changes_add(h->held ? &d->cut_held : &d->cut, path, &h->change.new, rest);
	if (h->held)
		d->at.held.v[ga_changes_find(&d->at.held, path) - d->at.held.v].new = *rest;
}

int decide_cut(struct decision *d, struct ga_error *err)
{
	for (size_t i = 0; i < d->what->n_hunks; i++) {
		const struct ga_hunk_choice *h = &d->what->hunks[i];
		struct ga_entry rest;
		int rc = cut_one(d, h, &rest, err);

		if (rc < 0)
			return -1;
		if (rc)
			ga_strv_push(h->held ? &d->chosen.give_up : &d->chosen.restore,
				     h->change.path);
		else
			add_cut(d, h, &rest);
		judge(d, h->change.path, rc ? NULL : &rest);
	}
	ga_changes_sort(&d->cut);
	ga_changes_sort(&d->cut_held);
	return 0;
}

static int add_version(struct decision *d, const char *path, const struct ga_oid *old,
		       const struct ga_oid *new, struct ga_changes *ret, struct ga_error *err)
{
	struct ga_entry was, is;

	if (ga_tree_entry(d->repo, old, path, &was, err) ||
	    ga_tree_entry(d->repo, new, path, &is, err))
		return -1;
	if (!ga_entry_equal(&was, &is))
		(void)ga_changes_add(ret, path, &was, &is);
	return 0;
}

static int classify(struct decision *d, const struct ga_host_facts *facts,
		    const struct ga_changes *cut, const struct ga_oid *old,
		    const struct ga_oid *new, struct ga_error *err)
{
	cleanup_changes struct ga_changes now = GA_CHANGES_INIT;

	for (size_t i = 0; i < cut->n; i++)
		if (add_version(d, cut->v[i].path, old, new, &now, err))
			return -1;
	return now.n ? ga_classify(d->repo, facts, old, new, &now, &d->found, err) : 0;
}

int decide_classify(struct decision *d, struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_(ga_gitconfig_release) struct ga_gitconfig config = GA_GITCONFIG_INIT;
	struct ga_oid held_tree;

	if (!d->cut.n && !d->cut_held.n)
		return 0;
	if (ga_gitconfig_load(d->repo, &config, err) ||
	    ga_host_facts_gather(d->repo, &config, d->what->risk, &facts, err) ||
	    classify(d, &facts, &d->cut, &d->at.base_tree, &d->new_tip_tree, err) ||
	    classify(d, &facts, &d->cut_held, &d->at.base_tree, &d->new_tip_tree, err))
		return -1;
	if (ga_oid_is_zero(&d->new_held))
		return 0;
	return ga_commit_tree(d->repo, &d->new_held, &held_tree, err) ? -1 :
	       classify(d, &facts, &d->cut_held, &d->new_tip_tree, &held_tree, err);
}

void decide_add_found(const struct decision *d, struct ga_report *r)
{
	cleanup_strv struct ga_strv held = GA_STRV_INIT;

	for (size_t i = 0; i < d->cut_held.n; i++)
		if (ga_strv_find(&d->chosen.bring, d->cut_held.v[i].path) < 0)
			ga_strv_push(&held, d->cut_held.v[i].path);
	ga_report_add_flags(r, GA_FROM_SESSION, &d->found, &held);
	/* what is left can be a version that was rejected before */
	decide_reopen(r, &d->found);
	for (size_t i = 0; i < d->found.n; i++) {
		const struct ga_flag *new = &d->found.v[i];
		struct ga_report_flag *f = ga_report_find(r, new->rule, new->path, &new->entry);

		if (f && decide_accepts(d, f->path, &f->entry,
					f->severity == GA_CRITICAL || f->held))
			f->verdict = GA_VERDICT_ACCEPTED;
	}
}

void ga_decision_release(struct ga_decision *d)
{
	ga_strv_release(&d->accept);
	ga_strv_release(&d->reject);
	for (size_t i = 0; i < d->n_hunks; i++) {
		free(d->hunks[i].change.path);
		free(d->hunks[i].undo);
	}
	free(d->hunks);
	*d = (struct ga_decision)GA_DECISION_INIT;
}

void ga_decision_add_hunks(struct ga_decision *d, const struct ga_change *c, bool held,
			   const bool *undo, size_t n)
{
	struct ga_hunk_choice *h;

	d->hunks = ga_reallocarray(d->hunks, d->n_hunks + 1, sizeof(*d->hunks));
	h = &d->hunks[d->n_hunks++];
	*h = (struct ga_hunk_choice){.change = *c, .held = held, .n = n};
	h->change.path = ga_strdup(c->path);
	h->undo = n ? ga_memdup(undo, n * sizeof(*undo)) : NULL;
}
