/* SPDX-License-Identifier: MIT
 *
 * What git is told to bring, recorded beside the session before git begins: words that end in NUL.
 * The record is removed when git is done; if it stays because the user finished by hand, it matches
 * nothing that waits. Another working tree can have a landing of the session waiting as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "left-note.h"
#include "landing.h"

#define NAME "left"
#define MAGIC "git-agent left 1"
#define NOTE_MAX ((size_t)PATH_MAX)

char *land_left_file(const struct land *l)
{
	return land_own_file(l, NAME);
}

void land_left_release(struct land_left *left)
{
	free(left->worktree);
	left->worktree = NULL;
}

static void last_of(const struct ga_buf *picks, struct ga_oid *ret)
{
	*ret = (struct ga_oid){ { 0 } };
	if (picks->len > GA_OID_HEXSZ)
		(void)ga_oid_parse(picks->ptr + picks->len - GA_OID_HEXSZ - 1, GA_OID_HEXSZ, ret);
}

int land_left_note(struct land *l, bool sync, struct ga_error *err)
{
	cleanup_free char *file = land_left_file(l);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid last;

	last_of(&l->picks, &last);
	ga_buf_add0(&b, MAGIC);
	ga_buf_add0(&b, land_worktree(l));
	ga_buf_add0(&b, l->rebase ? "rebase" : "merge");
	ga_buf_add0(&b, GA_HEX(&l->tip));
	ga_buf_add0(&b, GA_HEX(&last));
	if (sync)
		return ga_write_atomic(AT_FDCWD, file, b.ptr, b.len, 0600, err);
	(void)unlink(file);
	return ga_write_new(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

void land_left_forget(struct land *l)
{
	cleanup_free char *file = land_left_file(l);

	(void)unlink(file);
}

static bool next_oid(const struct ga_buf *b, size_t *pos, struct ga_oid *ret)
{
	const char *s = ga_buf_next0(b, pos);

	return s && ga_oid_parse(s, strlen(s), ret);
}

static bool parse(const struct ga_buf *b, struct land_left *ret)
{
	size_t pos = 0;
	const char *s = ga_buf_next0(b, &pos), *worktree, *how;

	if (!s || strcmp(s, MAGIC) != 0)
		return false;
	worktree = ga_buf_next0(b, &pos);
	how = worktree ? ga_buf_next0(b, &pos) : NULL;
	if (!how || strchr(worktree, '/') || !next_oid(b, &pos, &ret->tip) ||
	    !next_oid(b, &pos, &ret->last) || pos != b->len)
		return false;
	ret->rebase = !strcmp(how, "rebase");
	ret->worktree = ga_strdup(worktree);
	return true;
}

static int read_file(const char *file, struct land_left *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *q = NULL;

	if (access(file, F_OK) && errno == ENOENT)
		return 1;
	if (ga_read_file_at(AT_FDCWD, file, NOTE_MAX, &b, err))
		return -1;
	/* it was never synced, and git not begun */
	if (!b.len)
		return 1;
	if (parse(&b, ret))
		return 0;
	q = ga_escape(file);
	return ga_fail(err, GA_EFATAL, "'%s' is not what a landing notes", q);
}

int land_left_read(const struct land *l, struct land_left *ret, struct ga_error *err)
{
	cleanup_free char *file = land_left_file(l);

	return read_file(file, ret, err);
}

/* ---- does it wait? --------------------------------------------------------------------- */

/* Is a word from a file of git's this id, possibly abbreviated? */
static bool is_id(const char *word, size_t n, const struct ga_oid *oid)
{
	return n && !strncmp(word, GA_HEX(oid), n);
}

static bool has_id(const char *gitdir, const char *name, const struct ga_oid *oid)
{
	cleanup_free char *file = ga_path_join(gitdir, name);
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return !ga_read_file_at(AT_FDCWD, file, NOTE_MAX, &b, &none) &&
	       is_id(b.ptr, strcspn(b.ptr, "\n"), oid);
}

/* Is git applying commits of which that is the last? For a single commit it has no list. */
static bool picks_to(const char *gitdir, const struct ga_oid *last)
{
	cleanup_free char *file = ga_path_join(gitdir, "sequencer/todo");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *id = "";

	if (access(file, F_OK))
		return has_id(gitdir, "CHERRY_PICK_HEAD", last);
	if (ga_read_file_at(AT_FDCWD, file, LAND_TODO_MAX, &b, &none))
		return false;
	for (const char *s = b.ptr; *s; s += strcspn(s, "\n"), s += *s == '\n')
		if (!strncmp(s, "pick ", 5))
			id = s + 5;
	return is_id(id, strcspn(id, " \n"), last);
}

/* By git's own files, since it may be another working tree than this one. */
static bool waits(const struct land *l, const struct land_left *left)
{
	cleanup_free char *gitdir = land_worktree_gitdir(l, left->worktree);

	return left->rebase ? picks_to(gitdir, &left->last)
			    : has_id(gitdir, "MERGE_HEAD", &left->tip);
}

int land_left_find(const struct land *l, bool elsewhere, struct land_left *ret,
		   struct ga_error *err)
{
	cleanup_strv struct ga_strv worktrees = GA_STRV_INIT;
	int rc;

	if (land_worktrees_with(l, NAME, &worktrees, err))
		return -1;
	for (size_t i = 0; i < worktrees.n; i++) {
		const char *worktree = worktrees.v[i];
		cleanup_free char *file = ga_strf("%s/" NAME "%s%s", l->s->dir,
						  *worktree ? "-" : "", worktree);

		if (elsewhere && !strcmp(worktree, land_worktree(l)))
			continue;
		rc = read_file(file, ret, err);
		if (rc < 0)
			return -1;
		if (!rc && waits(l, ret))
			return 0;
		land_left_release(ret);
	}
	return 1;
}

bool ga_land_waits(struct ga_repo *r, struct ga_session *s)
{
	if (land_is_new())
		return land_new_waits(r, s);
	const struct land l = { .repo = r, .s = s };
	cleanup_(land_left_release) struct land_left left = { .worktree = NULL };
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	return !land_left_read(&l, &left, &none) && waits(&l, &left);
}

int land_left_check_none(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	const struct land l = { .repo = r, .s = s };
	cleanup_(land_left_release) struct land_left left = { .worktree = NULL };
	cleanup_free char *path = NULL, *q = NULL;
	int rc = land_left_find(&l, false, &left, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	path = land_worktree_path(&l, left.worktree);
	q = ga_escape(path ? path : left.worktree);
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was left to be finished in '%s'",
		      s->name, q);
	return ga_hint(err, "'git agent land --abort %s' there, and reject then; what --continue "
		       "finishes has what is rejected", s->name);
}
