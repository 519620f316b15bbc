/* SPDX-License-Identifier: MIT
 *
 * What a landing notes before it touches anything: where HEAD was, and the files that are going to
 * be written without a commit, as they are. Not in the repository, whose objects other sessions
 * can read: a directory of the session's, "undo/NUMBER", the highest being the last one. In it are
 * "record", words that end in NUL (put_state(), add_file()), and what stood at file number i
 * as "i".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/sync.h"
#include "land-internal.h"

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)

int land_open_root(const struct ga_repo *r, struct ga_error *err)
{
	int fd = open(ga_repo_info(r)->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree") : fd;
}

int land_open_here(int root, const char *path, struct land_here *ret)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;
	ssize_t n;

	ret->mode = 0;
	ret->fd = -1;
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (fstat(fd, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", ret->target, sizeof(ret->target));
		if (n < 0)
			return 1;
		ret->size = (uint64_t)n;
	} else if (S_ISREG(st.st_mode)) {
		ret->fd = ga_openat_beneath(root, path, READ_FLAGS, 0);
		if (ret->fd < 0 || fstat(ret->fd, &st) || !S_ISREG(st.st_mode))
			return 1;
		ret->size = (uint64_t)st.st_size;
	} else {
		return 1;
	}
	ret->mode = st.st_mode & (S_IFMT | 07777);
	return 0;
}

void land_here_release(struct land_here *h)
{
	ga_cleanup_closep(&h->fd);
}

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
	struct ga_strv made; /* to be synced */
	size_t n;
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

/* Keep what is there. */
static int keep(struct note *n, const char *path, mode_t *ret_mode, struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *name = ga_strf("%zu", n->n++), *q = ga_escape(path);

	if (land_open_here(n->root, path, &h))
		return ga_fail(err, GA_ELOSE, "'%s' cannot be read, to be kept for undoing", q);
	*ret_mode = h.mode;
	if (!h.mode)
		return 0;
	ga_strv_take(&n->made, ga_strf("%s/%u/%s", n->l->notes, n->l->note, name));
	return h.fd < 0 ? ga_write_new(n->dir, name, h.target, h.size, 0600, err)
			: ga_copy_fd_to(h.fd, n->dir, name, err);
}

static int add_file(struct note *n, const char *path, const struct ga_entry *will,
		    const struct ga_buf *will_bytes, struct ga_error *err)
{
	struct ga_oid oid = will->oid;
	mode_t mode;

	if (keep(n, path, &mode, err) ||
	    (will_bytes && ga_blob_id_of(will_bytes->ptr, will_bytes->len, &oid, err)))
		return -1;
	ga_buf_add0(&n->record, path);
	put_number(&n->record, mode);
	put_number(&n->record, mode_of(will->mode));
	put_oid(&n->record, &oid);
	return 0;
}

static int add_files(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;

	for (size_t i = 0; i < l->carries.n; i++) {
		const struct land_carry *c = &l->carries.v[i];

		if (!ga_entry_equal(&c->had, &c->will) &&
		    add_file(n, c->path, &c->will, &c->bytes, err))
			return -1;
	}
	for (size_t i = 0; i < l->ignored.n; i++)
		if (!ga_entry_equal(&l->ignored_had[i], &l->ignored_will[i]) &&
		    add_file(n, l->ignored.v[i].path, &l->ignored_will[i], NULL, err))
			return -1;
	return 0;
}

static int put_state(struct note *n, struct ga_error *err)
{
	const struct ga_session *s = n->l->s;
	cleanup_free char *branch = NULL;
	struct ga_oid head;

	if (ga_repo_head(n->l->repo, &head, &branch, err))
		return -1;
	ga_buf_add0(&n->record, LAND_NOTE_MAGIC);
	put_oid(&n->record, &n->l->head);
	ga_buf_add0(&n->record, branch ? branch : "");
	put_oid(&n->record, &s->landed);
	put_number(&n->record, s->left_out.n);
	for (size_t i = 0; i < s->left_out.n; i++)
		ga_buf_add0(&n->record, s->left_out.v[i]);
	return 0;
}

/* ---- where it is -------------------------------------------------------------- */

char *land_notes(const struct ga_session *s)
{
	return ga_path_join(s->dir, "undo");
}

int land_note_last(const char *notes, unsigned *ret, struct ga_error *err)
{
	DIR *d = opendir(notes);
	struct dirent *e;
	uint64_t n;

	*ret = 0;
	if (!d && errno != ENOENT) {
		cleanup_free char *q = ga_escape(notes);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", q);
	}
	while (d && (e = readdir(d)))
		if (ga_parse_u64(e->d_name, 1000000, &n) && n > *ret)
			*ret = (unsigned)n;
	if (d)
		(void)closedir(d);
	return 0;
}

int land_note_remove(const char *notes, unsigned n, struct ga_error *err)
{
	cleanup_close int at = open(notes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *name = ga_strf("%u", n);

	return at < 0 ? 0 : ga_rmtree_at(at, name, err);
}

/* Those before this one, unless what they tell of still stands. */
static int choose_number(struct land *l, struct ga_error *err)
{
	unsigned last;

	if (land_note_last(l->notes, &last, err))
		return -1;
	for (; last && l->s->state != GA_STATE_LANDED; last--)
		if (land_note_remove(l->notes, last, err))
			return -1;
	l->note = last + 1;
	return 0;
}

static int make_dir(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;
	cleanup_free char *dir = NULL;

	l->notes = land_notes(l->s);
	if (choose_number(l, err))
		return -1;
	dir = ga_strf("%s/%u", l->notes, l->note);
	if (ga_mkdir_p(dir, 0700, err))
		return -1;
	n->dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (n->dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot note what is there");
	ga_strv_push(&n->made, l->s->dir);
	ga_strv_push(&n->made, l->notes);
	ga_strv_push(&n->made, dir);
	return 0;
}

int land_note(struct land *l, struct ga_error *err)
{
	struct note n = { .l = l, .root = land_open_root(l->repo, err), .dir = -1,
			  .record = GA_BUF_INIT };
	int rc = n.root < 0 || make_dir(&n, err) || put_state(&n, err) || add_files(&n, err) ? -1
										       : 0;

	/* with a record it is one: last, and on the disk */
	if (!rc && (ga_sync_paths(&n.made, err) ||
		    ga_write_atomic(n.dir, "record", n.record.ptr, n.record.len, 0600, err)))
		rc = -1;
	ga_cleanup_closep(&n.root);
	ga_cleanup_closep(&n.dir);
	ga_buf_release(&n.record);
	ga_strv_release(&n.made);
	return rc;
}

void land_note_forget(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	(void)land_note_remove(l->notes, l->note, &ignored);
}
