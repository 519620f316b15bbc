/* SPDX-License-Identifier: MIT
 *
 * Base trees: immutable checkouts that sessions share.
 *
 *     <state>/bases/lock            held while a base is chosen
 *     <state>/bases/<n>/lock        shared: a session uses it; exclusive: it is being changed
 *                      /commit      the commit it is a checkout of, and the boot it was made in;
 *                                   missing while it is changed, so that a crash is recognised
 *                      /key         what besides the commit decides the bytes of a checkout
 *                      /making      commit and key of a base that is being made: wait for it
 *                      /tree        the checkout, with an empty .git to mount on
 *                      /index       its index
 *                      /git         template of private git dirs (ga_gitdir_template()) with
 *                                   the same index, its mtime past the newest entry
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"
#include "ga/repo/snapshot.h"

struct ga_base {
	char *tree;     /* absolute path of the checkout */
	char *git;      /* absolute path of the git dir template */
	int lock_fd;    /* shared lock; closing it releases the base */
	enum { GA_BASE_FOUND, GA_BASE_MOVED, GA_BASE_MADE } how;
	/* Of the user's files just checked out, those with an access list or extended attributes
	 * (user.*), which git does not keep: their number, and the first. */
	size_t n_attributed;
	char *attributed;
};
#define GA_BASE_INIT { NULL, NULL, -1, GA_BASE_FOUND, 0, NULL }
void ga_base_release(struct ga_base *b);
#define cleanup_base cleanup_(ga_base_release)

struct ga_base_opts {
	const struct ga_gitconfig *config; /* NULL: read here, which takes a process */
	const struct ga_strv *object_paths; /* as in struct ga_gitdir_spec */
	bool trusted;               /* false: the commit holds agent content, so no filter of the
				     * host runs */
	bool progress;              /* show git's progress on standard error for a first checkout */
};

/* Get a base tree of `commit`: an existing one, one of another commit updated by the difference, or
 * a new one. Git checks it out with the user's sparse patterns, attributes and filters, from
 * scratch if attributes or the configuration for them changed. Bases belong to one working tree.
 * When a base is made or moved, files and directories get the mtime of the user's where the content
 * is the same, and the root gets the mode and mtime of the project's. Never writes outside
 * `state_dir`, which is absolute. Concurrent calls for the same base wait for the one that makes
 * it. */
int ga_base_acquire(struct ga_repo *r, const char *state_dir, const struct ga_oid *commit,
		    const struct ga_base_opts *o, struct ga_base *ret, struct ga_error *err);

/* Remove base trees that no session uses and that were last used before `unused_since`, that were
 * never finished, or whose working tree is gone. `dry`: remove none. Adds their numbers to `names`
 * and the reasons, for users, to `whys`. */
int ga_base_prune(const char *state_dir, time_t unused_since, bool dry, struct ga_strv *names,
		  struct ga_strv *whys, struct ga_error *err);
