/* SPDX-License-Identifier: MIT
 *
 * Leftovers: files that capture leaves in the session. The list is read from the layers, stored in
 * the report and shown by the review.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ga_left_kind {
	GA_LEFT_IGNORED,    /* ignored, and tracked by neither the base nor a commit of the agent */
	GA_LEFT_SPECIAL,    /* fifo, socket, device */
	GA_LEFT_REPOSITORY, /* a nested repository */
	GA_LEFT_SUBMODULE,  /* beneath a gitlink of the base */
	GA_LEFT_NAME,       /* a name no tree may hold */
	GA_LEFT_REFUSED,    /* content `git fsck` would refuse */
	GA_LEFT_UNREADABLE,
	GA_LEFT_LIMIT,      /* above a limit */
};
const char *ga_left_kind_name(enum ga_left_kind k); /* "ignored", "special", ... */

/* One leftover: a file, or a directory with the count and bytes below it. */
struct ga_left {
	char *path;
	enum ga_left_kind kind;
	uint64_t count, bytes;
};
struct ga_left_list {
	struct ga_left *v;
	size_t n, cap;
};
#define GA_LEFT_INIT { NULL, 0, 0 }
void ga_left_release(struct ga_left_list *l);
/* Add all entries of another list. */
void ga_left_extend(struct ga_left_list *l, const struct ga_left_list *from);
/* Add to the entry of this path and kind, which is created if missing. */
void ga_left_add(struct ga_left_list *l, const char *path, enum ga_left_kind kind, uint64_t count,
		 uint64_t bytes);
void ga_left_sort(struct ga_left_list *l); /* by path */
/* For users: merge several ignored entries below one top-level directory into one entry for that
 * directory. `l` is sorted; appends to `ret`. */
void ga_left_group(const struct ga_left_list *l, struct ga_left_list *ret);

/* A single leftover file. */
struct ga_left_file {
	char *path;
	enum ga_left_kind kind;
	mode_t mode;    /* type and permissions; 0: unknown */
	uint64_t bytes;
};
struct ga_left_files {
	struct ga_left_file *v;
	size_t n, cap;
};
void ga_left_files_release(struct ga_left_files *f);
#define cleanup_left_files cleanup_(ga_left_files_release)
/* Append one; copies `path`. */
void ga_left_files_add(struct ga_left_files *f, const char *path, enum ga_left_kind kind,
		       mode_t mode, uint64_t bytes);
void ga_left_files_sort(struct ga_left_files *f); /* by path; each path once */
