/* SPDX-License-Identifier: MIT
 *
 * Git object ids, tree entries and lists of changes, as plain values without libgit2.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GA_OID_RAWSZ 20
#define GA_OID_HEXSZ 40

struct ga_oid {
	unsigned char id[GA_OID_RAWSZ];
};

/* Parse exactly 40 hexadecimal digits that end at a NUL or at the end of the `n` bytes. Returns
 * false and leaves `*ret` alone for anything else. */
bool ga_oid_parse(const char *hex, size_t n, struct ga_oid *ret);
/* Writes 40 lower case digits and a NUL; returns `out`. */
char *ga_oid_hex(const struct ga_oid *oid, char out[GA_OID_HEXSZ + 1]);
bool ga_oid_equal(const struct ga_oid *a, const struct ga_oid *b);
int ga_oid_cmp(const struct ga_oid *a, const struct ga_oid *b);
bool ga_oid_is_zero(const struct ga_oid *oid);

/* The zero id. */
extern const struct ga_oid ga_oid_none;

/* The hex text of an id; it lives until the end of the enclosing block. */
#define GA_HEX(oid) ga_oid_hex((oid), (char[GA_OID_HEXSZ + 1]){ 0 })

/* Modes a git tree may hold; 0 means "no entry". */
enum {
	GA_MODE_NONE = 0,
	GA_MODE_TREE = 0040000,
	GA_MODE_FILE = 0100644,
	GA_MODE_EXEC = 0100755,
	GA_MODE_LINK = 0120000,
	GA_MODE_GITLINK = 0160000,
};

struct ga_entry {
	uint32_t mode; /* one of the modes above */
	struct ga_oid oid;
};

bool ga_entry_equal(const struct ga_entry *a, const struct ga_entry *b);

/* One changed path between two trees. Never a directory: a changed directory is expressed by the
 * changes beneath it. */
struct ga_change {
	char *path; /* owned; '/'-separated, relative to the root, any byte but NUL */
	struct ga_entry old; /* mode GA_MODE_NONE: the path is new */
	struct ga_entry new; /* mode GA_MODE_NONE: the path was removed */
};

/* A list of changes, sorted by path in byte order, each path once. */
struct ga_changes {
	struct ga_change *v;
	size_t n;
	size_t cap;
};
#define GA_CHANGES_INIT { NULL, 0, 0 }

void ga_changes_release(struct ga_changes *c);
#define cleanup_changes __attribute__((cleanup(ga_changes_release)))
/* Append; keeps no order, so sort before use. Copies `path`. */
struct ga_change *ga_changes_add(struct ga_changes *c, const char *path, const struct ga_entry *old,
				 const struct ga_entry *new);
void ga_changes_sort(struct ga_changes *c);
/* The change of exactly `path` in a sorted list, or NULL. */
const struct ga_change *ga_changes_find(const struct ga_changes *c, const char *path);

/* ---- oidmap */

/* A map from object ids to numbers, used for sets of ids and for indices into arrays. */

struct ga_oidmap {
	struct ga_oidmap_slot {
		struct ga_oid oid;
		size_t value; /* plus one; 0: the slot is free */
	} *v;
	size_t n, cap; /* `cap` is a power of two */
};
#define GA_OIDMAP_INIT { NULL, 0, 0 }

void ga_oidmap_release(struct ga_oidmap *m);
#define cleanup_oidmap __attribute__((cleanup(ga_oidmap_release)))
/* Add an id; `value` is below SIZE_MAX. Returns false, changing nothing, if it is there already. */
bool ga_oidmap_add(struct ga_oidmap *m, const struct ga_oid *oid, size_t value);
/* Look an id up. Returns false, leaving `*ret` (which may be NULL) alone, if it is not there. */
bool ga_oidmap_get(const struct ga_oidmap *m, const struct ga_oid *oid, size_t *ret);
