/* SPDX-License-Identifier: MIT */
#include "ga/base/quote.h"

#include <nettle/base64.h>
#include <string.h>

char *ga_base64(const void *p, size_t n)
{
	char *out = ga_malloc(BASE64_ENCODE_RAW_LENGTH(n) + 1);

	base64_encode_raw(out, n, p);
	out[BASE64_ENCODE_RAW_LENGTH(n)] = '\0';
	return out;
}

bool ga_base64_decode(const char *s, struct ga_buf *out)
{
	size_t len = strlen(s), n = BASE64_DECODE_LENGTH(len);
	cleanup_free uint8_t *bytes = ga_malloc(n);
	cleanup_free char *again = NULL;
	struct base64_decode_ctx ctx;

	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, bytes, len, s) || !base64_decode_final(&ctx))
		return false;
	/* other encodings of the same bytes are refused */
	again = ga_base64(bytes, n);
	if (strcmp(again, s) != 0)
		return false;
	ga_buf_add(out, bytes, n);
	return true;
}
