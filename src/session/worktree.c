/* SPDX-License-Identifier: MIT
 *
 * Manage a session's worktree entry in the repository's git directory, and remove stale locks of
 * its refs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

#define ASK_AGAIN 5     /* times, 10 ms apart */
#define MAX_LINK 8192 /* bytes of a gitdir file */

/* The content of the entry's `gitdir`. The directory it names never exists: `git worktree repair`
 * and `remove` leave a missing working tree alone. */
static char *gitdir_line(const struct ga_session *s)
{
	return ga_strf("%s/worktree/.git\n", s->dir);
}

/* Returns 1 if the entry is ours, 0 if there is none, 2 if it is another's. */
static int owner_of(int fd, const char *name, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(name, "gitdir"), *want = gitdir_line(s);
	cleanup_buf struct ga_buf have = GA_BUF_INIT;
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno == ENOENT)
			return 0;
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot stat 'worktrees/%s'", name);
	}
	/* `gitdir` is written last: an entry without it was not completed. git makes entries under
	 * another name's lock, we make ours under this session's */
	if (!S_ISDIR(st.st_mode))
		return 2;
	if (fstatat(fd, file, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 1 : 2;
	if (ga_read_file_at(fd, file, MAX_LINK, &have, GA_IGNORED))
		return 2;
	/* empty after a power cut; git's own entries never are */
	return have.len && strcmp(have.ptr, want) ? 2 : 1;
}

/* Write a file without syncing it, as git does: a missing entry is made again. */
static int put(int dir, const char *name, const char *text, struct ga_error *err)
{
	return ga_write_new(dir, name, text, strlen(text), 0666, err);
}

int ga_worktree_entry_create(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_join(ga_repo_info(r)->commondir, "worktrees");
	cleanup_free char *name = ga_strf("agent-%s", s->name), *link = gitdir_line(s);
	cleanup_free char *path = ga_path_join(parent, name);
	cleanup_free char *head = ga_strf("ref: %s\n", s->id.branch);
	cleanup_close int fd = -1, dir = -1;
	int rc;

	if (mkdir(parent, 0777) && errno != EEXIST)
		return ga_fail_path(err, errno, "create", parent);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", parent);
	rc = owner_of(fd, name, s, err);
	if (rc < 0)
		return -1;
	if (rc == 2)
		return ga_fail(err, GA_EFATAL, "a linked working tree '%s' exists already"
			       GA_HINT "choose another name for the session", name);
	if (rc && ga_rmtree_at(fd, name, err))
		return -1;
	if (mkdirat(fd, name, 0777))
		return ga_fail_path(err, errno, "create", path);
	dir = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ga_fail_path(err, errno, "open", path);
	/* first `locked`: `git worktree prune` removes entries that are incomplete and not locked;
	 * last `gitdir`: git ignores entries without it */
	if (put(dir, "locked", "a git-agent session is using it\n", err) ||
	    put(dir, "commondir", "../..\n", err) || put(dir, "HEAD", head, err))
		return -1;
	return put(dir, "gitdir", link, err);
}

int ga_worktree_add(const char *gitdir, const char *name, const char *tree, const char *head,
		    struct ga_error *err)
{
	cleanup_free char *all = ga_path_join(gitdir, "worktrees");
	cleanup_free char *entry = ga_path_join(all, name);
	cleanup_free char *aside = ga_path_join(gitdir, "new-XXXXXX");
	cleanup_free char *commit = ga_strf("%s\n", head), *to = ga_strf("%s/.git\n", tree);
	cleanup_free char *from = ga_strf("gitdir: %s\n", entry);
	cleanup_close int dir = -1, top = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top < 0 || !mkdtemp(aside))
		return ga_fail_path(err, errno, "write", top < 0 ? tree : gitdir);
	dir = open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || ga_mkdir_p(all, 0700, err))
		return dir < 0 ? ga_fail_path(err, errno, "open", aside) : -1;
	if (put(dir, "HEAD", commit, err) || put(dir, "commondir", "../..\n", err) ||
	    put(dir, "gitdir", to, err) || put(top, ".git", from, err))
		return -1;
	return rename(aside, entry) ? ga_fail_path(err, errno, "create", entry) : 0;
}

/* Remove first what git looks at: it ignores what is left if the rest cannot be removed. */
static int remove_entry(int fd, const char *name, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(name, "gitdir");

	if (unlinkat(fd, file, 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove 'worktrees/%s'", file);
	return ga_rmtree_at(fd, name, err);
}

int ga_worktree_entry_remove(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_join(ga_repo_info(r)->commondir, "worktrees");
	cleanup_free char *name = ga_strf("agent-%s", s->name);
	cleanup_close int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : ga_fail_path(err, errno, "open", parent);
	rc = owner_of(fd, name, s, err);
	if (rc != 1)
		return rc < 0 ? -1 : 0;
	if (remove_entry(fd, name, err))
		return -1;
	/* as git does: the directory goes with the last entry; usually it is not empty */
	(void)rmdir(parent);
	return 0;
}

/* Will a rebase or a bisection in this git dir return to the branch? git records the branch's name
 * there, while HEAD is detached. */
static bool is_in_use(const char *gitdir, const char *branch)
{
	static const char *const files[] = { "rebase-merge/head-name", "rebase-apply/head-name",
					     "BISECT_START" };

	for (size_t i = 0; i < GA_NELEMS(files); i++) {
		cleanup_free char *path = ga_path_join(gitdir, files[i]);
		cleanup_error struct ga_error none = GA_ERROR_INIT;
		cleanup_buf struct ga_buf b = GA_BUF_INIT;

		if (ga_read_file_at(AT_FDCWD, path, MAX_LINK, &b, &none))
			continue;
		ga_buf_chomp(&b);
		if (!strcmp(b.ptr, branch) || !strcmp(b.ptr, branch + strlen("refs/heads/")))
			return true;
	}
	return false;
}

void ga_worktree_gitdirs(const struct ga_repo *r, struct ga_strv *ret)
{
	const char *common = ga_repo_info(r)->commondir;
	cleanup_free char *parent = ga_path_join(common, "worktrees");
	cleanup_dir DIR *d = opendir(parent);
	struct dirent *e;

	ga_strv_push(ret, common);
	while ((e = ga_dir_next(d)))
		ga_strv_pushf(ret, "%s/%s", parent, e->d_name);
}

static int check_operations(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_strv struct ga_strv gitdirs = GA_STRV_INIT;

	ga_worktree_gitdirs(r, &gitdirs);
	for (size_t i = 0; i < gitdirs.n; i++) {
		if (!is_in_use(gitdirs.v[i], s->id.branch))
			continue;
		return ga_fail(err, GA_EFATAL, "a rebase or bisection of branch 'agent/%s' is "
			       "in progress"
			       GA_HINT "finish or abort it first", s->name);
	}
	return 0;
}

/* The working tree in which the branch is checked out, if any. Git fails if an entry of another
 * session, or their directory, goes away while it reads them. */
static int ask_where(struct ga_repo *r, const struct ga_session *s, struct ga_buf *ret,
		     struct ga_error *err)
{
	const char *const args[] =
		{ "for-each-ref", "--format=%(worktreepath)", s->id.branch, NULL };
	int rc;
	struct ga_git g = GA_GIT(.args = args, .out = ret);

	for (int i = 0; (rc = ga_git_ok(r, &g, err)) && i < ASK_AGAIN; i++) {
		ga_error_release(err);
		ga_buf_clear(ret);
		(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return rc;
}

int ga_worktree_check_free(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (ask_where(r, s, &out, err))
		return -1;
	ga_buf_chomp(&out);
	/* the session's own entry, whose working tree does not exist */
	if (!out.len || ga_path_inside(out.ptr, s->dir))
		return check_operations(r, s, err);
	return ga_fail(err, GA_EFATAL, "branch 'agent/%s' is checked out in '%s'"
		       GA_HINT "switch to another branch there first", s->name, out.ptr);
}

/* git holds the lock of a ref for some milliseconds. */
#define STALE_S 1
#define DEPTH_MAX 64

static bool is_there(int at, const char *path, struct stat *ret)
{
	return !fstatat(at, path, ret, AT_SYMLINK_NOFOLLOW) && S_ISREG(ret->st_mode);
}

/* Remove a lock file that is old, or becomes old without a change: its owner has died. */
static void clear(int at, const char *path, const struct ga_session *s)
{
	struct timespec now, wait = { .tv_sec = STALE_S };
	struct stat was, is;
	json_t *j;

	if (!is_there(at, path, &was))
		return;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec >= was.st_ctim.tv_sec && now.tv_sec - was.st_ctim.tv_sec <= STALE_S)
		(void)nanosleep(&wait, NULL);
	if (!is_there(at, path, &is) || is.st_ino != was.st_ino ||
	    is.st_ctim.tv_sec != was.st_ctim.tv_sec ||
	    is.st_ctim.tv_nsec != was.st_ctim.tv_nsec || unlinkat(at, path, 0))
		return;
	j = json_object();
	ga_json_set_bytes(j, "removed", path);
	(void)ga_journal(s->dir, "lock", j);
}

static void clear_below(int at, const char *dir, const struct ga_session *s, unsigned depth)
{
	cleanup_dir DIR *d = ga_dir_of(openat(at, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC));
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(dir, e->d_name);

		/* of git: no ref may have such a name */
		if (ga_ends_in(e->d_name, ".lock"))
			clear(at, path, s);
		else if (depth)
			clear_below(at, path, s, depth - 1);
	}
}

/* Only locks of refs that only the session and its user write. */
void ga_session_clear_locks(struct ga_repo *r, const struct ga_session *s)
{
	cleanup_close int at = open(ga_repo_info(r)->commondir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *branch = ga_strf("%s.lock", s->id.branch), *refs = ga_session_ref(s, "");

	if (at < 0)
		return;
	/* of one that was captured, a git of the user may hold it for long */
	if (s->state < GA_STATE_CAPTURED)
		clear(at, branch, s);
	clear_below(at, refs, s, DEPTH_MAX);
}
