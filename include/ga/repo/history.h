/* SPDX-License-Identifier: MIT
 *
 * Differences between trees and between blobs, questions about commits, and repairs.
 *
 * The lines that differ between two versions of a path, computed in process from the bytes of the
 * blobs: no attribute, diff driver, textconv, filter or configuration is consulted, so nothing in
 * the repository can hide a change or run a program. A blob is binary if it has a NUL byte near its
 * beginning.
 *
 * What a review leaves out of a change is decided here, by ga_diff_read(), and nowhere else: no
 * rendering has a limit of its own, and the rules flag what ga_diff_read() says is not shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/repo/repo.h"

/* A blob longer than this is not compared line by line, nor looked into by the rules. */
#define GA_DIFF_BLOB_MAX ((size_t)8 << 20)
/* Nor are files compared that have more than this many lines, of both sides together, between their
 * common beginning and end: for permuted lines, time grows as their number times its square
 * root. */
#define GA_DIFF_LINES_MAX ((size_t)500000)
/* Bytes that are shown of a binary file that is flagged; of another, none are. */
#define GA_DIFF_BINARY_MAX ((size_t)16 << 10)
/* The bytes that ga_diff_stat() reads at most in all; files after that get no line counts. Each
 * line that may differ counts as at least GA_DIFF_LINE_COST bytes. */
#define GA_DIFF_LINE_COST ((size_t)32)
#define GA_DIFF_TOTAL_MAX ((size_t)512 << 20)

#define GA_DIFF_NOT_COUNTED (-2)
struct ga_diff_lines {
	int64_t additions, deletions; /* -1: binary; GA_DIFF_NOT_COUNTED: above a limit */
};

/* The paths that differ between two trees, with line counts; `lines` runs parallel to
 * `changes.v`. */
struct ga_diff_stat {
	struct ga_changes changes; /* sorted by path */
	struct ga_diff_lines *lines;
};
#define GA_DIFF_STAT_INIT { GA_CHANGES_INIT, NULL }
void ga_diff_stat_release(struct ga_diff_stat *s);
#define cleanup_diff_stat cleanup_(ga_diff_stat_release)

/* As ga_tree_diff(). */
int ga_diff_stat(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		 struct ga_diff_stat *ret, struct ga_error *err);

/* Count the lines of one of many changes. `*total` starts at 0 and sums up what was read for all of
 * them; beyond GA_DIFF_TOTAL_MAX there are no counts. */
int ga_diff_count(struct ga_repo *r, const struct ga_change *c, size_t *total,
		  struct ga_diff_lines *ret, struct ga_error *err);

/* How a review shows a change: all of it; by a word, or its beginning if it is flagged, since the
 * version that it makes, or removes, is binary; not at all, since a version is longer than
 * GA_DIFF_BLOB_MAX, or more than GA_DIFF_LINES_MAX lines may differ, or one is absent. */
enum ga_diff_kind {
	GA_DIFF_SHOWN, GA_DIFF_BINARY, GA_DIFF_TOO_LONG, GA_DIFF_TOO_MANY, GA_DIFF_ABSENT
};
bool ga_diff_is_binary(const struct ga_buf *text);

/* Is this blob one that a partial clone has not fetched? Always false elsewhere, where a missing
 * object is damage. */
bool ga_diff_is_absent(struct ga_repo *r, const struct ga_entry *e);
/* In a partial clone, fetch the missing blobs of `base` at all paths in which the other tree
 * differs, by one git process. `base` must be of the user's own commits: nothing is fetched because
 * an agent's tree names it. What cannot be fetched stays absent. Either may be a commit. */
int ga_diff_fetch(struct ga_repo *r, const struct ga_oid *base, const struct ga_oid *new,
		  struct ga_error *err);

/* Read both versions of a change and say how it is shown, or -1. The new one is read first, and one
 * that is too long or absent stays empty. The content of a gitlink is the line "Subproject commit
 * ID". */
int ga_diff_read(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		 struct ga_buf *ret_old, struct ga_buf *ret_new, struct ga_error *err);

/* Append the hunks of one change to `out`: lines beginning with '@', ' ', '+', '-' or '\', raw
 * bytes. Returns how it is shown, or -1. Nothing is appended unless that is GA_DIFF_SHOWN, or
 * GA_DIFF_BINARY and `as_text`. */
int ga_diff_hunks(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		  bool as_text, struct ga_buf *out, struct ga_error *err);

/* Read every object that these refs reach and `base` does not. Returns 1 if one cannot be read:
 * damaged loose objects were removed, so that they can be written again. */
int ga_refs_check(struct ga_repo *r, const char *branch, const char *space,
		  const struct ga_oid *base, struct ga_error *err);

/* Delete the branch and the refs below `space` (GA_SESSION_REFS and a name) that have no value or
 * whose commit is not ga_commit_readable() down to `base`, and damaged loose objects. Adds their
 * values, if any, and names to `ret`. */
int ga_refs_repair(struct ga_repo *r, const char *branch, const char *space,
		   const struct ga_oid *base, struct ga_strv *ret, struct ga_error *err);

/* Can the commit, its first parents up to `base` and the root tree of each be read? Only the first
 * few are tried. */
bool ga_commit_readable(struct ga_repo *r, const struct ga_oid *commit, const struct ga_oid *base);

/* Of many commits, add to `ret` those reachable from `from` or from a branch, remote branch or tag
 * that is not a session's, by one process. Adds none if git fails or more than `max` commits are in
 * between. */
int ga_find_on_branches(struct ga_repo *r, const struct ga_oid *oids, size_t n,
			const struct ga_oid *from, size_t max, struct ga_oidmap *ret,
			struct ga_error *err);

/* Is `anc` an ancestor of `desc`, or the same? Returns 1 or 0. */
int ga_is_ancestor(struct ga_repo *r, const struct ga_oid *anc, const struct ga_oid *desc,
		   struct ga_error *err);

/* Is a commit reachable from a ref whose name begins with one of these prefixes (each ending at a
 * slash)? Refs to other objects than commits do not count. Takes one process. */
int ga_is_below_refs(struct ga_repo *r, const struct ga_oid *oid, const char *const *prefixes,
		     bool *ret, struct ga_error *err);

/* ga_is_ancestor(), as far as a few commits tell, without a process; false if they do not. */
bool ga_is_near_ancestor(struct ga_repo *r, const struct ga_oid *anc, const struct ga_oid *desc);

/* Is a commit reachable from `from` (may be NULL), or from a branch, remote branch or tag (from
 * those of sessions only with `sessions`)? `*ret` is false if the commit does not exist. */
int ga_is_on_branch(struct ga_repo *r, const struct ga_oid *oid, const struct ga_oid *from,
		    bool sessions, bool *ret, struct ga_error *err);

/* The best common ancestor of two commits; 1: they have none. */
int ga_merge_base(struct ga_repo *r, const struct ga_oid *a, const struct ga_oid *b,
		  struct ga_oid *ret, struct ga_error *err);

/* Three-way merge of one path. Returns 0 with the merged entry, 1 if the two sides cannot be
 * separated (conflict, binary, too large, type changed on both sides). Entries may be GA_MODE_NONE.
 * Equal sides need no content. No attribute or driver is consulted. */
int ga_merge_entry(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		   const struct ga_entry *theirs, struct ga_entry *ret, struct ga_error *err);

/* Returns 1 if that merge would not change `ours`, which has the change of `theirs` already; else
 * 0. Nothing is written. */
int ga_merge_is_in(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		   const struct ga_entry *theirs, struct ga_error *err);

/* List the commits reachable from any of `tips` and from none of `hide`, parents before children
 * (topological, oldest first). If there are more than `max`, ga_rev_list() fails and
 * ga_rev_list_bounded() returns 1. */
int ga_rev_list(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
		const struct ga_oid *hide, size_t n_hide, size_t max, struct ga_oid **ret,
		size_t *ret_n, struct ga_error *err);

/* List the commits reachable from any of `tips` and from none of `hide`, parents before children
 * (topological, oldest first). If there are more than `max`, ga_rev_list() fails and
 * ga_rev_list_bounded() returns 1. */
int ga_rev_list_bounded(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
			const struct ga_oid *hide, size_t n_hide, size_t max, struct ga_oid **ret,
			size_t *ret_n, struct ga_error *err);
