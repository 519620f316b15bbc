/* SPDX-License-Identifier: MIT
 *
 * The comparison of two versions of a file in parts, and the file with some of them undone.
 */
#ifndef GA_HUNK_H
#define GA_HUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"

/* `old_n` lines from `old_at` on (from 0) became `new_n` lines, from `new_at` on. No line
 * within is the same in both. */
struct ga_edit {
	size_t old_at, old_n, new_at, new_n;
	size_t at, len; /* its lines in `text` */
};

/* What a diff shows in one piece: edits that are near each other, and lines around them. */
struct ga_hunk {
	size_t first, n; /* its edits */
	size_t at, len;  /* its lines in `text`, the one with "@@" first */
};

struct ga_hunks {
	struct ga_buf text; /* as ga_diff_hunks() has it: raw bytes */
	struct ga_edit *edits;
	size_t n_edits, cap_edits;
	struct ga_hunk *v;
	size_t n, cap;
};
#define GA_HUNKS_INIT { .text = GA_BUF_INIT }
void ga_hunks_release(struct ga_hunks *h);
#define cleanup_hunks cleanup_(ga_hunks_release)

/* Compare. 1: there are no parts: a version is no file, or binary, or too long to be compared, or
 * no line differs. A version that is not there has no lines. */
int ga_hunks_read(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		  struct ga_hunks *ret, struct ga_error *err);

/* From `h->text`, which the caller has filled. -1 if it is no list of hunks. */
int ga_hunks_parse(struct ga_hunks *h);

/* One edit with what its hunk has before and behind it, up to the edits beside it, as a hunk of
 * its own. */
void ga_hunks_edit_text(const struct ga_hunks *h, const struct ga_hunk *hunk, size_t edit,
			struct ga_buf *out);

/* Append the new version with each edit put back for which `undo` says so. -1, `out` as it was, if
 * the edits are not of these two texts. */
int ga_hunks_undo(const struct ga_hunks *h, const bool *undo, const struct ga_buf *old,
		  const struct ga_buf *new, struct ga_buf *out);

#endif
