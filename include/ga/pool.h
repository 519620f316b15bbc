/* SPDX-License-Identifier: MIT
 *
 * Base trees: immutable checkouts that sessions share.
 *
 *     <state>/bases/<n>/{tree,index,git,commit,key,lock}
 *
 * `git` is the template of private git dirs: the index, refreshed for the tree,
 * its mtime past the newest entry. A session holds a shared lock on `lock` while it runs; whoever
 * changes a base holds it exclusively.
 */
#ifndef GA_POOL_H
#define GA_POOL_H

#include <stdbool.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/snapshot.h"

struct ga_base {
	char *tree;     /* absolute path of the checkout */
	char *git;      /* absolute path of the git dir template */
	int lock_fd;    /* shared lock; closing it gives the base back */
	enum { GA_BASE_FOUND, GA_BASE_MOVED, GA_BASE_MADE } how;
};
#define GA_BASE_INIT { NULL, NULL, -1, GA_BASE_FOUND }
void ga_base_release(struct ga_base *b);
#define cleanup_base cleanup_(ga_base_release)

struct ga_base_opts {
	const struct ga_scan *scan; /* NULL: no scan was made */
	bool scanned_all;           /* the scan knows every changed path (not just ignored ones) */
	bool trusted;               /* false: the commit holds agent content, run no filter of the host */
	bool progress;              /* git's progress on standard error for a first checkout */
};

/* A base tree standing on `commit`: an existing one, one brought from another
 * commit at the cost of the difference, or a new one. Made by git's own
 * checkout (sparse patterns, attributes, filters as the user has them). Files whose content
 * equals the user's get that file's mtime. Never writes outside `state_dir`. A
 * checkout that a crash cut short is recognised (no `commit` file) and remade. */
int ga_base_acquire(struct ga_repo *r, const char *state_dir, const struct ga_oid *commit,
		    const struct ga_base_opts *o, struct ga_base *ret, struct ga_error *err);

#endif
