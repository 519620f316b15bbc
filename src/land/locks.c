/* SPDX-License-Identifier: MIT
 *
 * The lock on landings in a working tree, and lock files of a git that was killed while it
 * landed or undid something. These are removed only if they are younger than the landing, and no
 * git that could hold them is running in this repository. /
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "landing.h"

/* Is it a process of git's whose working directory is the repository's? Of processes of other users
 * nothing can be told; they cannot hold our locks either. */
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

/* The parent of a process, from the fourth word of its stat, behind the name in parentheses; 0. */
static uint64_t parent_of(uint64_t pid)
{
	cleanup_free char *file = ga_strf("/proc/%llu/stat", (unsigned long long)pid), *word = NULL;
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	const char *end;
	uint64_t ret = 0;

	if (fd < 0 || ga_read_fd(fd, 4096, &b, &ignored))
		return 0;
	end = strrchr(b.ptr, ')');
	if (!end || strlen(end) < 5)
		return 0;
	word = ga_strndup(end + 4, strcspn(end + 4, " "));
	return ga_parse_u64(word, UINT32_MAX, &ret) ? ret : 0;
}

/* `git agent` itself is started by git, perhaps by an alias. */
static bool is_ancestor(uint64_t pid)
{
	uint64_t at = (uint64_t)getpid();

	for (int i = 0; i < 64 && at > 1; i++, at = parent_of(at))
		if (at == pid)
			return true;
	return false;
}

/* Returns the process's number, 0 if there is none. */
static uint64_t find_git(const struct ga_repo_info *info)
{
	DIR *d = opendir("/proc");
	uint64_t ret = 0, pid;
	struct dirent *e;

	while (d && !ret && (e = readdir(d)))
		if (ga_parse_u64(e->d_name, UINT32_MAX, &pid) && !is_ancestor(pid) &&
		    is_git_here(dirfd(d), e->d_name, info))
			ret = pid;
	if (d)
		(void)closedir(d);
	return ret;
}

static bool is_younger(const struct timespec *t, const struct timespec *than)
{
	return t->tv_sec != than->tv_sec ? t->tv_sec > than->tv_sec : t->tv_nsec > than->tv_nsec;
}

static int remove_lock(const struct ga_repo_info *info, const struct timespec *since,
		       const char *path, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);
	struct stat st;
	uint64_t pid;

	if (lstat(path, &st) || !is_younger(&st.st_ctim, since))
		return 0;
	pid = find_git(info);
	if (pid) {
		(void)ga_fail(err, GA_EFATAL, "'%s' exists, and git is running here (process %llu)",
			      q, (unsigned long long)pid);
		return ga_hint(err, "wait until it has ended, then try again");
	}
	if (unlink(path) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", q);
	return 0;
}

static int remove_locks(struct ga_repo *r, const struct timespec *since, struct ga_error *err)
{
	const struct ga_repo_info *info = ga_repo_info(r);
	cleanup_free char *branch = NULL, *own = NULL;
	DIR *d = opendir(info->gitdir);
	struct ga_oid head;
	struct dirent *e;
	int rc = 0;

	while (d && !rc && (e = readdir(d))) {
		cleanup_free char *path = ga_path_join(info->gitdir, e->d_name);
		size_t n = strlen(e->d_name);

		if (n > 5 && !strcmp(e->d_name + n - 5, ".lock"))
			rc = remove_lock(info, since, path, err);
	}
	if (d)
		(void)closedir(d);
	if (rc || ga_repo_head(r, &head, &branch, err) < 0)
		return -1;
	own = ga_strf("%s/%s.lock", info->commondir, branch ? branch : "HEAD");
	return remove_lock(info, since, own, err);
}

static char *marker(const struct ga_repo *r)
{
	return ga_path_join(ga_repo_info(r)->gitdir, "git-agent/landing/running");
}

int land_remove_locks(struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *file = marker(r);
	struct stat st;

	return stat(file, &st) ? 0 : remove_locks(r, &st.st_mtim, err);
}

/* A landing was killed here: is the git that worked on it still running? */
static int check_ended(const struct ga_repo *r, const char *file, struct ga_error *err)
{
	cleanup_record struct record rec = RECORD_INIT;
	int rc = access(file, F_OK) ? 1 : record_read(r, &rec, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	return record_check_ended(&rec, err);
}

int land_lock(struct ga_repo *r, struct land_lock *ret, struct ga_error *err)
{
	cleanup_free char *file = marker(r), *dir = ga_path_parent(file);
	cleanup_close int fd = open(ga_repo_info(r)->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the git directory");
	rc = ga_flock(fd, true, false, err);
	if (rc > 0) {
		(void)ga_fail(err, GA_EFATAL, "another 'git agent land' is running in this working "
			      "tree");
		return ga_hint(err, "wait for it to finish");
	}
	if (rc || check_ended(r, file, err) || land_remove_locks(r, err) ||
	    ga_mkdir_p(dir, 0700, err))
		return -1;
	if ((unlink(file) && errno != ENOENT) || ga_write_new(AT_FDCWD, file, "", 0, 0600, err))
		return err->msg ? -1 : ga_fail_errno(err, GA_EFATAL, errno, "cannot write '%s'",
						     file);
	ret->repo = r;
	ret->fd = ga_steal_fd(&fd);
	ret->marker = ga_steal(&file);
	return 0;
}

void land_unlock(struct land_lock *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	if (l->failed)
		(void)land_remove_locks(l->repo, &ignored);
	if (l->marker)
		(void)unlink(l->marker);
	free(l->marker);
	ga_cleanup_closep(&l->fd);
}
