/* SPDX-License-Identifier: MIT
 *
 * Find out whether a session is integrated in a ref, by content alone; a commit message is no
 * proof. In this order: the tip is an ancestor; merging it would change nothing, now or at some
 * commit since (a squash); each of its commits is found by patch id. What was reverted since has
 * not landed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/land/land.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"

struct search {
	struct ga_repo *r;
	const struct ga_session *s;
	struct ga_oid tip;
	struct ga_changes changes; /* onto -> tip */
	size_t lookups;            /* remaining number of entry lookups */
};

#define SCAN_COMMITS 2000          /* newest commits of the destination that are checked */
#define SCAN_PATHS 64              /* of these only those that touch the changed paths, unless there
				    * are more paths than this */
#define SCAN_LOOKUPS 200000        /* tree entries that are looked up for one tip */
#define GIT_MS 20000

static void search_release(struct search *l)
{
	ga_changes_release(&l->changes);
}

static int search_begin(struct search *l, const struct ga_oid *tip, struct ga_error *err)
{
	l->tip = *tip;
	l->lookups = SCAN_LOOKUPS;
	return ga_tree_diff(l->r, &l->s->id.onto, tip, &l->changes, err);
}

/* Does the commit contain each of these changes, whatever else was changed there? `back`: are all
 * of them undone instead? */
static int commit_has(struct search *l, const struct ga_oid *commit, bool back,
		      struct ga_error *err)
{
	/* a session without changes is not integrated everywhere */
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
static int list_since(struct search *l, const struct ga_oid *at, struct ga_oid **ret, size_t *ret_n,
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
	/* if git takes too long it counts as not landed */
	if (ga_git_run(l->r, &g, &status, &slow))
		status = 1;
	for (const char *p = out.ptr; !status && n < SCAN_COMMITS && strlen(p) > GA_OID_HEXSZ;
	     p += GA_OID_HEXSZ + 1)
		if (!ga_oid_parse(p, GA_OID_HEXSZ, &v[n++]))
			return ga_fail(err, GA_EFATAL, "cannot parse the output of git rev-list");
	*ret = ga_steal(&v);
	*ret_n = n;
	return 0;
}

/* Does git find each commit of the session's in `at`, by its patch id? A merge has none. */
static bool is_picked(struct search *l, const struct ga_oid *at)
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

static int search_since(struct search *l, const struct ga_oid *at, enum ga_landed_how *ret,
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

/* How the work is integrated in the commit `at`. `*ret_back`: it was, and is reverted. */
static int search_commit(struct search *l, const struct ga_oid *at, enum ga_landed_how *ret,
			 bool *ret_back, struct ga_error *err)
{
	/* `land`'s own commit proves it, even if its lines were changed since */
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
	if (!rc && search_since(l, at, ret, err))
		return -1;
	if (*ret == GA_LANDED_NOT)
		return 0;
	rc = commit_has(l, at, true, err);
	*ret_back = rc > 0;
	if (rc > 0)
		*ret = GA_LANDED_NOT;
	return rc < 0 ? -1 : 0;
}

/* The commit that a ref was at when the session began, by commit dates. 1: none is that old. */
static int commit_at_start(struct search *l, const struct ga_oid *at, struct ga_oid *ret,
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
static int began_on(struct search *l, const struct ga_oid *at, struct ga_error *err)
{
	struct ga_oid oid;
	int rc = l->s->id.onto_ref ? ga_ref_read(l->r, l->s->id.onto_ref, &oid, err) : 1;

	return rc < 0 ? -1 : !rc && ga_oid_equal(&oid, at);
}

/* Did `at` have it before the session began? Then the session got it from there. */
static int had_before(struct search *l, const struct ga_oid *at, struct ga_error *err)
{
	enum ga_landed_how how = GA_LANDED_NOT;
	struct ga_oid then;
	bool back;
	int rc;

	/* when a fetched session began is not known */
	if (l->s->id.remote || !l->s->id.started)
		return 0;
	rc = commit_at_start(l, at, &then, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	/* commits of the session may have older dates; its start branch had none of them */
	rc = began_on(l, at, err);
	if (rc > 0)
		rc = ga_is_ancestor(l->r, &then, &l->tip, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	l->lookups = SCAN_LOOKUPS;
	return search_commit(l, &then, &how, &back, err) ? -1 : how != GA_LANDED_NOT;
}

#define VERDICT_FILE "arrived"     /* the last answer, after what it depends on */

static const char *const how_names[] = {
	[GA_LANDED_NOT] = "not",
	[GA_LANDED_MERGED] = "merged",
	[GA_LANDED_SQUASHED] = "squashed",
	[GA_LANDED_PICKED] = "picked",
};

const char *ga_landed_name(enum ga_landed_how how)
{
	return how_names[how];
}

void ga_arrival_release(struct ga_arrival *a)
{
	free(a->where);
	*a = (struct ga_arrival)GA_ARRIVAL_INIT;
}

/* ---- where it could be ---------------------------------------------------------------- */

/* The commit that the superproject's HEAD has for this submodule. 1: none, or it is not in this
 * repository. */
static int pointer(struct ga_repo *r, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_repo struct ga_repo *super = NULL;
	cleanup_free char *branch = NULL;
	struct ga_oid head, tree;
	struct ga_entry e;
	int rc = ga_repo_superproject(r, &super, err);

	if (!rc)
		rc = ga_repo_head(super, &head, &branch, err);
	if (rc)
		return rc;
	if (ga_commit_tree(super, &head, &tree, err) ||
	    ga_tree_entry(super, &tree, ga_path_below(ga_repo_info(r)->workdir,
						      ga_repo_info(super)->workdir), &e, err))
		return -1;
	*ret = e.oid;
	if (e.mode != GA_MODE_GITLINK)
		return 1;
	rc = ga_commit_exists(r, ret, err);
	return rc < 0 ? -1 : !rc;
}

/* HEAD, unless it is on the session's own branch, or detached at its tip. Git leaves a submodule
 * detached: then the superproject's gitlink counts. 1: there is no such commit. */
static int find_head(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *tip,
		     struct ga_oid *ret, char **ret_branch, struct ga_error *err)
{
	int rc = ga_repo_head(r, ret, ret_branch, err);

	if (rc)
		return rc;
	if (*ret_branch ? strcmp(*ret_branch, s->id.branch) != 0 : !ga_oid_equal(ret, tip))
		return 0;
	return pointer(r, ret, err);
}

static void add_place(struct ga_refs *l, const char *name, const struct ga_oid *oid)
{
	for (size_t i = 0; i < l->n; i++)
		if (ga_oid_equal(&l->v[i].oid, oid))
			return;
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct ga_ref){ .name = ga_strdup(name), .oid = *oid };
}

static int add_ref(struct ga_repo *r, struct ga_refs *l, const char *name, struct ga_error *err)
{
	struct ga_oid oid;
	int rc = name ? ga_ref_read(r, name, &oid, err) : 1;

	if (!rc)
		add_place(l, name, &oid);
	return rc < 0 ? -1 : 0;
}

/* HEAD; the branch the session started from; and for what was merged on a forge, the
 * remote-tracking refs of the upstreams of both, and the first branch of `origin`. */
static int list_places(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *tip,
		       struct ga_refs *ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL, *up = NULL, *onto_up = NULL;
	struct ga_oid head;
	int rc = find_head(r, s, tip, &head, &branch, err);

	if (rc < 0)
		return -1;
	if (!rc)
		add_place(ret, branch && strcmp(branch, s->id.branch) != 0 ? branch : "HEAD",
			  &head);
	if (branch && strcmp(branch, s->id.branch) != 0)
		up = ga_ref_upstream(r, branch);
	if (s->id.onto_ref)
		onto_up = ga_ref_upstream(r, s->id.onto_ref);
	return add_ref(r, ret, s->id.onto_ref, err) || add_ref(r, ret, up, err) ||
	       add_ref(r, ret, onto_up, err) ||
	       add_ref(r, ret, "refs/remotes/origin/HEAD", err) ? -1 : 0;
}

/* The branch, and its remote branches: commits on top of it there are fix-ups, and may have been
 * squashed with it. */
static int list_tips(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *tip,
		     struct ga_refs *ret, struct ga_error *err)
{
	cleanup_free char *origin = ga_strf("refs/remotes/origin/agent/%s", s->name);
	cleanup_free char *up = ga_ref_upstream(r, s->id.branch);

	add_place(ret, s->id.branch, tip);
	return add_ref(r, ret, up, err) || add_ref(r, ret, origin, err) ? -1 : 0;
}

/* ---- remembering ------------------------------------------------------------------------ */

static void add_key(struct ga_buf *b, const struct ga_refs *l)
{
	for (size_t i = 0; i < l->n; i++)
		ga_buf_addf(b, "%s %s\n", GA_HEX(&l->v[i].oid), l->v[i].name);
	ga_buf_addch(b, '\n');
}

/* The cache key: all that the answer depends on, apart from what ga_find_arrival() checks first. */
static void make_key(const struct ga_session *s, const struct ga_refs *tips,
		     const struct ga_refs *places, struct ga_buf *ret)
{
	ga_buf_addf(ret, "%s %s %d\n", GA_HEX(&s->id.onto), GA_HEX(&s->result.landed),
		    s->state == GA_STATE_LANDED);
	ga_buf_addf(ret, "%s\n", GA_HEX(&s->result.tip));
	add_key(ret, tips);
	add_key(ret, places);
}

/* Read the last answer, if nothing has moved since: "HOW WHERE" after the key. */
static bool recall(const struct ga_session *s, const struct ga_buf *key, struct ga_arrival *ret)
{
	cleanup_free char *path = ga_path_join(s->dir, VERDICT_FILE);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *p, *space;

	if (ga_read_file_at(AT_FDCWD, path, 1 << 20, &b, GA_IGNORED) || b.len <= key->len ||
	    memcmp(b.ptr, key->ptr, key->len) != 0 || b.ptr[b.len - 1] != '\n')
		return false;
	ga_buf_chomp(&b);
	p = b.ptr + key->len;
	space = strchr(p, ' ');
	for (size_t i = 0; space && i < GA_NELEMS(how_names); i++) {
		if (strlen(how_names[i]) != (size_t)(space - p) ||
		    strncmp(p, how_names[i], (size_t)(space - p)) != 0)
			continue;
		ret->how = (enum ga_landed_how)i;
		ret->where = *++space ? ga_strdup(space) : NULL;
		return true;
	}
	return false;
}

/* Failure does not matter: an answer that cannot be kept is found out again. */
static void remember(const struct ga_session *s, const struct ga_buf *key,
		     const struct ga_arrival *a)
{
	cleanup_free char *path = ga_path_join(s->dir, VERDICT_FILE);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_add(&b, key->ptr, key->len);
	ga_buf_addf(&b, "%s %s\n", ga_landed_name(a->how), a->where ? a->where : "");
	(void)unlink(path);
	(void)ga_write_new(AT_FDCWD, path, b.ptr, b.len, 0600, GA_IGNORED);
}

/* ---- all together ------------------------------------------------------------------------ */

/* Search all refs for one tip. The first that has it, or had it and has it reverted, decides. 1:
 * there was one. */
static int search_places(struct search *l, const struct ga_refs *places, struct ga_arrival *ret,
			 struct ga_error *err)
{
	for (size_t i = 0; i < places->n; i++) {
		enum ga_landed_how how = GA_LANDED_NOT;
		bool back = false;
		int had = 0;

		if (search_commit(l, &places->v[i].oid, &how, &back, err))
			return -1;
		if (how != GA_LANDED_NOT || back)
			had = had_before(l, &places->v[i].oid, err);
		if (had < 0)
			return -1;
		if (had || (how == GA_LANDED_NOT && !back))
			continue;
		ret->how = how;
		ret->where = back ? NULL : ga_strdup(places->v[i].name);
		return 1;
	}
	return 0;
}

/* Is the commit that `land` made on any other branch, remote branch or tag? */
static int search_other_refs(struct ga_repo *r, const struct ga_session *s,
			     const struct ga_oid *tip, struct ga_arrival *ret, struct ga_error *err)
{
	bool there = false;

	if (s->state == GA_STATE_LANDED && !ga_oid_is_zero(&s->result.landed) &&
	    ga_oid_equal(tip, &s->result.tip) &&
	    ga_is_on_branch(r, &s->result.landed, NULL, false, &there, err))
		return -1;
	ret->how = there ? GA_LANDED_MERGED : GA_LANDED_NOT;
	return 0;
}

/* Search for the tip of the branch, then for those of its remote branches. */
static int search_tips(struct ga_repo *r, const struct ga_session *s, const struct ga_refs *tips,
		       const struct ga_refs *places, struct ga_arrival *ret, struct ga_error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < tips->n; i++) {
		cleanup_(search_release) struct search l = { .r = r, .s = s };

		/* a ref that is not the branch with more on top is somebody else's */
		if (i)
			rc = ga_is_ancestor(r, &tips->v[0].oid, &tips->v[i].oid, err);
		if (rc < 0)
			return -1;
		if (i && !rc)
			continue;
		rc = search_begin(&l, &tips->v[i].oid, err);
		if (!rc)
			rc = search_places(&l, places, ret, err);
	}
	if (rc)
		return rc < 0 ? -1 : 0;
	return search_other_refs(r, s, &tips->v[0].oid, ret, err);
}

int ga_branch_lacks(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    struct ga_error *err)
{
	int rc;

	if (ga_oid_is_zero(&s->result.tip) || ga_oid_equal(&s->result.tip, branch))
		return 0;
	rc = ga_commit_exists(r, &s->result.tip, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	rc = ga_is_ancestor(r, &s->result.tip, branch, err);
	return rc < 0 ? -1 : !rc;
}

/* The branch was moved by hand: the session's own commits have to be integrated, too. */
static int search_own(struct ga_repo *r, const struct ga_session *s, const struct ga_refs *places,
		      struct ga_arrival *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs tips = GA_REFS_INIT;
	int rc = ga_commit_exists(r, &s->result.tip, err);

	if (rc <= 0)
		return rc;
	return list_tips(r, s, &s->result.tip, &tips, err) ||
	       search_tips(r, s, &tips, places, ret, err)
		? -1 : 0;
}

static int search(struct ga_repo *r, const struct ga_session *s, const struct ga_refs *tips,
		  const struct ga_refs *places, struct ga_arrival *ret, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival own = GA_ARRIVAL_INIT;
	int rc = ga_branch_lacks(r, s, &tips->v[0].oid, err);

	if (rc > 0 && !search_own(r, s, places, &own, err))
		rc = own.how == GA_LANDED_NOT ? 1 : 0;
	else if (rc)
		return -1;
	return rc ? 0 : search_tips(r, s, tips, places, ret, err);
}

int ga_find_arrival(struct ga_repo *r, const struct ga_session *s, struct ga_arrival *ret,
		    struct ga_error *err)
{
	cleanup_refs struct ga_refs tips = GA_REFS_INIT, places = GA_REFS_INIT;
	cleanup_buf struct ga_buf key = GA_BUF_INIT;
	struct ga_oid tip;
	int rc;

	/* no branch has held paths or changes to uncommitted work */
	if (s->result.left_out.n || !ga_oid_is_zero(&s->result.held))
		return 0;
	rc = ga_ref_read(r, s->id.branch, &tip, err);
	if (rc < 0)
		return -1;
	/* the user deleted it, perhaps because it was merged */
	if (rc)
		tip = s->result.tip;
	if (ga_oid_is_zero(&tip))
		return 0;
	/* what is gone cannot be looked for */
	if (!ga_commit_readable(r, &tip, &tip)) {
		ret->how = s->state == GA_STATE_LANDED ? GA_LANDED_MERGED : GA_LANDED_NOT;
		return 0;
	}
	if (list_tips(r, s, &tip, &tips, err) || list_places(r, s, &tip, &places, err))
		return -1;
	make_key(s, &tips, &places, &key);
	if (recall(s, &key, ret))
		return 0;
	if (search(r, s, &tips, &places, ret, err))
		return -1;
	remember(s, &key, ret);
	return 0;
}

int ga_arrival_lasts(struct ga_repo *r, const struct ga_session *s, const struct ga_arrival *a,
		     struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid tip = s->result.tip, at;
	bool there = false;
	int rc;

	if (!a->where || strcmp(a->where, "HEAD") != 0)
		return 1;
	rc = ga_ref_read(r, s->id.branch, &tip, err) < 0 ? -1
							 : find_head(r, s, &tip, &at, &branch, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return ga_is_on_branch(r, &at, NULL, false, &there, err) ? -1 : there;
}

int ga_landed(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival a = GA_ARRIVAL_INIT;

	return ga_find_arrival(r, s, &a, err) ? -1 : a.how != GA_LANDED_NOT;
}
