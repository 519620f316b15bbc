/* SPDX-License-Identifier: MIT */
#include "ga/base/sha.h"

#include <nettle/base16.h>
#include <nettle/version.h>

/* Since nettle 4 digest functions always write the whole digest, and take no length. */
#if NETTLE_VERSION_MAJOR >= 4
#define DIGEST(kind, ctx, size, ret) kind##_digest((ctx), (ret))
#else
#define DIGEST(kind, ctx, size, ret) kind##_digest((ctx), (size), (ret))
#endif

void ga_sha1_init(struct ga_sha *s)
{
	s->is_sha1 = true;
	sha1_init(&s->sha1);
}

void ga_sha256_init(struct ga_sha *s)
{
	s->is_sha1 = false;
	sha256_init(&s->sha256);
}

void ga_sha_add(struct ga_sha *s, const void *p, size_t n)
{
	if (s->is_sha1)
		sha1_update(&s->sha1, n, p);
	else
		sha256_update(&s->sha256, n, p);
}

void ga_sha_end(struct ga_sha *s, unsigned char *ret)
{
	if (s->is_sha1)
		DIGEST(sha1, &s->sha1, SHA1_DIGEST_SIZE, ret);
	else
		DIGEST(sha256, &s->sha256, SHA256_DIGEST_SIZE, ret);
}

void ga_sha256_end_hex(struct ga_sha *s, char ret[GA_SHA256_HEXSZ + 1])
{
	unsigned char sum[GA_SHA256_RAWSZ];

	ga_sha_end(s, sum);
	base16_encode_update(ret, sizeof(sum), sum);
	ret[GA_SHA256_HEXSZ] = '\0';
}
