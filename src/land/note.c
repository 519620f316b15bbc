/* SPDX-License-Identifier: MIT
 *
 * What a landing notes before it touches anything: where HEAD was, and what stands where it is
 * going to write files without a commit. This is not in the repository, whose objects other
 * sessions can read, but in a directory of the session's, "undo/NUMBER"; the highest number is the
 * last. In it are "record", words that end in NUL (put_state(), add_file()), and what stood at file
 * number i as "i".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/sync.h"
#include "ga/trace.h"
#include "left-note.h"
#include "note.h"
#include "undo.h"
#include "work.h"

#define NOTE_GONE "gone" /* one that is being removed */

#define PART_LEN (sizeof(".git-agent.0123456789abcdef.tmp") - 1)

static mode_t mode_of(uint32_t git_mode)
{
	switch (git_mode) {
	case GA_MODE_FILE:
		return S_IFREG | 0644;
	case GA_MODE_EXEC:
		return S_IFREG | 0755;
	case GA_MODE_LINK:
		return S_IFLNK;
	default:
		return 0;
	}
}

struct note {
	struct land *l;
	int root;
	int dir;
	struct ga_buf record;
	struct ga_strv made; /* files that have to be on the disk before the record */
	struct ga_strv beside; /* and what has to be there with it */
	size_t n;
	struct ga_strv paths;
	struct undo before; /* the note of a killed landing, which this one takes over ... */
	unsigned killed;    /* ... its number; 0: there is none */
};

static void put_number(struct ga_buf *b, uint64_t n)
{
	ga_buf_addf(b, "%" PRIu64, n);
	ga_buf_addch(b, '\0');
}

static void put_oid(struct ga_buf *b, const struct ga_oid *oid)
{
	ga_buf_add0(b, GA_HEX(oid));
}

/* Copy what is at the path into the note, under the next number. */
static int keep(struct note *n, const char *path, mode_t *ret_mode, struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *name = ga_strf("%zu", n->n++), *q = ga_escape(path);

	/* a directory that makes way is no error: its files are paths of their own */
	if (land_open_here(n->root, path, &h) && !(n->l->work && land_dir_here(n->root, path)))
		return ga_fail(err, GA_ELOSE, "'%s' cannot be read, to be kept for undoing", q);
	*ret_mode = h.mode;
	if (!h.mode)
		return 0;
	ga_strv_take(&n->made, ga_strf("%s/%u/%s", n->l->notes, n->l->note, name));
	return h.fd < 0 ? ga_write_new(n->dir, name, h.target, h.size, 0600, err)
			: ga_copy_fd_to(h.fd, n->dir, name, err);
}

static int add_file(struct note *n, const char *path, mode_t will, const struct ga_oid *oid,
		    struct ga_error *err)
{
	mode_t mode;

	if (keep(n, path, &mode, err))
		return -1;
	ga_strv_push(&n->paths, path);
	ga_buf_add0(&n->record, path);
	put_number(&n->record, mode);
	put_number(&n->record, will);
	put_oid(&n->record, oid);
	return 0;
}

static int add_carries(struct note *n, struct ga_error *err)
{
	for (size_t i = 0; i < n->l->carries.n; i++) {
		const struct land_carry *c = &n->l->carries.v[i];
		struct ga_oid oid;

		if (ga_entry_equal(&c->had, &c->will))
			continue;
		if (ga_blob_id_of(c->bytes.ptr, c->bytes.len, &oid, err) ||
		    add_file(n, c->path, mode_of(c->will.mode), &oid, err))
			return -1;
	}
	return 0;
}

/* Number i is the i-th path that is written: work_check_meanwhile() relies on that. */
static int add_work(struct note *n, struct ga_error *err)
{
	const struct work *w = n->l->work;

	for (size_t i = 0; w && i < w->n; i++)
		if (work_is_written(&w->v[i]) &&
		    add_file(n, w->v[i].path, w->v[i].will.mode, &w->v[i].will.oid, err))
			return -1;
	return 0;
}

/* Take over from the note of the killed landing the files that it had written, which are not
 * written again. */
static int add_before(struct note *n, struct ga_error *err)
{
	ga_strv_sort_unique(&n->paths);
	for (size_t i = 0; n->killed && i < n->before.n; i++) {
		const struct undo_file *f = &n->before.files[i];
		cleanup_free char *was = ga_strf("%zu", i), *name = NULL;
		cleanup_close int fd = -1;

		if (f->left || ga_strv_find(&n->paths, f->path) >= 0)
			continue;
		name = ga_strf("%zu", n->n++);
		if (f->had) {
			fd = openat(n->before.dir, was, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
			if (fd < 0)
				return ga_fail_errno(err, GA_EFATAL, errno,
						     "cannot read what was noted");
			if (ga_copy_fd_to(fd, n->dir, name, err))
				return -1;
			ga_strv_take(&n->made, ga_strf("%s/%u/%s", n->l->notes, n->l->note, name));
		}
		ga_buf_add0(&n->record, f->path);
		put_number(&n->record, f->had);
		put_number(&n->record, f->will.mode);
		put_oid(&n->record, &f->will.oid);
	}
	return 0;
}

static int add_files(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;

	if (add_work(n, err) || add_carries(n, err))
		return -1;
	for (size_t i = 0; i < l->ignored.files.n; i++)
		if (!ga_entry_equal(&l->ignored.had[i], &l->ignored.will[i]) &&
		    add_file(n, l->ignored.files.v[i].path, mode_of(l->ignored.will[i].mode),
			     &l->ignored.will[i].oid, err))
			return -1;
	return add_before(n, err);
}

static int put_state(struct note *n, struct ga_error *err)
{
	const struct ga_session *s = n->l->s;
	cleanup_free char *branch = NULL;
	struct ga_oid head;

	if (ga_repo_head(n->l->repo, &head, &branch, err))
		return -1;
	ga_buf_add0(&n->record, LAND_NOTE_MAGIC);
	put_oid(&n->record, n->killed ? &n->before.head : &n->l->head);
	free(n->l->ref);
	n->l->ref = branch ? ga_steal(&branch) : ga_strdup("");
	ga_buf_add0(&n->record, n->l->ref);
	ga_buf_add0(&n->record, land_worktree(n->l));
	ga_buf_add0(&n->record, ga_state_name(s->state));
	put_oid(&n->record, &s->landed);
	put_number(&n->record, s->left_out.n);
	for (size_t i = 0; i < s->left_out.n; i++)
		ga_buf_add0(&n->record, s->left_out.v[i]);
	return 0;
}

/* ---- where it is -------------------------------------------------------------- */

char *land_notes(const struct ga_session *s)
{
	return ga_path_join(s->dir, LAND_NOTES);
}

int land_note_last(const char *notes, unsigned *ret, struct ga_error *err)
{
	DIR *d = opendir(notes);
	struct dirent *e;
	uint64_t n;
	int failed;

	*ret = 0;
	if (!d && errno != ENOENT) {
		cleanup_free char *q = ga_escape(notes);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", q);
	}
	while (d && (errno = 0, e = readdir(d)))
		if (ga_parse_u64(e->d_name, 1000000, &n) && n > *ret)
			*ret = (unsigned)n;
	failed = d ? errno : 0;
	if (d)
		(void)closedir(d);
	return failed ? ga_fail_errno(err, GA_EFATAL, failed, "cannot read what was noted") : 0;
}

char *land_note_ref(const struct land *l, unsigned n)
{
	cleanup_free char *kind = ga_strf("undo/%u", n);

	return ga_session_ref(l->s, kind);
}

/* Renamed first: to a reader, a note that is half removed would be a different one. */
int land_note_remove(struct land *l, unsigned n, struct ga_error *err)
{
	cleanup_close int at = open(l->notes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *name = ga_strf("%u", n), *ref = land_note_ref(l, n);
	struct ga_oid oid;
	int rc;

	if (at >= 0 && ga_rmtree_at(at, NOTE_GONE, err))
		return -1;
	if (at >= 0 && renameat(at, name, at, NOTE_GONE) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove what was noted");
	rc = ga_ref_read(l->repo, ref, &oid, err);
	if (rc < 0 || (!rc && ga_ref_delete(l->repo, ref, &oid, err)) ||
	    ga_fault_stop("land:forget", err))
		return -1;
	return at < 0 ? 0 : ga_rmtree_at(at, NOTE_GONE, err);
}

/* Does the note, of a landing that was killed, have the only copy of something? True if nobody can
 * tell. */
static bool has_only_copies(const struct land *l, unsigned n)
{
	struct land of = { .repo = l->repo, .s = l->s, .notes = l->notes, .note = n };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	cleanup_strv struct ga_strv only = GA_STRV_INIT;
	int rc = undo_read_interrupted(&of, &u, &ignored);

	return rc < 0 || (!rc && (undo_only_copies(&of, &u, &only, &ignored) || only.n));
}

/* Is the note needed: can its landing be undone once the next is, or does it have the only copy of
 * something? A note without a record is not, unless it is there to bar those below it
 * (recover.c). */
static bool stands(const struct land *l, unsigned n)
{
	cleanup_free char *done = ga_strf("%s/%u/" LAND_NOTE_DONE, l->notes, n);
	cleanup_free char *record = ga_strf("%s/%u/" LAND_NOTE_RECORD, l->notes, n);

	if (access(record, F_OK) && errno == ENOENT)
		return access(done, F_OK) == 0 || errno != ENOENT;
	return l->s->state == GA_STATE_LANDED || !access(done, F_OK) || has_only_copies(l, n);
}

/* Remove the last notes, down to the first that is needed, and take the number after that. */
static int choose_number(struct land *l, struct ga_error *err)
{
	unsigned last;

	if (land_note_last(l->notes, &last, err))
		return -1;
	for (; last && last != l->killed && !stands(l, last); last--)
		if (land_note_remove(l, last, err))
			return -1;
	l->note = last + 1;
	/* its ref may be there if somebody removed an unreadable note by hand */
	return land_note_remove(l, l->note, err);
}

int land_note_dir(struct land *l, struct ga_error *err)
{
	cleanup_free char *dir = NULL;

	if (l->notes)
		return 0;
	l->notes = land_notes(l->s);
	if (choose_number(l, err))
		return -1;
	dir = ga_strf("%s/%u", l->notes, l->note);
	return ga_mkdir_p(dir, 0700, err);
}

static int open_dir(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;
	cleanup_free char *dir = NULL, *index = NULL, *work = NULL, *left = land_left_file(l);

	if (land_note_dir(l, err))
		return -1;
	dir = ga_strf("%s/%u", l->notes, l->note);
	index = ga_path_join(dir, "index");
	work = ga_path_join(dir, LAND_NOTE_WORK);
	n->dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (n->dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot note what is there");
	ga_strv_push_many(&n->beside, left, l->s->dir, l->notes, NULL);
	if (l->work)
		ga_strv_push_many(&n->made, index, work, NULL);
	return 0;
}

int land_note_open(const struct land *l, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/%u", l->notes, l->note);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open the note") : fd;
}

char *land_note_read_part(int note)
{
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_read_file_at(note, LAND_NOTE_PART, PART_LEN, &b, &none) || b.len != PART_LEN ||
	    strncmp(b.ptr, ".git-agent.", 11) != 0 || strchr(b.ptr, '/'))
		return NULL;
	return ga_buf_steal(&b);
}

char *land_note_part(int note, struct ga_error *err)
{
	char *part = land_note_read_part(note);
	uint64_t r;

	if (part)
		return part;
	if (ga_random(&r, sizeof(r), err))
		return NULL;
	part = ga_strf(".git-agent.%016" PRIx64 ".tmp", r);
	if (!ga_write_atomic(note, LAND_NOTE_PART, part, strlen(part), 0600, err))
		return part;
	free(part);
	return NULL;
}

int land_keep_staged(struct land *l, struct ga_error *err)
{
	cleanup_free char *ref = land_note_ref(l, l->note), *who = NULL;
	cleanup_changes struct ga_changes staged = GA_CHANGES_INIT;
	char message[] = "what was staged before a landing\n", extra[] = "";
	struct ga_commit c = { .parents = &l->head, .n_parents = 1, .message = message,
			       .extra = extra };
	struct ga_oid commit;

	for (size_t i = 0; i < l->work->n; i++) {
		const struct work_path *p = &l->work->v[i];

		if (p->index.mode && !ga_entry_equal(&p->index, &p->to_index) &&
		    !ga_entry_equal(&p->index, &p->head))
			(void)ga_changes_add(&staged, p->path, &p->head, &p->index);
	}
	if (!staged.n)
		return 0;
	ga_changes_sort(&staged);
	if (ga_tree_apply(l->repo, NULL, NULL, &staged, &c.tree, err) ||
	    ga_repo_signature(l->repo, &l->config, time(NULL), &who, err))
		return -1;
	c.author = c.committer = who;
	return ga_commit_write(l->repo, &c, &commit, err) ||
	       ga_ref_create(l->repo, ref, &commit, "agent: landing", err) ? -1 : 0;
}

/* The record makes it a note: it is written last, once all that it refers to is on the disk. */
static int write_record(struct note *n, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	struct ga_sync_beside *beside;
	int rc;

	if (n->made.n)
		ga_strv_take(&n->made, ga_strf("%s/%u", n->l->notes, n->l->note));
	if (ga_sync_paths(&n->made, err))
		return -1;
	beside = ga_sync_beside(&n->beside, 1);
	rc = ga_write_atomic(n->dir, LAND_NOTE_RECORD, n->record.ptr, n->record.len, 0600, err);
	return ga_sync_beside_end(beside, rc ? &second : err) || rc ? -1 : 0;
}

/* If a killed landing merged what there is to merge, nothing but its note says where HEAD was
 * before. */
static int find_killed(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;
	unsigned last;
	int rc;

	if (l->notes || l->merge || l->s->state == GA_STATE_LANDED || ga_oid_is_zero(&l->tip))
		return 0;
	rc = undo_read_killed(l, &n->before, &last, err);
	if (rc > 0)
		n->killed = l->killed = last;
	return rc < 0 ? -1 : 0;
}

int land_note(struct land *l, struct ga_error *err)
{
	struct note n = { .l = l, .root = land_open_root(l->repo, err), .dir = -1,
			  .record = GA_BUF_INIT, .before = UNDO_INIT };
	int rc = n.root < 0 || find_killed(&n, err) || open_dir(&n, err) || put_state(&n, err) ||
		 add_files(&n, err) || ga_fault_stop("land:record", err) ||
		 write_record(&n, err) || (n.killed && land_note_remove(l, n.killed, err)) ? -1 : 0;

	ga_cleanup_closep(&n.root);
	ga_cleanup_closep(&n.dir);
	ga_buf_release(&n.record);
	ga_strv_release(&n.made);
	ga_strv_release(&n.beside);
	ga_strv_release(&n.paths);
	undo_release(&n.before);
	return rc;
}

static int note_id(struct land *l, const char *name, const struct ga_oid *id, struct ga_error *err)
{
	cleanup_free char *file = ga_strf("%s/%u/%s", l->notes, l->note, name);

	return ga_write_new(AT_FDCWD, file, GA_HEX(id), GA_OID_HEXSZ, 0600, err);
}

int land_note_git(struct land *l, struct ga_error *err)
{
	return note_id(l, LAND_NOTE_GIT, &l->tip, err);
}

int land_hold(struct land *l, const char *name, struct ga_error *err)
{
	cleanup_free char *file = ga_strf("%s/%u/%s", l->notes, l->note, name);
	int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), rc;

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot lock what was noted");
	rc = ga_flock(fd, true, false, err);
	if (!rc)
		l->git_lock = fd;
	else
		(void)close(fd);
	return rc > 0 ? ga_fail(err, GA_EFATAL, "what was noted is locked") : rc;
}

void land_let_go(struct land *l)
{
	if (l->git_lock)
		(void)close(l->git_lock);
	l->git_lock = 0;
}

int land_note_resolved(struct land *l, const struct ga_oid *tree, struct ga_error *err)
{
	return note_id(l, LAND_NOTE_RESOLVED, tree, err);
}

int land_is_switched(const struct land *l, char **ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;

	if (!l->ref)
		return 0;
	if (ga_repo_head(l->repo, &head, &branch, err) < 0)
		return -1;
	if (!strcmp(branch ? branch : "", l->ref))
		return 0;
	*ret = branch ? ga_steal(&branch) : ga_strdup("");
	return 1;
}

/* From the editor, or in a hook, the user may have switched branches before there was a commit. It
 * is on top of l->head all the same, and that is where the other branch was. But if the first one
 * has moved as well, its own move is what is to be undone; and what was fast-forwarded does not
 * tell from where. */
static int note_switched(struct land *l, struct ga_error *err)
{
	cleanup_free char *is = NULL, *file = NULL;
	int rc = land_is_switched(l, &is, err);
	struct ga_oid at;
	bool stayed;

	if (rc <= 0)
		return rc;
	rc = *l->ref ? ga_ref_read(l->repo, l->ref, &at, err) : 1;
	if (rc < 0)
		return -1;
	if (!rc && ga_oid_equal(&at, &l->ret->commit))
		return 0;
	stayed = rc || ga_oid_equal(&at, &l->head);
	l->ret->switched = ga_strdup(is);
	if (!stayed || l->opts->how == GA_LAND_FF_ONLY)
		return 0;
	file = ga_strf("%s/%u/" LAND_NOTE_SWITCHED, l->notes, l->note);
	return ga_write_new(AT_FDCWD, file, is, strlen(is), 0600, err);
}

int land_note_made(struct land *l, struct ga_error *err)
{
	return note_switched(l, err) || note_id(l, LAND_NOTE_MADE, &l->ret->commit, err) ||
			       ga_fault_stop("land:result", err)
		       ? ga_hint(err, "it is committed; 'git agent land %s' notes that", l->s->name)
		       : 0;
}

int land_note_own(struct land *l, struct ga_error *err)
{
	return note_id(l, LAND_NOTE_OWN, &l->ret->commit, err);
}

int land_note_left(struct land *l, const char *path, struct ga_error *err)
{
	cleanup_free char *file = ga_strf("%s/%u/" LAND_NOTE_LEFT, l->notes, l->note);
	cleanup_close int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
				    0600);

	return fd < 0 || ga_write_full(fd, path, strlen(path) + 1)
		       ? ga_fail_errno(err, GA_EFATAL, errno, "cannot note what was left")
		       : 0;
}

int land_note_done(struct land *l, struct ga_error *err)
{
	cleanup_free char *done = NULL;

	if (!l->notes)
		return 0;
	done = ga_strf("%s/%u/" LAND_NOTE_DONE, l->notes, l->note);
	return ga_write_new(AT_FDCWD, done, "", 0, 0600, err);
}

void land_note_forget(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	if (l->notes)
		(void)land_note_remove(l, l->note, &ignored);
}
