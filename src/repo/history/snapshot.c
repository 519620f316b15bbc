/* SPDX-License-Identifier: MIT */
#include "ga/repo/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "repo/repo-internal.h"

#define MESSAGE "uncommitted work at the start of a session\n"
#define TMP_PREFIX "index-"
#define STALE_SECONDS 86400

/* A copy of the user's index, removed with its lock when done. */
struct tmp_index {
	char *path;
};

static void tmp_index_release(struct tmp_index *t)
{
	cleanup_free char *lock = NULL;

	if (!t->path)
		return;
	lock = ga_strf("%s.lock", t->path);
	(void)unlink(t->path);
	(void)unlink(lock);
	free(t->path);
	t->path = NULL;
}

/* Remove what killed processes left. */
static void sweep(const char *dir)
{
	time_t old = time(NULL) - STALE_SECONDS;
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;

	while ((e = ga_dir_next(d)))
		if (!strncmp(e->d_name, TMP_PREFIX, strlen(TMP_PREFIX)) &&
		    !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    st.st_mtime < old && st.st_ctime < old)
			(void)unlinkat(dirfd(d), e->d_name, 0);
}

/* The copy keeps the index's own mtime: with a newer one, git would trust the
 * stat data of files changed within the second in which the index was written. */
static int copy_index(struct ga_repo *r, struct tmp_index *t, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(r->info.commondir, "git-agent");
	cleanup_free char *from = ga_path_join(r->info.gitdir, "index");
	cleanup_free char *name = NULL;
	cleanup_close int at = -1, src = -1;
	uint64_t rnd;

	sweep(dir);
	if (ga_random(&rnd, sizeof(rnd), err))
		return -1;
	name = ga_strf(TMP_PREFIX "%016llx", (unsigned long long)rnd);
	t->path = ga_path_join(dir, name);
	src = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (src < 0 && errno == ENOENT)
		return 0; /* there is none yet: git begins with an empty one */
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (src < 0 || at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot copy the index");
	return ga_copy_fd_to(src, at, name, err);
}

static void sorted_copy(struct ga_strv *to, const struct ga_strv *from)
{
	if (from)
		ga_strv_extend(to, from);
	ga_strv_sort_unique(to);
}

/* Is `path` deleted in the working tree? It counts as deleted if one of its directories is a
 * symlink now, as for git; but `update-index` refuses paths beyond a symlink. */
static bool is_gone(int worktree, const char *path)
{
	cleanup_close int fd = ga_openat_beneath(worktree, path, O_PATH | O_NOFOLLOW, 0);

	return fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
}

/* Feed `git update-index --index-info`; mode 0 removes an entry. It needs the working tree, since
 * git checks racily clean files when it writes the index. */
static int change_index(struct ga_repo *r, const char *index, const struct ga_buf *lines,
			struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	struct ga_git g = GA_GIT(.args = args, .work_tree = r->info.workdir, .index_file = index,
				 .in = lines->ptr, .in_len = lines->len);

	if (!lines->len)
		return 0;
	return ga_git_ok(r, &g, err);
}

/* Remove what is gone from the index; the rest of `paths` goes to `ret`. */
static int remove_gone(struct ga_repo *r, const struct ga_strv *paths, const char *index,
		       struct ga_strv *ret, struct ga_error *err)
{
	cleanup_close int worktree = open(r->info.workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	if (worktree < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree");
	for (size_t i = 0; i < paths->n; i++) {
		if (!is_gone(worktree, paths->v[i])) {
			ga_strv_push(ret, paths->v[i]);
			continue;
		}
		ga_buf_addf(&in, "0 %s\t", GA_HEX(&ga_oid_none));
		ga_buf_add0(&in, paths->v[i]);
	}
	return change_index(r, index, &in, err);
}

/* The refs of a start are synced, so their objects must be, which git by default leaves to the file
 * system. `batch` syncs many at once. */
static const char *const synced[] = { "core.fsync=loose-object,pack,pack-metadata",
				      "core.fsyncMethod=batch", NULL };

/* The clean filters are the user's own, and may fetch. */
static int stage_work(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_scan *s,
		      const struct ga_strv *exclude, const char *index, struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--add", "--remove", "--replace",
					    "--stdin", NULL };
	cleanup_strv struct ga_strv unindexed = GA_STRV_INIT, changed = GA_STRV_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, config = GA_STRV_INIT;
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .work_tree = r->info.workdir, .index_file = index,
				 .lazy_fetch = true);

	sorted_copy(&unindexed, &s->unindexed);
	for (size_t i = 0; i < s->changed.n; i++)
		if (ga_strv_find(&unindexed, s->changed.v[i]) < 0 &&
		    ga_strv_find(exclude, s->changed.v[i]) < 0)
			ga_strv_push(&changed, s->changed.v[i]);
	if (remove_gone(r, &changed, index, &paths, err))
		return -1;
	for (size_t i = 0; i < s->untracked.n; i++)
		if (ga_strv_find(exclude, s->untracked.v[i]) < 0)
			ga_strv_push(&paths, s->untracked.v[i]);
	ga_strv_sort_unique(&paths);
	for (size_t i = 0; i < paths.n; i++)
		ga_buf_add0(&in, paths.v[i]);
	if (!in.len)
		return 0;
	for (size_t i = 0; synced[i]; i++)
		ga_strv_push(&config, synced[i]);
	if (c)
		ga_gitconfig_push_filters(c, r->info.workdir, &config);
	g.config = (const char *const *)config.v;
	g.in = in.ptr;
	g.in_len = in.len;
	return ga_git_ok(r, &g, err);
}

/* Restore HEAD's entries at the excluded paths, whatever was staged there. */
static int restore_excluded(struct ga_repo *r, const struct ga_scan *s,
			    const struct ga_strv *exclude, const struct ga_oid *head,
			    const char *index, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	struct ga_oid tree;

	if (!exclude->n)
		return 0;
	if (head && ga_commit_tree(r, head, &tree, err))
		return -1;
	for (size_t i = 0; i < s->changed.n; i++) {
		struct ga_entry e = { GA_MODE_NONE, ga_oid_none };

		if (ga_strv_find(exclude, s->changed.v[i]) < 0)
			continue;
		if (head && ga_tree_entry(r, &tree, s->changed.v[i], &e, err))
			return -1;
		ga_buf_addf(&in, "%06o %s\t", e.mode == GA_MODE_TREE ? 0 : e.mode,
			    GA_HEX(&e.oid));
		ga_buf_add0(&in, s->changed.v[i]);
	}
	return change_index(r, index, &in, err);
}

static int write_tree(struct ga_repo *r, const char *index, struct ga_oid *ret,
		      struct ga_error *err)
{
	static const char *const args[] = { "write-tree", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .index_file = index, .config = synced, .out = &out);

	if (ga_git_ok(r, &g, err))
		return -1;
	ga_buf_chomp(&out);
	if (!ga_oid_parse(out.ptr, out.len, ret))
		return ga_fail(err, GA_EFATAL, "git write-tree printed no object id");
	return 0;
}

static int commit(struct ga_repo *r, const struct ga_oid *tree, const struct ga_oid *head,
		  struct ga_oid *ret, struct ga_error *err)
{
	cleanup_free char *who = NULL;
	char message[] = MESSAGE, extra[] = "";
	struct ga_oid parent;
	struct ga_commit c = { .tree = *tree, .extra = extra, .message = message };

	if (ga_repo_signature(r, NULL, time(NULL), &who, err))
		return -1;
	c.author = c.committer = who;
	if (head) {
		parent = *head;
		c.parents = &parent;
		c.n_parents = 1;
	}
	return ga_commit_write(r, &c, ret, err);
}

static int snapshot(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_scan *s,
		    const struct ga_oid *head, const struct ga_strv *exclude, struct ga_oid *ret,
		    struct ga_error *err)
{
	cleanup_(tmp_index_release) struct tmp_index t = { NULL };
	struct ga_oid tree, old;

	if (copy_index(r, &t, err) || stage_work(r, c, s, exclude, t.path, err) ||
	    restore_excluded(r, s, exclude, head, t.path, err) ||
	    write_tree(r, t.path, &tree, err))
		return -1;
	if (head) {
		if (ga_commit_tree(r, head, &old, err))
			return -1;
		if (ga_oid_equal(&tree, &old)) {
			*ret = *head;
			return 0;
		}
	}
	return ga_private_adopt(r, head ? &old : NULL, &tree, err) ||
	       commit(r, &tree, head, ret, err) ? -1 : 0;
}

int ga_snapshot_commit(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_scan *s,
		       const struct ga_oid *head, const struct ga_strv *exclude, struct ga_oid *ret,
		       struct ga_error *err)
{
	cleanup_strv struct ga_strv sorted = GA_STRV_INIT;

	sorted_copy(&sorted, exclude);
	if (snapshot(r, c, s, head, &sorted, ret, err))
		return ga_error_wrap(err, "cannot snapshot the uncommitted work");
	return 0;
}
