/* SPDX-License-Identifier: MIT
 *
 * Carries out a landing beside uncommitted work: files, index, HEAD, in this order, after
 * everything was noted. A failure on the way is taken back at once; after a kill, the next landing,
 * --abort or --undo does that (undo.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/trace.h"
#include "note.h"
#include "work.h"

/* ---- before ------------------------------------------------------------------------ */

static int check_index(struct land *l, struct ga_error *err)
{
	const struct stat *was = &l->work->index_seen;
	cleanup_free char *index = land_index_file(l);
	struct stat now;

	if (!stat(index, &now) && now.st_ino == was->st_ino && now.st_size == was->st_size &&
	    now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
		return 0;
	(void)ga_fail(err, GA_ELOSE, "the index changed meanwhile");
	return ga_hint(err, "land again");
}

/* 0: keep those that git wrote it with. */
static mode_t perms(const struct work_path *p)
{
	if (!S_ISREG(p->st.st_mode) || p->to_work.mode == GA_MODE_LINK)
		return 0;
	return land_perms(&p->st, p->to_work.mode == GA_MODE_EXEC);
}

/* ---- doing it ---------------------------------------------------------------------- */

/* What somebody changed since it was looked at must stay when this landing is taken back. */
static int fail_file(struct land *l, const struct work_path *p, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;

	if (err->code == GA_ELOSE && land_note_left(l, p->path, &second))
		return ga_hint(err, "%s", second.msg);
	return err->code == GA_ELOSE ? ga_hint(err, "land again") : -1;
}

static int write_files(struct land *l, int root, int note, struct ga_error *err)
{
	cleanup_free char *part = land_note_part(note, err);

	if (!part)
		return -1;
	for (size_t i = 0; i < l->work->n; i++) {
		const struct work_path *p = &l->work->v[i];

		if (work_is_written(p) && !p->to_work.mode &&
		    land_remove(root, p->path, &p->seen, err))
			return fail_file(l, p, err);
	}
	for (size_t i = 0; i < l->work->n; i++) {
		const struct work_path *p = &l->work->v[i];
		cleanup_free char *from = ga_path_join("new", p->path);
		struct land_copy copy = { note, from, perms(p), part };

		if (work_is_written(p) && p->to_work.mode &&
		    land_put(&copy, root, p->path, &p->seen, err))
			return fail_file(l, p, err);
	}
	return ga_fault_stop("land:files", err);
}

static int install_index(struct land *l, int note, struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_free char *name = ga_path_join(l->work->dir, "index.new");
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	/* it fails if a file is changed, which does not matter */
	(void)land_ask_git(l, args, name, NULL, NULL, &ignored);
	if (land_install_index(l, note, name, err))
		return -1;
	return ga_fault_stop("land:index", err);
}

static int move_head(struct land *l, struct ga_error *err)
{
	cleanup_free char *why = ga_strf("merge agent/%s: beside uncommitted work", l->s->name);

	if (!ga_oid_equal(&l->work->commit, &l->head) &&
	    land_move_head(l, why, &l->work->commit, &l->head, err))
		return -1;
	return ga_fault_stop("land:head", err);
}

/* ---- all of it --------------------------------------------------------------------- */

/* Note what undoing has to know besides the files. */
static int note_work(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(l->work->dir, LAND_NOTE_WORK);
	cleanup_free char *index = ga_path_join(l->work->dir, "index.new");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid before, after;

	if (land_index_id(l, NULL, &before, err) || land_index_id(l, index, &after, err))
		return -1;
	ga_buf_add0(&b, GA_HEX(&l->work->commit));
	ga_buf_add0(&b, GA_HEX(&before));
	ga_buf_add0(&b, GA_HEX(&after));
	/* land_note() syncs it with the record */
	return ga_write_new(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

static int prepare(struct land *l, struct ga_error *err)
{
	return work_commit(l, err) || work_render(l, err) || work_make_index(l, err) ||
	       land_keep_staged(l, err) || note_work(l, err) || land_note(l, err) ||
	       land_hold(l, LAND_NOTE_RECORD, err) || ga_fault_stop("land:noted", err) ? -1 : 0;
}

/* Lock the index and check for the last time, while nothing is touched yet. */
static int begin(struct land *l, int root, int note, struct ga_error *err)
{
	if (land_lock_index(l, note, err) || land_check_stays(l, err) || check_index(l, err) ||
	    work_check_meanwhile(l, root, note, err)) {
		land_unlock_index(l, note);
		return -1;
	}
	return 0;
}

static int do_it(struct land *l, int root, int note, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;

	if (!write_files(l, root, note, err) && !install_index(l, note, err) && !move_head(l, err))
		return 0;
	if (land_take_back(l, &second))
		(void)ga_hint(err, "'git agent land --abort %s' takes back what was done",
			      l->s->name);
	return -1;
}

int land_work_apply(struct land *l, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err), note = -1;
	cleanup_strv struct ga_strv carried = GA_STRV_INIT;

	if (root < 0)
		return -1;
	note = open(l->work->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (note < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the note");
	if (prepare(l, err) || begin(l, root, note, err)) {
		land_note_forget(l);
		return -1;
	}
	if (do_it(l, root, note, err))
		return -1;
	l->ret->commit = l->work->commit;
	for (size_t i = 0; i < l->work->n; i++)
		if (l->work->v[i].left_out && l->work->v[i].carried)
			ga_strv_push(&carried, l->work->v[i].path);
	land_carry_done(l, &carried);
	return 0;
}
