/* SPDX-License-Identifier: MIT
 *
 * Ignore rules: one byte of options, a path, NUL, the rules of the root, NUL, the rules of the path's first
 * directory. What they mean tests/unit/base/test-ignore.c asks git.
 */
#include <string.h>

#include "ga/base/ignore.h"
#include "fuzz.h"
#include "ga/base/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	unsigned options = fuzz_byte(&in);
	bool is_dir = options & 2;
	cleanup_free char *path = fuzz_string(&in), *root = fuzz_string(&in), *sub = fuzz_text(&in);
	size_t dir_len = strcspn(path, "/");
	cleanup_free char *dir = dir_len && path[dir_len] ? ga_strndup(path, dir_len) : NULL;
	struct ga_ignore ig = { .icase = options & 1 };
	enum ga_ignore_verdict above, both;

	if (!ga_path_relative_ok(path))
		return 0;
	ga_ignore_push(&ig, "", root, strlen(root));
	above = both = ga_ignore_check(&ig, path, is_dir);
	if (dir) {
		size_t before = ig.n;

		ga_ignore_push(&ig, dir, sub, strlen(sub));
		both = ga_ignore_check(&ig, path, is_dir);
		/* rules undo what is above them, and say nothing once they are gone */
		CHECK(both != GA_IGNORE_UNDECIDED || above == GA_IGNORE_UNDECIDED);
		ga_ignore_pop(&ig, before);
		CHECK(ga_ignore_check(&ig, path, is_dir) == above);
	}
	ga_ignore_release(&ig);
	return 0;
}
