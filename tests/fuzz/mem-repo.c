/* SPDX-License-Identifier: MIT
 *
 * A repository that writes no files: what a target stores lies in memory, in front of
 * an empty object directory.
 */
#include "fuzz.h"

#include <git2/sys/mempack.h>
#include <stdlib.h>

#include "repo/repo-internal.h"
#include "ga/sys/fd.h"

static struct ga_repo *repo;
static git_odb_backend *memory;

static void close_repo(void)
{
	ga_repo_free(repo);
}

static void init_repo(const char *dir)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	const char *const argv[] = { "git", "init", "-q", "repo", NULL };
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	CHECK(!setenv("HOME", dir, 1) && !setenv("GIT_CONFIG_NOSYSTEM", "1", 1));
	p.argv = argv;
	p.cwd = dir;
	CHECK(!ga_process_run(&p, &status, &err) && !status);
}

struct ga_repo *fuzz_repo(void)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *path = NULL;

	if (repo)
		return repo;
	init_repo(fuzz_dir());
	path = ga_strf("%s/repo", fuzz_dir());
	CHECK(!ga_repo_open(path, &repo, &err));
	CHECK(!atexit(close_repo));
	/* before all that is on the disk */
	CHECK(!git_mempack_new(&memory) && !git_odb_add_backend(repo->odb, memory, 1000));
	CHECK(!git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0));
	return repo;
}

void fuzz_repo_forget(void)
{
	CHECK(!git_mempack_reset(memory));
}
