/* SPDX-License-Identifier: MIT
 *
 * Set the mtimes of a base tree: a file with the content of the user's gets the user's mtime, or
 * build tools would build everything in a shared build directory again.
 */
#include "pool-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "repo/index-file.h"

/* An entry whose stat data git has yet to supply. */
struct coming {
	size_t to;                   /* its offset in `bytes` */
	struct ga_index_entry user;  /* the user's entry for that path, if `there` */
	bool there;
};

struct ga_base_settle {
	char *dir;
	int tree, work;              /* roots of the base tree and of the user's working tree */
	struct ga_index base, come, user; /* indexes: the tree's, of new files, the user's */
	const struct ga_base_plan *plan;  /* NULL: no entry is added or removed */
	size_t gone;                 /* offset in plan->gone: the next entry of `base` to be
				      * skipped */
	struct ga_index_entry entry; /* the entry reached in the user's index */
	bool have_entry, there;      /* there is one; it has the path being settled */
	time_t user_written;         /* when the user's index was written */
	time_t since, now;
	uint32_t newest;             /* mtime among the base's entries */
	struct ga_buf bytes;         /* the new index */
	uint32_t n;                  /* number of its entries */
	struct coming *v;
	size_t n_coming, cap;
	struct ga_buf dirs;          /* every directory, each ended by NUL */
	struct ga_buf last_dir;      /* the directory of the last path, with a trailing slash */
	size_t n_attributed;         /* as in struct ga_base */
	char *attributed;
};

void ga_base_settle_free(struct ga_base_settle *s)
{
	if (!s)
		return;
	free(s->dir);
	ga_cleanup_closep(&s->tree);
	ga_cleanup_closep(&s->work);
	ga_index_release(&s->base);
	ga_index_release(&s->come);
	ga_index_release(&s->user);
	ga_buf_release(&s->bytes);
	free(s->v);
	ga_buf_release(&s->dirs);
	ga_buf_release(&s->last_dir);
	free(s->attributed);
	free(s);
}

/* ---- is it the user's file? --------------------------------------------------- */

/* Does git take the user's file for unmodified: is this blob in the user's index, with matching
 * stat data? An entry with an mtime no older than the index itself is racily clean and proves
 * nothing. */
static bool is_same_by_index(const struct ga_base_settle *s, const struct ga_index_entry *e,
			     const struct stat *st)
{
	const struct ga_index_entry *u = &s->entry;

	if (!s->there || u->stage || u->intent_to_add)
		return false;
	return ga_oid_equal(&u->oid, &e->oid) && u->mode == e->mode && u->size &&
	       u->size == (uint32_t)st->st_size && u->mtime == (uint32_t)st->st_mtim.tv_sec &&
	       (!u->mtime_ns || u->mtime_ns == (uint32_t)st->st_mtim.tv_nsec) &&
	       (time_t)u->mtime < s->user_written;
}

static bool same_link(const struct ga_base_settle *s, const char *path)
{
	char a[4096], b[4096];
	ssize_t n = readlinkat(s->tree, path, a, sizeof(a));

	return n >= 0 && n < (ssize_t)sizeof(a) && readlinkat(s->work, path, b, sizeof(b)) == n &&
	       !memcmp(a, b, (size_t)n);
}

static bool same_bytes(const struct ga_base_settle *s, const char *path)
{
	static const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	cleanup_close int a = openat(s->tree, path, flags), b = openat(s->work, path, flags);

	return a >= 0 && b >= 0 && ga_same_content(a, b);
}

static bool is_same_as_users(const struct ga_base_settle *s, const struct ga_index_entry *e,
			     const struct stat *st)
{
	if (S_ISLNK(st->st_mode) != (e->mode == GA_MODE_LINK))
		return false;
	if (S_ISLNK(st->st_mode))
		return same_link(s, e->path);
	return S_ISREG(st->st_mode) && (is_same_by_index(s, e, st) || same_bytes(s, e->path));
}

/* ---- one entry ------------------------------------------------------------------ */

/* Advance in the user's index, which has the same order, to `path`. A damaged one counts as
 * ended. */
static void advance_user(struct ga_base_settle *s, const char *path)
{
	int c = -1;

	while (s->have_entry && (c = strcmp(s->entry.path, path)) < 0)
		s->have_entry = !ga_index_next(&s->user, &s->entry, GA_IGNORED);
	s->there = s->have_entry && !c;
}

/* Was the file written by this checkout, or touched by the user since the last one? */
static bool needs_mtime(const struct ga_base_settle *s, const struct ga_index_entry *e)
{
	if ((time_t)e->mtime >= s->since - 1)
		return true;
	return s->there && ga_oid_equal(&s->entry.oid, &e->oid) &&
	       (s->entry.mtime != e->mtime || s->entry.mtime_ns != e->mtime_ns);
}

/* Attributes of other kinds are the system's (security.*) or need privileges. */
static void note_attributes(struct ga_base_settle *s, const char *path)
{
	cleanup_free char *at = ga_strf("/proc/self/fd/%d/%s", s->work, path);
	char names[4096];
	ssize_t n = llistxattr(at, names, sizeof(names));

	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(names + i) + 1) {
		if (strncmp(names + i, "user.", 5) && strcmp(names + i, "system.posix_acl_access"))
			continue;
		if (!s->n_attributed++)
			s->attributed = ga_strdup(path);
		return;
	}
}

/* `to`: offset of the entry in the new index. */
static int copy_mtime(struct ga_base_settle *s, struct ga_index_entry *e, size_t to,
		      struct ga_error *err)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	struct stat st;

	if (fstatat(s->work, e->path, &st, AT_SYMLINK_NOFOLLOW) || !is_same_as_users(s, e, &st))
		return 0;
	note_attributes(s, e->path);
	ts[1] = st.st_mtim;
	if (utimensat(s->tree, e->path, ts, AT_SYMLINK_NOFOLLOW))
		return ga_fail_path(err, errno, "set the time of", e->path);
	e->mtime = (uint32_t)st.st_mtim.tv_sec;
	e->mtime_ns = (uint32_t)st.st_mtim.tv_nsec;
	ga_index_put32(s->bytes.ptr + to + GA_INDEX_MTIME, e->mtime);
	ga_index_put32(s->bytes.ptr + to + GA_INDEX_MTIME + 4, e->mtime_ns);
	return 0;
}

static void copy_dir_mtime(const struct ga_base_settle *s, const char *dir)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	struct stat st, own;

	/* with sparse patterns the directory may be missing */
	if (fstatat(s->work, dir, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode) ||
	    fstatat(s->tree, dir, &own, AT_SYMLINK_NOFOLLOW))
		return;
	ts[1] = st.st_mtim;
	if (own.st_mtim.tv_sec != ts[1].tv_sec || own.st_mtim.tv_nsec != ts[1].tv_nsec)
		(void)utimensat(s->tree, dir, ts, AT_SYMLINK_NOFOLLOW);
}

/* Record each directory of the path once: paths in the same directory follow each other. */
static void note_dirs(struct ga_base_settle *s, const char *path)
{
	size_t same = 0, i;

	if (!strncmp(path, s->last_dir.ptr, s->last_dir.len) &&
	    !strchr(path + s->last_dir.len, '/'))
		return;
	for (i = 0; i < s->last_dir.len && path[i] && path[i] == s->last_dir.ptr[i]; i++)
		if (path[i] == '/')
			same = i + 1;
	for (i = same; path[i]; i++)
		if (path[i] == '/') {
			ga_buf_add(&s->dirs, path, i);
			ga_buf_addch(&s->dirs, '\0');
			same = i + 1;
		}
	ga_buf_clear(&s->last_dir);
	ga_buf_add(&s->last_dir, path, same);
}

/* Settle an entry whose stat data is known. git inside compares only the size and the whole seconds
 * of the mtime with the index (core.checkStat=minimal). A file whose mtime a write of the agent's
 * could also have is marked as git marks racily clean ones, by size 0: then git compares its
 * content. One second is added because the kernel's clock for files lags behind. */
static int settle_known(struct ga_base_settle *s, struct ga_index_entry *e, size_t to,
			struct ga_error *err)
{
	if (e->mode == GA_MODE_GITLINK || e->skip_worktree)
		return 0;
	if (needs_mtime(s, e) && copy_mtime(s, e, to, err))
		return -1;
	if ((time_t)e->mtime >= s->now - 1)
		ga_index_put32(s->bytes.ptr + to + GA_INDEX_SIZE, 0);
	if (e->mtime > s->newest)
		s->newest = e->mtime;
	return 0;
}

static int settle_entry(struct ga_base_settle *s, const struct ga_index *ix,
			struct ga_index_entry *e, struct ga_error *err)
{
	size_t to = s->bytes.len;

	ga_buf_add(&s->bytes, ix->map + e->offset, e->len);
	s->n++;
	advance_user(s, e->path);
	note_dirs(s, e->path);
	if (e->mode == GA_MODE_GITLINK)
		ga_buf_add0(&s->dirs, e->path);
	if (ix == &s->base)
		return settle_known(s, e, to, err);
	GA_GROW(s->v, s->n_coming, s->cap);
	s->v[s->n_coming++] = (struct coming){ to, s->entry, s->there };
	return 0;
}

/* Get the next entry of `base` that is kept. Returns 1 at the end. */
static int next_of_base(struct ga_base_settle *s, struct ga_index_entry *ret, struct ga_error *err)
{
	int rc = ga_index_next(&s->base, ret, err);

	while (!rc && s->plan && s->gone < s->plan->gone.len) {
		size_t at;

		memcpy(&at, s->plan->gone.ptr + s->gone, sizeof(at));
		if (at != ret->offset)
			break;
		s->gone += sizeof(at);
		rc = ga_index_next(&s->base, ret, err);
	}
	return rc;
}

/* Merge the entries of `base` and `come`: both are sorted by path, and have no path in common. */
static int settle_entries(struct ga_base_settle *s, struct ga_error *err)
{
	struct ga_index_entry a, b;
	int end_a = next_of_base(s, &a, err), end_b = 1;

	if (s->come.map)
		end_b = ga_index_next(&s->come, &b, err);
	while (end_a == 0 || end_b == 0) {
		if (end_a < 0 || end_b < 0)
			return -1;
		if (end_b || (!end_a && strcmp(a.path, b.path) < 0)) {
			if (settle_entry(s, &s->base, &a, err))
				return -1;
			end_a = next_of_base(s, &a, err);
		} else {
			if (settle_entry(s, &s->come, &b, err))
				return -1;
			end_b = ga_index_next(&s->come, &b, err);
		}
	}
	return end_a < 0 || end_b < 0 ? -1 : 0;
}

/* Settle what git has checked out: its index has, entry for entry, the paths it was given. */
static int settle_coming(struct ga_base_settle *s, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(s->dir, GA_BASE_COME);
	struct ga_index_entry e;
	int rc = 0;

	ga_index_release(&s->come);
	if (s->n_coming && ga_index_open(path, &s->come, err))
		return -1;
	for (size_t i = 0; i < s->n_coming; i++) {
		size_t to = s->v[i].to;
		char *at = s->bytes.ptr + to;

		rc = ga_index_next(&s->come, &e, err);
		if (rc < 0)
			return -1;
		if (rc || strcmp(e.path, at + GA_INDEX_FLAGS + 2) != 0)
			break;
		memcpy(at, s->come.map + e.offset, GA_INDEX_FLAGS);
		s->entry = s->v[i].user;
		s->there = s->v[i].there;
		if (settle_known(s, &e, to, err))
			return -1;
	}
	if (rc || s->come.i != s->n_coming)
		return ga_fail(err, GA_EFATAL, "git checked out unexpected files");
	return 0;
}

/* ---- putting it together ----------------------------------------------------------- */

static int cannot_write(const char *path, struct ga_error *err)
{
	return ga_fail_path(err, errno, "write", path);
}

static void end_index(struct ga_base_settle *s)
{
	const char *trees = s->plan ? s->plan->trees.ptr : NULL;
	size_t n = s->plan ? s->plan->trees.len : 0;

	if (!trees)
		trees = (const char *)ga_index_extension(&s->base, "TREE", &n);
	if (trees)
		ga_index_add_extension(&s->bytes, "TREE", trees, n);
	ga_index_end(&s->bytes, s->n);
}

/* Put the index in place, whole or not at all, and link it into the template of private git
 * dirs. */
static int put_index(const struct ga_base_settle *s, struct ga_error *err)
{
	cleanup_free char *new = ga_path_join(s->dir, "index.new");
	cleanup_free char *index = ga_path_join(s->dir, "index");
	cleanup_free char *git = ga_path_join(s->dir, "git/index");
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	cleanup_close int fd = -1;

	/* newer than every entry, or git would compare the newest by content each time */
	ts[1].tv_sec = s->now > (time_t)s->newest ? s->now : (time_t)s->newest + 1;
	(void)unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ga_write_full(fd, s->bytes.ptr, s->bytes.len) || futimens(fd, ts) ||
	    rename(new, index))
		return cannot_write(index, err);
	return (unlink(git) && errno != ENOENT) || link(index, git) ? cannot_write(git, err) : 0;
}

static int copy_root_mtime(const struct ga_base_settle *s, struct ga_error *err)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	struct stat st;

	if (fstat(s->work, &st) || fchmod(s->tree, st.st_mode & 07777))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot set the mode of a base tree");
	ts[1] = st.st_mtim;
	if (futimens(s->tree, ts))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot set the time of a base tree");
	return 0;
}

static int open_settle(const struct ga_repo *r, struct ga_base_settle *s, struct ga_error *err)
{
	cleanup_free char *tree = ga_path_join(s->dir, "tree");
	cleanup_free char *index = ga_path_join(s->dir, "index");
	cleanup_free char *come = ga_path_join(s->dir, GA_BASE_COME);
	cleanup_free char *users = ga_path_join(r->info.gitdir, "index");
	struct stat st;
	int rc;

	s->tree = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->work = open(r->info.workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->tree < 0 || s->work < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open a base tree");
	rc = ga_index_open(index, &s->base, err);
	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "git read-tree wrote no index");
	if (rc || (s->plan && s->plan->n_come && ga_index_open(come, &s->come, err)))
		return -1;
	/* allocate once; the new index begins like `base`, with its version */
	(void)ga_buf_reserve(&s->bytes, s->base.len + s->come.len);
	ga_buf_add(&s->bytes, s->base.map, s->base.pos);
	/* optional: without the user's index files are compared */
	if (!stat(users, &st) && !ga_index_open(users, &s->user, GA_IGNORED)) {
		s->user_written = st.st_mtim.tv_sec;
		s->have_entry = !ga_index_next(&s->user, &s->entry, GA_IGNORED);
	}
	return 0;
}

int ga_base_settle_begin(const struct ga_repo *r, const char *dir, time_t since,
			 const struct ga_base_plan *plan_or_null, struct ga_base_settle **ret,
			 struct ga_error *err)
{
	struct ga_base_settle *s = ga_calloc(1, sizeof(*s));

	*s = (struct ga_base_settle){
		.dir = ga_strdup(dir), .tree = -1, .work = -1, .base = GA_INDEX_INIT,
		.come = GA_INDEX_INIT, .user = GA_INDEX_INIT, .plan = plan_or_null,
		.since = since, .now = time(NULL), .bytes = GA_BUF_INIT, .dirs = GA_BUF_INIT,
		.last_dir = GA_BUF_INIT,
	};
	if (open_settle(r, s, err) || settle_entries(s, err)) {
		ga_base_settle_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

int ga_base_settle_end(struct ga_base_settle *s, struct ga_base *ret, struct ga_error *err)
{
	cleanup_free char *come = ga_path_join(s->dir, GA_BASE_COME);
	const char *dir;
	size_t pos = 0;

	/* git may have written files since ga_base_settle_begin() */
	s->now = time(NULL);
	if (settle_coming(s, err))
		return -1;
	ret->n_attributed = s->n_attributed;
	free(ret->attributed);
	ret->attributed = s->attributed;
	s->attributed = NULL;
	while ((dir = ga_buf_next0(&s->dirs, &pos)))
		copy_dir_mtime(s, dir);
	end_index(s);
	if (put_index(s, err))
		return -1;
	(void)unlink(come);
	return copy_root_mtime(s, err);
}
