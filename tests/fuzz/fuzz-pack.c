/* SPDX-License-Identifier: MIT
 *
 * A pack looked through before git sees it: refused for a reason, or as long as it says.
 */
#include <string.h>
#include <unistd.h>

#include "repo/objects-internal.h"
#include "fuzz.h"
#include "ga/base/out.h"
#include "ga/repo/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct ga_import_limits limits = {
		.max_pack_bytes = 1 << 20, .max_object_bytes = 64 << 10,
		.max_total_bytes = 256 << 10, .max_objects = 100, .max_commits = 100,
	};
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *reason = NULL;
	enum ga_import_over over = GA_IMPORT_WITHIN;
	int fd = fuzz_file(data, n), rc;

	rc = ga_import_scan(fd, n, &limits, INT64_MAX, GA_PROGRESS_NEVER, &over, &reason, &err);
	CHECK(rc >= 0 && (rc > 0) == (reason != NULL) && (rc || over == GA_IMPORT_WITHIN));
	if (!rc)
		CHECK(n >= 32 && !memcmp(data, "PACK", 4) && !data[8] && !data[9] && !data[10] && data[11] <= 100);
	(void)close(fd);
	return 0;
}
