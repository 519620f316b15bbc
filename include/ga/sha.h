/* SPDX-License-Identifier: MIT
 *
 * SHA-1 and SHA-256 of plain bytes, after FIPS 180-4.
 *
 * SHA-1 is for the checksums at the end of packs and indexes: libgit2 hashes objects only,
 * with their header in front. No id is ever made with it: these come from libgit2, which
 * detects collisions. SHA-256 is what LFS names its objects by. docs/dependencies.md says
 * why neither comes from a library.
 */
#ifndef GA_SHA_H
#define GA_SHA_H

#include <stddef.h>
#include <stdint.h>

#define GA_SHA1_RAWSZ 20
#define GA_SHA256_RAWSZ 32
#define GA_SHA256_HEXSZ 64

struct ga_sha {
	void (*step)(uint32_t *h, const unsigned char *block);
	uint32_t h[8];
	size_t words;           /* of `h` that are the sum */
	uint64_t n;             /* bytes so far */
	unsigned char block[64];
};

void ga_sha1_init(struct ga_sha *s);
void ga_sha256_init(struct ga_sha *s);
void ga_sha_add(struct ga_sha *s, const void *p, size_t n);
/* The sum, GA_SHA1_RAWSZ or GA_SHA256_RAWSZ bytes. */
void ga_sha_end(struct ga_sha *s, unsigned char *ret);
/* The same in lower case digits, ended by a NUL. */
void ga_sha256_end_hex(struct ga_sha *s, char ret[GA_SHA256_HEXSZ + 1]);

#endif
