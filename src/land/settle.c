/* SPDX-License-Identifier: MIT
 *
 * The only recovery: a landing or an undoing that ended in the middle, because git failed or
 * it was killed, is completed if HEAD says that it happened, and else rolled back. /
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "landing.h"

#define HEAD_FILE 64

/* MERGE_HEAD is the session's commit, or git was killed while it wrote that. */
static bool is_merging(const struct ga_repo *r, const struct record *rec)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid oid;
	int fd = open(ga_repo_info(r)->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool there = fd >= 0 && !ga_read_file_at(fd, "MERGE_HEAD", HEAD_FILE, &b, &ignored);

	ga_cleanup_closep(&fd);
	ga_buf_chomp(&b);
	return there && (!b.len || (ga_oid_parse(b.ptr, b.len, &oid) &&
				    ga_oid_equal(&oid, &rec->tip)));
}

bool land_is_left(struct ga_repo *r, const struct record *rec)
{
	cleanup_free char *squash = ga_path_join(ga_repo_info(r)->gitdir, "SQUASH_MSG");

	return rec->how == GA_LAND_SQUASH ? !access(squash, F_OK) : is_merging(r, rec);
}

int land_old_tree(struct ga_repo *r, const struct record *rec, struct ga_oid *ret,
		  struct ga_error *err)
{
	static const struct ga_changes none = GA_CHANGES_INIT;

	return ga_oid_is_zero(&rec->head) ? ga_tree_apply(r, NULL, NULL, &none, ret, err)
					  : ga_commit_tree(r, &rec->head, ret, err);
}

/* Is HEAD what the record says it was (`before`) or became? */
static int is_at(struct ga_repo *r, const struct record *rec, bool before, bool *ret,
		 struct ga_error *err)
{
	const struct ga_oid *want = before ? &rec->head : &rec->commit;
	cleanup_free char *branch = NULL;
	struct ga_oid head = { { 0 } };
	int rc = ga_repo_head(r, &head, &branch, err);

	if (rc < 0)
		return -1;
	*ret = (branch && rec->branch ? !strcmp(branch, rec->branch) : branch == rec->branch) &&
	       (rc ? ga_oid_is_zero(want) : ga_oid_equal(&head, want));
	return 0;
}

/* What git did not write stays, and is named. */
static int name_left(const char *session, const struct ga_strv *left, struct ga_error *err)
{
	cleanup_free char *list = NULL;

	if (!left->n)
		return 0;
	list = land_list_paths(left);
	(void)ga_fail(err, GA_ELOSE, "the landing of agent/%s was rolled back, except for files "
		      "that were changed meanwhile: %s", session, list);
	return ga_hint(err, "see 'git status'");
}

/* The user went on in another way: what was recorded is of no use any more. */
static int forget(struct ga_repo *r, struct record *rec, struct ga_error *err)
{
	int rc = record_remove(rec, err);

	record_release(rec);
	return rc ? -1 : record_read(r, rec, err);
}

int land_clear_state(struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	static const char *const args[] = { "merge", "--quit", NULL };
	cleanup_free char *squash = ga_path_join(ga_repo_info(r)->gitdir, "SQUASH_MSG");
	const struct land_git g = { .args = args, .lock = -1 };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (rec->how == GA_LAND_SQUASH && unlink(squash) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", squash);
	return is_merging(r, rec) || !ga_repo_operation(r) ? land_run(r, &g, &status, &why, err)
							   : 0;
}

static int complete(struct ga_repo *r, struct record *rec, const struct ga_oid *made,
		    enum land_settled *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;

	rec->commit = *made;
	rec->phase = RECORD_DONE;
	*ret = LAND_SETTLED_COMPLETED;
	/* files that were changed since are brought by the next landing, or named by it */
	if (land_clear_state(r, rec, err) || land_bring(r, rec, 0, &left, err) ||
	    record_save(rec, err))
		return -1;
	record_forget_earlier(rec);
	return 0;
}

int land_roll_back_landing(struct ga_repo *r, const struct ga_gitconfig *c, struct record *rec,
			   struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;
	cleanup_free char *session = ga_strdup(rec->session);
	struct ga_oid old;
	int rc;

	if (land_old_tree(r, rec, &old, err) ||
	    land_roll_back(r, c, &old, &rec->tree, &left, err) || land_clear_state(r, rec, err))
		return -1;
	rc = forget(r, rec, err);
	return rc < 0 || name_left(session, &left, err) ? -1 : rc;
}

static int settle_moving(struct ga_repo *r, const struct ga_gitconfig *c, struct record *rec,
			 enum land_settled *ret, struct ga_error *err)
{
	struct ga_oid made;
	bool before;
	int rc;

	if (is_merging(r, rec)) {
		rec->phase = RECORD_HANDED_OVER;
		return record_save(rec, err);
	}
	rc = land_find_made(r, rec, &made, err);
	if (rc <= 0)
		return rc ? -1 : complete(r, rec, &made, ret, err);
	if (is_at(r, rec, true, &before, err))
		return -1;
	if (!before)
		return forget(r, rec, err);
	*ret = LAND_SETTLED_ROLLED_BACK;
	return land_roll_back_landing(r, c, rec, err);
}

/* Git's state is the user's to finish or to give up, and may have been by now. */
static int settle_left(struct ga_repo *r, struct record *rec, enum land_settled *ret,
		       struct ga_error *err)
{
	struct ga_oid made;
	int rc;

	if (land_is_left(r, rec))
		return 0;
	rc = land_find_made(r, rec, &made, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return complete(r, rec, &made, ret, err);
	/* the user gave it up by git, or was killed while he did */
	return land_clear_state(r, rec, err) ? -1 : forget(r, rec, err);
}

static int settle_undoing(struct ga_repo *r, const struct ga_gitconfig *c, struct record *rec,
			  enum land_settled *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;
	struct ga_oid old, made;
	bool after, before;

	if (is_at(r, rec, false, &after, err) || is_at(r, rec, true, &before, err))
		return -1;
	if (!after)
		return forget(r, rec, err);
	*ret = LAND_SETTLED_ROLLED_BACK;
	if (!before && (land_old_tree(r, rec, &old, err) ||
			ga_commit_tree(r, &rec->commit, &made, err) ||
			land_roll_back(r, c, &made, &old, &left, err)))
		return -1;
	rec->phase = RECORD_DONE;
	if (land_bring(r, rec, 0, &left, err) || record_save(rec, err))
		return -1;
	return name_left(rec->session, &left, err);
}

int land_settle(struct ga_repo *r, const struct ga_gitconfig *c, struct record *rec,
		enum land_settled *ret, struct ga_error *err)
{
	int rc = record_read(r, rec, err);

	*ret = LAND_SETTLED_NOTHING;
	if (rc)
		return rc;
	switch (rec->phase) {
	case RECORD_MOVING:
		return settle_moving(r, c, rec, ret, err);
	case RECORD_HANDED_OVER:
		return settle_left(r, rec, ret, err);
	case RECORD_UNDOING:
		return settle_undoing(r, c, rec, ret, err);
	case RECORD_DONE:
		break;
	}
	return 0;
}
