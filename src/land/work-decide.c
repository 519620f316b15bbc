/* SPDX-License-Identifier: MIT
 *
 * What becomes of one path in commit, index and working tree.
 */
#include "ga/objects.h"
#include "ga/rewrite.h"
#include "work.h"

/* Three-way merge; sets p->lines if lines had to be merged. 1: the changes overlap. */
static int merge(struct ga_repo *r, struct work_path *p, const struct ga_entry *base,
		 const struct ga_entry *ours, const struct ga_entry *theirs, struct ga_entry *ret,
		 struct ga_error *err)
{
	int rc = ga_merge_entry(r, base, ours, theirs, ret, err);

	if (!rc && !ga_oid_equal(&ret->oid, &base->oid) && !ga_oid_equal(&ret->oid, &ours->oid) &&
	    !ga_oid_equal(&ret->oid, &theirs->oid))
		p->lines = true;
	return rc;
}

/* The agent's change on top of `ours`: merged from what the agent started from, if that is known,
 * else from HEAD to what is committed. */
static int change(struct ga_repo *r, struct work_path *p, const struct ga_entry *ours,
		  struct ga_entry *ret, struct ga_error *err)
{
	int rc = p->carried ? merge(r, p, &p->had, ours, &p->made, ret, err) : 1;

	return rc > 0 ? merge(r, p, &p->head, ours, &p->to_commit, ret, err) : rc;
}

/* Does more than this path conflict: a file that was renamed, or one where the other side has a
 * directory? Then what git could not merge is not what the agent did to this path alone. */
static bool conflicts_elsewhere(const struct work_path *p, const struct ga_entry *from,
				const struct ga_entry *to)
{
	return ga_entry_equal(from, to) || (!from->mode && (!p->head.mode || !to->mode));
}

int work_commits(struct ga_repo *r, struct work_path *p, enum work_may may, struct ga_error *err)
{
	bool commit = p->carried && may >= (p->moved ? WORK_MAY_ALL : WORK_MAY);
	int rc = commit ? merge(r, p, &p->had, &p->head, &p->made, &p->to_commit, err) : 1;

	/* an uncommitted line that the agent moved within the file is not to be committed either */
	if (!rc)
		rc = ga_rewrite_shows(r, &p->had, &p->head, &p->to_commit, NULL, err);
	if (rc > 0)
		p->to_commit = p->head;
	return rc;
}

/* A path that git could not merge, or that is left out of the branch. */
static int decide_apart(struct ga_repo *r, struct work_path *p, enum work_may may,
			struct ga_error *err)
{
	const struct ga_entry *from = p->carried ? &p->had : &p->onto;
	const struct ga_entry *to = p->carried ? &p->made : &p->tip;
	int rc = work_commits(r, p, may, err);

	if (rc < 0)
		return -1;
	/* if the file has no uncommitted work it is an ordinary conflict */
	if (p->conflict && (conflicts_elsewhere(p, from, to) ||
			    (rc && !p->carried && ga_entry_equal(&p->work, &p->head)))) {
		/* git leaves that to the user, once no untracked file is in its way */
		p->hurdle = p->untracked ? WORK_UNTRACKED : WORK_CONFLICT;
		return 0;
	}
	rc = merge(r, p, from, &p->work, to, &p->to_work, err);
	if (rc > 0)
		p->hurdle = p->conflict ? WORK_CONFLICT : WORK_EDITED;
	return rc < 0 ? -1 : 0;
}

static int decide_index(struct ga_repo *r, struct work_path *p, struct ga_error *err)
{
	int rc = 0;

	if (ga_entry_equal(&p->to_commit, &p->head))
		p->to_index = p->index;
	else if (ga_entry_equal(&p->index, &p->head))
		p->to_index = p->to_commit;
	else if (ga_entry_equal(&p->index, &p->work))
		p->to_index = p->to_work; /* everything in the working tree was staged */
	else
		rc = change(r, p, &p->index, &p->to_index, err);
	if (rc > 0)
		p->hurdle = WORK_STAGED;
	return rc < 0 ? -1 : 0;
}

static bool is_link(const struct ga_entry *e)
{
	return e->mode == GA_MODE_GITLINK;
}

/* A merge that moves a submodule leaves its working tree alone. */
static int decide_submodule(struct ga_repo *r, struct work_path *p, struct ga_error *err)
{
	if (!is_link(&p->head) || !is_link(&p->merged) || p->conflict || p->left_out) {
		p->hurdle = WORK_SUBMODULE;
		return 0;
	}
	p->to_commit = p->merged;
	p->to_work = p->work;
	return decide_index(r, p, err);
}

int work_decide(struct ga_repo *r, struct work_path *p, enum work_may may, struct ga_error *err)
{
	int rc;

	if (p->hurdle)
		return 0;
	if (is_link(&p->head) || is_link(&p->merged) || is_link(&p->made) || is_link(&p->work))
		return decide_submodule(r, p, err);
	if (p->conflict || p->left_out) {
		if (decide_apart(r, p, may, err))
			return -1;
	} else {
		p->to_commit = p->merged;
		rc = ga_entry_equal(&p->work, &p->head)
			 ? (p->to_work = p->merged, 0)
			 : change(r, p, &p->work, &p->to_work, err);
		if (rc < 0)
			return -1;
		if (rc)
			p->hurdle = p->untracked ? WORK_UNTRACKED : WORK_EDITED;
	}
	return p->hurdle ? 0 : decide_index(r, p, err);
}
