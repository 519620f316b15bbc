/* SPDX-License-Identifier: MIT
 *
 * Start git with the environment and configuration of our commands, without libgit2, for programs
 * that are not linked with it.
 */
#include "repo/repo-internal.h"

#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/process.h"

/* Forced on every command but the user's own (`as_user`). */
static const char *const forced_config[] = {
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	/* otherwise each object id is looked up as the name of a ref, in six places */
	"core.warnAmbiguousRefs=false",
	/* milliseconds: deletions of refs wait for each other, and git's default of one second is
	 * too short on a busy machine */
	"core.packedRefsTimeout=10000",
	"core.splitIndex=false",
	/* core.safecrlf checks what the user adds: no working tree is written from what we add */
	"core.safecrlf=false",
	"index.sparse=false",
	/* recursion would rewrite core.worktree of the user's submodules */
	"submodule.recurse=false",
	/* a background gc would outlive us */
	"gc.auto=0",
	"maintenance.auto=false",
	NULL,
};

const char *const ga_hook_events[] = {
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
	"prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout",
	"post-merge", "pre-push", "pre-auto-gc", "post-rewrite", "post-index-change",
	"reference-transaction", NULL,
};

/* `git -c` splits its argument at the first "=", --config-env at the last. The name of a hook may
 * contain one, so those settings are set to false by --config-env, from this variable. */
#define FALSE_ENV "GIT_AGENT_FALSE"

static const char *const forced_env[] = {
	"GIT_OPTIONAL_LOCKS=0",
	FALSE_ENV "=false",
	NULL,
};

/* Only git 2.45 and newer know GIT_NO_LAZY_FETCH; older ones are stopped by an empty list of
 * allowed protocols. */
static const char *const no_fetch_env[] = {
	"GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=",
	NULL,
};

/* Prefixes of the GIT_* variables that our own commands inherit. GIT_CONFIG_* name configuration
 * files, and hold what `git -c` was given on the command line that started us. */
static const char *const kept_env[] = {
	"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_", "GIT_EXEC_PATH=", "GIT_TRACE",
	"GIT_TEMPLATE_DIR=", "GIT_CEILING_DIRECTORIES=", "GIT_ATTR_NOSYSTEM=",
	"GIT_PROGRESS_DELAY=", NULL,
};

/* Inherited as well by commands that may contact a remote (`lazy_fetch`). */
static const char *const kept_fetch_env[] = {
	"GIT_SSH", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_ASKPASS=", "GIT_CURL_", NULL,
};

/* Variables that describe one repository are never inherited: we name the repository. */
static const char *const local_env[] = {
	"GIT_ALTERNATE_OBJECT_DIRECTORIES=", "GIT_CONFIG=", "GIT_OBJECT_DIRECTORY=", "GIT_DIR=",
	"GIT_WORK_TREE=", "GIT_IMPLICIT_WORK_TREE=", "GIT_GRAFT_FILE=", "GIT_INDEX_FILE=",
	"GIT_NO_REPLACE_OBJECTS=", "GIT_REPLACE_REF_BASE=", "GIT_PREFIX=", "GIT_SHALLOW_FILE=",
	"GIT_COMMON_DIR=", "GIT_INTERNAL_SUPER_PREFIX=", "GIT_NAMESPACE=", "GIT_ATTR_SOURCE=",
	"GIT_QUARANTINE_PATH=", "GIT_TERMINAL_PROMPT=", "GIT_DEFAULT_HASH=", NULL,
};

const char *ga_env_get(const char *name)
{
	return ga_environ_get((const char *const *)environ, name);
}

static bool begins_with_any(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strncmp(s, *list, strlen(*list)))
			return true;
	return false;
}

static bool inherited(const char *var, const struct ga_git *g)
{
	if (strncmp(var, "GIT_", 4))
		return true;
	if (begins_with_any(var, local_env))
		return false;
	if (begins_with_any(var, kept_env))
		return true;
	return g->lazy_fetch && begins_with_any(var, kept_fetch_env);
}

static void push_all(struct ga_strv *sv, const char *const *list)
{
	for (; list && *list; list++)
		ga_strv_push(sv, *list);
}

/* An entry of GIT_ALTERNATE_OBJECT_DIRECTORIES, C-quoted, since git splits others at colons. */
static char *alternate_entry(const char *path)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_addch(&b, '"');
	for (; *path; path++) {
		if (*path == '\n') {
			ga_buf_adds(&b, "\\n");
			continue;
		}
		if (*path == '"' || *path == '\\')
			ga_buf_addch(&b, '\\');
		ga_buf_addch(&b, *path);
	}
	ga_buf_addch(&b, '"');
	return ga_buf_steal(&b);
}

static bool finds_itself(const struct ga_repo *r, const struct ga_git *g)
{
	return r->info.has_dotgit && g->work_tree && !strcmp(g->work_tree, r->info.workdir);
}

/* Name the object directory that git writes to, and those that it reads besides: the repository's
 * and, while an import is checked, the private one. */
static void add_object_dirs(const struct ga_repo *r, const struct ga_git *g, struct ga_strv *env)
{
	bool private = r->private && g->private_dir != GA_PRIVATE_NONE;
	const char *dir = g->object_dir ? g->object_dir : private ? r->objects : NULL;
	const char *reads = r->private ? r->objects : r->reads;
	cleanup_free char *common = NULL, *alt = NULL, *more = NULL;

	if (!g->object_dir && g->private_dir == GA_PRIVATE_READ) {
		if (reads)
			alt = alternate_entry(reads);
		if (alt)
			ga_strv_pushf(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s", alt);
		return;
	}
	if (!dir)
		return;
	common = ga_path_join(r->info.commondir, "objects");
	alt = alternate_entry(common);
	more = private && strcmp(dir, r->objects) ? alternate_entry(r->objects) : NULL;
	ga_strv_pushf(env, "GIT_OBJECT_DIRECTORY=%s", dir);
	ga_strv_pushf(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s%s%s", alt, more ? ":" : "",
		      more ? more : "");
}

/* The user's own commands get none of our variables, which everything that they start would
 * inherit. */
static void build_env(const struct ga_repo *r, const struct ga_git *g, struct ga_strv *env)
{
	if (g->as_user) {
		ga_user_environ(env);
		if (g->index_file)
			ga_strv_pushf(env, "GIT_INDEX_FILE=%s", g->index_file);
		push_all(env, g->env);
		return;
	}
	for (char **e = environ; e && *e; e++)
		if (inherited(*e, g))
			ga_strv_push(env, *e);
	/* in the user's own working tree git finds both itself, and filters see neither */
	if (!finds_itself(r, g)) {
		ga_strv_pushf(env, "GIT_DIR=%s", r->info.gitdir);
		if (g->work_tree)
			ga_strv_pushf(env, "GIT_WORK_TREE=%s", g->work_tree);
		else
			ga_strv_push(env, "GIT_IMPLICIT_WORK_TREE=0");
	}
	if (g->index_file)
		ga_strv_pushf(env, "GIT_INDEX_FILE=%s", g->index_file);
	add_object_dirs(r, g, env);
	ga_strv_push(env, "GIT_TERMINAL_PROMPT=0");
	/* no replace refs, which libgit2 ignores, too: what is checked must be what is merged */
	ga_strv_push(env, "GIT_NO_REPLACE_OBJECTS=1");
	push_all(env, forced_env);
	if (!g->lazy_fetch)
		push_all(env, no_fetch_env);
	push_all(env, g->env);
}

static void push_config(struct ga_strv *argv, const char *const *list)
{
	for (; list && *list; list++)
		ga_strv_push_many(argv, "-c", *list, NULL);
}

/* core.hooksPath only concerns hooks that are files. Hooks defined in configuration can be switched
 * off by name and, since git 2.55, also by event, wherever they are defined. */
static void push_no_hooks(struct ga_strv *argv, const struct ga_repo *r)
{
	for (const char *const *e = ga_hook_events; *e; e++) {
		ga_strv_push(argv, "-c");
		ga_strv_pushf(argv, "hook.%s.enabled=false", *e);
	}
	for (size_t i = 0; i < r->hooks_off.n; i++)
		ga_strv_pushf(argv, "--config-env=%s=" FALSE_ENV, r->hooks_off.v[i]);
}

int ga_git_spawn(const struct ga_repo *r, const struct ga_git *g, bool with_config,
		 struct ga_buf *dropped, struct ga_process_job **ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv argv = GA_STRV_INIT, env = GA_STRV_INIT;
	struct ga_process p = GA_PROCESS_INIT;

	ga_strv_push(&argv, "git");
	if (with_config) {
		if (!g->as_user) {
			push_config(&argv, forced_config);
			push_no_hooks(&argv, r);
		}
		push_config(&argv, g->config);
	}
	push_all(&argv, g->args);
	build_env(r, g, &env);
	p.argv = (const char *const *)argv.v;
	p.envp = (const char *const *)env.v;
	p.cwd = g->work_tree ? g->work_tree : r->info.gitdir;
	p.in = g->in;
	p.in_len = g->in_len;
	p.in_fd = g->in_fd;
	p.out = g->out;
	p.out_fd = g->out_fd;
	p.out_max = g->out_max;
	p.keep_fd = g->keep_fd < 0 && r ? r->lock : g->keep_fd;
	p.timeout_ms = g->timeout_ms;
	p.max_file = g->max_file;
	p.max_memory = g->max_memory;
	if (!g->show_stderr)
		p.errout = g->errout ? g->errout : dropped;
	if (ga_process_begin(&p, ret, err))
		return ga_hint(err, "git must be installed and on the PATH");
	return 0;
}
