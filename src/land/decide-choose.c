/* SPDX-License-Identifier: MIT
 *
 * Choose the flags and paths of a decision, and reject edits of files. The rest of such a file is
 * new content: the rules run on it, and their flags need a verdict.
 */
#include <stdlib.h>
#include <string.h>

#include "land/land-internal.h"
#include "decide.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"

enum match { NOT, BENEATH, EXACT };

/* Index the paths that were given, as there may be many. "." and "dir/" mean everything beneath. */
static void index_given(const struct decision *d, const struct ga_strv *given,
			struct ga_strmap *ret)
{
	for (size_t i = 0; i < given->n; i++) {
		const char *s = given->v[i];
		size_t n;

		while (!d->what->exact && !strncmp(s, "./", 2))
			s += 2;
		n = strlen(s);
		while (!d->what->exact && n && s[n - 1] == '/')
			n--;
		if (!d->what->exact && n == 1 && *s == '.')
			n = 0;
		ga_strmap_add(ret, s, n, 0);
	}
}

/* The path of a flag on the session as a whole is empty. */
static enum match match(const struct decision *d, const struct ga_strmap *given, const char *path)
{
	size_t n = strlen(path);

	if (ga_strmap_first(given, path, n) >= 0)
		return EXACT;
	while (!d->what->exact && n--)
		if ((!n || path[n] == '/') && ga_strmap_first(given, path, n) >= 0)
			return BENEATH;
	return NOT;
}

static enum match match_accepted(const struct decision *d, const char *path)
{
	return d->what->accept_all ? EXACT : match(d, &d->chosen.accepts, path);
}

bool decide_flagged(const struct decision *d, const char *path)
{
	return ga_strmap_first(&d->chosen.flagged, path, strlen(path)) >= 0;
}

static bool is_blocked(const struct decision *d, const char *path, const struct ga_entry *e)
{
	return d->what->risk && d->what->risk->block.n &&
	       ga_risk_blocks(d->what->risk, path,
			      e->mode == GA_MODE_LINK || e->mode == GA_MODE_GITLINK);
}

/* Does the decision accept this entry at the path? `grave`: it is critical or held. Never what
 * `risk` blocks. */
static bool decide_accepts(const struct decision *d, const char *path, const struct ga_entry *e,
			   bool grave)
{
	enum match m = match_accepted(d, path);

	return m != NOT && (!grave || (d->what->critical_too && m == EXACT)) &&
	       !is_blocked(d, path, e);
}

/* The same; a path that is meant but not accepted is remembered with the reason. */
static bool may_accept(struct decision *d, const char *path, const struct ga_entry *e, bool grave)
{
	if (decide_accepts(d, path, e, grave))
		return true;
	if (match_accepted(d, path) != NOT)
		ga_strv_push(is_blocked(d, path, e) ? &d->chosen.blocked : &d->chosen.by_name,
			     path);
	return false;
}

static void choose_accepted(struct decision *d)
{
	for (size_t i = 0; i < d->report->n_flags; i++) {
		const struct ga_report_flag *f = &d->report->flags[i];
		bool meant = match_accepted(d, f->path) != NOT, held = decide_held(d, f->path);

		if (f->left) {
			if (meant)
				ga_strv_push(&d->chosen.leftovers, f->path);
			continue;
		}
		d->chosen.any = d->chosen.any || meant;
		if (f->verdict != GA_VERDICT_OPEN ||
		    !may_accept(d, f->path, &f->entry,
				f->severity == GA_CRITICAL || f->held || held))
			continue;
		d->chosen.verdict[i] = GA_VERDICT_ACCEPTED;
		if (held)
			ga_strv_push(&d->chosen.accept, f->path);
	}
	/* held without a flag of its own, because it collides with a path that has one */
	for (size_t i = 0; i < d->at.held.n; i++) {
		const char *path = d->at.held.v[i].path;

		d->chosen.any = d->chosen.any || match_accepted(d, path) != NOT;
		if (!decide_flagged(d, path) && may_accept(d, path, &d->at.held.v[i].new, true))
			ga_strv_push(&d->chosen.accept, path);
	}
}

static bool rejects(const struct decision *d, const char *path)
{
	return match(d, &d->chosen.rejects, path) != NOT;
}

/* A commit on top cannot undo what only earlier commits have: flags on that stay open. */
static int reject_flags(struct decision *d, struct ga_error *err)
{
	cleanup_past struct ga_past past = GA_PAST_INIT;

	if (ga_report_past(d->repo, d->report, &d->at.tip, &past, err))
		return -1;
	for (size_t i = 0; i < d->report->n_flags; i++) {
		if (!rejects(d, d->report->flags[i].path))
			continue;
		if (!past.v[i].n && !past.v[i].unknown)
			d->chosen.verdict[i] = GA_VERDICT_REJECTED;
		d->chosen.any = true;
	}
	return 0;
}

/* Any path that the session changed can be rejected, flagged or not. */
static int choose_rejected(struct decision *d, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (!d->what->reject.n)
		return 0;
	if (ga_tree_diff(d->repo, &d->at.base_tree, &d->at.tip_tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (rejects(d, all.v[i].path))
			ga_strv_push(&d->chosen.restore, all.v[i].path);
	for (size_t i = 0; i < d->at.held.n; i++)
		if (rejects(d, d->at.held.v[i].path))
			ga_strv_push(&d->chosen.reject, d->at.held.v[i].path);
	for (size_t i = 0; i < d->report->left_out.n; i++)
		if (rejects(d, d->report->left_out.v[i]))
			ga_strv_push(&d->chosen.unlist, d->report->left_out.v[i]);
	d->chosen.any = d->chosen.any || d->chosen.restore.n || d->chosen.reject.n ||
		d->chosen.unlist.n;
	return reject_flags(d, err);
}

static int fail_nothing(struct decision *d, struct ga_error *err)
{
	const struct ga_strv *given = d->what->accept.n ? &d->what->accept : &d->what->reject;
	cleanup_free char *list = NULL;

	ga_strv_sort_unique(&d->chosen.leftovers);
	if (d->chosen.leftovers.n) {
		list = ga_quote_list(&d->chosen.leftovers, GA_LISTED);
		return ga_fail(err, GA_EFATAL, "a leftover is in no commit that could land: %s"
			       GA_HINT "in the session, 'git add -f PATH' and 'git commit' change "
			       "that ('git agent resume %s')", list, d->s->name);
	}
	list = ga_quote_list(given, GA_LISTED);
	return ga_fail(err, GA_EFATAL, "nothing in session '%s' to %s at: %s"
		       GA_HINT "paths are relative to the top of the working tree; 'git agent "
		       "review %s' lists them", d->s->name, d->what->accept.n ? "accept" : "reject",
		       list, d->s->name);
}

static int fail_blocked(struct decision *d, struct ga_error *err)
{
	cleanup_free char *list = NULL;

	ga_strv_sort_unique(&d->chosen.blocked);
	list = ga_quote_list(&d->chosen.blocked, GA_LISTED);
	return ga_fail(err, GA_EFLAGS, "risk.block of your settings refuses %s"
		       GA_HINT "'git agent review --reject %s PATH...', or take the pattern out of "
		       "your settings ('git agent config --origin')", list, d->s->name);
}

int decide_choose(struct decision *d, struct ga_error *err)
{
	cleanup_free char *list = NULL;
	size_t n_chosen = 0;

	index_given(d, &d->what->accept, &d->chosen.accepts);
	index_given(d, &d->what->reject, &d->chosen.rejects);
	for (size_t i = 0; i < d->report->n_flags; i++)
		ga_strmap_add(&d->chosen.flagged, d->report->flags[i].path,
			      strlen(d->report->flags[i].path), (uint32_t)i);
	choose_accepted(d);
	if (choose_rejected(d, err))
		return -1;
	ga_strv_sort_unique(&d->chosen.by_name);
	for (size_t i = 0; i < d->report->n_flags; i++)
		n_chosen += d->chosen.verdict[i] != GA_VERDICT_OPEN;
	/* with `accept_all` a blocked flag just stays open, as critical ones do */
	if (d->chosen.blocked.n && !d->what->accept_all)
		return fail_blocked(d, err);
	if (!d->chosen.any && !d->what->accept_all && !d->what->n_hunks)
		return fail_nothing(d, err);
	if (!n_chosen && !d->chosen.accept.n && !d->chosen.restore.n && !d->chosen.reject.n &&
	    !d->chosen.unlist.n &&
	    d->chosen.by_name.n && !d->what->accept_all) {
		list = ga_quote_list(&d->chosen.by_name, GA_LISTED);
		return ga_fail(err, GA_EFATAL, "critical paths are accepted one by one: %s"
			       GA_HINT "'git agent review --accept %s PATH...' with their own "
			       "names", list, d->s->name);
	}
	return 0;
}

bool decide_held(const struct decision *d, const char *path)
{
	return ga_changes_find(&d->at.held, path) != NULL;
}

static int fail_moved(const struct ga_change *c, struct ga_error *err)
{
	return ga_fail(err, GA_ECONFLICT, "'%s' is not what was reviewed any more"
		       GA_HINT "review it again", c->path);
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

static bool is_all_set(const bool *undo, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!undo[i])
			return false;
	return true;
}

/* Returns 1 if no change remains; else `ret` is the remaining file. */
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
	if (is_all_set(h->undo, h->n) && (!h->change.old.mode || !h->change.new.mode))
		return 1;
	if (write_rest(d, h, &hunks, ret, err))
		return -1;
	return ga_entry_equal(ret, &h->change.old);
}

/* Reject flags on the former version of the file. A verdict on the remaining one (NULL: none)
 * stays. */
static void judge_cut(struct decision *d, const char *path, const struct ga_entry *rest)
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
			ga_strv_push(h->held ? &d->chosen.reject : &d->chosen.restore,
				     h->change.path);
		else
			add_cut(d, h, &rest);
		judge_cut(d, h->change.path, rc ? NULL : &rest);
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
		if (ga_strv_find(&d->chosen.accept, d->cut_held.v[i].path) < 0)
			ga_strv_push(&held, d->cut_held.v[i].path);
	ga_report_add_flags(r, GA_FROM_SESSION, &d->found, &held);
	/* the remaining file can be a version that was rejected before */
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
