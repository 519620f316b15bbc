/* SPDX-License-Identifier: MIT
 *
 * An index file, entry by entry.
 */
#include <string.h>
#include <unistd.h>

#include "repo/index-file.h"
#include "fuzz.h"

/* A path ends within the file, or is the buffer in which version 4 puts paths together. */
static bool is_within(const struct ga_index *ix, const char *path)
{
	const char *map = (const char *)ix->map;

	if (ix->version == 4)
		return path == ix->path.ptr && strlen(path) == ix->path.len;
	return path > map && path + strlen(path) < map + ix->len;
}

/* A mapping ends at a page; a copy ends where the file does. */
static void read_all(struct ga_index *ix)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *copy = fuzz_exact(ix->map, ix->len);
	const unsigned char *map = ix->map;
	struct ga_index_entry e;
	size_t last = 0;
	uint32_t n = 0;
	int rc;

	ix->map = (const unsigned char *)copy;
	while (!(rc = ga_index_next(ix, &e, &err))) {
		CHECK(e.offset >= 12 && e.offset > last && e.offset + 62 <= ix->len);
		CHECK(e.stage < 4 && is_within(ix, e.path));
		last = e.offset;
		n++;
	}
	CHECK(rc > 0 ? n == ix->n : err.msg != NULL);
	ix->map = map;
}

static void read_tree(struct ga_index *ix)
{
	cleanup_free char *copy = fuzz_exact(ix->map, ix->len);
	const unsigned char *map = ix->map;
	struct ga_oid tree;

	ix->map = (const unsigned char *)copy;
	CHECK(!ga_index_tree(ix, &tree) || (ix->i == ix->n && !ix->split));
	ix->map = map;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_index struct ga_index ix = GA_INDEX_INIT, again = GA_INDEX_INIT;
	int fd = fuzz_file(data, n);
	cleanup_free char *path = ga_strf("/proc/self/fd/%d", fd);

	if (!ga_index_open(path, &ix, &err))
		read_all(&ix);
	else
		CHECK(err.msg);
	if (ix.map && !ga_index_open(path, &again, &err))
		read_tree(&again);
	(void)close(fd);
	return 0;
}
