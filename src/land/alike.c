/* SPDX-License-Identifier: MIT
 *
 * Was a commit made from the session's work, with lines changed on the way and without saying so?
 * This is told by content alone, so it takes what two people hardly write by chance: many lines,
 * and nearly all that the session adds to each file, added by one commit.
 */
#include <string.h>

#include "ga/hunk.h"
#include "ga/strmap.h"
#include "look.h"

#define LINE_BYTES 8  /* a line with fewer, not counting blanks, could be anybody's */
#define LINES_MIN 10  /* lines of the session's that the commit must have */
#define MISSING_OF 8  /* at most one in so many of a file's lines may be missing */

static bool says_something(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end; p++)
		n += !strchr(" \t\r\n", *p);
	return n >= LINE_BYTES;
}

/* Collect the lines that a comparison adds and that are long enough to tell by, each once. */
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

/* One path, which the commit changed from `before` to `after`. `*lines` is increased by the number
 * of the session's lines that it adds. */
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
	/* no line to recognize it by: then the change has to be there exactly */
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

/* The entry at the path; a directory counts as none. */
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
