/* SPDX-License-Identifier: MIT
 *
 * Set the environment inside, and show the directories of PATH and the environments of tools (venv,
 * conda, nvm and the like). A directory of PATH is shown without its surroundings, unless it is in
 * an environment with its tool's marker.
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

/* Variables that a program on a terminal needs; none that names a socket, an agent or a credential.
 * A trailing '*' matches any ending. */
static const char *const passed[] = {
	"TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_*", "TZ", "EDITOR", "VISUAL", "NO_COLOR",
};

/* Variables that locate toolchains and their parts: passed if those places exist inside. */
static const char *const sandbox_places[] = {
	"ANDROID_HOME", "ANDROID_SDK_ROOT", "ASDF_DATA_DIR", "ASDF_DIR", "BUN_INSTALL",
	"CONDA_PREFIX", "DOTNET_ROOT", "FNM_DIR", "GOROOT", "HOMEBREW_CELLAR", "HOMEBREW_PREFIX",
	"HOMEBREW_REPOSITORY", "JAVA_HOME", "MISE_DATA_DIR", "NVM_DIR", "PLAYWRIGHT_BROWSERS_PATH",
	"PNPM_HOME", "PYENV_ROOT", "RBENV_ROOT", "RUSTUP_HOME", "SDKMAN_DIR", "VIRTUAL_ENV",
	"VOLTA_HOME", NULL
};

/* Proxies, in upper or lower case: passed with the host's network, without user and password. */
static const char *const proxies[] = {
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
};

static const struct {
	const char *name, *usual, *own;
} caches[] = {
#define CACHE(name, usual, own) { name, usual, own },
#include "caches.def"
#undef CACHE
};

static bool matches(const char *entry, const char *pattern)
{
	size_t n = strlen(pattern), name = strcspn(entry, "=");

	if (n && pattern[n - 1] == '*')
		return !strncmp(entry, pattern, n - 1) && name >= n - 1;
	return n == name && !strncmp(entry, pattern, n);
}

static bool allowed(const char *entry, const struct ga_strv *pass)
{
	for (size_t i = 0; i < GA_NELEMS(passed); i++)
		if (matches(entry, passed[i]))
			return true;
	for (size_t i = 0; pass && i < pass->n; i++)
		if (matches(entry, pass->v[i]))
			return true;
	return false;
}

static bool is_proxy(const char *entry)
{
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < GA_NELEMS(proxies); i++)
		if (n == strlen(proxies[i]) && !strncasecmp(entry, proxies[i], n))
			return true;
	return false;
}

/* NAME=VALUE without the user info before the last '@' of a URL. The caller frees it. */
static char *without_user(const char *entry)
{
	const char *at = strrchr(entry, '@'), *start = strchr(entry, '=') + 1;
	const char *scheme = strstr(start, "://");

	if (!at || at < start)
		return ga_strdup(entry);
	if (scheme && scheme < at)
		start = scheme + 3;
	return ga_strf("%.*s%s", (int)(start - entry), entry, at + 1);
}

static void add_proxy(struct ga_spec *s, const char *entry, const struct ga_strv *pass)
{
	cleanup_free char *name = ga_strndup(entry, strcspn(entry, "="));

	if (pass && ga_strv_has(pass, name))
		ga_strv_push(&s->env, entry);
	else if (s->network)
		ga_strv_take(&s->env, without_user(entry));
}

/* Is it a variable that we always set? */
static bool ours(const char *entry)
{
	static const char *const names[] = { "HOME", "PATH", "USER", "LOGNAME", "SHELL", "PWD" };

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (matches(entry, names[i]))
			return true;
	return false;
}

/* Where a directory of the host's PATH is inside: at its own path or, if it is visible only under
 * another name (fnm puts a symlink into /run/user), at the one the symlink leads to. The caller
 * frees it. */
static char *place_inside(const struct ga_spec *s, const char *dir,
			  bool (*visible)(const struct ga_spec *, const char *))
{
	cleanup_free char *real = NULL;

	if (visible(s, dir))
		return ga_strdup(dir);
	if (dir[0] != '/')
		return NULL;
	real = sandbox_real(dir);
	return strcmp(real, dir) != 0 && visible(s, real) ? ga_steal(&real) : NULL;
}

static void add_path(struct ga_spec *s, const char *host)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (const char *p = host ? host : ""; *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = ga_strndup(p, n), *inside = NULL;

		while (n > 1 && dir[n - 1] == '/')
			dir[--n] = '\0';
		inside = *dir ? place_inside(s, dir, ga_spec_visible) : NULL;
		if (inside)
			ga_buf_addf(&b, "%s%s", b.len ? ":" : "", inside);
		p += strcspn(p, ":");
	}
	ga_strv_pushf(&s->env, "PATH=%s:%s/" GA_AGENT_BIN, b.len ? b.ptr : GA_SYSTEM_PATH,
		      s->names.home ? s->names.home : s->home);
}

static void add_places(struct ga_spec *s, const char *const *host_env)
{
	for (size_t i = 0; sandbox_places[i]; i++) {
		const char *value = ga_environ_get(host_env, sandbox_places[i]);
		cleanup_free char *inside = value ? place_inside(s, value, sandbox_shows) : NULL;

		if (inside)
			ga_strv_pushf(&s->env, "%s=%s", sandbox_places[i], inside);
	}
}

/* Is `rel`, relative to home, read-only inside? */
static bool is_read_only(const struct ga_spec *s, const char *rel)
{
	if (ga_strv_above(&s->host.tools, rel))
		return true;
	for (size_t i = 0; i < s->host.ro.n; i++) {
		const char *ro = ga_path_below(s->host.ro.v[i], s->home);

		if (ro && ga_path_inside(rel, ro))
			return true;
	}
	return false;
}

static void add_caches(struct ga_spec *s)
{
	for (size_t i = 0; i < GA_NELEMS(caches); i++)
		if (!*caches[i].usual || is_read_only(s, caches[i].usual))
			ga_strv_pushf(&s->env, "%s=%s/%s", caches[i].name, s->home, caches[i].own);
}

void ga_spec_environment(struct ga_spec *s, const char *path, const char *const *host_env,
			 const struct ga_strv *pass)
{
	const char *user = ga_environ_get(host_env, "USER");
	const char *login = ga_environ_get(host_env, "LOGNAME");
	const char *shell = ga_environ_get(host_env, "SHELL");

	ga_strv_release(&s->env);
	ga_strv_pushf(&s->env, "HOME=%s", s->names.home ? s->names.home : s->home);
	if (s->names.project)
		ga_strv_pushf(&s->env, "PWD=%s", s->names.project);
	add_path(s, path);
	if (user || login)
		ga_strv_pushf(&s->env, "USER=%s", user ? user : login);
	if (user || login)
		ga_strv_pushf(&s->env, "LOGNAME=%s", login ? login : user);
	ga_strv_pushf(&s->env, "SHELL=%s", shell && ga_spec_visible(s, shell) ? shell : "/bin/sh");
	add_places(s, host_env);
	add_caches(s);
	for (; host_env && *host_env; host_env++)
		if (strchr(*host_env, '=') && is_proxy(*host_env))
			add_proxy(s, *host_env, pass);
		else if (strchr(*host_env, '=') && allowed(*host_env, pass) && !ours(*host_env))
			ga_strv_push(&s->env, *host_env);
}

const char *ga_cache_file(size_t i, const char **ret_text)
{
	static const char *const files[][2] = {
#define CACHE_FILE(file, text) { file, text },
#include "caches.def"
#undef CACHE_FILE
	};

	if (i >= GA_NELEMS(files))
		return NULL;
	*ret_text = files[i][1];
	return files[i][0];
}

/* ---- what PATH and variables lead to */

#define V9FS_MAGIC 0x01021997 /* linux/magic.h; drives of Windows, with programs for that */

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
	(void)ga_fail(err, GA_ESTART, "'%s' cannot be shown inside: %s", dir, why);
	return false;
}

/* May a directory of PATH be shown? With `environment` it is one, which its tool may have cloned.
 * `*ret_tools`: the setting could show it. */
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

/* Is `dir`, resolved to `real`, already shown at either path? */
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

/* The outermost environment that `dir` lies in, or NULL. The caller frees it. Excludes
 * repositories, where landed work could have made the marker. Environments named by variables were
 * found before. */
static char *environment_around(const struct finder *f, const char *dir)
{
	cleanup_free char *up = ga_strdup(dir), *found = NULL;

	for (; strcmp(up, "/") != 0 && strcmp(up, f->place->home) != 0; ga_path_up(up)) {
		size_t i = 0;
		bool tools;

		if (!sandbox_environment_at(up, &i) || sandbox_in_repository(up) ||
		    !may_show(f, up, true, &tools, GA_IGNORED))
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

/* Is it the environment that a variable names? */
static void add_variable(const struct finder *f, const char *value)
{
	cleanup_free char *real = value && value[0] == '/' ? realpath(value, NULL) : NULL;
	size_t i = 0;
	bool tools;

	if (real && !is_shown(f, value, real) && sandbox_environment_at(real, &i) &&
	    may_show(f, real, true, &tools, GA_IGNORED))
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
