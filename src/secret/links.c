/* SPDX-License-Identifier: MIT
 *
 * Symbolic links with the name of a secret. The file in the project that such a link leads to is
 * the secret, whatever its own name: programs open it through the link. Links in the target's path
 * are followed as the kernel follows them. For a link to a directory see symlinked-dirs.c.
 */
#include "finder.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define HOPS_MAX 40 /* the kernel's limit: no program gets further */
#define TEXT_MAX 4096
#define LOOK_COST 4096 /* bytes charged for each file on top of its size */

struct way {
	struct finder *f;
	bool tree;     /* the commit's version of a path comes before the working tree's */
	char *at;      /* the path so far, with all links resolved */
	char *rest;    /* the components still to be followed */
	unsigned hops;
};

/* The text of the link at `path`; NULL: it is not a link. */
static char *read_link(const struct way *w, const char *path)
{
	const struct ga_exposure_opts *o = w->f->o;
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf blob = GA_BUF_INIT;
	struct ga_entry e = { .mode = GA_MODE_NONE };
	char text[TEXT_MAX];
	ssize_t n;

	if (w->tree && o->tree && ga_tree_entry(o->repo, o->tree, path, &e, &ignored))
		return NULL;
	if (e.mode == GA_MODE_LINK)
		return ga_blob_read(o->repo, &e.oid, sizeof(text) - 1, &blob, &ignored)
			       ? NULL : ga_buf_steal(&blob);
	if (e.mode != GA_MODE_NONE)
		return NULL;
	n = readlinkat(w->f->work, path, text, sizeof(text) - 1);
	return n > 0 ? ga_strndup(text, (size_t)n) : NULL;
}

/* Make an absolute path relative to the top of the project; NULL: it lies outside. */
static char *in_project(const struct way *w, const char *path)
{
	const char *top = ga_repo_info(w->f->o->repo)->workdir, *rel = ga_path_below(path, top);
	cleanup_free char *plain = NULL, *full = NULL;

	if (rel)
		return ga_strdup(rel);
	plain = ga_path_resolve("", path + strspn(path, "/"));
	full = plain ? ga_strf("/%s", plain) : NULL;
	rel = full ? ga_path_below(full, top) : NULL;
	return rel ? ga_strdup(rel) : NULL;
}

/* Follow the absolute path `path` from the top of the project; false: it lies outside. */
static bool start_over(struct way *w, const char *path)
{
	cleanup_free char *to = in_project(w, path);

	if (!to)
		return false;
	free(w->at);
	free(w->rest);
	w->at = ga_strdup("");
	w->rest = ga_steal(&to);
	return true;
}

static void go_to(struct way *w, char *path)
{
	free(w->at);
	w->at = path;
}

/* Follow one component; false: it leads out of the project, or through too many links. */
static bool step(struct way *w)
{
	cleanup_free char *rest = w->rest, *name = NULL, *next = NULL, *text = NULL, *full = NULL;
	size_t n = strcspn(rest, "/");

	name = ga_strndup(rest, n);
	w->rest = ga_strdup(rest + n + strspn(rest + n, "/"));
	if (!*name || !strcmp(name, "."))
		return true;
	if (!strcmp(name, "..")) {
		cleanup_free char *above = NULL;

		if (*w->at) {
			go_to(w, ga_path_parent(w->at));
			return true;
		}
		above = ga_path_parent(ga_repo_info(w->f->o->repo)->workdir);
		full = ga_path_join(above, w->rest);
		return start_over(w, full);
	}
	next = ga_path_join(w->at, name);
	text = read_link(w, next);
	if (!text) {
		go_to(w, ga_steal(&next));
		return true;
	}
	if (++w->hops > HOPS_MAX)
		return false;
	full = ga_strf("%s/%s", text, w->rest);
	if (*text == '/')
		return start_over(w, full);
	free(w->rest);
	w->rest = ga_steal(&full);
	return true;
}

char *finder_way(struct finder *f, const char *link, bool tree)
{
	struct way w = { .f = f, .tree = tree, .at = ga_strdup(""), .rest = ga_strdup(link) };
	bool on = true;

	while (on && *w.rest) {
		on = ga_now_ms() < f->until;
		if (on)
			on = step(&w);
		else
			f->ret->incomplete = true;
	}
	free(w.rest);
	if (on && ga_path_relative_ok(w.at) && !ga_path_names_dotgit(w.at))
		return w.at;
	free(w.at);
	return NULL;
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
	cleanup_close int fd = ga_openat_beneath(f->work, t->path, O_PATH | O_NOFOLLOW, 0);
	bool locked = is_locked(t);
	struct finder_version here;
	struct stat st;
	size_t i;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	judge(f, t, &st, &here);
	if (here.secret.tier == GA_TIER_NONE || (locked && here.marks.bits & GA_MARK_FILTERED))
		return;
	if (t->tracked && !locked && finder_is_committed(f, t->path, &t->oid, &here, &t->there))
		return;
	finder_note_twin(f, &st, &here.secret);
	i = finder_raise(f, t->path, &here.secret, t->tracked ? GA_EXPOSED_MODIFIED : as);
	/* git decrypted it here, so it decrypts it in base trees too */
	if (locked) {
		f->ret->v[i].as = GA_EXPOSED_COMMITTED;
		f->ret->v[i].clear = true;
	}
}

int finder_target(struct finder *f, const char *link, const char *to,
		  const struct ga_strmap *places, struct ga_error *err)
{
	enum ga_exposed_as as = GA_EXPOSED_UNTRACKED;
	struct target t = { .link = link, .path = to };

	if (!ga_secret_named(finder_names(f), link, &t.name))
		return 0;
	if (look_at_committed(f, &t, err))
		return -1;
	/* sessions see nothing of the other files in the working tree */
	if (find_place(places, to, &as) || (f->o->scan && f->o->live) ||
	    is_locked(&t))
		look_at_file(f, &t, as);
	return 0;
}
