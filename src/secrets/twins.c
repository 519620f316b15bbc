/* SPDX-License-Identifier: MIT
 *
 * Other hard links of live secrets are secrets too, whatever their names. To find them, every file
 * that sessions are shown has to be looked at, so this is done only if a secret has several links.
 */
#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "ga/fd.h"

#define DEPTH_MAX 100

void finder_note_twin(struct finder *f, const struct stat *st, const struct ga_secret *s)
{
	if (s->tier != GA_TIER_BLOCK || st->st_nlink < 2)
		return;
	GA_GROW(f->twins, f->n_twins, f->cap_twins);
	f->twins[f->n_twins++] = (struct finder_twin){ st->st_dev, st->st_ino, *s };
}

static int by_inode(const void *a, const void *b)
{
	const struct finder_twin *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Look at the file `name` in `dir`; `path` is its full path. */
static void look_at(struct finder *f, int dir, const char *name, const char *path,
		    enum ga_exposed_as as)
{
	struct finder_twin key = { .dev = 0 };
	const struct finder_twin *twin;
	struct ga_secret s;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    st.st_nlink < 2)
		return;
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	twin = bsearch(&key, f->twins, f->n_twins, sizeof(*f->twins), by_inode);
	if (!twin)
		return;
	s = twin->secret;
	s.copy = true;
	(void)finder_raise(f, path, &s, as);
}

static void walk(struct finder *f, struct ga_buf *path, unsigned depth);

static void look_through(struct finder *f, DIR *d, struct ga_buf *path, unsigned depth)
{
	size_t before = path->len;
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		if (++f->entries > FINDER_ENTRIES_MAX)
			break;
		ga_buf_addf(path, "/%s", e->d_name);
		if (finder_is_dir(dirfd(d), e))
			walk(f, path, depth + 1);
		else
			look_at(f, dirfd(d), e->d_name, path->ptr, GA_EXPOSED_IGNORED);
		ga_buf_truncate(path, before);
	}
	if (e || errno)
		f->ret->incomplete = true;
}

static void walk(struct finder *f, struct ga_buf *path, unsigned depth)
{
	cleanup_dir DIR *d = depth > DEPTH_MAX ? NULL : finder_opendir(f, path->ptr, 0);

	if (d)
		look_through(f, d, path, depth);
	else
		f->ret->incomplete = true;
}

static void look_at_all(struct finder *f, const struct ga_strv *paths, enum ga_exposed_as as)
{
	for (size_t i = 0; i < paths->n; i++)
		look_at(f, f->work, paths->v[i], paths->v[i], as);
}

static void walk_all(struct finder *f, const struct ga_strv *dirs)
{
	for (size_t i = 0; i < dirs->n; i++) {
		cleanup_buf struct ga_buf path = GA_BUF_INIT;
		struct stat st;

		if (fstatat(f->work, dirs->v[i], &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			continue;
		ga_buf_adds(&path, dirs->v[i]);
		walk(f, &path, 0);
	}
}

void finder_twins(struct finder *f, const struct ga_scan *scan)
{
	if (!f->n_twins)
		return;
	qsort(f->twins, f->n_twins, sizeof(*f->twins), by_inode);
	f->entries = 0;
	look_at_all(f, &scan->changed, GA_EXPOSED_MODIFIED);
	look_at_all(f, &scan->untracked, GA_EXPOSED_UNTRACKED);
	look_at_all(f, &scan->ignored_files, GA_EXPOSED_IGNORED);
	walk_all(f, &scan->ignored_dirs);
	if (!f->o->live)
		return;
	look_at_all(f, &f->unwatched, GA_EXPOSED_MODIFIED);
	look_at_all(f, &scan->apart, GA_EXPOSED_UNTRACKED);
	walk_all(f, &scan->apart);
}
