/* SPDX-License-Identifier: MIT
 *
 * A live secret that has more than one name: under the others it is one, too. Every file that is
 * shown has to be looked at for that, so it is done only if there is such a secret.
 */
#include "secrets.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"

#define DEPTH_MAX 100

void finder_note_twin(struct finder *f, const struct stat *st, const struct ga_secret *s)
{
	if (s->tier != GA_TIER_BLOCK || st->st_nlink < 2)
		return;
	GA_GROW(f->twins, f->n_twins, f->cap_twins);
	f->twins[f->n_twins++] = (struct finder_twin){ st->st_dev, st->st_ino, *s };
}

static bool is_found(const struct ga_exposure *x, const char *path)
{
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->v[i].path, path))
			return true;
	return false;
}

static void look_at(struct finder *f, const char *path, enum ga_exposed_as as)
{
	struct stat st;

	if (fstatat(f->work, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    st.st_nlink < 2)
		return;
	for (size_t i = 0; i < f->n_twins; i++) {
		const struct finder_twin *t = &f->twins[i];

		if (t->dev != st.st_dev || t->ino != st.st_ino || is_found(f->ret, path))
			continue;
		secrets_add(f->ret, path, &t->secret, as);
		f->ret->v[f->ret->n - 1].secret.copy = true;
		return;
	}
}

static void walk(struct finder *f, struct ga_buf *path, unsigned depth)
{
	int fd = ga_openat_beneath(f->work, path->ptr, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t before = path->len;
	struct dirent *e;

	if (!d || depth > DEPTH_MAX) {
		f->ret->incomplete = true;
		if (d)
			(void)closedir(d);
		else if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((e = readdir(d))) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		ga_buf_addf(path, "/%s", e->d_name);
		if (e->d_type == DT_DIR ||
		    (e->d_type == DT_UNKNOWN &&
		     !fstatat(f->work, path->ptr, &st, AT_SYMLINK_NOFOLLOW) &&
		     S_ISDIR(st.st_mode)))
			walk(f, path, depth + 1);
		else
			look_at(f, path->ptr, GA_EXPOSED_IGNORED);
		ga_buf_truncate(path, before);
	}
	(void)closedir(d);
}

void finder_twins(struct finder *f, const struct ga_scan *scan)
{
	if (!f->n_twins)
		return;
	for (size_t i = 0; i < scan->untracked.n; i++)
		look_at(f, scan->untracked.v[i], GA_EXPOSED_UNTRACKED);
	for (size_t i = 0; i < scan->ignored_files.n; i++)
		look_at(f, scan->ignored_files.v[i], GA_EXPOSED_IGNORED);
	for (size_t i = 0; i < scan->ignored_dirs.n; i++) {
		cleanup_buf struct ga_buf path = GA_BUF_INIT;

		ga_buf_adds(&path, scan->ignored_dirs.v[i]);
		walk(f, &path, 0);
	}
}
