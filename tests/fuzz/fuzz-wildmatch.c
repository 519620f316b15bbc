/* SPDX-License-Identifier: MIT
 *
 * Patterns against a model of what they mean: one byte of options, pattern, NUL, text.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/wildmatch.h"
#include "model-wildmatch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	bool icase = fuzz_byte(&in) & 1;
	cleanup_free char *pattern = fuzz_string(&in), *text = fuzz_text(&in);

	if (strlen(pattern) > MODEL_MAX || strlen(text) > MODEL_MAX) {
		(void)ga_wildmatch(pattern, text, icase);
		return 0;
	}
	CHECK(ga_wildmatch(pattern, text, icase) == model_wildmatch(pattern, text, icase));
	return 0;
}
