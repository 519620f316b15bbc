/* SPDX-License-Identifier: MIT
 *
 * Reading the note of a landing (note.c). It is in the session's directory, where only this program
 * writes, but every word is checked all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/trace.h"
#include "note.h"
#include "undo.h"

void undo_release(struct undo *u)
{
	ga_cleanup_closep(&u->dir);
	free(u->ref);
	free(u->worktree);
	ga_strv_release(&u->left_out);
	for (size_t i = 0; i < u->n; i++)
		free(u->files[i].path);
	free(u->files);
}

static bool next_oid(const struct ga_buf *b, size_t *pos, struct ga_oid *ret)
{
	const char *s = ga_buf_next0(b, pos);

	return s && ga_oid_parse(s, strlen(s), ret);
}

static bool next_number(const struct ga_buf *b, size_t *pos, uint64_t max, uint64_t *ret)
{
	const char *s = ga_buf_next0(b, pos);

	return s && ga_parse_u64(s, max, ret);
}

static bool next_file(const struct ga_buf *b, size_t *pos, const char *path, struct undo *u)
{
	struct undo_file *f;
	uint64_t had, will;

	if (!ga_path_relative_ok(path))
		return false;
	GA_GROW(u->files, u->n, u->cap);
	f = &u->files[u->n++];
	*f = (struct undo_file){ .path = ga_strdup(path) };
	if (!next_number(b, pos, UINT16_MAX, &had) || !next_number(b, pos, UINT16_MAX, &will) ||
	    !next_oid(b, pos, &f->will.oid))
		return false;
	f->had = (mode_t)had;
	f->will.mode = (mode_t)will;
	return true;
}

static bool parse(const struct ga_buf *b, struct undo *u)
{
	size_t pos = 0;
	const char *s = ga_buf_next0(b, &pos);
	uint64_t left;

	if (!s || strcmp(s, LAND_NOTE_MAGIC) != 0 || !next_oid(b, &pos, &u->head))
		return false;
	s = ga_buf_next0(b, &pos);
	if (!s)
		return false;
	u->ref = ga_strdup(s);
	s = ga_buf_next0(b, &pos);
	if (!s || strchr(s, '/'))
		return false;
	u->worktree = ga_strdup(s);
	s = ga_buf_next0(b, &pos);
	if (!s || !ga_state_parse(s, &u->state) ||
	    (u->state != GA_STATE_CAPTURED && u->state != GA_STATE_LANDED))
		return false;
	if (!next_oid(b, &pos, &u->landed) || !next_number(b, &pos, b->len, &left))
		return false;
	while (left--) {
		s = ga_buf_next0(b, &pos);
		if (!s)
			return false;
		ga_strv_push(&u->left_out, s);
	}
	while ((s = ga_buf_next0(b, &pos)))
		if (!next_file(b, &pos, s, u))
			return false;
	return pos == b->len;
}

/* Is there a file of that name in the note? 1 yes; 0 no; -1: nobody can tell. */
static int has(int dir, const char *name, struct ga_error *err)
{
	if (!faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return 1;
	if (errno == ENOENT)
		return 0;
	return ga_fail_errno(err, GA_EFATAL, errno, "cannot read what a landing noted");
}

bool undo_noted(const struct undo *u, const char *name, struct ga_oid *ret)
{
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return !ga_read_file_at(u->dir, name, GA_OID_HEXSZ, &b, &none) &&
	       ga_oid_parse(b.ptr, b.len, ret);
}

static int read_left(struct undo *u, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;
	int rc = has(u->dir, LAND_NOTE_LEFT, err);

	if (rc <= 0)
		return rc;
	if (ga_read_file_at(u->dir, LAND_NOTE_LEFT, LAND_NOTE_MAX, &b, err))
		return -1;
	while ((path = ga_buf_next0(&b, &pos)))
		ga_strv_push(&left, path);
	ga_strv_sort_unique(&left);
	for (size_t i = 0; i < u->n; i++)
		u->files[i].left = ga_strv_find(&left, u->files[i].path) >= 0;
	return pos == b.len ? 0 : ga_fail(err, GA_EFATAL, "what a landing noted is damaged");
}

/* If HEAD was switched while it landed, the branch is the one that it was switched to. */
static int read_switched(struct undo *u, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	int rc = has(u->dir, LAND_NOTE_SWITCHED, err);

	if (rc <= 0)
		return rc;
	if (ga_read_file_at(u->dir, LAND_NOTE_SWITCHED, PATH_MAX, &b, err))
		return -1;
	free(u->ref);
	u->ref = ga_buf_steal(&b);
	return 0;
}

static int read_work(const struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t pos = 0;
	int rc = has(u->dir, LAND_NOTE_WORK, err), done;

	u->by_path = rc > 0;
	if (rc <= 0)
		return rc;
	if (ga_read_file_at(u->dir, LAND_NOTE_WORK, LAND_NOTE_MAX, &b, err))
		return -1;
	if (!next_oid(&b, &pos, &u->commit) || !next_oid(&b, &pos, &u->index) ||
	    !next_oid(&b, &pos, &u->index_after) || pos != b.len)
		return ga_fail(err, GA_EFATAL, "what a landing noted is damaged");
	done = has(u->dir, LAND_NOTE_DONE, err);
	/* was it killed on the way? */
	if (!(l->s->state == GA_STATE_LANDED && ga_oid_equal(&l->s->landed, &u->commit)) ||
	    ga_oid_equal(&u->commit, &u->head))
		u->begun |= !done;
	return done < 0 ? -1 : 0;
}

/* 1: there is none of that number. */
static int open_note(const char *dir, struct undo *u, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(dir);

	ga_cleanup_closep(&u->dir);
	u->dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u->dir >= 0)
		return 0;
	return errno == ENOENT ? 1 : ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", q);
}

/* True also if nobody can tell. */
static bool may_have(int dir, const char *name)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	return has(dir, name, &ignored) != 0;
}

static bool is_done(int dir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	return has(dir, LAND_NOTE_DONE, &ignored) == 1;
}

bool undo_may_have_begun(const struct undo *u)
{
	return u->dir < 0 || may_have(u->dir, LAND_NOTE_HIDDEN) || may_have(u->dir, UNDO_BEGUN) ||
	       (may_have(u->dir, LAND_NOTE_WORK) && !is_done(u->dir));
}

static int read_record(const struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/%u", l->notes, l->note), *q = ga_escape(dir);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid made;
	int rc = has(u->dir, UNDO_BEGUN, err);

	if (rc < 0 || ga_fault_stop("land:read", err) ||
	    ga_read_file_at(u->dir, LAND_NOTE_RECORD, LAND_NOTE_MAX, &b, err))
		return -1;
	u->begun = rc;
	rc = has(u->dir, LAND_NOTE_HIDDEN, err);
	if (rc < 0)
		return -1;
	u->hidden = rc;
	u->over = is_done(u->dir);
	u->at_work = undo_noted(u, LAND_NOTE_GIT, &u->tip) &&
		     !undo_noted(u, LAND_NOTE_MADE, &made) && !u->over;
	if (parse(&b, u))
		return read_left(u, err) || read_switched(u, err) || read_work(l, u, err) ? -1
											   : 0;
	return ga_fail(err, GA_EFATAL, "'%s' is not what a landing notes", q);
}

/* A landing whose note has no record did not touch anything, unless the note is there to bar those
 * below it (recover.c). 1: there is no record; 2: it bars them. */
static int open_record(const struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/%u", l->notes, l->note);
	int rc = open_note(dir, u, err);

	if (rc)
		return rc;
	rc = has(u->dir, LAND_NOTE_RECORD, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	rc = has(u->dir, LAND_NOTE_DONE, err);
	return rc < 0 ? -1 : 1 + rc;
}

int undo_read(struct land *l, struct undo *u, struct ga_error *err)
{
	int rc = 1;

	l->notes = land_notes(l->s);
	if (land_note_last(l->notes, &l->note, err))
		return -1;
	while (l->note && (rc = open_record(l, u, err)) == 1)
		l->note--;
	return rc > 0 ? 1 : rc ? -1 : read_record(l, u, err);
}

int undo_read_interrupted(struct land *l, struct undo *u, struct ga_error *err)
{
	int rc = open_record(l, u, err);
	struct stat st;

	if (rc)
		return rc < 0 ? -1 : 1;
	/* empty: it came to its end by itself */
	if (!fstatat(u->dir, LAND_NOTE_DONE, &st, AT_SYMLINK_NOFOLLOW) && !st.st_size)
		return 1;
	return read_record(l, u, err);
}
