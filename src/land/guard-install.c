/* SPDX-License-Identifier: MIT
 *
 * Where the hooks go. No file of the user's is changed, and none is added where others could see
 * it. If git runs hooks that its configuration names, ours are added there; else they are symlinks
 * in the repository's own hook directory, if git uses that one, it is no symlink, which may lead to
 * one that repositories share, and it has no such hooks; else core.hooksPath names a directory of
 * ours for the time being, in which every hook runs the user's by its own path, as husky, lefthook,
 * pre-commit and others require.
 */
#include "guard-internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/trace.h"

/* Those of ga_hook_events that the guard has hooks for. */
static const char *const own_hooks[] = { "reference-transaction", "pre-push", "post-merge" };

#define SCRIPT_MAX ((size_t)1 << 20)

/* A file in our directory: it exists if the hook directory was made for the links. */
#define MADE "made"

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

/* The repository's own. */
static char *hook_directory(const struct ga_repo *r)
{
	return ga_path_join(ga_repo_info(r)->commondir, "hooks");
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

static bool is_guards_hook(const char *path)
{
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++)
		if (guard_is_ours(path, own_hooks[i]))
			return true;
	return false;
}

static int set_config(struct ga_repo *r, const char *key, const char *value_or_null,
		      struct ga_error *err)
{
	const char *const set[] = { "config", "--local", "--replace-all", key, value_or_null,
				    NULL };
	const char *const unset[] = { "config", "--local", "--unset-all", key, NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = value_or_null ? set : unset;
	g.errout = &why;
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

/* Is that a symlink? Other repositories may use the directory behind it as well. */
static bool is_shared(const struct ga_repo *r)
{
	cleanup_free char *dir = hook_directory(r);
	struct stat st;

	return !lstat(dir, &st) && !S_ISDIR(st.st_mode);
}

static bool has_links(const struct ga_repo *r)
{
	cleanup_free char *dir = hook_directory(r);

	if (is_shared(r))
		return false;
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++) {
		cleanup_free char *path = ga_path_join(dir, own_hooks[i]);
		cleanup_free char *target = own_hook(r, own_hooks[i]);
		char is[PATH_MAX];
		ssize_t n = readlink(path, is, sizeof(is));

		if (n != (ssize_t)strlen(target) || memcmp(is, target, (size_t)n) != 0)
			return false;
	}
	return true;
}

static bool has_events(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++) {
		cleanup_free char *event = ga_strf("hook.git-agent-%s.event", own_hooks[i]);
		cleanup_free char *command = ga_strf("hook.git-agent-%s.command", own_hooks[i]);
		cleanup_free char *path = own_hook(r, own_hooks[i]), *word = ga_quote_shell(path);
		const char *is = guard_value(c, command);

		if (!guard_value(c, event) || !is || strcmp(is, word) != 0)
			return false;
	}
	return true;
}

static bool is_directory(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	const char *path = guard_hooks_path(r, c);
	cleanup_free char *own = own_directory(r);

	return path && !strcmp(path, own);
}

enum ga_guard_how guard_installed(const struct ga_repo *r, const struct ga_gitconfig *c,
				  bool *ret_elsewhere)
{
	const char *effective = ga_gitconfig_get(c, "core.hookspath");
	cleanup_free char *own = own_directory(r);

	*ret_elsewhere = false;
	if (has_events(r, c))
		return GA_GUARD_CONFIG;
	if (is_directory(r, c)) {
		*ret_elsewhere = strcmp(effective, own) != 0;
		return GA_GUARD_DIRECTORY;
	}
	if (!has_links(r))
		return GA_GUARD_NOT;
	*ret_elsewhere = effective != NULL;
	return GA_GUARD_HOOKS;
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
		*ret = value ? ga_strdup(value) : hook_directory(r);
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
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf have = GA_BUF_INIT;

	if (!ga_read_file_at(dir, name, strlen(text) + 1, &have, &ignored) &&
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

/* ---- files of others in our directories ------------------------------------------------ */

/* Is it neither a link nor one of the scripts? Those all begin with the same lines. */
static bool is_foreign(int dir, const char *name)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	const char *text = scripts[0].text, *end = strstr(text, "\n#\n");
	cleanup_buf struct ga_buf have = GA_BUF_INIT;
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISLNK(st.st_mode) &&
	       (ga_read_file_at(dir, name, SCRIPT_MAX, &have, &ignored) ||
		strncmp(have.ptr, text, (size_t)(end - text)) != 0);
}

/* Move a file to where the user's hooks are, unless one of its name is there. A link of ours that
 * points to it makes room. */
static int give_back(const char *from, const char *to, struct ga_error *err)
{
	cleanup_free char *parent = ga_path_parent(to), *q = ga_escape(from), *there = NULL;
	char is[PATH_MAX];
	ssize_t n = readlink(to, is, sizeof(is));

	if (n == (ssize_t)strlen(from) && !memcmp(is, from, (size_t)n))
		(void)unlink(to);
	if (ga_mkdir_p(parent, 0777, err))
		return -1;
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	there = ga_escape(to);
	(void)ga_fail_errno(err, GA_EFATAL, errno, "'%s' is none of the guard's hooks, and cannot "
			    "go to '%s'", q, there);
	return ga_hint(err, "move it there yourself, or remove it");
}

/* A tool that asks git where hooks go may have written into one of our directories: such files are
 * the user's. */
static int give_back_from(const char *dir, const char *to, bool own_only, struct ga_error *err)
{
	cleanup_strv struct ga_strv foreign = GA_STRV_INIT;
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.' && (!own_only || is_own(e->d_name)) &&
		    is_foreign(dirfd(d), e->d_name))
			ga_strv_push(&foreign, e->d_name);
	if (d)
		(void)closedir(d);
	for (size_t i = 0; i < foreign.n; i++) {
		cleanup_free char *is = ga_path_join(dir, foreign.v[i]);
		cleanup_free char *goes = ga_path_join(to, foreign.v[i]);

		if (give_back(is, goes, err))
			return -1;
	}
	return 0;
}

static int give_back_all(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	cleanup_free char *data = guard_dir(r), *own = own_directory(r), *former = NULL;
	cleanup_free char *hooks = hook_directory(r), *to = NULL;

	if (give_back_from(data, hooks, true, err))
		return -1;
	if (access(own, F_OK))
		return 0;
	if (former_directory(r, c, &former, err))
		return -1;
	to = guard_from_worktree(r, former);
	return give_back_from(own, to, false, err);
}

/* ---- by configuration ------------------------------------------------------------------ */

/* Does this git run hooks that its configuration names (2.54 and newer)? */
static int has_hook_events(struct ga_repo *r, struct ga_error *err)
{
	static const char *const args[] = { "version", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	struct ga_version v;

	g.args = args;
	g.out = &out;
	if (ga_git_ok(r, &g, err))
		return -1;
	return ga_parse_version(out.ptr, "git version", &v) && !ga_version_before(&v, 2, 54);
}

static int install_events(struct ga_repo *r, struct ga_error *err)
{
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++) {
		cleanup_free char *command = ga_strf("hook.git-agent-%s.command", own_hooks[i]);
		cleanup_free char *event = ga_strf("hook.git-agent-%s.event", own_hooks[i]);
		cleanup_free char *path = own_hook(r, own_hooks[i]), *word = ga_quote_shell(path);

		if (set_config(r, command, word, err) || set_config(r, event, own_hooks[i], err))
			return -1;
	}
	return 0;
}

static int remove_events(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++) {
		cleanup_free char *command = ga_strf("hook.git-agent-%s.command", own_hooks[i]);
		cleanup_free char *event = ga_strf("hook.git-agent-%s.event", own_hooks[i]);

		if ((guard_value(c, event) && set_config(r, event, NULL, err)) ||
		    (guard_value(c, command) && set_config(r, command, NULL, err)))
			return -1;
	}
	return 0;
}

/* ---- by links ---------------------------------------------------------------------------- */

/* Does git use the repository's own hook directory, and has that none of these hooks? */
static bool is_free(const struct ga_repo *r, const struct ga_gitconfig *c)
{
	cleanup_free char *dir = hook_directory(r);

	if (ga_gitconfig_get(c, "core.hookspath") || is_shared(r))
		return false;
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++) {
		cleanup_free char *path = ga_path_join(dir, own_hooks[i]);
		struct stat st;

		if (!lstat(path, &st))
			return false;
	}
	return true;
}

/* A repository made without a template has no hook directory; one that is made here is removed
 * again with the links. */
static int make_hook_directory(struct ga_repo *r, const char *dir, struct ga_error *err)
{
	cleanup_free char *made = own_hook(r, MADE);

	if (!mkdir(dir, 0777))
		return ga_write_atomic(AT_FDCWD, made, "", 0, 0600, err);
	return errno == EEXIST ? 0
			       : ga_fail_errno(err, GA_EFATAL, errno,
					       "cannot create the hook directory");
}

static int install_links(struct ga_repo *r, struct ga_error *err)
{
	cleanup_free char *dir = hook_directory(r);

	if (make_hook_directory(r, dir, err))
		return -1;
	for (size_t i = 0; i < GA_NELEMS(own_hooks); i++) {
		cleanup_free char *path = ga_path_join(dir, own_hooks[i]);
		cleanup_free char *target = own_hook(r, own_hooks[i]);

		if (symlink(target, path) && errno != EEXIST)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot create the hook '%s'",
					     own_hooks[i]);
	}
	return 0;
}

/* Remove our links, whatever they are called by now: some tools rename hooks in their way. In a
 * directory that is shared there may be some that are another repository's. */
static void remove_links(struct ga_repo *r)
{
	cleanup_free char *dir = hook_directory(r);
	cleanup_free char *made = own_hook(r, MADE), *data = guard_dir(r);
	bool shared = is_shared(r);
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char is[PATH_MAX];
		ssize_t n = readlinkat(dirfd(d), e->d_name, is, sizeof(is) - 1);

		is[n < 0 ? 0 : n] = '\0';
		if (is_guards_hook(is) && (!shared || ga_path_inside(is, data)))
			(void)unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		(void)closedir(d);
	/* fails if somebody has put something else there */
	if (!unlink(made))
		(void)rmdir(dir);
}

/* ---- by a directory ------------------------------------------------------------------------ */

/* To git a dangling link is no hook, and it costs nothing; a hook that the user adds meanwhile is
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

static int install_directory(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	const char *set = guard_hooks_path(r, c);
	cleanup_free char *own = own_directory(r), *former = NULL;

	if (former_directory(r, c, &former, err) || fill_directory(r, own, former, err))
		return -1;
	if (is_directory(r, c))
		return 0;
	/* kept before it is replaced, because it is the user's */
	return (set && !guard_is_ours(set, "hooks") &&
		set_config(r, "agent.hooksPath", set, err)) ||
	       ga_fault_stop("guard:kept", err) || set_config(r, "core.hooksPath", own, err)
		       ? -1 : 0;
}

static int remove_directory(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	const char *set = guard_hooks_path(r, c), *former = guard_value(c, "agent.hookspath");

	if (set && guard_is_ours(set, "hooks") && (set_config(r, "core.hooksPath", former, err) ||
					       ga_fault_stop("guard:restored", err)))
		return -1;
	return former ? set_config(r, "agent.hooksPath", NULL, err) : 0;
}

/* ---- installing and removing ---------------------------------------------------------------- */

int guard_install(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	enum ga_guard_how how;
	bool elsewhere;
	int rc;

	if (give_back_all(r, c, err) || put_scripts(r, err))
		return -1;
	how = guard_installed(r, c, &elsewhere);
	if (how == GA_GUARD_HOOKS && !elsewhere)
		return 0;
	/* links are of use only if all three are there and git uses that directory */
	remove_links(r);
	if (how == GA_GUARD_DIRECTORY)
		return install_directory(r, c, err);
	rc = has_hook_events(r, err);
	if (rc < 0)
		return -1;
	if (rc)
		return how == GA_GUARD_CONFIG ? 0 : install_events(r, err);
	/* they were for a newer git; this one would not run them */
	if (how == GA_GUARD_CONFIG && remove_events(r, c, err))
		return -1;
	return is_free(r, c) ? install_links(r, err) : install_directory(r, c, err);
}

int guard_remove(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err)
{
	if (give_back_all(r, c, err))
		return -1;
	remove_links(r);
	return remove_events(r, c, err) || remove_directory(r, c, err) ? -1 : 0;
}
