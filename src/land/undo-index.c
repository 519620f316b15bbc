/* SPDX-License-Identifier: MIT
 *
 * The index when a landing beside uncommitted work is undone: nothing else may have been staged
 * since. Marks (assume-unchanged, skip-worktree) can be set and cleared by the user at any time, so
 * they stay as they are now.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/refs.h"
#include "note.h"
#include "undo.h"

#define REMARKED "index.back" /* in the note: what it was, with the marks of now */

static char *noted(const struct land *l, const char *name)
{
	return ga_strf("%s/%u/%s", l->notes, l->note, name);
}

/* ---- what was staged since ----------------------------------------------------------- */

static int read_entries(struct land *l, const char *index, struct ga_strv *ret,
			struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", NULL };

	return land_ask_list(l, args, index, ret, err);
}

/* The paths of entries that are not in `other`. */
static void add_paths(const struct ga_strv *entries, const struct ga_strv *other,
		      struct ga_strv *ret)
{
	struct ga_entry e;

	for (size_t i = 0; i < entries->n; i++) {
		const char *path = land_index_entry(entries->v[i], &e);

		if (path && ga_strv_find(other, entries->v[i]) < 0)
			ga_strv_push(ret, path);
	}
}

/* The paths in which the index differs from one in the note. */
static int compare(struct land *l, const char *name, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv is = GA_STRV_INIT, was = GA_STRV_INIT;
	cleanup_free char *file = noted(l, name);

	if (read_entries(l, NULL, &is, err) || read_entries(l, file, &was, err))
		return -1;
	add_paths(&is, &was, ret);
	add_paths(&was, &is, ret);
	ga_strv_sort_unique(ret);
	return 0;
}

/* An interrupted undo may have restored the index already: name the differences from whichever it
 * is closer to. */
static int fail_changed(struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_strv struct ga_strv landed = GA_STRV_INIT, back = GA_STRV_INIT;
	cleanup_free char *list = NULL, *ref = land_note_ref(l, l->note), *kept = NULL;
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid oid;

	if (compare(l, "index.new", &landed, err) || (u->begun && compare(l, "index", &back, err)))
		return -1;
	list = land_list(u->begun && back.n < landed.n ? &back : &landed);
	(void)ga_fail(err, GA_ELOSE, "the index changed since agent/%s landed: %s", l->s->name,
		      list);
	/* staged before, it may be in no file */
	kept = u->begun && !ga_ref_read(l->repo, ref, &oid, &ignored)
		       ? ga_strf(", 'git restore --staged --source=%s FILE' what was staged before "
				 "it landed", ref)
		       : ga_strdup("");
	return ga_hint(err, "'git restore --staged FILE' takes back what was staged since, "
			    "'git add FILE' stages again what is not any more%s; then go on", kept);
}

int undo_check_index(struct land *l, const struct undo *u, struct ga_error *err)
{
	struct ga_oid is;

	if (land_index_id(l, NULL, &is, err))
		return -1;
	return ga_oid_equal(&is, &u->index_after) || (u->begun && ga_oid_equal(&is, &u->index))
		       ? 0
		       : fail_changed(l, u, err);
}

/* ---- marks --------------------------------------------------------------------------- */

struct marks {
	struct ga_strv all, skipped, assumed; /* paths, sorted */
};

static void marks_release(struct marks *m)
{
	ga_strv_release(&m->all);
	ga_strv_release(&m->skipped);
	ga_strv_release(&m->assumed);
}

/* A line of `git ls-files -v`: "S" is skip-worktree, a small letter assume-unchanged. */
static int read_marks(struct land *l, const char *index, struct marks *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-v", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (land_ask_git(l, args, index, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		if (!line[0] || !line[1])
			continue;
		ga_strv_push(&ret->all, line + 2);
		if (land_is_skipped(line[0]))
			ga_strv_push(&ret->skipped, line + 2);
		if (land_is_assumed(line[0]))
			ga_strv_push(&ret->assumed, line + 2);
	}
	ga_strv_sort_unique(&ret->all);
	ga_strv_sort_unique(&ret->skipped);
	ga_strv_sort_unique(&ret->assumed);
	return 0;
}

/* Run `git update-index` with `option` for the paths that are in `one`, not in `other`, and in the
 * other index at all. */
static int mark(struct land *l, const char *index, const char *option, const struct ga_strv *one,
		const struct ga_strv *other, const struct ga_strv *all, struct ga_error *err)
{
	const char *const args[] = { "update-index", option, "-z", "--stdin", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	for (size_t i = 0; i < one->n; i++)
		if (ga_strv_find(other, one->v[i]) < 0 && ga_strv_find(all, one->v[i]) >= 0)
			ga_buf_add0(&in, one->v[i]);
	return in.len ? land_ask_git(l, args, index, &in, NULL, err) : 0;
}

static int copy(const struct undo *u, struct ga_error *err)
{
	cleanup_close int from = openat(u->dir, "index", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (from < 0 || (unlinkat(u->dir, REMARKED, 0) && errno != ENOENT))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the index that was kept");
	return ga_copy_fd_to(from, u->dir, REMARKED, err);
}

char *undo_make_index(struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_(marks_release) struct marks is = { .all = GA_STRV_INIT };
	cleanup_(marks_release) struct marks was = { .all = GA_STRV_INIT };
	cleanup_free char *file = noted(l, REMARKED);

	if (copy(u, err) || read_marks(l, NULL, &is, err) || read_marks(l, file, &was, err) ||
	    mark(l, file, "--skip-worktree", &is.skipped, &was.skipped, &was.all, err) ||
	    mark(l, file, "--no-skip-worktree", &was.skipped, &is.skipped, &is.all, err) ||
	    mark(l, file, "--assume-unchanged", &is.assumed, &was.assumed, &was.all, err) ||
	    mark(l, file, "--no-assume-unchanged", &was.assumed, &is.assumed, &is.all, err))
		return NULL;
	return ga_steal(&file);
}
