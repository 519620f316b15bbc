/* SPDX-License-Identifier: MIT
 *
 * Scan the user's working tree for uncommitted changes, and commit a snapshot of them.
 */
#pragma once

#include <stdint.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"

struct ga_scan {
	struct ga_strv changed;       /* tracked paths whose working tree or index differs from
				       * HEAD */
	struct ga_strv unindexed;     /* those of `changed` that are in HEAD but not in the index */
	struct ga_strv untracked;     /* untracked paths, not ignored, for the snapshot */
	struct ga_strv ignored_dirs;  /* wholly ignored directories, without trailing slash; may be
				       * empty, or contain repositories */
	struct ga_strv ignored_files; /* single ignored files outside those */
	struct ga_strv submodules;    /* paths of populated submodules: gitlinks of the index with a
				       * .git in the working tree */
	struct ga_strv skipped;       /* "path: reason", for users (already quoted): nested
				       * repositories, unreadable files, files above the limit,
				       * specials */
};
#define GA_SCAN_INIT { 0 }
void ga_scan_release(struct ga_scan *s);
#define cleanup_scan cleanup_(ga_scan_release)

/* Scan the working tree by one `git --no-optional-locks status -z`. Fails on unmerged paths and
 * (naming it) while a merge, rebase or the like is in progress (a bisection does not count).
 * Changes within a submodule that are not committed there are not the superproject's. An untracked
 * file of more than `max_untracked` bytes is skipped and named. The user's index is not touched. */
int ga_scan_worktree(struct ga_repo *r, uint64_t max_untracked, struct ga_scan *ret,
		     struct ga_error *err);

/* The same for display only, whatever is in progress: unmerged paths count as changed. */
int ga_scan_show(struct ga_repo *r, struct ga_scan *ret, struct ga_error *err);

/* Only the ignored paths and submodules, for a start with an explicit base: those that still exist
 * of the cache in `state_dir` from the last full scan; scans if there is none. Submodules are
 * always read from the index. */
int ga_scan_ignored(struct ga_repo *r, const char *state_dir, struct ga_scan *ret,
		    struct ga_error *err);
/* Write that cache. */
int ga_scan_cache_store(struct ga_repo *r, const char *state_dir, const struct ga_scan *s,
			struct ga_error *err);

/* Commit the scanned work on top of `head`, on no branch: a copied index (mtime kept), `git
 * update-index`, write-tree. `c` (may be NULL) has the user's filters. Paths in `exclude` (masked
 * secrets; may be NULL) stay as they are in HEAD. The user's index, including staged changes, is
 * not touched. If the resulting tree equals HEAD's, `*ret` = head. No ref is made: the caller makes
 * one before anything prunes. */
int ga_snapshot_commit(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_scan *s,
		       const struct ga_oid *head, const struct ga_strv *exclude, struct ga_oid *ret,
		       struct ga_error *err);
