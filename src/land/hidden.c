/* SPDX-License-Identifier: MIT
 *
 * Files that git was told not to look at and that are changed. Their content is nowhere else, and
 * git resets them to HEAD if it stops at certain points. So they are copied into the note before
 * git begins, file number i as "hidden-i", and listed in "hidden", so that they can be put back
 * even after a landing that was killed. The list is on the disk when git begins, and is removed
 * when all of them are as they were.
 */
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
#include "ga/trace.h"
#include "land-internal.h"
#include "note.h"

#define MAGIC "git-agent hidden 2"
#define LIST_MAX ((size_t)64 << 20)
#define LOST_SHOWN 5

struct kept {
	char *path;
	struct land_look was; /* mode 0: nothing was there */
};
struct list {
	struct kept *v;
	size_t n, cap;
};

static void list_release(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct list){ NULL, 0, 0 };
}

static char *note_dir(const struct land *l)
{
	return ga_strf("%s/%u", l->notes, l->note);
}

static char *kept_name(size_t i)
{
	return ga_strf("hidden-%zu", i);
}

/* ---- keeping ------------------------------------------------------------------------- */

int land_check_hidden(struct land *l, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);
	uint64_t sum = 0;

	if (root < 0)
		return -1;
	for (size_t i = 0; i < l->hidden.n; i++) {
		cleanup_(land_here_release) struct land_here h = { .fd = -1 };
		cleanup_free char *q = ga_escape(l->hidden.v[i]), *max = NULL;

		if (land_open_here(root, l->hidden.v[i], &h))
			return ga_fail(err, GA_ELOSE, "'%s' cannot be read, to be kept", q);
		sum += h.size;
		if (sum <= LAND_HIDDEN_MAX)
			continue;
		max = ga_size_about(LAND_HIDDEN_MAX);
		(void)ga_fail(err, GA_ELOSE, "'%s', which git was told not to look at, is changed "
			      "and too large to be kept: such files may have %s together", q, max);
		return ga_hint(err, "commit it, or move it away while you land");
	}
	return 0;
}

/* Copy a file into the note and tell what it is. The target of a link is copied as a file. */
static int keep(int root, int note, const char *path, const char *name, struct land_look *ret,
		struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *q = ga_escape(path);

	*ret = (struct land_look){ 0 };
	if (land_open_here(root, path, &h))
		return ga_fail(err, GA_ELOSE, "'%s' cannot be read, to be kept", q);
	if (!h.mode)
		return 0;
	if (h.fd < 0 ? ga_write_new(note, name, h.target, h.size, 0600, err)
		     : ga_copy_fd_to(h.fd, note, name, err))
		return -1;
	if (!land_look_here(note, name, ret) || !ret->mode)
		return ga_fail(err, GA_EFATAL, "the copy of '%s' cannot be read", q);
	ret->mode = h.mode;
	return 0;
}

static void add_line(struct ga_buf *list, const char *path, const struct land_look *was)
{
	cleanup_free char *mode = ga_strf("%u", (unsigned)was->mode);

	ga_buf_add0(list, path);
	ga_buf_add0(list, mode);
	ga_buf_add0(list, GA_HEX(&was->oid));
}

int land_keep_hidden(struct land *l, struct ga_error *err)
{
	cleanup_free char *dir = note_dir(l);
	cleanup_buf struct ga_buf list = GA_BUF_INIT;
	cleanup_strv struct ga_strv made = GA_STRV_INIT;
	cleanup_close int root = -1, note = -1;

	if (!l->hidden.n)
		return 0;
	root = land_open_root(l->repo, err);
	if (root < 0)
		return -1;
	note = land_note_open(l, err);
	if (note < 0)
		return -1;
	ga_buf_add0(&list, MAGIC);
	ga_buf_add0(&list, land_worktree(l));
	for (size_t i = 0; i < l->hidden.n; i++) {
		cleanup_free char *name = kept_name(i);
		struct land_look was;

		if (keep(root, note, l->hidden.v[i], name, &was, err))
			return -1;
		ga_strv_take(&made, ga_path_join(dir, name));
		add_line(&list, l->hidden.v[i], &was);
	}
	if (ga_sync_paths(&made, err) ||
	    ga_write_atomic(note, LAND_NOTE_HIDDEN, list.ptr, list.len, 0600, err))
		return -1;
	return ga_fault_stop("land:kept", err);
}

/* ---- reading ------------------------------------------------------------------------- */

static bool next(const struct ga_buf *b, size_t *pos, const char *path, struct list *ret)
{
	const char *mode = ga_buf_next0(b, pos), *oid = mode ? ga_buf_next0(b, pos) : NULL;
	struct land_look was;
	uint64_t m;

	if (!oid || !ga_path_relative_ok(path) || ga_path_names_dotgit(path) ||
	    !ga_parse_u64(mode, S_IFMT | 07777, &m) || !ga_oid_parse(oid, strlen(oid), &was.oid))
		return false;
	was.mode = (mode_t)m;
	if (was.mode && !S_ISREG(was.mode) && !S_ISLNK(was.mode))
		return false;
	GA_GROW(ret->v, ret->n, ret->cap);
	ret->v[ret->n++] = (struct kept){ .path = ga_strdup(path), .was = was };
	return true;
}

static bool parse(const struct ga_buf *b, const char **ret_worktree, struct list *ret)
{
	size_t pos = 0;
	const char *s = ga_buf_next0(b, &pos);

	if (!s || strcmp(s, MAGIC) != 0)
		return false;
	*ret_worktree = ga_buf_next0(b, &pos);
	if (!*ret_worktree)
		return false;
	while ((s = ga_buf_next0(b, &pos)))
		if (!next(b, &pos, s, ret))
			return false;
	return pos == b->len;
}

/* 1: there is none. */
static int read_list(const struct land *l, int note, struct list *ret, struct ga_error *err)
{
	cleanup_free char *path = NULL, *q = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *worktree;

	if (faccessat(note, LAND_NOTE_HIDDEN, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return 1;
	if (ga_fault_stop("land:hidden", err) ||
	    ga_read_file_at(note, LAND_NOTE_HIDDEN, LIST_MAX, &b, err))
		return -1;
	if (!parse(&b, &worktree, ret))
		return ga_fail(err, GA_EFATAL, "the list of what was kept is damaged");
	if (!strcmp(worktree, land_worktree(l)))
		return 0;
	path = land_worktree_path(l, worktree);
	q = ga_quote_shell(path ? path : worktree);
	(void)ga_fail(err, GA_ELOSE, "it was in another working tree, and files of that were kept");
	return ga_hint(err, path ? "'git -C %s agent land --abort %s' puts them back"
				 : "that was called %s, and is not there any more", q, l->s->name);
}

/* ---- putting back -------------------------------------------------------------------- */

/* Is it what git writes there for HEAD? Anything else is somebody's, even a part of that: long
 * after git was killed it may be what they left of it. */
static bool is_heads(struct land *l, int root, const char *path)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_entry e;

	return !ga_tree_entry(l->repo, &l->head_tree, path, &e, &ignored) &&
	       land_is_written(l, root, path, &e, true);
}

static bool is_whole(int note, const char *name, const struct kept *k)
{
	struct land_look copy;

	return land_look_here(note, name, &copy) && copy.mode &&
	       ga_oid_equal(&copy.oid, &k->was.oid);
}

/* Returns true if the file is as it was. */
static bool put_back(struct land *l, int root, int note, size_t i, const struct kept *k,
		     const char *part, struct ga_strv *put)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *name = kept_name(i);
	struct land_copy copy = { .from = note, .name = name, .mode = k->was.mode, .part = part };
	struct land_look is;

	if (!land_look_here(root, k->path, &is))
		return false;
	if (land_look_equal(&is, &k->was))
		return true;
	if (is.mode && !is_heads(l, root, k->path))
		return false;
	if (!k->was.mode)
		return !land_remove(root, k->path, &is, &ignored);
	if (!is_whole(note, name, k) || land_put(&copy, root, k->path, &is, &ignored))
		return false;
	if (S_ISREG(k->was.mode) && k->was.mode & S_IRUSR)
		ga_strv_take(put, ga_path_join(ga_repo_info(l->repo)->workdir, k->path));
	return true;
}

/* Name a file that could not be put back, and where its copy is. */
static void say_lost(struct ga_buf *out, size_t nth, const char *dir, size_t i,
		     const struct kept *k)
{
	cleanup_free char *q = ga_quote(k->path), *name = kept_name(i);
	cleanup_free char *copy = ga_path_join(dir, name), *qc = ga_quote(copy);

	if (nth < LOST_SHOWN)
		ga_buf_addf(out, k->was.mode ? "%s%s (kept as %s)" : "%s%s (it was not there)",
			    nth ? ", " : "", q, qc);
}

static int fail_lost(struct land *l, const struct ga_buf *names, size_t n, struct ga_error *err)
{
	cleanup_free char *dir = note_dir(l), *q = ga_quote_shell(dir), *more = NULL;

	if (n > LOST_SHOWN)
		more = ga_strf(" and %zu more", n - LOST_SHOWN);
	(void)ga_fail(err, GA_ELOSE, "files that git was told not to look at could not be put "
		      "back: %s%s", names->ptr, more ? more : "");
	return ga_hint(err, "put them back from there by hand, then 'rm -r %s'", q);
}

static int put_all_back(struct land *l, int note, const struct list *list, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);
	cleanup_strv struct ga_strv put = GA_STRV_INIT;
	cleanup_buf struct ga_buf names = GA_BUF_INIT;
	cleanup_free char *dir = note_dir(l), *part = land_note_part(note, err);
	size_t lost = 0;

	if (root < 0 || !part)
		return -1;
	for (size_t i = 0; i < list->n; i++)
		land_sweep(root, list->v[i].path, part);
	for (size_t i = 0; i < list->n; i++)
		if (!put_back(l, root, note, i, &list->v[i], part, &put))
			say_lost(&names, lost++, dir, i, &list->v[i]);
	if (lost)
		return fail_lost(l, &names, lost, err);
	/* synced, as their copies may be removed next */
	return ga_sync_paths(&put, err);
}

/* Read the list and put the files back. 1: nothing was kept. */
static int back(struct land *l, int note, struct list *list, struct ga_error *err)
{
	cleanup_free char *dir = note_dir(l), *q = ga_quote_shell(dir);
	int rc = read_list(l, note, list, err);

	if (!rc)
		rc = put_all_back(l, note, list, err);
	if (rc < 0) {
		l->hidden_lost = true;
		(void)ga_hint(err, "try again; 'rm -r %s' gives up what was kept there", q);
	}
	return rc;
}

int land_put_hidden_back(struct land *l, struct ga_error *err)
{
	cleanup_(list_release) struct list list = { NULL, 0, 0 };
	cleanup_close int note = -1;

	if (!l->notes)
		return 0;
	note = land_note_open(l, err);
	if (note >= 0)
		return back(l, note, &list, err) < 0 ? -1 : 0;
	l->hidden_lost = true;
	return -1;
}

int land_settle_hidden(struct land *l, struct ga_error *err)
{
	cleanup_(list_release) struct list list = { NULL, 0, 0 };
	cleanup_close int note = -1;
	int rc;

	if (!l->notes)
		return 0;
	note = land_note_open(l, err);
	if (note < 0) {
		l->hidden_lost = true;
		return -1;
	}
	rc = back(l, note, &list, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	/* the list first: without it the copies mean nothing */
	if (unlinkat(note, LAND_NOTE_HIDDEN, 0))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove the list of what was "
				     "kept");
	for (size_t i = 0; i < list.n; i++) {
		cleanup_free char *name = kept_name(i);

		(void)unlinkat(note, name, 0);
	}
	return 0;
}
