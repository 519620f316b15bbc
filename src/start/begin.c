/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "ga/quote.h"
#include "start.h"

/* The same configuration serves on machines that do not have all of it. */
static int add_tools(const struct ga_start_env *e, struct ga_spec *s, struct ga_error *err)
{
	for (size_t i = 0; i < e->tools.n; i++) {
		cleanup_free char *q = NULL;
		struct stat st;

		if (stat(e->tools.v[i], &st))
			continue;
		if (S_ISDIR(st.st_mode)) {
			ga_strv_push(&s->ro, e->tools.v[i]);
			continue;
		}
		q = ga_escape(e->tools.v[i]);
		(void)ga_fail(err, GA_ESTART, "'tools' takes directories, and '%s' is none", q);
		return ga_hint(err, "name the directory it is in");
	}
	return 0;
}

int start_make_surroundings(struct ga_start_env *e, const char *project, struct ga_spec *ret,
			    struct ga_error *err)
{
	/* every stage mounts on it, each in a namespace of its own */
	if (ga_store_stage(e->state_root, &ret->stage_dir, err))
		return -1;
	ret->project = ga_strdup(project);
	ret->home = ga_strdup(e->home);
	ret->home_source = ga_strdup(e->agent_home);
	ret->network = true;
	return add_tools(e, ret, err);
}

static int prepare(struct ga_start_env *e, const char *project, struct ga_spec *ret_spec,
		   struct ga_run_paths *ret_paths, struct ga_error *err)
{
	if (!e->bwrap && ga_find_bwrap(e->path, false, &e->bwrap, err))
		return -1;
	*ret_paths = (struct ga_run_paths){ e->stage, e->init, e->bwrap };
	return start_make_surroundings(e, project, ret_spec, err);
}

int ga_start_begin(struct ga_start_env *e, const char *project, struct ga_start *ret,
		   struct ga_error *err)
{
	struct ga_run_paths paths;

	if (!prepare(e, project, &ret->spec, &paths, err) &&
	    !ga_run_begin(&ret->spec, &paths, &ret->sandbox, err))
		return 0;
	ga_spec_release(&ret->spec);
	return -1;
}

int ga_start_begin_beside(struct ga_start_env *e, const char *project, struct ga_sandbox **ret,
			  struct ga_error *err)
{
	cleanup_spec struct ga_spec spec = GA_SPEC_INIT;
	struct ga_run_paths paths;

	return prepare(e, project, &spec, &paths, err) ||
	       ga_run_begin_beside(&spec, &paths, ret, err) ? -1 : 0;
}

int ga_start_begun(struct ga_start_env *e, const char *project, struct ga_sandbox *begun,
		   struct ga_start *ret, struct ga_error *err)
{
	if (start_make_surroundings(e, project, &ret->spec, err)) {
		ga_run_finish(begun);
		ga_spec_release(&ret->spec);
		return -1;
	}
	ret->sandbox = begun;
	return 0;
}
