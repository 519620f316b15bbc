/* SPDX-License-Identifier: MIT
 *
 * Has the work arrived in a commit, in whatever way? Only what is there counts: that a commit names
 * the session, or looks like it, is no proof. In this order: the tip is an ancestor; merging it
 * would change nothing, now or at some commit since, or only lines that were changed on the way;
 * each of its commits is there by its patch id, or by its author, date and subject with lines
 * changed on the way. What was taken back since has not arrived.
 */
#include <inttypes.h>
#include <string.h>

#include "ga/objects.h"
#include "ga/refs.h"
#include "look.h"

#define SCAN_COMMITS 2000          /* newest commits of the destination that are looked at */
#define SCAN_PATHS 64              /* of these only those that touch the changed paths, unless there
				    * are more paths than this */
#define SCAN_LOOKUPS 200000        /* tree entries that are looked up for one tip */
#define OWN_COMMITS 1000           /* commits of the session that are compared one by one */
#define GIT_MS 20000

void look_release(struct look *l)
{
	ga_changes_release(&l->changes);
	free(l->own);
}

int look_begin(struct look *l, const struct ga_oid *tip, struct ga_error *err)
{
	struct ga_oid tree;
	int rc;

	l->tip = *tip;
	l->lookups = SCAN_LOOKUPS;
	if (ga_commit_tree(l->r, &l->s->onto, &l->base_tree, err) ||
	    ga_commit_tree(l->r, tip, &tree, err) ||
	    ga_tree_diff(l->r, &l->base_tree, &tree, &l->changes, err))
		return -1;
	rc = ga_rev_list_bounded(l->r, tip, 1, &l->s->onto, 1, OWN_COMMITS, &l->own, &l->n_own,
				 err);
	/* too many to be compared one by one */
	if (rc == 1)
		l->n_own = 0;
	return rc < 0 ? -1 : 0;
}

/* ---- what a tree has --------------------------------------------------------------- */

/* Does the tree contain each of these changes, whatever else was changed there? `back`: are all of
 * them undone instead? */
static int tree_has(struct look *l, const struct ga_changes *changes, const struct ga_oid *tree,
		    bool back, bool lenient, struct ga_error *err)
{
	/* a session that changes nothing has not arrived because of that */
	int rc = changes->n > 0;

	for (size_t i = 0; rc > 0 && i < changes->n; i++) {
		const struct ga_change *c = &changes->v[i];
		struct ga_entry ours;

		if (!l->lookups)
			return 0;
		l->lookups--;
		if (ga_tree_entry(l->r, tree, c->path, &ours, err))
			return -1;
		if (ours.mode == GA_MODE_TREE)
			ours = (struct ga_entry){ 0 };
		rc = ga_merge_is_in(l->r, back ? &c->new : &c->old, &ours,
				    back ? &c->old : &c->new, lenient, err);
	}
	return rc;
}

static int commit_has(struct look *l, const struct ga_changes *changes, const struct ga_oid *commit,
		      bool back, bool lenient, struct ga_error *err)
{
	struct ga_oid tree;

	return ga_commit_tree(l->r, commit, &tree, err)
		       ? -1
		       : tree_has(l, changes, &tree, back, lenient, err);
}

/* ---- what came since --------------------------------------------------------------- */

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

/* Does the message say that the commit was made of the branch, as that of `git merge --squash` does
 * ("commit ID"), or that of our own squash? */
static bool names_it(const struct look *l, const struct ga_commit *c)
{
	cleanup_free char *git = ga_strf("\ncommit %s\n", GA_HEX(&l->tip));
	cleanup_free char *own = ga_strf("Squash agent/%s\n", l->s->name);

	return c->n_parents == 1 &&
	       (strstr(c->message, git) || !strncmp(c->message, own, strlen(own)));
}

/* Does the commit contain all of the work? With lines changed that counts if it was made of it. */
static int commit_is(struct look *l, const struct ga_commit *c, enum ga_landed_how *ret,
		     struct ga_error *err)
{
	int rc = tree_has(l, &l->changes, &c->tree, false, true, err);

	if (rc <= 0)
		return rc;
	rc = tree_has(l, &l->changes, &c->tree, false, false, err);
	if (rc > 0)
		*ret = GA_LANDED_SQUASHED;
	if (rc)
		return rc < 0 ? -1 : 0;
	rc = names_it(l, c) ? 1 : look_alike(l, c, err);
	if (rc > 0)
		*ret = GA_LANDED_CHANGED;
	return rc < 0 ? -1 : 0;
}

/* Was it in any of these commits, whatever became of it since? */
static int scan(struct look *l, const struct ga_oid *v, size_t n, enum ga_landed_how *ret,
		struct ga_error *err)
{
	for (size_t i = 0; i < n && *ret == GA_LANDED_NOT; i++) {
		cleanup_commit struct ga_commit c = { .parents = NULL };

		if (ga_commit_read(l->r, &v[i], &c, err) || commit_is(l, &c, ret, err))
			return -1;
	}
	return 0;
}

/* ---- commit by commit ---------------------------------------------------------------- */

/* What a commit of the session changes. 1: it has not exactly one parent. */
static int own_changes(struct look *l, const struct ga_commit *c, struct ga_changes *ret,
		       struct ga_error *err)
{
	struct ga_oid tree;

	if (c->n_parents != 1)
		return 1;
	return ga_commit_tree(l->r, &c->parents[0], &tree, err) ||
	       ga_tree_diff(l->r, &tree, &c->tree, ret, err) ? -1 : 0;
}

/* The session's commits of which `git cherry` finds the patch in `at`: their ids, with a newline
 * after each. */
static void equivalents(struct look *l, const struct ga_oid *at, struct ga_buf *ret)
{
	const char *const args[] = { "cherry", GA_HEX(at), GA_HEX(&l->tip), GA_HEX(&l->s->onto),
				     NULL };
	cleanup_error struct ga_error slow = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.out = &out;
	g.timeout_ms = GIT_MS;
	if (ga_git_run(l->r, &g, &status, &slow))
		return;
	for (char *line = out.ptr, *end; !status && (end = strchr(line, '\n')); line = end + 1)
		if (!strncmp(line, "- ", 2))
			ga_buf_add(ret, line + 2, (size_t)(end + 1 - (line + 2)));
}

static bool same_commit(const struct ga_commit *a, const struct ga_commit *b)
{
	size_t n = strcspn(a->message, "\n");

	return !strcmp(a->author, b->author) && n && strcspn(b->message, "\n") == n &&
	       !strncmp(a->message, b->message, n);
}

/* Was this commit applied again, with lines changed where it conflicted? */
static int applied(struct look *l, const struct ga_commit *own, const struct ga_changes *changes,
		   const struct ga_oid *v, size_t n, struct ga_error *err)
{
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit c = { .parents = NULL };
		int rc;

		if (ga_commit_read(l->r, &v[i], &c, err))
			return -1;
		if (c.n_parents != 1 || !same_commit(own, &c))
			continue;
		rc = tree_has(l, changes, &c.tree, false, true, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int one_by_one(struct look *l, const struct ga_oid *at, const struct ga_oid *v, size_t n,
		      enum ga_landed_how *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf same = GA_BUF_INIT;
	enum ga_landed_how how = GA_LANDED_PICKED;
	size_t any = 0;

	if (!l->n_own || !n)
		return 0;
	equivalents(l, at, &same);
	for (size_t i = 0; i < l->n_own; i++) {
		cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
		cleanup_commit struct ga_commit c = { .parents = NULL };
		cleanup_free char *line = ga_strf("%s\n", GA_HEX(&l->own[i]));
		int rc;

		if (ga_commit_read(l->r, &l->own[i], &c, err))
			return -1;
		rc = own_changes(l, &c, &changes, err);
		/* what was resolved in a merge is in no other commit */
		if (rc)
			return rc < 0 ? -1 : 0;
		any += changes.n;
		if (!changes.n || (same.len && strstr(same.ptr, line)))
			continue;
		rc = applied(l, &c, &changes, v, n, err);
		if (rc <= 0)
			return rc;
		how = GA_LANDED_CHANGED;
	}
	if (any)
		*ret = how;
	return 0;
}

/* ---- one destination ------------------------------------------------------------------ */

int look_at(struct look *l, const struct ga_oid *at, enum ga_landed_how *ret, bool *ret_back,
	    struct ga_error *err)
{
	/* what `land` brought has arrived where its commit is, whatever became of its lines */
	bool ours = l->s->state == GA_STATE_LANDED && !ga_oid_is_zero(&l->s->landed) &&
		    ga_oid_equal(&l->tip, &l->s->tip);
	cleanup_free struct ga_oid *since = NULL;
	size_t n = 0;
	int rc = ga_is_ancestor(l->r, &l->tip, at, err);

	if (rc > 0)
		*ret = GA_LANDED_MERGED;
	if (!rc && ours) {
		rc = ga_is_ancestor(l->r, &l->s->landed, at, err);
		if (rc > 0)
			*ret = GA_LANDED_SQUASHED;
	}
	if (!rc) {
		rc = commit_has(l, &l->changes, at, false, false, err);
		if (rc > 0)
			*ret = GA_LANDED_SQUASHED;
	}
	if (rc < 0)
		return -1;
	if (!rc && (list_since(l, at, &since, &n, err) || scan(l, since, n, ret, err) ||
		    (*ret == GA_LANDED_NOT && one_by_one(l, at, since, n, ret, err))))
		return -1;
	if (*ret == GA_LANDED_NOT)
		return 0;
	rc = commit_has(l, &l->changes, at, true, false, err);
	*ret_back = rc > 0;
	if (rc > 0)
		*ret = GA_LANDED_NOT;
	return rc < 0 ? -1 : 0;
}

/* ---- what it had before ------------------------------------------------------------------- */

/* The commit that a place was at when the session began, by the dates of its commits. 1: none is
 * that old. */
static int as_it_was(struct look *l, const struct ga_oid *at, struct ga_oid *ret,
		     struct ga_error *err)
{
	cleanup_free char *before = ga_strf("--min-age=%" PRIu64, l->s->started - 1);
	const char *const args[] = { "rev-list", "--first-parent", "--max-count=1", before,
				     GA_HEX(at), "--", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.out = &out;
	g.timeout_ms = GIT_MS;
	if (ga_git_ok(l->r, &g, err))
		return -1;
	return ga_oid_parse(out.ptr, GA_OID_HEXSZ, ret) ? 0 : 1;
}

/* Is that the tip of the branch that the session began on? */
static int began_on(struct look *l, const struct ga_oid *at, struct ga_error *err)
{
	struct ga_oid oid;
	int rc = l->s->onto_ref ? ga_ref_read(l->r, l->s->onto_ref, &oid, err) : 1;

	return rc < 0 ? -1 : !rc && ga_oid_equal(&oid, at);
}

int look_had(struct look *l, const struct ga_oid *at, struct ga_error *err)
{
	enum ga_landed_how how = GA_LANDED_NOT;
	struct ga_oid then;
	bool back;
	int rc;

	/* when a fetched session began is not known */
	if (l->s->remote || !l->s->started)
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
