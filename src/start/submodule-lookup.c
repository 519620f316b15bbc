/* SPDX-License-Identifier: MIT
 *
 * Finding the parts of a session on disk. Their state files say which session they belong to; their
 * repositories may have been moved or removed on the host since.
 */
#include "start-internal.h"

void start_part_env_release(struct ga_env *e)
{
	ga_gitconfig_release(&e->config);
	ga_repo_free(e->repo);
	free(e->state_dir);
	free(e->bwrap);
}

static int open_repo(const char *dir, const char *id, struct ga_repo **ret, struct ga_error *err)
{
	cleanup_free char *git = ga_path_join(dir, ".git"), *real = realpath(dir, NULL);
	cleanup_repo struct ga_repo *r = NULL;
	struct stat st;

	if (real && strcmp(real, dir) != 0)
		return ga_fail(err, GA_EFATAL, "a symlink leads elsewhere in its place");
	/* an empty directory would be taken for one of the superproject */
	if (lstat(git, &st))
		return ga_fail(err, GA_EFATAL, "it is not checked out" GA_HINT "'git submodule "
			       "update --init' brings it back");
	if (ga_repo_open(dir, &r, err))
		return -1;
	if (strcmp(ga_repo_info(r)->workdir, dir) != 0)
		return ga_fail(err, GA_EFATAL, "its working tree is elsewhere");
	if (id && strcmp(ga_repo_info(r)->id, id) != 0)
		return ga_fail(err, GA_EFATAL, "another repository is there now" GA_HINT
			       "put the one back that was there when the session started");
	*ret = ga_steal(&r);
	return 0;
}

int start_part_env(const struct ga_env *e, const char *project, const char *path,
		   const char *id, struct ga_env *ret, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(project, path);

	*ret = *e;
	ret->repo = NULL;
	ret->risk = e->risk_own;
	ret->config = (struct ga_gitconfig)GA_GITCONFIG_INIT;
	ret->loading = NULL;
	ret->state_dir = NULL;
	ret->bwrap = e->bwrap ? ga_strdup(e->bwrap) : NULL;
	if (open_repo(dir, id, &ret->repo, err))
		return -1;
	return ga_store_open(e->state_root, ga_repo_info(ret->repo)->id, &ret->state_dir, err);
}

/* Load the part of `of`. 1: there is none; a session of the same name that somebody started in the
 * submodule itself is not it. */
static int load(const char *state, const struct ga_session *of, struct ga_session *ret,
		struct ga_error *err)
{
	int rc = ga_session_load(state, of->name, ret, err);

	return rc ? rc : !ret->id.within || strcmp(ret->id.within, of->dir) != 0;
}

static int load_locked(const char *state, const struct ga_session *of, struct ga_session *ret,
		       int *ret_lock, struct ga_error *err)
{
	int rc = load(state, of, ret, err);

	if (rc)
		return rc;
	if (ga_session_lock(ret, true, ret_lock, err) < 0)
		return -1;
	/* it may have been captured, landed or dropped between reading and locking */
	ga_session_release(ret);
	return load(state, of, ret, err);
}

/* Fail for a part that cannot be read: it is in the way until it is dropped in its repository. */
static int damaged(const struct ga_part_at *at, const struct ga_session *of, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(at->path), *word = ga_quote_shell(at->dir);

	(void)ga_error_wrap(err, "submodule '%s'", q);
	return ga_hint_instead(err, "'git -C %s agent drop --force %s' moves that session to the "
			       "trash", word, of->name);
}

static int call(const struct ga_env *e, const struct ga_session *of, size_t i, bool lock,
		ga_part_fn *fn, void *payload, struct ga_error *err)
{
	const char *path = of->id.submodules.v[i], *id = of->id.part_ids.v[i];
	cleanup_free char *dir = ga_path_join(of->id.project, path);
	cleanup_free char *state = ga_path_join(e->state_root, id);
	cleanup_(start_part_env_release) struct ga_env env = { 0 };
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	struct ga_part_at at = { .path = path, .dir = dir, .lock = -1 };
	cleanup_close int fd = -1;
	int rc = lock ? load_locked(state, of, &s, &fd, err) : load(state, of, &s, err);

	if (rc < 0)
		return damaged(&at, of, err);
	at.s = rc ? NULL : &s;
	at.lock = fd;
	/* git's configuration is needed only to change something, and reading it costs time */
	if (start_part_env(e, of->id.project, path, id, &env, &why) ||
	    (lock && ga_gitconfig_load(env.repo, &env.config, &why)))
		at.why = &why;
	else
		at.env = &env;
	if (at.s && at.env)
		ga_report_load(env.repo, &s);
	return fn(&at, payload, err);
}

int ga_start_each_part(const struct ga_env *e, const struct ga_session *s, bool lock,
		       ga_part_fn *fn, void *payload, struct ga_error *err)
{
	for (size_t i = 0; i < s->id.submodules.n && i < s->id.part_ids.n; i++)
		if (call(e, s, i, lock, fn, payload, err))
			return -1;
	return 0;
}
