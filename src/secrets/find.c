/* SPDX-License-Identifier: MIT */
#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define FIRST_BYTES 8000 /* as many as git looks at to tell text from what is not */
#define LINES_MAX ((size_t)16 << 20) /* bytes of a file compared apart from its line ends */

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

size_t finder_raise(struct finder *f, const char *path, const struct ga_secret *s,
		    enum ga_exposed_as as)
{
	struct ga_exposure *x = f->ret;

	for (; f->n_at < x->n; f->n_at++)
		ga_strmap_add(&f->at, x->v[f->n_at].path, strlen(x->v[f->n_at].path),
			      (uint32_t)f->n_at);
	for (int32_t i = ga_strmap_first(&f->at, path, strlen(path)); i >= 0;
	     i = f->at.nodes[i].next) {
		struct ga_exposed *e = &x->v[f->at.nodes[i].value];

		/* the committed version of a path and the one in the working tree are two things */
		if ((e->as == GA_EXPOSED_COMMITTED && !e->clear) != (as == GA_EXPOSED_COMMITTED))
			continue;
		if (e->secret.tier < s->tier)
			e->secret = *s;
		return f->at.nodes[i].value;
	}
	secrets_add(x, path, s, as);
	return x->n - 1;
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

struct ga_secret_names *finder_names(struct finder *f)
{
	if (!f->names)
		f->names = ga_secret_names_new(f->o->add, f->o->allow);
	return f->names;
}

/* Read what is looked at of a file. If only its content could make it a secret, one that is long,
 * or binary by its first bytes, is not read. */
static bool read_file(struct finder *f, int fd, const struct stat *st,
		      const struct ga_secret_name *name)
{
	bool any = name->text && !name->content;

	/* all of it at once: a buffer that grows leaves copies behind */
	(void)ga_buf_reserve(&f->content, GA_SECRET_LOOK_MAX);
	if (any && ((uint64_t)st->st_size > GA_SECRET_LOOK_MAX ||
		    ga_read_most(fd, FIRST_BYTES, &f->content) ||
		    ga_secret_is_binary(f->content.ptr, f->content.len)))
		return false;
	return !ga_read_most(fd, GA_SECRET_LOOK_MAX - f->content.len, &f->content);
}

void finder_judge(struct finder *f, const char *path, const struct stat *st, const char *as,
		  const struct ga_secret_name *name, struct ga_secret *ret,
		  struct ga_secret_marks *ret_marks)
{
	cleanup_close int fd = -1;
	struct stat now;

	if (name->content || name->text)
		fd = ga_openat_beneath(f->work, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	ga_buf_clear(&f->content);
	/* what cannot be read here may be readable inside: assume the worst */
	if (fd < 0 || fstat(fd, &now) || now.st_ino != st->st_ino ||
	    !read_file(f, fd, st, name)) {
		*ret_marks = (struct ga_secret_marks){ .bits = 0 };
		ga_secret_judge(name, as, NULL, ret);
		return;
	}
	if (name->content)
		ga_secret_look(as, f->content.ptr, f->content.len, ret_marks);
	else
		ga_secret_look_forms(as, f->content.ptr, f->content.len, ret_marks);
	ga_secret_judge(name, as, ret_marks, ret);
	explicit_bzero(f->content.ptr, f->content.len);
}

static void look_at(struct finder *f, const char *path, const struct stat *st,
		    enum ga_exposed_as as)
{
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s;

	finder_note_links(f, st, path, as);
	if (!secrets_cache_file(&f->cache, path, st, &s)) {
		if (!ga_secret_any(finder_names(f), path, &name))
			return;
		finder_judge(f, path, st, path, &name, &s, &marks);
	}
	/* the new cache starts empty, so what came from the old one is added too */
	secrets_cache_add_file(&f->cache, path, st, &s);
	finder_note_twin(f, st, &s);
	if (s.tier != GA_TIER_NONE)
		secrets_add(f->ret, path, &s, as);
}

/* Look at the path itself, through no link; false: it cannot be. */
static bool look(const struct finder *f, const char *path, struct stat *ret)
{
	cleanup_close int fd = ga_openat_beneath(f->work, path, O_PATH | O_NOFOLLOW, 0);

	return fd >= 0 && !fstat(fd, ret);
}

void finder_entry(struct finder *f, const char *path, const struct stat *st, enum ga_exposed_as as)
{
	if (S_ISREG(st->st_mode))
		look_at(f, path, st, as);
	else if (S_ISLNK(st->st_mode) && ga_secret_named_link(finder_names(f), path))
		finder_note_link(f, &f->links, path);
}

void finder_file(struct finder *f, const char *path, enum ga_exposed_as as)
{
	struct stat st;

	if (look(f, path, &st))
		finder_entry(f, path, &st, as);
}

void finder_filtered(struct finder *f, const char *path)
{
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s;
	struct stat st;

	if (!look(f, path, &st) || !S_ISREG(st.st_mode) ||
	    !ga_secret_named(finder_names(f), path, &name))
		return;
	finder_judge(f, path, &st, path, &name, &s, &marks);
	/* still encrypted in the working tree, and so in base trees too */
	if (s.tier == GA_TIER_NONE || marks.bits & GA_MARK_FILTERED)
		return;
	finder_note_twin(f, &st, &s);
	secrets_add(f->ret, path, &s, GA_EXPOSED_COMMITTED);
	f->ret->v[f->ret->n - 1].clear = true;
}

/* ---- tracked files with changes ------------------------------------------------------- */

/* Are they the same text apart from CRLF and LF? */
static bool same_lines(const struct ga_buf *a, const struct ga_buf *b)
{
	size_t i = 0, k = 0;

	for (;; i++, k++) {
		i += i + 1 < a->len && a->ptr[i] == '\r' && a->ptr[i + 1] == '\n';
		k += k + 1 < b->len && b->ptr[k] == '\r' && b->ptr[k + 1] == '\n';
		if (i == a->len || k == b->len)
			return i == a->len && k == b->len;
		if (a->ptr[i] != b->ptr[k])
			return false;
	}
}

bool finder_is_committed(struct finder *f, const char *path, const struct ga_oid *oid,
			 const struct finder_version *here, const struct finder_version *there)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf a = GA_BUF_INIT, b = GA_BUF_INIT;
	cleanup_close int fd = -1;
	bool same;

	if (there->secret.tier >= here->secret.tier &&
	    ga_secret_within(&here->marks, &there->marks))
		return true;
	fd = ga_openat_beneath(f->work, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	same = fd >= 0 && !ga_read_fd(fd, LINES_MAX, &a, &ignored) &&
	       !ga_blob_read(f->o->repo, oid, LINES_MAX, &b, &ignored) && same_lines(&a, &b);
	explicit_bzero(a.ptr, a.len);
	explicit_bzero(b.ptr, b.len);
	return same;
}

/* A changed tracked file. A secret that the committed version has too was counted there. */
static int changed_file(struct finder *f, const char *path, struct ga_error *err)
{
	struct finder_version here, there;
	struct ga_secret_name name;
	struct ga_entry e = { .mode = GA_MODE_NONE };
	struct stat st;

	if (!look(f, path, &st))
		return 0;
	if (S_ISLNK(st.st_mode) && ga_secret_named_link(finder_names(f), path))
		finder_note_link(f, &f->links, path);
	if (!S_ISREG(st.st_mode) || !ga_secret_any(finder_names(f), path, &name))
		return 0;
	finder_note_links(f, &st, path, GA_EXPOSED_MODIFIED);
	here.secret.tier = GA_TIER_BLOCK;
	if (!secrets_cache_file(&f->cache, path, &st, &here.secret) || here.secret.tier)
		finder_judge(f, path, &st, path, &name, &here.secret, &here.marks);
	if (here.secret.tier == GA_TIER_NONE) {
		secrets_cache_add_file(&f->cache, path, &st, &here.secret);
		return 0;
	}
	if (f->o->tree && ga_tree_entry(f->o->repo, f->o->tree, path, &e, err))
		return -1;
	if (e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC) {
		finder_blob(f, path, &e.oid, &name, &there.secret, &there.marks);
		if (finder_is_committed(f, path, &e.oid, &here, &there))
			return 0;
	}
	finder_note_twin(f, &st, &here.secret);
	secrets_add(f->ret, path, &here.secret, GA_EXPOSED_MODIFIED);
	return 0;
}

/* Tracked files that `git update-index --assume-unchanged` or `--skip-worktree` keeps git from
 * looking at: "ls-files -v" gives them a lower-case letter or "S". */
static int find_unwatched(struct finder *f, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-vz", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *rec;
	size_t pos = 0;
	struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(f->o->repo)->workdir,
				 .out = &out);

	if (ga_git_ok(f->o->repo, &g, err))
		return -1;
	while ((rec = ga_buf_next0(&out, &pos))) {
		if ((*rec != 'S' && (*rec < 'a' || *rec > 'z')) || rec[1] != ' ')
			continue;
		if (changed_file(f, rec + 2, err))
			return -1;
	}
	return 0;
}

/* What only a session over the working tree itself sees: repositories inside it, and files too
 * large to be carried into another session. */
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

void finder_release(struct finder *f)
{
	ga_secret_names_free(f->names);
	ga_buf_release(&f->content);
	free(f->gitdir);
	ga_strv_release(&f->links);
	ga_strv_release(&f->tree_links);
	ga_oidmap_release(&f->blob_at[0]);
	ga_oidmap_release(&f->blob_at[1]);
	ga_strmap_release(&f->at);
	for (size_t i = 0; i < f->n_linked; i++)
		free(f->linked[i].path);
	free(f->linked);
	free(f->twins);
	free(f->blobs);
}

int ga_exposure_find(const struct ga_exposure_opts *o, struct ga_exposure *ret,
		     struct ga_error *err)
{
	const char *workdir = ga_repo_info(o->repo)->workdir;
	cleanup_close int work = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct finder f = { .o = o, .ret = ret, .work = work, .content = GA_BUF_INIT,
			    .left = FINDER_READ_MAX, .gitdir = ga_repo_gitdir_inside(o->repo) };
	int rc = 0;

	if (work < 0)
		return ga_fail_path(err, errno, "open", workdir);
	secrets_cache_open(&f.cache, o);
	if (o->tree)
		rc = finder_tree(&f, o->tree, err);
	if (!rc && o->scan)
		rc = find_work(&f, o->scan, err);
	if (!rc)
		rc = finder_links(&f, err);
	if (!rc)
		finder_twins(&f);
	secrets_cache_close(&f.cache);
	finder_release(&f);
	return rc ? ga_error_wrap(err, "cannot look for secrets") : 0;
}
