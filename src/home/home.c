/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <time.h>

#include "home-internal.h"

#define LOGIN_MAX ((size_t)1 << 20)

struct login {
	bool there, odd;         /* odd: cannot be a login, or is being written */
	struct timespec changed; /* its ctime, which nobody can set */
	struct ga_buf bytes;
};

static void login_release(struct login *l)
{
	ga_buf_release(&l->bytes);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void read_login(int home, const char *rel, struct login *ret)
{
	cleanup_close int fd = ga_openat_beneath(home, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st, now;

	if (fd < 0) {
		ret->odd = errno != ENOENT;
		return;
	}
	ret->there = true;
	ret->odd = fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size > LOGIN_MAX ||
		   ga_read_fd(fd, LOGIN_MAX, &ret->bytes, GA_IGNORED) || fstat(fd, &now);
	/* an empty or unfinished file is no login yet */
	if (!ret->odd)
		ret->odd = !ret->bytes.len || is_later(&now.st_ctim, &st.st_ctim) ||
			   (uint64_t)now.st_size != ret->bytes.len;
	if (!ret->odd)
		ret->changed = st.st_ctim;
}

/* Copy the login that changed last to the other home. */
static int share(const int *homes, const char *rel, struct ga_error *err)
{
	cleanup_(login_release) struct login one = { .bytes = GA_BUF_INIT };
	cleanup_(login_release) struct login two = { .bytes = GA_BUF_INIT };
	const struct login *from;

	read_login(homes[0], rel, &one);
	read_login(homes[1], rel, &two);
	if (one.odd || two.odd || (!one.there && !two.there))
		return 0;
	if (one.there && two.there && ga_buf_equal(&one.bytes, &two.bytes))
		return 0;
	from = !two.there || (one.there && is_later(&one.changed, &two.changed)) ? &one : &two;
	return home_write(homes[from == &one], rel, from->bytes.ptr, from->bytes.len, 0600, err);
}

int home_share_logins(const struct ga_env *e, const char *other, struct ga_error *err)
{
	cleanup_close int a = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int b = open(other, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int homes[] = { a, b };
	const struct ga_preset *p;

	if (a < 0 || b < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' homes");
	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		for (size_t j = 0; p->logins[j]; j++)
			if (share(homes, p->logins[j], err))
				return -1;
	return 0;
}

/* Read the user's login; with `key`, `ret` is what the file of the agents (`theirs`) is to be: that
 * with the one member set. */
static int read_own(const struct ga_env *e, const char *rel, const char *key,
		    const struct ga_buf *theirs, struct ga_buf *ret)
{
	cleanup_free char *file = ga_path_join(e->home, rel);
	cleanup_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	json_t *own, *to, *login;
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    ga_read_fd(fd, LOGIN_MAX, key ? &all : ret, GA_IGNORED))
		return -1;
	if (!key)
		return ret->len ? 0 : -1;
	own = json_loadb(all.ptr, all.len, 0, NULL);
	login = json_object_get(own, key);
	to = json_loadb(theirs->ptr, theirs->len, 0, NULL);
	if (!json_is_object(to)) {
		json_decref(to);
		to = json_object();
	}
	/* keep the agents' file if it has this login */
	if (login && json_equal(login, json_object_get(to, key))) {
		ga_buf_add(ret, theirs->ptr, theirs->len);
	} else if (login && !json_object_set(to, key, login) &&
		   (text = json_dumps(to, JSON_INDENT(2)))) {
		ga_buf_addf(ret, "%s\n", text);
		free(text);
	}
	json_decref(to);
	json_decref(own);
	return ret->len ? 0 : -1;
}

int ga_home_compare_login(const struct ga_env *e, const char *rel, const char *key,
			  enum ga_home_login *ret, struct ga_error *err)
{
	cleanup_(login_release) struct login theirs = { .bytes = GA_BUF_INIT };
	cleanup_buf struct ga_buf own = GA_BUF_INIT;
	cleanup_close int home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret = GA_HOME_LOGIN_NONE;
	if (home < 0 && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	if (home >= 0)
		read_login(home, rel, &theirs);
	if (!read_own(e, rel, key, &theirs.bytes, &own))
		*ret = home < 0 || (!theirs.odd && !theirs.there) ? GA_HOME_LOGIN_NEW
		       : !theirs.odd && ga_buf_equal(&theirs.bytes, &own) ? GA_HOME_LOGIN_SAME
									  : GA_HOME_LOGIN_OTHER;
	return 0;
}

int ga_home_import_login(const struct ga_env *e, const char *rel, const char *key,
			 struct ga_error *err)
{
	cleanup_(login_release) struct login theirs = { .bytes = GA_BUF_INIT };
	cleanup_buf struct ga_buf own = GA_BUF_INIT;
	cleanup_close int lock = -1, home = -1;

	/* in any home_mode: projects' own homes get theirs from the shared one */
	if (home_open_shared(e, &lock, err))
		return -1;
	home = open(e->agent_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the agents' home");
	read_login(home, rel, &theirs);
	if (read_own(e, rel, key, &theirs.bytes, &own))
		return ga_fail(err, GA_EFATAL, "cannot read '%s' of your home", rel);
	return home_write(home, rel, own.ptr, own.len, 0600, err);
}

#define NOTE_MAX ((size_t)4 << 20)
/* Separates a home from the place in it. */
#define BETWEEN "//"

static bool is_apart(const struct ga_env *e)
{
	return ga_config_set_by(&e->conf, "state_dir") == GA_ORIGIN_COMMAND;
}

static char *note_path(const struct ga_env *e)
{
	return ga_path_join(e->state_root, "home-mounts");
}

static bool has_line(const struct ga_buf *b, const char *line)
{
	const char *s;

	for (size_t pos = 0; (s = ga_buf_next0(b, &pos));)
		if (!strcmp(s, line))
			return true;
	return false;
}

/* Sessions that start at the same time append, each by one write. */
static int note(const struct ga_env *e, const struct ga_spec *s, struct ga_error *err)
{
	const char *home = s->home_dir.upper ? s->home_dir.upper : s->home_dir.source;
	cleanup_free char *path = note_path(e);
	cleanup_strv struct ga_strv places = GA_STRV_INIT;
	cleanup_buf struct ga_buf known = GA_BUF_INIT, more = GA_BUF_INIT;
	cleanup_close int fd = -1;

	ga_spec_home_places(s, &places);
	if (!places.n || is_apart(e))
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || ga_read_file_at(AT_FDCWD, path, NOTE_MAX, &known, err))
		return fd < 0 ? ga_fail_path(err, errno, "open", path) : -1;
	for (size_t i = 0; i < places.n; i++) {
		cleanup_free char *line = ga_strf("%s" BETWEEN "%s", home, places.v[i]);

		if (!has_line(&known, line))
			ga_buf_add0(&more, line);
	}
	return more.len && ga_write_full(fd, more.ptr, more.len) ?
	       ga_fail_path(err, errno, "write", path) : 0;
}

int ga_home_run(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		struct ga_error *err)
{
	return note(e, s, err) || ga_run_home(sb, s, err) ? -1 : 0;
}

int ga_home_run_trees(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		      struct ga_error *err)
{
	return note(e, s, err) || ga_run_trees(sb, s, err) ? -1 : 0;
}

/* Remove a directory that the stage marked, or an empty file. A directory with other contents is
 * the agent's. */
static bool remove_place(int at, const char *name)
{
	cleanup_close int dir = ga_openat_beneath(at, name, O_RDONLY | O_DIRECTORY, 0);
	struct stat st;

	if (dir < 0)
		return !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		       !st.st_size && !unlinkat(at, name, 0);
	if (faccessat(dir, GA_PLAN_MARKER, F_OK, AT_SYMLINK_NOFOLLOW) || fchmod(dir, 0755))
		return false;
	return !unlinkat(dir, GA_PLAN_MARKER, 0) && !unlinkat(at, name, AT_REMOVEDIR);
}

static void remove_at(const char *home, const char *rel)
{
	cleanup_close int top = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *path = ga_strdup(rel);
	bool gone = true;

	/* and the parent directories that are empty */
	for (bool first = true; gone && *path; first = false) {
		cleanup_free char *parent = ga_path_parent(path);
		cleanup_close int at = ga_openat_beneath(top, *parent ? parent : ".",
							 O_RDONLY | O_DIRECTORY, 0);

		gone = at >= 0 && (first ? remove_place(at, ga_path_base(path)) :
				   !unlinkat(at, ga_path_base(path), AT_REMOVEDIR));
		free(path);
		path = ga_steal(&parent);
	}
}

bool home_sweep(const struct ga_env *e, int lock)
{
	cleanup_free char *path = note_path(e);
	cleanup_buf struct ga_buf lines = GA_BUF_INIT;
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	const char *s;

	if (is_apart(e) || access(path, F_OK))
		return false;
	if (ga_flock(lock, true, false, GA_IGNORED) ||
	    ga_read_file_at(AT_FDCWD, path, NOTE_MAX, &lines, GA_IGNORED))
		return true;
	for (size_t pos = 0; (s = ga_buf_next0(&lines, &pos));)
		ga_strv_push(&all, s);
	/* children before parents */
	ga_strv_sort_unique(&all);
	for (size_t i = all.n; i-- > 0;) {
		char *between = strstr(all.v[i], BETWEEN);

		if (!between)
			continue;
		*between = '\0';
		remove_at(all.v[i], between + strlen(BETWEEN));
	}
	(void)unlink(path);
	return true;
}

char *ga_home_dir(const struct ga_env *e, enum ga_home_mode mode)
{
	/* not inside the shared home, where any session could replace it by a link */
	return mode == GA_HOME_PROJECT ? ga_path_join(e->state_dir, "home")
				       : ga_strdup(e->agent_home);
}

char *ga_home_layer(const struct ga_session *s)
{
	cleanup_free char *upper = ga_session_path(s, "home/upper");

	return access(upper, F_OK) ? NULL : ga_steal(&upper);
}

int home_write(int home, const char *rel, const void *p, size_t n, mode_t mode,
	       struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(rel), *temp = NULL;
	cleanup_close int at = -1;
	uint64_t r;
	int rc;

	at = fcntl(home, F_DUPFD_CLOEXEC, 3);
	for (const char *s = parent; at >= 0 && *s; s += strspn(s, "/")) {
		cleanup_free char *name = ga_strndup(s, strcspn(s, "/"));
		int next;

		(void)mkdirat(at, name, 0700);
		next = ga_openat_beneath(at, name, O_RDONLY | O_DIRECTORY, 0);
		(void)close(at);
		at = next;
		s += strlen(name);
	}
	if (at < 0)
		return ga_fail_path(err, errno, "write", rel);
	if (ga_random(&r, sizeof(r), err))
		return -1;
	temp = ga_strf(".git-agent-%016llx", (unsigned long long)r);
	rc = ga_write_new(at, temp, p, n, mode, err);
	if (!rc && !renameat(at, temp, at, ga_path_base(rel)))
		return 0;
	if (!rc)
		(void)ga_fail_path(err, errno, "write", rel);
	(void)unlinkat(at, temp, 0);
	return -1;
}

/* An agent can open its home to other users, or close it to the next session. Leave a directory
 * that the user named. */
static int close_home(const struct ga_env *e, const char *dir, const char *q, struct ga_error *err)
{
	cleanup_free char *usual = ga_path_join(e->home, "aihome");

	if (!strcmp(dir, e->agent_home) && strcmp(dir, usual) != 0) {
		cleanup_free char *word = ga_quote_shell(dir);

		return ga_fail(err, GA_ESTART, "the agents' home '%s' is not closed to others"
			       GA_HINT "if it is a directory for agents alone: chmod 0700 %s", q,
			       word);
	}
	if (chmod(dir, 0700))
		return ga_fail_errno(err, GA_ESTART, errno,
				     "cannot close the agents' home '%s' to others", q);
	return 0;
}

/* Make a home if it is not there, and check that it is ours and closed to others. */
static int make_home(const struct ga_env *e, const char *dir, struct ga_error *err)
{
	struct stat st;
	cleanup_free char *q = ga_escape(dir);

	if (ga_mkdir_p(dir, 0700, err))
		return ga_hint(err, "the agents' home is kept there: make room for it");
	if (lstat(dir, &st) || !S_ISDIR(st.st_mode))
		return ga_fail(err, GA_ESTART, "the agents' home '%s' is not a directory" GA_HINT
			       "move it away; a symlink to a directory is not accepted", q);
	if (st.st_uid != geteuid())
		return ga_fail(err, GA_ESTART, "the agents' home '%s' belongs to another user"
			       GA_HINT "move it away; the next start makes one of your own", q);
	return (st.st_mode & 07777) == 0700 ? 0 : close_home(e, dir, q, err);
}

/* Lock the homes: exclusively (`alone`), without waiting (1: locked), or shared, waiting for an
 * exclusive holder, which takes no longer than removing a home. */
static int lock_homes(const struct ga_env *e, bool alone, int *ret_fd, struct ga_error *err)
{
	cleanup_close int fd = open(e->state_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the state directory");
	rc = ga_flock(fd, alone, !alone, err);
	if (!rc)
		*ret_fd = ga_steal_fd(&fd);
	return rc;
}

int ga_home_lock(const struct ga_env *e, int *ret_fd, struct ga_error *err)
{
	if (ga_mkdir_p(e->state_root, 0700, err))
		return -1;
	return lock_homes(e, true, ret_fd, err);
}

int home_open_shared(const struct ga_env *e, int *ret_lock, struct ga_error *err)
{
	if (ga_mkdir_p(e->state_root, 0700, err) || lock_homes(e, false, ret_lock, err))
		return -1;
	if (home_sweep(e, *ret_lock) && ga_flock(*ret_lock, false, true, err))
		return -1;
	return make_home(e, e->agent_home, err);
}

int ga_home_open(const struct ga_env *e, int *ret_lock, struct ga_error *err)
{
	cleanup_free char *dir = ga_home_dir(e, e->conf.home_mode);

	return home_open_shared(e, ret_lock, err) || make_home(e, dir, err) ? -1 : 0;
}

int ga_home_reset(const char *dir, bool remove, char **ret, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(dir), *aside = NULL;
	cleanup_close int at = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	time_t now = time(NULL);
	char stamp[32] = "";
	struct tm tm;

	*ret = NULL;
	if (at < 0 || faccessat(at, ga_path_base(dir), F_OK, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 1 : ga_fail_path(err, errno, "open", dir);
	if (gmtime_r(&now, &tm))
		(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	aside = ga_strf("%s.%s", dir, stamp);
	/* rename it first, so that no half-removed home is visible */
	for (unsigned i = 2; renameat2(at, ga_path_base(dir), at, ga_path_base(aside),
				       RENAME_NOREPLACE); i++) {
		if (errno != EEXIST)
			return ga_fail_path(err, errno, "move away", dir);
		free(aside);
		aside = ga_strf("%s.%s-%u", dir, stamp, i);
	}
	if (remove)
		return ga_rmtree_at(at, ga_path_base(aside), err);
	*ret = ga_steal(&aside);
	return 0;
}
