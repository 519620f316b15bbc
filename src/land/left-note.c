/* SPDX-License-Identifier: MIT
 *
 * What git is told to bring, noted beside the session before it begins: words that end in NUL. It
 * goes when git is done, and where the user finished it by hand it is of nothing that waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "land-internal.h"

#define MAGIC "git-agent left 1"
#define NOTE_MAX ((size_t)PATH_MAX)

static char *file_of(const struct ga_session *s)
{
	return ga_path_join(s->dir, "left");
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

int land_left_note(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = file_of(l->s);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid last;

	last_of(&l->picks, &last);
	ga_buf_add0(&b, MAGIC);
	ga_buf_add0(&b, land_worktree(l));
	ga_buf_add0(&b, l->rebase ? "rebase" : "merge");
	ga_buf_add0(&b, GA_HEX(&l->tip));
	ga_buf_add0(&b, GA_HEX(&last));
	return ga_write_atomic(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

void land_left_forget(struct land *l)
{
	cleanup_free char *file = file_of(l->s);

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

int land_left_read(const struct land *l, struct land_left *ret, struct ga_error *err)
{
	cleanup_free char *file = file_of(l->s), *q = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (access(file, F_OK) && errno == ENOENT)
		return 1;
	if (ga_read_file_at(AT_FDCWD, file, NOTE_MAX, &b, err))
		return -1;
	if (parse(&b, ret))
		return 0;
	q = ga_escape(file);
	return ga_fail(err, GA_EFATAL, "'%s' is not what a landing notes", q);
}

/* Git's own files, since it may be another working tree than this one. */
bool land_left_waits(const struct land *l, const struct land_left *left)
{
	cleanup_free char *gitdir = land_worktree_gitdir(l, left->worktree);
	cleanup_free char *merge = ga_path_join(gitdir, "MERGE_HEAD");
	cleanup_free char *pick = ga_path_join(gitdir, "CHERRY_PICK_HEAD");
	cleanup_free char *todo = ga_path_join(gitdir, "sequencer/todo");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (left->rebase)
		return !access(pick, F_OK) || !access(todo, F_OK);
	if (ga_read_file_at(AT_FDCWD, merge, NOTE_MAX, &b, &none))
		return false;
	ga_buf_chomp(&b);
	return !strcmp(b.ptr, GA_HEX(&left->tip));
}

bool ga_land_waits(struct ga_repo *r, struct ga_session *s)
{
	const struct land l = { .repo = r, .s = s };
	cleanup_(land_left_release) struct land_left left = { .worktree = NULL };
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	return !land_left_read(&l, &left, &none) && land_left_waits(&l, &left);
}

int land_left_check_none(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	const struct land l = { .repo = r, .s = s };
	cleanup_(land_left_release) struct land_left left = { .worktree = NULL };
	cleanup_free char *path = NULL, *q = NULL;
	int rc = land_left_read(&l, &left, err);

	if (rc || !land_left_waits(&l, &left))
		return rc < 0 ? -1 : 0;
	path = land_worktree_path(&l, left.worktree);
	q = ga_escape(path ? path : left.worktree);
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was left to be finished in '%s'",
		      s->name, q);
	return ga_hint(err, "'git agent land --abort %s' there, and reject then; what --continue "
		       "finishes has what is rejected", s->name);
}
