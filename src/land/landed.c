/* SPDX-License-Identifier: MIT
 *
 * Has the work of a session arrived, wherever it could have? Lists the tips that it has and the
 * places where they could be, and keeps the answer until one of these moves.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"
#include "look.h"

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
	rc = ga_commit_here(r, ret, err);
	return rc < 0 ? -1 : !rc;
}

/* HEAD, unless it is on the session's own branch, or detached at its tip. Git leaves a submodule
 * detached: then what the superproject names counts. 1: there is no such commit. */
static int here(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *tip,
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
	int rc = here(r, s, tip, &head, &branch, err);

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

/* The branch, and what became of it where it was pushed: commits on top of it are somebody's
 * fix-ups, and may have been squashed with it. */
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

/* All that the answer depends on, apart from what ga_arrived() looks at first. */
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
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *p, *space;

	if (ga_read_file_at(AT_FDCWD, path, 1 << 20, &b, &ignored) || b.len <= key->len ||
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
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_add(&b, key->ptr, key->len);
	ga_buf_addf(&b, "%s %s\n", ga_landed_name(a->how), a->where ? a->where : "");
	(void)unlink(path);
	(void)ga_write_new(AT_FDCWD, path, b.ptr, b.len, 0600, &ignored);
}

/* ---- all together ------------------------------------------------------------------------ */

/* Look for one tip in all places. The first place that has it, or that had it and has it undone,
 * decides. 1: there was one. */
static int look_everywhere(struct look *l, const struct ga_refs *places, struct ga_arrival *ret,
			   struct ga_error *err)
{
	for (size_t i = 0; i < places->n; i++) {
		enum ga_landed_how how = GA_LANDED_NOT;
		bool back = false;
		int had = 0;

		if (look_at(l, &places->v[i].oid, &how, &back, err))
			return -1;
		if (how != GA_LANDED_NOT || back)
			had = look_had(l, &places->v[i].oid, err);
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
static int look_elsewhere(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *tip,
			  struct ga_arrival *ret, struct ga_error *err)
{
	bool there = false;

	if (s->state == GA_STATE_LANDED && !ga_oid_is_zero(&s->result.landed) &&
	    ga_oid_equal(tip, &s->result.tip) &&
	    ga_is_on_branch(r, &s->result.landed, NULL, false, &there, err))
		return -1;
	ret->how = there ? GA_LANDED_MERGED : GA_LANDED_NOT;
	return 0;
}

/* Look for the tip of the branch, then for what became of it on a remote. */
static int look_for(struct ga_repo *r, const struct ga_session *s, const struct ga_refs *tips,
		    const struct ga_refs *places, struct ga_arrival *ret, struct ga_error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < tips->n; i++) {
		cleanup_(look_release) struct look l = { .r = r, .s = s };

		/* a ref that is not the branch with more on top is somebody else's */
		if (i)
			rc = ga_is_ancestor(r, &tips->v[0].oid, &tips->v[i].oid, err);
		if (rc < 0)
			return -1;
		if (i && !rc)
			continue;
		rc = look_begin(&l, &tips->v[i].oid, err);
		if (!rc)
			rc = look_everywhere(&l, places, ret, err);
	}
	if (rc)
		return rc < 0 ? -1 : 0;
	return look_elsewhere(r, s, &tips->v[0].oid, ret, err);
}

int ga_branch_lacks(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    struct ga_error *err)
{
	int rc;

	if (ga_oid_is_zero(&s->result.tip) || ga_oid_equal(&s->result.tip, branch))
		return 0;
	rc = ga_commit_here(r, &s->result.tip, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	rc = ga_is_ancestor(r, &s->result.tip, branch, err);
	return rc < 0 ? -1 : !rc;
}

/* The branch was moved elsewhere by hand: the session's own commits have to have arrived, too. */
static int look_for_own(struct ga_repo *r, const struct ga_session *s,
			const struct ga_refs *places, struct ga_arrival *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs tips = GA_REFS_INIT;
	int rc = ga_commit_here(r, &s->result.tip, err);

	if (rc <= 0)
		return rc;
	return list_tips(r, s, &s->result.tip, &tips, err) ||
	       look_for(r, s, &tips, places, ret, err)
		       ? -1
		       : 0;
}

static int look(struct ga_repo *r, const struct ga_session *s, const struct ga_refs *tips,
		const struct ga_refs *places, struct ga_arrival *ret, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival own = GA_ARRIVAL_INIT;
	int rc = ga_branch_lacks(r, s, &tips->v[0].oid, err);

	if (rc > 0 && !look_for_own(r, s, places, &own, err))
		rc = own.how == GA_LANDED_NOT ? 1 : 0;
	else if (rc)
		return -1;
	return rc ? 0 : look_for(r, s, tips, places, ret, err);
}

int ga_arrived(struct ga_repo *r, const struct ga_session *s, struct ga_arrival *ret,
	       struct ga_error *err)
{
	cleanup_refs struct ga_refs tips = GA_REFS_INIT, places = GA_REFS_INIT;
	cleanup_buf struct ga_buf key = GA_BUF_INIT;
	struct ga_oid tip;
	int rc;

	/* no branch has what is held, and no commit what stands on uncommitted work */
	if (s->result.left_out.n || !ga_oid_is_zero(&s->result.held))
		return 0;
	rc = ga_ref_read(r, s->id.branch, &tip, err);
	if (rc < 0)
		return -1;
	/* deleted by hand, perhaps because it was merged */
	if (rc)
		tip = s->result.tip;
	if (ga_oid_is_zero(&tip))
		return 0;
	/* what is gone cannot be looked for */
	if (!ga_commit_whole(r, &tip, &tip)) {
		ret->how = s->state == GA_STATE_LANDED ? GA_LANDED_MERGED : GA_LANDED_NOT;
		return 0;
	}
	if (list_tips(r, s, &tip, &tips, err) || list_places(r, s, &tip, &places, err))
		return -1;
	make_key(s, &tips, &places, &key);
	if (recall(s, &key, ret))
		return 0;
	if (look(r, s, &tips, &places, ret, err))
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
	rc = ga_ref_read(r, s->id.branch, &tip, err) < 0 ? -1 : here(r, s, &tip, &at, &branch, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return ga_is_on_branch(r, &at, NULL, false, &there, err) ? -1 : there;
}

int ga_landed(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival a = GA_ARRIVAL_INIT;

	return ga_arrived(r, s, &a, err) ? -1 : a.how != GA_LANDED_NOT;
}
