/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "capture/upper-internal.h"

void rules_init(struct rules *ru, struct ga_repo *r, const struct ga_oid *tree, const char *host,
		bool icase, size_t max)
{
	*ru = (struct rules){ .repo = r, .tree = tree, .max = max, .user = -1,
			      .ig = { .icase = icase } };
	ga_ignore_push(&ru->ig, NULL, host, strlen(host));
}

static void leave(struct rules *ru)
{
	struct rules_dir *d = &ru->dirs[--ru->n_dirs];

	ga_ignore_pop(&ru->ig, d->mark);
	free(d->path);
}

void rules_release(struct rules *ru)
{
	while (ru->n_dirs)
		leave(ru);
	free(ru->dirs);
	for (size_t i = 0; i < ru->n_over; i++) {
		free(ru->over[i].dir);
		free(ru->over[i].text);
	}
	free(ru->over);
	ga_ignore_release(&ru->ig);
}

void rules_override(struct rules *ru, const char *dir, const char *text, size_t len)
{
	GA_GROW(ru->over, ru->n_over, ru->cap_over);
	ru->over[ru->n_over++] = (struct rules_override){
		ga_strdup(dir), text ? ga_memdup(text, len ? len : 1) : NULL, len
	};
}

static int by_dir(const void *a, const void *b)
{
	const struct rules_override *x = a, *y = b;

	return strcmp(x->dir, y->dir);
}

void rules_sort(struct rules *ru)
{
	if (ru->n_over)
		qsort(ru->over, ru->n_over, sizeof(*ru->over), by_dir);
}

/* Push the user's own .gitignore, which is in no tree: tools write such files into directories that
 * they make. */
static int push_users(struct rules *ru, const char *dir, const char *file, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_entry e = { 0 };
	int rc;

	if (ru->known && ga_tree_entry(ru->repo, ru->known, file, &e, err))
		return -1;
	if (ru->user < 0 || e.mode != GA_MODE_NONE)
		return 0;
	rc = ga_read_beneath(ru->user, file, ru->max, &text, err);
	ru->too_long |= rc > 0;
	ga_ignore_push(&ru->ig, dir, text.ptr, text.len);
	return rc < 0 ? -1 : 0;
}

static int push_own(struct rules *ru, const char *dir, struct ga_error *err)
{
	struct rules_override key = { .dir = (char *)(uintptr_t)dir };
	const struct rules_override *o =
		ru->n_over ? bsearch(&key, ru->over, ru->n_over, sizeof(*ru->over), by_dir) : NULL;
	cleanup_free char *file = ga_path_join(dir, ".gitignore");
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_entry e = { 0 };
	int rc;

	if (o) {
		if (o->text)
			ga_ignore_push(&ru->ig, dir, o->text, o->len);
		return 0;
	}
	if (ru->tree && ga_tree_entry(ru->repo, ru->tree, file, &e, err))
		return -1;
	if (e.mode == GA_MODE_NONE)
		return push_users(ru, dir, file, err);
	if (e.mode != GA_MODE_FILE && e.mode != GA_MODE_EXEC)
		return 0;
	rc = ga_blob_read(ru->repo, &e.oid, ru->max, &text, err);
	if (rc < 0)
		return -1;
	ru->too_long |= rc > 0;
	ga_ignore_push(&ru->ig, dir, text.ptr, text.len);
	return 0;
}

static int enter(struct rules *ru, const char *path, size_t len, struct ga_error *err)
{
	bool above = ru->n_dirs && ru->dirs[ru->n_dirs - 1].ignored;
	struct rules_dir d = { ga_strndup(path, len), ru->ig.n, above };

	if (len && !above)
		d.ignored = ga_ignore_check(&ru->ig, d.path, true) == GA_IGNORE_YES;
	GA_GROW(ru->dirs, ru->n_dirs, ru->cap_dirs);
	ru->dirs[ru->n_dirs++] = d;
	return d.ignored ? 0 : push_own(ru, d.path, err);
}

int rules_ignored(struct rules *ru, const char *path, bool *ret, struct ga_error *err)
{
	size_t at;

	while (ru->n_dirs > 1) {
		const char *dir = ru->dirs[ru->n_dirs - 1].path;
		size_t n = strlen(dir);

		if (!strncmp(path, dir, n) && path[n] == '/')
			break;
		leave(ru);
	}
	if (!ru->n_dirs && enter(ru, "", 0, err))
		return -1;
	at = strlen(ru->dirs[ru->n_dirs - 1].path);
	for (const char *p = strchr(path + at + (at > 0), '/'); p; p = strchr(p + 1, '/'))
		if (enter(ru, path, (size_t)(p - path), err))
			return -1;
	*ret = ru->dirs[ru->n_dirs - 1].ignored ||
	       ga_ignore_check(&ru->ig, path, false) == GA_IGNORE_YES;
	return 0;
}
