/* SPDX-License-Identifier: MIT
 *
 * The main() of a target without libFuzzer: the files named, or those of the directories named,
 * or the target's corpus, each run once, as a TAP program. What a target finds ends it.
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/strv.h"
#include "ga/sys/fd.h"

#define INPUT_MAX ((size_t)16 << 20)

static int count, failed;

static void replay_file(const char *path)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup_free char *exact = NULL;

	count++;
	(void)fprintf(stderr, "%s\n", path);
	if (fd < 0 || ga_read_fd(fd, INPUT_MAX, &b, &err)) {
		failed++;
		(void)printf("not ok %d - %s cannot be read\n", count, ga_path_base(path));
		return;
	}
	exact = fuzz_exact(b.ptr, b.len);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)exact, b.len);
	(void)printf("ok %d - %s\n", count, ga_path_base(path));
	(void)fflush(stdout);
}

static void replay(const char *path)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d) {
		replay_file(path);
		return;
	}
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			ga_strv_push(&names, e->d_name);
	(void)closedir(d);
	ga_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *file = ga_path_join(path, names.v[i]);

		replay_file(file);
	}
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '-'), *src = getenv("TEST_SRCDIR");
	cleanup_free char *corpus = ga_strf("%s/tests/fuzz/corpus/%s", src ? src : ".", name ? name + 1 : "");

	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	if (argc < 2)
		replay(corpus);
	(void)printf("1..%d\n", count);
	return failed || !count;
}
