/* SPDX-License-Identifier: MIT */
#include "ga/sys/process.h"
#include "ga/view/spec.h"

void ga_view_add_environment(struct ga_env *e, const struct ga_preset *preset,
			     struct ga_spec *spec, const struct ga_session *s)
{
	cleanup_strv struct ga_strv pass = GA_STRV_INIT;

	for (size_t i = 0; preset && preset->keys[i]; i++)
		ga_strv_push(&pass, preset->keys[i]);
	for (size_t i = 0; preset && preset->pass[i]; i++)
		ga_strv_push(&pass, preset->pass[i]);
	ga_strv_extend(&pass, &e->conf.env.pass);
	ga_spec_environment(spec, e->path, e->environ, &pass);
	for (size_t i = 0; preset && preset->set[i]; i++)
		ga_environ_put(&spec->env, preset->set[i]);
	for (size_t i = 0; i < e->conf.env.set.n; i++)
		ga_environ_put(&spec->env, e->conf.env.set.v[i]);
	ga_strv_push(&spec->env, "IS_SANDBOX=1");
	ga_strv_pushf(&spec->env, "GIT_AGENT_NOTES=%s/" GA_VIEW_NOTES, spec->home);
	ga_strv_pushf(&spec->env, "GIT_AGENT_SESSION=%s", s->name);
}

int ga_view_find_tools(const struct ga_env *e, const char *command, struct ga_spec *ret,
		       struct ga_error *err)
{
	return ga_repo_object_dirs(e->repo, &ret->object_dirs, err) ||
	       ga_spec_find_tools(e->home, e->path, command, &ret->host.tools, err) ? -1 : 0;
}
