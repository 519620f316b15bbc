/* SPDX-License-Identifier: MIT */
#include "repo/repo-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/snapshot.h"
#include "ga/sys/fd.h"

#define CACHE_MAGIC "git-agent scan 2"
#define CACHE_MAX ((size_t)256 << 20)
#define OUTPUT_MAX ((size_t)4 << 30)

void ga_scan_release(struct ga_scan *s)
{
	ga_strv_release(&s->changed);
	ga_strv_release(&s->unindexed);
	ga_strv_release(&s->untracked);
	ga_strv_release(&s->ignored_dirs);
	ga_strv_release(&s->ignored_files);
	ga_strv_release(&s->submodules);
	ga_strv_release(&s->skipped);
}

struct scan {
	struct ga_scan *ret;
	const char *gitdir; /* ga_repo_gitdir_inside() */
	uint64_t max_untracked;
	bool ignored_only;
	bool look;         /* for display only: unmerged paths are fine */
	int workdir;
};

static void skip(struct ga_scan *s, const char *path, const char *why)
{
	ga_strv_pushf(&s->skipped, "%s: %s", GA_QUOTED(path), why);
}

/* The path after `n` space-separated fields, which may have any bytes; NULL if there is none. */
static const char *after_fields(const char *rec, unsigned n)
{
	while (n--) {
		rec = strchr(rec, ' ');
		if (!rec)
			return NULL;
		rec++;
	}
	return *rec ? rec : NULL;
}

/* Why git cannot read it as content; NULL if it can, or if it is gone, and `*st` zero. */
static const char *unreadable_reason(const struct scan *sc, const char *path, struct stat *st)
{
	*st = (struct stat){ 0 };
	if (fstatat(sc->workdir, path, st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT || errno == ENOTDIR ? NULL : "cannot be examined";
	if (S_ISLNK(st->st_mode) || S_ISDIR(st->st_mode))
		return NULL;
	if (!S_ISREG(st->st_mode))
		return "neither a file nor a symbolic link";
	return faccessat(sc->workdir, path, R_OK, AT_EACCESS) ? "cannot be read" : NULL;
}

static void add_changed(struct scan *sc, const char *xy, const char *path)
{
	struct stat st;
	const char *why = unreadable_reason(sc, path, &st);

	if (why) {
		skip(sc->ret, path, why);
		return;
	}
	ga_strv_push(&sc->ret->changed, path);
	if (xy[0] == 'D' && xy[1] == '.')
		ga_strv_push(&sc->ret->unindexed, path);
}

static void add_untracked(struct scan *sc, const char *path)
{
	cleanup_free char *dir = ga_strndup(path, strlen(path) - 1), *large = NULL;
	struct stat st;
	const char *why = unreadable_reason(sc, path, &st);

	if (path[strlen(path) - 1] == '/') {
		skip(sc->ret, dir, "a repository of its own");
		return;
	}
	if (!why && S_ISREG(st.st_mode) && (uint64_t)st.st_size > sc->max_untracked)
		why = large = ga_strf("untracked and larger than %llu bytes",
				      (unsigned long long)sc->max_untracked);
	if (why)
		skip(sc->ret, path, why);
	else
		ga_strv_push(&sc->ret->untracked, path);
}

static void add_ignored(struct ga_scan *s, const char *path)
{
	size_t n = strlen(path);

	if (path[n - 1] == '/')
		ga_strv_push_n(&s->ignored_dirs, path, n - 1);
	else
		ga_strv_push(&s->ignored_files, path);
}

/* Add one record of porcelain v2. Headers ("# ...") are not asked for. */
static int add_record(struct scan *sc, const char *rec, struct ga_error *err)
{
	const char *path = *rec == '?' || *rec == '!' ? after_fields(rec, 1) : NULL;

	if (path && sc->gitdir && ga_path_inside(path, sc->gitdir))
		return 0;
	if (sc->ignored_only && *rec != '!')
		return 0;
	switch (*rec) {
	case '1':
		path = after_fields(rec, 8);
		if (path)
			add_changed(sc, rec + 2, path);
		break;
	case 'u':
		path = after_fields(rec, 10);
		if (path && !sc->look)
			return ga_fail(err, GA_EFATAL, "'%s' has a conflict that is not resolved"
				       GA_HINT "resolve it, or start with --dirty ignore", path);
		if (path)
			ga_strv_push(&sc->ret->changed, path);
		break;
	case '?':
		if (path)
			add_untracked(sc, path);
		break;
	case '!':
		if (path)
			add_ignored(sc->ret, path);
		break;
	default:
		break;
	}
	if (!path)
		return ga_fail(err, GA_EFATAL, "git status printed something unknown");
	return 0;
}

static int find_submodules(struct ga_repo *r, struct scan *sc, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	if (ga_repo_gitlinks(r, &paths, err))
		return -1;
	for (size_t i = 0; i < paths.n; i++) {
		cleanup_free char *git = ga_path_join(paths.v[i], ".git");

		if (!faccessat(sc->workdir, git, F_OK, AT_SYMLINK_NOFOLLOW))
			ga_strv_push(&sc->ret->submodules, paths.v[i]);
	}
	return 0;
}

/* ---- scanning ------------------------------------------------------------- */

static int run_status(struct ga_repo *r, struct ga_buf *out, struct ga_error *err)
{
	static const char *const args[] = { "status", "-z", "--porcelain=v2",
					    "--untracked-files=all", "--ignored=matching",
					    "--no-renames",
					    "--ignore-submodules=dirty", NULL };
	/* the user's untracked cache saves reading directories; it is not written */
	static const char *const config[] = { "core.untrackedCache=keep", NULL };
	struct ga_git g = GA_GIT(.args = args, .config = config, .work_tree = r->info.workdir,
				 .out = out, .out_max = OUTPUT_MAX);

	if (ga_git_ok(r, &g, err))
		return ga_error_wrap(err, "cannot check for uncommitted work");
	return 0;
}

/* Fill sc->ret, which stays empty after a failure. */
static int scan(struct ga_repo *r, struct scan *sc, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	cleanup_close int workdir = open(r->info.workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *gitdir = ga_repo_gitdir_inside(r);
	const char *rec;
	size_t pos = 0;
	int rc;

	if (workdir < 0)
		return ga_fail_path(err, errno, "open", r->info.workdir);
	sc->workdir = workdir;
	sc->gitdir = gitdir;
	rc = run_status(r, &out, err);
	while (!rc && (rec = ga_buf_next0(&out, &pos)))
		rc = add_record(sc, rec, err);
	if (rc || find_submodules(r, sc, err)) {
		ga_scan_release(sc->ret);
		return -1;
	}
	return 0;
}

int ga_scan_worktree(struct ga_repo *r, uint64_t max_untracked, struct ga_scan *ret,
		     struct ga_error *err)
{
	struct scan sc = { .ret = ret, .max_untracked = max_untracked };
	const char *op = ga_repo_operation(r);

	if (op && strcmp(op, "bisect"))
		return ga_fail(err, GA_EFATAL, "%s %s is in progress"
			       GA_HINT "finish or abort it, or start with --dirty ignore",
			       ga_repo_operation_article(op), op);
	return scan(r, &sc, err);
}

int ga_scan_show(struct ga_repo *r, struct ga_scan *ret, struct ga_error *err)
{
	struct scan sc = { .ret = ret, .max_untracked = UINT64_MAX, .look = true };

	return scan(r, &sc, err);
}

/* ---- the cache ------------------------------------------------------------- */

/* A repository has one state directory for all its working trees, so the file is named after a hash
 * of the path of the working tree, and contains that path. */
static char *cache_path(const struct ga_repo *r, const char *state_dir)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (const char *p = r->info.workdir; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	return ga_strf("%s/scan-%016llx", state_dir, (unsigned long long)h);
}

static void add_list(struct ga_buf *b, char tag, const struct ga_strv *sv)
{
	for (size_t i = 0; i < sv->n; i++) {
		ga_buf_addch(b, tag);
		ga_buf_add0(b, sv->v[i]);
	}
}

int ga_scan_cache_store(struct ga_repo *r, const char *state_dir, const struct ga_scan *s,
			struct ga_error *err)
{
	cleanup_free char *path = cache_path(r, state_dir);
	cleanup_buf struct ga_buf b = GA_BUF_INIT, old = GA_BUF_INIT;

	ga_buf_add0(&b, CACHE_MAGIC);
	ga_buf_add0(&b, r->info.workdir);
	add_list(&b, 'd', &s->ignored_dirs);
	add_list(&b, 'f', &s->ignored_files);
	add_list(&b, 's', &s->submodules);
	ga_buf_add0(&b, "end");
	/* writing costs two syncs, so not if nothing changed */
	if (!ga_read_file_at(AT_FDCWD, path, CACHE_MAX, &old, GA_IGNORED) && ga_buf_equal(&old, &b))
		return 0;
	return ga_write_atomic(AT_FDCWD, path, b.ptr, b.len, 0600, err);
}

static bool load_cache(const struct ga_repo *r, const char *state_dir, struct ga_scan *ret)
{
	cleanup_free char *path = cache_path(r, state_dir);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_close int workdir = -1;
	const char *magic, *dir, *rec;
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, path, CACHE_MAX, &b, GA_IGNORED))
		return false;
	magic = ga_buf_next0(&b, &pos);
	dir = ga_buf_next0(&b, &pos);
	workdir = open(r->info.workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!magic || strcmp(magic, CACHE_MAGIC) || !dir || strcmp(dir, r->info.workdir) ||
	    workdir < 0)
		return false;
	while ((rec = ga_buf_next0(&b, &pos))) {
		struct ga_strv *to = *rec == 'd'   ? &ret->ignored_dirs
				     : *rec == 'f' ? &ret->ignored_files
						   : &ret->submodules;
		struct stat st;

		if (!strcmp(rec, "end"))
			return true;
		if (!fstatat(workdir, rec + 1, &st, AT_SYMLINK_NOFOLLOW) &&
		    (*rec == 'f') == !S_ISDIR(st.st_mode))
			ga_strv_push(to, rec + 1);
	}
	return false; /* no "end": it was cut short */
}

/* List submodules, none of which may be missed: it would be an empty directory for the agent. The
 * index is only read if there may be submodules. */
static int refresh_submodules(struct ga_repo *r, struct scan *sc, struct ga_error *err)
{
	cleanup_close int workdir = open(r->info.workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	sc->workdir = workdir;
	if (!sc->ret->submodules.n && faccessat(workdir, ".gitmodules", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	ga_strv_release(&sc->ret->submodules);
	return find_submodules(r, sc, err);
}

int ga_scan_ignored(struct ga_repo *r, const char *state_dir, struct ga_scan *ret,
		    struct ga_error *err)
{
	struct scan sc = { .ret = ret, .ignored_only = true };
	struct stat st;

	if (load_cache(r, state_dir, ret))
		return refresh_submodules(r, &sc, err);
	ga_scan_release(ret);
	if (scan(r, &sc, err))
		return -1;
	/* a dry run has no state directory to keep it in */
	return !stat(state_dir, &st) && ga_scan_cache_store(r, state_dir, ret, err) ? -1 : 0;
}
