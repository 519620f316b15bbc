/* SPDX-License-Identifier: MIT
 *
 * One directory of a git tree as a sorted array, for walks that descend a tree alongside something
 * else and look up every name once.
 */
#ifndef GA_TREELEVEL_H
#define GA_TREELEVEL_H

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/repo.h"

struct ga_tree_level {
	struct ga_level_entry {
		const char *name;      /* points into `names` */
		struct ga_entry entry; /* obsolete modes (100664) are normalised */
	} *v;                          /* sorted by name in byte order (git orders directories
					* differently) */
	size_t n;
	char *names;
};
#define GA_TREE_LEVEL_INIT { NULL, 0, NULL }

void ga_tree_level_release(struct ga_tree_level *l);
#define cleanup_tree_level __attribute__((cleanup(ga_tree_level_release)))

/* Read the tree object `oid`; NULL is the empty tree. */
int ga_tree_level_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_level *ret,
		       struct ga_error *err);

/* The entry of `name`; GA_MODE_NONE if there is none. */
struct ga_entry ga_tree_level_find(const struct ga_tree_level *l, const char *name);

#endif
