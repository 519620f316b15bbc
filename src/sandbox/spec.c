/* SPDX-License-Identifier: MIT
 *
 * Check the spec of a sandbox, and query what it shows.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	return ga_fail(err, GA_ESTART, "%s '%s' %s", what, path, why);
}

static bool normal(const char *path)
{
	return path && path[0] == '/' && (!path[1] || ga_path_relative_ok(path + 1));
}

/* Keep what the host reads back from the agent, except through the overlays. */
static int check_hidden(const struct ga_spec *s, const char *dir, struct ga_error *err)
{
	cleanup_free char *real = dir ? sandbox_real(dir) : NULL;
	const char *shown = real ? sandbox_shown_by(s, real) : NULL;

	if (!shown)
		return 0;
	(void)refuse(err, "the session directory", real, "would be visible inside the sandbox");
	return ga_hint(err, "set XDG_STATE_HOME or state_dir to a directory outside '%s'", shown);
}

static bool lies_inside(const char *path, const char *dir)
{
	cleanup_free char *real = path ? sandbox_real(path) : NULL;
	cleanup_free char *real_dir = sandbox_real(dir);

	return path && (ga_path_inside(path, dir) || ga_path_inside(real, real_dir));
}

static int check_nesting(const struct ga_spec *s, struct ga_error *err)
{
	const char *project = s->project, *agents = s->home_dir.source;
	const struct {
		const char *path, *dir, *what, *object, *why;
	} rules[] = {
		{ s->home, project, "the project", project, "is your home directory or holds it" },
		{ s->home, agents, "the agents' home", agents, "is your own home or holds it" },
		{ project, agents, "the project", project, "lies inside the agents' home" },
		{ agents, project, "the agents' home", agents, "lies inside the project" },
		{ s->stage_dir, project, "the session directory", s->stage_dir,
		  "lies inside the project" },
		{ s->stage_dir, agents, "the session directory", s->stage_dir,
		  "lies inside the agents' home" },
		{ s->upper, project, "the session directory", s->upper, "lies inside the project" },
		{ s->upper, agents, "the session directory", s->upper,
		  "lies inside the agents' home" },
	};

	for (size_t i = 0; i < GA_NELEMS(rules); i++)
		if (lies_inside(rules[i].path, rules[i].dir))
			return refuse(err, rules[i].what, rules[i].object, rules[i].why);
	return 0;
}

static int check_ro(const struct ga_spec *s, const char *dir, struct ga_error *err)
{
	const char *rel = ga_path_below(dir, s->home);

	if (rel && *rel && sandbox_is_secret(rel)) {
		(void)refuse(err, "the read-only directory", dir, "may hold credentials");
		return ga_hint(err, "name the directories in it that programs are in");
	}
	if (!normal(dir) || !strcmp(dir, "/") || lies_inside(s->home, dir))
		return refuse(err, "the read-only directory", dir, "would show your home");
	if (ga_path_inside(dir, s->project))
		return refuse(err, "the read-only directory", dir, "lies inside the project");
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
	for (size_t i = 0; i < s->host.ro.n; i++)
		if (check_ro(s, s->host.ro.v[i], err))
			return -1;
	return check_hidden(s, s->stage_dir, err) || check_hidden(s, s->upper, err) ||
	       check_nesting(s, err) ? -1 : 0;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* Does a mount show the host's file there? */
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

/* ---- sockets, and files with texts of ours, shown at paths of their own */

/* `source` NULL: the text. */
struct what {
	const char *source;
	const void *text;
	size_t n;
};

static void add(struct ga_spec *s, const struct what *what, const char *at)
{
	struct ga_shown *sh;

	s->shown = ga_reallocarray(s->shown, s->n_shown + 1, sizeof(*s->shown));
	sh = &s->shown[s->n_shown++];
	*sh = (struct ga_shown){ .text = GA_BUF_INIT, .at = ga_strdup(at) };
	if (what->source)
		sh->source = ga_strdup(what->source);
	else
		ga_buf_add(&sh->text, what->text, what->n);
}

/* Resolve `path` inside: a parent may be a symlink of the host (/var/run). */
static char *place(const char *path)
{
	cleanup_free char *parent = ga_path_parent(path), *real = sandbox_real(parent);

	return ga_path_join(real, ga_path_base(path));
}

/* Refused in home, in the project, and in a system directory where nothing exists that it could
 * replace. */
static int show(struct ga_spec *s, const struct what *what, const char *at, struct ga_error *err)
{
	cleanup_free char *real = place(at);
	struct stat st;

	if (!ga_strv_above(&s->host.rw, real) && !ga_path_inside(real, s->home) &&
	    !ga_path_inside(real, s->project) &&
	    !ga_path_inside(real, "/proc") && !ga_path_inside(real, "/dev") &&
	    (!sandbox_shown_by(s, real) || (!lstat(real, &st) && !S_ISDIR(st.st_mode)))) {
		add(s, what, real);
		return 0;
	}
	return ga_fail(err, GA_ESTART, "'%s' cannot be shown inside"
		       GA_HINT "a socket can be shown where neither the system nor the project is, "
		       "nor what 'mounts.rw' names: in /run, /tmp or home, for example", at);
}

/* A parent that is a symlink in the user's home does not exist in the agents' home. */
static bool is_at_home(const struct ga_spec *s, const char *at)
{
	return ga_path_below(at, s->home) && !ga_path_inside(at, s->project) &&
	       !ga_strv_above(&s->host.rw, at);
}

static int show_as_well(struct ga_spec *s, const struct what *what, const char *at,
			struct ga_error *err)
{
	cleanup_free char *led = ga_spec_place(s, at);

	if (!is_at_home(s, led))
		return show(s, what, led, err);
	add(s, what, led);
	return 0;
}

int ga_spec_show_socket(struct ga_spec *s, const char *source, const char *at, struct ga_error *err)
{
	return show_as_well(s, &(struct what){ .source = source }, at, err);
}

int ga_spec_show_text(struct ga_spec *s, const char *at, const void *text, size_t n,
		      struct ga_error *err)
{
	return show_as_well(s, &(struct what){ .text = text, .n = n }, at, err);
}

int ga_spec_replace_text(struct ga_spec *s, const char *at, const char *text, struct ga_error *err)
{
	cleanup_free char *real = sandbox_real(at);
	const struct what what = { .text = text, .n = strlen(text) };
	struct stat st;

	/* a symlink in the path leads to the same place inside */
	return stat(real, &st) || !S_ISREG(st.st_mode) ? 0 : show(s, &what, real, err);
}
