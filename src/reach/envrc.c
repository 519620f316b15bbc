/* SPDX-License-Identifier: MIT
 *
 * What direnv loads without asking, because the user has allowed an .envrc, and what that runs:
 * whenever the directory is entered, like a hook.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "gather.h"

int ga_gather_envrc(struct ga_gather *g, const char *dir)
{
	cleanup_free char *path = ga_path_join(dir, ".envrc"), *shown = ga_quote(path);
	const struct ga_source s = { .what = shown,
				     .rule = "direnv-dependents",
				     .hook = "",
				     .part = "",
				     .when = GA_REACH_GIT,
				     .dir = dir,
				     .name = ".envrc" };
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_close int fd = ga_openat_beneath(g->workfd, path, O_RDONLY | O_NONBLOCK, 0);
	int r = ga_gather_read(fd, &text);

	if (r < 0)
		ga_reach_add(g->reach, GA_REACH_BELOW, s.when, s.rule, dir,
			     "the .envrc there could not be read");
	if (r)
		return 0;
	return ga_gather_text(g, &s, text.ptr) || ga_gather_follow(g) ? -1 : 0;
}

/* Read the .envrc files of the directories above a path, from the top down to one that is missing.
 */
static int read_above(struct ga_gather *g, const char *path, struct ga_strmap *seen)
{
	for (size_t n = 1; path[n - 1]; n++) {
		cleanup_free char *dir = NULL;
		struct stat st;
		int32_t node;
		bool there;

		if (path[n] != '/')
			continue;
		node = ga_strmap_first(seen, path, n);
		if (node >= 0 && !seen->nodes[node].value)
			return 0;
		if (node >= 0)
			continue;
		dir = ga_strndup(path, n);
		there = ga_path_relative_ok(dir) &&
			!fstatat(g->workfd, dir, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
		ga_strmap_add(seen, path, n, there);
		if (!there)
			return 0;
		if (ga_gather_envrc(g, dir))
			return -1;
	}
	return 0;
}

int ga_reach_envrc(struct ga_repo *r, const struct ga_changes *changes, struct ga_reach *ret,
		   struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = r, .info = ga_repo_info(r), .reach = ret, .err = err, .workfd = -1
	};
	cleanup_strmap struct ga_strmap seen = GA_STRMAP_INIT;

	if (ga_gather_begin(&g))
		return -1;
	for (size_t i = 0; i < changes->n; i++)
		if (read_above(&g, changes->v[i].path, &seen))
			return -1;
	return 0;
}
