/* SPDX-License-Identifier: MIT
 *
 * Changes of the agent that stand on the user's uncommitted work. They come back as
 * uncommitted edits: a three-way merge by path of what the session started from,
 * what the working tree has now, and what the agent made of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/sync.h"
#include "land-internal.h"

#define PUT_NAME "put" /* in the note, on its way */
#define FILE_MAX ((size_t)64 << 20)

void land_carries_release(struct land_carries *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].path);
		ga_buf_release(&c->v[i].seen);
		ga_buf_release(&c->v[i].bytes);
	}
	free(c->v);
	*c = (struct land_carries){NULL, 0, 0};
}

static bool present(const struct land_carry *c)
{
	return c->had.mode != GA_MODE_NONE;
}

void land_carry_refuse(struct land *l, const char *path, const char *why)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *q = ga_quote(path);
	cleanup_free char *rev = ga_strf(GA_SESSION_REFS "%s/carried:%s", l->s->name, path);
	cleanup_free char *word = ga_quote_shell(rev);
	struct ga_entry e;

	if (!ga_tree_entry(l->repo, &l->carried_tree, path, &e, &ignored) &&
	    e.mode == GA_MODE_NONE)
		ga_strv_pushf(&l->ret->not_brought, "%s: %s; the agent removed it", q, why);
	/* a name that cannot be shown as it is cannot be typed from here either */
	else if (!strcmp(q, path))
		ga_strv_pushf(&l->ret->not_brought, "%s: %s; 'git show %s' has the agent's version",
			      q, why, word);
	else
		ga_strv_pushf(&l->ret->not_brought,
			      "%s: %s; " GA_SESSION_REFS "%s/carried has the agent's version", q,
			      why, l->s->name);
}

int land_carry_changes(struct land *l, struct ga_changes *ret, struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(l->s, "carried");
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_oid carried;
	int rc;

	if (!l->s->left_out.n)
		return 0;
	ga_strv_sort_unique(&l->s->left_out);
	rc = ga_ref_read(l->repo, ref, &carried, err);
	if (rc < 0)
		return -1;
	if (rc) {
		(void)ga_fail(err, GA_EFATAL, "'%s' is gone", ref);
		return ga_hint(err, "it held the agent's changes to your uncommitted work");
	}
	if (ga_commit_tree(l->repo, &l->s->onto, &l->onto_tree, err) ||
	    ga_commit_tree(l->repo, &l->s->base, &l->base_tree, err) ||
	    ga_commit_tree(l->repo, &carried, &l->carried_tree, err) ||
	    ga_tree_diff(l->repo, &l->base_tree, &l->carried_tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&l->s->left_out, all.v[i].path) >= 0)
			(void)ga_changes_add(ret, all.v[i].path, &all.v[i].old, &all.v[i].new);
	return 0;
}

int land_carry_is_moved(struct land *l, const struct ga_change *c, struct ga_error *err)
{
	struct ga_entry e;

	if (ga_tree_entry(l->repo, &l->onto_tree, c->path, &e, err))
		return -1;
	if (e.mode == GA_MODE_TREE)
		e = (struct ga_entry){ .mode = GA_MODE_NONE };
	return c->new.mode != GA_MODE_NONE && ga_entry_equal(&c->old, &e);
}

bool land_carry_is_gone(const struct ga_entry *had, const struct ga_entry *made)
{
	return had->mode != GA_MODE_NONE && made->mode == GA_MODE_NONE;
}

/* ---- between working tree and blobs ------------------------------------- */

/* One git command in the user's working tree that turns bytes into bytes by the
 * user's own attributes and filters, before anything was merged. 1: it failed. */
static int filter(struct land *l, const char *const *args, const struct ga_buf *in,
		  struct ga_buf *out, struct ga_error *err)
{
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.in = in ? in->ptr : NULL;
	g.in_len = in ? in->len : 0;
	g.out = out;
	g.out_max = FILE_MAX;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	return status != 0;
}

static int clean(struct land *l, struct land_carry *c, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("--path=%s", c->path);
	const char *const args[] = { "hash-object", "-w", "--stdin", path, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int rc = filter(l, args, &c->seen, &out, err);

	if (rc)
		return rc;
	ga_buf_chomp(&out);
	return !ga_oid_parse(out.ptr, out.len, &c->had.oid);
}

static int smudge(struct land *l, struct land_carry *c, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("--path=%s", c->path);
	const char *const args[] = { "cat-file", "--filters", path, GA_HEX(&c->will.oid), NULL };

	return filter(l, args, NULL, &c->bytes, err);
}

static uint32_t file_mode(struct land *l, const struct stat *st, const struct ga_entry *was)
{
	if (!ga_gitconfig_bool(&l->config, "core.filemode", true) &&
	    (was->mode == GA_MODE_FILE || was->mode == GA_MODE_EXEC))
		return was->mode;
	return st->st_mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
}

/* Read what stands at the path: 0 read (perhaps nothing there), else a reason. */
static const char *look(int root, struct land_carry *c, struct ga_buf *ret, struct stat *st,
			bool *there)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int fd =
	    ga_openat_beneath(root, c->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0);

	*there = false;
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0)
		return errno == ELOOP     ? "a symlink stands there"
		       : errno == ENOTDIR ? "a file stands where a directory should"
					  : "it cannot be read";
	if (fstat(fd, st) || !S_ISREG(st->st_mode))
		return "no regular file stands there";
	if (ga_read_fd(fd, FILE_MAX, ret, &ignored))
		return "it cannot be read or is too long";
	*there = true;
	return NULL;
}

/* ---- deciding ----------------------------------------------------------- */

static bool is_file(const struct ga_entry *e)
{
	return e->mode == GA_MODE_NONE || e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC;
}

/* Is the path one of l->changes, or a directory with any of them? */
static bool has_changes(const struct land *l, const char *path)
{
	cleanup_free char *within = ga_strf("%s/", path);
	size_t from = 0, to = l->changes.n;

	if (ga_changes_find(&l->changes, path))
		return true;
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (strcmp(l->changes.v[mid].path, within) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from < l->changes.n &&
	       !strncmp(l->changes.v[from].path, within, strlen(within));
}

/* What git is about to merge changes it as well, or puts a file where a directory has to be, or the
 * other way round: somebody put that on the branch since, or an earlier run did. */
static bool is_merged(const struct land *l, const char *path)
{
	if (!l->merge)
		return false;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));

		if (ga_changes_find(&l->changes, dir))
			return true;
	}
	return has_changes(l, path);
}

/* 0: `c` is filled; 1: not brought, and why. */
static int decide(struct land *l, int root, const struct ga_change *want, struct land_carry *c,
		  const char **why, struct ga_error *err)
{
	bool there;
	int rc;

	*why = "the branch has another version";
	if (is_merged(l, want->path))
		return 1;
	*why = "a symlink or submodule is not brought";
	if (!is_file(&want->old) || !is_file(&want->new))
		return 1;
	*why = look(root, c, &c->seen, &c->st, &there);
	if (*why)
		return 1;
	*why = "git cannot convert it";
	if (there) {
		rc = clean(l, c, err);
		if (rc)
			return rc;
		c->had.mode = file_mode(l, &c->st, &want->old);
	}
	rc = ga_merge_entry(l->repo, &want->old, &c->had, &want->new, &c->will, err);
	*why = "it overlaps with your changes";
	if (rc || ga_entry_equal(&c->had, &c->will) || c->will.mode == GA_MODE_NONE)
		return rc;
	*why = "git cannot convert it";
	return smudge(l, c, err);
}

static int add(struct land *l, int root, const struct ga_change *want, struct land_carry **ret,
	       struct ga_error *err)
{
	struct land_carries *list = &l->carries;
	struct land_carry *c;
	const char *why;
	int rc;

	GA_GROW(list->v, list->n, list->cap);
	*ret = c = &list->v[list->n++];
	*c = (struct land_carry){
	    .path = ga_strdup(want->path), .seen = GA_BUF_INIT, .bytes = GA_BUF_INIT};
	rc = decide(l, root, want, c, &why, err);
	if (rc > 0) {
		land_carry_refuse(l, c->path, why);
		c->will = c->had;
	}
	return rc;
}

/* A file stays as long as what the agent made of it under another name does not come. */
static bool stays(struct land *l, struct land_carry *c, bool apart)
{
	if (!apart || !c->gone || ga_entry_equal(&c->had, &c->will))
		return false;
	land_carry_refuse(l, c->path, LAND_CARRY_APART);
	c->will = c->had;
	return true;
}

int land_carry_decide(struct land *l, struct ga_error *err)
{
	cleanup_changes struct ga_changes wanted = GA_CHANGES_INIT;
	cleanup_close int root = -1;
	bool apart = false;

	if (land_carry_changes(l, &wanted, err))
		return -1;
	if (!wanted.n)
		return 0;
	root = land_open_root(l->repo, err);
	if (root < 0)
		return -1;
	/* what goes last */
	for (int gone = 0; gone < 2; gone++)
		for (size_t i = 0; i < wanted.n; i++) {
			const struct ga_change *want = &wanted.v[i];
			struct land_carry *c;
			int rc, moved;

			if (land_carry_is_gone(&want->old, &want->new) != gone)
				continue;
			moved = land_carry_is_moved(l, want, err);
			rc = moved < 0 ? -1 : add(l, root, want, &c, err);
			if (rc < 0)
				return -1;
			c->moved = moved;
			c->gone = gone;
			apart |= rc && moved;
			if (!rc && !stays(l, c, apart))
				ga_strv_push(&l->ret->brought, c->path);
		}
	ga_strv_sort_unique(&l->ret->brought);
	return 0;
}

/* ---- writing ------------------------------------------------------------ */

static mode_t perms(const struct land_carry *c)
{
	bool exec = c->will.mode == GA_MODE_EXEC;
	mode_t mask;

	if (present(c))
		return land_perms(&c->st, exec);
	mask = umask(0);
	(void)umask(mask);
	return (exec ? 0777 : 0666) & ~mask;
}

/* By way of the note. */
static int put(int root, int note, const struct land_carry *c, const struct land_look *over,
	       const char *part)
{
	struct land_copy copy = { .from = note, .name = PUT_NAME, .mode = perms(c), .part = part };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	int rc = ga_write_new(note, PUT_NAME, c->bytes.ptr, c->bytes.len, 0600, &ignored) ||
			 land_put(&copy, root, c->path, over, &ignored)
		     ? -1
		     : 0;

	(void)unlinkat(note, PUT_NAME, 0);
	return rc;
}

/* NULL, or why it could not be written. */
static const char *write_one(int root, int note, struct land_carry *c, const char *part)
{
	cleanup_buf struct ga_buf now = GA_BUF_INIT;
	cleanup_close int dir = -1;
	struct land_look over;
	const char *why;
	struct stat st;
	bool there;

	if (!land_look_here(root, c->path, &over))
		return "it cannot be read";
	/* hooks of the merge, or the user, may have been here since */
	why = look(root, c, &now, &st, &there);
	if (why)
		return why;
	if (there != present(c) || now.len != c->seen.len ||
	    memcmp(now.ptr, c->seen.ptr, now.len) != 0)
		return "it was changed meanwhile";
	dir = land_open_parent(root, c->path);
	if (dir < 0)
		return "its directory cannot be opened";
	if (c->will.mode == GA_MODE_NONE)
		return unlinkat(dir, ga_path_base(c->path), 0) ? "it cannot be removed" : NULL;
	return put(root, note, c, &over, part) ? "it cannot be written" : NULL;
}

void land_carry_done(struct land *l, struct ga_strv *paths)
{
	cleanup_strv struct ga_strv all = l->s->left_out;

	l->s->left_out = (struct ga_strv)GA_STRV_INIT;
	ga_strv_sort_unique(paths);
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(paths, all.v[i]) < 0)
			ga_strv_push(&l->s->left_out, all.v[i]);
}

int land_carry_write(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv planned = l->ret->brought;
	cleanup_strv struct ga_strv written = GA_STRV_INIT;
	cleanup_close int root = -1, note = -1;
	cleanup_free char *part = NULL;
	bool apart = false;

	l->ret->brought = (struct ga_strv)GA_STRV_INIT;
	if (!planned.n)
		return 0;
	root = land_open_root(l->repo, err);
	note = root < 0 ? -1 : land_note_open(l, err);
	part = note < 0 ? NULL : land_note_part(note, err);
	if (!part)
		return -1;
	for (size_t i = 0; i < l->carries.n; i++) {
		struct land_carry *c = &l->carries.v[i];
		const char *why = NULL;
		bool left;

		if (ga_strv_find(&planned, c->path) < 0)
			continue;
		left = stays(l, c, apart);
		if (!left && !ga_entry_equal(&c->had, &c->will))
			why = write_one(root, note, c, part);
		if (why) {
			land_carry_refuse(l, c->path, why);
			apart |= c->moved;
		}
		if (left || why) {
			if (land_note_left(l, c->path, err))
				return -1;
			continue;
		}
		ga_strv_push(&l->ret->brought, c->path);
		if (c->will.mode != GA_MODE_NONE)
			ga_strv_take(&written,
				     ga_path_join(ga_repo_info(l->repo)->workdir, c->path));
	}
	land_carry_done(l, &l->ret->brought);
	return ga_sync_paths(&written, err);
}
