/* SPDX-License-Identifier: MIT
 *
 * Reading an index file entry by entry, without libgit2 (which refuses split
 * and sparse ones) and without a process: gitlinks, and the stat data git keeps.
 * Indexes are written by git; those of base trees alone are put together here, of what
 * git wrote and what it is to check out.
 */
#ifndef GA_INDEX_FILE_H
#define GA_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/oid.h"

struct ga_index {
	const unsigned char *map;
	size_t len;
	size_t pos;           /* where the next entry begins */
	uint32_t version, n, i;
	bool split;           /* known at the end: entries of a shared index are missing here */
	bool intended, hidden; /* entries so far are intended to be added; not looked for */
	struct ga_buf path;   /* of the entry last read, in version 4 */
};
#define GA_INDEX_INIT { .path = GA_BUF_INIT }

struct ga_index_entry {
	size_t offset, len;   /* of the entry in the file: its stat data is at the front */
	uint32_t mtime, mtime_ns, mode, size;
	struct ga_oid oid;
	unsigned stage;
	bool skip_worktree, intent_to_add, assume_unchanged;
	const char *path;     /* until the next call */
};

/* Where fields are within the file, and within an entry (gitformat-index(5)). */
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
/* Returns 1 at the end, -1 if the file is damaged. */
int ga_index_next(struct ga_index *ix, struct ga_index_entry *ret, struct ga_error *err);
/* Right after it was opened: is it a tree, as git noted in it when it last knew? Not with entries
 * that are unmerged or intended to be added, nor where the tree is not known any more. */
bool ga_index_tree(struct ga_index *ix, struct ga_oid *ret);
/* An extension; NULL if there is none. Known once all entries were passed. */
const unsigned char *ga_index_extension(const struct ga_index *ix, const char *name, size_t *n);
/* Back to the first entry. */
void ga_index_rewind(struct ga_index *ix);
void ga_index_release(struct ga_index *ix);
#define cleanup_index cleanup_(ga_index_release)

/* Put an index together, of version 2: its beginning, entries in the order of their paths (whose
 * stat data is of no file), extensions, and its end, with the number of entries. */
void ga_index_begin(struct ga_buf *out);
void ga_index_add(struct ga_buf *out, const char *path, const struct ga_entry *e);
void ga_index_add_extension(struct ga_buf *out, const char *name, const void *p, size_t n);
void ga_index_end(struct ga_buf *out, uint32_t n);
void ga_index_put32(char *at, uint32_t v);

#endif
