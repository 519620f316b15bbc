/* SPDX-License-Identifier: MIT
 *
 * TOML files: what is taken and can be written reads back as the same tree, and is then written as
 * the same text.
 */
#include <jansson.h>
#include <string.h>

#include "fuzz.h"
#include "ga/base/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_free char *exact = fuzz_exact(data, n);
	const struct ga_buf text = { .ptr = exact, .len = n };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, again = GA_BUF_INIT;
	json_t *j = ga_toml_parse(&text), *same;

	if (j && ga_toml_write(j, &out)) {
		same = ga_toml_parse(&out);
		CHECK(json_equal(j, same));
		CHECK(ga_toml_write(same, &again) && ga_buf_equal(&out, &again));
		json_decref(same);
	}
	json_decref(j);
	return 0;
}
