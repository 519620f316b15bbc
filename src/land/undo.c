/* SPDX-License-Identifier: MIT
 *
 * Taking a landing back, by what it noted (note.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
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
#include "land-internal.h"

#define RECORD_MAX ((size_t)64 << 20)
#define BEGUN "begun" /* beside the record */

/* How a file stands in the working tree: its bytes as they are, not as git would store them. */
struct look {
	mode_t mode; /* type and permissions; 0: nothing is there */
	struct ga_oid oid;
};

struct undo_file {
	char *path;
	mode_t had;       /* before */
	struct look will; /* after */
};

struct undo {
	struct ga_oid head;    /* before */
	char *ref;             /* the branch HEAD was on; "" none */
	struct ga_oid landed;  /* what had brought the session before; zero: nothing */
	int dir;               /* where the note is */
	bool begun;            /* undoing it was begun before, and did not get to its end */
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

/* Permissions but for the owner's right to execute are no difference: an umask may do that. */
static bool same_kind(mode_t a, mode_t b)
{
	return (a & S_IFMT) == (b & S_IFMT) && (S_ISLNK(a) || !((a ^ b) & S_IXUSR));
}

/* Does it stand there as `want` says? An error is no. */
static bool stands(int root, const char *path, const struct look *want)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	struct ga_oid oid;

	if (land_open_here(root, path, &h))
		return false;
	if (!h.mode || !want->mode)
		return !h.mode && !want->mode;
	return same_kind(h.mode, want->mode) &&
	       !(h.fd < 0 ? ga_blob_id_of(h.target, h.size, &oid, &ignored)
			  : ga_blob_id(h.fd, &oid, &ignored)) &&
	       ga_oid_equal(&oid, &want->oid);
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
	return parse(&b, u) ? 0 : ga_fail(err, GA_EFATAL, "'%s' is not what a landing notes", q);
}

/* ---- taking it back ---------------------------------------------------------------- */

/* Nothing else may have happened on the branch. Where nothing was merged it stayed where it was. */
static int check_head(struct land *l, const struct undo *u, struct ga_error *err)
{
	const struct ga_oid *want = ga_oid_is_zero(&l->s->landed) ? &u->head : &l->s->landed;
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
	struct look was = { .mode = u->files[i].had };

	if (was.mode && (kept < 0 || ga_blob_id(kept, &was.oid, &ignored)))
		return false;
	return stands(root, u->files[i].path, &was);
}

static int check_files(struct land *l, const struct undo *u, int root, struct ga_error *err)
{
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;

	for (size_t i = 0; i < u->n; i++)
		if (!stands(root, u->files[i].path, &u->files[i].will) &&
		    !(u->begun && is_back(root, u, i)))
			ga_strv_push(&changed, u->files[i].path);
	if (ga_commit_tree(l->repo, &l->head, &l->head_tree, err) ||
	    ga_commit_tree(l->repo, &u->head, &l->merged, err) ||
	    ga_tree_diff(l->repo, &l->head_tree, &l->merged, &l->changes, err))
		return -1;
	if (changed.n)
		return land_refuse(&changed, "files changed since they were brought",
				   "move them away, or put them back, then undo", err);
	return land_check_worktree(l, err);
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

/* Directories that are empty now go, as git has it. */
static void remove_empty(int root, const char *path)
{
	for (cleanup_free char *dir = ga_path_parent(path), *up = NULL; *dir;) {
		cleanup_free char *parent = ga_path_parent(dir);
		cleanup_close int at = *parent ? ga_openat_beneath(root, parent,
								   O_RDONLY | O_DIRECTORY, 0)
					       : fcntl(root, F_DUPFD_CLOEXEC, 3);

		if (at < 0 || unlinkat(at, ga_path_base(dir), AT_REMOVEDIR))
			return;
		up = ga_steal(&parent);
		free(dir);
		dir = ga_steal(&up);
	}
}

/* What was kept as `name`, under another name first: what stands there goes when this is whole. */
static int replace(const struct undo *u, const char *name, int dir, const char *path, mode_t had,
		   struct ga_error *err)
{
	cleanup_close int from = openat(u->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *tmp = NULL, *q = ga_escape(path);
	cleanup_buf struct ga_buf target = GA_BUF_INIT;
	uint64_t r;
	int rc;

	if (from < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read what was at '%s'", q);
	if (ga_random(&r, sizeof(r), err))
		return -1;
	tmp = ga_strf(".git-agent.%016llx.tmp", (unsigned long long)r);
	if (S_ISREG(had))
		rc = ga_copy_fd_to(from, dir, tmp, err);
	else
		rc = ga_read_fd(from, PATH_MAX, &target, err);
	if (!rc && ((!S_ISREG(had) && symlinkat(target.ptr, dir, tmp)) ||
		    renameat(dir, tmp, dir, ga_path_base(path))))
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot put '%s' back", q);
	if (rc)
		(void)unlinkat(dir, tmp, 0);
	return rc;
}

static int put_back(int root, const struct undo *u, size_t i, struct ga_error *err)
{
	const struct undo_file *f = &u->files[i];
	cleanup_free char *name = ga_strf("%zu", i), *q = ga_escape(f->path);
	cleanup_close int dir = land_open_parent(root, f->path);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the directory of '%s'", q);
	if (f->had)
		return replace(u, name, dir, f->path, f->had, err);
	if (unlinkat(dir, ga_path_base(f->path), 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", q);
	remove_empty(root, f->path);
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
	return ga_session_save(l->s, err) || land_note_remove(l->notes, l->note, err) ? -1 : 0;
}

int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err)
{
	struct land l = { .repo = r, .s = s };
	cleanup_(undo_release) struct undo u = { .dir = -1 };
	cleanup_close int root = land_open_root(r, err);
	int rc = root < 0 || read_note(&l, &u, err) || check_head(&l, &u, err) ||
		 check_files(&l, &u, root, err) ? -1 : 0;

	if (!rc && !u.begun)
		rc = ga_write_atomic(u.dir, BEGUN, "", 0, 0600, err);
	if (!rc)
		rc = reset(&l, &u, err) || ga_fault_stop("undo:reset", err) ? -1 : 0;

	for (size_t i = 0; !rc && i < u.n; i++)
		rc = put_back(root, &u, i, err);
	if (!rc)
		rc = ga_fault_stop("undo:files", err) || settle(&l, &u, err) ? -1 : 0;
	ga_changes_release(&l.changes);
	free(l.notes);
	*ret_head = u.head;
	return rc;
}
