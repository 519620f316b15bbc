/* SPDX-License-Identifier: MIT */
#include "ga/repo/objects.h"
#include "repo/objects-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"

#define PREFIX "tmp_objdir-git-agent-"
#define KEEP_TEXT "git-agent\n" /* the content of our .keep files; git and users write other
				 * things */
#define MAX_TRIES 100 /* to get hold of one before a sweep removes it */

/* ---- making and removing ---------------------------------------------------- */

static int fail_make(const struct ga_quarantine *q, struct ga_error *err)
{
	int e = errno;

	return ga_fail_path(err, e, "make a directory in", q->objects);
}

/* Make a directory with a new name and lock it. Returns 1 if a sweep removed it before it was
 * locked. Where nothing can be locked it stays unlocked: no sweep gets a lock there either. */
static int make_locked(struct ga_quarantine *q, struct ga_error *err)
{
	cleanup_error struct ga_error unlockable = GA_ERROR_INIT;
	struct stat locked, there;

	free(q->path);
	q->path = ga_path_join(q->objects, PREFIX "XXXXXX");
	if (!mkdtemp(q->path))
		return fail_make(q, err);
	ga_cleanup_closep(&q->lock);
	q->lock = open(q->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (q->lock < 0)
		return errno == ENOENT ? 1 : fail_make(q, err);
	if (ga_flock(q->lock, false, false, &unlockable) == 1)
		return 1;
	return fstat(q->lock, &locked) || lstat(q->path, &there) || locked.st_ino != there.st_ino;
}

static int make(struct ga_quarantine *q, struct ga_error *err)
{
	int rc = 1;

	for (unsigned tries = 0; rc == 1 && tries < MAX_TRIES; tries++)
		rc = make_locked(q, err);
	if (rc)
		return rc < 0 ? -1
			      : ga_fail(err, GA_EFATAL, "cannot keep a directory for new objects");
	q->packs = ga_path_join(q->path, "pack");
	return mkdir(q->packs, 0700) ? fail_make(q, err) : 0;
}

int ga_quarantine_begin_in(const char *objects, struct ga_quarantine **ret, struct ga_error *err)
{
	struct ga_quarantine *q = ga_calloc(1, sizeof(*q));

	q->objects = ga_strdup(objects);
	q->lock = -1;
	if (make(q, err)) {
		ga_quarantine_free(q);
		return -1;
	}
	*ret = q;
	return 0;
}

int ga_quarantine_begin(const struct ga_repo *r, struct ga_quarantine **ret, struct ga_error *err)
{
	return ga_quarantine_begin_in(r->objects, ret, err);
}

void ga_quarantine_free(struct ga_quarantine *q)
{
	if (!q)
		return;
	/* without a descriptor the directory was never made, or may be another process's; usually
	 * it is empty, as all packs were moved */
	if (q->lock >= 0 && (rmdir(q->packs) || rmdir(q->path)))
		(void)ga_rmtree_at(AT_FDCWD, q->path, GA_IGNORED);
	ga_cleanup_closep(&q->lock);
	free(q->objects);
	free(q->path);
	free(q->packs);
	free(q);
}

/* Remove a quarantine that can be locked: an owner that is alive holds a lock. */
static void sweep_one(int objects, const char *name)
{
	cleanup_close int fd = openat(objects, name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && !ga_flock(fd, true, false, GA_IGNORED))
		(void)ga_rmtree_at(objects, name, GA_IGNORED);
}

static void sweep_in(const char *objects)
{
	cleanup_dir DIR *d = opendir(objects);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (!strncmp(e->d_name, PREFIX, strlen(PREFIX)))
			sweep_one(dirfd(d), e->d_name);
}

void ga_import_sweep(struct ga_repo *r)
{
	cleanup_free char *common = ga_path_join(r->info.commondir, "objects");

	sweep_in(common);
	if (r->private)
		sweep_in(r->objects);
}

/* ---- moving in ------------------------------------------------------------- */

struct move {
	int src, dst;        /* directories: the quarantine's packs, the repository's */
	char *dst_path;
	struct ga_error *err;
};

static int fail_move(struct move *m, const char *name)
{
	cleanup_free char *path = ga_path_join(m->dst_path, name);

	return ga_fail_path(m->err, errno, "write", path);
}

/* Rename without replacing. Some file systems, NFS among them, cannot: there, check first whether
 * the name is free. */
static int rename_new(struct move *m, const char *name)
{
	if (!renameat2(m->src, name, m->dst, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -1;
	if (!faccessat(m->dst, name, F_OK, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return renameat(m->src, name, m->dst, name);
}

/* The .keep file is made before the pack that it protects. It protects it from a git that runs at
 * the same time, so it need not survive a power cut. One that exists belongs to somebody else, and
 * must stay when ours is removed. Ours gets its content before its name: an empty one may be the
 * user's, and would never be swept. */
static int make_keep(struct move *m, const char *name, struct ga_strv *keeps)
{
	if (ga_write_new(m->src, name, KEEP_TEXT, strlen(KEEP_TEXT), 0444, m->err))
		return -1;
	if (rename_new(m, name))
		return errno == EEXIST ? 0 : fail_move(m, name);
	ga_strv_take(keeps, ga_path_join(m->dst_path, name));
	return 0;
}

/* In the order in which they are moved: git ignores a pack that has no index yet. */
static const char *const suffixes[] = { ".pack", ".rev", ".idx" };
enum { N_SUFFIXES = GA_NELEMS(suffixes) };

/* Start writing all files to the disk before waiting for any. */
static int sync_pack(struct move *m, char *const *names, const int *fds)
{
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (fds[i] >= 0)
			ga_write_out(fds[i]);
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (fds[i] >= 0 && fsync(fds[i]))
			return fail_move(m, names[i]);
	return 0;
}

/* A pack is named after the checksum of its bytes: one that exists under this name is the same. */
static int rename_pack(struct move *m, char *const *names, const int *fds)
{
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (fds[i] >= 0 && renameat(m->src, names[i], m->dst, names[i]))
			return fail_move(m, names[i]);
	return 0;
}

static int open_pack(struct move *m, char *const *names, int *fds)
{
	for (size_t i = 0; i < N_SUFFIXES; i++) {
		fds[i] = openat(m->src, names[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		/* only some versions write the second */
		if (fds[i] < 0 && !(i == 1 && errno == ENOENT))
			return fail_move(m, names[i]);
	}
	return 0;
}

static int move_pack(struct move *m, const char *pack, struct ga_strv *keeps)
{
	cleanup_free char *stem = ga_strndup(pack, strlen(pack) - strlen(".pack"));
	cleanup_free char *keep = ga_strf("%s.keep", stem);
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	int fds[N_SUFFIXES] = { -1, -1, -1 }, rc;

	for (size_t i = 0; i < N_SUFFIXES; i++)
		ga_strv_pushf(&names, "%s%s", stem, suffixes[i]);
	rc = make_keep(m, keep, keeps) || open_pack(m, names.v, fds) ||
			     sync_pack(m, names.v, fds) || rename_pack(m, names.v, fds) ? -1 : 0;
	for (size_t i = 0; i < N_SUFFIXES; i++)
		ga_cleanup_closep(&fds[i]);
	return rc;
}

static int list_packs(struct move *m, const char *path, struct ga_strv *ret)
{
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return ga_fail_path(m->err, errno, "read", path);
	while ((e = ga_dir_next(d)))
		if (ga_ends_in(e->d_name, ".pack"))
			ga_strv_push(ret, e->d_name);
	/* refs will name what is in all of them */
	return errno ? ga_fail_path(m->err, errno, "read", path) : 0;
}

static int move_all(struct move *m, const char *from, struct ga_strv *keeps)
{
	cleanup_strv struct ga_strv packs = GA_STRV_INIT;

	if (list_packs(m, from, &packs))
		return -1;
	for (size_t i = 0; i < packs.n; i++)
		if (move_pack(m, packs.v[i], keeps))
			return -1;
	return fsync(m->dst) ? fail_move(m, ".") : 0;
}

int ga_quarantine_move(struct ga_quarantine *q, struct ga_strv *keeps, struct ga_error *err)
{
	cleanup_free char *dst_path = ga_path_join(q->objects, "pack");
	cleanup_close int src = -1, dst = -1;
	struct move m = { -1, -1, dst_path, err };
	size_t had = keeps->n;

	if (ga_fault_stop("objects:migrate", err) || ga_mkdir_p(dst_path, 0777, err))
		return -1;
	m.src = src = open(q->packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	m.dst = dst = open(dst_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (src < 0 || dst < 0)
		return fail_move(&m, ".");
	if (!move_all(&m, q->packs, keeps))
		return 0;
	/* packs that were moved already hold nothing that is referred to; `git gc` removes them */
	while (keeps->n > had) {
		(void)unlink(keeps->v[--keeps->n]);
		free(keeps->v[keeps->n]);
		keeps->v[keeps->n] = NULL;
	}
	return -1;
}

int ga_quarantine_migrate(struct ga_repo *r, struct ga_quarantine *q, struct ga_strv *keeps,
			  struct ga_error *err)
{
	if (ga_quarantine_move(q, keeps, err))
		return -1;
	return ga_odb_refresh(r) ? ga_fail_git(err, "cannot read the new objects") : 0;
}

static int add_file(const struct ga_quarantine *q, const char *stem, const char *suffix,
		    const struct ga_buf *b, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("%s/%s%s", q->packs, stem, suffix);

	return ga_write_new(AT_FDCWD, path, b->ptr, b->len, 0444, err);
}

int ga_quarantine_add(const struct ga_quarantine *q, const char *stem, const struct ga_buf *pack,
		      const struct ga_buf *index, struct ga_error *err)
{
	return add_file(q, stem, ".pack", pack, err) || add_file(q, stem, ".idx", index, err) ? -1
											     : 0;
}

static void sweep_keep(int packs, const char *name)
{
	cleanup_error struct ga_error foreign = GA_ERROR_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (!ga_read_file_at(packs, name, strlen(KEEP_TEXT), &text, &foreign) &&
	    !strcmp(text.ptr, KEEP_TEXT))
		(void)unlinkat(packs, name, 0);
}

void ga_keeps_sweep(struct ga_repo *r)
{
	cleanup_free char *path = ga_path_join(r->info.commondir, "objects/pack");
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (ga_ends_in(e->d_name, ".keep"))
			sweep_keep(dirfd(d), e->d_name);
}
