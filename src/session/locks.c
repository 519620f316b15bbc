/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

/* git holds the lock of a ref for some milliseconds. */
#define STALE_MS 1000
/* One git locks no more refs at once than it updates: a session has far fewer. */
#define LOCKS_MAX 10000
#define DEPTH_MAX 64

struct lock {
	char *path;
	struct stat st;
};

struct locks {
	struct lock *v;
	size_t n, cap;
};

static void release(struct locks *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
}

static bool is_there(int at, const char *path, struct stat *ret)
{
	return !fstatat(at, path, ret, AT_SYMLINK_NOFOLLOW) && S_ISREG(ret->st_mode);
}

static void add(struct locks *l, int at, const char *path)
{
	struct stat st;

	if (l->n == LOCKS_MAX || !is_there(at, path, &st))
		return;
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct lock){ ga_strdup(path), st };
}

static void find_below(struct locks *l, int at, const char *dir, unsigned depth)
{
	cleanup_dir DIR *d = ga_dir_of(openat(at, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC));
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(dir, e->d_name);

		/* of git: no ref may have such a name */
		if (ga_ends_in(e->d_name, ".lock"))
			add(l, at, path);
		else if (depth)
			find_below(l, at, path, depth - 1);
	}
}

/* Remove a lock that is still the same file after a while: whoever held it is gone. */
static void clear(int at, const struct lock *k, const struct ga_session *s)
{
	json_t *j = json_object();
	struct stat now;

	ga_json_set_bytes(j, "removed", k->path);
	if (!is_there(at, k->path, &now) || now.st_ino != k->st.st_ino ||
	    now.st_ctim.tv_sec != k->st.st_ctim.tv_sec ||
	    now.st_ctim.tv_nsec != k->st.st_ctim.tv_nsec || unlinkat(at, k->path, 0))
		json_decref(j);
	else
		(void)ga_journal(s->dir, "lock", j);
}

/* Only locks of refs that nobody but the session and its user writes. */
void ga_session_clear_locks(struct ga_repo *r, const struct ga_session *s)
{
	const struct timespec t = { STALE_MS / 1000, STALE_MS % 1000 * 1000000 };
	cleanup_close int at = open(ga_repo_info(r)->commondir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *branch = ga_strf("%s.lock", s->id.branch), *refs = ga_session_ref(s, "");
	cleanup_(release) struct locks l = { 0 };

	if (at < 0)
		return;
	/* of one that was captured, a git of the user may hold it for long */
	if (s->state < GA_STATE_CAPTURED)
		add(&l, at, branch);
	find_below(&l, at, refs, DEPTH_MAX);
	if (l.n)
		(void)nanosleep(&t, NULL);
	for (size_t i = 0; i < l.n; i++)
		clear(at, &l.v[i], s);
}
