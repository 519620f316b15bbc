/* SPDX-License-Identifier: MIT */
#include "ga/repo/gitdir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "gitdir-internal.h"

#define SHALLOW_MAX ((size_t)256 << 20)
#define LOG_MAX ((size_t)16 << 20)
#define PACKED_MAX ((size_t)256 << 20)

/* Limits for reading refs/; beyond them it counts as changed. */
#define MAX_ENTRIES 256
#define MAX_DEPTH 24
/* Limits of ga_gitdir_has_trap(), beyond which there is a trap. Work on a large history leaves many
 * loose objects. */
#define MAX_TRAP_ENTRIES 2000000
#define MAX_TRAP_DEPTH 64

/* ---- writing: the directory is ours and new --------------------------------------- */

static int write_file(int at, const char *path, const struct ga_buf *b, struct ga_error *err)
{
	return ga_write_new(at, path, b->ptr, b->len, 0644, err);
}

static int write_at(int at, const char *path, const struct ga_buf *b, struct ga_error *err)
{
	return ga_make_parents(at, path, NULL, err) ? -1 : write_file(at, path, b, err);
}

/* A git dir being made: `at` is the layer that is written, `below` the template over which it will
 * be mounted (-1: none). */
struct writer {
	int at, below;
};

static bool read_regular(int at, const char *path, size_t max, struct ga_buf *ret)
{
	cleanup_close int fd = ga_openat_beneath(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       !ga_read_fd(fd, max, ret, GA_IGNORED);
}

static bool content_is(int at, const char *path, const struct ga_buf *want)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return read_regular(at, path, want->len, &b) && ga_buf_equal(&b, want);
}

static bool is_below(const struct writer *w, const char *path)
{
	return w->below >= 0 && !faccessat(w->below, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Write a file unless the template has it with this content: creating one takes ten times as long
 * as reading one. */
static int put(const struct writer *w, const char *path, const struct ga_buf *b,
	       struct ga_error *err)
{
	if (w->below >= 0 && content_is(w->below, path, b))
		return 0;
	return write_at(w->at, path, b, err);
}

/* Create a directory unless the template has it. `path` ends in a slash. */
static int put_dir(const struct writer *w, const char *path, struct ga_error *err)
{
	return is_below(w, path) ? 0 : ga_make_parents(w->at, path, NULL, err);
}

/* ---- the host's files -------------------------------------------------------------- */

/* Copy a file of the host. One that is missing or empty is not created, unless it has to hide the
 * template's. */
static int put_host_file(const struct writer *w, const char *from, const char *to, bool *ret_there,
			 struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (from && ga_user_file_read(from, GA_RULES_MAX, &b, err))
		return -1;
	*ret_there = b.len > 0;
	return b.len || is_below(w, to) ? put(w, to, &b, err) : 0;
}

/* info/exclude follows core.excludesFile: the last pattern that matches wins, so it takes
 * precedence, as it does on the host. */
static int put_excludes(const struct writer *w, const struct ga_repo *r,
			const struct ga_gitconfig *c, struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(r->info.commondir, "info/exclude"), *user = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_user_file(r, c, "core.excludesfile", "ignore", &user, err) ||
	    (user && ga_user_file_read(user, GA_RULES_MAX, &b, err)) ||
	    ga_user_file_read(info, GA_RULES_MAX, &b, err))
		return -1;
	return put(w, "info/exclude", &b, err);
}

static int put_rules(const struct writer *w, const struct ga_repo *r, const struct ga_gitconfig *c,
		     bool *ret_attributes, struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(r->info.commondir, "info/attributes"), *user = NULL;
	cleanup_free char *sparse = ga_path_join(r->info.gitdir, "info/sparse-checkout");
	bool is_sparse = ga_gitconfig_bool(c, "core.sparsecheckout", false), there;

	if (ga_user_file(r, c, "core.attributesfile", "attributes", &user, err) ||
	    put_excludes(w, r, c, err) ||
	    put_host_file(w, info, "info/attributes", &there, err) ||
	    put_host_file(w, is_sparse ? sparse : NULL, "info/sparse-checkout", &there, err))
		return -1;
	return put_host_file(w, user, GA_GITDIR_ATTRIBUTES, ret_attributes, err);
}

/* ---- what all on a base have in common ----------------------------------------------- */

/* The log of HEAD, so that HEAD@{1} and `git reflog` work from the first commit on. */
static int put_log(const struct writer *w, const struct ga_repo *r, const struct ga_gitdir_spec *s,
		   struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *who = NULL;

	if (is_below(w, "logs/HEAD"))
		return 0;
	if (ga_repo_identity(r, s->config, &who, GA_IGNORED))
		who = ga_strdup("nobody <>");
	ga_buf_addf(&b, "%s %s %s %lld +0000\tstart\n", GA_HEX(&ga_oid_none), GA_HEX(s->base), who,
		    (long long)time(NULL));
	return write_at(w->at, "logs/HEAD", &b, err);
}

static int put_objects(const struct writer *w, const struct ga_gitdir_spec *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < s->object_paths->n; i++) {
		const char *p = s->object_paths->v[i];

		if (*p != '/' || strchr(p, '\n'))
			return ga_fail(err, GA_EFATAL, "an object directory has no usable path");
		ga_buf_addf(&b, "%s\n", p);
	}
	if (put_dir(w, "objects/pack/", err))
		return -1;
	return put(w, "objects/info/alternates", &b, err);
}

static int put_common(const struct writer *w, const struct ga_repo *r,
		      const struct ga_gitdir_spec *s, struct ga_error *err)
{
	cleanup_buf struct ga_buf config = GA_BUF_INIT;
	bool attributes = false;

	if (put_rules(w, r, s->config, &attributes, err))
		return -1;
	ga_gitdir_config(r, s->config, attributes, s->filters, &config);
	return put(w, "config", &config, err) || put_objects(w, s, err) || put_log(w, r, s, err) ||
	       put_dir(w, "refs/heads/", err) || put_dir(w, "refs/tags/", err) ? -1 : 0;
}

static int open_dir(const char *dir, struct ga_error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? ga_fail_path(err, errno, "open", dir) : fd;
}

int ga_gitdir_template(const struct ga_repo *r, const char *dir, const struct ga_gitdir_spec *s,
		       struct ga_error *err)
{
	cleanup_close int at = open_dir(dir, err);
	const struct writer w = { at, -1 };

	if (at < 0)
		return -1;
	return put_common(&w, r, s, err)
		       ? ga_error_wrap(err, "cannot make the template of private git dirs")
		       : 0;
}

static bool is_sorted(const struct ga_refs *refs)
{
	for (size_t i = 1; i < refs->n; i++)
		if (strcmp(refs->v[i - 1].name, refs->v[i].name) >= 0)
			return false;
	return true;
}

/* The session's branch is among the packed refs: a file of its own would need three directories.
 * The header does not claim that tags are peeled: git looks at those itself. */
static void packed_text(const struct ga_gitdir_spec *s, struct ga_buf *b)
{
	bool own = false;

	if (is_sorted(s->refs))
		ga_buf_adds(b, "# pack-refs with: sorted \n");
	for (size_t i = 0; i <= s->refs->n; i++) {
		const struct ga_ref *ref = i < s->refs->n ? &s->refs->v[i] : NULL;
		int order = ref ? strcmp(ref->name, s->branch) : 1;

		if (order > 0 && !own) {
			ga_buf_addf(b, "%s %s\n", GA_HEX(s->base), s->branch);
			own = true;
		}
		if (ref && order)
			ga_buf_addf(b, "%s %s\n", GA_HEX(&ref->oid), ref->name);
	}
}

/* The id that the bytes would have as a blob, as a line; nothing is written. NULL on failure. */
static char *digest(const struct ga_buf *b)
{
	struct ga_oid oid;
	git_oid id;

	if (git_odb_hash(&id, b->ptr, b->len, GIT_OBJECT_BLOB))
		return NULL;
	oid = ga_from_git_oid(&id);
	return ga_strf("%s\n", GA_HEX(&oid));
}

/* Record the digest of packed-refs beside the git dir, out of the agent's reach. */
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
	cleanup_buf struct ga_buf head = GA_BUF_INIT, packed = GA_BUF_INIT;

	ga_buf_addf(&head, "ref: %s\n", s->branch);
	packed_text(s, &packed);
	return write_file(at, "packed-refs", &packed, err) || write_seal(dir, &packed, err) ||
	       write_file(at, "HEAD", &head, err) ? -1 : 0;
}

/* Not part of the template: an empty `shallow` is not the same as none, so a session without one
 * could not hide it. */
static int write_shallow(int at, const struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(r->info.commondir, "shallow");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_user_file_read(path, SHALLOW_MAX, &b, err))
		return -1;
	return b.len ? write_file(at, "shallow", &b, err) : 0;
}

int ga_gitdir_fill(const struct ga_repo *r, const char *dir, const char *template,
		   const struct ga_gitdir_spec *s, struct ga_error *err)
{
	cleanup_close int at = open_dir(dir, err), below = -1;
	struct writer w = { at, -1 };

	if (at < 0)
		return -1;
	if (template) {
		w.below = below = open_dir(template, err);
		if (below < 0)
			return -1;
	}
	if (put_common(&w, r, s, err) || write_shallow(at, r, err) || write_refs(at, dir, s, err))
		return ga_error_wrap(err, "cannot make the private git dir");
	return 0;
}

/* ---- what the agent left --------------------------------------------------------------- */

static bool packed_refs_are_as_sealed(int at, const char *dir)
{
	cleanup_free char *path = ga_strf("%s.refs", dir), *now = NULL;
	cleanup_buf struct ga_buf seal = GA_BUF_INIT, b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, path, 4096, &seal, GA_IGNORED) ||
	    !read_regular(at, "packed-refs", PACKED_MAX, &b))
		return false;
	now = digest(&b);
	return now && !strcmp(now, seal.ptr);
}

/* Does `path` contain nothing but directories? It may be missing itself: then the template's is
 * seen through the overlay, unchanged. */
static bool only_dirs(int at, const char *path, unsigned depth, unsigned *left)
{
	cleanup_dir DIR *d = ga_dir_of(ga_openat_beneath(at, path, O_RDONLY | O_DIRECTORY |
							 O_NONBLOCK, 0));
	struct dirent *e;
	bool ok = true;

	if (!d || depth > MAX_DEPTH)
		return !d && errno == ENOENT && !depth;
	while (ok && (e = ga_dir_next(d))) {
		cleanup_free char *sub = ga_path_join(path, e->d_name);
		struct stat st;

		ok = (*left)-- && !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		     S_ISDIR(st.st_mode) && only_dirs(at, sub, depth + 1, left) && *left;
	}
	return ok;
}

bool ga_gitdir_left(int dir, struct ga_strv *ret)
{
	static const char what[] = "\tcheckout: moving from ";
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	cleanup_buf struct ga_buf log = GA_BUF_INIT;

	if (ga_read_beneath(dir, "logs/HEAD", LOG_MAX, &log, &unreadable))
		return false;
	for (char *line = log.ptr, *next; line && *line; line = next) {
		const char *from = NULL;
		struct ga_oid oid;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		from = strstr(line, what);
		if (from && ga_oid_parse(from + sizeof(what) - 1, GA_OID_HEXSZ, &oid))
			ga_strv_push(ret, GA_HEX(&oid));
	}
	ga_strv_sort_unique(ret);
	return true;
}

int ga_gitdir_untouched(const char *dir, const char *branch, struct ga_error *err)
{
	cleanup_close int at = open_dir(dir, err);
	cleanup_strv struct ga_strv commits = GA_STRV_INIT;
	cleanup_buf struct ga_buf head = GA_BUF_INIT;
	unsigned left = MAX_ENTRIES;
	struct stat st;

	if (at < 0)
		return -1;
	ga_buf_addf(&head, "ref: %s\n", branch);
	/* further working trees have a HEAD each, and a reftable holds all refs */
	if (!fstatat(at, "worktrees", &st, AT_SYMLINK_NOFOLLOW) ||
	    !fstatat(at, "reftable", &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return content_is(at, "HEAD", &head) && packed_refs_are_as_sealed(at, dir) &&
	       only_dirs(at, "refs", 0, &left) && ga_gitdir_left(at, &commits) && !commits.n;
}

/* Is this entry of refs/ the directory of branches, that of remote branches, or the stash? */
static bool is_branches(int refs, const char *name)
{
	bool dir = !strcmp(name, "heads") || !strcmp(name, "remotes");
	struct stat st;

	if (fstatat(refs, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	return dir ? S_ISDIR(st.st_mode) : !strcmp(name, "stash") && S_ISREG(st.st_mode);
}

/* Are branches, remote branches and the stash the only refs that are files of their own? */
static bool only_branches_loose(int at)
{
	cleanup_dir DIR *d = ga_dir_of(openat(at, "refs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC));
	unsigned left = MAX_ENTRIES;
	bool ok = d || errno == ENOENT;
	struct dirent *e;

	while (ok && (e = ga_dir_next(d)))
		ok = is_branches(dirfd(d), e->d_name) ||
		     (left-- && only_dirs(dirfd(d), e->d_name, 0, &left) && left);
	return ok;
}

bool ga_gitdir_only_branches(const char *dir)
{
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	return at >= 0 && fstatat(at, "reftable", &st, AT_SYMLINK_NOFOLLOW) &&
	       only_branches_loose(at) && packed_refs_are_as_sealed(at, dir);
}

static bool trap_at(int fd, bool refs, unsigned depth, unsigned *left)
{
	cleanup_dir DIR *d = ga_dir_of(fd);
	bool found = !d;
	struct dirent *e;

	while (!found && (e = ga_dir_next(d))) {
		struct stat st;
		int sub;

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
		/* the called function closes the descriptor */
		found = sub < 0 || depth >= MAX_TRAP_DEPTH ||
			trap_at(sub, refs || (!depth && !strcmp(e->d_name, "refs")), depth + 1,
				left);
		if (sub >= 0 && depth >= MAX_TRAP_DEPTH)
			(void)close(sub);
	}
	return found;
}

bool ga_gitdir_has_trap(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned left = MAX_TRAP_ENTRIES;

	return fd < 0 || trap_at(fd, false, 0, &left);
}
