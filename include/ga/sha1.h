/* SPDX-License-Identifier: MIT
 *
 * SHA-1 of plain bytes, for the checksums at the end of packs and indexes. It is
 * here because libgit2 hashes objects only, with their header in front, and none of the
 * other libraries hashes at all; one more of them for a hundred lines would be worse.
 * Nothing else is computed with it: ids come from libgit2, which detects collisions.
 */
#ifndef GA_SHA1_H
#define GA_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define GA_SHA1_RAWSZ 20

struct ga_sha1 {
	uint32_t h[5];
	uint64_t n;             /* bytes so far */
	unsigned char block[64];
};

void ga_sha1_init(struct ga_sha1 *s);
void ga_sha1_add(struct ga_sha1 *s, const void *p, size_t n);
void ga_sha1_end(struct ga_sha1 *s, unsigned char ret[GA_SHA1_RAWSZ]);

#endif
