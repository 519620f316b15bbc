/* SPDX-License-Identifier: MIT
 *
 * A stored report: what is accepted is written and read back the same.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/base/path.h"
#include "ga/review/review.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT, back = GA_REPORT_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT, err2 = GA_ERROR_INIT;
	cleanup_free char *first = NULL, *second = NULL, *exact = fuzz_exact(data, n);

	if (ga_report_decode(exact, n, &r, &err)) {
		CHECK(err.msg && !r.session);
		return 0;
	}
	for (size_t i = 0; i < r.left_out.n; i++)
		CHECK(ga_path_relative_ok(r.left_out.v[i]));
	for (size_t i = 0; i < r.flags.n; i++)
		(void)ga_report_flag_blocks(&r.flags.v[i]);
	first = ga_report_encode(&r);
	CHECK(!ga_report_decode(first, strlen(first), &back, &err2));
	second = ga_report_encode(&back);
	CHECK(!strcmp(first, second));
	return 0;
}
