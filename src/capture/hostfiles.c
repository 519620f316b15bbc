/* SPDX-License-Identifier: MIT
 *
 * Read the user's own pattern files, and find paths where the branch would overwrite untracked
 * files.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "capture-internal.h"
#include "ga/base/path.h"
#include "ga/base/strmap.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "upper-internal.h"

static int add_file(const char *path, struct ga_buf *out, struct ga_error *err)
{
	return path ? ga_user_file_read(path, GA_RULES_MAX, out, err) : 0;
}

int read_host_patterns(struct capture *c, struct ga_error *err)
{
	const struct ga_gitconfig *conf = c->e->config;
	struct ga_repo *r = c->e->repo;
	const char *common = ga_repo_info(r)->commondir;
	cleanup_free char *exclude = ga_path_join(common, "info/exclude");
	cleanup_free char *attributes = ga_path_join(common, "info/attributes");
	const char *system = ga_system_attributes();
	cleanup_free char *user_excludes = NULL, *user_attributes = NULL;

	if (ga_user_file(r, conf, "core.excludesfile", "ignore", &user_excludes, err) ||
	    ga_user_file(r, conf, "core.attributesfile", "attributes", &user_attributes, err))
		return -1;
	/* the last match decides, so the repository's own come last */
	if (add_file(user_excludes, &c->convert.excludes, err) ||
	    add_file(exclude, &c->convert.excludes, err) ||
	    add_file(system, &c->convert.attributes, err) ||
	    add_file(user_attributes, &c->convert.attributes, err) ||
	    add_file(attributes, &c->convert.info_attributes, err))
		return -1;
	/* other attributes (diff, merge, export) do not affect conversion; but if any line does,
	 * all are needed: "binary" says that there is nothing to convert */
	c->convert.asked =
		attributes_convert(c->convert.attributes.ptr, c->convert.attributes.len) ||
			   attributes_convert(c->convert.info_attributes.ptr,
					      c->convert.info_attributes.len);
	return 0;
}

struct untracked_check {
	int project;
	struct ga_oid head_tree;
	bool has_head;
	struct ga_buf missing; /* a directory that does not exist, so nothing beneath it does */
};

static bool is_content(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC || e->mode == GA_MODE_LINK;
}

/* Does HEAD have a file or link above the path? */
static int tracked_above(struct capture *c, const struct untracked_check *l, const char *path,
			 bool *ret, struct ga_error *err)
{
	struct ga_entry e = { 0 };
	size_t n;

	if (l->has_head && ga_tree_above(c->e->repo, &l->head_tree, path, &e, &n, err))
		return -1;
	*ret = is_content(&e);
	return 0;
}

/* Does the user's directory have a file that HEAD does not have there? `e` is HEAD's entry for the
 * directory: a tree, nothing, or a submodule, of whose content git knows nothing. Ends at the first
 * such file, however many there are. */
static int holds_untracked(struct capture *c, int at, const struct ga_entry *e, bool *ret,
			   struct ga_error *err)
{
	cleanup_dir DIR *d = ga_dir_of(openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *f;
	int rc = 0;

	/* what cannot be read counts as untracked */
	*ret = !d;
	while (!rc && !*ret && (f = ga_dir_next(d))) {
		cleanup_close int below = -1;
		struct ga_entry is = { 0 };

		if (e->mode == GA_MODE_TREE &&
		    (rc = ga_tree_entry(c->e->repo, &e->oid, f->d_name, &is, err)))
			break;
		below = openat(dirfd(d), f->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			*ret = is.mode == GA_MODE_NONE ||
			       (errno != ENOTDIR && errno != ELOOP && errno != ENOENT);
		/* git itself objects if the user put a directory in place of a file of HEAD's */
		else if (!is_content(&is))
			rc = holds_untracked(c, below, &is, ret, err);
	}
	return rc;
}

/* Would writing a file there overwrite untracked content? */
static int is_untracked(struct capture *c, const struct untracked_check *l, int fd,
			const char *path, bool *ret, struct ga_error *err)
{
	struct ga_entry e = { 0 };
	struct stat st;

	if (l->has_head && ga_tree_entry(c->e->repo, &l->head_tree, path, &e, err))
		return -1;
	*ret = e.mode == GA_MODE_NONE;
	/* if it is tracked by now, git itself notices the conflict */
	if (fstat(fd, &st) || !S_ISDIR(st.st_mode) ||
	    (e.mode != GA_MODE_TREE && e.mode != GA_MODE_GITLINK))
		return 0;
	return holds_untracked(c, fd, &e, ret, err);
}

/* Is there anything at the path that git does not track? */
static int has_untracked(struct capture *c, struct untracked_check *l, const char *path, bool *ret,
			 struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(path);
	cleanup_close int fd = -1, parent = -1;
	bool above;

	*ret = false;
	if (l->missing.len && ga_path_inside(path, l->missing.ptr))
		return 0;
	fd = ga_openat_beneath(l->project, path, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
		/* beneath a symlink or a file of the user, which a merge would have to replace */
		if (tracked_above(c, l, path, &above, err))
			return -1;
		*ret = !above;
		return 0;
	}
	if (fd < 0 && errno == ENOENT && *dir) {
		parent = ga_openat_beneath(l->project, dir, O_PATH | O_NOFOLLOW, 0);
		if (parent < 0) {
			ga_buf_clear(&l->missing);
			ga_buf_adds(&l->missing, dir);
		}
	}
	return fd < 0 ? 0 : is_untracked(c, l, fd, path, ret, err);
}

static int would_overwrite(struct capture *c, struct untracked_check *l, struct rules *ru,
			   const char *path, bool *ret, struct ga_error *err)
{
	if (rules_ignored(ru, path, ret, err))
		return -1;
	return *ret || l->project < 0 ? 0 : has_untracked(c, l, path, ret, err);
}

/* Note the limit, unless the walk has done so. */
static void note_rules(struct capture *c)
{
	if (!(c->met >> GA_LIMIT_RULES_SIZE & 1))
		ga_strv_take(&c->notes,
			     limit_met(c, GA_LIMIT_RULES_SIZE,
				       "a .gitignore of the base, or of yours that is in no "
				       "commit, is too long to be read"));
}

static int find_overwritten(struct capture *c, const struct ga_strv *paths, struct ga_strv *ret,
			    struct ga_error *err)
{
	cleanup_close int project = open(c->s->id.project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *branch = NULL;
	struct untracked_check l = { .project = project, .missing = GA_BUF_INIT };
	struct ga_oid head, base_tree;
	struct rules ru;
	int rc = ga_repo_head(c->e->repo, &head, &branch, err);

	if (rc < 0 || ga_commit_tree(c->e->repo, &c->s->id.onto, &base_tree, err))
		return -1;
	l.has_head = !rc;
	if (l.has_head && ga_commit_tree(c->e->repo, &head, &l.head_tree, err))
		return -1;
	rules_init(&ru, c->e->repo, &base_tree, c->convert.excludes.ptr,
		   ga_gitconfig_bool(c->e->config, "core.ignorecase", false),
		   c->e->limits->rules_size);
	ru.user = l.project;
	ru.known = l.has_head ? &l.head_tree : NULL;
	rc = 0;
	for (size_t i = 0; !rc && i < paths->n; i++) {
		const char *path = paths->v[i];
		bool over = false;

		rc = would_overwrite(c, &l, &ru, path, &over, err);
		if (!rc && over)
			ga_strv_push(ret, path);
	}
	if (ru.too_long)
		note_rules(c);
	rules_release(&ru);
	ga_buf_release(&l.missing);
	return rc;
}

/* The commits visited, parents first, and each path that one of them has and `from` has not. */
struct history {
	struct ga_repo *r;
	const struct ga_oid *from;
	struct ga_oid *trees; /* of the commits visited */
	struct ga_oidmap index;
	struct ga_strmap seen; /* the paths found; its keys belong to: */
	struct ga_strv paths;
};

static void history_release(struct history *h)
{
	free(h->trees);
	ga_oidmap_release(&h->index);
	ga_strmap_release(&h->seen);
	ga_strv_release(&h->paths);
}

static int add_new(struct history *h, const struct ga_change *c, bool since_from,
		   struct ga_error *err)
{
	struct ga_entry e = { 0 };

	if (c->old.mode || !c->new.mode ||
	    ga_strmap_first(&h->seen, c->path, strlen(c->path)) >= 0)
		return 0;
	if (!since_from && ga_tree_entry(h->r, h->from, c->path, &e, err))
		return -1;
	if (e.mode && e.mode != GA_MODE_TREE)
		return 0;
	ga_strv_push(&h->paths, c->path);
	ga_strmap_add(&h->seen, h->paths.v[h->paths.n - 1], strlen(c->path), 0);
	return 0;
}

/* Compare a commit with its first parent, if that was visited, else with `from`: comparing each
 * commit of a long history with `from` would take too long. */
static int add_commit(struct history *h, const struct ga_oid *id, struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_commit struct ga_commit c = { .parents = NULL };
	const struct ga_oid *since = h->from;
	size_t i;

	if (ga_commit_read(h->r, id, &c, err))
		return -1;
	if (c.n_parents && ga_oidmap_get(&h->index, &c.parents[0], &i))
		since = &h->trees[i];
	if (ga_tree_diff(h->r, since, &c.tree, &changes, err))
		return -1;
	for (i = 0; i < changes.n; i++)
		if (add_new(h, &changes.v[i], since == h->from, err))
			return -1;
	h->trees[h->index.n] = c.tree;
	(void)ga_oidmap_add(&h->index, id, h->index.n);
	return 0;
}

int find_in_the_way(struct capture *c, const struct ga_oid *commits, size_t n,
		    const struct ga_oid *from, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_(history_release) struct history h = { .r = c->e->repo, .from = from };

	h.trees = ga_calloc(n ? n : 1, sizeof(*h.trees));
	for (size_t i = 0; i < n; i++)
		if (add_commit(&h, &commits[i], err))
			return -1;
	ga_strmap_release(&h.seen);
	ga_strv_sort_unique(&h.paths);
	return find_overwritten(c, &h.paths, ret, err);
}
