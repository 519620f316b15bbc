/* SPDX-License-Identifier: MIT
 *
 * What of the user's would be in the way of commits that are made again one by one, and of going
 * back from the middle of that. Nothing is touched here.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/treelevel.h"
#include "in-the-way.h"

/* Add the path to l->changes, once, unless the commit writes what the tree has already. Both
 * entries are the one that the tree has, since that is there until a commit writes another; but the
 * new one is a file if any of the commits puts one in place of a submodule. */
static void add_touched(struct land *l, const struct ga_change *c, const struct ga_entry *is)
{
	size_t n = l->changes.n;

	if (ga_entry_equal(&c->new, is))
		return;
	if (!n || strcmp(l->changes.v[n - 1].path, c->path) != 0) {
		(void)ga_changes_add(&l->changes, c->path, is, is);
		n++;
	}
	if (way_replaces(is, &c->new))
		l->changes.v[n - 1].new = c->new;
}

/* The tree has `e` at the first `n` bytes of the path of `c`. If that is of another type than what
 * comes, or one is a file and the other a directory, both cannot be there: the path goes to
 * l->conflicted. */
static void add_apart(struct land *l, const struct ga_change *c, size_t n, const struct ga_entry *e)
{
	bool above = c->path[n] != '\0';

	if (e->mode == GA_MODE_NONE || (!above && c->new.mode == GA_MODE_NONE) ||
	    (!above && (e->mode & S_IFMT) == (c->new.mode & S_IFMT)))
		return;
	ga_strv_take(&l->conflicted, ga_strndup(c->path, n));
}

/* Handle the changes of `w`, which is sorted, from `*i` on that lie in the directory `tree`; its
 * path is the first `skip` bytes of theirs. Each tree is read once, however many of them it has. */
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
		add_apart(l, c, skip + n, &e);
		if (e.mode == GA_MODE_TREE || c->path[skip + n])
			e = (struct ga_entry){ .mode = GA_MODE_NONE };
		add_touched(l, c, &e);
		++*i;
	}
	return 0;
}

/* Git follows renames of HEAD's: what the commits change in a file is changed under its new name.
 * As git does for the first of the commits, look for renames from its parent to HEAD, and add the
 * new names to `writes`, which is sorted. */
static int add_renamed(struct land *l, const struct ga_buf *commits, struct ga_changes *writes,
		       struct ga_error *err)
{
	cleanup_free char *first = ga_strndup(commits->ptr, strcspn(commits->ptr, "\n"));
	cleanup_free char *base = ga_strf("%s^", first);
	const char *const parent[] = { "rev-parse", "--quiet", "--verify", base, NULL };
	struct ga_entry none = { .mode = GA_MODE_NONE }, any = { .mode = GA_MODE_FILE };
	cleanup_strv struct ga_strv renames = GA_STRV_INIT, names = GA_STRV_INIT;
	struct ga_oid oid;
	int rc = land_ask_id(l, parent, &oid, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (land_renames(l, base, &renames, err))
		return -1;
	for (size_t i = 0; i + 1 < renames.n; i += 2)
		if (ga_changes_find(writes, renames.v[i]))
			ga_strv_push(&names, renames.v[i + 1]);
	for (size_t i = 0; i < names.n; i++)
		(void)ga_changes_add(writes, names.v[i], &none, &any);
	ga_changes_sort(writes);
	return 0;
}

/* Find what each of the commits, one id a line, writes or removes. */
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
		if (!land_raw_entry(line, false, &e))
			return ga_fail(err, GA_EFATAL, "git diff-tree printed no change");
		(void)ga_changes_add(&writes, path, &none, &e);
	}
	ga_changes_sort(&writes);
	if (!writes.n)
		return 0;
	return add_renamed(l, commits, &writes, err) ||
	       add_beneath(l, &l->head_tree, &writes, 0, &i, err) ? -1 : 0;
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
		if (way_overwrites(l, path))
			ga_strv_push(&f->changed, path);
	return 0;
}

/* Is this what git calls a side when it makes one of these commits again: "HEAD", or the id and
 * subject of the commit? A number may follow. */
static bool is_label(const char *s, const struct ga_buf *commits)
{
	size_t n = 0;

	if (!strncmp(s, "HEAD", 4) && (!s[4] || s[4] == '_'))
		return true;
	while (isxdigit((unsigned char)s[n]))
		n++;
	if (n < 4 || strncmp(s + n, " (", 2) != 0)
		return false;
	for (const char *id = commits->ptr; *id; id += strcspn(id, "\n"), id += *id == '\n')
		if (!strncmp(id, s, n))
			return true;
	return false;
}

static int add_beside(struct land *l, const char *path, const char *name, struct land_found *f,
		      struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(path);
	cleanup_free char *beside = *dir ? ga_path_join(dir, name) : ga_strdup(name);
	struct ga_entry e;

	if (ga_tree_entry(l->repo, &l->head_tree, beside, &e, err))
		return -1;
	if (e.mode == GA_MODE_NONE)
		ga_strv_push(&f->files, beside);
	return 0;
}

/* Where a file and a directory collide, git writes the file beside the directory, as NAME~SIDE,
 * even over an untracked file. */
static int beside_in_the_way(struct land *l, int root, const char *path,
			     const struct ga_buf *commits, struct land_found *f,
			     struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(path), *begin = ga_strf("%s~", ga_path_base(path));
	int fd = ga_openat_beneath(root, *dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t n = strlen(begin);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
			       ? 0
			       : ga_fail_errno(err, GA_EFATAL, errno, "cannot read a directory");
	}
	while (!rc && (errno = 0, e = readdir(d)))
		if (!strncmp(e->d_name, begin, n) && is_label(e->d_name + n, commits))
			rc = add_beside(l, path, e->d_name, f, err);
	if (!rc && errno)
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot read a directory");
	(void)closedir(d);
	return rc;
}

static int names_in_the_way(struct land *l, const struct ga_buf *commits, struct land_found *f,
			    struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	ga_strv_sort_unique(&l->conflicted);
	for (size_t i = 0; i < l->conflicted.n; i++)
		if (beside_in_the_way(l, root, l->conflicted.v[i], commits, f, err))
			return -1;
	return 0;
}

#define UNMARK WAY_NO_MARK ", then "
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
	     way_untracked(&l, &f, err) || names_in_the_way(&l, commits, &f, err) ? -1 : 0;
	seen = f.changed.n;
	if (!rc && l.marks.hidden)
		rc = way_hidden(&l, &f, err);
	marked = f.changed.n > seen;
	ga_changes_release(&l.changes);
	ga_strv_release(&l.conflicted);
	ga_strv_extend(&f.files, &f.blocked);
	ga_strv_sort_unique(&f.files);
	ga_strv_sort_unique(&f.changed);
	/* the hint names no commit, which in the middle of a rebase would be taken for the one that
	 * is made again, and no stash of everything, which would take what was resolved; a stash of
	 * a file that git was told not to look at takes nothing, so its mark has to go first */
	return rc || (f.filled.n && way_refuse_blocked(&f, err))
		       ? -1
		       : way_refuse_overwritten(&f, marked ? UNMARK PUT_AWAY : PUT_AWAY, err);
}

/* Handle a line of `git diff-index --raw -z` and its path. Git leaves submodules alone, unless the
 * tree has a file there: then it removes whatever the user has in that directory. */
static int entry_in_the_way(struct land *l, int root, const char *line, const char *path,
			    struct land_found *f, struct ga_error *err)
{
	bool link = !strncmp(line, ":160000 ", 8), gone = line[strlen(line) - 1] == 'D';
	bool dir = land_dir_here(root, path);

	if (link ? dir || !gone : !dir && !gone)
		return 0;
	return strlen(line) > 8 && !strncmp(line + 8, "160000 ", 7)
		       ? way_submodule(l, root, path, f, err)
		       : way_added(l, root, path, f, err);
}

/* Look at the paths that the tree has and the index has not, or has otherwise. */
static int entries_in_the_way(struct land *l, const struct ga_oid *tree, struct land_found *f,
			      struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--raw", "--no-renames",
				     "--no-ext-diff", "--diff-filter=a", "-z", GA_HEX(tree), "--",
				     NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	cleanup_close int root = land_open_root(l->repo, err);
	const char *line, *path;
	size_t pos = 0;

	if (root < 0 || land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)) && (path = ga_buf_next0(&out, &pos)))
		if (*line && entry_in_the_way(l, root, line, path, f, err))
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
	if (entries_in_the_way(&l, to, &f, err))
		return -1;
	if (f.filled.n)
		return way_refuse_blocked(&f, err);
	ga_strv_extend(&f.files, &f.blocked);
	ga_strv_sort_unique(&f.files);
	return f.files.n ? way_refuse_untracked(&f.files, err) : 0;
}
