/* SPDX-License-Identifier: MIT
 *
 * Findings as values.
 */
#include <stdlib.h>
#include <string.h>

#include "finder.h"
#include "ga/base/path.h"

void ga_exposure_release(struct ga_exposure *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i].path);
	free(x->v);
	*x = (struct ga_exposure)GA_EXPOSURE_INIT;
}

static int worse(const void *a, const void *b)
{
	const struct ga_exposed *x = a, *y = b;

	if (x->secret.tier != y->secret.tier)
		return x->secret.tier > y->secret.tier ? -1 : 1;
	if (strcmp(x->path, y->path))
		return strcmp(x->path, y->path);
	return x->as < y->as ? -1 : x->as > y->as;
}

void ga_exposure_sort(struct ga_exposure *x)
{
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), worse);
}

void secret_add(struct ga_exposure *x, const char *path, const struct ga_secret *s,
		 enum ga_exposed_as as)
{
	GA_GROW(x->v, x->n, x->cap);
	x->v[x->n++] = (struct ga_exposed){ .path = ga_strdup(path), .secret = *s, .as = as,
					    .view = GA_VIEW_SEEN };
}

const char *ga_exposed_name(enum ga_exposed_as as)
{
	static const char *const names[] = { "committed", "modified", "untracked", "ignored",
					     "history", "config" };

	return names[as];
}

const char *ga_view_name(enum ga_exposed_view v)
{
	static const char *const names[] = { "seen", "masked", "absent" };

	return names[v];
}

static bool is_exposed(const char *path, const struct ga_strv *expose)
{
	for (size_t i = 0; expose && i < expose->n; i++)
		if (ga_path_inside(path, expose->v[i]))
			return true;
	return false;
}

void ga_exposure_mask(struct ga_exposure *x, const struct ga_strv *expose)
{
	for (size_t i = 0; i < x->n; i++) {
		struct ga_exposed *e = &x->v[i];
		bool loose = e->as == GA_EXPOSED_MODIFIED || e->as == GA_EXPOSED_UNTRACKED ||
			     e->as == GA_EXPOSED_IGNORED || e->clear;

		if (loose && e->view == GA_VIEW_SEEN && e->secret.tier == GA_TIER_BLOCK &&
		    !is_exposed(e->path, expose))
			e->view = GA_VIEW_MASKED;
	}
}

bool ga_exposure_skips(const char *name)
{
	return ga_has_word("node_modules bower_components site-packages dist-packages __pycache__ "
			   ".mypy_cache .pytest_cache .ruff_cache jspm_packages", name);
}
