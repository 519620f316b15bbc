/* SPDX-License-Identifier: MIT
 *
 * Which of what the rules find on a landing has been decided.
 */
#include <string.h>

#include "ga/base/strmap.h"
#include "decide.h"
#include "ga/repo/objects.h"

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
	for (size_t i = 0; i < r->n_flags; i++)
		ga_strv_pushf(&b->keys, "%s %s", r->flags[i].id, r->flags[i].path);
	for (size_t i = 0; i < r->n_flags; i++)
		ga_strmap_add(&b->map, b->keys.v[i], strlen(b->keys.v[i]), (uint32_t)i);
}

static int32_t first_of(const struct by_rule *b, const char *rule, const char *path)
{
	cleanup_free char *key = ga_strf("%s %s", rule, path);

	return ga_strmap_first(&b->map, key, strlen(key));
}

/* A verdict is about one content: that which lands, or, where other lines are merged into
 * it, that of the session's branch. */
static bool covers(const struct ga_report_flag *have, const struct ga_flag *f,
		   const struct ga_entry *on_branch)
{
	return have->verdict == GA_VERDICT_ACCEPTED && have->severity >= f->severity &&
	       (!*f->path || ga_entry_equal(&have->entry, &f->entry) ||
		ga_entry_equal(&have->entry, on_branch));
}

int decide_drop_covered(const struct landing *l, const struct ga_oid *tip, struct ga_flags *found,
			struct ga_error *err)
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
			covered = covers(&l->report->flags[known.map.nodes[at].value], f, &e);
		if (covered)
			ga_flag_release(f);
		else
			found->v[n++] = *f;
	}
	found->n = n;
	return 0;
}

void decide_reopen(struct ga_report *r, const struct ga_flags *found)
{
	for (size_t i = 0; i < found->n; i++) {
		const struct ga_flag *f = &found->v[i];
		struct ga_report_flag *have = ga_report_find(r, f->rule, f->path, &f->entry);

		if (have && have->verdict == GA_VERDICT_REJECTED)
			have->verdict = GA_VERDICT_OPEN;
	}
}
