/* SPDX-License-Identifier: MIT
 *
 * Refuse to land undecided flags: those of the session, and those that the rules raise now on the
 * result of the landing, unless a verdict covers them.
 */
#include <string.h>
#include <time.h>

#include "land/land-internal.h"
#include "decide.h"
#include "ga/base/strmap.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"

/* The flags of the report by rule and path. */
struct by_rule {
	struct ga_strv keys;
	struct ga_strmap map; /* index into the report's flags */
};

static void by_rule_release(struct by_rule *b)
{
	ga_strmap_release(&b->map);
	ga_strv_release(&b->keys);
}

static void by_rule_fill(struct by_rule *b, const struct ga_report *r)
{
	for (size_t i = 0; i < r->flags.n; i++)
		ga_strv_pushf(&b->keys, "%s %s", r->flags.v[i].rule, r->flags.v[i].path);
	for (size_t i = 0; i < r->flags.n; i++)
		ga_strmap_add(&b->map, b->keys.v[i], strlen(b->keys.v[i]), (uint32_t)i);
}

static int32_t first_of(const struct by_rule *b, const char *rule, const char *path)
{
	cleanup_free char *key = ga_strf("%s %s", rule, path);

	return ga_strmap_first(&b->map, key, strlen(key));
}

/* A verdict is about one content: that which lands, or, where other lines are merged into
 * it, that of the session's branch. */
static bool is_covered_by(const struct ga_flag *have, const struct ga_flag *f,
			  const struct ga_entry *on_branch)
{
	return have->verdict == GA_VERDICT_ACCEPTED && have->severity >= f->severity &&
	       (!*f->path || ga_entry_equal(&have->entry, &f->entry) ||
		ga_entry_equal(&have->entry, on_branch));
}

/* Of what the rules found, keep what no verdict covers. `tip`: the session's
 * branch, or zero. */
static int decide_drop_covered(const struct landing *l, const struct ga_oid *tip,
			       struct ga_flags *found, struct ga_error *err)
{
	__attribute__((cleanup(by_rule_release))) struct by_rule known = { .keys = GA_STRV_INIT };
	struct ga_oid tree = { { 0 } };
	size_t n = 0;

	if (!ga_oid_is_zero(tip) && ga_commit_tree(l->repo, tip, &tree, err))
		return -1;
	by_rule_fill(&known, l->report);
	for (size_t i = 0; i < found->n; i++) {
		struct ga_flag *f = &found->v[i];
		int32_t at = first_of(&known, f->rule, f->path);
		bool covered = f->severity < GA_HIGH;
		struct ga_entry e = f->entry;

		if (at >= 0 && *f->path && !ga_oid_is_zero(tip) &&
		    ga_tree_entry(l->repo, &tree, f->path, &e, err))
			return -1;
		for (; !covered && at >= 0; at = known.map.nodes[at].next)
			covered = is_covered_by(&l->report->flags.v[known.map.nodes[at].value], f,
						&e);
		if (covered)
			ga_flag_release(f);
		else
			found->v[n++] = *f;
	}
	found->n = n;
	return 0;
}

int land_save_report(const struct landing *l, struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(l->s, "report"), *committer = NULL;
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	struct ga_oid old = { { 0 } }, new;
	int rc = ga_ref_read(l->repo, ref, &old, err);

	if (rc < 0 || ga_repo_signature(l->repo, l->config, time(NULL), &committer, err) ||
	    ga_report_write(l->repo, l->report, committer, rc ? NULL : &old, &new, err))
		return -1;
	ga_ref_updates_add(&u, ref, &old, &new);
	return ga_refs_update(l->repo, &u, "agent: land", err);
}

static int classify_steps(const struct landing *l, const struct proposal *p,
			  const struct ga_host_facts *facts, struct ga_flags *ret,
			  struct ga_error *err)
{
	struct ga_oid old = p->old, new;

	for (size_t i = 0; i < p->n_steps; i++) {
		cleanup_changes struct ga_changes c = GA_CHANGES_INIT;

		if (ga_commit_tree(l->repo, &p->steps[i], &new, err) ||
		    ga_tree_diff(l->repo, &old, &new, &c, err) ||
		    ga_classify(l->repo, facts, &old, &new, &c, ret, err))
			return -1;
		old = new;
	}
	return 0;
}

/* Uncommitted changes run just like what is committed. */
static int classify_uncommitted(const struct landing *l, const struct ga_host_facts *facts,
				struct ga_flags *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT, c = GA_CHANGES_INIT;
	cleanup_repo struct ga_repo *private = NULL;
	cleanup_wip struct ga_wip w = GA_WIP_INIT;
	struct ga_oid old;

	ga_wip_load(l->s, &w);
	if (!w.paths.n)
		return 0;
	if (ga_repo_open_private(l->repo, w.objects, &private, err) ||
	    ga_commit_tree(private, &w.snapshot, &old, err) ||
	    ga_wip_changes(private, &w, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (land_is_requested(l, all.v[i].path))
			(void)ga_changes_add(&c, all.v[i].path, &all.v[i].old, &all.v[i].new);
	return ga_classify(private, facts, &old, &w.seen, &c, ret, err);
}

static int classify(const struct landing *l, const struct proposal *p, struct ga_flags *ret,
		    struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;

	if (ga_host_facts_gather(l->repo, l->config, l->opts->risk, &facts, err))
		return -1;
	if (p->n_steps ? classify_steps(l, p, &facts, ret, err)
		       : p->changes.n && ga_classify(l->repo, &facts, &p->old, &p->tree,
						     &p->changes, ret, err))
		return -1;
	return classify_uncommitted(l, &facts, ret, err);
}

/* Returns 1 if the flag's entry is in what lands. */
static int is_landing(const struct landing *l, const struct proposal *p,
		      const struct ga_flag *f, struct ga_error *err)
{
	struct ga_entry e = { 0 };

	if (*f->path && ga_tree_entry(l->repo, &p->tree, f->path, &e, err))
		return -1;
	return !*f->path || ga_entry_equal(&e, &f->entry);
}

struct counts {
	size_t critical, high, held;
	size_t on_way; /* of these, in earlier commits of the branch only */
};

static void count(struct counts *c, enum ga_severity s)
{
	c->critical += s == GA_CRITICAL;
	c->high += s == GA_HIGH;
	c->held += s < GA_HIGH;
}

static int fail_undecided(const struct landing *l, const struct counts *c, const char *what,
			  struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (c->critical)
		ga_buf_addf(&text, ", %zu critical", c->critical);
	if (c->high)
		ga_buf_addf(&text, ", %zu high", c->high);
	if (c->held)
		ga_buf_addf(&text, ", %zu held", c->held);
	return ga_fail(err, GA_EFLAGS, "agent/%s %s: %s"
		       GA_HINT "'git agent review %s', then --accept or --reject their paths%s",
		       l->s->name, what, text.ptr + 2, l->s->name,
		       !c->on_way ? "" : "; 'land --squash' leaves out what only commits before "
					 "the tip have");
}

/* Does an undecided flag of the session block this landing? A flag that a landing found is about
 * where it landed: it blocks where it is found again. A squash, and a part, add no
 * intermediate commits. */
static int blocks(const struct landing *l, const struct proposal *p, const struct ga_flags *found,
		  const struct ga_flag *f, struct counts *c, struct ga_error *err)
{
	bool again = ga_flags_have(found, f->rule, f->path);
	int rc;

	if (!ga_report_flag_blocks(f) || !(land_is_requested(l, f->path) || !*f->path) ||
	    (f->landing && !again && !f->held))
		return 0;
	rc = f->held ? 1 : is_landing(l, p, f, err);
	if (rc || (again && !p->n_steps))
		return rc < 0 ? -1 : 1;
	if (l->opts->how == GA_LAND_SQUASH && p->moves)
		return 0;
	c->on_way++;
	return 1;
}

static int check_session(const struct landing *l, const struct proposal *p,
			 const struct ga_flags *found, struct ga_error *err)
{
	struct counts c = { 0 };

	for (size_t i = 0; i < l->report->flags.n; i++) {
		const struct ga_flag *f = &l->report->flags.v[i];
		int rc = blocks(l, p, found, f, &c, err);

		if (rc < 0)
			return -1;
		if (rc)
			count(&c, f->severity);
	}
	return c.critical + c.high + c.held ? fail_undecided(l, &c, "has open flags", err) : 0;
}

/* Reopen rejected flags that the rules raise again. */
static void reopen(struct ga_report *r, const struct ga_flags *found)
{
	for (size_t i = 0; i < found->n; i++) {
		const struct ga_flag *f = &found->v[i];
		struct ga_flag *have = ga_flags_find(&r->flags, f);

		if (have && have->verdict == GA_VERDICT_REJECTED)
			have->verdict = GA_VERDICT_OPEN;
	}
}

static int check_new(const struct landing *l, const struct ga_flags *found, struct ga_error *err)
{
	struct counts c = { 0 };

	if (!found->n)
		return 0;
	for (size_t i = 0; i < found->n; i++)
		count(&c, found->v[i].severity);
	ga_report_add_flags(l->report, GA_FROM_LANDING, found, NULL);
	reopen(l->report, found);
	if (!l->opts->dry_run && land_save_report(l, err))
		return -1;
	(void)fail_undecided(l, &c, "would raise new flags where it lands", err);
	return !l->opts->dry_run ? -1 :
	       ga_hint_instead(err, "'git agent land %s' stores them for 'git agent review %s'",
			       l->s->name, l->s->name);
}

int land_judge(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;

	if (!l->report->session) {
		if (!p->moves)
			return 0;
		return ga_fail(err, GA_EFATAL, "session '%s' has no report, so its flags are "
			       "unknown"
			       GA_HINT "'git agent capture %s' makes one", l->s->name, l->s->name);
	}
	if (classify(l, p, &found, err) || decide_drop_covered(l, &p->tip, &found, err))
		return -1;
	return check_session(l, p, &found, err) || check_new(l, &found, err) ? -1 : 0;
}

int land_judge_made(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;
	struct ga_oid old, new;

	if (!l->report->session || ga_oid_is_zero(&rec->head))
		return 0;
	if (ga_commit_tree(l->repo, &rec->head, &old, err) ||
	    ga_commit_tree(l->repo, &rec->commit, &new, err) ||
	    ga_tree_diff(l->repo, &old, &new, &c, err) ||
	    ga_host_facts_gather(l->repo, l->config, l->opts->risk, &facts, err) ||
	    ga_classify(l->repo, &facts, &old, &new, &c, &found, err) ||
	    decide_drop_covered(l, &rec->tip, &found, err))
		return -1;
	for (size_t i = 0; i < found.n; i++)
		ga_strv_take(&l->ret->new_flags, ga_flag_text(&found.v[i]));
	return 0;
}
