/* SPDX-License-Identifier: MIT
 *
 * What of the user's is in the way of a landing: staged, changed, or not tracked by git. Nothing is
 * touched here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/process.h"
#include "ga/treelevel.h"
#include "land-internal.h"

/* A merge that moves a submodule leaves its working tree alone, wherever that is: the user may
 * have merged there first. */
static bool overwrites(const struct land *l, const char *path)
{
	const struct ga_change *c = ga_changes_find(&l->changes, path);

	return c && (c->old.mode != GA_MODE_GITLINK || c->new.mode != GA_MODE_GITLINK);
}

void land_found_release(struct land_found *f)
{
	ga_strv_release(&f->all);
	ga_strv_release(&f->staged);
	ga_strv_release(&f->intended);
	ga_strv_release(&f->unmerged);
	ga_strv_release(&f->changed);
	ga_strv_release(&f->hidden);
	ga_strv_release(&f->files);
	ga_strv_release(&f->blocked);
}

static bool is_unmerged(char x, char y)
{
	return x == 'U' || y == 'U' || (x == y && (x == 'A' || x == 'D'));
}

/* To look at more than that takes longer than git's own look at the whole working tree. */
#define LOOK_FILES 200
#define LOOK_BYTES ((uint64_t)8 << 20)

/* Does the file stand there byte by byte as HEAD has it, and is that what git would see? */
static bool is_as_committed(int root, const struct ga_change *c, uint64_t *budget)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid oid;

	if (c->old.mode == GA_MODE_GITLINK || c->new.mode == GA_MODE_GITLINK)
		return c->old.mode == c->new.mode;
	if (land_open_here(root, c->path, &h) || !h.mode || h.size > *budget)
		return false;
	*budget -= h.size;
	if (h.fd < 0)
		return c->old.mode == GA_MODE_LINK &&
		       !ga_blob_id_of(h.target, h.size, &oid, &ignored) &&
		       ga_oid_equal(&oid, &c->old.oid);
	return c->old.mode == (h.mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE) &&
	       !ga_read_fd(h.fd, h.size, &b, &ignored) &&
	       !ga_blob_id_of(b.ptr, b.len, &oid, &ignored) &&
	       ga_oid_equal(&oid, &c->old.oid) && !land_bytes_convert(&b);
}

/* Each has a budget of its own. Of one that is too large for that line ends are not looked for,
 * since all of it is in HEAD; and what is too large to be kept, should git come upon it, is not
 * read. */
static bool is_left_alone(int root, const struct ga_change *c)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	struct land_look is, was = { .mode = S_IFREG | (c->old.mode == GA_MODE_EXEC ? 0755 : 0644),
				     .oid = c->old.oid };
	uint64_t budget = LOOK_BYTES;

	if (is_as_committed(root, c, &budget))
		return true;
	return budget == LOOK_BYTES && !land_open_here(root, c->path, &h) && h.fd >= 0 &&
	       h.size <= LAND_HIDDEN_MAX && land_look_here(root, c->path, &is) &&
	       land_look_equal(&is, &was);
}

/* A line of `git ls-files -v -s`: "S" is skip-worktree, a small letter assume-unchanged. */
static void add_hidden(struct land *l, int root, const char *line, struct land_found *f)
{
	bool skipped = line[0] == 'S' || line[0] == 's';
	struct ga_change c = { .path = NULL };
	const char *path = line[0] && line[1] ? land_index_entry(line + 2, &c.old) : NULL;
	struct land_look here;

	if ((line[0] >= 'A' && line[0] <= 'Z' && !skipped) || !path ||
	    c.old.mode == GA_MODE_GITLINK ||
	    (skipped && land_look_here(root, path, &here) && !here.mode))
		return;
	c.new = c.old;
	c.path = ga_strdup(path);
	if (!is_left_alone(root, &c)) {
		ga_strv_push(&f->all, path);
		ga_strv_push(overwrites(l, path) ? &f->changed : &f->hidden, path);
	}
	free(c.path);
}

/* Paths that git was told to take for unchanged, and are not: a merge of git's that comes upon one
 * of them, or stops for whatever reason, puts the whole working tree back to HEAD (2.38 and
 * newer). */
static int hidden_in_the_way(struct land *l, struct land_found *f, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-s", "-v", "-z", NULL };
	cleanup_close int root = land_open_root(l->repo, err);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (root < 0 || land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)))
		add_hidden(l, root, line, f);
	return 0;
}

static int tracked(struct land *l, const char *path, struct ga_error *err)
{
	struct ga_entry e;

	if (l->tracked)
		return ga_strv_find(l->tracked, path) >= 0;
	if (ga_tree_entry(l->repo, &l->head_tree, path, &e, err))
		return -1;
	return e.mode != GA_MODE_NONE && e.mode != GA_MODE_TREE;
}

/* Staged and changed tracked paths, by git: it knows the index, filters and what counts as
 * changed. */
static int tracked_in_the_way(struct land *l, struct land_found *f, struct ga_error *err)
{
	const char *const args[] = { "status", "--porcelain=v1", "-z", "--no-renames",
				     "--untracked-files=no", "--ignore-submodules=dirty", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		if (strlen(line) < 4)
			continue;
		ga_strv_push(&f->all, line + 3);
		if (line[0] == ' ' && (line[1] == 'A' || line[1] == 'D')) {
			int rc = tracked(l, line + 3, err);

			if (rc < 0)
				return -1;
			if (!rc)
				ga_strv_push(&f->intended, line + 3);
		}
		if (is_unmerged(line[0], line[1]))
			ga_strv_push(&f->unmerged, line + 3);
		else if (line[0] != ' ')
			ga_strv_push(&f->staged, line + 3);
		else if (overwrites(l, line + 3))
			ga_strv_push(&f->changed, line + 3);
	}
	return 0;
}

#define DIR_ENTRIES_MAX 10000
#define DIR_DEPTH_MAX 128

/* A directory stands where the merge puts a file. Is there anything in it that
 * git does not track? 1 and a name in `ret`. */
static int untracked_below(struct land *l, int dirfd, const char *path, size_t *budget,
			   unsigned depth, struct ga_strv *ret, struct ga_error *err)
{
	int fd = ga_openat_beneath(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		ga_strv_push(ret, path);
		return 1;
	}
	while (!rc && (errno = 0, e = readdir(d))) {
		cleanup_free char *child = NULL;
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		child = ga_path_join(path, e->d_name);
		if (!(*budget)-- || depth >= DIR_DEPTH_MAX ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW)) {
			ga_strv_push(ret, path);
			rc = 1;
		} else if (S_ISDIR(st.st_mode)) {
			rc = untracked_below(l, dirfd, child, budget, depth + 1, ret, err);
		} else {
			rc = tracked(l, child, err);
			rc = rc < 0 ? -1 : !rc;
			if (rc > 0)
				ga_strv_push(ret, child);
		}
	}
	(void)closedir(d);
	return rc;
}

int land_untracked_below(struct land *l, int root, const char *path, struct ga_strv *ret,
			 struct ga_error *err)
{
	size_t budget = DIR_ENTRIES_MAX;

	return untracked_below(l, root, path, &budget, 0, ret, err);
}

/* Something that is no directory stands where the path needs one. */
static int parent_in_the_way(struct land *l, int root, const char *path, struct ga_strv *ret,
			     struct ga_error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));
		cleanup_close int fd = ga_openat_beneath(root, dir, O_PATH | O_NOFOLLOW, 0);
		struct stat st;
		int rc;

		if (fd < 0 || fstat(fd, &st))
			return 0;
		if (S_ISDIR(st.st_mode))
			continue;
		rc = tracked(l, dir, err);
		if (!rc)
			ga_strv_push(ret, dir);
		return rc < 0 ? -1 : 0;
	}
	return 0;
}

/* git merge overwrites ignored files without a word and untracked ones not at
 * all; neither may happen to a file of the user's. */
static int added_in_the_way(struct land *l, int root, const char *path, struct land_found *f,
			    struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return parent_in_the_way(l, root, path, &f->blocked, err);
	if (fstat(fd, &st) || !S_ISDIR(st.st_mode)) {
		ga_strv_push(&f->files, path);
		return 0;
	}
	return land_untracked_below(l, root, path, &f->blocked, err) < 0 ? -1 : 0;
}

static int untracked_in_the_way(struct land *l, struct land_found *f, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *c = &l->changes.v[i];

		if (c->old.mode == GA_MODE_NONE && added_in_the_way(l, root, c->path, f, err))
			return -1;
	}
	ga_strv_sort_unique(&f->files);
	ga_strv_sort_unique(&f->blocked);
	return 0;
}

/* ---- nothing is ------------------------------------------------------------------ */

int land_ask_staged(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--quiet", "--no-ext-diff",
				     "--ignore-submodules=dirty", GA_HEX(&l->head), "--", NULL };
	struct ga_git g = GA_GIT_INIT;
	struct ga_oid tree;

	l->unstaged = !ga_repo_index_tree(l->repo, &tree, &l->marks) &&
		      ga_oid_equal(&tree, &l->head_tree);
	if (l->unstaged)
		return 0;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	l->staged_why = (struct ga_buf)GA_BUF_INIT;
	g.errout = &l->staged_why;
	return ga_git_begin(l->repo, &g, &l->staged, err);
}

void land_ask_staged_abandon(struct land *l)
{
	ga_process_abandon(l->staged);
	l->staged = NULL;
	ga_buf_release(&l->staged_why);
}

/* For certain; what git could not answer is for the closer look as well. */
static bool nothing_staged(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_process_job *job = ga_steal(&l->staged);
	int status;

	return l->unstaged || (job && !ga_process_end(job, &status, &ignored) && !status);
}

/* Nothing of the user's is in the way, which is nearly always so and can be told without a look at
 * each file of the working tree. False where there is any doubt. */
static bool is_clear(struct land *l, const struct land_found *f)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	uint64_t budget = LOOK_BYTES;
	cleanup_close int root = -1;

	if (!nothing_staged(l) || l->marks.intended || f->files.n || f->blocked.n || l->conflicts ||
	    l->opts->paths || l->s->left_out.n || l->changes.n > LOOK_FILES)
		return false;
	root = land_open_root(l->repo, &ignored);
	if (root < 0)
		return false;
	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *c = &l->changes.v[i];

		if (c->old.mode != GA_MODE_NONE && !is_as_committed(root, c, &budget))
			return false;
	}
	return !land_may_convert(l, root);
}

/* ---- all of it --------------------------------------------------------------------- */

int land_refuse(const struct ga_strv *paths, const char *what, const char *hint,
		struct ga_error *err)
{
	cleanup_free char *list = land_list(paths);

	(void)ga_fail(err, GA_ELOSE, "%s: %s", what, list);
	return ga_hint(err, "%s", hint);
}

static int refuse_untracked(const struct ga_strv *paths, struct ga_error *err)
{
	return land_refuse(paths, "files git does not track would be overwritten",
			   "move them away, then go on", err);
}

/* Where git could not make files, or take them away, it would stop half way. */
static int check_writable(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv closed = GA_STRV_INIT;
	cleanup_free char *last = NULL;
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < l->changes.n; i++) {
		cleanup_free char *dir = ga_path_parent(l->changes.v[i].path);

		if (!overwrites(l, l->changes.v[i].path) || (last && !strcmp(last, dir)))
			continue;
		if (!land_may_write(root, dir))
			ga_strv_push(&closed, *dir ? dir : ".");
		free(last);
		last = ga_steal(&dir);
	}
	ga_strv_sort_unique(&closed);
	return closed.n ? land_refuse(&closed, "directories cannot be written in",
				      "make that possible, then go on", err) : 0;
}

int land_find_work(struct land *l, struct land_found *f, struct ga_error *err)
{
	if (untracked_in_the_way(l, f, err) || (l->marks.hidden && hidden_in_the_way(l, f, err)) ||
	    (!is_clear(l, f) && tracked_in_the_way(l, f, err)))
		return -1;
	ga_strv_sort_unique(&f->all);
	ga_strv_sort_unique(&f->changed);
	if (f->unmerged.n)
		return land_refuse(&f->unmerged, "the index has conflicts",
				   "resolve them and 'git add', then land again", err);
	return f->blocked.n ? refuse_untracked(&f->blocked, err) : check_writable(l, err);
}

static int refuse_overwritten(const struct land_found *f, const char *hint, struct ga_error *err)
{
	if (f->changed.n)
		return land_refuse(&f->changed, "uncommitted changes would be overwritten", hint,
				   err);
	return f->files.n ? refuse_untracked(&f->files, err) : 0;
}

int land_check_worktree(struct land *l, struct ga_error *err)
{
	cleanup_(land_found_release) struct land_found f = { .all = GA_STRV_INIT };
	struct ga_oid tree;

	(void)ga_repo_index_tree(l->repo, &tree, &l->marks);
	if (land_find_work(l, &f, err))
		return -1;
	if (refuse_overwritten(&f, "commit them or 'git stash' them, then go on", err))
		return -1;
	if (f.staged.n)
		return land_refuse(&f.staged, "staged changes are in the way",
				   "commit them, or unstage them with 'git restore --staged', "
				   "then go on", err);
	/* git would forget that */
	if (f.intended.n)
		return land_refuse(&f.intended, "paths are intended to be added",
				   "commit them, or 'git reset' them, then go on", err);
	return 0;
}

/* ---- on the way -------------------------------------------------------------------- */

/* A line of `git diff-tree --raw -z`, ":mode mode id id letter": what the path becomes. */
static bool parse_raw(const char *line, struct ga_entry *ret)
{
	if (strlen(line) <= 16 + 2 * GA_OID_HEXSZ ||
	    !ga_oid_parse(line + 16 + GA_OID_HEXSZ, GA_OID_HEXSZ, &ret->oid))
		return false;
	ret->mode = 0;
	for (const char *s = line + 8; *s >= '0' && *s <= '7'; s++)
		ret->mode = ret->mode << 3 | (uint32_t)(*s - '0');
	return true;
}

/* To `l->changes`, each path once. What is there already is not written again; and until something
 * else is, it stays what it is. */
static void add_touched(struct land *l, const struct ga_change *c, const struct ga_entry *is)
{
	size_t n = l->changes.n;

	if (!ga_entry_equal(&c->new, is) &&
	    (!n || strcmp(l->changes.v[n - 1].path, c->path) != 0))
		(void)ga_changes_add(&l->changes, c->path, is, is);
}

/* The changes of `w`, which is sorted, from `*i` on, as far as they are in the directory that is
 * `tree`, the first `skip` bytes of their paths. Each tree is read once, however many of them it
 * has. */
static int add_beneath(struct land *l, const struct ga_oid *tree, const struct ga_changes *w,
		       size_t skip, size_t *i, struct ga_error *err)
{
	cleanup_tree_level struct ga_tree_level at = GA_TREE_LEVEL_INIT;
	const char *dir = w->v[*i].path;

	if (ga_tree_level_read(l->repo, tree, &at, err))
		return -1;
	while (*i < w->n && !strncmp(w->v[*i].path, dir, skip)) {
		const struct ga_change *c = &w->v[*i];
		size_t n = strcspn(c->path + skip, "/");
		cleanup_free char *name = ga_strndup(c->path + skip, n);
		struct ga_entry e = ga_tree_level_find(&at, name);

		if (e.mode == GA_MODE_TREE && c->path[skip + n]) {
			if (add_beneath(l, &e.oid, w, skip + n + 1, i, err))
				return -1;
			continue;
		}
		if (e.mode == GA_MODE_TREE || c->path[skip + n])
			e = (struct ga_entry){ .mode = GA_MODE_NONE };
		add_touched(l, c, &e);
		++*i;
	}
	return 0;
}

/* What each of the commits, one id a line, writes or takes away. */
static int find_touched(struct land *l, const struct ga_buf *commits, struct ga_error *err)
{
	static const char *const args[] = { "diff-tree", "--stdin", "-r", "--root",
					    "--no-commit-id", "--raw", "--no-abbrev",
					    "--no-renames", "-z", NULL };
	cleanup_changes struct ga_changes writes = GA_CHANGES_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_entry none = { .mode = GA_MODE_NONE }, e;
	const char *line, *path;
	size_t pos = 0, i = 0;

	if (land_ask_git(l, args, NULL, commits, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)) && (path = ga_buf_next0(&out, &pos))) {
		if (!parse_raw(line, &e))
			return ga_fail(err, GA_EFATAL, "git diff-tree printed no change");
		(void)ga_changes_add(&writes, path, &none, &e);
	}
	ga_changes_sort(&writes);
	return writes.n ? add_beneath(l, &l->head_tree, &writes, 0, &i, err) : 0;
}

static int changed_in_the_way(struct land *l, struct land_found *f, struct ga_error *err)
{
	static const char *const args[] = { "diff", "--name-only", "--no-ext-diff", "--no-renames",
					    "--ignore-submodules=dirty", "-z", NULL };
	static const char *const config[] = { "diff.autoRefreshIndex=true", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *path;
	size_t pos = 0;

	g.args = args;
	g.config = config;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.out = &out;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		if (overwrites(l, path))
			ga_strv_push(&f->changed, path);
	return 0;
}

#define PUT_AWAY "'git stash push --keep-index -- FILE' puts one away; then go on"

int land_check_on_the_way(struct land *of, const struct ga_oid *tree, const struct ga_buf *commits,
			  struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s, .head_tree = *tree };
	cleanup_(land_found_release) struct land_found f = { .all = GA_STRV_INIT };
	struct ga_oid index;
	size_t seen;
	bool marked;
	int rc;

	(void)ga_repo_index_tree(l.repo, &index, &l.marks);
	rc = find_touched(&l, commits, err) || changed_in_the_way(&l, &f, err) ||
	     untracked_in_the_way(&l, &f, err) ? -1 : 0;
	seen = f.changed.n;
	if (!rc && l.marks.hidden)
		rc = hidden_in_the_way(&l, &f, err);
	marked = f.changed.n > seen;
	ga_changes_release(&l.changes);
	ga_strv_extend(&f.files, &f.blocked);
	ga_strv_sort_unique(&f.files);
	ga_strv_sort_unique(&f.changed);
	/* in the middle of it a commit would be taken for the one that is made, and a stash of all
	 * would take what was resolved; one of what git was told not to look at takes nothing */
	return rc ? -1 : refuse_overwritten(&f, marked ? "'git update-index --no-assume-unchanged "
					    "FILE' (or --no-skip-worktree), then " PUT_AWAY
					    : PUT_AWAY, err);
}

/* Of the paths that the tree has and the index has not. Git leaves submodules alone. */
static int missing_in_the_way(struct land *l, const struct ga_oid *tree, struct land_found *f,
			      struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--raw", "--no-renames",
				     "--no-ext-diff", "--diff-filter=D", "-z", GA_HEX(tree), "--",
				     NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	cleanup_close int root = land_open_root(l->repo, err);
	const char *line, *path;
	size_t pos = 0;

	if (root < 0 || land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)) && (path = ga_buf_next0(&out, &pos)))
		if ((strncmp(line, ":160000 ", 8) != 0 || !land_dir_here(root, path)) &&
		    added_in_the_way(l, root, path, f, err))
			return -1;
	return 0;
}

int land_check_way_back(struct land *of, const struct ga_oid *to, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", NULL };
	cleanup_strv struct ga_strv tracked = GA_STRV_INIT;
	struct land l = { .repo = of->repo, .s = of->s, .tracked = &tracked };
	cleanup_(land_found_release) struct land_found f = { .all = GA_STRV_INIT };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	if (land_ask_git(&l, args, NULL, NULL, &out, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(&tracked, path);
	ga_strv_sort_unique(&tracked);
	if (missing_in_the_way(&l, to, &f, err))
		return -1;
	ga_strv_extend(&f.files, &f.blocked);
	ga_strv_sort_unique(&f.files);
	return f.files.n ? refuse_untracked(&f.files, err) : 0;
}
