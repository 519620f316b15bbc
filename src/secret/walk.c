/* SPDX-License-Identifier: MIT
 *
 * Ignored directories of the user, which sessions share. They are read by descriptor; links to
 * directories are not followed.
 */
#include "finder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "ga/sys/fd.h"

#define DEPTH_MAX 100

struct walk {
	struct finder *f;
	struct ga_buf path; /* of the directory being looked through */
	unsigned depth;
};

static void walk(struct walk *w);

/* Append "/NAME" to the directory's path; the caller shortens it again to the returned length. */
static size_t extend(struct walk *w, const char *name)
{
	size_t before = w->path.len;

	ga_buf_addch(&w->path, '/');
	ga_buf_adds(&w->path, name);
	return before;
}

/* Look at the files of the directory, and list the directories in it. */
static void look_through(struct walk *w, DIR *d, struct ga_strv *dirs)
{
	struct dirent *e;
	struct stat st;

	while ((e = ga_dir_next(d))) {
		size_t before;

		if (++w->f->entries > FINDER_ENTRIES_MAX)
			break;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode)) {
			if (w->f->o->all_dirs || !ga_exposure_skips(e->d_name))
				ga_strv_push(dirs, e->d_name);
			continue;
		}
		before = extend(w, e->d_name);
		finder_entry(w->f, w->path.ptr, &st, GA_EXPOSED_IGNORED);
		ga_buf_truncate(&w->path, before);
	}
	if (e || errno)
		w->f->ret->incomplete = true;
}

/* Of a repository in there, only its configuration is looked at. */
static void look_at_git(struct walk *w)
{
	size_t before = extend(w, ".git/config");

	finder_file(w->f, w->path.ptr, GA_EXPOSED_IGNORED);
	ga_buf_truncate(&w->path, before);
}

static void walk_into(struct walk *w, const char *name)
{
	size_t before;

	if (!strcmp(name, ".git")) {
		look_at_git(w);
		return;
	}
	if (w->depth >= DEPTH_MAX) {
		w->f->ret->incomplete = true;
		return;
	}
	before = extend(w, name);
	w->depth++;
	walk(w);
	w->depth--;
	ga_buf_truncate(&w->path, before);
}

static void walk(struct walk *w)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;
	cleanup_dir DIR *d = NULL;
	struct stat st;

	if (w->f->gitdir && !strcmp(w->path.ptr, w->f->gitdir))
		return;
	/* gone, or replaced by a link: then sessions do not share it either */
	if (fstatat(w->f->work, w->path.ptr, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
		return;
	d = finder_opendir(w->f, w->path.ptr, 0);
	if (d)
		look_through(w, d, &dirs);
	else
		w->f->ret->incomplete = true;
	for (size_t i = 0; i < dirs.n; i++)
		walk_into(w, dirs.v[i]);
}

void finder_walk(struct finder *f, const char *dir)
{
	struct walk w = { .f = f, .path = GA_BUF_INIT };

	ga_buf_adds(&w.path, dir);
	walk(&w);
	ga_buf_release(&w.path);
}
