/* SPDX-License-Identifier: MIT
 *
 * Open a repository, and manage its id: <common git dir>/git-agent/id has 16 hex digits and, on the
 * lines after them, the common git dir that they were made for. A repository that was moved keeps
 * its id; one that was copied gets a new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"
#include "repo/objects-internal.h"
#include "repo/repo-internal.h"

#define ID_LEN 16
#define ID_FILE_MAX ((size_t)64 << 10)

struct id_file {
	char id[ID_LEN + 1];
	char *owner; /* the common git dir it was written for */
};

static void id_file_release(struct id_file *f)
{
	free(f->owner);
	f->owner = NULL;
}

/* Returns 1 if there is none, or it does not look like ours. */
static int read_id(const char *commondir, struct id_file *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(commondir, "git-agent/id");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (ga_read_file_at(AT_FDCWD, path, ID_FILE_MAX, &b, err))
		return -1;
	ga_buf_chomp(&b);
	if (b.len < ID_LEN + 2 || b.ptr[ID_LEN] != '\n' ||
	    strspn(b.ptr, "0123456789abcdef") != ID_LEN)
		return 1;
	memcpy(ret->id, b.ptr, ID_LEN);
	ret->id[ID_LEN] = '\0';
	ret->owner = ga_strdup(b.ptr + ID_LEN + 1);
	return 0;
}

/* Does the directory that the id was written for still exist, with the same id, and is it another
 * one than ours? A bind mount shows one directory at two paths. */
static bool owner_lives(const struct id_file *f, const char *commondir)
{
	cleanup_(id_file_release) struct id_file theirs = { "", NULL };
	struct stat a, b;

	if (!f->owner || stat(f->owner, &a) || stat(commondir, &b))
		return false;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return false;
	return !read_id(f->owner, &theirs, GA_IGNORED) && !strcmp(theirs.id, f->id);
}

static int write_id(const char *dir, const char *id, const char *commondir, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(dir, "id");
	cleanup_free char *text = ga_strf("%s\n%s\n", id, commondir);

	return ga_write_atomic(AT_FDCWD, path, text, strlen(text), 0644, err);
}

static bool is_ours(const struct id_file *f, const char *commondir)
{
	return f->owner && !strcmp(f->owner, commondir);
}

/* Make an id, or correct the directory it is for: needed once, and after a move. Under a lock,
 * since two first sessions may start at once. */
static int settle_id(const char *commondir, struct id_file *f, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(commondir, "git-agent");
	cleanup_free char *lock = ga_path_join(dir, "lock");
	cleanup_close int fd = -1;
	uint64_t random;
	int rc;

	if (ga_mkdir_p(dir, 0755, err))
		return -1;
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", lock);
	if (ga_flock(fd, true, true, err) < 0)
		return -1;
	id_file_release(f);
	rc = read_id(commondir, f, err);
	if (rc < 0)
		return -1;
	if (!rc && is_ours(f, commondir))
		return 0;
	if (rc || owner_lives(f, commondir)) {
		if (ga_random(&random, sizeof(random), err))
			return -1;
		(void)snprintf(f->id, sizeof(f->id), "%016" PRIx64, random);
	}
	return write_id(dir, f->id, commondir, err);
}

/* Fill `info->id`. */
static int ga_repo_load_id(struct ga_repo_info *info, struct ga_error *err)
{
	cleanup_(id_file_release) struct id_file f = { "", NULL };
	int rc = read_id(info->commondir, &f, err);

	if (rc < 0)
		return -1;
	if ((rc || !is_ours(&f, info->commondir)) && settle_id(info->commondir, &f, err))
		return ga_error_wrap(err, "cannot give repository '%s' an id", info->commondir);
	info->id = ga_strdup(f.id);
	return 0;
}

/* Greatest depth of nested alternates, and their greatest number. */
#define ALTERNATES_DEPTH 8
#define ALTERNATES_MAX 64
#define SMALL_FILE ((size_t)1 << 20)

static char *real_path(const char *path, struct ga_error *err)
{
	char *real = realpath(path, NULL);

	if (!real)
		(void)ga_fail_path(err, errno, "resolve", path);
	return real;
}

/* ---- why a repository cannot be opened ---------------------------------- */

/* The common git dir of a git dir that libgit2 may refuse. */
static char *find_commondir(const char *gitdir)
{
	cleanup_free char *file = ga_path_join(gitdir, "commondir");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, file, SMALL_FILE, &b, GA_IGNORED))
		return ga_strdup(gitdir);
	ga_buf_chomp(&b);
	return *b.ptr == '/' ? ga_strdup(b.ptr) : ga_path_join(gitdir, b.ptr);
}

static char *config_value(git_config *c, const char *key)
{
	git_buf b = GIT_BUF_INIT;
	char *ret = NULL;

	if (!git_config_get_string_buf(&b, c, key))
		ret = ga_strdup(b.ptr);
	git_buf_dispose(&b);
	return ret;
}

static int diagnose_extensions(const char *gitdir, struct ga_error *err)
{
	cleanup_free char *common = find_commondir(gitdir);
	cleanup_free char *file = ga_path_join(common, "config");
	cleanup_free char *format = NULL, *refs = NULL;
	git_config *c = NULL;

	if (git_config_open_ondisk(&c, file))
		return 0;
	format = config_value(c, "extensions.objectformat");
	refs = config_value(c, "extensions.refstorage");
	git_config_free(c);
	if (format && strcmp(format, "sha1"))
		return ga_fail(err, GA_EFATAL, "repository '%s' has %s objects"
			       GA_HINT "only SHA-1 repositories are supported, since the installed "
			       "libgit2 reads no others", gitdir, format);
	if (refs && strcmp(refs, "files"))
		return ga_fail(err, GA_EFATAL, "repository '%s' stores its refs as %s"
			       GA_HINT "'git refs migrate --ref-format=files' converts it", gitdir,
			       refs);
	return 0;
}

static int diagnose(const char *dir, struct ga_error *err)
{
	const git_error *e = git_error_last();
	cleanup_free char *msg =
		ga_strdup(e && e->message ? e->message : "unknown error of libgit2");
	cleanup_free char *gitdir = NULL, *top = NULL, *sh = NULL;
	git_buf found = GIT_BUF_INIT;
	struct stat st;

	if (!git_repository_discover(&found, dir, 0, NULL))
		gitdir = ga_strdup(found.ptr);
	git_buf_dispose(&found);
	if (!gitdir)
		return ga_fail(err, GA_EFATAL, "'%s' is not in a git repository"
			       GA_HINT "change into one, or make one with 'git init'", dir);
	if (strlen(gitdir) > 1 && gitdir[strlen(gitdir) - 1] == '/')
		gitdir[strlen(gitdir) - 1] = '\0';
	if (diagnose_extensions(gitdir, err))
		return -1;
	if (!stat(gitdir, &st) && st.st_uid != geteuid()) {
		top = ga_path_parent(gitdir);
		sh = ga_quote_shell(top);
		return ga_fail(err, GA_EFATAL, "repository '%s' belongs to another user"
			       GA_HINT "if you trust it: git config --global --add safe.directory "
			       "%s", gitdir, sh);
	}
	(void)ga_fail(err, GA_EFATAL, "cannot open repository '%s': %s", gitdir, msg);
	return !strstr(msg, "extension") ? -1 :
		ga_hint(err, "it was made by a newer git; a newer libgit2 may read it");
}

/* ---- opening ------------------------------------------------------------- */

/* Is `gitdir` what git finds from within `workdir`? Not if core.worktree names a directory in which
 * there is no .git, or that of another repository. */
static bool is_found_from(const char *workdir, const char *gitdir)
{
	git_buf found = { 0 };
	cleanup_free char *real = NULL;

	if (git_repository_discover(&found, workdir, 1, NULL))
		return false;
	real = real_path(found.ptr, GA_IGNORED);
	git_buf_dispose(&found);
	return real && !strcmp(real, gitdir);
}

static int fill_info(struct ga_repo *r, struct ga_error *err)
{
	const char *workdir = git_repository_workdir(r->repo);
	cleanup_free char *shallow = NULL;
	struct stat st;

	if (git_repository_is_bare(r->repo) || !workdir)
		return ga_fail(err, GA_EFATAL, "repository '%s' is bare"
			       GA_HINT "make a working tree with 'git worktree add', and start "
			       "there", git_repository_path(r->repo));
	if (!(r->info.workdir = real_path(workdir, err)) ||
	    !(r->info.gitdir = real_path(git_repository_path(r->repo), err)) ||
	    !(r->info.commondir = real_path(git_repository_commondir(r->repo), err)))
		return -1;
	r->info.has_dotgit = is_found_from(r->info.workdir, r->info.gitdir);
	r->info.linked = git_repository_is_worktree(r->repo) != 0;
	shallow = ga_path_join(r->info.commondir, "shallow");
	r->info.shallow = !stat(shallow, &st) && st.st_size > 0;
	return 0;
}

/* Refs written in process are not synced, see ga_ref_create(). libgit2 reads this setting when it
 * opens the ref database. */
static int open_refs(struct ga_repo *r, struct ga_error *err)
{
	git_refdb *db = NULL;
	int rc = git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0);

	if (!rc)
		rc = git_repository_refdb(&db, r->repo);
	git_refdb_free(db); /* the repository keeps it */
	if (git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1) || rc)
		return ga_fail_git(err, "cannot open the refs of '%s'", r->info.commondir);
	return 0;
}

int ga_repo_open_as_is(const char *dir, struct ga_repo **ret, struct ga_error *err)
{
	cleanup_repo struct ga_repo *r = NULL;

	if (ga_library_begin(err))
		return -1;
	r = ga_calloc(1, sizeof(*r));
	r->lock = -1;
	if (git_repository_open_ext(&r->repo, dir, 0, NULL))
		return diagnose(dir, err);
	if (fill_info(r, err) || open_refs(r, err))
		return -1;
	if (git_repository_odb(&r->odb, r->repo))
		return ga_fail_git(err, "cannot open the objects of '%s'", r->info.commondir);
	r->own = r->odb;
	r->objects = ga_path_join(r->info.commondir, "objects");
	if (ga_hooks_find(r, err))
		return -1;
	*ret = ga_steal(&r);
	return 0;
}

int ga_repo_open(const char *dir, struct ga_repo **ret, struct ga_error *err)
{
	cleanup_repo struct ga_repo *r = NULL;

	if (ga_repo_open_as_is(dir, &r, err) || ga_repo_load_id(&r->info, err))
		return -1;
	*ret = ga_steal(&r);
	return 0;
}

void ga_repo_free(struct ga_repo *r)
{
	if (!r)
		return;
	if (r->own != r->odb)
		git_odb_free(r->own);
	git_odb_free(r->odb);
	git_repository_free(r->repo);
	ga_batch_free(r->batch); /* after the object database, whose backend it is */
	free(r->info.workdir);
	free(r->info.gitdir);
	free(r->info.commondir);
	free(r->info.id);
	free(r->objects);
	free(r->reads);
	ga_tree_slots_free(r->trees);
	ga_strv_release(&r->hooks_off);
	free(r);
	(void)git_libgit2_shutdown();
}

void ga_cleanup_repop(struct ga_repo **r)
{
	ga_repo_free(*r);
}

/* ---- object directories ---------------------------------------------------- */

/* Unquote a line of info/alternates, which may be C-quoted: git itself may write it so. False if it
 * is not. */
static bool unquote(const char *s, struct ga_buf *out)
{
	static const char from[] = "abfnrtv\\\"", to[] = "\a\b\f\n\r\t\v\\\"";

	if (*s++ != '"')
		return false;
	for (; *s && *s != '"'; s++) {
		const char *e;

		if (*s != '\\') {
			ga_buf_addch(out, *s);
			continue;
		}
		e = *++s ? strchr(from, *s) : NULL;
		if (e) {
			ga_buf_addch(out, to[e - from]);
		} else if (*s >= '0' && *s <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
			   s[2] <= '7') {
			ga_buf_addch(out, (char)((s[0] - '0') << 6 | (s[1] - '0') << 3 |
						 (s[2] - '0')));
			s += 2;
		} else {
			return false;
		}
	}
	return *s == '"' && !s[1];
}

static int add_object_dir(const char *path, unsigned depth, struct ga_strv *ret,
			  struct ga_error *err);

static int add_alternate(const char *dir, const char *line, unsigned depth, struct ga_strv *ret,
			 struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *path = NULL;

	if (!*line || *line == '#')
		return 0;
	if (!unquote(line, &b)) {
		ga_buf_clear(&b);
		ga_buf_adds(&b, line);
	}
	path = *b.ptr == '/' ? ga_strdup(b.ptr) : ga_path_join(dir, b.ptr);
	return add_object_dir(path, depth + 1, ret, err);
}

/* Add an object directory and its alternates. Missing ones are skipped, as git does. */
static int add_object_dir(const char *path, unsigned depth, struct ga_strv *ret,
			  struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *dir = realpath(path, NULL), *file = NULL;
	char *line, *save = NULL;
	struct stat st;

	if (!dir || stat(dir, &st) || !S_ISDIR(st.st_mode) || ga_strv_has(ret, dir))
		return 0;
	if (depth > ALTERNATES_DEPTH || ret->n >= ALTERNATES_MAX)
		return ga_fail(err, GA_EFATAL, "too many alternate object directories at '%s'",
			       dir);
	ga_strv_push(ret, dir);
	file = ga_path_join(dir, "info/alternates");
	if (access(file, F_OK) && errno == ENOENT)
		return 0;
	if (ga_read_file_at(AT_FDCWD, file, SMALL_FILE, &b, err))
		return -1;
	for (line = strtok_r(b.ptr, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (add_alternate(dir, line, depth, ret, err))
			return -1;
	return 0;
}

int ga_repo_object_dirs(const struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;
	cleanup_free char *own = ga_path_join(r->info.commondir, "objects");

	if (add_object_dir(own, 0, &dirs, err))
		return -1;
	if (!dirs.n)
		return ga_fail(err, GA_EFATAL, "cannot read the object directory '%s'", own);
	ga_strv_extend(ret, &dirs);
	if (r->private)
		ga_strv_push(ret, r->objects);
	return 0;
}

/* ---- revisions ------------------------------------------------------------- */

int ga_repo_head(struct ga_repo *r, struct ga_oid *ret, char **ret_branch, struct ga_error *err)
{
	git_reference *head = NULL;
	git_oid oid;
	int rc = git_reference_lookup(&head, r->repo, "HEAD");

	if (rc)
		return ga_fail_git(err, "cannot read HEAD");
	*ret_branch = NULL;
	if (git_reference_type(head) == GIT_REFERENCE_SYMBOLIC)
		*ret_branch = ga_strdup(git_reference_symbolic_target(head));
	rc = git_reference_name_to_id(&oid, r->repo, "HEAD");
	git_reference_free(head);
	if (rc == GIT_ENOTFOUND && *ret_branch)
		return 1;
	if (rc) {
		free(*ret_branch);
		*ret_branch = NULL;
		return ga_fail_git(err, "cannot resolve HEAD");
	}
	*ret = ga_from_git_oid(&oid);
	return 0;
}

static int peel_to_commit(struct ga_repo *r, const struct ga_oid *oid, const char *rev,
			  struct ga_oid *ret, struct ga_error *err)
{
	git_oid id = ga_to_git_oid(oid);
	git_object *o = NULL, *c = NULL;

	if (git_object_lookup(&o, r->repo, &id, GIT_OBJECT_ANY))
		return ga_fail_git(err, "cannot read '%s'", rev);
	if (git_object_peel(&c, o, GIT_OBJECT_COMMIT)) {
		git_object_free(o);
		return ga_fail(err, GA_EFATAL, "'%s' is not a commit", rev);
	}
	*ret = ga_from_git_oid(git_object_id(c));
	git_object_free(c);
	git_object_free(o);
	return 0;
}

/* Is it the name of exactly one ref in git's search order? Returns 1 if not, or if only git can
 * tell. */
static int resolve_name(struct ga_repo *r, const char *rev, struct ga_oid *ret)
{
	static const char *const places[][2] = {
		{ "refs/", "" }, { "refs/tags/", "" }, { "refs/heads/", "" },
		{ "refs/remotes/", "" }, { "refs/remotes/", "/HEAD" },
	};
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_/.-";
	cleanup_free char *file = ga_path_join(r->info.gitdir, rev);
	unsigned found = 0;

	/* FETCH_HEAD and its like, and refs by their whole name, are files there, or may be */
	if (!*rev || *rev == '-' || rev[strspn(rev, plain)] || strstr(rev, "..") ||
	    !strncmp(rev, "refs/", 5) || !access(file, F_OK))
		return 1;
	for (size_t i = 0; i < GA_NELEMS(places); i++) {
		cleanup_free char *name = ga_strf("%s%s%s", places[i][0], rev, places[i][1]);
		struct ga_oid oid;
		int rc = ga_ref_read(r, name, &oid, GA_IGNORED);

		if (rc < 0)
			return 1;
		if (!rc && !found++)
			*ret = oid;
	}
	return found != 1;
}

/* git resolves what the user typed: @{u}, :/text, describe names, ambiguity. Only plain forms are
 * resolved here. */
int ga_repo_resolve(struct ga_repo *r, const char *rev, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *const args[] = { "rev-parse", "--verify", "--quiet", "--end-of-options", rev,
				     NULL };
	struct ga_oid oid;
	int status;
	struct ga_git g = GA_GIT(.args = args, .out = &out);

	if (!strcmp(rev, "HEAD")) {
		cleanup_free char *branch = NULL;
		int rc = ga_repo_head(r, &oid, &branch, err);

		if (rc > 0)
			return ga_fail(err, GA_EFATAL, "there is no commit yet"
				       GA_HINT "make a first commit");
		return rc ? -1 : peel_to_commit(r, &oid, rev, ret, err);
	}
	if (ga_oid_parse(rev, strlen(rev), &oid) || !resolve_name(r, rev, &oid))
		return peel_to_commit(r, &oid, rev, ret, err);
	if (ga_git_run(r, &g, &status, err))
		return -1;
	ga_buf_chomp(&out);
	if (status || !ga_oid_parse(out.ptr, out.len, &oid))
		return ga_fail(err, GA_EFATAL, "'%s' is not a commit of this repository"
			       GA_HINT "'git log --all --oneline' lists its commits, 'git fetch' "
			       "fetches more", rev);
	return peel_to_commit(r, &oid, rev, ret, err);
}

const char *ga_repo_operation(const struct ga_repo *r)
{
	cleanup_free char *stash = ga_path_join(r->info.gitdir, "MERGE_AUTOSTASH");

	switch ((git_repository_state_t)git_repository_state(r->repo)) {
	case GIT_REPOSITORY_STATE_NONE:
		/* changes that a merge stashed wait to be applied */
		return access(stash, F_OK) ? NULL : "merge";
	case GIT_REPOSITORY_STATE_MERGE:
		return "merge";
	case GIT_REPOSITORY_STATE_REVERT:
	case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
		return "revert";
	case GIT_REPOSITORY_STATE_CHERRYPICK:
	case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
		return "cherry-pick";
	case GIT_REPOSITORY_STATE_BISECT:
		return "bisect";
	case GIT_REPOSITORY_STATE_REBASE:
	case GIT_REPOSITORY_STATE_REBASE_INTERACTIVE:
	case GIT_REPOSITORY_STATE_REBASE_MERGE:
		return "rebase";
	case GIT_REPOSITORY_STATE_APPLY_MAILBOX:
		return "am";
	case GIT_REPOSITORY_STATE_APPLY_MAILBOX_OR_REBASE:
		return "am or rebase";
	}
	return "unknown operation";
}

const char *ga_repo_operation_article(const char *operation)
{
	return strchr("aeiou", *operation) ? "an" : "a";
}

static int take_promisor(const git_config_entry *e, void *payload)
{
	bool *ret = payload;
	int promisor;

	/* the extension names the remote */
	if (!strncmp(e->name, "extensions.", 11))
		*ret = true;
	else if (!git_config_parse_bool(&promisor, e->value))
		*ret = *ret || promisor;
	return 0;
}

/* Older versions of git set the extension, newer ones the remote's key alone. */
bool ga_repo_is_partial(const struct ga_repo *r)
{
	static const char keys[] = "^(extensions\\.partialclone|remote\\..*\\.promisor)$";
	git_config *c = NULL;
	bool yes = false;

	if (!git_repository_config_snapshot(&c, r->repo))
		(void)git_config_foreach_match(c, keys, take_promisor, &yes);
	git_config_free(c);
	return yes;
}
