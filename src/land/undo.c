/* SPDX-License-Identifier: MIT
 *
 * Taking a landing back, by what it noted (note.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/trace.h"
#include "work.h"

#define RECORD_MAX ((size_t)64 << 20)
#define BEGUN "begun" /* beside the record */

struct undo_file {
	char *path;
	mode_t had;       /* before */
	struct land_look will; /* after */
};

struct undo {
	struct ga_oid head;    /* before */
	char *ref;             /* the branch HEAD was on; "" none */
	struct ga_oid landed;  /* what had brought the session before; zero: nothing */
	int dir;               /* where the note is */
	bool begun;            /* undoing, or doing it, was begun before, and did not get to its
				* end: each part is as it was before or after */
	bool by_path;          /* beside uncommitted work: this is known as well */
	struct ga_oid commit;  /* HEAD after */
	struct ga_oid index, index_after; /* what git says of it */
	struct ga_strv left_out;
	struct undo_file *files;
	size_t n, cap;
};

static void undo_release(struct undo *u)
{
	ga_cleanup_closep(&u->dir);
	free(u->ref);
	ga_strv_release(&u->left_out);
	for (size_t i = 0; i < u->n; i++)
		free(u->files[i].path);
	free(u->files);
}

/* Does it stand there as `want` says? An error is no. */
static bool stands(int root, const char *path, const struct land_look *want)
{
	struct land_look is;

	return land_look_here(root, path, &is) && land_look_equal(&is, want);
}

/* ---- reading it ------------------------------------------------------------------ */

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

static int fail_none(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "there is no landing of session '%s' to undo", s->name);
	return ga_hint(err, "'git reflog' shows where your branch was");
}

static int read_work(const struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t pos = 0;

	u->by_path = !faccessat(u->dir, LAND_NOTE_WORK, F_OK, AT_SYMLINK_NOFOLLOW);
	if (!u->by_path)
		return 0;
	if (ga_read_file_at(u->dir, LAND_NOTE_WORK, RECORD_MAX, &b, err))
		return -1;
	if (!next_oid(&b, &pos, &u->commit) || !next_oid(&b, &pos, &u->index) ||
	    !next_oid(&b, &pos, &u->index_after) || pos != b.len)
		return ga_fail(err, GA_EFATAL, "what a landing noted is damaged");
	/* killed on the way? */
	if (!(l->s->state == GA_STATE_LANDED && ga_oid_equal(&l->s->landed, &u->commit)) ||
	    ga_oid_equal(&u->commit, &u->head))
		u->begun |= faccessat(u->dir, LAND_NOTE_DONE, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
	return 0;
}

static int read_note(struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *dir = NULL, *q = NULL;

	l->notes = land_notes(l->s);
	if (land_note_last(l->notes, &l->note, err))
		return -1;
	dir = ga_strf("%s/%u", l->notes, l->note);
	q = ga_escape(dir);
	u->dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* without a record a landing did not get far enough to touch anything */
	if (!l->note || u->dir < 0 || faccessat(u->dir, "record", F_OK, AT_SYMLINK_NOFOLLOW))
		return fail_none(l->s, err);
	u->begun = !faccessat(u->dir, BEGUN, F_OK, AT_SYMLINK_NOFOLLOW);
	if (ga_read_file_at(u->dir, "record", RECORD_MAX, &b, err))
		return -1;
	if (parse(&b, u))
		return read_work(l, u, err);
	return ga_fail(err, GA_EFATAL, "'%s' is not what a landing notes", q);
}

/* ---- taking it back ---------------------------------------------------------------- */

/* Nothing else may have happened on the branch. Where nothing was merged it stayed where it was. */
static int check_head(struct land *l, const struct undo *u, struct ga_error *err)
{
	const struct ga_oid *want = u->by_path                     ? &u->commit
				    : ga_oid_is_zero(&l->s->landed) ? &u->head
								    : &l->s->landed;
	const char *operation = ga_repo_operation(l->repo);
	cleanup_free char *branch = NULL;

	if (operation) {
		(void)ga_fail(err, GA_ELOSE, "a %s is in progress in this working tree", operation);
		return ga_hint(err, "finish or abort it, then undo");
	}
	if (ga_repo_head(l->repo, &l->head, &branch, err))
		return err->msg ? -1 : ga_fail(err, GA_ELOSE, "this branch has no commit");
	if (strcmp(branch ? branch : "", u->ref) != 0) {
		const char *was = ga_ref_branch(u->ref);
		cleanup_free char *q = ga_escape(was ? was : "no branch");

		return ga_fail(err, GA_ELOSE, "agent/%s landed on '%s', and you are not there",
			       l->s->name, q);
	}
	if (ga_oid_equal(&l->head, want) || (u->begun && ga_oid_equal(&l->head, &u->head)))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "your branch has moved since agent/%s landed at %.10s",
		      l->s->name, GA_HEX(want));
	return ga_hint(err, "'git log %.10s..' shows what came; 'git revert' takes commits out",
		       GA_HEX(want));
}

/* Is it as it was before the landing, put back by a try that got no further? */
static bool is_back(int root, const struct undo *u, size_t i)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *name = ga_strf("%zu", i);
	cleanup_close int kept = openat(u->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct land_look was = { .mode = u->files[i].had };

	if (was.mode && (kept < 0 || ga_blob_id(kept, &was.oid, &ignored)))
		return false;
	return stands(root, u->files[i].path, &was);
}

static int check_index(struct land *l, const struct undo *u, struct ga_error *err)
{
	struct ga_oid is;

	if (work_index_id(l, NULL, &is, err))
		return -1;
	if (ga_oid_equal(&is, &u->index_after) || (u->begun && ga_oid_equal(&is, &u->index)))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "the index changed since agent/%s landed", l->s->name);
	return ga_hint(err, "'git restore --staged' takes back what was staged since");
}

/* Where a directory has to make way, only what came with the landing may be in it. */
static int check_dirs(struct land *l, const struct undo *u, int root, struct ga_strv *changed,
		      struct ga_error *err)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct undo_file *f = &u->files[i];

		if (!f->will.mode && f->had && land_dir_here(root, f->path) &&
		    land_untracked_below(l, root, f->path, changed, err) < 0)
			return -1;
	}
	return 0;
}

static int check_files(struct land *l, const struct undo *u, int root, struct ga_error *err)
{
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;

	if (ga_commit_tree(l->repo, &l->head, &l->head_tree, err))
		return -1;
	for (size_t i = 0; i < u->n; i++)
		if (!stands(root, u->files[i].path, &u->files[i].will) &&
		    !(u->begun && is_back(root, u, i)))
			ga_strv_push(&changed, u->files[i].path);
	if (!u->begun && check_dirs(l, u, root, &changed, err))
		return -1;
	if (ga_commit_tree(l->repo, &u->head, &l->merged, err) ||
	    ga_tree_diff(l->repo, &l->head_tree, &l->merged, &l->changes, err))
		return -1;
	if (changed.n)
		return land_refuse(&changed, "files changed since they were brought",
				   "move them away, or put them back, then undo", err);
	return u->by_path ? check_index(l, u, err) : land_check_worktree(l, err);
}

/* Branch, index and working tree by git, which keeps what is uncommitted elsewhere. */
static int reset(struct land *l, const struct undo *u, struct ga_error *err)
{
	const char *const args[] = { "reset", "--quiet", "--keep", GA_HEX(&u->head), NULL };
	struct ga_git g = GA_GIT_INIT;

	if (ga_oid_equal(&u->head, &l->head))
		return 0;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	return ga_git_ok(l->repo, &g, err);
}

int land_move_head(struct land *l, const char *why, const struct ga_oid *to,
		   const struct ga_oid *from, struct ga_error *err)
{
	const char *const args[] = { "update-ref", "-m", why, "HEAD", GA_HEX(to), GA_HEX(from),
				     NULL };
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	return ga_git_ok(l->repo, &g, err);
}

int land_lock_index(struct land *l, int note, struct ga_error *err)
{
	cleanup_free char *index = work_index_file(l), *lock = ga_strf("%s.lock", index);
	cleanup_close int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	cleanup_free char *text = NULL, *q = ga_escape(lock);
	struct stat st;

	if (fd < 0 && errno == EEXIST) {
		(void)ga_fail(err, GA_EFATAL, "'%s' is there: another git is at work", q);
		return ga_hint(err, "wait for it, or remove the file if it is gone");
	}
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot lock the index");
	text = ga_strf("%llu", (unsigned long long)st.st_ino);
	/* of one before this, that was killed; a power cut takes the lock with it, or this is of
	 * no use */
	if (unlinkat(note, LAND_NOTE_LOCK, 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot note the lock");
	return ga_write_new(note, LAND_NOTE_LOCK, text, strlen(text), 0600, err);
}

void land_unlock_index(struct land *l, int note)
{
	cleanup_free char *index = work_index_file(l), *lock = ga_strf("%s.lock", index);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct stat st;
	uint64_t ino;

	if (!ga_read_file_at(note, LAND_NOTE_LOCK, 32, &b, &ignored) &&
	    ga_parse_u64(b.ptr, UINT64_MAX, &ino) && !lstat(lock, &st) && st.st_ino == ino)
		(void)unlink(lock);
}

static int copy_index(const char *file, int lock, struct ga_error *err)
{
	cleanup_close int src = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct stat st;

	if (src < 0 || fstat(src, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the index that was kept");
	if (ga_read_fd(src, (size_t)4 << 30, &b, err))
		return -1;
	if (ga_write_full(lock, b.ptr, b.len) ||
	    futimens(lock, (struct timespec[]){ st.st_atim, st.st_mtim }))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the index");
	return 0;
}

/* With the time of the one it was: a newer one would vouch for files that changed in the second in
 * which it was written. */
int land_install_index(struct land *l, const char *file, struct ga_error *err)
{
	cleanup_free char *index = work_index_file(l), *lock = ga_strf("%s.lock", index);
	cleanup_close int fd = open(lock, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || (!stat(index, &st) && fchmod(fd, st.st_mode & 0777)))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the index");
	if (copy_index(file, fd, err))
		return -1;
	if (rename(lock, index))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot replace the index");
	return 0;
}

static int put_back(int root, const struct undo *u, size_t i, struct ga_error *err)
{
	cleanup_free char *name = ga_strf("%zu", i);

	const struct undo_file *f = &u->files[i];

	return f->had ? land_put(u->dir, name, root, f->path, f->had, err)
		      : land_remove(root, f->path, err);
}

/* What was not there goes first: it may stand where a directory was. */
static int put_all_back(int root, const struct undo *u, struct ga_error *err)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < u->n; i++)
			if ((u->files[i].had != 0) == (pass == 1) && put_back(root, u, i, err))
				return -1;
	return 0;
}

/* The session is what it was before, and the note before is the note. */
static int settle(struct land *l, struct undo *u, struct ga_error *err)
{
	json_t *o = json_object();

	ga_json_set_oid(o, "commit", &u->head);
	(void)ga_journal(l->s->dir, "undone", o);
	l->s->state = ga_oid_is_zero(&u->landed) ? GA_STATE_CAPTURED : GA_STATE_LANDED;
	l->s->landed = u->landed;
	ga_strv_release(&l->s->left_out);
	l->s->left_out = u->left_out;
	u->left_out = (struct ga_strv)GA_STRV_INIT;
	return ga_session_save(l->s, err) || land_note_remove(l, l->note, err) ? -1 : 0;
}

/* Branch, index and files that git takes back, then those it knows nothing of. */
static int by_git(struct land *l, const struct undo *u, int root, struct ga_error *err)
{
	return reset(l, u, err) || ga_fault_stop("undo:reset", err) ||
	       put_all_back(root, u, err) || ga_fault_stop("undo:files", err) ? -1 : 0;
}

/* Files, index, HEAD, each as it was. */
static int by_path(struct land *l, const struct undo *u, int root, struct ga_error *err)
{
	cleanup_free char *index = ga_strf("%s/%u/index", l->notes, l->note);
	cleanup_free char *why = ga_strf("reset: agent/%s taken back", l->s->name);

	land_unlock_index(l, u->dir);
	if (land_lock_index(l, u->dir, err))
		return -1;
	if (put_all_back(root, u, err) || ga_fault_stop("undo:files", err) ||
	    land_install_index(l, index, err) || ga_fault_stop("undo:index", err))
		return -1;
	return ga_oid_equal(&l->head, &u->head)
		   ? 0
		   : land_move_head(l, why, &u->head, &l->head, err);
}

static int take_back(struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0 || check_head(l, u, err) || check_files(l, u, root, err) ||
	    (!u->begun && ga_write_atomic(u->dir, BEGUN, "", 0, 0600, err)) ||
	    (u->by_path ? by_path(l, u, root, err) : by_git(l, u, root, err)))
		return -1;
	return settle(l, u, err);
}

int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err)
{
	struct land l = { .repo = r, .s = s };
	cleanup_(undo_release) struct undo u = { .dir = -1 };
	int rc = read_note(&l, &u, err) || take_back(&l, &u, err) ? -1 : 0;

	ga_changes_release(&l.changes);
	free(l.notes);
	*ret_head = u.head;
	return rc;
}

/* ---- one that did not come to its end ---------------------------------------------- */

int land_take_back(struct land *failed, struct ga_error *err)
{
	struct ga_oid head;

	return ga_land_undo(failed->repo, failed->s, &head, err);
}

/* HEAD is neither where a landing that was killed began, nor where it was going. */
static int went_on(struct land *l, const struct undo *u, bool *ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(l->repo, &head, &branch, err);

	if (rc < 0)
		return -1;
	*ret = rc || (!ga_oid_equal(&head, &u->head) && !ga_oid_equal(&head, &u->commit)) ||
	       strcmp(branch ? branch : "", u->ref) != 0;
	return 0;
}

static int recover(struct land *l, struct undo *u, struct ga_error *err)
{
	bool gone;

	if (went_on(l, u, &gone, err))
		return -1;
	if (gone) {
		land_unlock_index(l, u->dir);
		return ga_write_atomic(u->dir, LAND_NOTE_DONE, "", 0, 0600, err);
	}
	return take_back(l, u, err) ? ga_error_wrap(err, "a landing was interrupted") : 1;
}

static int fail_interrupted(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was interrupted", s->name);
	return ga_hint(err, "'git agent land --abort %s' takes it back", s->name);
}

int land_recover(struct land *of, bool only_look, struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s };
	cleanup_(undo_release) struct undo u = { .dir = -1 };
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	int rc = 0;

	/* without a note nothing was begun */
	if (!read_note(&l, &u, &none) && u.by_path && u.begun)
		rc = only_look ? fail_interrupted(of->s, err) : recover(&l, &u, err);
	ga_changes_release(&l.changes);
	free(l.notes);
	return rc;
}
