/* SPDX-License-Identifier: MIT
 *
 * Conversations of agents (ga/config/preset.h): directories of the session, shown in the agents'
 * home in place of what is there. Every session has those of all agents, whichever it was started
 * with, as any of them can be run inside.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/config/preset.h"
#include "ga/home/home.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

static bool overlaps(const char *a, const char *b)
{
	return ga_path_inside(a, b) || ga_path_inside(b, a);
}

/* Where the user shows something, that is what is there. */
static bool is_free(const struct ga_spec *s, const char *rel)
{
	const struct ga_strv *const shown[] = { &s->host.ro, &s->host.rw };
	cleanup_free char *path = ga_path_join(s->home, rel);

	for (size_t k = 0; k < GA_NELEMS(shown); k++)
		for (size_t i = 0; i < shown[k]->n; i++)
			if (overlaps(shown[k]->v[i], path))
				return false;
	for (size_t i = 0; i < s->host.tools.n; i++)
		if (overlaps(s->host.tools.v[i], rel))
			return false;
	return !overlaps(s->project, path);
}

/* Side by side, as agents write in each of them. */
static int add_store(const char *dir, const char *rel, struct ga_spec *s, struct ga_error *err)
{
	cleanup_free char *name = ga_strdup(rel), *store = NULL;

	for (char *p = name; (p = strchr(p, '/')); p++)
		*p = ':';
	store = ga_path_join(dir, name);
	if (mkdir(store, 0700) && errno != EEXIST)
		return ga_fail_path(err, errno, "make", store);
	ga_strv_push(&s->kept, rel);
	ga_strv_take(&s->kept, ga_steal(&store));
	return 0;
}

static bool has_store(const struct ga_spec *s, const char *path)
{
	for (size_t i = 0; i < s->kept.n; i += 2)
		if (ga_path_inside(path, s->kept.v[i]))
			return true;
	return false;
}

static bool is_set(const struct ga_strv *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (!strncmp(env->v[i], name, n) && env->v[i][n] == '=')
			return true;
	return false;
}

/* Have the agent keep its conversations there, unless the user sets that variable. */
static void set_places(const struct ga_env *e, const struct ga_preset *p, struct ga_spec *s)
{
	for (size_t i = 0; p->conversation_env && p->conversation_env[i]; i++) {
		const char *equals = strchr(p->conversation_env[i], '=');
		cleanup_free char *name = NULL, *path = NULL;

		if (!equals || !has_store(s, equals + 1))
			continue;
		name = ga_strndup(p->conversation_env[i],
				  (size_t)(equals - p->conversation_env[i]));
		path = ga_path_join(s->home, equals + 1);
		if (!is_set(&e->conf.env.set, name))
			ga_environ_set(&s->env, name, path);
	}
}

int ga_home_keep_conversations(const struct ga_env *e, const struct ga_session *session,
			       struct ga_spec *s, struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(session, "conversations");
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	const struct ga_preset *p;

	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		for (size_t j = 0; p->conversations && p->conversations[j]; j++)
			ga_strv_push(&all, p->conversations[j]);
	/* what lies in another comes behind it, and is a part of it */
	ga_strv_sort_unique(&all);
	if (all.n && ga_mkdir_p(dir, 0700, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (!has_store(s, all.v[i]) && is_free(s, all.v[i]) &&
		    add_store(dir, all.v[i], s, err))
			return -1;
	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)) != NULL; i++)
		set_places(e, p, s);
	return 0;
}
