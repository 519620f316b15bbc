/* SPDX-License-Identifier: MIT
 *
 * The rules have the last word: on the flags that are open in the report, and on what would be
 * there after the landing, with the host as it is now.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ga/objects.h"
#include "ga/refs.h"
#include "work.h"

int land_store_report(struct land *l, struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(l->s, "report"), *committer = NULL;
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	struct ga_oid old, new;
	int rc = ga_ref_read(l->repo, ref, &old, err);

	if (rc < 0 || ga_repo_signature(l->repo, &l->config, time(NULL), &committer, err) ||
	    ga_report_write(l->repo, l->report, committer, rc ? NULL : &old, &new, err))
		return -1;
	if (rc)
		old = (struct ga_oid){{0}};
	ga_ref_updates_add(&u, ref, &old, &new);
	return ga_refs_update(l->repo, &u, "agent: flags found at landing", err);
}

/* A rejected flag that fires again is opened again: somebody brought the content back. */
void land_reopen(struct ga_report *r, const struct ga_flags *found)
{
	for (size_t i = 0; i < found->n; i++) {
		struct ga_report_flag *have = ga_report_find_added(r, &found->v[i]);

		if (have && have->verdict == GA_VERDICT_REJECTED)
			have->verdict = GA_VERDICT_OPEN;
	}
}

static int classify(struct land *l, struct ga_flags *ret, struct ga_error *err)
{
	cleanup_(ga_host_facts_release) struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_changes struct ga_changes carried = GA_CHANGES_INIT;

	if (ga_host_facts_gather(l->repo, &l->config, l->opts->risk, &facts, err) ||
	    ga_classify(l->repo, &facts, &l->head_tree, &l->merged, &l->changes, ret, err))
		return -1;
	/* uncommitted edits get run just like what is committed */
	if (land_carry_changes(l, &carried, err))
		return -1;
	if (!carried.n)
		return 0;
	return ga_classify(l->repo, &facts, &l->base_tree, &l->carried_tree, &carried, ret, err);
}

/* What was found out about each flag of the report. */
struct looked {
	struct ga_past past;
	bool *lands; /* its entry is part of what lands */
	bool *gone;  /* an earlier landing found it, and it has nothing to do with this one */
};

static void looked_release(struct looked *k)
{
	ga_past_release(&k->past);
	free(k->lands);
	free(k->gone);
	k->lands = k->gone = NULL;
}

static bool is_beside(const struct land *l, const struct ga_report_flag *f)
{
	for (size_t i = 0; i < LAND_BESIDES; i++) {
		const struct ga_change *c = ga_changes_find(&l->beside[i], f->path);

		if (c && ga_entry_equal(&c->new, &f->entry))
			return true;
	}
	return false;
}

/* Is its entry in what is committed, or does it come as an uncommitted edit? One that has lines of
 * the user's as well is in no commit of the branch (is_beside()). 1 yes. */
static int is_landing(struct land *l, const struct ga_report_flag *f,
		      const struct ga_changes *carried, struct ga_error *err)
{
	const struct ga_change *c = ga_changes_find(carried, f->path);
	struct ga_entry e;

	if (ga_tree_entry(l->repo, &l->merged, f->path, &e, err))
		return -1;
	return ga_entry_equal(&e, &f->entry) || (c && ga_entry_equal(&c->new, &f->entry)) ||
	       is_beside(l, f);
}

/* Can a commit that is applied again change the path, though none has it? Git follows renames of
 * files to what HEAD has, and nobody looks at the steps of a rebase. 1 yes. */
static int may_be_applied(struct land *l, const char *path, struct ga_error *err)
{
	struct ga_entry e;

	if (!l->rebase)
		return 0;
	return ga_tree_entry(l->repo, &l->head_tree, path, &e, err) ? -1 : e.mode != GA_MODE_NONE;
}

/* Is the flag one of an earlier landing's, made elsewhere or of something else, whose entry the
 * branch does not have? A landing looks for such flags each time, in all that lands; so one that is
 * in none of that says nothing about it. What anything else found stays, whatever lands. 1 yes. */
static int is_gone(struct land *l, const struct ga_report_flag *f, const struct ga_past_flag *past,
		   struct ga_error *err)
{
	struct ga_oid tree;
	struct ga_entry e;
	int rc;

	if (!f->landing || f->held || !*f->path || f->entry.mode == GA_MODE_NONE ||
	    ga_past_any(past) || ga_oid_is_zero(&l->tip))
		return 0;
	rc = may_be_applied(l, f->path, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_commit_tree(l->repo, &l->tip, &tree, err) ||
	    ga_tree_entry(l->repo, &tree, f->path, &e, err))
		return -1;
	return !ga_entry_equal(&e, &f->entry);
}

/* Fill `lands` and `gone`. What was found now lands, whatever it is. */
static int find_landing(struct land *l, struct looked *k, const struct ga_flags *found_or_null,
			struct ga_error *err)
{
	cleanup_changes struct ga_changes carried = GA_CHANGES_INIT;
	const struct ga_report *r = l->report;

	free(k->lands);
	free(k->gone);
	k->lands = ga_calloc(r->n_flags + 1, sizeof(*k->lands));
	k->gone = ga_calloc(r->n_flags + 1, sizeof(*k->gone));
	for (size_t i = 0; found_or_null && i < found_or_null->n; i++) {
		const struct ga_report_flag *f = ga_report_find_added(r, &found_or_null->v[i]);

		if (f)
			k->lands[f - r->flags] = true;
	}
	if (land_carry_changes(l, &carried, err))
		return -1;
	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];
		int rc;

		if (k->lands[i] || (!k->past.v[i].n && !f->landing))
			continue;
		rc = is_landing(l, f, &carried, err);
		k->lands[i] = rc > 0;
		if (!rc) {
			rc = is_gone(l, f, &k->past.v[i], err);
			k->gone[i] = rc > 0;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Is what the flag is about only in single commits and not in their sum? A flagged entry that lands
 * does not count, even if there are earlier versions of it. */
static bool is_on_the_way(const struct looked *k, size_t flag)
{
	return k->past.v[flag].n && !k->lands[flag];
}

/* Does the flag concern what lands? If that was not looked into (`k` is NULL), it may. */
static bool concerns(const struct land *l, size_t flag, const struct looked *k)
{
	const char *path = l->report->flags[flag].path;

	if (l->opts->paths)
		return land_is_wanted(l, path);
	return !l->rest || !k || !*path || k->past.v[flag].n || k->past.v[flag].unknown ||
	       ga_changes_find(&l->changes, path);
}

/* Is it known that nothing the flag is about lands? What is only in single commits is not in their
 * sum, the squash. */
static bool stays_away(const struct land *l, size_t flag, const struct looked *k)
{
	return k->gone[flag] || (l->opts->how == GA_LAND_SQUASH && is_on_the_way(k, flag));
}

/* When only a part lands, only flags that concern it count, among them those raised by where it
 * lands. */
static bool blocks(const struct land *l, size_t flag, const struct looked *looked_or_null)
{
	const struct ga_report_flag *f = &l->report->flags[flag];

	return ga_report_flag_blocks(f) && concerns(l, flag, looked_or_null) &&
	       !(looked_or_null && stays_away(l, flag, looked_or_null));
}

static bool any_blocks(const struct land *l, const struct looked *looked_or_null)
{
	for (size_t i = 0; i < l->report->n_flags; i++)
		if (blocks(l, i, looked_or_null))
			return true;
	return false;
}

/* 1: a flag blocks. Only if one might are the commits looked into. */
static int look_open(struct land *l, const struct ga_flags *found_or_null, struct looked *k,
		     struct ga_error *err)
{
	if (!any_blocks(l, NULL))
		return 0;
	if (ga_report_past(l->repo, l->report, &l->tip, &k->past, err) ||
	    find_landing(l, k, found_or_null, err))
		return -1;
	return any_blocks(l, k);
}

static int fail_open(struct land *l, const struct looked *k, const char *what, struct ga_error *err)
{
	size_t critical = 0, high = 0, held = 0, on_the_way = 0;
	cleanup_buf struct ga_buf counts = GA_BUF_INIT;

	for (size_t i = 0; i < l->report->n_flags; i++) {
		const struct ga_report_flag *f = &l->report->flags[i];

		if (!blocks(l, i, k))
			continue;
		on_the_way += is_on_the_way(k, i);
		critical += f->severity == GA_CRITICAL;
		high += f->severity == GA_HIGH;
		held += f->severity < GA_HIGH;
	}
	if (critical)
		ga_buf_addf(&counts, ", %zu critical", critical);
	if (high)
		ga_buf_addf(&counts, ", %zu high", high);
	if (held)
		ga_buf_addf(&counts, ", %zu held back", held);
	(void)ga_fail(err, GA_EFLAGS, "agent/%s %s: %s", l->s->name, what, counts.ptr + 2);
	return ga_hint(err, "'git agent review %s', then --accept or --reject their paths%s",
		       l->s->name,
		       on_the_way ? "; 'git agent land --squash' leaves out what only commits on "
				    "the way have" : "");
}

int land_hint_unstored(const struct land *l, struct ga_error *err)
{
	return !l->opts->dry_run ? -1 :
	       ga_hint_instead(err, "'git agent land %s' notes them for 'git agent review %s'",
			       l->s->name, l->s->name);
}

/* Add to the report what the rules found where it lands, and refuse if any of it blocks. */
static int judge(struct land *l, const struct ga_flags *found, struct looked *k,
		 struct ga_error *err)
{
	int rc;

	ga_report_add_landing_flags(l->report, found);
	land_reopen(l->report, found);
	rc = look_open(l, found, k, err);
	if (rc <= 0)
		return rc;
	if (!l->opts->dry_run && land_store_report(l, err))
		return -1;
	(void)fail_open(l, k, "would raise new flags where it lands", err);
	return land_hint_unstored(l, err);
}

int land_check_flags(struct land *l, struct ga_error *err)
{
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;
	cleanup_(looked_release) struct looked k = { .past = GA_PAST_INIT };
	int rc = look_open(l, NULL, &k, err);

	if (rc)
		return rc < 0 ? -1 : fail_open(l, &k, "has open flags", err);
	return classify(l, &found, err) ? -1 : judge(l, &found, &k, err);
}

/* ---- beside lines of the user's ------------------------------------------------------ */

/* Add a change of the path, unless its result was judged already. */
static void add_beside(struct ga_changes *ret, const struct work_path *p,
		       const struct ga_entry *old, const struct ga_entry *new,
		       const struct ga_entry *judged)
{
	if (!ga_entry_equal(old, new) && !ga_entry_equal(new, judged))
		(void)ga_changes_add(ret, p->path, old, new);
}

static void find_beside_work(struct land *l)
{
	static const struct ga_entry none;

	for (size_t i = 0; i < l->work->n; i++) {
		const struct work_path *p = &l->work->v[i];
		const struct ga_entry *judged = p->left_out   ? &p->made
						: p->conflict ? &none
							      : &p->merged;
		const struct ga_entry *staged =
		    ga_entry_equal(&p->to_index, &p->to_commit) ? &p->to_index : judged;
		const struct ga_entry *edited =
		    ga_entry_equal(&p->to_work, &p->to_commit) ? &p->to_work : judged;

		add_beside(&l->beside[LAND_COMMITTED], p, &p->head, &p->to_commit, judged);
		add_beside(&l->beside[LAND_STAGED], p, &p->index, &p->to_index, staged);
		if (work_is_written(p))
			add_beside(&l->beside[LAND_EDITED], p, &p->work, &p->to_work, edited);
	}
}

static int find_beside_carried(struct land *l, struct ga_error *err)
{
	cleanup_changes struct ga_changes carried = GA_CHANGES_INIT;

	if (!l->carries.n)
		return 0;
	if (land_carry_changes(l, &carried, err))
		return -1;
	for (size_t i = 0; i < l->carries.n; i++) {
		const struct land_carry *c = &l->carries.v[i];
		const struct ga_change *made = ga_changes_find(&carried, c->path);

		if (!ga_entry_equal(&c->had, &c->will) &&
		    !(made && ga_entry_equal(&c->will, &made->new)))
			(void)ga_changes_add(&l->beside[LAND_EDITED], c->path, &c->had, &c->will);
	}
	return 0;
}

static int classify_beside(struct land *l, const struct ga_host_facts *facts,
			   const struct ga_changes *c, struct ga_flags *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes before = GA_CHANGES_INIT;
	struct ga_oid was, is;

	if (!c->n)
		return 0;
	for (size_t i = 0; i < c->n; i++)
		(void)ga_changes_add(&before, c->v[i].path, &c->v[i].new, &c->v[i].old);
	return ga_tree_apply(l->repo, NULL, &l->merged, &before, &was, err) ||
	       ga_tree_apply(l->repo, NULL, &l->merged, c, &is, err) ||
	       ga_classify(l->repo, facts, &was, &is, c, ret, err) ? -1 : 0;
}

/* The accepted flag that says the same of the agent's version of the path, or NULL. For a critical
 * flag that is not enough: its verdict is about these bytes and no others. */
static const struct ga_report_flag *find_accepted(const struct land *l, const struct ga_flag *f)
{
	for (size_t i = 0; i < l->report->n_flags; i++) {
		const struct ga_report_flag *have = &l->report->flags[i];

		if (have->verdict == GA_VERDICT_ACCEPTED && have->severity >= f->severity &&
		    !strcmp(have->id, f->rule) && !strcmp(have->path, f->path) &&
		    !strcmp(have->reason, f->reason))
			return have;
	}
	return NULL;
}

/* Drop the flags that were accepted on the agent's version. Critical ones stay, and their paths go
 * to `again`. */
static void forget_known(const struct land *l, struct ga_flags *found, struct ga_strv *again)
{
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		const struct ga_report_flag *have = find_accepted(l, &found->v[i]);

		if (have && found->v[i].severity >= GA_CRITICAL)
			ga_strv_push(again, have->path);
		if (have && found->v[i].severity < GA_CRITICAL)
			ga_flag_release(&found->v[i]);
		else
			found->v[n++] = found->v[i];
	}
	found->n = n;
}

/* Say why something that was accepted a moment ago is asked about again. */
static int say_again(struct ga_strv *again, struct ga_error *err)
{
	cleanup_free char *list = NULL, *msg = ga_steal(&err->msg);

	ga_strv_sort_unique(again);
	list = land_list(again);
	err->msg = ga_strf("%s; accepted as the agent has it, but another here, with lines of "
			   "yours: %s", msg, list);
	return -1;
}

int land_check_beside(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv again = GA_STRV_INIT;
	cleanup_(ga_host_facts_release) struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_(looked_release) struct looked k = { .past = GA_PAST_INIT };
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;
	size_t n = 0;

	if (l->work)
		find_beside_work(l);
	if (find_beside_carried(l, err))
		return -1;
	for (size_t i = 0; i < LAND_BESIDES; i++) {
		ga_changes_sort(&l->beside[i]);
		n += l->beside[i].n;
	}
	if (!n || !l->report->session)
		return 0;
	if (ga_host_facts_gather(l->repo, &l->config, l->opts->risk, &facts, err))
		return -1;
	for (size_t i = 0; i < LAND_BESIDES; i++)
		if (classify_beside(l, &facts, &l->beside[i], &found, err))
			return -1;
	forget_known(l, &found, &again);
	if (!found.n || !judge(l, &found, &k, err))
		return 0;
	return again.n && err->code == GA_EFLAGS ? say_again(&again, err) : -1;
}
