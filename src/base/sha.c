/* SPDX-License-Identifier: MIT */
#include "ga/sha.h"

#include <string.h>

static uint32_t rol(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void load(uint32_t w[16], const unsigned char *p)
{
	for (unsigned t = 0; t < 16; t++, p += 4)
		w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- SHA-1 -------------------------------------------------------------- */

/* One block, after 6.1.3: sixteen words of schedule suffice. */
static void sha1_step(uint32_t *h, const unsigned char *p)
{
	uint32_t w[16], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	load(w, p);
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

void ga_sha1_init(struct ga_sha *s)
{
	*s = (struct ga_sha){
		.step = sha1_step,
		.h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
		.words = GA_SHA1_RAWSZ / 4,
	};
}

/* ---- SHA-256 ------------------------------------------------------------ */

static const uint32_t k256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t ror(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* Word t + 16 of the schedule takes the place of word t. */
static uint32_t next_word(const uint32_t w[16], unsigned t)
{
	uint32_t x = w[(t + 1) & 15], y = w[(t + 14) & 15];

	return w[t & 15] + (ror(x, 7) ^ ror(x, 18) ^ x >> 3) + w[(t + 9) & 15] +
	       (ror(y, 17) ^ ror(y, 19) ^ y >> 10);
}

/* One block, after 6.2.2. The eight variables are a ring, so that none is moved: in
 * round t, `a` is v[-t], `b` the next, and so on. */
static void sha256_step(uint32_t *h, const unsigned char *p)
{
#define V(i) v[(i - t) & 7]
	uint32_t w[16], v[8];

	load(w, p);
	memcpy(v, h, sizeof(v));
	for (unsigned t = 0; t < 64; t++) {
		uint32_t a = V(0), e = V(4), t1;

		t1 = V(7) + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & V(5)) ^ (~e & V(6))) +
		     k256[t] + w[t & 15];
		V(3) += t1;
		V(7) = t1 + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
		       ((a & V(1)) ^ (a & V(2)) ^ (V(1) & V(2)));
		w[t & 15] = next_word(w, t);
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] += v[i];
#undef V
}

void ga_sha256_init(struct ga_sha *s)
{
	*s = (struct ga_sha){
		.step = sha256_step,
		.h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
		       0x1f83d9ab, 0x5be0cd19 },
		.words = GA_SHA256_RAWSZ / 4,
	};
}

/* ---- both --------------------------------------------------------------- */

void ga_sha_add(struct ga_sha *s, const void *data, size_t n)
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
		s->step(s->h, s->block);
	}
	for (; n >= sizeof(s->block); p += sizeof(s->block), n -= sizeof(s->block))
		s->step(s->h, p);
	if (n)
		memcpy(s->block, p, n);
}

void ga_sha_end(struct ga_sha *s, unsigned char *ret)
{
	static const unsigned char pad[64] = { 0x80 };
	size_t have = s->n % 64;
	uint64_t bits = s->n * 8;
	unsigned char len[8];

	for (unsigned i = 0; i < 8; i++)
		len[i] = (unsigned char)(bits >> (56 - 8 * i));
	ga_sha_add(s, pad, have < 56 ? 56 - have : 120 - have);
	ga_sha_add(s, len, sizeof(len));
	for (unsigned i = 0; i < 4 * s->words; i++)
		ret[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void ga_sha256_end_hex(struct ga_sha *s, char ret[GA_SHA256_HEXSZ + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char sum[GA_SHA256_RAWSZ];

	ga_sha_end(s, sum);
	for (size_t i = 0; i < sizeof(sum); i++) {
		ret[2 * i] = digits[sum[i] >> 4];
		ret[2 * i + 1] = digits[sum[i] & 15];
	}
	ret[GA_SHA256_HEXSZ] = '\0';
}
