/* SPDX-License-Identifier: MIT
 *
 * The times of a base tree. Build tools compare them: a file that is the user's
 * byte for byte must be as old as the user's, or everything in a shared build
 * directory would be built again.
 */
#include "pool-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/sha.h"
#include "index-file.h"

#define CHUNK ((size_t)64 << 10)

struct settle {
	int tree, work;              /* root of the base tree and of the user's */
	struct ga_index base, user;
	struct ga_index_entry entry; /* the user's entry the merge stands at */
	bool have_entry;
	time_t user_written;         /* when the user's index was written */
	time_t since, now;
	uint32_t newest;             /* mtime among the base's entries */
	struct ga_buf bytes;         /* the base's index, to be written back */
	struct ga_buf young;         /* offsets (size_t) of entries that are; see note_young() */
	struct ga_buf last_dir;      /* the directory last visited, with a trailing slash */
};

static void settle_release(struct settle *s)
{
	ga_cleanup_closep(&s->tree);
	ga_cleanup_closep(&s->work);
	ga_index_release(&s->base);
	ga_index_release(&s->user);
	ga_buf_release(&s->bytes);
	ga_buf_release(&s->young);
	ga_buf_release(&s->last_dir);
}

/* ---- is it the user's file? --------------------------------------------------- */

/* git's own test: the user's index has this blob there, and the file has not
 * been touched since. An entry as young as the index itself says nothing. */
static bool user_index_says_same(const struct settle *s, const struct ga_index_entry *e,
				 const struct stat *st)
{
	const struct ga_index_entry *u = &s->entry;

	if (!s->have_entry || strcmp(u->path, e->path) || u->stage || u->intent_to_add)
		return false;
	return ga_oid_equal(&u->oid, &e->oid) && u->mode == e->mode && u->size &&
	       u->size == (uint32_t)st->st_size && u->mtime == (uint32_t)st->st_mtim.tv_sec &&
	       (!u->mtime_ns || u->mtime_ns == (uint32_t)st->st_mtim.tv_nsec) &&
	       (time_t)u->mtime < s->user_written;
}

static bool same_link(const struct settle *s, const char *path)
{
	char a[4096], b[4096];
	ssize_t n = readlinkat(s->tree, path, a, sizeof(a));

	return n >= 0 && n < (ssize_t)sizeof(a) && readlinkat(s->work, path, b, sizeof(b)) == n &&
	       !memcmp(a, b, (size_t)n);
}

static bool same_bytes(const struct settle *s, const char *path)
{
	static const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	cleanup_close int a = openat(s->tree, path, flags), b = openat(s->work, path, flags);
	cleanup_free char *pa = ga_malloc(CHUNK), *pb = ga_malloc(CHUNK);
	struct stat sa, sb;
	off_t at = 0;

	if (a < 0 || b < 0 || fstat(a, &sa) || fstat(b, &sb) || !S_ISREG(sb.st_mode) ||
	    sa.st_size != sb.st_size)
		return false;
	for (;;) {
		ssize_t n = pread(a, pa, CHUNK, at);

		if (n < 0 || pread(b, pb, CHUNK, at) != n || memcmp(pa, pb, (size_t)n))
			return false;
		if (!n)
			return true;
		at += n;
	}
}

static bool same_as_users(const struct settle *s, const struct ga_index_entry *e,
			  const struct stat *st)
{
	if (S_ISLNK(st->st_mode) != (e->mode == GA_MODE_LINK))
		return false;
	if (S_ISLNK(st->st_mode))
		return same_link(s, e->path);
	return S_ISREG(st->st_mode) &&
	       (user_index_says_same(s, e, st) || same_bytes(s, e->path));
}

/* ---- one entry ------------------------------------------------------------------ */

static void put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static unsigned char *at_entry(struct settle *s, const struct ga_index_entry *e, size_t field)
{
	return (unsigned char *)s->bytes.ptr + e->offset + field;
}

/* Both indexes are in the same order. A damaged one of the user's ends here. */
static void advance_user(struct settle *s, const char *path)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	while (s->have_entry && strcmp(s->entry.path, path) < 0)
		s->have_entry = !ga_index_next(&s->user, &s->entry, &ignored);
}

/* Written by this checkout, or touched by the user since the last one. */
static bool needs_time(const struct settle *s, const struct ga_index_entry *e)
{
	if (e->skip_worktree || e->mode == GA_MODE_GITLINK)
		return false;
	if ((time_t)e->mtime >= s->since - 1)
		return true;
	return s->have_entry && !strcmp(s->entry.path, e->path) &&
	       ga_oid_equal(&s->entry.oid, &e->oid) &&
	       (s->entry.mtime != e->mtime || s->entry.mtime_ns != e->mtime_ns);
}

static int carry_time(struct settle *s, struct ga_index_entry *e, struct ga_error *err)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	struct stat st;

	if (fstatat(s->work, e->path, &st, AT_SYMLINK_NOFOLLOW) || !same_as_users(s, e, &st))
		return 0;
	ts[1] = st.st_mtim;
	if (utimensat(s->tree, e->path, ts, AT_SYMLINK_NOFOLLOW)) {
		cleanup_free char *q = ga_escape(e->path);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot set the time of '%s'", q);
	}
	e->mtime = (uint32_t)st.st_mtim.tv_sec;
	e->mtime_ns = (uint32_t)st.st_mtim.tv_nsec;
	put32(at_entry(s, e, GA_INDEX_MTIME), e->mtime);
	put32(at_entry(s, e, GA_INDEX_MTIME + 4), e->mtime_ns);
	return 0;
}

/* The template is trusted by its stat data, whole seconds and size only. A file
 * that has the mtime an agent's next write may get is marked there in git's own way,
 * by size 0: such entries are compared by content. The second of margin is
 * for the kernel's coarser clock. Nobody writes into the tree itself: its own index keeps the
 * size, or the next move would find the file changed. */
static void note_young(struct settle *s, const struct ga_index_entry *e)
{
	if ((time_t)e->mtime >= s->now - 1)
		ga_buf_add(&s->young, &e->offset, sizeof(e->offset));
	if (e->mtime > s->newest)
		s->newest = e->mtime;
}

static void mark_young(struct settle *s)
{
	for (size_t i = 0; i < s->young.len; i += sizeof(size_t)) {
		size_t offset;

		memcpy(&offset, s->young.ptr + i, sizeof(offset));
		put32((unsigned char *)s->bytes.ptr + offset + GA_INDEX_SIZE, 0);
	}
}

static void carry_dir_time(const struct settle *s, const char *dir)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	struct stat st;

	if (fstatat(s->work, dir, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
		return;
	ts[1] = st.st_mtim;
	(void)utimensat(s->tree, dir, ts, AT_SYMLINK_NOFOLLOW); /* sparse: may not be there */
}

/* Every directory once: entries below one follow each other. */
static void visit_dirs(struct settle *s, const char *path)
{
	size_t same = 0, i;

	for (i = 0; i < s->last_dir.len && path[i] && path[i] == s->last_dir.ptr[i]; i++)
		if (path[i] == '/')
			same = i + 1;
	for (i = same; path[i]; i++)
		if (path[i] == '/') {
			cleanup_free char *dir = ga_strndup(path, i);

			carry_dir_time(s, dir);
			same = i + 1;
		}
	ga_buf_clear(&s->last_dir);
	ga_buf_add(&s->last_dir, path, same);
}

static int settle_entries(struct settle *s, struct ga_error *err)
{
	struct ga_index_entry e;
	int rc;

	ga_buf_add(&s->bytes, s->base.map, s->base.len);
	while (!(rc = ga_index_next(&s->base, &e, err))) {
		advance_user(s, e.path);
		if (needs_time(s, &e) && carry_time(s, &e, err))
			return -1;
		visit_dirs(s, e.path);
		if (e.mode == GA_MODE_GITLINK)
			carry_dir_time(s, e.path);
		else if (!e.skip_worktree)
			note_young(s, &e);
	}
	return rc < 0 ? -1 : 0;
}

/* ---- putting it together ----------------------------------------------------------- */

/* Whole and under its name, or not at all. */
static int write_bytes(struct settle *s, const char *dir, const char *name, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, name), *new = ga_path_join(dir, "index.new");
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { 0, 0 } };
	cleanup_close int fd = -1;
	struct ga_sha sum;
	size_t n = s->bytes.len - GA_SHA1_RAWSZ;

	ga_sha1_init(&sum);
	ga_sha_add(&sum, s->bytes.ptr, n);
	ga_sha_end(&sum, (unsigned char *)s->bytes.ptr + n);
	/* past the newest entry, or git would compare that by content each time */
	ts[1].tv_sec = s->now > (time_t)s->newest ? s->now : (time_t)s->newest + 1;
	(void)unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ga_write_full(fd, s->bytes.ptr, s->bytes.len) || futimens(fd, ts) ||
	    rename(new, path)) {
		cleanup_free char *q = ga_escape(path);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write '%s'", q);
	}
	return 0;
}

/* The tree's own, and the template of private git dirs: one file where they are the same. */
static int write_index(struct settle *s, const char *dir, struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(dir, "index");
	cleanup_free char *git = ga_path_join(dir, "git/index");

	if (write_bytes(s, dir, "index", err))
		return -1;
	if (s->young.len) {
		mark_young(s);
		return write_bytes(s, dir, "git/index", err);
	}
	if ((unlink(git) && errno != ENOENT) || link(index, git)) {
		cleanup_free char *q = ga_escape(git);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write '%s'", q);
	}
	return 0;
}

static int carry_root(const struct settle *s, struct ga_error *err)
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

static int open_settle(const struct ga_repo *r, const char *dir, struct settle *s,
		       struct ga_error *err)
{
	cleanup_free char *tree = ga_path_join(dir, "tree"), *index = ga_path_join(dir, "index");
	cleanup_free char *users = ga_path_join(r->info.gitdir, "index");
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct stat st;
	int rc;

	s->tree = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->work = open(r->info.workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->tree < 0 || s->work < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open a base tree");
	rc = ga_index_open(index, &s->base, err);
	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "git read-tree wrote no index");
	if (rc)
		return -1;
	/* the user's is a help only: without it, files are compared */
	if (!stat(users, &st) && !ga_index_open(users, &s->user, &ignored)) {
		s->user_written = st.st_mtim.tv_sec;
		s->have_entry = !ga_index_next(&s->user, &s->entry, &ignored);
	}
	return 0;
}

int ga_base_settle(const struct ga_repo *r, const char *dir, time_t since, struct ga_error *err)
{
	cleanup_(settle_release) struct settle s = {
		.tree = -1, .work = -1, .base = GA_INDEX_INIT, .user = GA_INDEX_INIT,
		.since = since, .bytes = GA_BUF_INIT, .young = GA_BUF_INIT,
		.last_dir = GA_BUF_INIT,
	};

	if (open_settle(r, dir, &s, err))
		return -1;
	s.now = time(NULL);
	if (settle_entries(&s, err) || write_index(&s, dir, err))
		return -1;
	return carry_root(&s, err);
}
