/* SPDX-License-Identifier: MIT */
#include "ga/base/leftovers.h"

#include <stdlib.h>
#include <string.h>

#include "ga/base/alloc.h"

const char *ga_leftover_kind_name(enum ga_leftover_kind k)
{
	static const char *const names[] = {
		[GA_LEFTOVER_IGNORED] = "ignored",
		[GA_LEFTOVER_SPECIAL] = "special",
		[GA_LEFTOVER_REPOSITORY] = "repository",
		[GA_LEFTOVER_SUBMODULE] = "submodule",
		[GA_LEFTOVER_NAME] = "name",
		[GA_LEFTOVER_REFUSED] = "refused",
		[GA_LEFTOVER_UNREADABLE] = "unreadable",
		[GA_LEFTOVER_LIMIT] = "limit",
	};

	if ((size_t)k >= GA_NELEMS(names))
		GA_BUG("unknown kind of leftovers");
	return names[k];
}

void ga_leftovers_release(struct ga_leftovers *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct ga_leftovers)GA_LEFTOVER_INIT;
}

void ga_leftovers_add(struct ga_leftovers *l, const char *path, enum ga_leftover_kind kind,
		      uint64_t count, uint64_t bytes)
{
	/* a walk adds to the entry it added to last, so no search is needed */
	struct ga_leftover *last = l->n ? &l->v[l->n - 1] : NULL;

	if (last && last->kind == kind && !strcmp(last->path, path)) {
		last->count += count;
		last->bytes += bytes;
		return;
	}
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct ga_leftover){ ga_strdup(path), kind, count, bytes };
}

void ga_leftovers_extend(struct ga_leftovers *l, const struct ga_leftovers *from)
{
	for (size_t i = 0; i < from->n; i++)
		ga_leftovers_add(l, from->v[i].path, from->v[i].kind, from->v[i].count,
				 from->v[i].bytes);
}

static int compare(const void *a, const void *b)
{
	const struct ga_leftover *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : (int)x->kind - (int)y->kind;
}

void ga_leftovers_sort(struct ga_leftovers *l)
{
	size_t n = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), compare);
	for (size_t i = 0; i < l->n; i++) {
		if (n && !compare(&l->v[n - 1], &l->v[i])) {
			l->v[n - 1].count += l->v[i].count;
			l->v[n - 1].bytes += l->v[i].bytes;
			free(l->v[i].path);
			continue;
		}
		l->v[n++] = l->v[i];
	}
	l->n = n;
}

/* The length of the entry's top-level directory; 0 if it is at the top or not ignored. */
static size_t top_of(const struct ga_leftover *l)
{
	const char *slash = strchr(l->path, '/');

	return l->kind == GA_LEFTOVER_IGNORED && slash ? (size_t)(slash - l->path) : 0;
}

void ga_leftovers_group(const struct ga_leftovers *l, struct ga_leftovers *ret)
{
	for (size_t i = 0, n; i < l->n; i = n) {
		size_t len = top_of(&l->v[i]);
		cleanup_free char *top = ga_strndup(l->v[i].path, len);

		/* entries with the same prefix, including the slash, are adjacent */
		for (n = i + 1; len && n < l->n; n++)
			if (top_of(&l->v[n]) != len || strncmp(l->v[n].path, top, len) != 0)
				break;
		for (size_t k = i; k < n; k++)
			ga_leftovers_add(ret, n - i > 1 ? top : l->v[k].path, l->v[k].kind,
					 l->v[k].count, l->v[k].bytes);
	}
}
