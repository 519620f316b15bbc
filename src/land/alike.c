/* SPDX-License-Identifier: MIT
 *
 * Was a commit made of the session's work, though it does not say so, and lines were changed on the
 * way? By content alone, so it takes what hardly two people write by chance: many lines, and nearly
 * all that the session adds to each file, in one commit that adds them there.
 */
#include <string.h>

#include "ga/hunk.h"
#include "ga/strmap.h"
#include "look.h"

#define LINE_BYTES 8  /* a line with fewer, not counting blanks, could be anybody's */
#define LINES_MIN 10  /* of the session's are in the commit ... */
#define MISSING_OF 8  /* ... and of those of each file at most one of so many is not */

static bool says_something(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end; p++)
		n += !strchr(" \t\r\n", *p);
	return n >= LINE_BYTES;
}

/* The lines that a comparison adds and that say something, each once. */
static void add_lines(const struct ga_hunks *h, struct ga_strmap *ret)
{
	for (size_t i = 0; i < h->n_edits; i++) {
		const char *p = h->text.ptr + h->edits[i].at, *end = p + h->edits[i].len;

		for (const char *next; p < end; p = next) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			size_t len;

			next = nl ? nl + 1 : end;
			len = (size_t)(next - p);
			if (*p == '+' && says_something(p + 1, next) &&
			    ga_strmap_first(ret, p, len) < 0)
				ga_strmap_add(ret, p, len, 0);
		}
	}
}

static size_t count_missing(const struct ga_strmap *own, const struct ga_strmap *theirs)
{
	size_t n = 0;

	for (size_t i = 0; i < own->n_slots; i++)
		n += own->slots[i].key &&
		     ga_strmap_first(theirs, own->slots[i].key, own->slots[i].len) < 0;
	return n;
}

/* One path, which the commit took from `before` to `after`. `*lines` counts those it has. */
static int path_alike(struct ga_repo *r, const struct ga_change *c, const struct ga_entry *before,
		      const struct ga_entry *after, size_t *lines, struct ga_error *err)
{
	cleanup_hunks struct ga_hunks own = GA_HUNKS_INIT, theirs = GA_HUNKS_INIT;
	cleanup_strmap struct ga_strmap have = GA_STRMAP_INIT, want = GA_STRMAP_INIT;
	size_t missing;
	int rc;

	if (ga_entry_equal(before, after))
		return 0;
	rc = ga_hunks_read(r, &c->old, &c->new, &own, err);
	if (!rc)
		add_lines(&own, &want);
	/* nothing to tell it by: then it is there as it is, or not */
	if (rc >= 0 && !want.n)
		return ga_merge_is_in(r, &c->old, after, &c->new, false, err);
	if (rc < 0 || (c->old.mode == GA_MODE_NONE && after->mode != c->new.mode))
		return rc < 0 ? -1 : 0;
	rc = ga_hunks_read(r, before, after, &theirs, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	add_lines(&theirs, &have);
	missing = count_missing(&want, &have);
	*lines += want.n - missing;
	return missing <= want.n / MISSING_OF;
}

/* The entry of a file there; of a directory, none. */
static int entry(struct look *l, const struct ga_oid *tree, const char *path, struct ga_entry *ret,
		 struct ga_error *err)
{
	if (ga_tree_entry(l->r, tree, path, ret, err))
		return -1;
	if (ret->mode == GA_MODE_TREE)
		*ret = (struct ga_entry){ 0 };
	return 0;
}

int look_alike(struct look *l, const struct ga_commit *c, struct ga_error *err)
{
	struct ga_oid parent;
	size_t lines = 0;
	int rc = 1;

	if (c->n_parents != 1)
		return 0;
	if (ga_commit_tree(l->r, &c->parents[0], &parent, err))
		return -1;
	for (size_t i = 0; rc > 0 && i < l->changes.n; i++) {
		const struct ga_change *own = &l->changes.v[i];
		struct ga_entry before, after;

		if (!l->lookups)
			return 0;
		l->lookups--;
		rc = entry(l, &parent, own->path, &before, err) ||
				     entry(l, &c->tree, own->path, &after, err)
			     ? -1
			     : path_alike(l->r, own, &before, &after, &lines, err);
	}
	return rc > 0 ? lines >= LINES_MIN : rc;
}
