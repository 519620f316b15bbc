/* SPDX-License-Identifier: MIT
 *
 * Handle paths that the walk does not visit: those that only a commit of the agent changed, and
 * ignore rules of a tree for any path.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/config/config.h"
#include "capture/upper-internal.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

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

static void rules_sort(struct rules *ru)
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

/* Is what lies beneath the upper visible at `path`? A whiteout, a file or a symlink above it
 * hides it, and so does an opaque directory. */
static bool shows_through(int upper, const char *path)
{
	cleanup_close int at = fcntl(upper, F_DUPFD_CLOEXEC, 3);
	const char *p = path, *slash;
	struct stat st;

	for (; at >= 0 && (slash = strchr(p, '/')); p = slash + 1) {
		cleanup_free char *name = ga_strndup(p, (size_t)(slash - p));
		int next = openat(at, name, WALK_OPEN_FLAGS | O_DIRECTORY);
		struct marks m;

		if (next < 0)
			return errno == ENOENT;
		(void)close(at);
		at = next;
		read_marks(at, &m);
		marks_release(&m);
		if (m.opaque)
			return false;
	}
	/* if the upper itself has an entry, the walk has met it */
	return at >= 0 && fstatat(at, p, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/* Is there something at `path` that is neither the base's nor the upper's? */
static bool lies_between(int extras, int upper, const struct ga_strv *shared, const char *path)
{
	cleanup_close int fd = -1;
	struct stat st;

	for (size_t i = 0; shared && i < shared->n; i++)
		if (ga_path_inside(path, shared->v[i]))
			return true;
	if (extras < 0)
		return false;
	fd = ga_openat_beneath(extras, path, O_PATH | O_NOFOLLOW, 0);
	return fd >= 0 && !fstat(fd, &st) && !S_ISDIR(st.st_mode) && shows_through(upper, path);
}

/* Does `path` keep its former entry because the present one stays behind? */
static bool is_kept_at(const struct walk *w, const char *path)
{
	cleanup_buf struct ga_buf at = GA_BUF_INIT;

	if (!w->kept.n)
		return false;
	for (ga_buf_adds(&at, path);;) {
		const char *slash;

		if (ga_strv_find(&w->kept, at.ptr) >= 0)
			return true;
		if (!at.len)
			return false;
		slash = strrchr(at.ptr, '/');
		ga_buf_truncate(&at, slash ? (size_t)(slash - at.ptr) : 0);
	}
}

/* Does the walk reach `path` at or after the directory `at`? */
static bool is_behind(const char *path, const char *at)
{
	while (*path && *path == *at) {
		path++;
		at++;
	}
	/* in it, or else compared by the names in the first directory where the two differ; one
	 * name may be the other's beginning */
	return !*at || (*at != '/' && *path != '/' && (unsigned char)*path > (unsigned char)*at) ||
	       (*at == '/' && *path && *path != '/');
}

/* Decide about one path that the agent's commits changed and the walk did not visit. */
static int decide_unvisited(struct walk *w, const struct ga_change *c, int upper, bool *ret_take,
			    struct ga_entry *ret_new)
{
	bool ignored = false;

	*ret_take = false;
	*ret_new = c->new;
	/* its present content could not be taken, but what was committed last can */
	if (is_kept_at(w, c->path) || (w->stopped_at && is_behind(c->path, w->stopped_at))) {
		*ret_take = true;
		return 0;
	}
	/* a submodule moved to another commit, or dropped: nothing else of it can be seen */
	if (c->old.mode == GA_MODE_GITLINK) {
		*ret_take = !entry_is_content(&c->new);
		return 0;
	}
	/* dropped from the index but still in the working tree: untracked, so that it is kept
	 * unless it is ignored */
	if (c->new.mode == GA_MODE_NONE) {
		if (rules_ignored(&w->overrides, c->path, &ignored, w->err))
			return -1;
		*ret_take = ignored;
		return 0;
	}
	/* an ignored file of the user that the sandbox showed, added by force */
	if (c->old.mode == GA_MODE_NONE && entry_is_content(&c->new))
		*ret_take = lies_between(w->extras_fd, upper, w->o->shared, c->path);
	return 0;
}

/* Note a .gitignore that was too long, unless the walk has done so. */
static void note_rules(struct walk *w)
{
	const uint64_t bit = (uint64_t)1 << GA_LIMIT_RULES_SIZE;
	cleanup_free char *value = ga_limit_text(w->limits, GA_LIMIT_RULES_SIZE);

	if (!w->overrides.too_long || (w->res->met & bit))
		return;
	w->res->met |= bit;
	ga_strv_pushf(&w->res->notes, "a .gitignore of the base, or of yours that is in no "
		      "commit, is too long to be read (%s: %s)",
		      ga_limit_key(GA_LIMIT_RULES_SIZE), value);
}

int add_unvisited(struct walk *w)
{
	cleanup_changes struct ga_changes diff = GA_CHANGES_INIT;
	cleanup_close int upper = -1;
	struct ga_changes *all = &w->res->changes;
	size_t met;

	ga_changes_sort(all);
	if (!w->o->tracked || ga_oid_equal(w->o->tracked, w->o->base_tree))
		return 0;
	if (ga_tree_diff(w->repo, w->o->base_tree, w->o->tracked, &diff, w->err))
		return -1;
	upper = open(w->o->upper, WALK_OPEN_FLAGS | O_DIRECTORY);
	rules_sort(&w->overrides);
	ga_strv_sort_unique(&w->kept);
	met = all->n;
	for (size_t i = 0; i < diff.n; i++) {
		const struct ga_change *c = &diff.v[i];
		/* only the sorted part is searched: each path added here comes up just once */
		struct ga_changes before = { all->v, met, met };
		struct ga_entry new;
		bool take;

		if (ga_changes_find(&before, c->path))
			continue;
		if (decide_unvisited(w, c, upper, &take, &new))
			return -1;
		if (take)
			(void)ga_changes_add(all, c->path, &c->old, &new);
	}
	ga_changes_sort(all);
	note_rules(w);
	return 0;
}
