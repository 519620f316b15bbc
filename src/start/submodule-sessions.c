/* SPDX-License-Identifier: MIT
 *
 * Sessions of submodules: each is a part of the superproject's session, and starts and ends with
 * it. Its state file names that session; its repository may have been moved or removed on the host
 * since.
 */
#include "start-internal.h"

static void part_env_release(struct ga_env *e)
{
	ga_gitconfig_release(&e->config);
	ga_repo_free(e->repo);
	free(e->state_dir);
	free(e->bwrap);
}

static void part_release(struct ga_part *p)
{
	free(p->path);
	ga_start_release(&p->start);
	ga_view_base_release(&p->base);
	part_env_release(&p->env);
}

static void parts_release(struct ga_start *st)
{
	for (size_t i = 0; i < st->parts.n; i++)
		part_release(&st->parts.v[i]);
	free(st->parts.v);
	st->parts = (struct ga_parts){ NULL, 0, 0 };
}

void ga_start_release(struct ga_start *s)
{
	ga_run_abandon(s->sandbox);
	ga_relay_close(s->net.relay);
	ga_net_plan_release(&s->net.plan);
	ga_cleanup_closep(&s->net.ports);
	ga_session_release(&s->session);
	/* before the lock: whoever sees the socket close waits for the lock */
	ga_control_close(s->control);
	ga_cleanup_closep(&s->lock);
	ga_base_release(&s->base);
	ga_cleanup_closep(&s->home_lock);
	parts_release(s);
	ga_spec_release(&s->spec);
	ga_confine_release(&s->confine);
	ga_agents_command_release(&s->command);
	ga_strv_release(&s->commands.setup);
	ga_strv_release(&s->commands.services);
	ga_strv_release(&s->commands.finish);
	free(s->cwd);
	free(s->transcript);
	free(s->update);
	ga_strv_release(&s->banner);
	ga_strv_release(&s->notes);
	*s = (struct ga_start)GA_START_INIT;
}

static int open_repo(const char *dir, const char *id, struct ga_repo **ret, struct ga_error *err)
{
	cleanup_free char *git = ga_path_join(dir, ".git"), *real = realpath(dir, NULL);
	cleanup_repo struct ga_repo *r = NULL;
	struct stat st;

	if (real && strcmp(real, dir) != 0)
		return ga_fail(err, GA_EFATAL, "a symlink leads elsewhere in its place");
	/* an empty directory would look like one of the superproject */
	if (lstat(git, &st))
		return ga_fail(err, GA_EFATAL, "it is not checked out" GA_HINT "'git submodule "
			       "update --init' restores it");
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

/* The environment of the submodule's repository, which is at `path` of `project` and, unless `id`
 * is NULL, has that id; without git's configuration. Release it on failure too. */
static int part_env(const struct ga_env *e, const char *project, const char *path, const char *id,
		    struct ga_env *ret, struct ga_error *err)
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

/* Load the part of `of`. 1: there is none; a session of the same name started in the submodule does
 * not count. */
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

/* Fail for an unreadable part: it blocks until it is dropped in its repository. */
static int damaged(const struct ga_part_at *at, const struct ga_session *of, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(at->dir);

	(void)ga_error_wrap(err, "submodule '%s'", at->path);
	return ga_hint_instead(err, "'git -C %s agent drop --force %s' moves that session to the "
			       "trash", word, of->name);
}

static int call(const struct ga_env *e, const struct ga_session *of, size_t i, bool lock,
		ga_part_fn *fn, void *payload, struct ga_error *err)
{
	const char *path = of->id.submodules.v[i], *id = of->id.part_ids.v[i];
	cleanup_free char *dir = ga_path_join(of->id.project, path);
	cleanup_free char *state = ga_path_join(e->state_root, id);
	cleanup_(part_env_release) struct ga_env env = { 0 };
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	struct ga_part_at at = { .path = path, .dir = dir, .lock = -1 };
	cleanup_close int fd = -1;
	int rc = lock ? load_locked(state, of, &s, &fd, err) : load(state, of, &s, err);

	if (rc < 0)
		return damaged(&at, of, err);
	at.s = rc ? NULL : &s;
	at.lock = fd;
	/* reading git's configuration takes time, and only changes need it */
	if (part_env(e, of->id.project, path, id, &env, &why) ||
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

#define MAX_PARTS 64 /* of a session: each is two mounts and more, and some processes */
#define MAX_DEPTH 8  /* submodules of submodules */
#define MAX_SHARED_DIRS 1000 /* in all of them together: each is a mount */

/* Add a note that the session does not show a submodule. */
static void skip(struct ga_view_base *b, const char *path, const char *why)
{
	ga_strv_pushf(&b->scan.skipped, "submodule %s: %s", GA_QUOTED(path), why);
}

struct opening {
	const struct ga_start_opts *o;
	struct ga_strv *taken; /* names no session may have */
	struct ga_strv ids;    /* repositories opened so far, the superproject's first */
	unsigned depth;
	size_t shared;         /* directories that may still be shared */
};

static int open_parts(struct opening *op, struct ga_env *e, struct ga_view_base *b,
		      struct ga_start *st, struct ga_error *err);

/* Uncommitted work in a submodule is not carried: the superproject would name a commit that no
 * repository has. */
static int check_dirty(const struct ga_start_opts *o, struct ga_view_base *b,
		       const struct ga_part *p, size_t dirty, struct ga_error *err)
{
	const char *op = ga_repo_operation(p->env.repo);
	cleanup_free char *q = ga_quote(p->path);

	if (!dirty) {
		/* during such an operation uncommitted work is unknown */
		if (op && !o->view.base_rev && o->view.dirty != GA_DIRTY_IGNORE)
			ga_strv_pushf(&b->scan.skipped, "submodule %s: what the %s in progress "
				      "there has changed", q, op);
		return 0;
	}
	if (o->view.dirty == GA_DIRTY_REFUSE)
		return ga_fail(err, GA_ELOSE, "%zu path%s not committed" GA_HINT "commit or stash "
			       "them there, or start with --dirty carry or --dirty ignore", dirty,
			       dirty == 1 ? " is" : "s are");
	ga_strv_pushf(&b->scan.skipped, "submodule %s: its uncommitted work (%zu path%s); "
		      "commit it there to have it inside", q, dirty, dirty == 1 ? "" : "s");
	return 0;
}

/* Choose the base of a submodule, and open its own submodules. 1: it cannot be a part. */
static int open_part(struct opening *op, struct ga_part *p, const struct ga_oid *commit,
		     struct ga_view_base *of, struct ga_error *err)
{
	const char *why = NULL, *id = ga_repo_info(p->env.repo)->id, *name = op->o->name;
	/* one not committed in the superproject is what the snapshot will name */
	bool moved = of->carried && ga_strv_has(&of->scan.changed, p->path);
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	size_t dirty;
	int rc;

	if (moved && !ga_repo_head(p->env.repo, &head, &branch, err))
		commit = &head;
	if (err->msg)
		return -1;
	if (ga_strv_has(&op->ids, id)) {
		skip(of, p->path, "its repository is a part already");
		return 1;
	}
	rc = ga_view_choose_part_base(&p->env, &op->o->view, commit, &p->base, &dirty, &why, err);
	if (rc < 0)
		return -1;
	if (rc) {
		skip(of, p->path, why);
		return 1;
	}
	ga_strv_push(&op->ids, id);
	if (p->base.max_shared > op->shared)
		p->base.max_shared = op->shared;
	op->shared -= p->base.scan.ignored_dirs.n < p->base.max_shared ?
			      p->base.scan.ignored_dirs.n : p->base.max_shared;
	if (check_dirty(op->o, of, p, dirty, err) ||
	    ga_session_taken_names(p->env.repo, &taken, err) ||
	    (name && ga_session_name_check(p->env.state_dir, name, &taken, err)) ||
	    ga_session_names(p->env.state_dir, &taken, err))
		return -1;
	ga_strv_extend(op->taken, &taken);
	op->depth++;
	rc = open_parts(op, &p->env, &p->base, &p->start, err);
	op->depth--;
	return rc;
}

static int try_part(struct opening *op, struct ga_env *e, const char *path,
		    const struct ga_oid *commit, struct ga_view_base *b, struct ga_start *st,
		    struct ga_error *err)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	struct ga_part p = { .path = ga_strdup(path), .start = GA_START_INIT };
	int rc = 1;

	/* an unsuitable repository does not stop the session */
	if (part_env(e, ga_repo_info(e->repo)->workdir, path, NULL, &p.env, &odd) ||
	    ga_gitconfig_load(p.env.repo, &p.env.config, &odd))
		skip(b, path, odd.msg);
	else
		rc = open_part(op, &p, commit, b, err);
	if (!rc) {
		GA_GROW(st->parts.v, st->parts.n, st->parts.cap);
		st->parts.v[st->parts.n++] = p;
		return 0;
	}
	part_release(&p);
	return rc < 0 ? -1 : 0;
}

static int open_parts(struct opening *op, struct ga_env *e, struct ga_view_base *b,
		      struct ga_start *st, struct ga_error *err)
{
	const struct ga_strv *paths = &b->scan.submodules;
	struct ga_oid tree;

	if (!paths->n)
		return 0;
	if (ga_commit_tree(e->repo, &b->base, &tree, err))
		return -1;
	for (size_t i = 0; i < paths->n; i++) {
		struct ga_entry entry;

		if (ga_tree_entry(e->repo, &tree, paths->v[i], &entry, err))
			return -1;
		if (entry.mode != GA_MODE_GITLINK)
			skip(b, paths->v[i], "the base has none there");
		else if (op->depth >= MAX_DEPTH)
			skip(b, paths->v[i], "it lies too deep in others");
		else if (op->ids.n > MAX_PARTS)
			skip(b, paths->v[i], "there are too many");
		else if (try_part(op, e, paths->v[i], &entry.oid, b, st, err))
			return ga_error_wrap(err, "submodule '%s'", paths->v[i]);
	}
	return 0;
}

int start_open_parts(struct ga_env *e, const struct ga_start_opts *o, struct ga_view_base *b,
		     struct ga_start *st, struct ga_strv *taken, struct ga_error *err)
{
	struct opening op = { .o = o, .taken = taken, .shared = MAX_SHARED_DIRS };
	int rc;

	ga_strv_push(&op.ids, ga_repo_info(e->repo)->id);
	rc = open_parts(&op, e, b, st, err);
	ga_strv_release(&op.ids);
	return rc;
}

int start_save_parts(struct ga_start *st, struct ga_error *err)
{
	const struct ga_session *of = &st->session;

	for (size_t i = 0; i < st->parts.n; i++) {
		struct ga_start *p = &st->parts.v[i].start;

		p->session.state = of->state;
		p->session.run.pid = of->run.pid;
		p->session.run.pidns = of->run.pidns;
		p->session.run.finished = of->run.finished;
		p->session.run.exit_status = of->run.exit_status;
		free(p->session.view.incomplete);
		p->session.view.incomplete = of->view.incomplete ? ga_strdup(of->view.incomplete)
			: NULL;
		if (start_save_parts(p, err) || ga_session_save(&p->session, err))
			return -1;
	}
	return 0;
}

void start_part_paths(const struct ga_start *st, struct ga_strv *ret)
{
	for (size_t i = 0; i < st->parts.n; i++) {
		const struct ga_part *p = &st->parts.v[i];
		const struct ga_session *s = &p->start.session;
		cleanup_free char *base = ga_session_ref(s, "base");

		ga_ref_paths(p->env.repo, base, ret);
		ga_ref_paths(p->env.repo, s->id.branch, ret);
		ga_strv_take(ret, ga_path_join(s->dir, "session"));
		ga_strv_push(ret, s->dir);
		start_part_paths(&p->start, ret);
	}
}

void start_unlock_parts(struct ga_start *st)
{
	for (size_t i = 0; i < st->parts.n; i++) {
		start_unlock_parts(&st->parts.v[i].start);
		ga_cleanup_closep(&st->parts.v[i].start.lock);
	}
}
