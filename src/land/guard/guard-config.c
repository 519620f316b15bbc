/* SPDX-License-Identifier: MIT
 *
 * What the configuration says of hooks, and which of it is the guard's.
 */
#include "guard-internal.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "ga/base/path.h"

bool guard_is_ours(const char *path, const char *name)
{
	cleanup_free char *end = ga_strf("/git-agent/guard/%s", name);

	return ga_ends_in(path, end);
}

char *guard_from_worktree(const struct ga_repo *r, const char *path)
{
	return *path == '/' ? ga_strdup(path)
			    : ga_strf("%s/%s", ga_repo_info(r)->workdir, path);
}

const char *guard_value(const struct ga_gitconfig *c, const char *key)
{
	for (size_t i = c->n; i-- > 0;)
		if (!strcasecmp(c->v[i].key, key) && !strcmp(c->v[i].scope, "local") &&
		    c->v[i].value)
			return c->v[i].value;
	return NULL;
}

const char *guard_hooks_path(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	cleanup_free char *file = ga_path_join(ga_repo_info(r)->commondir, "config");
	struct stat it, st;

	if (stat(file, &it))
		return NULL;
	for (size_t i = c->n; i-- > 0;) {
		const char *from = c->v[i].origin;
		cleanup_free char *at = NULL;

		if (strcasecmp(c->v[i].key, "core.hookspath") != 0 || !c->v[i].value ||
		    strncmp(from, "file:", 5) != 0)
			continue;
		at = guard_from_worktree(r, from + 5);
		if (!stat(at, &st) && st.st_dev == it.st_dev && st.st_ino == it.st_ino)
			return c->v[i].value;
	}
	return NULL;
}

const char *guard_users_path(const struct ga_gitconfig *c)
{
	for (size_t i = c->n; i-- > 0;)
		if (!strcasecmp(c->v[i].key, "core.hookspath") && c->v[i].value &&
		    !guard_is_ours(c->v[i].value, "hooks"))
			return c->v[i].value;
	return NULL;
}
