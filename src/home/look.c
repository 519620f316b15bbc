/* SPDX-License-Identifier: MIT
 *
 * Measure the agents' home. Agents can make it deep and full, so the walk is bounded in both; it
 * holds one descriptor for each level.
 */
#include <sys/sysmacros.h>

#include "home-internal.h"

#define DEPTH_MAX 256
#define CHANGES_MAX 100000

/* Caches of toolchains and package managers. */
static const char *const caches[] = {
	".cache", ".npm", ".cargo", ".rustup", ".gradle", ".m2", ".ccache", ".bun", ".deno",
	".yarn", ".pnpm-store", ".local/agent", ".local/share/pnpm", ".local/share/uv", ".nuget",
	".ivy2", ".sbt", "go",
};

struct walk {
	int (*visit)(struct walk *w, int at, const char *name, const char *rel,
		     const struct stat *st, struct ga_error *err);
	unsigned depth;
	uint64_t unreadable;
	struct ga_home_sizes *sizes;
	const struct ga_presets *own;
	struct ga_strv *changes;
	uint64_t since;
	int lower; /* lower directory of a layer */
};

static int walk(struct walk *w, int at, const char *rel, struct ga_error *err);

static int enter(struct walk *w, int at, const char *name, const char *rel, struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(at, name, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0 || w->depth >= DEPTH_MAX) {
		w->unreadable++;
		return 0;
	}
	w->depth++;
	rc = walk(w, fd, rel, err);
	w->depth--;
	return rc;
}

static int walk(struct walk *w, int at, const char *rel, struct ga_error *err)
{
	cleanup_dir DIR *d = ga_dir_of(fcntl(at, F_DUPFD_CLOEXEC, 3));
	struct dirent *e;
	int rc = 0;

	if (!d)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the agents' home");
	while (!rc && (e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(rel, e->d_name);
		struct stat st;

		if (fstatat(at, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		rc = w->visit(w, at, e->d_name, path, &st, err);
		if (rc > 0)
			rc = 0;
		else if (!rc && S_ISDIR(st.st_mode))
			rc = enter(w, at, e->d_name, path, err);
	}
	return rc;
}

static int open_home(const char *dir, struct ga_error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? fd : ga_fail_path(err, errno, "open", dir);
}

static const char *part_of(const struct ga_presets *own, const char *rel)
{
	const struct ga_preset *p;

	for (size_t i = 0; (p = ga_preset_at(own, i)) != NULL; i++)
		if (ga_path_within(rel, p->state))
			return p->name;
	for (size_t i = 0; i < GA_NELEMS(caches); i++)
		if (ga_path_inside(rel, caches[i]))
			return "caches";
	return "other";
}

static int add_size(struct walk *w, int at, const char *name, const char *rel,
		    const struct stat *st, struct ga_error *err)
{
	struct ga_home_sizes *s = w->sizes;
	const char *part;
	size_t i;

	(void)at, (void)err;
	if (S_ISDIR(st->st_mode) || !strcmp(name, GA_PLAN_MARKER))
		return 0;
	part = part_of(w->own, rel);
	for (i = 0; i < s->n && strcmp(s->v[i].name, part) != 0; i++)
		;
	if (i == s->n) {
		if (s->n == GA_HOME_PARTS_MAX)
			GA_BUG("more agents than parts of a home");
		s->v[s->n++] = (struct ga_home_part){ .name = part };
	}
	s->v[i].files++;
	s->v[i].bytes += (uint64_t)st->st_blocks * 512;
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	const struct ga_home_part *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

int ga_home_measure(const char *dir, const struct ga_presets *own, struct ga_home_sizes *ret,
		    struct ga_error *err)
{
	struct walk w = { .visit = add_size, .sizes = ret, .own = own };
	cleanup_close int fd = -1;

	*ret = (struct ga_home_sizes){ 0 };
	if (access(dir, F_OK))
		return 1;
	fd = open_home(dir, err);
	if (fd < 0 || walk(&w, fd, "", err))
		return -1;
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_bytes);
	ret->unreadable = w.unreadable;
	return 0;
}

static int add_change(struct walk *w, char how, const char *rel, struct ga_error *err)
{
	if (w->changes->n == CHANGES_MAX)
		return ga_fail(err, GA_EFATAL, "more than %d changes in the agents' home",
			       CHANGES_MAX);
	ga_strv_pushf(w->changes, "%s%c", rel, how);
	return 0;
}

static int compare_time(struct walk *w, int at, const char *name, const char *rel,
			const struct stat *st, struct ga_error *err)
{
	(void)at;
	if (S_ISDIR(st->st_mode) || !strcmp(name, GA_PLAN_MARKER) ||
	    (uint64_t)st->st_ctim.tv_sec < w->since)
		return 0;
	return add_change(w, 'M', rel, err);
}

/* Classify an entry of an overlay's upper layer: removed (a whiteout), added or modified. */
static int compare_layer(struct walk *w, int at, const char *name, const char *rel,
			 const struct stat *st, struct ga_error *err)
{
	cleanup_close int beneath = ga_openat_beneath(w->lower, rel, O_PATH, 0);
	bool was = beneath >= 0 || errno == ELOOP;

	(void)at;
	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
		return add_change(w, 'D', rel, err);
	if (S_ISDIR(st->st_mode) || !strcmp(name, GA_PLAN_MARKER))
		return 0;
	return add_change(w, was ? 'M' : 'A', rel, err);
}

/* Changes were added as PATH and letter, to be sorted by path: move the letter to the front. */
static void finish(struct ga_strv *changes)
{
	ga_strv_sort_unique(changes);
	for (size_t i = 0; i < changes->n; i++) {
		char *s = changes->v[i];
		size_t n = strlen(s) - 1;
		char how = s[n];

		memmove(s + 1, s, n);
		s[0] = how;
	}
}

int ga_home_changes(const char *dir, uint64_t since, struct ga_strv *ret, struct ga_error *err)
{
	struct walk w = { .visit = compare_time, .changes = ret, .since = since };
	cleanup_close int fd = open_home(dir, err);

	if (fd < 0 || walk(&w, fd, "", err))
		return -1;
	finish(ret);
	return 0;
}

int ga_home_layer_changes(const char *upper, const char *lower, struct ga_strv *ret,
			  struct ga_error *err)
{
	struct walk w = { .visit = compare_layer, .changes = ret, .lower = -1 };
	cleanup_close int fd = open_home(upper, err), beneath = fd < 0 ? -1 : open_home(lower, err);

	w.lower = beneath;
	if (fd < 0 || beneath < 0 || walk(&w, fd, "", err))
		return -1;
	finish(ret);
	return 0;
}
