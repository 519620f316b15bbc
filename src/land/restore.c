/* SPDX-License-Identifier: MIT
 *
 * Where git stops half way without a state of its own: what it had written by then is taken away
 * again, what it put back to HEAD though it was not to look there is as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "land-internal.h"

#define BYTES_MAX ((size_t)256 << 20) /* of a file that is held against an object */

/* ---- kept before --------------------------------------------------------------------- */

static char *kept_name(size_t i)
{
	return ga_strf("hidden-%zu", i);
}

static int open_note(const struct land *l)
{
	cleanup_free char *dir = ga_strf("%s/%u", l->notes, l->note);

	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int keep(int root, int note, const char *path, const char *name, struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *q = ga_escape(path);

	if (land_open_here(root, path, &h))
		return ga_fail(err, GA_ELOSE, "'%s' cannot be read, to be kept", q);
	if (!h.mode)
		return 0;
	return h.fd < 0 ? ga_write_new(note, name, h.target, h.size, 0600, err)
			: ga_copy_fd_to(h.fd, note, name, err);
}

int land_keep_hidden(struct land *l, struct ga_error *err)
{
	cleanup_close int root = -1, note = -1;

	if (!l->hidden.n)
		return 0;
	root = land_open_root(l->repo, err);
	note = open_note(l);
	if (root < 0 || note < 0)
		return root < 0 ? -1 : ga_fail_errno(err, GA_EFATAL, errno, "cannot open the note");
	l->hidden_modes = ga_calloc(l->hidden.n, sizeof(*l->hidden_modes));
	for (size_t i = 0; i < l->hidden.n; i++) {
		cleanup_free char *name = kept_name(i);
		struct land_look is;

		if (keep(root, note, l->hidden.v[i], name, err))
			return -1;
		if (land_look_here(root, l->hidden.v[i], &is))
			l->hidden_modes[i] = is.mode;
	}
	return 0;
}

void land_forget_hidden(struct land *l)
{
	cleanup_close int note = l->hidden.n ? open_note(l) : -1;

	for (size_t i = 0; note >= 0 && i < l->hidden.n; i++) {
		cleanup_free char *name = kept_name(i);

		(void)unlinkat(note, name, 0);
	}
}

static void put_hidden_back(struct land *l, int root, struct ga_strv *lost)
{
	cleanup_close int note = l->hidden.n ? open_note(l) : -1;

	for (size_t i = 0; i < l->hidden.n; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_free char *name = kept_name(i);
		const char *path = l->hidden.v[i];
		mode_t mode = l->hidden_modes[i];
		struct land_look kept, is;

		if (land_look_here(note, name, &kept) && land_look_here(root, path, &is) &&
		    (mode ? kept.mode && is.mode && ga_oid_equal(&kept.oid, &is.oid) : !is.mode))
			continue;
		if (note < 0 || (mode ? land_put(note, name, root, path, mode, &ignored)
				      : land_remove(root, path, &ignored)))
			ga_strv_push(lost, path);
	}
}

/* ---- written by git ------------------------------------------------------------------ */

/* Is what stands there the object, or, with `part`, the beginning of it that git had written? */
static bool is_object(struct land *l, int root, const char *path, const struct ga_entry *e,
		      bool part)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_buf struct ga_buf is = GA_BUF_INIT, want = GA_BUF_INIT;

	if (e->mode == GA_MODE_NONE || e->mode == GA_MODE_GITLINK ||
	    land_open_here(root, path, &h) || !h.mode ||
	    (h.fd < 0) != (e->mode == GA_MODE_LINK) ||
	    ga_blob_read(l->repo, &e->oid, BYTES_MAX, &want, &ignored))
		return false;
	if (h.fd < 0)
		ga_buf_add(&is, h.target, h.size);
	else if (ga_read_fd(h.fd, BYTES_MAX, &is, &ignored))
		return false;
	return (part ? is.len <= want.len : is.len == want.len) &&
	       !memcmp(is.ptr, want.ptr, is.len);
}

/* What was there before, by git from its index, which is as it was. */
static int check_out(struct land *l, const struct ga_buf *paths, struct ga_error *err)
{
	static const char *const args[] = { "checkout-index", "-f", "-q", "-z", "--stdin", NULL };

	return paths->len ? land_ask_git(l, args, NULL, paths, NULL, err) : 0;
}

/* Nothing of the user's was in its way, so what is new there, or else than it was, is git's if it
 * is what git was to write. */
static int take_written(struct land *l, int root, struct ga_error *err)
{
	cleanup_buf struct ga_buf changed = GA_BUF_INIT;

	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *c = &l->changes.v[i];
		bool ours = is_object(l, root, c->path, &c->new, true);
		struct land_look is;

		if (c->old.mode == GA_MODE_NONE) {
			if (ours && land_remove(root, c->path, err))
				return -1;
		} else if ((ours && !is_object(l, root, c->path, &c->old, false)) ||
			   (land_look_here(root, c->path, &is) && !is.mode)) {
			ga_buf_add0(&changed, c->path);
		}
	}
	return check_out(l, &changed, err);
}

/* Nothing was staged before, so what is now is of the merge: git takes back that, and the files. */
static int take_staged(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "reset", "--quiet", "--merge", GA_HEX(&l->head), NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_oid tree;
	int status;

	if (!land_index_tree(l, NULL, &tree, &ignored) && ga_oid_equal(&tree, &l->head_tree))
		return 0;
	if (land_run_git(l, args, NULL, 0, &status, &why, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "what is staged could not be put back") : 0;
}

/* Whoever committed meanwhile is not to be taken back. */
static int check_head(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;

	if (ga_repo_head(l->repo, &head, &branch, err))
		return -1;
	return ga_oid_equal(&head, &l->head) ? 0 : ga_fail(err, GA_ELOSE, "your branch has moved");
}

int land_restore(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv lost = GA_STRV_INIT;
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0 || check_head(l, err) || take_staged(l, err))
		return -1;
	put_hidden_back(l, root, &lost);
	if (take_written(l, root, err))
		return -1;
	return lost.n ? land_refuse(&lost, "files could not be put back", "see 'git status'", err)
		      : 0;
}
