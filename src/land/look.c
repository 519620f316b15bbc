/* SPDX-License-Identifier: MIT
 *
 * Has the work arrived in a commit, in whatever way? Only what is there counts: that a commit names
 * the session, or looks like it, is no proof. In this order: the tip is an ancestor; merging it
 * would change nothing, now or at some commit since (a squash); each of its commits is there by its
 * patch id. What was reverted since has not landed.
 */
#include <inttypes.h>
#include <string.h>

#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "look.h"

#define SCAN_COMMITS 2000          /* newest commits of the destination that are looked at */
#define SCAN_PATHS 64              /* of these only those that touch the changed paths, unless there
				    * are more paths than this */
#define SCAN_LOOKUPS 200000        /* tree entries that are looked up for one tip */
#define GIT_MS 20000

void look_release(struct look *l)
{
	ga_changes_release(&l->changes);
}

int look_begin(struct look *l, const struct ga_oid *tip, struct ga_error *err)
{
	struct ga_oid base_tree, tree;

	l->tip = *tip;
	l->lookups = SCAN_LOOKUPS;
	return ga_commit_tree(l->r, &l->s->id.onto, &base_tree, err) ||
	       ga_commit_tree(l->r, tip, &tree, err) ||
	       ga_tree_diff(l->r, &base_tree, &tree, &l->changes, err) ? -1 : 0;
}

/* Does the commit contain each of these changes, whatever else was changed there? `back`: are all
 * of them undone instead? */
static int commit_has(struct look *l, const struct ga_oid *commit, bool back, struct ga_error *err)
{
	/* a session that changes nothing has not arrived because of that */
	int rc = l->changes.n > 0;
	struct ga_oid tree;

	if (ga_commit_tree(l->r, commit, &tree, err))
		return -1;
	for (size_t i = 0; rc > 0 && i < l->changes.n; i++) {
		const struct ga_change *c = &l->changes.v[i];
		struct ga_entry ours;

		if (!l->lookups)
			return 0;
		l->lookups--;
		if (ga_tree_file(l->r, &tree, c->path, &ours, err))
			return -1;
		rc = ga_merge_is_in(l->r, back ? &c->new : &c->old, &ours,
				    back ? &c->old : &c->new, err);
	}
	return rc;
}

/* The commits that `at` reaches and the tip does not, and that touch its paths, newest first. */
static int list_since(struct look *l, const struct ga_oid *at, struct ga_oid **ret, size_t *ret_n,
		      struct ga_error *err)
{
	static const char *const literal[] = { "GIT_LITERAL_PATHSPECS=1", NULL };
	cleanup_free char *not_tip = ga_strf("^%s", GA_HEX(&l->tip));
	cleanup_free char *max = ga_strf("--max-count=%d", SCAN_COMMITS);
	const char *args[5 + SCAN_PATHS + 2] = { "rev-list", max, GA_HEX(at), not_tip, "--" };
	cleanup_free struct ga_oid *v = ga_calloc(SCAN_COMMITS, sizeof(*v));
	cleanup_error struct ga_error slow = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	size_t n = 0;
	int status;

	for (size_t i = 0; l->changes.n <= SCAN_PATHS && i < l->changes.n; i++)
		args[5 + i] = l->changes.v[i].path;
	g.args = args;
	g.env = literal;
	g.out = &out;
	g.timeout_ms = GIT_MS;
	/* if git takes too long nothing is known, and so nothing is said to have landed */
	if (ga_git_run(l->r, &g, &status, &slow))
		status = 1;
	for (const char *p = out.ptr; !status && n < SCAN_COMMITS && strlen(p) > GA_OID_HEXSZ;
	     p += GA_OID_HEXSZ + 1)
		if (!ga_oid_parse(p, GA_OID_HEXSZ, &v[n++]))
			return ga_fail(err, GA_EFATAL, "cannot understand what git rev-list says");
	*ret = ga_steal(&v);
	*ret_n = n;
	return 0;
}

/* Does git find each commit of the session's in `at`, by its patch id? A merge has none. */
static bool is_picked(struct look *l, const struct ga_oid *at)
{
	cleanup_free char *range = ga_strf("%s...%s", GA_HEX(at), GA_HEX(&l->tip));
	cleanup_free char *base = ga_strf("^%s", GA_HEX(&l->s->id.onto));
	const char *const args[] = { "rev-list", "--cherry-pick", "--right-only", "--max-count=1",
				     range, base, "--", NULL };
	cleanup_error struct ga_error slow = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int status;
	const struct ga_git g = GA_GIT(.args = args, .out = &out, .timeout_ms = GIT_MS);

	return l->changes.n && !ga_git_run(l->r, &g, &status, &slow) && !status && !out.len;
}

static int look_since(struct look *l, const struct ga_oid *at, enum ga_landed_how *ret,
		      struct ga_error *err)
{
	cleanup_free struct ga_oid *v = NULL;
	size_t n = 0;
	int rc = list_since(l, at, &v, &n, err);

	for (size_t i = 0; !rc && i < n; i++)
		rc = commit_has(l, &v[i], false, err);
	if (rc > 0)
		*ret = GA_LANDED_SQUASHED;
	else if (!rc && n && is_picked(l, at))
		*ret = GA_LANDED_PICKED;
	return rc < 0 ? -1 : 0;
}

int look_at(struct look *l, const struct ga_oid *at, enum ga_landed_how *ret, bool *ret_back,
	    struct ga_error *err)
{
	/* what `land` brought has arrived where its commit is, whatever became of its lines */
	bool ours = l->s->state == GA_STATE_LANDED && !ga_oid_is_zero(&l->s->result.landed) &&
		    ga_oid_equal(&l->tip, &l->s->result.tip);
	int rc = ga_is_ancestor(l->r, &l->tip, at, err);

	if (rc > 0)
		*ret = GA_LANDED_MERGED;
	if (!rc && ours) {
		rc = ga_is_ancestor(l->r, &l->s->result.landed, at, err);
		if (rc > 0)
			*ret = GA_LANDED_SQUASHED;
	}
	if (!rc) {
		rc = commit_has(l, at, false, err);
		if (rc > 0)
			*ret = GA_LANDED_SQUASHED;
	}
	if (rc < 0)
		return -1;
	if (!rc && look_since(l, at, ret, err))
		return -1;
	if (*ret == GA_LANDED_NOT)
		return 0;
	rc = commit_has(l, at, true, err);
	*ret_back = rc > 0;
	if (rc > 0)
		*ret = GA_LANDED_NOT;
	return rc < 0 ? -1 : 0;
}

/* The commit that a place was at when the session began, by the dates of its commits. 1: none is
 * that old. */
static int as_it_was(struct look *l, const struct ga_oid *at, struct ga_oid *ret,
		     struct ga_error *err)
{
	cleanup_free char *before = ga_strf("--min-age=%" PRIu64, l->s->id.started - 1);
	const char *const args[] = { "rev-list", "--first-parent", "--max-count=1", before,
				     GA_HEX(at), "--", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const struct ga_git g = GA_GIT(.args = args, .out = &out, .timeout_ms = GIT_MS);

	if (ga_git_ok(l->r, &g, err))
		return -1;
	return ga_oid_parse(out.ptr, GA_OID_HEXSZ, ret) ? 0 : 1;
}

/* Is that the tip of the branch that the session began on? */
static int began_on(struct look *l, const struct ga_oid *at, struct ga_error *err)
{
	struct ga_oid oid;
	int rc = l->s->id.onto_ref ? ga_ref_read(l->r, l->s->id.onto_ref, &oid, err) : 1;

	return rc < 0 ? -1 : !rc && ga_oid_equal(&oid, at);
}

int look_had(struct look *l, const struct ga_oid *at, struct ga_error *err)
{
	enum ga_landed_how how = GA_LANDED_NOT;
	struct ga_oid then;
	bool back;
	int rc;

	/* when a fetched session began is not known */
	if (l->s->id.remote || !l->s->id.started)
		return 0;
	rc = as_it_was(l, at, &then, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	/* commits of the session may be older; the branch that it began on had none of them */
	rc = began_on(l, at, err);
	if (rc > 0)
		rc = ga_is_ancestor(l->r, &then, &l->tip, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	l->lookups = SCAN_LOOKUPS;
	return look_at(l, &then, &how, &back, err) ? -1 : how != GA_LANDED_NOT;
}
