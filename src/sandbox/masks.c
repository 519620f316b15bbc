/* SPDX-License-Identifier: MIT
 *
 * Which files of the toolchains that are shown have to be masked.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "sandbox-internal.h"
#include "toolchains.h"

/* Enough for a settings file; a longer file may contain anything. */
#define LOOK_MAX ((size_t)256 << 10)

/* Does the file contain these bytes outside comments? True in doubt. */
static bool has(const char *path, const char *bytes)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *end;

	if (ga_read_file_at(AT_FDCWD, path, LOOK_MAX, &b, &ignored))
		return true;
	if (!b.len)
		return false;
	end = b.ptr + b.len;
	for (const char *p = b.ptr; p && p < end;) {
		const char *comment = memmem(p, (size_t)(end - p), "<!--", 4);

		if (memmem(p, (size_t)((comment ? comment : end) - p), bytes, strlen(bytes)))
			return true;
		p = comment ? memmem(comment, (size_t)(end - comment), "-->", 3) : NULL;
	}
	return false;
}

/* Cover the file where it really is, as nothing can be mounted on a symlink; that place may be
 * shown in several places. */
static void add_mask(const char *home, const struct ga_strv *tools, const char *rel,
		     const char *if_has, struct ga_strv *ret)
{
	cleanup_free char *path = ga_path_join(home, rel), *real = NULL;
	struct stat st;

	if (stat(path, &st))
		return;
	real = sandbox_real(path);
	if (if_has && !has(real, if_has))
		return;
	for (size_t i = 0; i < tools->n; i++) {
		cleanup_free char *tool = ga_path_join(home, tools->v[i]);
		cleanup_free char *real_tool = sandbox_real(tool);
		const char *below = ga_path_below(real, real_tool);
		cleanup_free char *dest = below && *below ? ga_path_join(tools->v[i], below)
							  : ga_strdup(tools->v[i]);

		/* beside versions there are symlinks that lead to the same */
		if (!below || ga_strv_has(ret, dest))
			continue;
		ga_strv_push(ret, S_ISDIR(st.st_mode) ? "mask-dir" : "mask-file");
		ga_strv_take(ret, ga_steal(&dest));
	}
}

static void expand_mask(const char *home, const struct ga_strv *tools, const char *pattern,
			const char *if_has, struct ga_strv *ret)
{
	const char *star = strchr(pattern, '*');
	cleanup_free char *before = NULL, *dir = NULL;
	cleanup_dir DIR *d = NULL;
	struct dirent *e;

	if (!star) {
		add_mask(home, tools, pattern, if_has, ret);
		return;
	}
	before = ga_strndup(pattern, (size_t)(star - pattern - 1));
	dir = ga_path_join(home, before);
	d = opendir(dir);
	while ((e = ga_dir_next(d))) {
		cleanup_free char *rel = ga_strf("%s/%s%s", before, e->d_name, star + 1);

		/* a name that contains '*' would be taken for a pattern */
		if (e->d_name[0] != '.' && !strchr(e->d_name, '*'))
			expand_mask(home, tools, rel, if_has, ret);
	}
}

/* Does the pattern concern a toolchain that is shown? Nothing else of the user's home is. Only the
 * first component is compared, because symlinks lead from one directory of a toolchain to
 * another. */
static bool concerns(const struct ga_strv *tools, const char *pattern)
{
	size_t n = strcspn(pattern, "/");

	for (size_t i = 0; i < tools->n; i++)
		if (!strncmp(tools->v[i], pattern, n) && strchr("/", tools->v[i][n]))
			return true;
	return false;
}

/* The same for an environment, or part of one, in another place. */
static void add_alike(const char *home, const struct ga_strv *tools, const char *tool,
		      struct ga_strv *ret)
{
	cleanup_free char *dir = ga_path_join(home, tool);
	const struct sandbox_environment *e;
	const struct sandbox_mask *masks;
	size_t n = sandbox_masks(&masks), row = 0;

	while ((e = sandbox_environment_at(dir, &row)))
		for (size_t i = 0; e->like && i < n; i++) {
			const char *rest = ga_path_below(masks[i].path, e->like);
			cleanup_free char *at = rest ? ga_path_join(tool, rest) : NULL;

			if (at)
				expand_mask(home, tools, at, masks[i].if_has, ret);
		}
}

void sandbox_tool_masks(const char *home, const struct ga_strv *tools, struct ga_strv *ret)
{
	const struct sandbox_mask *masks;
	size_t n = sandbox_masks(&masks);

	for (size_t i = 0; i < n; i++)
		if (concerns(tools, masks[i].path))
			expand_mask(home, tools, masks[i].path, masks[i].if_has, ret);
	for (size_t i = 0; i < tools->n; i++)
		if (!sandbox_toolchain_above(tools->v[i]))
			add_alike(home, tools, tools->v[i], ret);
}
