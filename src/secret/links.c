/* SPDX-License-Identifier: MIT
 *
 * Symbolic links with the name of a secret. The file in the project that such a link leads to is
 * the secret, whatever its own name: programs open it through the link. Links in the target's path
 * are followed as the kernel follows them.
 */
#include "secret-internal.h"

#include <string.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define HOPS_MAX 40 /* the kernel's limit: no program gets further */
#define TEXT_MAX 4096
#define LOOK_COST 4096     /* bytes charged for each file on top of its size */
#define BENEATH_MAX 100000 /* entries looked at below one link */

/* A link that is looked at, and the directory that it leads to. */
struct way {
	struct finder_walk walk;
	bool tree; /* the commit's version of a path comes before the working tree's */
	const char *link, *dir;
	const struct ga_strmap *places; /* what sessions are shown of the working tree */
	struct ga_error *err;
};

/* The text of the link at an absolute path; NULL: it is none of the project's. */
static char *read_link(void *arg, const char *full)
{
	const struct way *w = arg;
	const struct ga_exposure_opts *o = w->walk.f->o;
	const char *path = ga_path_below(full, ga_repo_info(o->repo)->workdir);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf blob = GA_BUF_INIT;
	struct ga_entry e = { .mode = GA_MODE_NONE };
	char text[TEXT_MAX];
	ssize_t n;

	if (!path || !*path ||
	    (w->tree && o->tree && ga_tree_entry(o->repo, o->tree, path, &e, &ignored)))
		return NULL;
	if (e.mode == GA_MODE_LINK)
		return ga_blob_read(o->repo, &e.oid, sizeof(text) - 1, &blob, &ignored)
			       ? NULL : ga_buf_steal(&blob);
	if (e.mode != GA_MODE_NONE)
		return NULL;
	n = readlinkat(w->walk.f->work, path, text, sizeof(text) - 1);
	return n > 0 ? ga_strndup(text, (size_t)n) : NULL;
}

/* The path in the project that `link` leads to; NULL: it leads elsewhere. */
static char *follow(struct way *w, const char *link)
{
	struct finder *f = w->walk.f;
	const char *top = ga_repo_info(f->o->repo)->workdir, *to;
	cleanup_free char *full = ga_path_join(top, link), *end = NULL;

	if (ga_now_ms() >= f->until) {
		f->ret->incomplete = true;
		return NULL;
	}
	end = ga_path_follow(full, HOPS_MAX, read_link, w);
	to = end ? ga_path_below(end, top) : NULL;
	return to && ga_path_relative_ok(to) && !ga_path_names_dotgit(to) ? ga_strdup(to) : NULL;
}

/* Is `path`, or a directory above it, in the map? */
static bool find_place(const struct ga_strmap *m, const char *path, enum ga_exposed_as *ret)
{
	for (size_t n = strlen(path); n; n--) {
		int32_t i = !path[n] || path[n] == '/' ? ga_strmap_first(m, path, n) : -1;

		if (i >= 0) {
			*ret = (enum ga_exposed_as)m->nodes[i].value;
			return true;
		}
	}
	return false;
}

struct target {
	const char *link, *path;
	struct ga_secret_name name;  /* of the link */
	bool tracked;
	struct ga_oid oid;           /* of the committed version, if `tracked` ... */
	struct finder_version there; /* ... and what is in it */
};

/* Is the committed version encrypted by a git filter? */
static bool is_locked(const struct target *t)
{
	return t->tracked && t->there.secret.bits & GA_MARK_FILTERED;
}

static int look_at_committed(struct finder *f, struct target *t, struct ga_error *err)
{
	struct ga_entry e;

	if (!f->o->tree)
		return 0;
	if (ga_tree_entry(f->o->repo, f->o->tree, t->path, &e, err))
		return -1;
	t->tracked = e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC;
	if (!t->tracked)
		return 0;
	t->oid = e.oid;
	finder_blob(f, t->link, &e.oid, &t->name, &t->there.secret, &t->there.marks);
	if (t->there.secret.tier != GA_TIER_NONE && !is_locked(t))
		(void)finder_raise(f, t->path, &t->there.secret, GA_EXPOSED_COMMITTED);
	return 0;
}

/* Judge the file by its content while `f->left` lasts, then by its name: the worst. */
static void judge(struct finder *f, const struct target *t, const struct stat *st,
		  struct finder_version *ret)
{
	uint64_t size = (uint64_t)st->st_size < GA_SECRET_LOOK_MAX ? (uint64_t)st->st_size
								     : GA_SECRET_LOOK_MAX;

	if (f->left < size + LOOK_COST) {
		f->ret->incomplete = true;
		ret->marks = (struct ga_secret_marks){ .bits = 0 };
		ga_secret_judge(&t->name, t->link, NULL, &ret->secret);
		return;
	}
	f->left -= size + LOOK_COST;
	finder_judge(f, t->path, st, t->link, &t->name, &ret->secret, &ret->marks);
}

static void look_at_file(struct finder *f, const struct target *t, enum ga_exposed_as as)
{
	bool locked = is_locked(t);
	struct finder_version here;
	struct stat st;
	size_t i;

	if (!finder_stat(f, t->path, &st) || !S_ISREG(st.st_mode))
		return;
	judge(f, t, &st, &here);
	if (here.secret.tier == GA_TIER_NONE || (locked && here.marks.bits & GA_MARK_FILTERED))
		return;
	if (t->tracked && !locked && finder_is_committed(f, t->path, &t->oid, &here, &t->there))
		return;
	finder_note_linked(f, &st, NULL, as, &here.secret);
	i = finder_raise(f, t->path, &here.secret, t->tracked ? GA_EXPOSED_MODIFIED : as);
	/* git decrypted it here, so it decrypts it in base trees too */
	if (locked) {
		f->ret->v[i].as = GA_EXPOSED_COMMITTED;
		f->ret->v[i].clear = true;
	}
}

/* Look at the file `to`, which can be opened as `link` as well. */
static int look_at_target(const struct way *w, const char *link, const char *to)
{
	struct finder *f = w->walk.f;
	enum ga_exposed_as as = GA_EXPOSED_UNTRACKED;
	struct target t = { .link = link, .path = to };

	if (!ga_secret_named(finder_names(f), link, &t.name))
		return 0;
	if (look_at_committed(f, &t, w->err))
		return -1;
	/* sessions see nothing of the other files in the working tree */
	if (find_place(w->places, to, &as) || (f->o->scan && f->o->live) ||
	    is_locked(&t))
		look_at_file(f, &t, as);
	return 0;
}

/* A link to a directory gives every file below that directory a second path: if ".ssh" leads to
 * "keys", then "keys/work" can be opened as ".ssh/work" too, and is judged by that name. The link
 * itself is not a secret, even if its name is a secret file's: a directory cannot be read as a
 * file. */

/* Look at the file or link at `rest` below the directory. */
static int look_at_rest(struct way *w, const char *rest, bool is_link)
{
	struct finder *f = w->walk.f;
	cleanup_free char *as = ga_path_join(w->link, rest), *to = NULL;
	struct ga_secret_name name;

	if (!ga_secret_named(finder_names(f), as, &name))
		return 0;
	to = is_link ? follow(w, as) : ga_path_join(w->dir, rest);
	return to ? look_at_target(w, as, to) : 0;
}

/* Look at what the commit has there. */
static int look_through_tree(struct way *w)
{
	const struct ga_exposure_opts *o = w->walk.f->o;
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_entry e;

	if (!o->tree)
		return 0;
	if (ga_tree_entry(o->repo, o->tree, w->dir, &e, w->err))
		return -1;
	if (e.mode != GA_MODE_TREE)
		return 0;
	if (ga_tree_list(o->repo, &e.oid, BENEATH_MAX, &all, w->err)) {
		ga_error_release(w->err);
		w->walk.f->ret->incomplete = true;
		return 0;
	}
	for (size_t i = 0; i < all.n && finder_has_room(&w->walk); i++)
		if (all.v[i].new.mode != GA_MODE_GITLINK &&
		    look_at_rest(w, all.v[i].path, all.v[i].new.mode == GA_MODE_LINK))
			return -1;
	return 0;
}

/* Look at what the working tree has there. */
static int look_at_entry(struct finder_walk *walk, const char *path, const struct stat *st)
{
	struct way *w = (struct way *)walk;

	if (ga_path_names_dotgit(path) || (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode)))
		return 0;
	return look_at_rest(w, ga_path_below(path, w->dir), S_ISLNK(st->st_mode));
}

int finder_follow(struct finder *f, const char *link, bool tree, const struct ga_strmap *places,
		  struct ga_error *err)
{
	struct way w = {
		.walk = { .f = f, .left = BENEATH_MAX, .all = true, .entry = look_at_entry },
		.tree = tree, .link = link, .places = places, .err = err,
	};
	cleanup_free char *to = follow(&w, link);

	w.dir = to;
	return to && (look_at_target(&w, link, to) || look_through_tree(&w) ||
		      finder_walk(&w.walk, to)) ? -1 : 0;
}
