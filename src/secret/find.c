/* SPDX-License-Identifier: MIT
 *
 * The search: what is committed, then the working tree, then what links lead to.
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

#define WAYS_MS 3000   /* for the links in the working tree, and again for those of the commit */

static int look_at_entry(struct finder_walk *w, const char *path, const struct stat *st)
{
	finder_entry(w->f, path, st, GA_EXPOSED_IGNORED);
	return 0;
}

/* An ignored directory of the user, which sessions share. */
static void look_through(struct finder *f, const char *dir)
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
			look_through(f, paths->v[i]);
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
			look_through(f, scan->ignored_dirs.v[i]);
	return f->o->live ? find_apart(f, &scan->apart, err) : 0;
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
	if (o->live)
		add_places(ret, &o->scan->apart, GA_EXPOSED_UNTRACKED);
}

static bool is_link_here(struct finder *f, const char *path)
{
	char c;

	return readlinkat(f->work, path, &c, sizeof(c)) > 0;
}

static int look_at_all(struct finder *f, const struct ga_strv *links, bool tree,
		       const struct ga_strmap *places, struct ga_error *err)
{
	for (size_t i = 0; i < links->n; i++)
		if ((tree || is_link_here(f, links->v[i])) &&
		    finder_follow(f, links->v[i], tree, places, err))
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
	if (look_at_all(f, &f->links, false, &places, err) ||
	    look_at_all(f, &f->tree_links, false, &places, err))
		return -1;
	f->until = ga_now_ms() + WAYS_MS;
	return look_at_all(f, &f->tree_links, true, &places, err);
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
		rc = find_work(&f, o->scan, err);
	if (!rc)
		rc = find_by_links(&f, err);
	if (!rc)
		finder_twins(&f);
	secret_cache_close(&f.cache);
	finder_release(&f);
	return rc ? ga_error_wrap(err, "cannot look for secrets") : 0;
}
