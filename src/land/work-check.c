/* SPDX-License-Identifier: MIT
 *
 * Does the result of a landing beside uncommitted work fit where it goes? In index and working
 * tree, nothing that stays may be above or beneath it. And is what stands there still what the plan
 * was made of? Hooks and the editor run in between, and the user is at work.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "work.h"

/* ---- as it was ----------------------------------------------------------------------- */

void work_see(struct work *w, int root)
{
	for (size_t i = 0; i < w->n; i++)
		w->v[i].is_seen = land_look_here(root, w->v[i].path, &w->v[i].seen);
}

/* Are the file and the note's copy of it as seen? Only what the note has may be overwritten. */
static bool is_as_seen(const struct work_path *p, int root, int note, size_t nth)
{
	cleanup_free char *name = ga_strf("%zu", nth);
	struct land_look kept, is;

	return land_look_here(root, p->path, &is) && land_look_equal(&is, &p->seen) &&
	       land_look_here(note, name, &kept) && !kept.mode == !is.mode &&
	       ga_oid_equal(&kept.oid, &is.oid);
}

/* ---- where it goes ------------------------------------------------------------------- */

static bool goes(const struct work_path *p)
{
	return p && work_is_written(p) && !p->to_work.mode;
}

/* Find a file above the path, where a directory has to be, that is not removed. */
static void find_above(struct work *w, int root, const char *path, struct ga_strv *ret)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));
		cleanup_close int fd = ga_openat_beneath(root, dir, O_PATH | O_NOFOLLOW, 0);
		struct stat st;

		if (fd < 0 || fstat(fd, &st))
			return;
		if (S_ISDIR(st.st_mode))
			continue;
		if (!goes(work_find(w, dir)))
			ga_strv_push(ret, dir);
		return;
	}
}

/* Find what is in the way of the files to be written and is not removed. */
static int find_in_the_way(struct land *of, int root, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv going = GA_STRV_INIT;
	/* only these may be beneath a directory that a file replaces */
	struct land l = { .repo = of->repo, .tracked = &going };
	struct work *w = of->work;

	for (size_t i = 0; i < w->n; i++)
		if (goes(&w->v[i]))
			ga_strv_push(&going, w->v[i].path);
	for (size_t i = 0; i < w->n; i++) {
		const struct work_path *p = &w->v[i];

		if (p->hurdle || !work_is_written(p) || !p->to_work.mode)
			continue;
		find_above(w, root, p->path, ret);
		if (land_dir_here(root, p->path) &&
		    land_untracked_below(&l, root, p->path, NULL, ret, err) < 0)
			return -1;
	}
	ga_strv_sort_unique(ret);
	return 0;
}

int work_check_meanwhile(struct land *l, int root, int note, struct ga_error *err)
{
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;
	size_t n = 0;

	for (size_t i = 0; i < l->work->n; i++)
		if (work_is_written(&l->work->v[i]) &&
		    !is_as_seen(&l->work->v[i], root, note, n++))
			ga_strv_push(&changed, l->work->v[i].path);
	if (find_in_the_way(l, root, &changed, err))
		return -1;
	return changed.n ? land_refuse(&changed, "files changed meanwhile", "land again", err) : 0;
}

/* ---- what was decided ------------------------------------------------------------------ */

/* Will the index have an entry above this one? Adding this one would remove it, and what is staged
 * in it. */
static bool is_under_entry(struct work *w, const struct work_path *p)
{
	for (const char *slash = strchr(p->path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(p->path, (size_t)(slash - p->path));
		const struct work_path *q = work_find(w, dir);

		if (q && q->to_index.mode)
			return true;
	}
	return false;
}

void work_check_index(struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct work_path *p = &w->v[i];

		if (!p->hurdle && p->to_index.mode &&
		    ((p->beside && !ga_entry_equal(&p->index, &p->to_index)) ||
		     is_under_entry(w, p)))
			p->hurdle = WORK_STAGED;
	}
}

int work_check_place(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv unread = GA_STRV_INIT, in_the_way = GA_STRV_INIT;
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < l->work->n; i++)
		if (work_is_written(&l->work->v[i]) && !l->work->v[i].is_seen)
			ga_strv_push(&unread, l->work->v[i].path);
	if (unread.n)
		return land_refuse(&unread, "files cannot be read, to be kept for undoing",
				   "make that possible, then land again", err);
	if (find_in_the_way(l, root, &in_the_way, err))
		return -1;
	return in_the_way.n ? land_refuse(&in_the_way, "files would have to make way",
					  "move them away, then land again", err) : 0;
}
