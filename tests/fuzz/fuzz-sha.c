/* SPDX-License-Identifier: MIT
 *
 * Sums in pieces: SHA-1 against libgit2's, SHA-256 against its definition. The first byte says
 * how large the pieces are.
 */
#include "../../src/repo/repo-internal.h"
#include "fuzz.h"
#include "ga/sha.h"

/* ---- SHA-256 as FIPS 180-4 defines it, constants included --------------------- */

/* The first 32 bits of the fractional part of the square or cube root of `n`. */
static uint32_t root_bits(unsigned n, unsigned degree)
{
	unsigned __int128 want = (unsigned __int128)n << (32 * degree);
	uint64_t low = 0, high = (uint64_t)1 << 38;

	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;
		unsigned __int128 power = (unsigned __int128)mid * mid;

		if (degree == 3)
			power *= mid;
		if (power <= want)
			low = mid;
		else
			high = mid;
	}
	return (uint32_t)low;
}

static bool is_prime(unsigned n)
{
	for (unsigned d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return true;
}

static uint32_t turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void model_block(uint32_t h[8], const uint32_t k[64], const uint8_t *p)
{
	uint32_t w[64], v[8];

	memcpy(v, h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t t1, t2;

		if (i < 16)
			w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
		else
			w[i] = w[i - 16] + w[i - 7] +
			       (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
		t1 = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		t2 = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

/* All of the message in one piece, padded. */
static void model_sha256(const void *data, size_t n, unsigned char ret[GA_SHA256_RAWSZ])
{
	size_t whole = (n + 9 + 63) / 64 * 64;
	cleanup_free uint8_t *m = ga_calloc(1, whole);
	uint32_t k[64], h[8];
	unsigned prime = 2;

	for (int i = 0; i < 64; prime++) {
		if (!is_prime(prime))
			continue;
		if (i < 8)
			h[i] = root_bits(prime, 2);
		k[i++] = root_bits(prime, 3);
	}
	if (n)
		memcpy(m, data, n);
	m[n] = 0x80;
	for (size_t i = 0; i < 8; i++)
		m[whole - 1 - i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
	for (size_t at = 0; at < whole; at += 64)
		model_block(h, k, m + at);
	for (int i = 0; i < GA_SHA256_RAWSZ; i++)
		ret[i] = (unsigned char)(h[i / 4] >> (24 - i % 4 * 8));
}

/* ---- ours, in pieces ------------------------------------------------------------- */

static void add_pieces(struct ga_sha *s, const struct fuzz_in *in, size_t piece)
{
	for (size_t at = 0; at < in->n; at += piece)
		ga_sha_add(s, in->p + at, in->n - at < piece ? in->n - at : piece);
}

static void check_sha1(const struct fuzz_in *in, size_t piece)
{
	cleanup_free char *head = ga_strf("blob %zu", in->n);
	unsigned char got[GA_SHA1_RAWSZ];
	struct ga_sha s;
	git_oid want;

	ga_sha1_init(&s);
	ga_sha_add(&s, head, strlen(head) + 1);
	add_pieces(&s, in, piece);
	ga_sha_end(&s, got);
	CHECK(!git_odb_hash(&want, in->n ? in->p : (const uint8_t *)"", in->n, GIT_OBJECT_BLOB));
	CHECK(!memcmp(got, want.id, sizeof(got)));
}

static void check_sha256(const struct fuzz_in *in, size_t piece)
{
	unsigned char got[GA_SHA256_RAWSZ], want[GA_SHA256_RAWSZ];
	struct ga_sha s;

	ga_sha256_init(&s);
	add_pieces(&s, in, piece);
	ga_sha_end(&s, got);
	model_sha256(in->p, in->n, want);
	CHECK(!memcmp(got, want, sizeof(got)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	size_t piece = fuzz_byte(&in) + 1;

	CHECK(git_libgit2_init() > 0);
	check_sha1(&in, piece);
	check_sha256(&in, piece);
	return 0;
}
