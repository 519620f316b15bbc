/* SPDX-License-Identifier: MIT
 *
 * The differences between two versions of a file as single edits, and the file with some of them
 * undone.
 */
#ifndef GA_HUNK_H
#define GA_HUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/repo.h"

/* `old_n` lines from line `old_at` (counted from 0) were replaced by `new_n` lines from `new_at`.
 * The two share no line. */
struct ga_edit {
	size_t old_at, old_n, new_at, new_n;
	size_t at, len; /* its text in `text`: offset and bytes */
};

/* One hunk of a diff: edits that are close to each other, with lines of context. */
struct ga_hunk {
	size_t first, n; /* its edits in `edits` */
	size_t at, len;  /* its text in `text`, from the "@@" line on: offset and bytes */
};

struct ga_hunks {
	struct ga_buf text; /* as from ga_diff_hunks(): raw bytes */
	struct ga_edit *edits;
	size_t n_edits, cap_edits;
	struct ga_hunk *v;
	size_t n, cap;
};
#define GA_HUNKS_INIT { .text = GA_BUF_INIT }
void ga_hunks_release(struct ga_hunks *h);
#define cleanup_hunks cleanup_(ga_hunks_release)

/* Compare two versions; one with mode GA_MODE_NONE has no lines. Returns 1 if there are no single
 * edits: a version is no file, binary or too long to be compared, or no line differs. */
int ga_hunks_read(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		  struct ga_hunks *ret, struct ga_error *err);

/* Append one edit as a hunk of its own, with the context around it up to the neighbouring edits of
 * its hunk. */
void ga_hunks_edit_text(const struct ga_hunks *h, const struct ga_hunk *hunk, size_t edit,
			struct ga_buf *out);

/* Append the new version with each edit reverted for which `undo` is true. Returns -1, with `out`
 * unchanged, if the edits do not belong to these two texts. */
int ga_hunks_undo(const struct ga_hunks *h, const bool *undo, const struct ga_buf *old,
		  const struct ga_buf *new, struct ga_buf *out);

#endif
