/* SPDX-License-Identifier: MIT */
#include "ga/base/strv.h"

#include <stdarg.h>
#include <string.h>

#include "ga/base/alloc.h"
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

/* Edit distance, with a row on the stack: words are short. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n >= GA_NELEMS(row))
		return n;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diag = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t up = row[j + 1], best = diag + (a[i] != b[j]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j + 1] = best;
			diag = up;
		}
	}
	return row[n];
}

const char *ga_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t least = strlen(word) / 2 + 1;

	for (size_t i = 0; i < n; i++) {
		size_t d = names[i] ? distance(word, names[i]) : least;

		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
