/* SPDX-License-Identifier: MIT */
#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"

/* ---- values ------------------------------------------------------------------- */

void ga_exposure_release(struct ga_exposure *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i].path);
	free(x->v);
	*x = (struct ga_exposure)GA_EXPOSURE_INIT;
}

static int worse(const void *a, const void *b)
{
	const struct ga_exposed *x = a, *y = b;

	if (x->secret.tier != y->secret.tier)
		return x->secret.tier > y->secret.tier ? -1 : 1;
	if (strcmp(x->path, y->path))
		return strcmp(x->path, y->path);
	return x->as < y->as ? -1 : x->as > y->as;
}

void ga_exposure_sort(struct ga_exposure *x)
{
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), worse);
}

void secrets_add(struct ga_exposure *x, const char *path, const struct ga_secret *s,
		 enum ga_exposed_as as)
{
	GA_GROW(x->v, x->n, x->cap);
	x->v[x->n++] = (struct ga_exposed){ .path = ga_strdup(path), .secret = *s, .as = as,
					    .view = GA_VIEW_SEEN };
}

const char *ga_exposed_name(enum ga_exposed_as as)
{
	static const char *const names[] = { "committed", "modified", "untracked", "ignored",
					     "history", "config" };

	return names[as];
}

const char *ga_view_name(enum ga_exposed_view v)
{
	static const char *const names[] = { "seen", "masked", "absent" };

	return names[v];
}

static bool is_exposed(const char *path, const struct ga_strv *expose)
{
	for (size_t i = 0; expose && i < expose->n; i++)
		if (ga_path_inside(path, expose->v[i]))
			return true;
	return false;
}

void ga_exposure_mask(struct ga_exposure *x, const struct ga_strv *expose)
{
	for (size_t i = 0; i < x->n; i++) {
		struct ga_exposed *e = &x->v[i];
		bool loose = e->as == GA_EXPOSED_MODIFIED || e->as == GA_EXPOSED_UNTRACKED ||
			     e->as == GA_EXPOSED_IGNORED || e->clear;

		if (loose && e->view == GA_VIEW_SEEN && e->secret.tier == GA_TIER_BLOCK &&
		    !is_exposed(e->path, expose))
			e->view = GA_VIEW_MASKED;
	}
}

/* ---- one file ------------------------------------------------------------------- */

bool finder_named(struct finder *f, const char *path, struct ga_secret_name *ret)
{
	if (!f->names)
		f->names = ga_secret_names_new(f->o->add, f->o->allow);
	return ga_secret_named(f->names, path, ret);
}

/* Its beginning. False if it could not be read. */
static bool read_head(struct finder *f, int fd)
{
	size_t got = 0;
	char *at;

	ga_buf_clear(&f->content);
	at = ga_buf_reserve(&f->content, GA_SECRET_LOOK_MAX);
	while (got < GA_SECRET_LOOK_MAX) {
		ssize_t n = read(fd, at + got, GA_SECRET_LOOK_MAX - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (!n)
			break;
		got += (size_t)n;
	}
	f->content.len = got;
	return true;
}

/* Judge the file at `path`, a regular one (`st`), by `name`. */
static void judge(struct finder *f, const char *path, const struct stat *st,
		  const struct ga_secret_name *name, struct ga_secret *ret,
		  struct ga_secret_marks *marks)
{
	cleanup_close int fd = -1;
	struct stat now;

	if (name->content)
		fd = ga_openat_beneath(f->work, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	/* what cannot be read here may be readable inside: the worst is assumed */
	if (fd < 0 || fstat(fd, &now) || now.st_ino != st->st_ino || !read_head(f, fd)) {
		ga_secret_judge(name, path, NULL, ret);
		return;
	}
	ga_secret_look(f->content.ptr, f->content.len, marks);
	ga_secret_judge(name, path, marks, ret);
	explicit_bzero(f->content.ptr, f->content.len);
}

/* Where a link leads, as a path of the working tree: by its text alone, as the file may be a link
 * again, which is not followed. NULL: nowhere in it. */
static char *target_of(struct finder *f, const char *path)
{
	cleanup_free char *at = ga_path_parent(path), *to = NULL;
	char text[4096];
	ssize_t n = readlinkat(f->work, path, text, sizeof(text) - 1);

	if (n <= 0)
		return NULL;
	text[n] = '\0';
	if (text[0] == '/') {
		const char *rel = ga_path_below(text, ga_repo_info(f->o->repo)->workdir);

		return rel && ga_path_relative_ok(rel) ? ga_strdup(rel) : NULL;
	}
	for (char *p = text, *save = NULL, *w; (w = strtok_r(p, "/", &save)); p = NULL) {
		char *next;

		if (!strcmp(w, "."))
			continue;
		if (!strcmp(w, "..") && !*at)
			return NULL;
		next = strcmp(w, "..") ? ga_path_join(at, w) : ga_path_parent(at);
		free(at);
		at = next;
	}
	return ga_path_relative_ok(at) ? ga_steal(&at) : NULL;
}

static void look_at(struct finder *f, const char *path, const struct ga_secret_name *name,
		    const struct stat *st, enum ga_exposed_as as)
{
	struct ga_secret_marks marks;
	struct ga_secret s;

	if (!secrets_cache_file(&f->cache, path, st, &s))
		judge(f, path, st, name, &s, &marks);
	secrets_cache_add_file(&f->cache, path, st, &s);
	finder_note_twin(f, st, &s);
	if (s.tier != GA_TIER_NONE)
		secrets_add(f->ret, path, &s, as);
}

/* The file a link of a secret's name leads to is secret under its own name. */
static void look_at_link(struct finder *f, const char *path, const struct ga_secret_name *name,
			 enum ga_exposed_as as)
{
	cleanup_free char *to = target_of(f, path);
	cleanup_close int fd = -1;
	struct ga_secret_marks marks;
	struct ga_secret_name own;
	struct ga_secret s;
	struct stat st;

	if (!to || finder_named(f, to, &own) || ga_path_names_dotgit(to))
		return;
	fd = ga_openat_beneath(f->work, to, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	/* two names may lead to one file, and the cache knows files by one */
	judge(f, to, &st, name, &s, &marks);
	finder_note_twin(f, &st, &s);
	if (s.tier != GA_TIER_NONE)
		secrets_add(f->ret, to, &s, as);
}

void finder_file(struct finder *f, const char *path, enum ga_exposed_as as)
{
	cleanup_close int fd = -1;
	struct ga_secret_name name;
	struct stat st;

	if (!finder_named(f, path, &name))
		return;
	fd = ga_openat_beneath(f->work, path, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0 || fstat(fd, &st))
		return;
	if (S_ISREG(st.st_mode))
		look_at(f, path, &name, &st, as);
	else if (S_ISLNK(st.st_mode))
		look_at_link(f, path, &name, as);
}

void finder_filtered(struct finder *f, const char *path)
{
	cleanup_close int fd = ga_openat_beneath(f->work, path, O_PATH | O_NOFOLLOW, 0);
	struct ga_secret_marks marks = { .bits = 0 };
	struct ga_secret_name name;
	struct ga_secret s;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !finder_named(f, path, &name))
		return;
	judge(f, path, &st, &name, &s, &marks);
	/* locked here, so it is in base trees */
	if (s.tier == GA_TIER_NONE || marks.bits & GA_MARK_FILTERED)
		return;
	secrets_add(f->ret, path, &s, GA_EXPOSED_COMMITTED);
	f->ret->v[f->ret->n - 1].clear = true;
}

/* ---- tracked, and changed ----------------------------------------------------------- */

/* What is new in a tracked file: a secret that the commit has as well is the commit's. */
static int changed_file(struct finder *f, const char *path, struct ga_error *err)
{
	cleanup_close int fd = -1;
	struct ga_secret_marks here = { .bits = 0 }, there;
	struct ga_secret_name name;
	struct ga_secret s, old;
	struct ga_entry e = { .mode = GA_MODE_NONE };
	struct stat st;

	if (!finder_named(f, path, &name))
		return 0;
	fd = ga_openat_beneath(f->work, path, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	judge(f, path, &st, &name, &s, &here);
	if (s.tier == GA_TIER_NONE)
		return 0;
	if (f->o->tree && ga_tree_entry(f->o->repo, f->o->tree, path, &e, err))
		return -1;
	if (e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC) {
		finder_blob(f, path, &e.oid, &name, &old, &there);
		if (old.tier >= s.tier && ga_secret_within(&here, &there))
			return 0;
	}
	finder_note_twin(f, &st, &s);
	secrets_add(f->ret, path, &s, GA_EXPOSED_MODIFIED);
	return 0;
}

/* Tracked files that git does not look at: `update-index --assume-unchanged`, `--skip-worktree`. */
static int find_unwatched(struct finder *f, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-vz", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *rec;
	size_t pos = 0;

	g.args = args;
	g.work_tree = ga_repo_info(f->o->repo)->workdir;
	g.out = &out;
	if (ga_git_ok(f->o->repo, &g, err))
		return -1;
	while ((rec = ga_buf_next0(&out, &pos)))
		if ((*rec == 'S' || (*rec >= 'a' && *rec <= 'z')) && rec[1] == ' ' &&
		    changed_file(f, rec + 2, err))
			return -1;
	return 0;
}

/* What only a session over the working tree itself sees: repositories in it, files too large to be
 * carried. */
static int find_apart(struct finder *f, const struct ga_strv *paths, struct ga_error *err)
{
	struct stat st;

	for (size_t i = 0; i < paths->n; i++) {
		if (fstatat(f->work, paths->v[i], &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISDIR(st.st_mode))
			finder_file(f, paths->v[i], GA_EXPOSED_UNTRACKED);
		else
			finder_walk(f, paths->v[i]);
	}
	return find_unwatched(f, err);
}

static int find_work(struct finder *f, const struct ga_scan *scan, struct ga_error *err)
{
	for (size_t i = 0; i < scan->changed.n; i++)
		if (changed_file(f, scan->changed.v[i], err))
			return -1;
	for (size_t i = 0; i < scan->untracked.n; i++)
		finder_file(f, scan->untracked.v[i], GA_EXPOSED_UNTRACKED);
	for (size_t i = 0; i < scan->ignored_files.n; i++)
		finder_file(f, scan->ignored_files.v[i], GA_EXPOSED_IGNORED);
	for (size_t i = 0; i < scan->ignored_dirs.n; i++)
		if (f->o->all_dirs || !ga_exposure_skips(ga_path_base(scan->ignored_dirs.v[i])))
			finder_walk(f, scan->ignored_dirs.v[i]);
	return f->o->live ? find_apart(f, &scan->apart, err) : 0;
}

int ga_exposure_find(const struct ga_exposure_opts *o, struct ga_exposure *ret,
		     struct ga_error *err)
{
	const char *workdir = ga_repo_info(o->repo)->workdir;
	cleanup_close int work = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct finder f = { .o = o, .ret = ret, .work = work, .content = GA_BUF_INIT };
	int rc = 0;

	if (work < 0) {
		cleanup_free char *q = ga_escape(workdir);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", q);
	}
	secrets_cache_open(&f.cache, o);
	if (o->tree)
		rc = finder_tree(&f, o->tree, err);
	if (!rc && o->scan)
		rc = find_work(&f, o->scan, err);
	if (!rc && o->scan)
		finder_twins(&f, o->scan);
	secrets_cache_close(&f.cache);
	ga_secret_names_free(f.names);
	ga_buf_release(&f.content);
	free(f.twins);
	return rc ? ga_error_wrap(err, "cannot look for secrets") : 0;
}
