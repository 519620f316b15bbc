/* SPDX-License-Identifier: MIT
 *
 * Applies all rules to many changed paths, for `make bench`. The repository is that of the current
 * directory; nothing is written to it.
 *
 *     classify COUNT
 *
 * The change adds COUNT files of a few kinds, all with the same short text. Prints the number of
 * flags, and the processor time of ga_classify() alone in milliseconds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ga/base/parse.h"
#include "ga/repo/objects.h"
#include "ga/risk/risk.h"

static double now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void add_files(struct ga_changes *c, uint64_t n, const struct ga_oid *oid)
{
	static const char *const ends[] = { "ts", "c", "h", "py", "txt", "css", "go", "rs" };
	static const struct ga_entry none;
	const struct ga_entry e = { GA_MODE_FILE, *oid };

	for (uint64_t i = 0; i < n; i++) {
		cleanup_free char *path = ga_strf("packages/part-%02" PRIu64 "/src/m%03" PRIu64
						  "/file-%" PRIu64 ".%s", i % 97, i % 331, i,
						  ends[i % GA_NELEMS(ends)]);

		(void)ga_changes_add(c, path, &none, &e);
	}
	ga_changes_sort(c);
}

static int run(uint64_t n, struct ga_error *err)
{
	static const char text[] = "one line\nand another = 1;\n";
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_oid oid, tree;
	double start;

	if (ga_repo_open(".", &r, err) || ga_repo_write_to_memory(r, err) ||
	    ga_blob_write(r, text, strlen(text), &oid, err))
		return -1;
	add_files(&c, n, &oid);
	if (ga_tree_apply(r, NULL, NULL, &c, &tree, err))
		return -1;
	start = now_ms();
	if (ga_classify(r, NULL, NULL, &tree, &c, &flags, err))
		return -1;
	(void)printf("%zu flags %.1f ms\n", flags.n, now_ms() - start);
	return 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	uint64_t n;

	if (argc != 2 || !ga_parse_u64(argv[1], 10000000, &n)) {
		(void)fputs("usage: classify COUNT\n", stderr);
		return 2;
	}
	if (run(n, &err)) {
		(void)fprintf(stderr, "classify: %s\n", err.msg);
		return 1;
	}
	return 0;
}
