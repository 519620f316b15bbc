/* SPDX-License-Identifier: MIT
 *
 * Read an index file entry by entry, without libgit2 (which refuses split and sparse ones) and
 * without a process. Compose those of base trees from entries that git wrote and entries that it
 * has yet to check out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"

struct ga_index {
	const unsigned char *map;
	size_t len;
	size_t pos;           /* offset of the next entry */
	uint32_t version, n, i;
	bool split;           /* known at the end: a split index, whose other entries are in the
			       * shared one */
	struct ga_buf path;   /* in version 4, that of the entry last read */
};
#define GA_INDEX_INIT { .path = GA_BUF_INIT }

struct ga_index_entry {
	size_t offset, len;   /* of the entry in the file; it begins with the stat data */
	uint32_t mtime, mtime_ns, mode, size;
	struct ga_oid oid;
	unsigned stage;
	bool skip_worktree, intent_to_add, assume_unchanged;
	const char *path;     /* valid until the next call */
};

/* Offsets of fields in the file (the count) and in an entry (gitformat-index(5)). */
enum {
	GA_INDEX_COUNT = 8,
	GA_INDEX_MTIME = 8,
	GA_INDEX_MODE = 24,
	GA_INDEX_SIZE = 36,
	GA_INDEX_OID = 40,
	GA_INDEX_FLAGS = 60,
};

/* Returns 1 if there is no such file. */
int ga_index_open(const char *path, struct ga_index *ret, struct ga_error *err);
/* Get the next entry. Returns 1 at the end, -1 if the file is damaged. */
int ga_index_next(struct ga_index *ix, struct ga_index_entry *ret, struct ga_error *err);
/* Get the root's tree id from the cache-tree extension. Called right after ga_index_open(). Returns
 * false if entries are unmerged or intent-to-add, or the cache is invalid. */
bool ga_index_tree(struct ga_index *ix, struct ga_oid *ret);
/* The content of an extension, or NULL. Called once all entries were read. */
const unsigned char *ga_index_extension(const struct ga_index *ix, const char *name, size_t *n);
/* Start again from the first entry. */
void ga_index_rewind(struct ga_index *ix);
void ga_index_release(struct ga_index *ix);
#define cleanup_index cleanup_(ga_index_release)

/* Compose an index of version 2: header; entries sorted by path, with all stat data 0; extensions;
 * and the checksum, with the number of entries for the header. */
void ga_index_begin(struct ga_buf *out);
void ga_index_add(struct ga_buf *out, const char *path, const struct ga_entry *e);
void ga_index_add_extension(struct ga_buf *out, const char *name, const void *p, size_t n);
void ga_index_end(struct ga_buf *out, uint32_t n);
void ga_index_put32(char *at, uint32_t v);
