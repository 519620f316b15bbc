/* SPDX-License-Identifier: MIT
 *
 * Where a rebase stopped, by git's files and by what is recorded beside the session, and whether it
 * is that of a landing.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "rebase.h"

#define BY_HAND_MAX 1000 /* commits of the user's since git stopped, at most */

char *rebase_file(const struct land *l, const char *name)
{
	cleanup_free char *path = ga_strf("sequencer/%s", name);

	return ga_path_join(ga_repo_info(l->repo)->gitdir, path);
}

/* 1: git has no list. */
static int read_todo(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free char *file = rebase_file(l, "todo");

	if (access(file, F_OK) && errno == ENOENT)
		return 1;
	return ga_read_file_at(AT_FDCWD, file, LAND_TODO_MAX, ret, err) ? -1 : 0;
}

int rebase_next(struct land *l, struct ga_oid *ret, struct ga_error *err)
{
	const char *args[] = { "rev-parse", "--quiet", "--verify", NULL, NULL };
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *id = NULL;
	int rc = read_todo(l, &b, err);
	size_t n;

	if (rc)
		return rc;
	if (strncmp(b.ptr, "pick ", 5) != 0)
		return ga_fail(err, GA_EFATAL, "cannot tell at which commit git stopped");
	n = strcspn(b.ptr + 5, " \n");
	id = ga_strf("%.*s^{commit}", (int)n, b.ptr + 5);
	args[3] = id;
	return land_ask_id(l, args, ret, err)
		       ? err->msg ? -1 : ga_fail(err, GA_EFATAL, "cannot tell at which commit git "
						 "stopped")
		       : 0;
}

/* What is recorded for this working tree. Git's own list tells neither whether its first commit was
 * begun, nor what HEAD was if it was not, and is gone once the last is committed. */
#define LEFT "left"
struct stopped {
	struct ga_oid at, next, began; /* HEAD when git stopped, the next commit, HEAD before the
					* first */
	bool left;                     /* git left it to the user; false: git could not begin it */
};

char *rebase_stopped_file(const struct land *l)
{
	return land_own_file(l, "stopped");
}

int rebase_note_stopped(struct land *l, const struct ga_oid *next, bool left, struct ga_error *err)
{
	cleanup_free char *file = rebase_stopped_file(l), *branch = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid at;

	if (ga_repo_head(l->repo, &at, &branch, err))
		return err->msg ? -1 : ga_fail(err, GA_EFATAL, "this branch has no commit");
	ga_buf_add0(&b, GA_HEX(&at));
	ga_buf_add0(&b, GA_HEX(next));
	ga_buf_add0(&b, GA_HEX(&l->head));
	ga_buf_add0(&b, left ? LEFT : "");
	return ga_write_atomic(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

/* False: there is none that can be read. */
static bool read_stopped(const struct land *l, struct stopped *ret)
{
	struct ga_oid *const ids[] = { &ret->at, &ret->next, &ret->began };
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_free char *file = rebase_stopped_file(l);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *s;
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, file, 200, &b, &none))
		return false;
	for (size_t i = 0; i < GA_NELEMS(ids); i++) {
		s = ga_buf_next0(&b, &pos);
		if (!s || !ga_oid_parse(s, strlen(s), ids[i]))
			return false;
	}
	s = ga_buf_next0(&b, &pos);
	ret->left = s && !strcmp(s, LEFT);
	return s;
}

/* Move `*head` down to the commit whose parent is `at`: 1; 0: nobody can tell which that is. */
static int read_above(struct land *l, const struct ga_oid *at, struct ga_oid *head,
		      struct ga_error *err)
{
	for (unsigned n = 0; n < BY_HAND_MAX; n++) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };

		if (ga_commit_read(l->repo, head, &c, err))
			return -1;
		if (c.n_parents != 1)
			return 0;
		if (ga_oid_equal(&c.parents[0], at))
			return 1;
		*head = c.parents[0];
	}
	return 0;
}

int rebase_find_next(struct land *l, struct ga_oid *next, enum next *ret, struct ga_oid *began,
		     struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct stopped stopped;
	struct ga_oid head;
	int rc = land_read_ref(l, "CHERRY_PICK_HEAD", next, err), listed;

	*ret = rc ? NEXT_NONE : NEXT_STOPS;
	if (rc <= 0 || ga_repo_operation(l->repo))
		return rc < 0 ? -1 : 0;
	listed = rebase_next(l, next, err);
	if (listed < 0 || !read_stopped(l, &stopped) ||
	    (!listed && !ga_oid_equal(next, &stopped.next)))
		return listed < 0 ? -1 : 0;
	rc = ga_repo_head(l->repo, &head, &branch, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	*next = stopped.next;
	*began = stopped.began;
	if (ga_oid_equal(&head, &stopped.at)) {
		/* if the list is gone, the user gave it up */
		*ret = listed ? NEXT_NONE : NEXT_TO_DO;
		return 0;
	}
	/* if git had not begun it, commits made since are the user's own; so is one that is not
	 * `next` applied again */
	rc = stopped.left ? read_above(l, &stopped.at, &head, err) : 0;
	if (rc > 0)
		rc = land_is_made_again(l, &head, next, &stopped.at, err);
	if (rc > 0)
		*ret = NEXT_DONE;
	return rc < 0 ? -1 : 0;
}

int rebase_list_later(struct land *l, bool begun, struct ga_buf *ret, struct ga_error *err)
{
	static const char *const args[] = { "rev-list", "--no-walk=unsorted", "--stdin", NULL };
	cleanup_buf struct ga_buf todo = GA_BUF_INIT, ids = GA_BUF_INIT;
	int rc = read_todo(l, &todo, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	for (const char *s = todo.ptr; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		if (strncmp(s, "pick ", 5) != 0)
			continue;
		if (!begun)
			ga_buf_addf(&ids, "%.*s\n", (int)strcspn(s + 5, " \n"), s + 5);
		begun = false;
	}
	return ids.len ? land_ask_git(l, args, NULL, &ids, ret, err) : 0;
}

/* ---- is it one of ours? -------------------------------------------------------------- */

/* Where HEAD was before the first commit, if there are several. */
static int read_head(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = rebase_file(l, "head");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, file, 100, &b, &none))
		return 0;
	ga_buf_chomp(&b);
	return ga_oid_parse(b.ptr, b.len, &l->head)
		   ? 0
		   : ga_fail(err, GA_EFATAL, "cannot tell where the rebase began");
}

/* Is `last` the last commit of git's list or, if that is empty, `at`? Anything else is a
 * cherry-pick of the user's. */
static int ends_with(struct land *l, const struct ga_oid *at, const struct ga_oid *last,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf ids = GA_BUF_INIT;
	struct ga_oid id = *at;

	if (rebase_list_later(l, false, &ids, err))
		return -1;
	if (ids.len > GA_OID_HEXSZ &&
	    !ga_oid_parse(ids.ptr + ids.len - GA_OID_HEXSZ - 1, GA_OID_HEXSZ, &id))
		return 0;
	return ga_oid_equal(&id, last);
}

int land_rebase_left(struct land *l, const struct ga_oid *tip, const struct ga_oid *last,
		     struct ga_error *err)
{
	struct ga_oid oid, began;
	enum next is;
	int rc;

	if (rebase_find_next(l, &oid, &is, &began, err))
		return -1;
	if (is == NEXT_NONE || ga_oid_is_zero(tip))
		return 0;
	rc = ends_with(l, &oid, last, err);
	if (rc > 0)
		rc = ga_is_ancestor(l->repo, &oid, tip, err);
	if (rc <= 0)
		return rc;
	rc = ga_is_ancestor(l->repo, &oid, &l->head, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (is == NEXT_STOPS)
		return read_head(l, err) ? -1 : 1;
	l->head = began;
	return 1;
}
