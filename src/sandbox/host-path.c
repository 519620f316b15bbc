/* SPDX-License-Identifier: MIT
 *
 * What the user's environment leads to: directories of PATH, and environments of tools (venv,
 * conda, nvm and the like). The rule shows the directory of PATH itself and nothing around it,
 * except for an environment that its tool has marked as one.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "sandbox-internal.h"
#include "toolchains.h"

#define V9FS_MAGIC 0x01021997 /* linux/magic.h; drives of Windows, with programs for that */

static const struct sandbox_environment environments[] = {
#define ENVIRONMENT(marker, like, names) { marker, like, names },
#include "environments.def"
#undef ENVIRONMENT
};

static bool has_marker(int dir, const char *marker)
{
	for (const char *p = marker; *p; p += strspn(p, " ")) {
		cleanup_free char *path = ga_strndup(p, strcspn(p, " "));

		if (faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW))
			return false;
		p += strlen(path);
	}
	return true;
}

/* Has the directory nothing but these names? */
static bool has_only(int dir, const char *names)
{
	cleanup_dir DIR *d = ga_dir_of(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (!ga_has_word(names, e->d_name))
			return false;
	return d != NULL;
}

const struct sandbox_environment *sandbox_environment_at(const char *dir, size_t *i)
{
	cleanup_close int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* a '*' would be taken for a pattern of masks */
	for (; fd >= 0 && !strchr(dir, '*') && *i < GA_NELEMS(environments); ++*i) {
		const struct sandbox_environment *e = &environments[*i];

		if (has_marker(fd, e->marker) && (!e->names || has_only(fd, e->names)))
			return &environments[(*i)++];
	}
	return NULL;
}

struct finder {
	const struct ga_mount_place *place;
	struct ga_strv *ro, *dropped;
};

static bool is_writable(const struct finder *f, const char *dir)
{
	for (size_t i = 0; f->place->rw && i < f->place->rw->n; i++)
		if (ga_path_inside(dir, f->place->rw->v[i]) ||
		    ga_path_inside(f->place->rw->v[i], dir))
			return true;
	return false;
}

static bool no(const char *dir, const char *why, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(dir);

	(void)ga_fail(err, GA_ESTART, "'%s' cannot be shown inside: %s", q, why);
	return false;
}

/* May this be shown because PATH leads there? With `environment`, as one: its tool may have cloned
 * it. `*ret_tools`: the setting could show it. */
static bool may_show(const struct finder *f, const char *dir, bool environment, bool *ret_tools,
		     struct ga_error *err)
{
	cleanup_free char *git = ga_path_join(dir, ".git");

	*ret_tools = false;
	if (ga_path_names_dotgit(dir))
		return no(dir, "it lies in a git directory", err);
	if (is_writable(f, dir))
		return no(dir, "agents can write there", err);
	if (sandbox_check_place(f->place, dir, err))
		return false;
	*ret_tools = true;
	if (ga_mount_check(f->place, dir, false, err))
		return false;
	return environment || access(git, F_OK) || no(dir, "it is a repository", err);
}

/* Is `dir`, resolved to `real`, shown at either path without us? */
static bool is_shown(const struct finder *f, const char *dir, const char *real)
{
	const char *rel = ga_path_below(dir, f->place->home);
	const char *row = rel ? sandbox_toolchain_above(rel) : NULL;
	cleanup_free char *top = row ? ga_path_join(f->place->home, row) : NULL;
	cleanup_free char *real_top = top ? sandbox_real(top) : NULL;

	if (real_top && ga_path_inside(real, real_top))
		return true;
	rel = ga_path_below(real, f->place->home);
	return (rel && sandbox_toolchain_above(rel)) || sandbox_in_system(real) ||
	       (f->place->project && ga_path_inside(real, f->place->project)) ||
	       ga_strv_above(f->ro, real);
}

/* The outermost environment that `dir` lies in, or NULL. The caller frees it. Not one in a
 * repository: an agent's work that lands there could have made the marker. One that a variable
 * names was found before. */
static char *environment_around(const struct finder *f, const char *dir)
{
	cleanup_free char *up = ga_strdup(dir), *found = NULL;

	for (; strcmp(up, "/") != 0 && strcmp(up, f->place->home) != 0; ga_path_up(up)) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		size_t i = 0;
		bool tools;

		if (!sandbox_environment_at(up, &i) || sandbox_in_repository(up) ||
		    !may_show(f, up, true, &tools, &ignored))
			continue;
		free(found);
		found = ga_strdup(up);
	}
	return ga_steal(&found);
}

static void drop(const struct finder *f, const char *dir, bool tools, const struct ga_error *err)
{
	if (f->dropped && !ga_strv_has(f->dropped, dir))
		ga_strv_push_many(f->dropped, dir, err->msg, tools ? dir : "", NULL);
}

static void add_directory(const struct finder *f, const char *dir)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *real = dir[0] == '/' ? realpath(dir, NULL) : NULL, *whole = NULL;
	struct statfs fs;
	struct stat st;
	bool tools;

	if (!real || is_shown(f, dir, real) || stat(real, &st) || !S_ISDIR(st.st_mode) ||
	    statfs(real, &fs) || fs.f_type == V9FS_MAGIC)
		return;
	whole = environment_around(f, real);
	if (whole || may_show(f, real, false, &tools, &err))
		ga_strv_push(f->ro, whole ? whole : real);
	else
		drop(f, real, tools, &err);
}

/* A variable names the environment itself. */
static void add_variable(const struct finder *f, const char *value)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *real = value && value[0] == '/' ? realpath(value, NULL) : NULL;
	size_t i = 0;
	bool tools;

	if (real && !is_shown(f, value, real) && sandbox_environment_at(real, &i) &&
	    may_show(f, real, true, &tools, &ignored))
		ga_strv_push(f->ro, real);
}

void ga_path_show(const struct ga_mount_place *place, const char *const *host_env,
		  struct ga_strv *ro, struct ga_strv *dropped)
{
	const struct finder f = { place, ro, dropped };

	for (size_t i = 0; sandbox_places[i]; i++)
		add_variable(&f, ga_environ_get(host_env, sandbox_places[i]));
	for (const char *p = place->path ? place->path : ""; *p; p += strspn(p, ":")) {
		cleanup_free char *dir = ga_strndup(p, strcspn(p, ":"));

		p += strlen(dir);
		add_directory(&f, dir);
	}
}
