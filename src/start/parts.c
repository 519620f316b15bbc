/* SPDX-License-Identifier: MIT
 *
 * Submodules. To an agent each is a repository beside the others; to us it is a session
 * like any, only that nobody starts or ends it by itself.
 */
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "start.h"

#define MAX_PARTS 64 /* of one repository: each is two mounts and more, and some processes */
#define MAX_DEPTH 8  /* submodules of submodules */

/* ---- the environment of one ------------------------------------------------- */

static void env_release(struct ga_start_env *e)
{
	ga_gitconfig_release(&e->config);
	ga_repo_free(e->repo);
	free(e->state_dir);
	free(e->bwrap);
}

static int env_open(const struct ga_start_env *e, const char *project, const char *path,
		    struct ga_start_env *ret, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(project, path);

	*ret = *e;
	ret->repo = NULL;
	ret->config = (struct ga_gitconfig)GA_GITCONFIG_INIT;
	ret->loading = NULL;
	ret->state_dir = NULL;
	ret->bwrap = e->bwrap ? ga_strdup(e->bwrap) : NULL;
	if (ga_repo_open(dir, &ret->repo, err))
		return -1;
	/* an empty directory is in the superproject, and a link leads elsewhere */
	if (strcmp(ga_repo_info(ret->repo)->workdir, dir)) {
		(void)ga_fail(err, GA_EFATAL, "it is not checked out");
		return ga_hint(err, "'git submodule update --init' brings it back");
	}
	return ga_store_open(e->state_root, ga_repo_info(ret->repo)->id, &ret->state_dir, err) ||
	       ga_gitconfig_load(ret->repo, &ret->config, err) ? -1 : 0;
}

/* ---- opening ---------------------------------------------------------------- */

static void part_release(struct ga_part *p)
{
	free(p->path);
	ga_start_release(&p->start);
	start_base_release(&p->base);
	env_release(&p->env);
}

void start_parts_release(struct ga_start *st)
{
	for (size_t i = 0; i < st->n_parts; i++)
		part_release(&st->parts[i]);
	free(st->parts);
	st->parts = NULL;
	st->n_parts = st->cap_parts = 0;
}

/* With what else the session does not show. */
static void skip(struct start_base *b, const char *path, const char *why)
{
	cleanup_free char *q = ga_quote(path);

	ga_strv_pushf(&b->scan.skipped, "submodule %s: %s", q, why);
}

struct opening {
	const struct ga_start_opts *o;
	struct ga_strv *taken; /* names no session may have */
	struct ga_strv ids;    /* repositories that have one */
	unsigned depth;
};

static int open_parts(struct opening *op, struct ga_start_env *e, struct start_base *b,
		      struct ga_start *st, struct ga_error *err);

/* What is not committed in it is not the superproject's to carry: a commit of that would be
 * what the superproject names, and no repository has it. */
static int check_dirty(const struct ga_start_opts *o, struct start_base *b, const char *path,
		       size_t dirty, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(path);

	if (!dirty)
		return 0;
	if (o->dirty == GA_DIRTY_REFUSE) {
		(void)ga_fail(err, GA_ELOSE, "%zu path%s not committed", dirty,
			      dirty == 1 ? " is" : "s are");
		return ga_hint(err, "commit or stash there, or start with --dirty carry or "
				    "--dirty ignore");
	}
	ga_strv_pushf(&b->scan.skipped, "submodule %s: its uncommitted work (%zu path%s); "
		      "commit it there to have it inside", q, dirty, dirty == 1 ? "" : "s");
	return 0;
}

/* 1: it cannot be a part. */
static int open_part(struct opening *op, struct ga_part *p, const struct ga_oid *commit,
		     struct start_base *of, struct ga_error *err)
{
	const char *why = NULL, *id = ga_repo_info(p->env.repo)->id;
	size_t dirty;
	int rc;

	if (ga_strv_has(&op->ids, id)) {
		skip(of, p->path, "its repository is a part already");
		return 1;
	}
	rc = start_choose_part_base(&p->env, op->o, commit, &p->base, &dirty, &why, err);
	if (rc < 0)
		return -1;
	if (rc) {
		skip(of, p->path, why);
		return 1;
	}
	ga_strv_push(&op->ids, id);
	if (check_dirty(op->o, of, p->path, dirty, err) ||
	    start_taken_names(p->env.repo, op->taken, err) ||
	    ga_session_names(p->env.state_dir, op->taken, err))
		return -1;
	op->depth++;
	rc = open_parts(op, &p->env, &p->base, &p->start, err);
	op->depth--;
	return rc;
}

static int try_part(struct opening *op, struct ga_start_env *e, const char *path,
		    const struct ga_oid *commit, struct start_base *b, struct ga_start *st,
		    struct ga_error *err)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	struct ga_part p = { .path = ga_strdup(path), .start = GA_START_INIT };
	int rc = 1;

	/* a repository no session could stand in is no reason not to work on the rest */
	if (env_open(e, ga_repo_info(e->repo)->workdir, path, &p.env, &odd))
		skip(b, path, odd.msg);
	else
		rc = open_part(op, &p, commit, b, err);
	if (!rc) {
		GA_GROW(st->parts, st->n_parts, st->cap_parts);
		st->parts[st->n_parts++] = p;
		return 0;
	}
	part_release(&p);
	return rc < 0 ? -1 : 0;
}

static int open_parts(struct opening *op, struct ga_start_env *e, struct start_base *b,
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
		else if (op->depth >= MAX_DEPTH || st->n_parts >= MAX_PARTS)
			skip(b, paths->v[i], "one too many");
		else if (try_part(op, e, paths->v[i], &entry.oid, b, st, err)) {
			cleanup_free char *q = ga_escape(paths->v[i]);

			return ga_error_wrap(err, "submodule '%s'", q);
		}
	}
	return 0;
}

int start_open_parts(struct ga_start_env *e, const struct ga_start_opts *o, struct start_base *b,
		     struct ga_start *st, struct ga_strv *taken, struct ga_error *err)
{
	struct opening op = { .o = o, .taken = taken };
	int rc;

	ga_strv_push(&op.ids, ga_repo_info(e->repo)->id);
	rc = open_parts(&op, e, b, st, err);
	ga_strv_release(&op.ids);
	return rc;
}

/* ---- making ------------------------------------------------------------------ */

static int make_part(const struct ga_start_opts *o, struct ga_part *p, const struct ga_session *of,
		     struct ga_error *err)
{
	static const struct ga_strv none = GA_STRV_INIT;
	cleanup_refs struct ga_refs visible = GA_REFS_INIT;
	struct ga_session *s = &p->start.session;
	struct ga_start_opts own = *o;

	/* what the working tree has there belongs to the submodule's own commit, if to any */
	own.live = false;
	if (ga_session_create(p->env.state_dir, of->name, NULL, &none, s, &p->start.lock, err))
		return -1;
	s->within = ga_strdup(of->dir);
	p->start.spec.project = ga_strdup(ga_repo_info(p->env.repo)->workdir);
	if (ga_repo_object_dirs(p->env.repo, &p->start.spec.object_dirs, err) ||
	    ga_session_host_refs(p->env.repo, &visible, err) ||
	    start_make_session(&p->env, &own, &p->base, &visible, &p->start, err))
		return -1;
	return start_make_refs(&p->env, s, &visible, err);
}

int start_make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err)
{
	struct ga_spec *spec = &st->spec;

	spec->parts = ga_calloc(st->n_parts + 1, sizeof(*spec->parts));
	for (size_t i = 0; i < st->n_parts; i++) {
		struct ga_part *p = &st->parts[i];

		if (make_part(o, p, &st->session, err)) {
			cleanup_free char *q = ga_escape(p->path);

			return ga_error_wrap(err, "submodule '%s'", q);
		}
		spec->parts[spec->n_parts++] = p->start.spec;
		p->start.spec = (struct ga_spec)GA_SPEC_INIT;
	}
	return 0;
}

/* ---- running ------------------------------------------------------------------ */

int start_save_parts(struct ga_start *st, struct ga_error *err)
{
	const struct ga_session *of = &st->session;

	for (size_t i = 0; i < st->n_parts; i++) {
		struct ga_start *p = &st->parts[i].start;

		p->session.state = of->state;
		p->session.pid = of->pid;
		p->session.pidns = of->pidns;
		p->session.finished = of->finished;
		p->session.exit_status = of->exit_status;
		free(p->session.incomplete);
		p->session.incomplete = of->incomplete ? ga_strdup(of->incomplete) : NULL;
		if (start_save_parts(p, err) || ga_session_save(&p->session, err))
			return -1;
	}
	return 0;
}

void start_part_paths(const struct ga_start *st, struct ga_strv *ret)
{
	for (size_t i = 0; i < st->n_parts; i++) {
		const struct ga_part *p = &st->parts[i];
		const struct ga_session *s = &p->start.session;
		cleanup_free char *base = ga_session_ref(s, "base");

		ga_ref_paths(p->env.repo, base, ret);
		ga_ref_paths(p->env.repo, s->branch, ret);
		ga_strv_take(ret, ga_path_join(s->dir, "session"));
		ga_strv_push(ret, s->dir);
		start_part_paths(&p->start, ret);
	}
}

void start_unlock_parts(struct ga_start *st)
{
	for (size_t i = 0; i < st->n_parts; i++) {
		start_unlock_parts(&st->parts[i].start);
		ga_cleanup_closep(&st->parts[i].start.lock);
		st->parts[i].start.lock = -1;
	}
}

/* ---- parts of a session on disk -------------------------------------------------- */

/* Load the session of the part, locked. 1: there is none. Another one of the same name, which
 * somebody started in the submodule itself, is none of ours. */
static int load_part(const struct ga_start_env *e, const struct ga_session *of,
		     struct ga_session *ret, int *ret_lock, struct ga_error *err)
{
	int rc = ga_session_load(e->state_dir, of->name, ret, err);

	if (rc)
		return rc;
	if (!ret->within || strcmp(ret->within, of->dir))
		return 1;
	if (ga_session_lock(ret, true, ret_lock, err))
		return -1;
	/* it may have been captured, landed or dropped between reading and locking */
	ga_session_release(ret);
	return ga_session_load(e->state_dir, of->name, ret, err);
}

static int call(const struct ga_start_env *e, const struct ga_session *s, const char *path,
		bool all, ga_part_fn *fn, void *payload, struct ga_error *err)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	cleanup_session struct ga_session part = GA_SESSION_INIT;
	cleanup_(env_release) struct ga_start_env env = { 0 };
	cleanup_free char *q = ga_escape(path);
	cleanup_close int lock = -1;
	int rc;

	if (env_open(e, s->project, path, &env, &odd)) {
		if (!all)
			return 0;
		(void)ga_error_move(err, &odd);
		return ga_error_wrap(err, "submodule '%s'", q);
	}
	rc = load_part(&env, s, &part, &lock, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return fn(&env, &part, path, payload, err);
}

int ga_start_each_part(const struct ga_start_env *e, const struct ga_session *s, bool all,
		       ga_part_fn *fn, void *payload, struct ga_error *err)
{
	for (size_t i = 0; i < s->submodules.n; i++)
		if (call(e, s, s->submodules.v[i], all, fn, payload, err))
			return -1;
	return 0;
}

static int discard(struct ga_start_env *e, struct ga_session *s, const char *path, void *payload,
		   struct ga_error *err)
{
	(void)path;
	(void)payload;
	return ga_start_discard(e, s, err);
}

int start_discard_parts(const struct ga_start_env *e, const struct ga_session *s,
			struct ga_error *err)
{
	return ga_start_each_part(e, s, false, discard, NULL, err);
}

/* ---- capture ---------------------------------------------------------------------- */

struct captured {
	const struct ga_session *of;
	struct ga_sandbox **ended;
	struct ga_links *links;
};

static int capture(struct ga_start_env *e, struct ga_session *s, const char *path, void *payload,
		   struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	struct captured *c = payload;
	cleanup_free char *q = ga_escape(path);

	if (!s->finished)
		s->finished = c->of->finished;
	/* landed by itself already: its result is final */
	if (s->state == GA_STATE_LANDED ? ga_report_read(e->repo, s, &r, err) < 0
					: ga_start_capture(e, s, c->ended, &r, err))
		return ga_error_wrap(err, "submodule '%s'", q);
	for (size_t i = 0; i < c->links->n; i++) {
		struct ga_link *l = &c->links->v[i];

		if (strcmp(l->path, path))
			continue;
		l->tip = s->tip;
		l->told = !ga_report_says_nothing(&r);
	}
	return 0;
}

int start_capture_parts(const struct ga_start_env *e, const struct ga_session *s,
			struct ga_sandbox **ended, struct ga_links *ret, struct ga_error *err)
{
	struct captured c = { s, ended, ret };

	/* one whose session was dropped has nothing published, and that is to be known too */
	for (size_t i = 0; i < s->submodules.n; i++) {
		const char *path = s->submodules.v[i];

		GA_GROW(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = (struct ga_link){ .path = ga_strdup(path),
						     .dir = ga_path_join(s->project, path) };
	}
	return ga_start_each_part(e, s, true, capture, &c, err);
}
