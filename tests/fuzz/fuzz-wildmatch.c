/* SPDX-License-Identifier: MIT
 *
 * Patterns: one byte of options, pattern, NUL, text. What they mean tests/unit/base/test-wildmatch.c asks git.
 */
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "ga/base/wildmatch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	bool icase = fuzz_byte(&in) & 1;
	cleanup_free char *pattern = fuzz_string(&in), *text = fuzz_text(&in);
	bool hit = ga_wildmatch(pattern, text, icase);

	if (!strpbrk(pattern, "*?[\\"))
		CHECK(hit == !(icase ? strcasecmp : strcmp)(pattern, text));
	return 0;
}
