/* SPDX-License-Identifier: MIT */
#include "start-internal.h"

#define ID_BYTES 16

/* Make the spec with the mounts of the settings and the user's paths. */
static int make_all(struct ga_env *e, const char *project, struct ga_spec *ret,
		    struct ga_error *err)
{
	if (ga_view_make_surroundings(e, project, ret, err) ||
	    ga_view_add_mounts(e, project, ret, err))
		return -1;
	ga_spec_find_links(ret, ga_environ_get(e->environ, "HOME"),
			   ga_environ_get(e->environ, "PWD"));
	return 0;
}

static int prepare(struct ga_env *e, const char *project, struct ga_spec *ret_spec,
		   struct ga_run_paths *ret_paths, struct ga_error *err)
{
	if (!e->bwrap && ga_find_bwrap(e->path, false, &e->bwrap, err))
		return -1;
	*ret_paths = (struct ga_run_paths){ e->stage, e->init, e->bwrap };
	return make_all(e, project, ret_spec, err);
}

int ga_start_begin(struct ga_env *e, const char *project, struct ga_start *ret,
		   struct ga_error *err)
{
	struct ga_run_paths paths;

	if (!prepare(e, project, &ret->spec, &paths, err) &&
	    !ga_run_begin(&ret->spec, &paths, &ret->sandbox, err))
		return 0;
	ga_spec_release(&ret->spec);
	return -1;
}

int ga_start_begin_beside(struct ga_env *e, const char *project, struct ga_sandbox **ret,
			  struct ga_error *err)
{
	cleanup_spec struct ga_spec spec = GA_SPEC_INIT;
	struct ga_run_paths paths;

	return prepare(e, project, &spec, &paths, err) ||
			       ga_run_begin_async(&spec, &paths, ret, err)
		       ? -1
		       : 0;
}

int ga_start_begun(struct ga_env *e, const char *project, struct ga_sandbox *begun,
		   bool own_network, struct ga_start *ret, struct ga_error *err)
{
	if (make_all(e, project, &ret->spec, err)) {
		ga_run_finish(begun);
		ga_spec_release(&ret->spec);
		return -1;
	}
	ret->sandbox = begun;
	ret->spec.network = !own_network;
	return 0;
}

/* The repository is not open yet: without an id in the usual place, assume no note. */
bool ga_start_guess_network(const struct ga_env *e, const char *project)
{
	cleanup_free char *file = ga_path_join(project, ".git/git-agent/id"), *note = NULL;
	cleanup_close int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char id[ID_BYTES + 1] = "";

	if (e->net.mode != GA_NETWORK_HOST)
		return true;
	if (fd < 0 || read(fd, id, ID_BYTES) != ID_BYTES || strchr(id, '/'))
		return false;
	note = ga_strf("%s/%s/" START_NETWORK_NOTE, e->state_root, id);
	return !access(note, F_OK);
}
