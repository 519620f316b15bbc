/* SPDX-License-Identifier: MIT
 *
 * Clean up after a git that was killed: remove its lock files, unless another git is running in
 * this repository; and roll back its update from one commit to another. git tells, by its index,
 * which files match the new commit and which the old one; one that matches neither, nor is the
 * beginning of what git was writing, is the user's and stays.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "ga/worktree/worktree.h"

/* Is it a git process whose working directory is in the repository? Processes of other users cannot
 * be examined, nor can they hold our locks. */
static bool is_git_here(int proc, const char *pid, const struct ga_repo_info *info)
{
	cleanup_free char *comm = ga_strf("%s/comm", pid), *cwd = ga_strf("%s/cwd", pid);
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	cleanup_close int fd = openat(proc, comm, O_RDONLY | O_CLOEXEC);
	char at[PATH_MAX];
	ssize_t n;

	if (fd < 0 || ga_read_fd(fd, 64, &name, GA_IGNORED) || strncmp(name.ptr, "git", 3) != 0 ||
	    !strncmp(name.ptr, "git-agent", 9))
		return false;
	n = readlinkat(proc, cwd, at, sizeof(at) - 1);
	if (n <= 0)
		return false;
	at[n] = '\0';
	return ga_path_inside(at, info->workdir) || ga_path_inside(at, info->commondir);
}

/* `git agent` itself is started by git, perhaps by an alias. The parent is the fourth word of stat,
 * behind the name in parentheses. */
static bool is_ancestor(uint64_t pid)
{
	uint64_t at = (uint64_t)getpid();

	for (int i = 0; i < 64 && at > 1; i++) {
		cleanup_free char *file = ga_strf("/proc/%llu/stat", (unsigned long long)at);
		cleanup_free char *parent = NULL;
		cleanup_buf struct ga_buf b = GA_BUF_INIT;
		const char *end;

		if (at == pid)
			return true;
		(void)ga_read_file_at(AT_FDCWD, file, 4096, &b, GA_IGNORED);
		end = strrchr(b.ptr, ')');
		if (!end || strlen(end) < 5)
			return false;
		parent = ga_strndup(end + 4, strcspn(end + 4, " "));
		if (!ga_parse_u64(parent, UINT32_MAX, &at))
			return false;
	}
	return false;
}

/* A git from which we do not descend; 0: there is none. */
static uint64_t find_git(const struct ga_repo *r)
{
	cleanup_dir DIR *d = opendir("/proc");
	uint64_t ret = 0, pid;
	struct dirent *e;

	while (!ret && (e = ga_dir_next(d)))
		if (ga_parse_u64(e->d_name, UINT32_MAX, &pid) && !is_ancestor(pid) &&
		    is_git_here(dirfd(d), e->d_name, ga_repo_info(r)))
			ret = pid;
	return ret;
}

static bool is_younger(const struct timespec *t, const struct timespec *than)
{
	return t->tv_sec != than->tv_sec ? t->tv_sec > than->tv_sec : t->tv_nsec > than->tv_nsec;
}

static int remove_lock(const struct ga_repo *r, const struct timespec *since,
		       const char *path, struct ga_error *err)
{
	struct stat st;
	uint64_t pid;

	/* of the same time: the clock of files ticks every few milliseconds */
	if (lstat(path, &st) || is_younger(since, &st.st_ctim))
		return 0;
	pid = find_git(r);
	if (pid)
		return ga_fail(err, GA_EFATAL, "'%s' exists, and git is running here (process %llu)"
			       GA_HINT "wait until it has ended, then try again", path,
			       (unsigned long long)pid);
	if (unlink(path) && errno != ENOENT)
		return ga_fail_path(err, errno, "remove", path);
	return 0;
}

int ga_work_remove_locks(struct ga_repo *r, const struct timespec *since, struct ga_error *err)
{
	const struct ga_repo_info *info = ga_repo_info(r);
	cleanup_free char *branch = NULL, *own = NULL;
	cleanup_dir DIR *d = opendir(info->gitdir);
	struct ga_oid head;
	struct dirent *e;
	int rc = 0;

	while (!rc && (e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(info->gitdir, e->d_name);

		if (ga_ends_in(e->d_name, ".lock"))
			rc = remove_lock(r, since, path, err);
	}
	if (rc || ga_repo_head(r, &head, &branch, err) < 0)
		return -1;
	own = ga_strf("%s/%s.lock", info->commondir, branch ? branch : "HEAD");
	return remove_lock(r, since, own, err);
}

/* Add the paths that git lists, NUL-terminated. */
static int list(struct ga_repo *r, const struct ga_gitconfig *c, const char *const *args,
		struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	if (ga_work_run(r, c, args, NULL, &out, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

/* Find the changed paths whose index entry is neither the old one nor the new one: a hook or the
 * user staged something else. What a merge left unmerged is git's. */
static int find_foreign(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *from,
			const struct ga_oid *to, struct ga_strv *ret, struct ga_error *err)
{
	const char *const old[] = { "diff-index", "--cached", "--name-only", "--diff-filter=u",
				    "-z", "--no-renames", GA_HEX(from), "--", NULL };
	const char *const new[] = { "diff-index", "--cached", "--name-only", "--diff-filter=u",
				    "-z", "--no-renames", GA_HEX(to), "--", NULL };
	cleanup_strv struct ga_strv not_old = GA_STRV_INIT, not_new = GA_STRV_INIT;

	if (list(r, c, old, &not_old, err) || list(r, c, new, &not_new, err))
		return -1;
	for (size_t i = 0; i < not_old.n; i++)
		if (ga_strv_find(&not_new, not_old.v[i]) >= 0)
			ga_strv_push(ret, not_old.v[i]);
	return 0;
}

/* Add unmerged paths that are the same in both commits, next to others that git could not merge. */
static int add_unmerged(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *from,
			struct ga_changes *changes, struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--name-only", "--diff-filter=U",
				     "-z", GA_HEX(from), "--", NULL };
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	if (list(r, c, args, &paths, err))
		return -1;
	for (size_t i = 0; i < paths.n; i++) {
		struct ga_entry e;

		if (ga_changes_find(changes, paths.v[i]))
			continue;
		if (ga_tree_entry(r, from, paths.v[i], &e, err))
			return -1;
		if (e.mode == GA_MODE_TREE)
			e.mode = GA_MODE_NONE;
		(void)ga_changes_add(changes, paths.v[i], &e, &e);
		ga_changes_sort(changes);
	}
	return 0;
}

/* Give the index entries the old or the new value, what goes away before what comes, and list
 * the files that are not as their entries have them. */
static int set_index(struct ga_repo *r, const struct ga_gitconfig *c,
		     const struct ga_changes *changes, const struct ga_strv *foreign, bool old,
		     struct ga_strv *ret, struct ga_error *err)
{
	static const char *const set[] = { "update-index", "-z", "--index-info", NULL };
	static const char *const sparse[] = { "sparse-checkout", "reapply", NULL };
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	static const char *const files[] = { "diff-files", "--name-only", "-z",
					     "--ignore-submodules", NULL };
	cleanup_buf struct ga_buf gone = GA_BUF_INIT, lines = GA_BUF_INIT;

	for (size_t i = 0; i < changes->n; i++) {
		const struct ga_change *ch = &changes->v[i];
		const struct ga_entry *e = old ? &ch->old : &ch->new;
		struct ga_buf *to = e->mode ? &lines : &gone;

		if (ga_strv_find(foreign, ch->path) >= 0)
			continue;
		ga_buf_addf(to, "%o %s\t", (unsigned)e->mode, GA_HEX(&e->oid));
		ga_buf_add0(to, ch->path);
	}
	ga_buf_add(&gone, lines.ptr, lines.len);
	if ((gone.len && ga_work_run(r, c, set, &gone, NULL, err)) ||
	    /* git knows which files are not to be in the working tree */
	    (ga_gitconfig_bool(c, "core.sparsecheckout", false) &&
	     ga_work_run(r, c, sparse, NULL, NULL, err)))
		return -1;
	(void)ga_work_run(r, c, refresh, NULL, NULL, GA_IGNORED);
	return list(r, c, files, ret, err);
}

/* Are the bytes of the file a beginning of those that git was writing, or all of them? (Git takes a
 * file for modified whose filters do not give its blob.) */
static bool is_beginning(struct ga_repo *r, const struct ga_gitconfig *c, int root,
			 const char *path, const struct ga_entry *e)
{
	cleanup_work_file struct ga_work_file now = GA_WORK_FILE_INIT;
	cleanup_buf struct ga_buf whole = GA_BUF_INIT;

	return (e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC) &&
	       !ga_work_checked_out(r, c, path, &e->oid, &whole, GA_IGNORED) &&
	       ga_work_read(root, path, whole.len, &now) && S_ISREG(now.look.mode) &&
	       !memcmp(now.bytes.ptr, whole.ptr, now.bytes.len);
}

/* Remove the file if git wrote it, or add it to those that git is to write again. */
static int restore(struct ga_repo *r, const struct ga_gitconfig *c, int root,
		   const struct ga_change *ch, bool is_new, struct ga_buf *again,
		   struct ga_strv *left, struct ga_error *err)
{
	cleanup_free char *above = ga_work_file_above(root, ch->path);
	struct ga_work_stat now;

	/* git would remove a file that is above; what is in a submodule is not git's to write */
	if (above) {
		if (ch->old.mode)
			ga_strv_push(left, ch->path);
		return 0;
	}
	if (ch->old.mode == GA_MODE_GITLINK && ga_work_is_dir(root, ch->path))
		return 0;
	if (!ga_work_stat(root, ch->path, &now) ||
	    (now.mode && !is_new && !is_beginning(r, c, root, ch->path, &ch->new) &&
	     !is_beginning(r, c, root, ch->path, &ch->old)) ||
	    (!now.mode && ga_work_is_dir(root, ch->path) &&
	     ga_remove_hollow_beneath(root, ch->path))) {
		ga_strv_push(left, ch->path);
		return 0;
	}
	if (ch->old.mode)
		ga_buf_add0(again, ch->path);
	else if (now.mode)
		return ga_work_remove(root, ch->path, &now, err);
	return 0;
}

int ga_work_roll_back(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *from,
		   const struct ga_oid *to, struct ga_strv *left, struct ga_error *err)
{
	static const char *const write[] = { "checkout-index", "-f", "-q", "-u", "-z", "--stdin",
					     NULL };
	cleanup_strv struct ga_strv not_new = GA_STRV_INIT, not_old = GA_STRV_INIT;
	cleanup_strv struct ga_strv foreign = GA_STRV_INIT;
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_close int root = ga_work_open(r, err);
	cleanup_buf struct ga_buf again = GA_BUF_INIT;

	if (root < 0 || ga_tree_diff(r, from, to, &changes, err) ||
	    add_unmerged(r, c, from, &changes, err) ||
	    find_foreign(r, c, from, to, &foreign, err) ||
	    set_index(r, c, &changes, &foreign, false, &not_new, err) ||
	    ga_fault_stop("land:index-moved", err) ||
	    set_index(r, c, &changes, &foreign, true, &not_old, err) ||
	    ga_fault_stop("land:index-restored", err))
		return -1;
	/* what goes away before what comes: a file and a directory may have changed places */
	for (int comes = 0; comes < 2; comes++)
		for (size_t i = 0; i < changes.n; i++) {
			const struct ga_change *ch = &changes.v[i];
			bool is_new = ch->new.mode && ga_strv_find(&not_new, ch->path) < 0;

			if (comes != (ch->old.mode != 0))
				continue;
			if (ga_strv_find(&foreign, ch->path) >= 0)
				ga_strv_push(left, ch->path);
			else if ((!comes || ch->old.mode == GA_MODE_GITLINK ||
				  ga_strv_find(&not_old, ch->path) >= 0) &&
				 restore(r, c, root, ch, is_new, &again, left, err))
				return -1;
		}
	return again.len ? ga_work_run(r, c, write, &again, NULL, err) : 0;
}
