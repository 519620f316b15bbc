/* SPDX-License-Identifier: MIT
 *
 * Rules about all changes together. Their flags have no path.
 */
#include <inttypes.h>

#include "ga/repo/objects.h"
#include "internal.h"

enum {
	MANY_FILES = 2000,
	MANY_LINES = 50000,
	MANY_BYTES = 50 << 20,
	FEW_DELETED = 10,    /* fewer are never many */
	DELETED_SHARE = 5,   /* one in five or more of all files are many */
};

static void flag(struct ga_flags *ret, const char *id, char *detail)
{
	const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };

	ga_flags_add_rule(ret, id, ga_rule_find(id)->severity, "", &none, detail);
	free(detail);
}

/* Count the files of the old tree; SIZE_MAX: more than `max`, so that counting costs no more than
 * the change itself, or it cannot be read, which was flagged elsewhere. */
static size_t count_files(struct ga_look *k, size_t max)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	if (ga_tree_list(k->repo, k->old_tree, max, &all, &ignored))
		return SIZE_MAX;
	return all.n;
}

static void find_mass_delete(struct ga_look *k, struct ga_flags *ret)
{
	size_t deleted = 0, files;

	for (size_t i = 0; i < k->changes->n; i++)
		deleted += k->changes->v[i].new.mode == GA_MODE_NONE;
	if (!k->old_tree || deleted < FEW_DELETED)
		return;
	files = count_files(k, deleted * DELETED_SHARE);
	if (files < deleted * DELETED_SHARE)
		flag(ret, "mass-delete", ga_strf("%zu of %zu files", deleted, files));
}

void ga_find_whole(struct ga_look *k, struct ga_flags *ret)
{
	if (k->changes->n > MANY_FILES)
		flag(ret, "huge-diff", ga_strf("%zu files", k->changes->n));
	else if (k->added.lines > MANY_LINES)
		flag(ret, "huge-diff", ga_strf("%zu added lines", k->added.lines));
	if (k->added.bytes > MANY_BYTES)
		flag(ret, "huge-file",
		     ga_strf("%" PRIu64 " MiB are added together", k->added.bytes >> 20));
	find_mass_delete(k, ret);
}
