/* SPDX-License-Identifier: MIT
 *
 * Git LFS: pointers, and the store of the objects that they name. git-lfs itself is not
 * needed. Pointers and what is offered as their objects are hostile input.
 */
#ifndef GA_LFS_H
#define GA_LFS_H

#include <stdbool.h>
#include <stdint.h>

#include "ga/error.h"
#include "ga/repo.h"
#include "ga/sha.h"

#define GA_LFS_POINTER_MAX 1024 /* bytes: git-lfs writes no longer ones */

struct ga_lfs_pointer {
	char oid[GA_SHA256_HEXSZ + 1];
	uint64_t size;
};

/* Could git-lfs take this blob for a pointer? Never false where it would: it goes by the
 * first 1024 bytes, whatever follows. */
bool ga_lfs_is_pointer(const char *text, size_t n);
/* Parse a pointer as git-lfs writes them: the version, then lines "key value", "oid" and "size"
 * exactly once. False for anything else; some of that git-lfs still reads. */
bool ga_lfs_parse(const char *text, size_t n, struct ga_lfs_pointer *ret);

/* The directory git-lfs keeps things in: "lfs" in the common git dir, or lfs.storage, as
 * it is written ("~" is a name like any other to git-lfs), beneath the common git dir unless it
 * is absolute. */
char *ga_lfs_store(const struct ga_repo *r, const struct ga_gitconfig *c);
/* Where an object is, below a store. */
char *ga_lfs_object(const char *oid);

enum ga_lfs_have {
	GA_LFS_ABSENT,
	GA_LFS_HERE,
	GA_LFS_ODD, /* there is something else of that name: another size, no file. At a checkout
		     * of the pointer git-lfs removes that, whoever may be right */
};
enum ga_lfs_have ga_lfs_look(const char *store, const struct ga_lfs_pointer *p);

/* Store the object a pointer names, read from `fd` (a regular file at offset 0 that nobody writes
 * to). Returns 1, with nothing written, unless its bytes are of that size and sum. What is there
 * already stays. On the disk when it returns, but for directories, which are added to `dirs` to be
 * synced. */
int ga_lfs_add(const char *store, const struct ga_lfs_pointer *p, int fd, struct ga_strv *dirs,
	       struct ga_error *err);

#endif
