/* SPDX-License-Identifier: MIT
 *
 * Recover a landing or an undo that was killed or in which git failed: complete it if HEAD has it,
 * else roll it back.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "land-internal.h"

/* Is HEAD on the record's branch, and at this commit? 1 yes. */
static int land_is_at(struct ga_repo *r, const struct record *rec, const struct ga_oid *at,
		      struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head = { { 0 } };

	if (ga_repo_head(r, &head, &branch, err) < 0)
		return -1;
	return (branch && rec->branch ? !strcmp(branch, rec->branch) : branch == rec->branch) &&
	       ga_oid_equal(&head, at);
}

static int name_left(const char *session, const struct ga_strv *left, struct ga_error *err)
{
	cleanup_free char *list = NULL;

	if (!left->n)
		return 0;
	list = ga_quote_list(left, GA_LISTED);
	return ga_fail(err, GA_ELOSE, "the landing of agent/%s was rolled back, except for files "
		       "that have changed since: %s"
		       GA_HINT "see 'git status'", session, list);
}

/* Remove the record; the last one counts again. */
static int forget(const struct landing *l, struct record *rec, struct ga_error *err)
{
	int rc = record_remove(l->repo, rec, err);

	record_release(rec);
	return rc ? -1 : record_read(l->repo, rec, err);
}

static int complete_record(const struct landing *l, struct record *rec, const struct ga_oid *made,
			   enum land_settled *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;

	rec->commit = *made;
	rec->phase = RECORD_DONE;
	*ret = LAND_SETTLED_COMPLETED;
	/* files that were changed since are applied by the next landing, or named by it */
	return land_clear_state(l, rec, err) || record_apply(l->repo, rec, 0, false, &left, err) ||
	       record_save(l->repo, rec, err) ? -1 : 0;
}

int land_roll_back_landing(const struct landing *l, struct record *rec, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;
	cleanup_free char *session = ga_strdup(rec->session);
	struct ga_oid old;
	int rc;

	rec->phase = RECORD_MOVING; /* to be settled: in a restored index git sees no merge */
	if (record_save(l->repo, rec, err) || land_clear_state(l, rec, err) ||
	    land_tree_of(l->repo, &rec->head, &old, err) ||
	    ga_work_roll_back(l->repo, l->config, &old, &rec->tree, &left, err))
		return -1;
	rc = forget(l, rec, err);
	return rc < 0 || name_left(session, &left, err) ? -1 : rc;
}

/* Git's state is the user's to finish or to abort, and may have been by now. */
static int settle_landing(const struct landing *l, struct record *rec, enum land_settled *ret,
			  struct ga_error *err)
{
	const char *gitdir = ga_repo_info(l->repo)->gitdir;
	struct ga_oid made;
	int rc, before;

	if (rec->phase == RECORD_MOVING ? land_is_merging(gitdir, rec)
					: land_is_left(gitdir, rec)) {
		rec->phase = RECORD_HANDED_OVER;
		return record_save(l->repo, rec, err);
	}
	rc = land_find_made(l->repo, rec, &made, err);
	if (rc <= 0)
		return rc ? -1 : complete_record(l, rec, &made, ret, err);
	before = land_is_at(l->repo, rec, &rec->head, err);
	if (before < 0)
		return -1;
	if (rec->phase == RECORD_MOVING && before) {
		*ret = LAND_SETTLED_ROLLED_BACK;
		return land_roll_back_landing(l, rec, err);
	}
	/* the user aborted it by git, which may have been killed */
	return before && land_clear_state(l, rec, err) ? -1 : forget(l, rec, err);
}

static int settle_undoing(const struct landing *l, struct record *rec, enum land_settled *ret,
			  struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;
	const bool moves = !ga_oid_equal(&rec->head, &rec->commit);
	struct ga_oid old, made;
	int rc = land_is_at(l->repo, rec, &rec->commit, err);

	if (rc <= 0)
		return rc ? -1 : forget(l, rec, err);
	*ret = LAND_SETTLED_ROLLED_BACK;
	if (moves && (land_tree_of(l->repo, &rec->head, &old, err) ||
			ga_commit_tree(l->repo, &rec->commit, &made, err) ||
			ga_work_roll_back(l->repo, l->config, &made, &old, &left, err)))
		return -1;
	rec->phase = RECORD_DONE;
	if (record_apply(l->repo, rec, 0, false, &left, err) || record_save(l->repo, rec, err))
		return -1;
	return name_left(rec->session, &left, err);
}

int land_settle(const struct landing *l, struct record *rec, enum land_settled *ret,
		struct ga_error *err)
{
	int rc = record_read(l->repo, rec, err);

	*ret = LAND_SETTLED_NOTHING;
	if (rc || rec->phase == RECORD_DONE)
		return rc;
	return rec->phase == RECORD_UNDOING ? settle_undoing(l, rec, ret, err)
					    : settle_landing(l, rec, ret, err);
}

int land_recover(const struct landing *l, struct record *rec, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	enum land_settled settled;

	record_release(rec);
	if (land_remove_locks(l->lock, &second) || land_settle(l, rec, &settled, &second) < 0) {
		(void)ga_error_wrap(err, "%s", second.msg);
		return second.hint ? ga_hint_instead(err, "%s", second.hint) : -1;
	}
	return settled == LAND_SETTLED_ROLLED_BACK
		       ? ga_hint(err, "nothing was changed; see 'git status', then try again")
		       : -1;
}
