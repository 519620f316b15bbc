/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/sha.h"
#include "sandbox-internal.h"

void ga_shared_release(struct ga_shared *sh)
{
	free(sh->rel);
	free(sh->lower);
	free(sh->upper);
	free(sh->work);
	free(sh->removed);
	free(sh->mask);
	*sh = (struct ga_shared){ 0 };
}

void ga_spec_release(struct ga_spec *s)
{
	free(s->stage_dir);
	free(s->project);
	free(s->home);
	free(s->home_dir.source);
	free(s->home_dir.upper);
	free(s->home_dir.work);
	free(s->feedback);
	ga_strv_release(&s->kept);
	ga_strv_release(&s->lowers);
	free(s->upper);
	free(s->work);
	free(s->git.upper);
	free(s->git.work);
	free(s->git.lower);
	for (size_t i = 0; i < s->n_shared; i++)
		ga_shared_release(&s->shared[i]);
	free(s->shared);
	for (size_t i = 0; i < s->n_parts; i++)
		ga_spec_release(&s->parts[i]);
	free(s->parts);
	for (size_t i = 0; i < s->n_shown; i++) {
		free(s->shown[i].source);
		ga_buf_release(&s->shown[i].text);
		free(s->shown[i].at);
	}
	free(s->shown);
	sandbox_links_release(s);
	ga_strv_release(&s->object_dirs);
	ga_strv_release(&s->hidden_objects);
	ga_strv_release(&s->host.tools);
	ga_strv_release(&s->host.ro);
	ga_strv_release(&s->host.rw);
	ga_strv_release(&s->host.devices);
	ga_strv_release(&s->host.dropped);
	ga_strv_release(&s->env);
	*s = (struct ga_spec)GA_SPEC_INIT;
}

char *ga_spec_object_path(const char *host_dir)
{
	char hex[GA_SHA256_HEXSZ + 1];
	struct ga_sha h;

	ga_sha256_init(&h);
	ga_sha_add(&h, host_dir, strlen(host_dir));
	ga_sha256_end_hex(&h, hex);
	return ga_strf(GA_ODB_INSIDE "/%s/objects", hex);
}

static int refuse(struct ga_error *err, const char *what, const char *path, const char *why)
{
	cleanup_free char *q = ga_escape(path);

	return ga_fail(err, GA_ESTART, "%s '%s' %s", what, q, why);
}

static bool normal(const char *path)
{
	return path && path[0] == '/' && (!path[1] || ga_path_relative_ok(path + 1));
}

/* The session's own directories: an agent must not see or write what the host reads back, except
 * through the overlays. */
static int check_private(const struct ga_spec *s, struct ga_error *err)
{
	cleanup_free char *stage = sandbox_real(s->stage_dir);
	cleanup_free char *home = sandbox_real(s->home_dir.source);
	cleanup_free char *upper = s->upper ? sandbox_real(s->upper) : NULL;
	cleanup_free char *project = sandbox_real(s->project);
	cleanup_free char *real_home = sandbox_real(s->home);
	const char *const dirs[] = { stage, upper };

	for (size_t i = 0; i < GA_NELEMS(dirs) && dirs[i]; i++) {
		const char *shown = sandbox_shown_by(s, dirs[i]);

		if (shown) {
			(void)refuse(err, "the session directory", dirs[i],
				     "would be visible inside the sandbox");
			return ga_hint(err, "set XDG_STATE_HOME or state_dir to a directory "
					    "outside '%s'", shown);
		}
		if (ga_path_inside(dirs[i], project))
			return refuse(err, "the session directory", dirs[i],
				      "lies inside the project");
		if (ga_path_inside(dirs[i], home))
			return refuse(err, "the session directory", dirs[i],
				      "lies inside the agents' home");
	}
	if (ga_path_inside(real_home, project))
		return refuse(err, "the project", s->project, "is your home directory or holds it");
	for (size_t i = 0; i < s->host.ro.n; i++) {
		cleanup_free char *ro = sandbox_real(s->host.ro.v[i]);

		if (ga_path_inside(real_home, ro))
			return refuse(err, "the read-only directory", s->host.ro.v[i],
				      "would show your home directory");
	}
	if (ga_path_inside(real_home, home))
		return refuse(err, "the agents' home", s->home_dir.source,
			      "is your own home or holds it");
	if (ga_path_inside(project, home))
		return refuse(err, "the project", s->project, "lies inside the agents' home");
	if (ga_path_inside(home, project))
		return refuse(err, "the agents' home", s->home_dir.source,
			      "lies inside the project");
	return 0;
}

int ga_spec_check(const struct ga_spec *s, struct ga_error *err)
{
	if (!normal(s->home) || !normal(s->project) || !normal(s->home_dir.source) ||
	    !normal(s->stage_dir))
		return ga_fail(err, GA_ESTART, "home, project and session directory must be "
					       "absolute paths without '.' and '..'");
	if (sandbox_is_system(s->home))
		return refuse(err, "the home directory", s->home, "is part of the system");
	if (sandbox_is_system(s->project)) {
		(void)refuse(err, "the project", s->project, "is part of the system");
		return ga_hint(err, "move the repository, to below your home for example");
	}
	if (ga_path_inside(s->home, s->project))
		return refuse(err, "the project", s->project, "is your home directory or holds it");
	for (size_t i = 0; i < s->host.ro.n; i++) {
		const char *rel = ga_path_below(s->host.ro.v[i], s->home);

		if (rel && *rel && sandbox_is_secret(rel)) {
			(void)refuse(err, "the read-only directory", s->host.ro.v[i],
				     "may hold credentials");
			return ga_hint(err, "name the directories in it that programs are in");
		}
		if (!normal(s->host.ro.v[i]) || !strcmp(s->host.ro.v[i], "/") ||
		    ga_path_inside(s->home, s->host.ro.v[i]))
			return refuse(err, "the read-only directory", s->host.ro.v[i],
				      "would show your home directory");
		if (ga_path_inside(s->host.ro.v[i], s->project))
			return refuse(err, "the read-only directory", s->host.ro.v[i],
				      "lies inside the project");
	}
	return check_private(s, err);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* Is a mount there that shows the host's? */
static bool is_mounted(const struct ga_spec *s, const char *path)
{
	const char *rel = ga_path_below(path, s->home);

	if (ga_path_inside(path, s->project) || ga_strv_above(&s->host.ro, path) ||
	    ga_strv_above(&s->host.rw, path))
		return true;
	return rel ? ga_strv_above(&s->host.tools, rel) != NULL
		   : !ga_path_within(path, sandbox_fresh_dirs) && sandbox_in_system(path);
}

bool sandbox_shows(const struct ga_spec *s, const char *path)
{
	return path[0] == '/' && is_mounted(s, path) && exists(path);
}

static bool visible(const struct ga_spec *s, const char *path)
{
	const char *rel = path[0] == '/' ? ga_path_below(path, s->home) : NULL;
	cleanup_free char *agents = rel ? ga_path_join(s->home_dir.source, rel) : NULL;

	if (!rel || is_mounted(s, path))
		return sandbox_shows(s, path);
	return !*rel || exists(agents);
}

bool ga_spec_visible(const struct ga_spec *s, const char *path)
{
	cleanup_free char *place = ga_spec_place(s, path);

	return path[0] == '/' && (visible(s, path) || (strcmp(place, path) && visible(s, place)));
}
