/* SPDX-License-Identifier: MIT
 *
 * What values of the git configuration name.
 */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "gather.h"

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcasecmp(s + n - m, end);
}

static bool begins_with(const char *s, const char *start)
{
	return !strncasecmp(s, start, strlen(start));
}

/* Values that never name a file of the project. */
static bool is_data(const char *key)
{
	return begins_with(key, "user.") || begins_with(key, "branch.") ||
	       begins_with(key, "color.") || begins_with(key, "author.") ||
	       begins_with(key, "committer.") || begins_with(key, "url.") ||
	       (begins_with(key, "remote.") && !ends_in(key, ".uploadpack") &&
		!ends_in(key, ".receivepack") && !ends_in(key, ".vcs")) ||
	       (begins_with(key, "submodule.") && !ends_in(key, ".update")) ||
	       !strcasecmp(key, "core.hookspath") || !strcasecmp(key, "agent.hookspath");
}

/* A path value made absolute: "~/x", "/x", or beneath `base`. */
static char *absolute(const struct ga_gather *g, const char *base, const char *value)
{
	if (!strncmp(value, "~/", 2) && g->home)
		return ga_path_join(g->home, value + 2);
	return value[0] == '/' ? ga_strdup(value) : ga_path_join(base, value);
}

static int scan_value(struct ga_gather *g, const struct ga_source *s, const char *value)
{
	cleanup_words struct ga_words w = { .v = NULL };

	/* an alias begins with "!" if it is a command of the shell */
	ga_words_of_shell(value + (*value == '!'), g->home, &w);
	return ga_gather_words(g, s, &w);
}

static int scan_item(struct ga_gather *g, const struct ga_gitconfig_item *item)
{
	const char *file =
		item->origin && begins_with(item->origin, "file:") ? item->origin + 5 : NULL;
	bool includes = begins_with(item->key, "include");
	bool hook = begins_with(item->key, "hook.") && ends_in(item->key, ".command");
	cleanup_free char *key = ga_quote(item->key), *path = NULL, *origin = NULL, *dir = NULL;
	struct ga_source s = { .what = key,
			       .hook = "",
			       .part = "",
			       .name = "",
			       .when = GA_REACH_GIT,
			       .rule = hook ? "hook-config-command" : "host-config-reached" };

	/* what the configuration is read from may come with the project */
	if (file) {
		struct ga_source in = s;

		in.what = "the git configuration includes it";
		in.rule = "host-config-reached";
		origin = absolute(g, g->info->workdir, file);
		ga_gather_path(g, &in, origin, false);
		dir = ga_path_parent(origin);
	}
	if (!item->has_value || !item->value || !*item->value || is_data(item->key))
		return 0;
	/* what is included is relative to the file, other paths to the top */
	path = absolute(g, dir && includes ? dir : g->info->workdir, item->value);
	if (includes || !access(path, F_OK) ||
	    (strchr(item->value, '/') && !strpbrk(item->value, " :")))
		ga_gather_path(g, &s, path, false);
	return scan_value(g, &s, item->value);
}

int ga_gather_settings(struct ga_gather *g, const struct ga_gitconfig *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (scan_item(g, &c->v[i]))
			return -1;
	return 0;
}
