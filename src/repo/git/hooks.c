/* SPDX-License-Identifier: MIT
 *
 * Hooks: those that are files, and those that are defined in git's configuration (hook.NAME.event,
 * since git 2.54), which core.hooksPath does not switch off.
 */
#include <string.h>

#include "ga/base/path.h"
#include "ga/sys/process.h"
#include "repo/repo-internal.h"

/* Add the "hook.NAME.enabled" of a "hook.NAME.event", which a hook has once for each of its
 * events. */
static int take(const git_config_entry *e, void *payload)
{
	static const char before[] = "hook.", behind[] = ".event";
	size_t n = strlen(e->name), around = sizeof(before) + sizeof(behind) - 2;
	struct ga_strv *off = payload;
	cleanup_free char *setting = NULL;

	if (n <= around)
		return 0;
	setting = ga_strf("%.*s.enabled", (int)(n - (sizeof(behind) - 1)), e->name);
	if (!off->n || strcmp(off->v[off->n - 1], setting) != 0)
		ga_strv_take(off, ga_steal(&setting));
	return 0;
}

int ga_hooks_find(struct ga_repo *r, struct ga_error *err)
{
	git_config *c = NULL;
	int rc = git_repository_config_snapshot(&c, r->repo);

	if (!rc)
		rc = git_config_foreach_match(c, "^hook\\..*\\.event$", take, &r->hooks_off);
	git_config_free(c);
	return rc ? ga_fail_git(err, "cannot read git's configuration") : 0;
}

/* The directory of the hooks that are files. */
static char *hook_dir(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	char *set = NULL;

	if (ga_gitconfig_get(c, "core.hookspath"))
		(void)ga_user_file(r, c, "core.hookspath", "hooks", &set, &ignored);
	return set ? set : ga_path_join(ga_repo_info(r)->commondir, "hooks");
}

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

bool ga_repo_has_hook(const struct ga_repo *r, const struct ga_gitconfig *c,
		      const char *const *names)
{
	cleanup_free char *dir = hook_dir(r, c);

	for (; *names; names++) {
		cleanup_free char *file = ga_path_join(dir, *names);

		if (ga_is_program(file) || is_configured(c, *names))
			return true;
	}
	return false;
}
