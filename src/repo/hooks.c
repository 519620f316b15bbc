/* SPDX-License-Identifier: MIT
 *
 * Hooks that are defined in git's configuration (hook.NAME.event, since git 2.54), which
 * core.hooksPath does not switch off.
 */
#include <string.h>

#include "repo-internal.h"

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
