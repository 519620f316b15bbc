/* SPDX-License-Identifier: MIT
 *
 * Leftovers: files that capture leaves in the session. The list is read from the layers, stored in
 * the report and shown by the review.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ga_leftover_kind {
	GA_LEFTOVER_IGNORED,    /* ignored, and tracked by neither base nor agent */
	GA_LEFTOVER_SPECIAL,    /* fifo, socket, device */
	GA_LEFTOVER_REPOSITORY, /* a nested repository */
	GA_LEFTOVER_SUBMODULE,  /* beneath a gitlink of the base */
	GA_LEFTOVER_NAME,       /* a name no tree may hold */
	GA_LEFTOVER_REFUSED,    /* content `git fsck` would refuse */
	GA_LEFTOVER_UNREADABLE,
	GA_LEFTOVER_LIMIT,      /* above a limit */
};
const char *ga_leftover_kind_name(enum ga_leftover_kind k); /* "ignored", "special", ... */

/* One leftover: a file, or a directory with the count and bytes below it. */
struct ga_leftover {
	char *path;
	enum ga_leftover_kind kind;
	uint64_t count, bytes;
};
struct ga_leftovers {
	struct ga_leftover *v;
	size_t n, cap;
};
#define GA_LEFTOVER_INIT { NULL, 0, 0 }
void ga_leftovers_release(struct ga_leftovers *l);
/* Add all entries of another list. */
void ga_leftovers_extend(struct ga_leftovers *l, const struct ga_leftovers *from);
/* Add to the entry of this path and kind, which is created if missing. */
void ga_leftovers_add(struct ga_leftovers *l, const char *path, enum ga_leftover_kind kind,
		      uint64_t count, uint64_t bytes);
void ga_leftovers_sort(struct ga_leftovers *l); /* by path */
/* For users: merge several ignored entries below one top-level directory into one entry for that
 * directory. `l` is sorted; appends to `ret`. */
void ga_leftovers_group(const struct ga_leftovers *l, struct ga_leftovers *ret);
