/* SPDX-License-Identifier: MIT
 *
 * Writes the files and the index as they will be into the note's directory; git does it, since it
 * knows how.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "work.h"

bool work_is_written(const struct work_path *p)
{
	return !p->absent && !ga_entry_equal(&p->work, &p->to_work);
}

/* ---- files ------------------------------------------------------------------------- */

static int look_at_all(struct land *l, const char *dir, struct ga_error *err)
{
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read what git wrote");
	for (size_t i = 0; i < l->work->n; i++) {
		struct work_path *p = &l->work->v[i];
		cleanup_free char *q = NULL;

		if (!work_is_written(p) || !p->to_work.mode)
			continue;
		if (land_look_here(at, p->path, &p->will) && p->will.mode)
			continue;
		q = ga_escape(p->path);
		return ga_fail(err, GA_EFATAL, "git did not write '%s'", q);
	}
	return 0;
}

int work_render(struct land *l, struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(l->work->dir, "index.put");
	cleanup_free char *dir = ga_path_join(l->work->dir, "new");
	cleanup_buf struct ga_buf lines = GA_BUF_INIT;

	for (size_t i = 0; i < l->work->n; i++) {
		const struct work_path *p = &l->work->v[i];

		if (work_is_written(p) && p->to_work.mode)
			land_scratch_line(&lines, &p->to_work, p->path);
	}
	if (!lines.len)
		return 0;
	if (ga_mkdir_p(dir, 0700, err) || land_scratch_fill(l, index, &lines, err) ||
	    land_scratch_write(l, index, dir, err))
		return -1;
	return look_at_all(l, dir, err);
}

/* ---- the index --------------------------------------------------------------------- */

static int copy_index(struct land *l, const char *name, struct ga_error *err)
{
	cleanup_free char *from = land_index_file(l);
	cleanup_close int src = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	cleanup_close int dir = open(l->work->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (src < 0 || dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot copy the index");
	return ga_copy_fd_to(src, dir, name, err);
}

/* update-index makes new entries without the marks of the old ones, so these are set again. */
static int flag(struct land *l, const char *index, const char *word, const struct ga_buf *paths,
		struct ga_error *err)
{
	const char *const args[] = { "update-index", word, "-z", "--stdin", NULL };

	return paths->len ? land_ask_git(l, args, index, paths, NULL, err) : 0;
}

int work_make_index(struct land *l, struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(l->work->dir, "index.new");
	cleanup_buf struct ga_buf lines = GA_BUF_INIT, skip = GA_BUF_INIT, valid = GA_BUF_INIT;

	for (size_t i = 0; i < l->work->n; i++) {
		const struct work_path *p = &l->work->v[i];

		if (ga_entry_equal(&p->index, &p->to_index))
			continue;
		land_scratch_line(&lines, &p->to_index, p->path);
		if (p->to_index.mode && p->flagged_skip)
			ga_buf_add0(&skip, p->path);
		if (p->to_index.mode && p->flagged_valid)
			ga_buf_add0(&valid, p->path);
	}
	if (copy_index(l, "index", err) || copy_index(l, "index.new", err) ||
	    land_scratch_fill(l, index, &lines, err))
		return -1;
	return flag(l, index, "--skip-worktree", &skip, err) ||
	       flag(l, index, "--assume-unchanged", &valid, err) ? -1 : 0;
}
