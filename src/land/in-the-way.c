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
#include "ga/quote.h"
#include "ga/treelevel.h"
#include "in-the-way.h"

/* A conflict may leave the file as HEAD has it, but giving the merge up writes it all the same. */
static bool conflict_overwrites(const struct land *l, const char *path)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_entry e;

	return ga_strv_find(&l->conflicted, path) >= 0 &&
	       (ga_tree_entry(l->repo, &l->head_tree, path, &e, &ignored) ||
		e.mode != GA_MODE_GITLINK);
}

bool way_overwrites(const struct land *l, const char *path)
{
	const struct ga_change *c = ga_changes_find(&l->changes, path);

	if (!c)
		return conflict_overwrites(l, path);
	return (c->old.mode != GA_MODE_GITLINK || c->new.mode != GA_MODE_GITLINK);
}

void land_found_release(struct land_found *f)
{
	ga_strv_release(&f->all);
	ga_strv_release(&f->staged);
	ga_strv_release(&f->intended);
	ga_strv_release(&f->unmerged);
	ga_strv_release(&f->changed);
	ga_strv_release(&f->hidden);
	ga_strv_release(&f->marked);
	ga_strv_release(&f->files);
	ga_strv_release(&f->blocked);
	ga_strv_release(&f->filled);
}

static bool is_unmerged(char x, char y)
{
	return x == 'U' || y == 'U' || (x == y && (x == 'A' || x == 'D'));
}

/* Beyond these limits git's own look at the whole working tree is faster. */
#define LOOK_FILES 200
#define LOOK_BYTES ((uint64_t)8 << 20)

/* Is the file exactly what `c->old` says, content and mode, and would git see it as that? */
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

/* Is a file that git was told not to look at unchanged? Each has a budget of its own. If one is too
 * large for that, its line ends do not matter: all of its bytes are those that git has. What is
 * also too large to be kept in the note is not read. */
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

/* Does a sparse checkout leave it out? */
static bool is_absent(int root, const char *path, const struct ga_entry *e)
{
	struct land_look here;

	return e->mode == GA_MODE_GITLINK ? !land_dir_here(root, path)
					  : land_look_here(root, path, &here) && !here.mode;
}

/* Handle a line of `git ls-files -v -s`. What a submodule has checked out is in nobody's way. */
static void add_hidden(struct land *l, int root, const char *line, struct land_found *f)
{
	bool skipped = land_is_skipped(*line);
	struct ga_change c = { .path = NULL };
	const char *path = land_index_marked(line, &c.old);

	if (!path || (!skipped && !land_is_assumed(*line)) ||
	    (skipped && is_absent(root, path, &c.old)))
		return;
	ga_strv_take(&f->marked, ga_strf("%c%s", line[0], path));
	if (c.old.mode == GA_MODE_GITLINK)
		return;
	c.new = c.old;
	c.path = ga_strdup(path);
	if (!is_left_alone(root, &c)) {
		ga_strv_push(&f->all, path);
		ga_strv_push(way_overwrites(l, path) ? &f->changed : &f->hidden, path);
	}
	free(c.path);
}

int way_hidden(struct land *l, struct land_found *f, struct ga_error *err)
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

/* Ask git for the staged and changed tracked paths: it knows the index, the filters and what counts
 * as changed. */
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
		else if (way_overwrites(l, line + 3))
			ga_strv_push(&f->changed, line + 3);
	}
	return 0;
}

/* A look into a directory that stands where a file is to come. Any number of tracked files, and of
 * files that go, may be in it; the first other one ends the look. */
struct below {
	struct land *l;
	int root;
	const struct ga_strv *going_or_null;
	struct ga_strv *ret;
};

static int fail_unread(const char *path, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);

	(void)ga_fail_errno(err, GA_ELOSE, errno, "cannot look into '%s', which would be "
			    "overwritten", q);
	return ga_hint(err, "make that possible, or move it away, then go on");
}

/* The directory is closed again on return: there may be more levels than descriptors. */
static int list_names(int root, const char *path, struct ga_strv *ret, struct ga_error *err)
{
	int fd = ga_openat_beneath(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		rc = fail_unread(path, err);
		ga_cleanup_closep(&fd);
		return rc;
	}
	while ((errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ga_strv_push(ret, e->d_name);
	if (errno)
		rc = fail_unread(path, err);
	(void)closedir(d);
	return rc;
}

static int untracked_below(struct below *b, const char *path, const struct ga_oid *tree,
			   struct ga_error *err);

/* An entry of such a directory; git has `e` for it. 1: it, or something in it, is not tracked. */
static int untracked_entry(struct below *b, const char *child, const struct ga_entry *e,
			   struct ga_error *err)
{
	if (land_dir_here(b->root, child))
		return untracked_below(b, child, e->mode == GA_MODE_TREE ? &e->oid : NULL, err);
	if (b->l->tracked ? ga_strv_find(b->l->tracked, child) >= 0
			  : e->mode != GA_MODE_NONE && e->mode != GA_MODE_TREE)
		return 0;
	if (b->going_or_null && ga_strv_find(b->going_or_null, child) >= 0)
		return 0;
	ga_strv_push(b->ret, child);
	return 1;
}

/* `tree` is what git has of it; NULL: nothing, or l->tracked says what. Each tree is read once. */
static int untracked_below(struct below *b, const char *path, const struct ga_oid *tree,
			   struct ga_error *err)
{
	cleanup_tree_level struct ga_tree_level at = GA_TREE_LEVEL_INIT;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	int rc = list_names(b->root, path, &names, err);

	if (!rc && tree)
		rc = ga_tree_level_read(b->l->repo, tree, &at, err);
	for (size_t i = 0; !rc && i < names.n; i++) {
		struct ga_entry has = ga_tree_level_find(&at, names.v[i]);
		cleanup_free char *child = ga_path_join(path, names.v[i]);

		rc = untracked_entry(b, child, &has, err);
	}
	return rc;
}

int land_untracked_below(struct land *l, int root, const char *path,
			 const struct ga_strv *going_or_null, struct ga_strv *ret,
			 struct ga_error *err)
{
	struct below b = {
		.l = l, .root = root, .going_or_null = going_or_null, .ret = ret
	};
	struct ga_entry e = { .mode = GA_MODE_NONE };

	if (!l->tracked && ga_tree_entry(l->repo, &l->head_tree, path, &e, err))
		return -1;
	return untracked_below(&b, path, e.mode == GA_MODE_TREE ? &e.oid : NULL, err);
}

/* Find an untracked file that stands where the path needs a directory. */
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

int way_added(struct land *l, int root, const char *path, struct land_found *f,
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
	return land_untracked_below(l, root, path, NULL, &f->blocked, err) < 0 ? -1 : 0;
}

/* Does the path become a submodule that is checked out there already? Git leaves it alone. */
static bool is_checked_out(int root, const struct ga_change *c)
{
	cleanup_free char *git = ga_path_join(c->path, ".git");
	cleanup_close int fd = c->new.mode == GA_MODE_GITLINK
				       ? ga_openat_beneath(root, git, O_PATH | O_NOFOLLOW, 0)
				       : -1;

	return fd >= 0;
}

bool way_replaces(const struct ga_entry *old, const struct ga_entry *new)
{
	return old->mode == GA_MODE_GITLINK && new->mode != GA_MODE_GITLINK &&
	       new->mode != GA_MODE_NONE;
}

/* An empty directory, which is all there is of a submodule that is not checked out, makes way.
 * Anything in it is the user's, and git does not look at it if it was told not to. */
int way_submodule(struct land *l, int root, const char *path, struct land_found *f,
		  struct ga_error *err)
{
	cleanup_strv struct ga_strv in_it = GA_STRV_INIT;

	if (!land_dir_here(root, path))
		return way_added(l, root, path, f, err);
	if (land_untracked_below(l, root, path, NULL, &in_it, err) < 0)
		return -1;
	if (in_it.n)
		ga_strv_push(&f->filled, path);
	return 0;
}

int way_changed(struct land *l, int root, const struct ga_change *c, struct land_found *f,
		struct ga_error *err)
{
	if (way_replaces(&c->old, &c->new))
		return way_submodule(l, root, c->path, f, err);
	return c->old.mode == GA_MODE_NONE && !is_checked_out(root, c)
		       ? way_added(l, root, c->path, f, err)
		       : 0;
}

int way_untracked(struct land *l, struct land_found *f, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < l->changes.n; i++)
		if (way_changed(l, root, &l->changes.v[i], f, err))
			return -1;
	ga_strv_sort_unique(&f->files);
	ga_strv_sort_unique(&f->blocked);
	ga_strv_sort_unique(&f->filled);
	return 0;
}

/* ---- nothing in the way ---------------------------------------------------------- */

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

/* True only if that is certain. If git could not answer, a closer look is taken. */
static bool nothing_staged(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_process_job *job = ga_steal(&l->staged);
	int status;

	return l->unstaged || (job && !ga_process_end(job, &status, &ignored) && !status);
}

/* Is it certain that nothing of the user's is in the way? That is nearly always so, and can be told
 * without a look at each file of the working tree. False if there is any doubt. */
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

int way_refuse_untracked(const struct ga_strv *paths, struct ga_error *err)
{
	return land_refuse(paths, "files git does not track would be overwritten",
			   "move them away, then go on", err);
}

int way_refuse_blocked(struct land_found *f, struct ga_error *err)
{
	ga_strv_sort_unique(&f->filled);
	ga_strv_sort_unique(&f->blocked);
	if (f->filled.n)
		return land_refuse(&f->filled, "submodules would be overwritten",
				   "'git submodule deinit' empties one; or move away what is in "
				   "it, then go on", err);
	return f->blocked.n ? way_refuse_untracked(&f->blocked, err) : 0;
}

/* In a directory where git cannot create or remove files, it would stop half way. */
static int check_writable(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv closed = GA_STRV_INIT;
	cleanup_free char *last = NULL;
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < l->changes.n; i++) {
		cleanup_free char *dir = ga_path_parent(l->changes.v[i].path);

		if (!way_overwrites(l, l->changes.v[i].path) || (last && !strcmp(last, dir)))
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
	/* the clock that file times come from */
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &l->looked);
	if (way_untracked(l, f, err) || land_options_in_the_way(l, f, err) ||
	    (l->marks.hidden && way_hidden(l, f, err)) ||
	    (!is_clear(l, f) && tracked_in_the_way(l, f, err)))
		return -1;
	ga_strv_sort_unique(&f->all);
	ga_strv_sort_unique(&f->changed);
	ga_strv_sort_unique(&f->files);
	if (f->unmerged.n)
		return land_refuse(&f->unmerged, "the index has conflicts",
				   "resolve them and 'git add', then land again", err);
	return way_refuse_blocked(f, err) || check_writable(l, err) ? -1 : 0;
}

#define WAY_OVERWRITTEN "uncommitted changes would be overwritten"

int way_refuse_overwritten(const struct land_found *f, const char *hint, struct ga_error *err)
{
	if (f->changed.n)
		return land_refuse(&f->changed, WAY_OVERWRITTEN, hint, err);
	return f->files.n ? way_refuse_untracked(&f->files, err) : 0;
}

char *way_put_away(const struct land *l, const struct land_found *f, const struct ga_strv *paths,
		   const char *then)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int root = land_open_root(l->repo, &ignored);
	const char *how = "commit them or 'git stash' them";

	for (size_t i = 0; i < paths->n; i++) {
		for (size_t k = 0; k < f->intended.n; k++)
			if (!strcmp(f->intended.v[k], paths->v[i]))
				how = "commit them, or 'git reset' what is only intended to be "
				      "added";
		if (root >= 0 && land_dir_here(root, paths->v[i]))
			return ga_strf("commit them, or move away the directories that stand in "
				       "place of files ('git stash' would remove what is not "
				       "tracked in them), then %s", then);
	}
	return ga_strf("%s, then %s", how, then);
}

void way_marked(const struct land_found *f, struct ga_strv *ret)
{
	for (size_t i = 0; i < f->marked.n; i++)
		if (ga_strv_find(&f->changed, f->marked.v[i] + 1) >= 0)
			ga_strv_push(ret, f->marked.v[i] + 1);
	ga_strv_sort_unique(ret);
}

int land_check_worktree(struct land *l, struct ga_error *err)
{
	cleanup_(land_found_release) struct land_found f = { .all = GA_STRV_INIT };
	cleanup_strv struct ga_strv marked = GA_STRV_INIT;
	cleanup_free char *hint = NULL;
	struct ga_oid tree;

	(void)ga_repo_index_tree(l->repo, &tree, &l->marks);
	if (land_find_work(l, &f, err))
		return -1;
	way_marked(&f, &marked);
	if (marked.n)
		return land_refuse(&marked, WAY_OVERWRITTEN, WAY_UNMARK "go on", err);
	hint = way_put_away(l, &f, &f.changed, "go on");
	if (way_refuse_overwritten(&f, hint, err))
		return -1;
	if (f.staged.n)
		return land_refuse(&f.staged, "staged changes are in the way",
				   "commit them, or unstage them with 'git restore --staged', "
				   "then go on", err);
	/* git would forget the intention */
	if (f.intended.n)
		return land_refuse(&f.intended, "paths are intended to be added",
				   "commit them, or 'git reset' them, then go on", err);
	ga_strv_extend(&l->hidden, &f.hidden);
	ga_strv_extend(&l->marked, &f.marked);
	return 0;
}
