/* SPDX-License-Identifier: MIT
 *
 * The agent's changes to files with uncommitted work of the user's. They come back as uncommitted
 * edits: for each path, a three-way merge of what the session started from, what the working tree
 * has now, and what the agent made of it.
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
#include "ga/rewrite.h"
#include "ga/sync.h"
#include "carry.h"
#include "note.h"

/* What telling files apart by their lines may cost: the bytes that are read, and what each
 * comparison costs at least. */
#define COMPARED_MAX ((uint64_t)256 << 20)
#define COMPARED_EACH ((uint64_t)32 << 10)
#define PUT_NAME "put" /* a file in the note, before it is copied to its path */

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

struct carry_one *carry_find(struct carry_all *a, const char *path)
{
	const struct ga_change *c = ga_changes_find(&a->wanted, path);

	return c ? &a->v[c - a->wanted.v] : NULL;
}

void land_carry_refuse(struct land *l, const char *path, const char *why)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *q = ga_quote(path);
	cleanup_free char *rev = ga_strf(GA_SESSION_REFS "%s/carried:%s", l->s->name, path);
	cleanup_free char *word = ga_quote_shell(rev);
	struct ga_entry e;

	if (!ga_tree_entry(l->repo, &l->carried_tree, path, &e, &ignored) &&
	    (e.mode == GA_MODE_NONE || e.mode == GA_MODE_TREE))
		ga_strv_pushf(&l->ret->not_brought, "%s: %s; the agent removed it", q, why);
	/* a name that has to be quoted cannot be copied into a command as it is shown */
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

bool land_carry_may_be(struct land *l, const char *path, const struct ga_entry *had,
		       const struct ga_entry *made)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	uint64_t left = l->compared < COMPARED_MAX ? COMPARED_MAX - l->compared : 0, began = left;
	struct ga_entry onto;
	bool may;

	/* assume yes if the uncommitted work has no lines of its own to recognize it by, or if
	 * there is too much to compare */
	may = ga_tree_entry(l->repo, &l->onto_tree, path, &onto, &ignored) ||
	      (made->mode != GA_MODE_FILE && made->mode != GA_MODE_EXEC) ||
	      ga_rewrite_shows(l->repo, had, &onto, had, &left, &ignored) != 1 ||
	      ga_rewrite_shows(l->repo, had, &onto, made, &left, &ignored) != 0;
	l->compared += COMPARED_EACH + began - left;
	return may;
}

/* ---- what is there ------------------------------------------------------ */

static uint32_t file_mode(struct land *l, const struct stat *st, const struct ga_entry *was)
{
	if (!ga_gitconfig_bool(&l->config, "core.filemode", true) &&
	    (was->mode == GA_MODE_FILE || was->mode == GA_MODE_EXEC))
		return was->mode;
	return st->st_mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
}

/* Read what stands at the path. Returns NULL if that worked (`*there`: something is there), else
 * the reason why not. */
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
	if (ga_read_fd(fd, CARRY_FILE_MAX, ret, &ignored))
		return "it cannot be read or is too long";
	*there = true;
	return NULL;
}

/* ---- deciding ----------------------------------------------------------- */

static bool is_file(const struct ga_entry *e)
{
	return e->mode == GA_MODE_NONE || e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC;
}

/* Is the path in l->changes, or is it a directory above one of them? */
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

/* Does git's own merge change the path as well, or put a file where a directory has to be, or the
 * other way round? Then somebody put that on the branch since, or an earlier run did. */
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

static const char *first_look(struct land *l, int root, struct carry_one *o)
{
	const char *why;
	bool there;

	if (is_merged(l, o->want->path))
		return "the branch has another version";
	if (!is_file(&o->want->old) || !is_file(&o->want->new))
		return "a symlink or submodule is not brought";
	why = look(root, o->c, &o->c->seen, &o->c->st, &there);
	if (!why && there)
		o->c->had.mode = file_mode(l, &o->c->st, &o->want->old);
	return why;
}

/* ---- deciding all ------------------------------------------------------- */

static int merge_all(struct carry_all *a, struct ga_error *err)
{
	for (size_t i = 0; i < a->wanted.n; i++) {
		struct carry_one *o = &a->v[i];
		int rc = o->why ? 0
				: ga_merge_entry(a->l->repo, &o->want->old, &o->c->had,
						 &o->want->new, &o->c->will, err);

		if (rc < 0)
			return -1;
		if (rc)
			o->why = "it overlaps with your changes";
	}
	return 0;
}

static bool is_beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

/* Why a file that the agent removed has to stay as `o` is not brought; NULL: it need not. */
static const char *why_stays(struct land *l, const struct land_carry *c, const struct land_carry *o)
{
	if (!o->refused)
		return NULL;
	/* a directory in place of the file, or a file in place of the directory above it */
	if (is_beneath(o->path, c->path) || is_beneath(c->path, o->path))
		return LAND_CARRY_PLACE;
	return o->moved && land_carry_may_be(l, c->path, &c->was, &o->made) ? LAND_CARRY_APART
									     : NULL;
}

/* A file that the agent removed stays while what replaces it is not brought: a file that may be the
 * same one under another name, or that comes in its place. */
static bool stays(struct land *l, struct land_carry *c)
{
	const char *why = NULL;

	if (!c->gone || ga_entry_equal(&c->had, &c->will))
		return false;
	for (size_t i = 0; i < l->carries.n && !why; i++)
		why = why_stays(l, c, &l->carries.v[i]);
	if (!why)
		return false;
	land_carry_refuse(l, c->path, why);
	c->will = c->had;
	return true;
}

/* List removals last, which is the order of deciding and of writing: whether a file may go depends
 * on the others. */
static void list_all(struct carry_all *a)
{
	struct land_carries *list = &a->l->carries;

	a->v = ga_calloc(a->wanted.n, sizeof(*a->v));
	list->n = list->cap = a->wanted.n;
	list->v = ga_calloc(list->n, sizeof(*list->v));
	for (size_t n = 0, gone = 0; gone < 2; gone++)
		for (size_t i = 0; i < a->wanted.n; i++) {
			const struct ga_change *want = &a->wanted.v[i];
			struct land_carry *c = &list->v[n];

			if (land_carry_is_gone(&want->old, &want->new) != gone)
				continue;
			*c = (struct land_carry){ .path = ga_strdup(want->path), .gone = gone,
						  .was = want->old, .made = want->new,
						  .seen = GA_BUF_INIT, .bytes = GA_BUF_INIT };
			a->v[i] = (struct carry_one){ .want = want, .c = c };
			n++;
		}
}

static int look_at_all(struct carry_all *a, struct ga_error *err)
{
	cleanup_close int root = land_open_root(a->l->repo, err);

	if (root < 0)
		return -1;
	for (size_t i = 0; i < a->wanted.n; i++) {
		int moved = land_carry_is_moved(a->l, a->v[i].want, err);

		if (moved < 0)
			return -1;
		a->v[i].c->moved = moved;
		a->v[i].why = first_look(a->l, root, &a->v[i]);
	}
	return 0;
}

static void bring(struct carry_all *a)
{
	struct land *l = a->l;

	for (size_t i = 0; i < l->carries.n; i++) {
		struct land_carry *c = &l->carries.v[i];
		const struct carry_one *o = carry_find(a, c->path);

		if (!o)
			GA_BUG("a list of its own");
		if (o->why) {
			land_carry_refuse(l, c->path, o->why);
			c->will = c->had;
			c->refused = true;
		} else if (!stays(l, c)) {
			ga_strv_push(&l->ret->brought, c->path);
		}
	}
	ga_strv_sort_unique(&l->ret->brought);
}

static void all_release(struct carry_all *a)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	ga_changes_release(&a->wanted);
	free(a->v);
	if (a->dir)
		(void)ga_rmtree_at(AT_FDCWD, a->dir, &ignored);
	free(a->dir);
}

int land_carry_decide(struct land *l, struct ga_error *err)
{
	cleanup_(all_release) struct carry_all a = { .l = l, .wanted = GA_CHANGES_INIT };

	if (land_carry_changes(l, &a.wanted, err))
		return -1;
	if (!a.wanted.n)
		return 0;
	list_all(&a);
	/* a dry run takes no lock and may be at work at the same time */
	a.dir = ga_strf("%s/carry.%d", l->s->dir, (int)getpid());
	if (ga_rmtree_at(AT_FDCWD, a.dir, err) || ga_mkdir_p(a.dir, 0700, err) ||
	    look_at_all(&a, err) || carry_clean(&a, err) || merge_all(&a, err) ||
	    carry_smudge(&a, err))
		return -1;
	bring(&a);
	return 0;
}

/* ---- writing ------------------------------------------------------------ */

static mode_t perms(const struct land_carry *c)
{
	bool exec = c->will.mode == GA_MODE_EXEC;
	mode_t mask;

	if (carry_is_there(c))
		return land_perms(&c->st, exec);
	mask = umask(0);
	(void)umask(mask);
	return (exec ? 0777 : 0666) & ~mask;
}

/* Write the bytes to a file in the note first, which land_put() then copies to the path. */
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

/* Returns NULL, or why it could not be written. */
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
	/* a hook that the merge ran, or the user, may have changed it since */
	why = look(root, c, &now, &st, &there);
	if (why)
		return why;
	if (there != carry_is_there(c) || now.len != c->seen.len ||
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

	l->ret->brought = (struct ga_strv)GA_STRV_INIT;
	if (!planned.n)
		return 0;
	/* the same comparisons are made again, now knowing what could not be written */
	l->compared = 0;
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
		left = stays(l, c);
		if (!left && !ga_entry_equal(&c->had, &c->will))
			why = write_one(root, note, c, part);
		if (why) {
			land_carry_refuse(l, c->path, why);
			c->refused = true;
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
