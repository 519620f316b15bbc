/* SPDX-License-Identifier: MIT
 *
 * SHA-1 and SHA-256 of plain bytes, by nettle (docs/dependencies.md says why).
 *
 * SHA-1 is for the checksums that end packs and index files; libgit2 hashes only objects, with
 * their header in front. Ids of objects are never computed with it: they come from libgit2, which
 * detects collisions. SHA-256 names LFS objects and pins trusted files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <nettle/sha1.h>
#include <nettle/sha2.h>

#define GA_SHA1_RAWSZ SHA1_DIGEST_SIZE
#define GA_SHA256_RAWSZ SHA256_DIGEST_SIZE
#define GA_SHA256_HEXSZ (2 * SHA256_DIGEST_SIZE)

/* A value: holds no memory of its own, may be copied. */
struct ga_sha {
	bool is_sha1;
	union {
		struct sha1_ctx sha1;
		struct sha256_ctx sha256;
	};
};

void ga_sha1_init(struct ga_sha *s);
void ga_sha256_init(struct ga_sha *s);
void ga_sha_add(struct ga_sha *s, const void *p, size_t n);
/* Write the digest, GA_SHA1_RAWSZ or GA_SHA256_RAWSZ bytes, to `ret`. `s` must be initialised
 * again before it is used again. */
void ga_sha_end(struct ga_sha *s, unsigned char *ret);
/* The same for SHA-256, as lower-case hex digits and a NUL. */
void ga_sha256_end_hex(struct ga_sha *s, char ret[GA_SHA256_HEXSZ + 1]);
