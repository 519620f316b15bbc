/* SPDX-License-Identifier: MIT
 *
 * Plan the uncommitted part: the session's changes to work that was uncommitted at its start become
 * uncommitted changes, path by path, decided before anything is touched.
 */
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "land-internal.h"

/* Everything that the plan is made from. */
struct plan {
	const struct landing *l;
	struct record *rec;
	struct ga_repo *private;   /* reads the session's objects; writes to memory */
	struct ga_oid base, seen;  /* trees: what the session was shown, and what it left */
	struct ga_strv paths, converted; /* sorted; those of the first that checkout converts */
	int root;
};

static void plan_release(struct plan *p)
{
	ga_repo_free(p->private);
	ga_strv_release(&p->paths);
	ga_strv_release(&p->converted);
	ga_cleanup_closep(&p->root);
}

static int read_entry(const struct plan *p, const char *path, const struct ga_entry *e,
		      struct ga_work_file *ret, struct ga_error *err)
{
	return ga_work_from_entry(p->private, p->l->config, path, e,
				  ga_strv_find(&p->converted, path) >= 0, ret, err);
}

/* Fills `after`. Returns 1, with the reason, if the change cannot be applied. */
static int decide(const struct plan *p, const char *path, struct ga_work_file *now,
		  struct ga_work_file *after, const char **ret_why, struct ga_error *err)
{
	cleanup_work_file struct ga_work_file base = GA_WORK_FILE_INIT, theirs = GA_WORK_FILE_INIT;
	struct ga_entry b, t;

	if (ga_tree_entry(p->private, &p->base, path, &b, err) ||
	    ga_tree_entry(p->private, &p->seen, path, &t, err))
		return -1;
	*ret_why = "it is a submodule: check its commit out there";
	if (b.mode == GA_MODE_GITLINK || t.mode == GA_MODE_GITLINK)
		return 1;
	/* a directory in place of the file is the next one in the list */
	b.mode = b.mode == GA_MODE_TREE ? GA_MODE_NONE : b.mode;
	t.mode = t.mode == GA_MODE_TREE ? GA_MODE_NONE : t.mode;
	if (read_entry(p, path, &b, &base, err) || read_entry(p, path, &t, &theirs, err))
		return -1;
	*ret_why = "it cannot be read";
	/* a directory may be made room for by what goes away beneath it */
	if (!ga_work_read(p->root, path, GA_WORK_FILE_MAX, now) && !ga_work_is_dir(p->root, path))
		return 1;
	*ret_why = "you have changed the same lines";
	return ga_work_merge(p->private, now, &base, &theirs, after, err);
}

static bool is_removed(const struct record *rec, const char *path)
{
	for (size_t i = 0; i < rec->n; i++)
		if (!rec->v[i].after.mode && !strcmp(rec->v[i].path, path))
			return true;
	return false;
}

/* A file needs directories above it, and none in its place. */
static const char *check_place(const struct plan *p, const char *path)
{
	cleanup_free char *above = ga_work_file_above(p->root, path);

	if (above && !is_removed(p->rec, above))
		return "a file is in place of its directory";
	if (!ga_work_is_dir(p->root, path))
		return NULL;
	for (size_t i = 0; i < p->rec->n; i++)
		if (!p->rec->v[i].after.mode && ga_path_inside(p->rec->v[i].path, path))
			return NULL;
	return "a directory is in its place";
}

/* Store both versions, to apply it and to undo it. */
static int add(const struct plan *p, const char *path, const struct ga_work_file *now,
	       const struct ga_work_file *after, struct ga_error *err)
{
	bool dry = p->l->opts->dry_run;
	struct ga_repo *store = dry ? NULL : record_store(p->l->repo, p->rec, err);
	struct ga_entry unneeded;

	if (dry)
		ga_strv_push(&p->l->ret->applied, path);
	else if (!store || ga_work_store(store, now, &unneeded, err) ||
		 ga_work_store(store, after, &unneeded, err))
		return -1;
	record_add(p->rec, path, &now->look, &after->look);
	return 0;
}

static int plan_path(const struct plan *p, const char *path, bool removals,
		     struct ga_strv *conflicts, struct ga_error *err)
{
	cleanup_work_file struct ga_work_file now = GA_WORK_FILE_INIT, after = GA_WORK_FILE_INIT;
	cleanup_free char *q = ga_quote(path);
	const char *why = NULL;
	int rc = decide(p, path, &now, &after, &why, err);

	if (rc < 0)
		return -1;
	if (rc && removals)
		ga_strv_pushf(conflicts, "%s: %s", q, why);
	if (rc || removals != !after.look.mode)
		return 0;
	why = after.look.mode ? check_place(p, path) : NULL;
	if (why)
		ga_strv_pushf(conflicts, "%s: %s", q, why);
	return why || ga_work_stat_equal(&now.look, &after.look) ? 0
								 : add(p, path, &now, &after, err);
}

static int open_plan(const struct landing *l, const struct ga_wip *w, struct plan *p,
		     struct ga_error *err)
{
	p->root = ga_work_open(l->repo, err);
	if (p->root < 0 || ga_repo_open_private(l->repo, w->objects, &p->private, err) ||
	    ga_repo_write_to_memory(p->private, err) ||
	    ga_commit_tree(p->private, &w->snapshot, &p->base, err))
		return -1;
	p->seen = w->seen;
	for (size_t i = 0; i < w->paths.n; i++)
		if (land_is_requested(l, w->paths.v[i]))
			ga_strv_push(&p->paths, w->paths.v[i]);
	return p->paths.n ? ga_work_find_converted(p->l->repo, p->l->config, &p->paths,
						   &p->converted, err)
			  : 0;
}

static int fail_conflicts(const struct landing *l, const struct ga_strv *conflicts,
			  struct ga_error *err)
{
	cleanup_buf struct ga_buf list = GA_BUF_INIT;

	for (size_t i = 0; i < conflicts->n && i < 5; i++)
		ga_buf_addf(&list, "%s%s", i ? "; " : "", conflicts->v[i]);
	if (conflicts->n > 5)
		ga_buf_addf(&list, "; and %zu more", conflicts->n - 5);
	return ga_fail(err, GA_ELOSE, "changes of agent/%s to your uncommitted work cannot be "
		       "applied: %s"
		       GA_HINT "--uncommitted=skip lands the rest; 'git agent diff --uncommitted "
		       "%s' prints them as a patch", l->s->name, list.ptr, l->s->name);
}

int land_plan_uncommitted(const struct landing *l, struct record *rec, struct ga_error *err)
{
	__attribute__((cleanup(plan_release))) struct plan p = { .l = l, .rec = rec, .root = -1 };
	cleanup_strv struct ga_strv conflicts = GA_STRV_INIT;
	cleanup_wip struct ga_wip w = GA_WIP_INIT;

	ga_wip_load(l->s, &w);
	for (size_t i = 0; i < w.paths.n; i++) {
		cleanup_free char *q = ga_quote(w.paths.v[i]);

		rec->part |= l->opts->skip_uncommitted || !land_is_requested(l, w.paths.v[i]);
		if (l->opts->skip_uncommitted)
			ga_strv_pushf(&l->ret->not_applied, "%s: left out (--uncommitted=skip)", q);
	}
	if (!w.paths.n || l->opts->skip_uncommitted)
		return 0;
	if (open_plan(l, &w, &p, err))
		return -1;
	/* removals first: a file and a directory may change places */
	for (int removals = 1; removals >= 0; removals--)
		for (size_t i = 0; i < p.paths.n; i++)
			if (plan_path(&p, p.paths.v[i], removals, &conflicts, err))
				return -1;
	return conflicts.n ? fail_conflicts(l, &conflicts, err) : 0;
}
