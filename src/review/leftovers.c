/* SPDX-License-Identifier: MIT
 *
 * Leftovers as places, with the flags of what lies in them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/risk/risk.h"
#include "review-internal.h"

static void put_size(struct ga_buf *out, uint64_t bytes)
{
	cleanup_free char *text = ga_size_about(bytes);

	ga_buf_adds(out, text);
}

static void put_place(struct ga_buf *out, const struct ga_leftover *l)
{
	cleanup_free char *q = ga_quote(l->path);

	ga_buf_addf(out, "  %-10s %s (%" PRIu64 " %s, ", ga_leftover_kind_name(l->kind), q,
		    l->count, l->count == 1 ? "file" : "files");
	put_size(out, l->bytes);
	ga_buf_adds(out, ")\n");
}

/* ---- flags of places -------------------------------------------------------- */

/* Sort paths so that a directory is followed by everything beneath it. */
static int rank(char c)
{
	return c == '/' ? 1 : c ? (unsigned char)c + 1 : 0;
}

static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return rank(*a) - rank(*b);
}

static int compare_flags(const void *a, const void *b)
{
	return compare_paths(((const struct ga_flag *)a)->path, ((const struct ga_flag *)b)->path);
}

static void sort_flags(struct ga_flags *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare_flags);
}

/* Index of the first flag whose path is `path`, or lies in it. */
static size_t first_flag(const struct ga_flags *f, const char *path)
{
	size_t from = 0, to = f->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (compare_paths(f->v[mid].path, path) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Add the flags that a place raises by its name and kind, beyond those stored for its path. */
static void add_own(const struct ga_flags *stored, const struct ga_leftover *line,
		    struct ga_flags *ret)
{
	cleanup_flags struct ga_flags own = GA_FLAGS_INIT;
	const size_t first = first_flag(stored, line->path);
	struct ga_flags have = { stored->v + first, 0, 0 };
	bool severe = false;

	while (first + have.n < stored->n && !strcmp(have.v[have.n].path, line->path))
		severe |= ga_flag_is_severe_in_place(&have.v[have.n++]);
	ga_classify_place(line->path, line->kind, severe, &own);
	for (size_t i = 0; i < own.n; i++)
		if (!ga_flags_have(&have, own.v[i].rule, own.v[i].path))
			ga_flags_copy(ret, &own.v[i]);
}

void review_left_flags(const struct ga_report *r, struct ga_flags *ret)
{
	cleanup_flags struct ga_flags own = GA_FLAGS_INIT;

	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];

		if (f->left)
			ga_flags_copy(ret, f);
	}
	sort_flags(ret);
	for (size_t i = 0; i < r->left.n; i++)
		add_own(ret, &r->left.v[i], &own);
	for (size_t i = 0; i < own.n; i++)
		ga_flags_copy(ret, &own.v[i]);
	sort_flags(ret);
}

void review_flags_inside(const struct ga_flags *all, const char *place, struct ga_flags *ret)
{
	for (size_t i = first_flag(all, place);
	     i < all->n && ga_path_inside(all->v[i].path, place); i++)
		ga_flags_copy(ret, &all->v[i]);
	ga_flags_sort(ret);
}

void review_place_flags(const struct ga_flags *all, const char *place, struct ga_flags *ret)
{
	cleanup_strv struct ga_strv seen = GA_STRV_INIT;
	size_t n = 0;

	review_flags_inside(all, place, ret);
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->v[i].severity < GA_HIGH || ga_strv_has(&seen, ret->v[i].rule)) {
			ga_flag_release(&ret->v[i]);
			continue;
		}
		ga_strv_push(&seen, ret->v[i].rule);
		ret->v[n++] = ret->v[i];
	}
	ret->n = n;
}

size_t review_put_places(struct ga_buf *out, const struct ga_report *r, size_t max)
{
	cleanup_(ga_leftovers_release) struct ga_leftovers groups = GA_LEFTOVER_INIT;
	cleanup_flags struct ga_flags stored = GA_FLAGS_INIT;

	review_left_flags(r, &stored);
	ga_leftovers_group(&r->left, &groups);
	for (size_t i = 0; i < groups.n && i < max; i++) {
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

		put_place(out, &groups.v[i]);
		review_place_flags(&stored, groups.v[i].path, &flags);
		if (flags.n)
			ga_buf_addf(out, "%*s%zu %s\n", 13, "", flags.n,
				    flags.n == 1 ? "flag" : "flags");
	}
	return groups.n;
}
