/* SPDX-License-Identifier: MIT
 *
 * Find the hooks and the merge options that take part in a landing.
 */
#include <string.h>

#include "ga/path.h"
#include "ga/process.h"
#include "ga/refs.h"
#include "landing.h"

/* The directory of the hooks that are files. Git expands core.hooksPath. */
static char *hook_dir(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	static const char *const args[] = { "rev-parse", "--git-path", "hooks", NULL };
	const struct ga_repo_info *info = ga_repo_info(r);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	if (!ga_gitconfig_get(c, "core.hookspath"))
		return ga_path_join(info->commondir, "hooks");
	g.args = args;
	g.work_tree = info->workdir;
	g.as_user = true;
	g.out = &out;
	if (ga_git_ok(r, &g, &ignored))
		return ga_path_join(info->commondir, "hooks");
	ga_buf_chomp(&out);
	return *out.ptr == '/' ? ga_buf_steal(&out) : ga_path_join(info->workdir, out.ptr);
}

/* hook.NAME.event, which git 2.54 and newer run */
static bool is_configured(const struct ga_gitconfig *c, const char *hook)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *key = c->v[i].key, *dot = strrchr(key, '.');

		if (!strncmp(key, "hook.", 5) && dot && !strcmp(dot, ".event") &&
		    c->v[i].value && !strcmp(c->v[i].value, hook))
			return true;
	}
	return false;
}

bool land_has_hook(const struct ga_repo *r, const struct ga_gitconfig *c, const char *const *names)
{
	cleanup_free char *dir = hook_dir(r, c);

	for (; *names; names++) {
		cleanup_free char *file = ga_path_join(dir, *names);

		if (ga_is_program(file) || is_configured(c, *names))
			return true;
	}
	return false;
}

const char *land_merge_options(const struct ga_gitconfig *c, const char *branch)
{
	const char *name = ga_ref_branch(branch);
	cleanup_free char *key = name ? ga_strf("branch.%s.mergeoptions", name) : NULL;

	return key ? ga_gitconfig_get(c, key) : NULL;
}

bool land_needs_git(const struct landing *l, const struct proposal *p)
{
	static const char *const merge[] = { "pre-merge-commit", "prepare-commit-msg",
					     "commit-msg", NULL };
	static const char *const squash[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
					      "post-commit", NULL };
	enum ga_land_how how = l->opts->how;

	if (how == GA_LAND_REBASE || how == GA_LAND_FF_ONLY || l->opts->paths)
		return false;
	return l->opts->edit || l->opts->no_commit || p->conflicts.n ||
	       land_merge_options(l->config, p->branch) ||
	       land_has_hook(l->repo, l->config, how == GA_LAND_SQUASH ? squash : merge);
}
