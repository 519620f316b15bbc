/* SPDX-License-Identifier: MIT */
#include "ga/gitdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "gitdir-internal.h"

#define SHALLOW_MAX ((size_t)256 << 20)
#define PACKED_MAX ((size_t)256 << 20)

/* How far untouched() looks before it calls anything changed. */
#define MAX_ENTRIES 256
#define MAX_DEPTH 24
/* How far has_trap() does: work on a large history leaves many loose objects. */
#define MAX_TRAP_ENTRIES 2000000
#define MAX_TRAP_DEPTH 64

/* ---- writing --------------------------------------------------------------------- */

/* The directory is ours and new: no atomic replacement, no sync. */
static int write_file(int at, const char *path, const struct ga_buf *b, struct ga_error *err)
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	cleanup_close int fd = openat(at, path, flags, 0644);

	if (fd < 0 || ga_write_full(fd, b->ptr, b->len)) {
		cleanup_free char *q = ga_escape(path);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write '%s'", q);
	}
	return 0;
}

static int write_parents(int at, const char *path, struct ga_error *err)
{
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(p - path));

		if (mkdirat(at, dir, 0755) && errno != EEXIST) {
			cleanup_free char *q = ga_escape(dir);

			return ga_fail_errno(err, GA_EFATAL, errno, "cannot create '%s'", q);
		}
	}
	return 0;
}

static int write_at(int at, const char *path, const struct ga_buf *b, struct ga_error *err)
{
	return write_parents(at, path, err) ? -1 : write_file(at, path, b, err);
}

/* ---- the host's files -------------------------------------------------------------- */

static int copy_host_file(int at, const char *from, size_t max, const char *to, bool *ret_there,
			  struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	*ret_there = false;
	if (!from)
		return 0;
	if (ga_user_file_read(from, max, &b, err))
		return -1;
	*ret_there = b.len > 0;
	return b.len ? write_at(at, to, &b, err) : 0;
}

/* info/exclude after core.excludesFile: the later pattern wins, as it does for git. */
static int write_excludes(int at, const struct ga_repo *r, const struct ga_gitconfig *c,
			  struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(r->info.commondir, "info/exclude"), *user = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_user_file(r, c, "core.excludesfile", "ignore", &user, err) ||
	    (user && ga_user_file_read(user, GA_RULES_MAX, &b, err)) ||
	    ga_user_file_read(info, GA_RULES_MAX, &b, err))
		return -1;
	return write_at(at, "info/exclude", &b, err);
}

static int write_rules(int at, const struct ga_repo *r, const struct ga_gitconfig *c,
		       bool *ret_attributes, struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(r->info.commondir, "info/attributes"), *user = NULL;
	cleanup_free char *sparse = ga_path_join(r->info.gitdir, "info/sparse-checkout");
	cleanup_free char *shallow = ga_path_join(r->info.commondir, "shallow");
	bool there;

	if (ga_user_file(r, c, "core.attributesfile", "attributes", &user, err) ||
	    write_excludes(at, r, c, err) ||
	    copy_host_file(at, info, GA_RULES_MAX, "info/attributes", &there, err) ||
	    copy_host_file(at, shallow, SHALLOW_MAX, "shallow", &there, err))
		return -1;
	if (ga_gitconfig_bool(c, "core.sparsecheckout", false) &&
	    copy_host_file(at, sparse, GA_RULES_MAX, "info/sparse-checkout", &there, err))
		return -1;
	return copy_host_file(at, user, GA_RULES_MAX, GA_GITDIR_ATTRIBUTES, ret_attributes, err);
}

/* ---- refs --------------------------------------------------------------------------- */

static void head_text(const struct ga_gitdir_spec *s, struct ga_buf *b)
{
	ga_buf_addf(b, "ref: %s\n", s->branch);
}

static void branch_text(const struct ga_gitdir_spec *s, struct ga_buf *b)
{
	ga_buf_addf(b, "%s\n", GA_HEX(s->base));
}

static bool is_sorted(const struct ga_refs *refs)
{
	for (size_t i = 1; i < refs->n; i++)
		if (strcmp(refs->v[i - 1].name, refs->v[i].name) >= 0)
			return false;
	return true;
}

/* No claim about peeled tags is made: git looks at those itself. */
static void packed_text(const struct ga_gitdir_spec *s, struct ga_buf *b)
{
	if (is_sorted(s->refs))
		ga_buf_adds(b, "# pack-refs with: sorted \n");
	for (size_t i = 0; i < s->refs->n; i++)
		if (strcmp(s->refs->v[i].name, s->branch))
			ga_buf_addf(b, "%s %s\n", GA_HEX(&s->refs->v[i].oid), s->refs->v[i].name);
}

/* The id the bytes would have as a blob, which nobody writes; NULL on failure. */
static char *digest(const struct ga_buf *b)
{
	struct ga_oid oid;
	git_oid id;

	if (git_odb_hash(&id, b->ptr, b->len, GIT_OBJECT_BLOB))
		return NULL;
	oid = ga_from_git_oid(&id);
	return ga_strf("%s\n", GA_HEX(&oid));
}

/* Beside the git dir, out of the agent's reach: what its packed refs were. */
static int write_seal(const char *dir, const struct ga_buf *packed, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("%s.refs", dir), *text = digest(packed);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (!text)
		return ga_fail_git(err, "cannot seal the private git dir");
	(void)unlink(path);
	ga_buf_adds(&b, text);
	return write_file(AT_FDCWD, path, &b, err);
}

static int write_refs(int at, const char *dir, const struct ga_gitdir_spec *s,
		      struct ga_error *err)
{
	cleanup_buf struct ga_buf head = GA_BUF_INIT, branch = GA_BUF_INIT, packed = GA_BUF_INIT;

	head_text(s, &head);
	branch_text(s, &branch);
	packed_text(s, &packed);
	if (write_parents(at, "refs/tags/", err) || write_parents(at, "refs/heads/", err) ||
	    write_at(at, s->branch, &branch, err) || write_at(at, "packed-refs", &packed, err) ||
	    write_seal(dir, &packed, err))
		return -1;
	return write_at(at, "HEAD", &head, err);
}

/* So that HEAD@{1} and `git reflog` work from the first commit on. */
static int write_logs(int at, const struct ga_repo *r, const struct ga_gitdir_spec *s,
		      struct ga_error *err)
{
	static const struct ga_oid zero = { { 0 } };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *who = NULL, *path = ga_path_join("logs", s->branch);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_repo_identity(r, s->config, &who, &ignored))
		who = ga_strdup("nobody <>");
	ga_buf_addf(&b, "%s %s %s %lld +0000\tstart\n", GA_HEX(&zero), GA_HEX(s->base), who,
		    (long long)time(NULL));
	return write_at(at, "logs/HEAD", &b, err) || write_at(at, path, &b, err) ? -1 : 0;
}

static int write_objects(int at, const struct ga_gitdir_spec *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < s->object_paths->n; i++) {
		const char *p = s->object_paths->v[i];

		if (*p != '/' || strchr(p, '\n'))
			return ga_fail(err, GA_EFATAL, "an object directory has no usable path");
		ga_buf_addf(&b, "%s\n", p);
	}
	if (write_parents(at, "objects/pack/", err))
		return -1;
	return write_at(at, "objects/info/alternates", &b, err);
}

int ga_gitdir_fill(struct ga_repo *r, const char *dir, const struct ga_gitdir_spec *s,
		   struct ga_error *err)
{
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_buf struct ga_buf config = GA_BUF_INIT;
	bool attributes = false;

	if (at < 0) {
		cleanup_free char *q = ga_escape(dir);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", q);
	}
	if (write_rules(at, r, s->config, &attributes, err))
		return ga_error_wrap(err, "cannot make the private git dir");
	ga_gitdir_config(r, s->config, attributes, &config);
	if (write_at(at, "config", &config, err) || write_objects(at, s, err) ||
	    write_logs(at, r, s, err) || write_refs(at, dir, s, err))
		return ga_error_wrap(err, "cannot make the private git dir");
	return 0;
}

/* ---- what is left of it ---------------------------------------------------------------- */

static bool read_left(int at, const char *path, size_t max, struct ga_buf *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int fd = ga_openat_beneath(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       !ga_read_fd(fd, max, ret, &ignored);
}

static bool content_is(int at, const char *path, const struct ga_buf *want)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return read_left(at, path, want->len, &b) && b.len == want->len &&
	       !memcmp(b.ptr, want->ptr, b.len);
}

static bool packed_refs_are_as_sealed(int at, const char *dir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *path = ga_strf("%s.refs", dir), *now = NULL;
	cleanup_buf struct ga_buf seal = GA_BUF_INIT, b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, path, 4096, &seal, &ignored) ||
	    !read_left(at, "packed-refs", PACKED_MAX, &b))
		return false;
	now = digest(&b);
	return now && !strcmp(now, seal.ptr);
}

/* Directories without files, and the one branch: nothing else below refs/. */
static bool only_branch(int at, const char *path, const char *branch, unsigned depth,
			unsigned *left)
{
	cleanup_close int fd = -1;
	struct dirent *e;
	bool ok = true;
	DIR *d;

	fd = ga_openat_beneath(at, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	if (fd < 0 || depth > MAX_DEPTH)
		return false;
	d = fdopendir(fd);
	if (!d)
		return false;
	fd = -1; /* closed with `d` */
	while (ok && (e = readdir(d))) {
		cleanup_free char *sub = ga_path_join(path, e->d_name);
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!(*left)-- || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			ok = false;
		else if (S_ISDIR(st.st_mode))
			ok = only_branch(at, sub, branch, depth + 1, left);
		else
			ok = S_ISREG(st.st_mode) && !strcmp(sub, branch);
		if (!*left)
			ok = false;
	}
	(void)closedir(d);
	return ok;
}

int ga_gitdir_untouched(const char *dir, const struct ga_gitdir_spec *s, struct ga_error *err)
{
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_buf struct ga_buf head = GA_BUF_INIT, branch = GA_BUF_INIT;
	unsigned left = MAX_ENTRIES;
	struct stat st;

	if (at < 0) {
		cleanup_free char *q = ga_escape(dir);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", q);
	}
	head_text(s, &head);
	branch_text(s, &branch);
	/* other working trees have heads of their own, reftables have all refs in them */
	if (!fstatat(at, "worktrees", &st, AT_SYMLINK_NOFOLLOW) ||
	    !fstatat(at, "reftable", &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return content_is(at, "HEAD", &head) && content_is(at, s->branch, &branch) &&
	       packed_refs_are_as_sealed(at, dir) &&
	       only_branch(at, "refs", s->branch, 0, &left);
}

static bool trap_at(int fd, bool refs, unsigned depth, unsigned *left)
{
	DIR *d = fdopendir(fd);
	bool found = false;
	struct dirent *e;

	if (!d) {
		(void)close(fd);
		return true;
	}
	while (!found && (e = readdir(d))) {
		struct stat st;
		int sub;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!*left || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW)) {
			found = true;
			break;
		}
		--*left;
		if (!S_ISDIR(st.st_mode)) {
			found = S_ISFIFO(st.st_mode) || (refs && S_ISLNK(st.st_mode));
			continue;
		}
		sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* the descriptor is the callee's, which closes it */
		found = sub < 0 || depth >= MAX_TRAP_DEPTH ||
			trap_at(sub, refs || (!depth && !strcmp(e->d_name, "refs")), depth + 1,
				left);
		if (sub >= 0 && depth >= MAX_TRAP_DEPTH)
			(void)close(sub);
	}
	(void)closedir(d);
	return found;
}

bool ga_gitdir_has_trap(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned left = MAX_TRAP_ENTRIES;

	return fd < 0 || trap_at(fd, false, 0, &left);
}
