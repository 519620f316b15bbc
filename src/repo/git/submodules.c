/* SPDX-License-Identifier: MIT
 *
 * The submodules of a repository, as its index has them, and the repository that it is a submodule
 * of. `.gitmodules` is not believed: anybody may have written it.
 */
#include "repo/repo-internal.h"

#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "repo/index-file.h"

#define OUTPUT_MAX ((size_t)4 << 30)

/* A split index has entries in another file: git puts them together. */
static int gitlinks_by_git(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "--stage", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *rec, *tab;
	size_t pos = 0;
	struct ga_git g = GA_GIT(.args = args, .work_tree = r->info.workdir, .out = &out,
				 .out_max = OUTPUT_MAX);

	if (ga_git_ok(r, &g, err))
		return -1;
	while ((rec = ga_buf_next0(&out, &pos))) {
		tab = strchr(rec, '\t');
		if (tab && !strncmp(rec, "160000 ", 7))
			ga_strv_push(ret, tab + 1);
	}
	return 0;
}

int ga_repo_gitlinks(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(r->info.gitdir, "index");
	cleanup_index struct ga_index ix = GA_INDEX_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct ga_index_entry e;
	int rc = ga_index_open(file, &ix, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	while (!(rc = ga_index_next(&ix, &e, err)))
		if (e.mode == GA_MODE_GITLINK && *e.path)
			ga_strv_push(&paths, e.path);
	if (rc < 0)
		return -1;
	if (ix.split)
		return gitlinks_by_git(r, ret, err);
	ga_strv_extend(ret, &paths);
	return 0;
}

/* The nearest directory above with a `.git`. Nothing else counts, since no merge can bring that;
 * git itself would also take a directory that looks like a bare repository. */
static char *find_above(const char *workdir)
{
	cleanup_free char *dir = ga_path_parent(workdir);

	while (strlen(dir) > 1) {
		cleanup_free char *git = ga_path_join(dir, ".git");
		struct stat st;

		if (!lstat(git, &st))
			return ga_steal(&dir);
		ga_path_up(dir);
	}
	return NULL;
}

int ga_repo_superproject(struct ga_repo *r, struct ga_repo **ret, struct ga_error *err)
{
	cleanup_free char *dir = find_above(r->info.workdir);
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_repo struct ga_repo *above = NULL;

	/* one that cannot be opened is none for git either, or none that we could look into */
	if (!dir || ga_repo_open_as_is(dir, &above, &odd) || strcmp(above->info.workdir, dir) != 0)
		return 1;
	if (ga_repo_gitlinks(above, &paths, err))
		return -1;
	if (!ga_strv_has(&paths, ga_path_below(r->info.workdir, dir)))
		return 1;
	*ret = ga_steal(&above);
	return 0;
}
