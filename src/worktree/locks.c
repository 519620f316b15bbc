/* SPDX-License-Identifier: MIT
 *
 * Lock files of a git that was killed. They are removed only if no git that could hold them is
 * running in this repository.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/worktree/work.h"

/* Is it a process of git's whose working directory is the repository's? Processes of other
 * users cannot be examined; they cannot hold our locks either. */
static bool is_git_here(int proc, const char *pid, const struct ga_repo_info *info)
{
	cleanup_free char *comm = ga_strf("%s/comm", pid), *cwd = ga_strf("%s/cwd", pid);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	cleanup_close int fd = openat(proc, comm, O_RDONLY | O_CLOEXEC);
	char at[PATH_MAX];
	ssize_t n;

	if (fd < 0 || ga_read_fd(fd, 64, &name, &ignored) || strncmp(name.ptr, "git", 3) != 0 ||
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
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_buf struct ga_buf b = GA_BUF_INIT;
		const char *end;

		if (at == pid)
			return true;
		(void)ga_read_file_at(AT_FDCWD, file, 4096, &b, &ignored);
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
	cleanup_free char *q = ga_escape(path);
	struct stat st;
	uint64_t pid;

	/* of the same time: the clock of files ticks every few milliseconds */
	if (lstat(path, &st) || is_younger(since, &st.st_ctim))
		return 0;
	pid = find_git(r);
	if (pid) {
		(void)ga_fail(err, GA_EFATAL, "'%s' exists, and git is running here (process %llu)",
			      q, (unsigned long long)pid);
		return ga_hint(err, "wait until it has ended, then try again");
	}
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
