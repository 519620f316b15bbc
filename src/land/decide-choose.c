/* SPDX-License-Identifier: MIT
 *
 * Choose the flags and paths of a decision.
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

/* Does the decision accept this entry at the path? `grave`: it is critical or held. A path that is
 * meant but not accepted is remembered with the reason. */
static bool may_accept(struct decision *d, const char *path, const struct ga_entry *e, bool grave)
{
	enum match m = match_accepted(d, path);
	bool blocked = m != NOT && is_blocked(d, path, e);

	if (m != NOT && !blocked && (!grave || (d->what->critical_too && m == EXACT)))
		return true;
	if (m != NOT)
		ga_strv_push(blocked ? &d->chosen.blocked : &d->chosen.by_name, path);
	return false;
}

static void choose_accepted(struct decision *d)
{
	for (size_t i = 0; i < d->report->flags.n; i++) {
		const struct ga_flag *f = &d->report->flags.v[i];
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
	for (size_t i = 0; i < d->report->flags.n; i++) {
		if (!rejects(d, d->report->flags.v[i].path))
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
	for (size_t i = 0; i < d->report->flags.n; i++)
		ga_strmap_add(&d->chosen.flagged, d->report->flags.v[i].path,
			      strlen(d->report->flags.v[i].path), (uint32_t)i);
	choose_accepted(d);
	if (choose_rejected(d, err))
		return -1;
	ga_strv_sort_unique(&d->chosen.by_name);
	for (size_t i = 0; i < d->report->flags.n; i++)
		n_chosen += d->chosen.verdict[i] != GA_VERDICT_OPEN;
	/* with `accept_all` a blocked flag just stays open, as critical ones do */
	if (d->chosen.blocked.n && !d->what->accept_all)
		return fail_blocked(d, err);
	if (!d->chosen.any && !d->what->accept_all)
		return fail_nothing(d, err);
	if (!n_chosen && !d->chosen.accept.n && !d->chosen.restore.n && !d->chosen.reject.n &&
	    !d->chosen.unlist.n && d->chosen.by_name.n && !d->what->accept_all) {
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

void ga_decision_release(struct ga_decision *d)
{
	ga_strv_release(&d->accept);
	ga_strv_release(&d->reject);
	*d = (struct ga_decision)GA_DECISION_INIT;
}
