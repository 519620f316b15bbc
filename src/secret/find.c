/* SPDX-License-Identifier: MIT
 *
 * Search for secrets in the commit, the working tree, and the targets of symlinks.
 */
#include "secret-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

/* ---- what links lead to ---- */

#define HOPS_MAX 40 /* the kernel's limit: no program gets further */
#define TEXT_MAX 4096
#define LOOK_COST 4096     /* bytes charged for each file on top of its size */
#define BENEATH_MAX 100000 /* entries visited below one link */

/* A symlink and its target directory. */
struct way {
	struct finder_walk walk;
	bool tree; /* the commit's version of a path comes before the working tree's */
	const char *link, *dir;
	const struct ga_strmap *places; /* what sessions are shown of the working tree */
	struct ga_error *err;
};

/* The target of the symlink at an absolute path; NULL: not a symlink of the project. */
static char *read_link(void *arg, const char *full)
{
	const struct way *w = arg;
	const struct ga_exposure_opts *o = w->walk.f->o;
	const char *path = ga_path_below(full, ga_repo_info(o->repo)->workdir);
	cleanup_buf struct ga_buf blob = GA_BUF_INIT;
	struct ga_entry e = { .mode = GA_MODE_NONE };
	char text[TEXT_MAX];
	ssize_t n;

	if (!path || !*path ||
	    (w->tree && o->tree && ga_tree_entry(o->repo, o->tree, path, &e, GA_IGNORED)))
		return NULL;
	if (e.mode == GA_MODE_LINK)
		return ga_blob_read(o->repo, &e.oid, sizeof(text) - 1, &blob, GA_IGNORED)
			       ? NULL : ga_buf_steal(&blob);
	if (e.mode != GA_MODE_NONE)
		return NULL;
	n = readlinkat(w->walk.f->work, path, text, sizeof(text) - 1);
	return n > 0 ? ga_strndup(text, (size_t)n) : NULL;
}

/* The target of `link` in the project; NULL: outside. */
static char *follow(struct way *w, const char *link)
{
	struct finder *f = w->walk.f;
	const char *top = ga_repo_info(f->o->repo)->workdir, *to;
	cleanup_free char *full = ga_path_join(top, link), *end = NULL;

	if (ga_now_ms() >= f->until) {
		f->ret->incomplete = true;
		return NULL;
	}
	end = ga_path_follow(full, HOPS_MAX, read_link, w);
	to = end ? ga_path_below(end, top) : NULL;
	return to && ga_path_relative_ok(to) && !ga_path_names_dotgit(to) ? ga_strdup(to) : NULL;
}

/* Is `path`, or a directory above it, in the map? */
static bool find_place(const struct ga_strmap *m, const char *path, enum ga_exposed_as *ret)
{
	for (size_t n = strlen(path); n; n--) {
		int32_t i = !path[n] || path[n] == '/' ? ga_strmap_first(m, path, n) : -1;

		if (i >= 0) {
			*ret = (enum ga_exposed_as)m->nodes[i].value;
			return true;
		}
	}
	return false;
}

struct target {
	const char *link, *path;
	struct ga_secret_name name;  /* of the link */
	bool tracked;
	struct ga_oid oid;           /* of the committed version, if `tracked` ... */
	struct finder_version there; /* ... and what is in it */
};

/* Is the committed version encrypted by a git filter? */
static bool is_locked(const struct target *t)
{
	return t->tracked && t->there.secret.bits & GA_MARK_FILTERED;
}

static int look_at_committed(struct finder *f, struct target *t, struct ga_error *err)
{
	struct ga_entry e;

	if (!f->o->tree)
		return 0;
	if (ga_tree_entry(f->o->repo, f->o->tree, t->path, &e, err))
		return -1;
	t->tracked = e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC;
	if (!t->tracked)
		return 0;
	t->oid = e.oid;
	finder_blob(f, t->link, &e.oid, &t->name, &t->there.secret, &t->there.marks);
	if (t->there.secret.tier != GA_TIER_NONE && !is_locked(t))
		(void)finder_raise(f, t->path, &t->there.secret, GA_EXPOSED_COMMITTED);
	return 0;
}

/* Judge the file by its content while `f->left` lasts, then by its name: the worst. */
static void judge_target(struct finder *f, const struct target *t, const struct stat *st,
			 struct finder_version *ret)
{
	uint64_t size = (uint64_t)st->st_size < GA_SECRET_SCAN_MAX ? (uint64_t)st->st_size
								   : GA_SECRET_SCAN_MAX;

	if (f->left < size + LOOK_COST) {
		f->ret->incomplete = true;
		ret->marks = (struct ga_secret_marks){ .bits = 0 };
		ga_secret_judge(&t->name, t->link, NULL, &ret->secret);
		return;
	}
	f->left -= size + LOOK_COST;
	finder_judge(f, t->path, st, t->link, &t->name, &ret->secret, &ret->marks);
}

static void look_at_file(struct finder *f, const struct target *t, enum ga_exposed_as as)
{
	bool locked = is_locked(t);
	struct finder_version here;
	struct stat st;
	size_t i;

	if (!finder_stat(f, t->path, &st) || !S_ISREG(st.st_mode))
		return;
	judge_target(f, t, &st, &here);
	if (here.secret.tier == GA_TIER_NONE || (locked && here.marks.bits & GA_MARK_FILTERED))
		return;
	if (t->tracked && !locked && finder_is_committed(f, t->path, &t->oid, &here, &t->there))
		return;
	finder_note_linked(f, &st, NULL, as, &here.secret);
	i = finder_raise(f, t->path, &here.secret, t->tracked ? GA_EXPOSED_MODIFIED : as);
	/* git decrypted it here, so it decrypts it in base trees too */
	if (locked) {
		f->ret->v[i].as = GA_EXPOSED_COMMITTED;
		f->ret->v[i].clear = true;
	}
}

/* Judge the file `to`, which can also be opened as `link`. */
static int look_at_target(const struct way *w, const char *link, const char *to)
{
	struct finder *f = w->walk.f;
	enum ga_exposed_as as = GA_EXPOSED_UNTRACKED;
	struct target t = { .link = link, .path = to };

	if (!ga_secret_named(finder_names(f), link, &t.name))
		return 0;
	if (look_at_committed(f, &t, w->err))
		return -1;
	/* sessions see nothing of the other files in the working tree */
	if (find_place(w->places, to, &as) || is_locked(&t))
		look_at_file(f, &t, as);
	return 0;
}

/* A link to a directory gives every file below that directory a second path: if ".ssh" leads to
 * "keys", then "keys/work" can be opened as ".ssh/work" too, and is judged by that name. The link
 * itself is not a secret, even if its name is a secret file's: a directory cannot be read as a
 * file. */

/* Judge the file or link at `rest` below the directory. */
static int check_target(struct way *w, const char *rest, bool is_link)
{
	struct finder *f = w->walk.f;
	cleanup_free char *as = ga_path_join(w->link, rest), *to = NULL;
	struct ga_secret_name name;

	if (!ga_secret_named(finder_names(f), as, &name))
		return 0;
	to = is_link ? follow(w, as) : ga_path_join(w->dir, rest);
	return to ? look_at_target(w, as, to) : 0;
}

/* Search the committed directory. */
static int look_through_tree(struct way *w)
{
	const struct ga_exposure_opts *o = w->walk.f->o;
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_entry e;

	if (!o->tree)
		return 0;
	if (ga_tree_entry(o->repo, o->tree, w->dir, &e, w->err))
		return -1;
	if (e.mode != GA_MODE_TREE)
		return 0;
	if (ga_tree_list(o->repo, &e.oid, BENEATH_MAX, &all, w->err)) {
		ga_error_release(w->err);
		w->walk.f->ret->incomplete = true;
		return 0;
	}
	for (size_t i = 0; i < all.n && finder_has_room(&w->walk); i++)
		if (all.v[i].new.mode != GA_MODE_GITLINK &&
		    check_target(w, all.v[i].path, all.v[i].new.mode == GA_MODE_LINK))
			return -1;
	return 0;
}

/* Search the directory in the working tree. */
static int search_below(struct finder_walk *walk, const char *path, const struct stat *st)
{
	struct way *w = (struct way *)walk;

	if (ga_path_names_dotgit(path) || (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode)))
		return 0;
	return check_target(w, ga_path_below(path, w->dir), S_ISLNK(st->st_mode));
}

/* Judge the target of a link with a secret's name, or all files below a target directory. With
 * `tree`, the commit's version of a path comes before the working tree's. `places`: what sessions
 * are shown of the working tree. */
static int follow_link(struct finder *f, const char *link, bool tree,
		       const struct ga_strmap *places, struct ga_error *err)
{
	struct way w = {
		.walk = { .f = f, .left = BENEATH_MAX, .all = true, .entry = search_below },
		.tree = tree,
		.link = link,
		.places = places,
		.err = err,
	};
	cleanup_free char *to = follow(&w, link);

	w.dir = to;
	return to && (look_at_target(&w, link, to) || look_through_tree(&w) ||
		      finder_walk(&w.walk, to)) ? -1 : 0;
}

#define WAYS_MS 3000   /* for the links in the working tree, and again for those of the commit */

static int look_at_entry(struct finder_walk *w, const char *path, const struct stat *st)
{
	finder_entry(w->f, path, st, GA_EXPOSED_IGNORED);
	return 0;
}

/* An ignored directory of the user, which sessions share. */
static void search_shared_dir(struct finder *f, const char *dir)
{
	struct finder_walk w = { .f = f, .left = SIZE_MAX, .all = f->o->all_dirs,
				 .entry = look_at_entry };

	(void)finder_walk(&w, dir);
}

/* A changed tracked file. A secret that the committed version has too was counted there. */
static int changed_file(struct finder *f, const char *path, struct ga_error *err)
{
	struct finder_version here, there;
	struct ga_secret_name name;
	struct ga_entry e = { .mode = GA_MODE_NONE };
	struct stat st;

	if (!finder_stat(f, path, &st))
		return 0;
	if (S_ISLNK(st.st_mode) && ga_secret_named_link(finder_names(f), path))
		finder_note_link(f, &f->links, path);
	if (!S_ISREG(st.st_mode) || !ga_secret_any(finder_names(f), path, &name))
		return 0;
	finder_note_linked(f, &st, path, GA_EXPOSED_MODIFIED, NULL);
	here.secret.tier = GA_TIER_BLOCK;
	if (!secret_cache_file(&f->cache, path, &st, &here.secret) || here.secret.tier)
		finder_judge(f, path, &st, path, &name, &here.secret, &here.marks);
	if (here.secret.tier == GA_TIER_NONE) {
		secret_cache_add_file(&f->cache, path, &st, &here.secret);
		return 0;
	}
	if (f->o->tree && ga_tree_entry(f->o->repo, f->o->tree, path, &e, err))
		return -1;
	if (e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC) {
		finder_blob(f, path, &e.oid, &name, &there.secret, &there.marks);
		if (finder_is_committed(f, path, &e.oid, &here, &there))
			return 0;
	}
	finder_note_linked(f, &st, NULL, GA_EXPOSED_MODIFIED, &here.secret);
	secret_add(f->ret, path, &here.secret, GA_EXPOSED_MODIFIED);
	return 0;
}

static int search_worktree(struct finder *f, const struct ga_scan *scan, struct ga_error *err)
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
			search_shared_dir(f, scan->ignored_dirs.v[i]);
	return 0;
}

static void add_places(struct ga_strmap *m, const struct ga_strv *paths, enum ga_exposed_as as)
{
	for (size_t i = 0; i < paths->n; i++)
		ga_strmap_add(m, paths->v[i], strlen(paths->v[i]), as);
}

/* What sessions are shown of the working tree besides what is committed. */
static void list_places(const struct ga_exposure_opts *o, struct ga_strmap *ret)
{
	if (!o->scan)
		return;
	add_places(ret, &o->scan->changed, GA_EXPOSED_MODIFIED);
	add_places(ret, &o->scan->untracked, GA_EXPOSED_UNTRACKED);
	add_places(ret, &o->scan->ignored_files, GA_EXPOSED_IGNORED);
	add_places(ret, &o->scan->ignored_dirs, GA_EXPOSED_IGNORED);
}

static bool is_link_here(struct finder *f, const char *path)
{
	char c;

	return readlinkat(f->work, path, &c, sizeof(c)) > 0;
}

static int follow_links(struct finder *f, const struct ga_strv *links, bool tree,
			const struct ga_strmap *places, struct ga_error *err)
{
	for (size_t i = 0; i < links->n; i++)
		if ((tree || is_link_here(f, links->v[i])) &&
		    follow_link(f, links->v[i], tree, places, err))
			return -1;
	return 0;
}

static int find_by_links(struct finder *f, struct ga_error *err)
{
	cleanup_strmap struct ga_strmap places = GA_STRMAP_INIT;

	if (!f->links.n && !f->tree_links.n)
		return 0;
	list_places(f->o, &places);
	/* the user's links first: somebody's commit may have any number of links that take long */
	f->until = ga_now_ms() + WAYS_MS;
	if (follow_links(f, &f->links, false, &places, err) ||
	    follow_links(f, &f->tree_links, false, &places, err))
		return -1;
	f->until = ga_now_ms() + WAYS_MS;
	return follow_links(f, &f->tree_links, true, &places, err);
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
	secret_cache_open(&f.cache, o);
	if (o->tree)
		rc = finder_tree(&f, o->tree, err);
	if (!rc && o->scan)
		rc = search_worktree(&f, o->scan, err);
	if (!rc)
		rc = find_by_links(&f, err);
	if (!rc)
		finder_find_hardlinks(&f);
	secret_cache_close(&f.cache);
	finder_release(&f);
	return rc ? ga_error_wrap(err, "cannot look for secrets") : 0;
}
