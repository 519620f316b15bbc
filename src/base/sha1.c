/* SPDX-License-Identifier: MIT */
#include "ga/sha1.h"

#include <string.h>

static uint32_t rol(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

/* One block, after FIPS 180-4, 6.1.3: sixteen words of schedule suffice. */
static void block(uint32_t h[5], const unsigned char *p)
{
	uint32_t w[16], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (unsigned t = 0; t < 16; t++, p += 4)
		w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (unsigned t = 0; t < 80; t++) {
		uint32_t f, k, next;

		if (t >= 16)
			w[t & 15] = rol(w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^
						w[t & 15], 1);
		if (t < 20) {
			f = (b & c) | (~b & d);
			k = 0x5a827999;
		} else if (t < 40) {
			f = b ^ c ^ d;
			k = 0x6ed9eba1;
		} else if (t < 60) {
			f = (b & c) | (b & d) | (c & d);
			k = 0x8f1bbcdc;
		} else {
			f = b ^ c ^ d;
			k = 0xca62c1d6;
		}
		next = rol(a, 5) + f + e + k + w[t & 15];
		e = d;
		d = c;
		c = rol(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

void ga_sha1_init(struct ga_sha1 *s)
{
	*s = (struct ga_sha1){
		.h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
	};
}

void ga_sha1_add(struct ga_sha1 *s, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t have = s->n % sizeof(s->block);

	s->n += n;
	if (have) {
		size_t take = sizeof(s->block) - have < n ? sizeof(s->block) - have : n;

		memcpy(s->block + have, p, take);
		p += take;
		n -= take;
		if (have + take < sizeof(s->block))
			return;
		block(s->h, s->block);
	}
	for (; n >= sizeof(s->block); p += sizeof(s->block), n -= sizeof(s->block))
		block(s->h, p);
	if (n)
		memcpy(s->block, p, n);
}

void ga_sha1_end(struct ga_sha1 *s, unsigned char ret[GA_SHA1_RAWSZ])
{
	static const unsigned char pad[64] = { 0x80 };
	size_t have = s->n % 64;
	uint64_t bits = s->n * 8;
	unsigned char len[8];

	for (unsigned i = 0; i < 8; i++)
		len[i] = (unsigned char)(bits >> (56 - 8 * i));
	ga_sha1_add(s, pad, have < 56 ? 56 - have : 120 - have);
	ga_sha1_add(s, len, sizeof(len));
	for (unsigned i = 0; i < GA_SHA1_RAWSZ; i++)
		ret[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}
