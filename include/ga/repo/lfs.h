/* SPDX-License-Identifier: MIT
 *
 * Git LFS without git-lfs: parse pointers, and store the objects that they name. Both are hostile
 * input.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ga/base/error.h"
#include "ga/base/sha.h"
#include "ga/repo/repo.h"

#define GA_LFS_POINTER_MAX 1024 /* bytes: git-lfs writes no longer ones */

struct ga_lfs_pointer {
	char oid[GA_SHA256_HEXSZ + 1];
	uint64_t size;
};

/* Could git-lfs parse this blob as a pointer? May be true where it would not: git-lfs reads the
 * first 1024 bytes, whatever follows them. */
bool ga_lfs_is_pointer(const char *text, size_t n);
/* Parse a pointer in the form git-lfs writes: the version, then lines "key value", with "oid" and
 * "size" exactly once. False for anything else, including some forms that git-lfs still reads. */
bool ga_lfs_parse(const char *text, size_t n, struct ga_lfs_pointer *ret);

/* The directory of git-lfs: lfs.storage (default "lfs"; "~" is not expanded, as in git-lfs),
 * relative to the common git dir unless absolute. The caller frees it. */
char *ga_lfs_store(const struct ga_repo *r, const struct ga_gitconfig *c);
/* The path of an object relative to the store. The caller frees it. */
char *ga_lfs_object(const char *oid);

enum ga_lfs_have {
	GA_LFS_ABSENT,
	GA_LFS_HERE,
	GA_LFS_ODD, /* something else has that name: a file of another size, or no file. At a
		     * checkout of the pointer git-lfs removes it, whichever is right */
};
/* Is the object of this pointer in the store? Compares its size, not its content. */
enum ga_lfs_have ga_lfs_find(const char *store, const struct ga_lfs_pointer *p);

/* Store the object that a pointer names, read from `fd` (a regular file at offset 0 that nobody
 * writes to). Returns 1, with nothing written, if its size or SHA-256 is not the pointer's. An
 * object that is there already stays. The file is on the disk when this returns; directories that
 * must still be synced are added to `dirs`. */
int ga_lfs_add(const char *store, const struct ga_lfs_pointer *p, int fd, struct ga_strv *dirs,
	       struct ga_error *err);
