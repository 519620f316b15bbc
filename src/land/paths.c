/* SPDX-License-Identifier: MIT
 *
 * Landing only some paths (ga_land_opts.paths).
 */
#include <string.h>

#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "land-internal.h"

/* "" is the top of the working tree, above all paths. */
static bool is_at(const char *path, const char *named)
{
	return !*named || ga_path_inside(path, named);
}

bool land_wants_all(const struct land *l)
{
	return !l->opts->paths || ga_strv_has(l->opts->paths, "");
}

bool land_is_wanted(const struct land *l, const char *path)
{
	const struct ga_strv *paths = l->opts->paths;

	for (size_t i = 0; paths && i < paths->n; i++)
		if (is_at(path, paths->v[i]))
			return true;
	return !paths;
}

static void keep_wanted(struct land *l, struct ga_strv *paths)
{
	struct ga_strv wanted = GA_STRV_INIT;

	for (size_t i = 0; i < paths->n; i++)
		if (land_is_wanted(l, paths->v[i]))
			ga_strv_push(&wanted, paths->v[i]);
	l->rest |= wanted.n < paths->n;
	ga_strv_release(paths);
	*paths = wanted;
}

/* Each path has to name something: if a misspelt one were ignored nobody might notice. */
static int check_named(struct land *l, struct ga_error *err)
{
	for (size_t i = 0; i < l->opts->paths->n; i++) {
		const char *path = l->opts->paths->v[i];
		cleanup_free char *q = ga_escape(*path ? path : ".");
		bool any = false;

		for (size_t k = 0; k < l->changes.n && !any; k++)
			any = is_at(l->changes.v[k].path, path);
		for (size_t k = 0; k < l->s->left_out.n && !any; k++)
			any = is_at(l->s->left_out.v[k], path);
		/* a held-back path has flags, which refuse the landing; those of another landing
		 * may be about what is nowhere in this one */
		for (size_t k = 0; k < l->report->n_flags && !any; k++)
			any = !l->report->flags[k].landing &&
			      is_at(l->report->flags[k].path, path);
		if (any)
			continue;
		(void)ga_fail(err, GA_EFATAL, "agent/%s has nothing to land at '%s'", l->s->name,
			      q);
		return ga_hint(err, "'git agent review --stat %s' lists what it changed",
			       l->s->name);
	}
	return 0;
}

/* Refuse a path that needs a directory where HEAD has a file, if what the session made of that file
 * was not asked for. */
static int check_above(struct land *l, const char *path, struct ga_error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));
		const struct ga_change *c = ga_changes_find(&l->changes, dir);
		cleanup_free char *q = NULL, *qd = NULL;

		if (!c || c->old.mode == GA_MODE_NONE || c->new.mode != GA_MODE_NONE ||
		    land_is_wanted(l, dir))
			continue;
		q = ga_escape(path);
		qd = ga_escape(dir);
		(void)ga_fail(err, GA_EFATAL, "'%s' cannot land without '%s', which is a file here",
			      q, qd);
		return ga_hint(err, "name '%s', to land all that the session made of it", qd);
	}
	return 0;
}

int land_narrow(struct land *l, struct ga_error *err)
{
	struct ga_changes wanted = GA_CHANGES_INIT;

	if (!l->opts->paths || (!l->merge && !l->s->left_out.n))
		return 0;
	if (check_named(l, err))
		return -1;
	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *c = &l->changes.v[i];

		if (!land_is_wanted(l, c->path))
			continue;
		if (c->new.mode != GA_MODE_NONE && check_above(l, c->path, err)) {
			ga_changes_release(&wanted);
			return -1;
		}
		(void)ga_changes_add(&wanted, c->path, &c->old, &c->new);
	}
	l->rest = wanted.n < l->changes.n;
	ga_changes_release(&l->changes);
	l->changes = wanted;
	keep_wanted(l, &l->conflicted);
	for (size_t i = 0; i < l->s->left_out.n; i++)
		l->rest |= !land_is_wanted(l, l->s->left_out.v[i]);
	l->conflicts = l->conflicted.n;
	return ga_tree_apply(l->repo, NULL, &l->head_tree, &l->changes, &l->merged, err);
}
