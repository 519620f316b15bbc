/* SPDX-License-Identifier: MIT
 *
 * Install the hooks: core.hooksPath temporarily names a directory of ours, in which every hook runs
 * the user's by its own path, as husky, lefthook, pre-commit and others require. No file of the
 * user is changed, and none is added to the working tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/sys/fd.h"
#include "guard-internal.h"

/* Does the path end as that of the file `name` in a guard's directory? The one of
 * this repository, or of where it was before it was moved or copied. */
static bool guard_is_ours(const char *path, const char *name)
{
	cleanup_free char *end = ga_strf("/git-agent/guard/%s", name);

	return ga_ends_in(path, end);
}

/* A path as git takes it from configuration, which may be relative to the working tree. The caller
 * frees it. */
static char *guard_from_worktree(const struct ga_repo *r, const char *path)
{
	return *path == '/' ? ga_strdup(path)
			    : ga_strf("%s/%s", ga_repo_info(r)->workdir, path);
}

/* The last value of a key in the scope of the repository, or NULL. */
static const char *guard_value(const struct ga_gitconfig *c, const char *key)
{
	for (size_t i = c->n; i-- > 0;)
		if (!strcasecmp(c->v[i].key, key) && !strcmp(c->v[i].scope, "local") &&
		    c->v[i].value)
			return c->v[i].value;
	return NULL;
}

/* core.hooksPath in the repository's configuration file itself, or NULL. What files have that it
 * includes is the user's, and stays there. */
static const char *guard_hooks_path(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	cleanup_free char *file = ga_path_join(ga_repo_info(r)->commondir, "config");
	struct stat it, st;

	if (stat(file, &it))
		return NULL;
	for (size_t i = c->n; i-- > 0;) {
		const char *from = c->v[i].origin;
		cleanup_free char *at = NULL;

		if (strcasecmp(c->v[i].key, "core.hookspath") != 0 || !c->v[i].value ||
		    strncmp(from, "file:", 5) != 0)
			continue;
		at = guard_from_worktree(r, from + 5);
		if (!stat(at, &st) && st.st_dev == it.st_dev && st.st_ino == it.st_ino)
			return c->v[i].value;
	}
	return NULL;
}

/* The last value of core.hooksPath, wherever it is set, that is no guard's, or NULL. */
static const char *guard_users_path(const struct ga_gitconfig *c)
{
	for (size_t i = c->n; i-- > 0;)
		if (!strcasecmp(c->v[i].key, "core.hookspath") && c->v[i].value &&
		    !guard_is_ours(c->v[i].value, "hooks"))
			return c->v[i].value;
	return NULL;
}

/* Those of ga_hook_events that the guard has hooks for. */
static const char *const own_hooks[] = { "reference-transaction", "pre-push", "post-merge" };

#define SCRIPT_MAX ((size_t)1 << 20)

/* The files of hooks/. */
static const struct {
	const char *name, *text;
} scripts[] = {
#include "guard-hooks.inc"
};

static char *own_hook(const struct ga_repo *r, const char *name)
{
	cleanup_free char *dir = guard_dir(r);

	return ga_path_join(dir, name);
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++)
		if (!strcmp(own_hooks[i], name))
			return true;
	return false;
}

static char *own_directory(const struct ga_repo *r)
{
	return own_hook(r, "hooks");
}

static int set_config(struct ga_repo *r, const char *key, const char *value_or_null,
		      struct ga_error *err)
{
	const char *const set[] = { "config", "--local", "--replace-all", key, value_or_null,
				    NULL };
	const char *const unset[] = { "config", "--local", "--unset-all", key, NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;
	const struct ga_git g = GA_GIT(.args = value_or_null ? set : unset, .errout = &why);

	if (ga_git_run(r, &g, &status, err))
		return -1;
	/* 5: the key was not set */
	if (status && (value_or_null || status != 5)) {
		cleanup_free char *line = ga_git_last_line(&why);

		return ga_fail(err, GA_EFATAL, "cannot set %s: %s", key,
			       line ? line : "git failed");
	}
	return 0;
}

int ga_guard_set(struct ga_repo *r, const struct ga_gitconfig *c, bool on, struct ga_error *err)
{
	bool outside = false;

	/* a value in another scope, for all repositories, is not ours to change */
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].key, "agent.guard") && strcmp(c->v[i].scope, "local") != 0)
			outside = true;
	return set_config(r, "agent.guard", on ? "true" : outside ? "false" : NULL, err);
}

/* ---- what is there ------------------------------------------------------------------- */

bool guard_installed(const struct ga_repo *r, const struct ga_gitconfig *c, bool *ret_elsewhere)
{
	const char *path = guard_hooks_path(r, c);
	cleanup_free char *own = own_directory(r);

	if (!path || strcmp(path, own) != 0)
		return false;
	*ret_elsewhere = strcmp(ga_gitconfig_get(c, "core.hookspath"), own) != 0;
	return true;
}

/* The hook directory that git would use without ours. A relative path stays relative: git runs
 * hooks in the directory that it is relative to. */
static int former_directory(struct ga_repo *r, const struct ga_gitconfig *c, char **ret,
			    struct ga_error *err)
{
	const char *const args[] = { "config", "--type=path", "--get", "agent.hooksPath", NULL };
	const char *set = guard_hooks_path(r, c);
	const char *config[] = { NULL, NULL }, *value = NULL;
	cleanup_free char *pair = NULL;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	if (set && guard_is_ours(set, "hooks"))
		value = guard_value(c, "agent.hookspath");
	if (!value)
		value = guard_users_path(c);
	if (!value || *value != '~') {
		*ret = value ? ga_strdup(value) : ga_path_join(ga_repo_info(r)->commondir, "hooks");
		return 0;
	}
	/* git expands "~" and "~user" */
	pair = ga_strf("agent.hooksPath=%s", value);
	config[0] = pair;
	g.args = args;
	g.config = config;
	g.out = &out;
	if (ga_git_ok(r, &g, err))
		return -1;
	ga_buf_chomp(&out);
	*ret = ga_buf_steal(&out);
	return 0;
}

/* ---- the scripts ---------------------------------------------------------------------- */

/* The text of a script with its `data=` and `former=` lines, by which a script installed by hand
 * finds these out itself, replaced by the actual values. */
static char *filled(const char *text, const char *data, const char *former)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (const char *end; *text; text = end) {
		end = text + strcspn(text, "\n");
		end += *end == '\n';
		if (!strncmp(text, "data=", 5))
			ga_buf_addf(&b, "data=%s\n", data);
		else if (!strncmp(text, "former=", 7))
			ga_buf_addf(&b, "former=%s\n", former);
		else
			ga_buf_add(&b, text, (size_t)(end - text));
	}
	return ga_buf_steal(&b);
}

static const char *text_of(const char *name)
{
	for (size_t i = 0; i < GA_NELEMS(scripts); i++)
		if (!strcmp(scripts[i].name, name))
			return scripts[i].text;
	GA_BUG("no such hook");
}

static int put_script(int dir, const char *name, const char *of, const char *data,
		      const char *former, struct ga_error *err)
{
	cleanup_free char *text = filled(text_of(of), data, former);
	cleanup_buf struct ga_buf have = GA_BUF_INIT;

	if (!ga_read_file_at(dir, name, strlen(text) + 1, &have, GA_IGNORED) &&
	    !strcmp(have.ptr, text))
		return 0;
	return ga_write_atomic(dir, name, text, strlen(text), 0700, err);
}

static int put_scripts(struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *path = guard_dir(r), *data = ga_quote_shell(path);
	cleanup_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the guard's directory");
	/* two of the hooks read this file */
	if (put_script(dir, "news", "news", data, "", err))
		return -1;
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++)
		if (put_script(dir, own_hooks[i], own_hooks[i], data, "", err))
			return -1;
	return 0;
}

/* ---- files of others in our directory -------------------------------------------------- */

/* Is it neither a link nor one of the scripts? Those all begin with the same lines. */
static bool is_foreign(int dir, const char *name)
{
	const char *text = scripts[0].text, *end = strstr(text, "\n#\n");
	cleanup_buf struct ga_buf have = GA_BUF_INIT;
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISLNK(st.st_mode) &&
	       (ga_read_file_at(dir, name, SCRIPT_MAX, &have, GA_IGNORED) ||
		strncmp(have.ptr, text, (size_t)(end - text)) != 0);
}

/* Move a file to the user's hooks, unless one of that name exists. */
static int move_to_users(const char *from, const char *to, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(to);

	if (ga_mkdir_p(parent, 0777, err))
		return -1;
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	(void)ga_fail_errno(err, GA_EFATAL, errno, "'%s' is none of the guard's hooks, and cannot "
			    "go to '%s'", from, to);
	return ga_hint(err, "move it there yourself, or remove it");
}

/* A tool that asks git where hooks go may have written into our directory: such files are the
 * user's. */
static int move_all_to_users(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	cleanup_free char *own = own_directory(r), *former = NULL, *to = NULL;
	cleanup_strv struct ga_strv foreign = GA_STRV_INIT;
	DIR *d = opendir(own);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.' && is_foreign(dirfd(d), e->d_name))
			ga_strv_push(&foreign, e->d_name);
	if (d)
		(void)closedir(d);
	if (!foreign.n)
		return 0;
	if (former_directory(r, c, &former, err))
		return -1;
	to = guard_from_worktree(r, former);
	for (size_t i = 0; i < foreign.n; i++) {
		cleanup_free char *is = ga_path_join(own, foreign.v[i]);
		cleanup_free char *goes = ga_path_join(to, foreign.v[i]);

		if (move_to_users(is, goes, err))
			return -1;
	}
	return 0;
}

/* ---- the directory ------------------------------------------------------------------------ */

/* To git a dangling link is no hook, and it costs nothing; a hook that the user adds then is
 * run through it. */
static int put_link(int dir, const char *name, const char *target, struct ga_error *err)
{
	char is[PATH_MAX];
	ssize_t n = readlinkat(dir, name, is, sizeof(is));

	if (n == (ssize_t)strlen(target) && !memcmp(is, target, (size_t)n))
		return 0;
	if ((unlinkat(dir, name, 0) && errno != ENOENT) || symlinkat(target, dir, name))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create the hook '%s'", name);
	return 0;
}

/* A hook that the user has is run by its own path, after ours. For one that neither has, the link
 * dangles, as if there were none. */
static int fill_in(struct ga_repo *r, int dir, const char *former, const char *name,
		   struct ga_error *err)
{
	cleanup_free char *parent = guard_dir(r), *data = ga_quote_shell(parent);
	cleanup_free char *at = guard_from_worktree(r, former), *path = ga_path_join(at, name);
	cleanup_free char *word = ga_quote_shell(former);

	if (!access(path, F_OK))
		return put_script(dir, name, "beside", data, word, err);
	return is_own(name) ? put_script(dir, name, name, data, word, err)
			    : put_link(dir, name, path, err);
}

static int fill_directory(struct ga_repo *r, const char *path, const char *former,
			  struct ga_error *err)
{
	cleanup_close int dir = -1;

	if (ga_mkdir_p(path, 0700, err))
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the guard's hooks");
	for (const char *const *e = ga_hook_events; *e; e++)
		if (fill_in(r, dir, former, *e, err))
			return -1;
	return 0;
}

int guard_install(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	const char *set = guard_hooks_path(r, c);
	cleanup_free char *own = own_directory(r), *former = NULL;

	if (move_all_to_users(r, c, err) || put_scripts(r, err) ||
	    former_directory(r, c, &former, err) || fill_directory(r, own, former, err))
		return -1;
	if (set && !strcmp(set, own))
		return 0;
	/* kept before it is replaced, because it is the user's */
	return (set && !guard_is_ours(set, "hooks") &&
		set_config(r, "agent.hooksPath", set, err)) ||
	       ga_fault_stop("guard:kept", err) || set_config(r, "core.hooksPath", own, err)
		       ? -1 : 0;
}

int guard_remove(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	const char *set = guard_hooks_path(r, c), *former = guard_value(c, "agent.hookspath");

	if (move_all_to_users(r, c, err))
		return -1;
	if (set && guard_is_ours(set, "hooks") && (set_config(r, "core.hooksPath", former, err) ||
					       ga_fault_stop("guard:restored", err)))
		return -1;
	return former ? set_config(r, "agent.hooksPath", NULL, err) : 0;
}

char *guard_dir(const struct ga_repo *r)
{
	return ga_path_join(ga_repo_info(r)->commondir, "git-agent/guard");
}
