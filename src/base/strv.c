/* SPDX-License-Identifier: MIT */
#include "ga/base/strv.h"

#include <stdarg.h>
#include <string.h>

#include "ga/base/path.h"

void ga_strv_release(struct ga_strv *sv)
{
	for (size_t i = 0; i < sv->n; i++)
		free(sv->v[i]);
	free(sv->v);
	*sv = (struct ga_strv)GA_STRV_INIT;
}

void ga_strv_take(struct ga_strv *sv, char *s)
{
	GA_GROW(sv->v, sv->n + 1, sv->cap);
	sv->v[sv->n++] = s;
	sv->v[sv->n] = NULL;
}

void ga_strv_push(struct ga_strv *sv, const char *s)
{
	ga_strv_take(sv, ga_strdup(s));
}

void ga_strv_push_n(struct ga_strv *sv, const char *s, size_t n)
{
	ga_strv_take(sv, ga_strndup(s, n));
}

void ga_strv_push_many(struct ga_strv *sv, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, sv);
	while ((s = va_arg(ap, const char *)))
		ga_strv_push(sv, s);
	va_end(ap);
}

void ga_strv_extend(struct ga_strv *sv, const struct ga_strv *more)
{
	for (size_t i = 0; i < more->n; i++)
		ga_strv_push(sv, more->v[i]);
}

bool ga_strv_has(const struct ga_strv *sv, const char *s)
{
	for (size_t i = 0; i < sv->n; i++)
		if (!strcmp(sv->v[i], s))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void ga_strv_sort_unique(struct ga_strv *sv)
{
	size_t out = 0;

	if (!sv->n)
		return;
	qsort(sv->v, sv->n, sizeof(*sv->v), compare);
	for (size_t i = 0; i < sv->n; i++) {
		if (out && !strcmp(sv->v[out - 1], sv->v[i]))
			free(sv->v[i]);
		else
			sv->v[out++] = sv->v[i];
	}
	sv->n = out;
	sv->v[out] = NULL;
}

ssize_t ga_strv_find(const struct ga_strv *sorted, const char *s)
{
	char *const *found =
		sorted->n ? bsearch(&s, sorted->v, sorted->n, sizeof(*sorted->v), compare) : NULL;

	return found ? found - sorted->v : -1;
}

const char *ga_strv_above(const struct ga_strv *dirs, const char *path)
{
	return ga_path_within(path, (const char *const *)dirs->v);
}
