/* SPDX-License-Identifier: MIT
 *
 * Create, find, name and remove the directories of sessions.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

char *ga_session_path(const struct ga_session *s, const char *what)
{
	return ga_path_join(s->dir, what);
}

char *ga_session_removed(const struct ga_session *s, size_t i)
{
	return ga_strf("%s/shared/%zu/removed", s->dir, i);
}

bool ga_session_shares(const struct ga_session *s, size_t i)
{
	cleanup_free char *removed = ga_session_removed(s, i);

	return access(removed, F_OK) != 0;
}

void ga_session_shared(const struct ga_session *s, struct ga_strv *ret)
{
	for (size_t i = 0; i < s->view.shared.n; i++)
		if (ga_session_shares(s, i))
			ga_strv_push(ret, s->view.shared.v[i]);
}

/* A volatile overlay marks its work directory so that it cannot be mounted
 * again, and one left by a killed session may hold anything: every mount gets
 * a fresh one. */
char *ga_session_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err)
{
	cleanup_free char *parent = ga_session_path(s, "work"), *dir = NULL;
	uint64_t r;

	if (ga_random(&r, sizeof(r), err))
		return NULL;
	dir = ga_strf("%s/%s-%016llx", parent, what, (unsigned long long)r);
	if (ga_mkdir_p(dir, 0700, err))
		return NULL;
	return ga_steal(&dir);
}

void ga_session_remove_work(const char *session_dir)
{
	cleanup_close int at = open(session_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (at >= 0)
		(void)ga_rmtree_at(at, "work", GA_IGNORED);
}

static const char *const layout[] = { "upper", "git" };

static int make_layers(const char *dir, struct ga_error *err)
{
	for (size_t i = 0; i < GA_NELEMS(layout); i++) {
		cleanup_free char *p = ga_path_join(dir, layout[i]);

		if (mkdir(p, 0700))
			return ga_fail_path(err, errno, "create", p);
	}
	return 0;
}

/* Returns -1 with errno and an error. */
static int open_lock(const char *dir, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, "lock");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0) {
		int saved = errno;

		(void)ga_fail_path(err, saved, "open", path);
		errno = saved;
		return -1;
	}
	return fd;
}

static bool is_lock_of(int lock, const char *dir)
{
	cleanup_free char *path = ga_path_join(dir, "lock");
	struct stat held, there;

	return !fstat(lock, &held) && !stat(path, &there) && held.st_dev == there.st_dev &&
	       held.st_ino == there.st_ino;
}

int ga_session_remove_dir(const char *dir, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(dir), *name = NULL;
	cleanup_close int at = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t r;

	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the sessions' directory");
	if (ga_random(&r, sizeof(r), err))
		return -1;
	name = ga_strf(".stale-%016llx", (unsigned long long)r);
	if (renameat(at, ga_path_base(dir), at, name)) {
		if (errno == ENOENT)
			return 0;
		return ga_fail_path(err, errno, "remove", dir);
	}
	return ga_rmtree_at(at, name, err);
}

/* Does it exist, even if it cannot be read? */
static bool is_session(const char *dir)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;

	return !access(dir, F_OK) &&
	       ga_session_load_from(dir, ga_path_base(dir), &s, &damaged) != 1;
}

/* Remove a directory that never got a whole state file, if its lock is free: then its maker died.
 * Returns 1 if it is in use. */
static int clear_stale(const char *dir, struct ga_error *err)
{
	cleanup_free char *upper = ga_path_join(dir, "upper");
	cleanup_close int lock = -1;
	int rc;

	lock = open_lock(dir, err);
	if (lock < 0 && errno == ENOENT) {
		/* another process has just removed it */
		ga_error_release(err);
		return 0;
	}
	if (lock < 0)
		return -1;
	rc = ga_flock(lock, true, false, err);
	if (rc)
		return rc;
	/* Another process removed it and perhaps reused the name: our lock is not that of the
	 * present directory. */
	if (!is_lock_of(lock, dir))
		return 0;
	/* check again: its maker may have saved it and finished just now */
	if (is_session(dir))
		return 1;
	/* a power cut can lose the state file and keep what an agent wrote, which is not ours to
	 * remove. rmdir() fails if there is anything. */
	if (rmdir(upper) && errno != ENOENT)
		return 1;
	return ga_session_remove_dir(dir, err);
}

/* Rename the directory made under a temporary name to `name`. Returns 0, or 1 if that is taken. */
static int take_name(const char *state_dir, const char *tmp, const char *name, char **ret,
		     struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/sessions/%s", state_dir, name);

	for (int again = 0; again < 2; again++) {
		if (!renameat2(AT_FDCWD, tmp, AT_FDCWD, dir, RENAME_NOREPLACE)) {
			*ret = ga_steal(&dir);
			return 0;
		}
		if (errno != EEXIST)
			break;
		if (again)
			return 1;
		switch (clear_stale(dir, err)) {
		case 0:
			break;
		case 1:
			return 1;
		default:
			return -1;
		}
	}
	return ga_fail_path(err, errno, "create", dir);
}

static int name_taken(const char *name, struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "session '%s' exists already"
		       GA_HINT "choose another --name, or 'git agent drop %s'", name, name);
}

int ga_session_name_check(const char *state_dir, const char *name, const struct ga_strv *taken,
			  struct ga_error *err)
{
	cleanup_free char *dir = NULL;

	if (!ga_session_name_ok(name))
		return ga_fail(err, GA_EUSAGE, "'%s' cannot name a session"
			       GA_HINT "use at most %d lower case letters, digits, '.', '_' and "
			       "'-', beginning with a letter or digit", name, GA_SESSION_NAME_MAX);
	dir = ga_strf("%s/sessions/%s", state_dir, name);
	if (is_session(dir))
		return name_taken(name, err);
	/* an existing session's branch is taken as well, but then deleting the branch is not the
	 * remedy */
	if (ga_strv_has(taken, name) && access(dir, F_OK))
		return ga_fail(err, GA_EFATAL, "branch 'agent/%s', or one below it, exists already"
			       GA_HINT "choose another --name, or delete the branch", name);
	return 0;
}

static int take_given_name(const char *state_dir, const char *tmp, const char *name,
			   const struct ga_strv *taken, struct ga_session *s, struct ga_error *err)
{
	int rc;

	if (ga_session_name_check(state_dir, name, taken, err))
		return -1;
	rc = take_name(state_dir, tmp, name, &s->dir, err);
	if (rc < 0)
		return -1;
	if (rc)
		return name_taken(name, err);
	s->name = ga_strdup(name);
	return 0;
}

/* The directories in the trash are called STEM-NUMBER-TIME. */
unsigned ga_session_first_number(const char *state_dir, const char *stem)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash");
	cleanup_dir DIR *d = opendir(trash);
	const size_t n = strlen(stem);
	struct dirent *e;
	unsigned ret = 1;

	while ((e = ga_dir_next(d))) {
		cleanup_free char *number = NULL;
		const char *p = e->d_name + n;
		uint64_t i;

		if (strncmp(e->d_name, stem, n) || *p++ != '-')
			continue;
		number = ga_strndup(p, strcspn(p, "-"));
		/* a greater one is the time: of a session with the stem as its whole name */
		if (p[strlen(number)] && ga_parse_u64(number, 1000000, &i) && i >= ret)
			ret = (unsigned)i + 1;
	}
	return ret;
}

static int take_numbered_name(const char *state_dir, const char *tmp, const char *stem,
			      const struct ga_strv *taken, struct ga_session *s,
			      struct ga_error *err)
{
	cleanup_free char *sessions = ga_path_parent(tmp);
	cleanup_close int at = open(sessions, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = ga_session_first_number(state_dir, stem); !s->dir; i++) {
		cleanup_free char *try = ga_strf("%s-%u", stem, i);
		cleanup_free char *file = ga_path_join(try, "session");

		/* the usual case for low numbers, so checked in the cheapest way */
		if (!faccessat(at, file, F_OK, 0) || ga_strv_has(taken, try))
			continue;
		if (take_name(state_dir, tmp, try, &s->dir, err) < 0)
			return -1;
		if (s->dir)
			s->name = ga_steal(&try);
	}
	return 0;
}

int ga_session_create(const char *state_dir, const char *name, const char *stem,
		      const struct ga_strv *taken, struct ga_session *ret, int *ret_lock,
		      struct ga_error *err)
{
	cleanup_free char *sessions = ga_path_join(state_dir, "sessions");
	cleanup_free char *tmp = ga_path_join(sessions, ".new-XXXXXX");
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1, at = -1;
	int rc;

	/* complete and locked before it gets its name: if it is seen by its name without a lock,
	 * its maker is gone */
	if (!mkdtemp(tmp))
		return ga_fail_path(err, errno, "write state directory", sessions);
	lock = open_lock(tmp, err);
	rc = lock < 0 || ga_flock(lock, true, true, err) || make_layers(tmp, err) ? -1
	     : name ? take_given_name(state_dir, tmp, name, taken, &s, err)
		    : take_numbered_name(state_dir, tmp, stem, taken, &s, err);
	if (rc) {
		cleanup_error struct ga_error second = GA_ERROR_INIT;

		at = open(sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (at >= 0)
			(void)ga_rmtree_at(at, ga_path_base(tmp), &second);
		return -1;
	}
	s.id.branch = ga_strf(GA_SESSION_BRANCHES "%s", s.name);
	*ret = s;
	s = (struct ga_session)GA_SESSION_INIT;
	*ret_lock = ga_steal_fd(&lock);
	return 0;
}

int ga_session_lock(const struct ga_session *s, bool wait, int *ret_fd, struct ga_error *err)
{
	cleanup_close int fd = open_lock(s->dir, err);
	int rc;

	if (fd < 0 && errno == ENOENT) {
		ga_error_release(err);
		return 2;
	}
	if (fd < 0)
		return -1;
	rc = ga_flock(fd, true, wait, err);
	if (!rc)
		*ret_fd = ga_steal_fd(&fd);
	return rc;
}

int ga_session_names(const char *state_dir, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(state_dir, "sessions");
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return ga_fail_path(err, errno, "read", dir);
	while ((e = ga_dir_next(d)))
		if (ga_session_name_ok(e->d_name))
			ga_strv_push(ret, e->d_name);
	if (errno)
		return ga_fail_path(err, errno, "read", dir);
	ga_strv_sort_unique(ret);
	return 0;
}

/* Is it a directory that was not given its name yet, or is being removed? */
static bool is_temporary(const char *name)
{
	return !strncmp(name, ".new-", 5) || !strncmp(name, ".stale-", 7);
}

/* Returns 1 if its maker, which holds its lock from the beginning, is alive. */
static int in_use(int sessions, const char *name, int *ret_lock, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(name, "lock");

	*ret_lock = openat(sessions, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return *ret_lock < 0 ? 0 : ga_flock(*ret_lock, true, false, err);
}

int ga_session_sweep(const char *state_dir, time_t before, bool dry, struct ga_strv *names,
		     struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(state_dir, "sessions");
	cleanup_close int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	cleanup_dir DIR *d = at < 0 ? NULL : opendir(path);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (is_temporary(e->d_name))
			ga_strv_push(&all, e->d_name);
	for (size_t i = 0; i < all.n; i++) {
		cleanup_close int lock = -1;
		struct stat st;
		int rc;

		/* one made a moment ago may not have its lock yet */
		if (fstatat(at, all.v[i], &st, AT_SYMLINK_NOFOLLOW) || st.st_mtime >= before)
			continue;
		rc = in_use(at, all.v[i], &lock, err);
		if (rc < 0 || (!rc && !dry && ga_rmtree_at(at, all.v[i], err)))
			return -1;
		if (!rc)
			ga_strv_push(names, all.v[i]);
	}
	return 0;
}
