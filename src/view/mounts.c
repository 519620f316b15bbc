/* SPDX-License-Identifier: MIT
 *
 * Show the host directories of the settings `tools`, `mounts.ro` and `mounts.rw`.
 */
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/config/devices.h"
#include "ga/view/view.h"

int ga_view_make_surroundings(struct ga_env *e, const char *project, struct ga_spec *ret,
			      struct ga_error *err)
{
	/* all stages mount on this directory, each in its own mount namespace */
	if (ga_store_stage(e->state_root, &ret->stage_dir, err))
		return -1;
	ret->project = ga_strdup(project);
	ret->home = ga_strdup(e->home);
	ret->home_dir.source = ga_strdup(e->agent_home);
	ret->network = e->net.mode == GA_NETWORK_HOST;
	ret->nested = e->conf.inside.nested;
	return 0;
}

/* Skip missing directories: one configuration may be used on several machines. */
int ga_view_add_tools(const struct ga_env *e, struct ga_spec *s, struct ga_error *err)
{
	for (size_t i = 0; i < e->conf.inside.tools.n; i++) {
		struct stat st;

		if (stat(e->conf.inside.tools.v[i], &st))
			continue;
		if (S_ISDIR(st.st_mode)) {
			ga_strv_push(&s->host.ro, e->conf.inside.tools.v[i]);
			continue;
		}
		return ga_fail(err, GA_ESTART, "'tools' takes directories, and '%s' is none" GA_HINT
			       "name the directory it is in",
			       e->conf.inside.tools.v[i]);
	}
	return 0;
}

/* Fail for a path in a directory that is shown writable: an agent could replace it by a link before
 * the next session mounts it. */
static int check_apart(const struct ga_env *e, const char *path, struct ga_error *err)
{
	for (size_t i = 0; i < e->conf.inside.rw.n; i++) {
		const char *rw = e->conf.inside.rw.v[i];
		cleanup_free char *qrw = NULL;

		if (!strcmp(rw, path) || !ga_path_inside(path, rw))
			continue;
		qrw = ga_escape(rw);
		return ga_fail(err, GA_ESTART, "'%s' lies in '%s', which is shown for writing"
			       GA_HINT "take it out of 'mounts', or show less of '%s' for writing",
			       path, qrw, qrw);
	}
	return 0;
}

static int add_mounts(const struct ga_env *e, const char *project, const struct ga_strv *paths,
		      bool writable, struct ga_strv *ret, struct ga_error *err)
{
	const struct ga_mount_place place = { e->home, project, e->path, e->state_root,
					      e->agent_home, NULL };

	for (size_t i = 0; i < paths->n; i++) {
		int rc = check_apart(e, paths->v[i], err) ? -1
			 : ga_mount_check(&place, paths->v[i], writable, err);

		if (rc < 0)
			return ga_error_wrap(err, "mounts.%s", writable ? "rw" : "ro");
		/* a path in both lists is writable */
		if (!rc && (writable || !ga_strv_has(&e->conf.inside.rw, paths->v[i])))
			ga_strv_push(ret, paths->v[i]);
	}
	return 0;
}

int ga_view_add_mounts(const struct ga_env *e, const char *project, struct ga_spec *ret,
		       struct ga_error *err)
{
	const struct ga_mount_place place = { e->home, project, e->path, e->state_root,
					      e->agent_home, &e->conf.inside.rw };

	if (ga_view_add_tools(e, ret, err) ||
	    add_mounts(e, project, &e->conf.inside.ro, false, &ret->host.ro, err) ||
	    add_mounts(e, project, &e->conf.inside.rw, true, &ret->host.rw, err))
		return -1;
	for (size_t i = 0; i < e->conf.inside.devices.n; i++)
		ga_devices_find(e->conf.inside.devices.v[i], &ret->host.devices);
	ga_path_show(&place, e->environ, &ret->host.ro, &ret->host.dropped);
	return 0;
}

static bool same(const struct ga_strv *a, const struct ga_strv *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]))
			return false;
	return true;
}

int ga_view_has_mounts(const struct ga_env *e, const struct ga_spec *s, bool *ret,
		       struct ga_error *err)
{
	cleanup_spec struct ga_spec want = GA_SPEC_INIT;

	if (ga_view_add_mounts(e, s->project, &want, err))
		return -1;
	*ret = same(&want.host.ro, &s->host.ro) && same(&want.host.rw, &s->host.rw) &&
	       same(&want.host.devices, &s->host.devices);
	return 0;
}

void ga_view_describe_paths(const char *what, const struct ga_strv *paths, struct ga_strv *banner)
{
	cleanup_free char *named = ga_quote_list(paths, 6);

	if (paths->n)
		ga_strv_pushf(banner, "%s: %s", what, named);
}

static void describe(const struct ga_strv *paths, const struct ga_strv *shown, const char *what,
		     const struct ga_spec *s, struct ga_strv *banner)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	for (size_t i = 0; i < paths->n; i++) {
		cleanup_free char *q = ga_quote(paths->v[i]);

		if (ga_strv_has(shown, paths->v[i]))
			ga_buf_addf(&line, "%s%s", line.len ? ", " : "", q);
		else if (!ga_strv_has(&s->host.rw, paths->v[i]))
			ga_strv_pushf(banner, "left out: %s: it is not there", q);
	}
	if (line.len)
		ga_strv_pushf(banner, "%s: %s", what, line.ptr);
}

/* Name directories of PATH that are missing inside, and the setting that shows them. */
static void describe_path(const struct ga_spec *s, struct ga_strv *banner)
{
	cleanup_strv struct ga_strv missing = GA_STRV_INIT, tools = GA_STRV_INIT;
	const struct ga_strv *d = &s->host.dropped;
	cleanup_free char *named = NULL, *list = NULL;

	for (size_t i = 0; i + 2 < d->n; i += 3) {
		ga_strv_push(&missing, d->v[i]);
		if (*d->v[i + 2])
			ga_strv_push(&tools, d->v[i + 2]);
	}
	if (!missing.n)
		return;
	named = ga_quote_list(&missing, GA_LISTED);
	list = ga_quote_list(&tools, tools.n);
	ga_strv_pushf(banner, "of PATH, not shown: %s%s%s%s ('git agent doctor' says why)",
		      named, tools.n ? "; 'tools: [" : "", list, tools.n ? "]' shows it" : "");
}

void ga_view_describe_mounts(const struct ga_env *e, const struct ga_spec *s,
			     struct ga_strv *banner)
{
	cleanup_free char *devices = ga_quote_list(&s->host.devices, s->host.devices.n);

	describe(&e->conf.inside.ro, &s->host.ro, "shown read-only", s, banner);
	describe(&e->conf.inside.rw, &s->host.rw,
		 "WRITABLE, and not a part of what you review", s, banner);
	for (size_t i = 0; i < e->conf.inside.devices.n; i++) {
		cleanup_strv struct ga_strv found = GA_STRV_INIT;

		ga_devices_find(e->conf.inside.devices.v[i], &found);
		if (!found.n)
			ga_strv_pushf(banner, "left out: devices: %s: there is no character device",
				      GA_QUOTED(e->conf.inside.devices.v[i]));
	}
	if (s->host.devices.n)
		ga_strv_pushf(banner, "devices: %s", devices);
	describe_path(s, banner);
}
