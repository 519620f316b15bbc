/* SPDX-License-Identifier: MIT
 *
 * What the reader of an upper layer hands to its parent: a result, or with an odd first byte an
 * error. What is accepted is written the same, byte by byte.
 */
#include <string.h>

#include "capture/upper-internal.h"
#include "fuzz.h"

static void read_result(struct ga_buf *b)
{
	cleanup_(ga_upper_result_release) struct ga_upper_result r = GA_UPPER_RESULT_INIT;
	cleanup_buf struct ga_buf back = GA_BUF_INIT;
	struct wire w = { .b = b }, out = { .b = &back, .out = true };

	wire_result(&w, &r);
	if (w.bad)
		return;
	CHECK(w.pos <= b->len);
	wire_result(&out, &r);
	/* lines of one path and kind are added up */
	CHECK(back.len == w.pos || (back.len < w.pos && r.left.n));
	if (back.len == w.pos && !r.left.n)
		CHECK(!memcmp(back.ptr, b->ptr, w.pos));
}

static void read_error(struct ga_buf *b)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_buf struct ga_buf back = GA_BUF_INIT;
	struct wire w = { .b = b }, out = { .b = &back, .out = true };

	wire_error(&w, &err);
	if (w.bad) {
		CHECK(!err.msg);
		return;
	}
	CHECK(err.msg && err.code != GA_OK && ga_error_status(err.code) > 0);
	wire_error(&out, &err);
	CHECK(back.len == w.pos && !memcmp(back.ptr, b->ptr, w.pos));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_free char *exact = n ? fuzz_exact(data + 1, n - 1) : NULL;
	struct ga_buf b = { exact, n - 1, n - 1 };

	if (!n)
		return 0;
	if (data[0] & 1)
		read_error(&b);
	else
		read_result(&b);
	return 0;
}
