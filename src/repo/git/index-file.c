/* SPDX-License-Identifier: MIT
 *
 * Read and compose an index: its entries, submodules, cached tree, and stat data.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/sha.h"
#include "ga/repo/repo.h"
#include "ga/sys/fd.h"
#include "repo/index-file.h"
#include "repo/repo-internal.h"

#define HEADER 12
#define TRAILER GA_OID_RAWSZ
#define FLAG_ASSUME_UNCHANGED 0x8000u
#define FLAG_EXTENDED 0x4000u
#define FLAG_LENGTH 0xfffu /* length of the path, or this if it is longer */
#define XFLAG_SKIP_WORKTREE 0x4000u
#define XFLAG_INTENT_TO_ADD 0x2000u

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static unsigned be16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

void ga_index_release(struct ga_index *ix)
{
	union {
		const unsigned char *in;
		void *out;
	} map = { .in = ix->map };

	if (ix->map)
		(void)munmap(map.out, ix->len);
	ga_buf_release(&ix->path);
	*ix = (struct ga_index)GA_INDEX_INIT;
}

void ga_index_rewind(struct ga_index *ix)
{
	ix->pos = HEADER;
	ix->i = 0;
	ga_buf_clear(&ix->path);
}

static int damaged(struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "the index is damaged"
		       GA_HINT "see what 'git status' says");
}

/* git replaces an index by rename, so a mapped one is not truncated. */
static int map_file(const char *path, struct ga_index *ix, struct ga_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	void *map;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_path(err, errno, "open", path);
	if (!S_ISREG(st.st_mode) || st.st_size < HEADER + TRAILER)
		return damaged(err);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return ga_fail_path(err, errno, "map", path);
	ix->map = map;
	ix->len = (size_t)st.st_size;
	return 0;
}

int ga_index_open(const char *path, struct ga_index *ret, struct ga_error *err)
{
	cleanup_index struct ga_index ix = GA_INDEX_INIT;
	int rc = map_file(path, &ix, err);

	if (rc)
		return rc;
	ix.version = be32(ix.map + 4);
	ix.n = be32(ix.map + GA_INDEX_COUNT);
	ga_index_rewind(&ix);
	if (memcmp(ix.map, "DIRC", 4) || ix.version < 2 || ix.version > 4)
		return damaged(err);
	*ret = ix;
	ix = (struct ga_index)GA_INDEX_INIT;
	return 0;
}

/* Version 4 stores how many bytes to remove from the end of the previous path, and what to
 * append. */
static bool read_prefix(struct ga_index *ix, size_t end)
{
	size_t strip = 0;
	unsigned char c;

	if (ix->pos >= end)
		return false;
	c = ix->map[ix->pos++];
	strip = c & 0x7f;
	while (c & 0x80) {
		if (ix->pos >= end || strip > (SIZE_MAX >> 8))
			return false;
		c = ix->map[ix->pos++];
		strip = ((strip + 1) << 7) | (c & 0x7f);
	}
	if (strip > ix->path.len)
		return false;
	ga_buf_truncate(&ix->path, ix->path.len - strip);
	return true;
}

/* `n`: its length, or FLAG_LENGTH if it is that long or longer. Returns NULL if the file is
 * damaged. */
static const char *read_path(struct ga_index *ix, size_t start, size_t n, size_t end)
{
	const char *path = (const char *)ix->map + ix->pos;
	const unsigned char *nul;

	if (ix->version == 4 && !read_prefix(ix, end))
		return NULL;
	if (ix->version != 4 && n < FLAG_LENGTH && n < end - ix->pos && !path[n])
		nul = ix->map + ix->pos + n;
	else
		nul = memchr(ix->map + ix->pos, 0, end - ix->pos);
	if (!nul)
		return NULL;
	if (ix->version == 4) {
		ga_buf_add(&ix->path, ix->map + ix->pos, (size_t)(nul - (ix->map + ix->pos)));
		path = ix->path.ptr;
	}
	ix->pos = (size_t)(nul - ix->map) + 1;
	if (ix->version != 4) /* 1 to 8 NULs end an entry at a multiple of 8 from its start */
		ix->pos = start + (((ix->pos - 1 - start) + 8) & ~(size_t)7);
	/* may be empty: in a split index, an entry that replaces a shared one has no name */
	return ix->pos <= end ? path : NULL;
}

const unsigned char *ga_index_extension(const struct ga_index *ix, const char *name, size_t *n)
{
	size_t at = ix->pos, end = ix->len - TRAILER;

	while (at <= end && end - at >= 8) {
		const unsigned char *e = ix->map + at;

		*n = be32(e + 4);
		if (*n > end - at - 8)
			return NULL;
		if (!memcmp(e, name, 4))
			return e + 8;
		at += 8 + *n;
	}
	return NULL;
}

int ga_index_next(struct ga_index *ix, struct ga_index_entry *ret, struct ga_error *err)
{
	size_t end = ix->len - TRAILER, start = ix->pos;
	const unsigned char *e = ix->map + start;
	unsigned flags, xflags = 0;
	size_t n;

	if (ix->i == ix->n) {
		ix->split = ga_index_extension(ix, "link", &n) != NULL;
		return 1;
	}
	if (end < start || end - start < GA_INDEX_FLAGS + 4)
		return damaged(err);
	flags = be16(e + GA_INDEX_FLAGS);
	ix->pos = start + GA_INDEX_FLAGS + 2;
	if (flags & FLAG_EXTENDED) {
		xflags = be16(e + GA_INDEX_FLAGS + 2);
		ix->pos += 2;
	}
	ret->path = read_path(ix, start, flags & FLAG_LENGTH, end);
	if (!ret->path)
		return damaged(err);
	ix->i++;
	ret->offset = start;
	ret->len = ix->pos - start;
	ret->mtime = be32(e + GA_INDEX_MTIME);
	ret->mtime_ns = be32(e + GA_INDEX_MTIME + 4);
	ret->mode = be32(e + GA_INDEX_MODE);
	ret->size = be32(e + GA_INDEX_SIZE);
	memcpy(ret->oid.id, e + GA_INDEX_OID, GA_OID_RAWSZ);
	ret->stage = (flags >> 12) & 3;
	ret->skip_worktree = (xflags & XFLAG_SKIP_WORKTREE) != 0;
	ret->intent_to_add = (xflags & XFLAG_INTENT_TO_ADD) != 0;
	ret->assume_unchanged = (flags & FLAG_ASSUME_UNCHANGED) != 0;
	return 0;
}

/* ---- writing one ------------------------------------------------------------------- */

void ga_index_put32(char *at, uint32_t v)
{
	const unsigned char b[4] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
				     (unsigned char)(v >> 8), (unsigned char)v };

	memcpy(at, b, sizeof(b));
}

void ga_index_begin(struct ga_buf *out)
{
	static const char header[HEADER] = "DIRC\0\0\0\2";

	ga_buf_clear(out);
	ga_buf_add(out, header, HEADER);
}

void ga_index_add(struct ga_buf *out, const char *path, const struct ga_entry *e)
{
	static const char pad[8];
	size_t n = strlen(path), at = out->len;
	char fixed[GA_INDEX_FLAGS + 2] = { 0 };
	size_t flags = n < FLAG_LENGTH ? n : FLAG_LENGTH;

	ga_index_put32(fixed + GA_INDEX_MODE, e->mode);
	memcpy(fixed + GA_INDEX_OID, e->oid.id, GA_OID_RAWSZ);
	fixed[GA_INDEX_FLAGS] = (char)(flags >> 8);
	fixed[GA_INDEX_FLAGS + 1] = (char)(flags & 0xff);
	ga_buf_add(out, fixed, sizeof(fixed));
	ga_buf_add(out, path, n);
	ga_buf_add(out, pad, 8 - (out->len - at) % 8);
}

void ga_index_add_extension(struct ga_buf *out, const char *name, const void *p, size_t n)
{
	char size[4];

	ga_index_put32(size, (uint32_t)n);
	ga_buf_add(out, name, 4);
	ga_buf_add(out, size, sizeof(size));
	ga_buf_add(out, p, n);
}

void ga_index_end(struct ga_buf *out, uint32_t n)
{
	unsigned char sum[GA_SHA1_RAWSZ];
	struct ga_sha s;

	ga_index_put32(out->ptr + GA_INDEX_COUNT, n);
	ga_sha1_init(&s);
	ga_sha_add(&s, out->ptr, out->len);
	ga_sha_end(&s, sum);
	ga_buf_add(out, sum, sizeof(sum));
}

/* ---- the tree it is ---------------------------------------------------------------- */

/* Read all entries. Returns false if one is unmerged or intent-to-add, or if that is unknown. */
static bool read_all_entries(struct ga_index *ix)
{
	struct ga_index_entry e;
	bool a_tree = true;
	int rc;

	while (!(rc = ga_index_next(ix, &e, GA_IGNORED)))
		a_tree = a_tree && !e.stage && !e.intent_to_add;
	return a_tree && rc > 0 && !ix->split;
}

/* Parse the root's entry in "TREE": an empty name, NUL, the number of index entries within it, that
 * of its subdirectories, and its id. If git no longer knows its tree the first number is negative,
 * and does not match. */
static bool parse_root(const unsigned char *p, size_t n, uint32_t entries, struct ga_oid *ret)
{
	cleanup_free char *want = ga_strf("%" PRIu32 " ", entries);
	const unsigned char *nl = n ? memchr(p, '\n', n) : NULL;
	size_t len = strlen(want);

	if (!nl || *p || (size_t)(nl - p) < 1 + len || memcmp(p + 1, want, len) != 0 ||
	    n - (size_t)(nl + 1 - p) < GA_OID_RAWSZ)
		return false;
	memcpy(ret->id, nl + 1, GA_OID_RAWSZ);
	return true;
}

bool ga_index_tree(struct ga_index *ix, struct ga_oid *ret)
{
	const unsigned char *tree;
	size_t n;

	if (!read_all_entries(ix))
		return false;
	tree = ga_index_extension(ix, "TREE", &n);
	return tree && parse_root(tree, n, ix->n, ret);
}

int ga_repo_index_tree(const struct ga_repo *r, struct ga_oid *ret)
{
	cleanup_free char *path = ga_path_join(ga_repo_info(r)->gitdir, "index");
	cleanup_index struct ga_index ix = GA_INDEX_INIT;

	return ga_index_open(path, &ix, GA_IGNORED) || !ga_index_tree(&ix, ret);
}

/* Does the file match the entry's stat data, and is the entry not racily clean? A missing file
 * does. */
static bool is_up_to_date(int root, const struct ga_index_entry *e, const struct timespec *written)
{
	struct stat st;

	if (fstatat(root, e->path, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	return !((st.st_mode ^ e->mode) & (S_IFMT | S_IXUSR)) && (uint32_t)st.st_size == e->size &&
	       (uint32_t)st.st_mtim.tv_sec == e->mtime &&
	       (uint32_t)st.st_mtim.tv_nsec == e->mtime_ns &&
	       (st.st_mtime < written->tv_sec ||
		(st.st_mtime == written->tv_sec && st.st_mtim.tv_nsec < written->tv_nsec));
}

void ga_repo_check_index(const struct ga_repo *r, const struct ga_changes *changes,
			 struct ga_index_state *ret)
{
	cleanup_free char *path = ga_path_join(ga_repo_info(r)->gitdir, "index");
	cleanup_close int root = open(ga_repo_info(r)->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_index struct ga_index ix = GA_INDEX_INIT;
	struct ga_index_entry e;
	struct stat st;
	size_t at = 0;
	int rc = stat(path, &st) ? 1 : ga_index_open(path, &ix, GA_IGNORED);

	*ret = (struct ga_index_state){ .marked = false };
	while (!rc && !(rc = ga_index_next(&ix, &e, GA_IGNORED))) {
		ret->marked |= e.skip_worktree || e.assume_unchanged;
		while (at < changes->n && strcmp(changes->v[at].path, e.path) < 0)
			at++;
		if (at < changes->n && !strcmp(changes->v[at].path, e.path))
			ret->touched |= !is_up_to_date(root, &e, &st.st_mtim);
	}
	if (rc < 0 || ix.split)
		*ret = (struct ga_index_state){ .marked = true, .touched = true };
}

bool ga_index_is_unmerged(const char *gitdir)
{
	cleanup_free char *path = ga_path_join(gitdir, "index");
	cleanup_index struct ga_index ix = GA_INDEX_INIT;
	struct ga_index_entry e;
	int rc = ga_index_open(path, &ix, GA_IGNORED);

	while (!rc && !(rc = ga_index_next(&ix, &e, GA_IGNORED)))
		if (e.stage)
			return true;
	return false;
}

#define OUTPUT_MAX ((size_t)4 << 30)

/* A split index has entries in another file: git puts them together. */
static int gitlinks_by_git(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "--stage", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *rec, *tab;
	size_t pos = 0;
	struct ga_git g = GA_GIT(.args = args, .work_tree = r->info.workdir, .out = &out,
				 .out_max = OUTPUT_MAX);

	if (ga_git_ok(r, &g, err))
		return -1;
	while ((rec = ga_buf_next0(&out, &pos))) {
		tab = strchr(rec, '\t');
		if (tab && !strncmp(rec, "160000 ", 7))
			ga_strv_push(ret, tab + 1);
	}
	return 0;
}

int ga_repo_gitlinks(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(r->info.gitdir, "index");
	cleanup_index struct ga_index ix = GA_INDEX_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct ga_index_entry e;
	int rc = ga_index_open(file, &ix, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	while (!(rc = ga_index_next(&ix, &e, err)))
		if (e.mode == GA_MODE_GITLINK && *e.path)
			ga_strv_push(&paths, e.path);
	if (rc < 0)
		return -1;
	if (ix.split)
		return gitlinks_by_git(r, ret, err);
	ga_strv_extend(ret, &paths);
	return 0;
}

/* The nearest directory above with a `.git`, which no merge can create; unlike git, ignore
 * directories that look like a bare repository. */
static char *find_above(const char *workdir)
{
	cleanup_free char *dir = ga_path_parent(workdir);

	while (strlen(dir) > 1) {
		cleanup_free char *git = ga_path_join(dir, ".git");
		struct stat st;

		if (!lstat(git, &st))
			return ga_steal(&dir);
		ga_path_up(dir);
	}
	return NULL;
}

int ga_repo_superproject(struct ga_repo *r, struct ga_repo **ret, struct ga_error *err)
{
	cleanup_free char *dir = find_above(r->info.workdir);
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_repo struct ga_repo *above = NULL;

	/* git does not open it either, or we cannot read it */
	if (!dir || ga_repo_open_as_is(dir, &above, &odd) || strcmp(above->info.workdir, dir) != 0)
		return 1;
	if (ga_repo_gitlinks(above, &paths, err))
		return -1;
	if (!ga_strv_has(&paths, ga_path_below(r->info.workdir, dir)))
		return 1;
	*ret = ga_steal(&above);
	return 0;
}
