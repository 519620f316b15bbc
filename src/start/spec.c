/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/session/wip.h"
#include "ga/sys/fd.h"
#include "home.h"
#include "layers.h"
#include "start.h"

/* A volatile overlay marks its work directory so that it cannot be mounted
 * again, and one left by a killed session may hold anything: every mount gets
 * a fresh one. */
char *start_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err)
{
	cleanup_free char *parent = start_dir(s, "work"), *dir = NULL;
	uint64_t r;

	if (ga_random(&r, sizeof(r), err))
		return NULL;
	dir = ga_strf("%s/%s-%016llx", parent, what, (unsigned long long)r);
	if (ga_mkdir_p(dir, 0700, err))
		return NULL;
	return ga_steal(&dir);
}

void start_remove_work(const char *session_dir)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int at = open(session_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (at >= 0)
		(void)ga_rmtree_at(at, "work", &ignored);
}

/* 1: it is there; 0: it is not; an error if neither is certain. */
static int look(const char *path, struct stat *ret, struct ga_error *err)
{
	cleanup_free char *q = NULL;
	int e;

	if (!stat(path, ret))
		return 1;
	e = errno;
	if (e == ENOENT || e == ENOTDIR)
		return 0;
	q = ga_escape(path);
	return ga_fail_errno(err, GA_ESTART, e, "cannot look at '%s'", q);
}

int start_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
		      struct ga_error *err)
{
	cleanup_free char *what = ga_strf("shared%zu", i);
	cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);
	cleanup_free char *lower = ga_path_join(s->id.project, s->view.shared.v[i]);
	struct stat st, ignored;
	int there = look(lower, &st, err), masked = there > 0 ? look(mask, &ignored, err) : 0;

	if (there < 0 || masked < 0)
		return -1;
	if (!there || !ga_session_shares(s, i))
		return 1;
	*ret = (struct ga_shared){ .rel = ga_strdup(s->view.shared.v[i]),
				   .lower = ga_steal(&lower),
				   .upper = ga_strf("%s/shared/%zu/upper", s->dir, i),
				   .removed = ga_session_removed(s, i),
				   .mask = masked ? ga_steal(&mask) : NULL,
				   .work = start_fresh_dir(s, what, err),
				   .dev = st.st_dev,
				   .ino = st.st_ino };
	return ret->work ? 0 : -1;
}

static int add_shared(const struct ga_session *s, struct ga_spec *spec, struct ga_error *err)
{
	cleanup_(start_seen_release) struct start_seen seen = { 0 };

	if (!s->view.shared.n)
		return 0;
	spec->shared = ga_calloc(s->view.shared.n, sizeof(*spec->shared));
	for (size_t i = 0; i < s->view.shared.n; i++) {
		struct ga_shared *sh = &spec->shared[spec->n_shared];
		int rc = start_make_shared(s, i, sh, err);

		if (rc > 0) /* nothing to lay over */
			continue;
		spec->n_shared++;
		if (rc)
			return -1;
		start_seen_set(&seen, i, sh);
	}
	return start_seen_write(&seen, s, err);
}

/* Set a variable, replacing one of the same name. */
static void set(struct ga_strv *env, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1, kept = 0;

	for (size_t i = 0; i < env->n; i++) {
		if (strncmp(env->v[i], entry, n))
			env->v[kept++] = env->v[i];
		else
			free(env->v[i]);
	}
	env->n = kept;
	ga_strv_push(env, entry);
}

void start_set_variable(struct ga_strv *env, const char *name, const char *value)
{
	cleanup_free char *entry = ga_strf("%s=%s", name, value);

	set(env, entry);
}

void start_add_environment(struct ga_start_env *e, const struct ga_preset *preset,
			   struct ga_spec *spec, const struct ga_session *s)
{
	cleanup_strv struct ga_strv pass = GA_STRV_INIT;

	for (size_t i = 0; preset && preset->keys[i]; i++)
		ga_strv_push(&pass, preset->keys[i]);
	for (size_t i = 0; preset && preset->pass[i]; i++)
		ga_strv_push(&pass, preset->pass[i]);
	ga_strv_extend(&pass, &e->conf.env.pass);
	ga_spec_environment(spec, e->path, e->environ, &pass);
	for (size_t i = 0; preset && preset->set[i]; i++)
		set(&spec->env, preset->set[i]);
	for (size_t i = 0; i < e->conf.env.set.n; i++)
		set(&spec->env, e->conf.env.set.v[i]);
	ga_strv_push(&spec->env, "IS_SANDBOX=1");
	ga_strv_pushf(&spec->env, "GIT_AGENT_NOTES=%s/" HOME_NOTES, spec->home);
	ga_strv_pushf(&spec->env, "GIT_AGENT_SESSION=%s", s->name);
}

int start_find_tools(const struct ga_start_env *e, const char *command, struct ga_spec *ret,
		     struct ga_error *err)
{
	return ga_repo_object_dirs(e->repo, &ret->object_dirs, err) ||
	       ga_spec_find_tools(e->home, e->path, command, &ret->tools, err) ? -1 : 0;
}

int start_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *p,
		     struct ga_error *err)
{
	cleanup_free char *extras = start_dir(s, "extras"), *objects = ga_wip_objects(s);

	if (!access(objects, F_OK) && !ga_strv_has(&p->object_dirs, objects))
		ga_strv_take(&p->object_dirs, ga_steal(&objects));
	if (!access(extras, F_OK))
		ga_strv_take(&p->lowers, ga_steal(&extras));
	ga_strv_push(&p->lowers, base ? base->tree : s->id.project);
	p->upper = start_dir(s, "upper");
	p->work = start_fresh_dir(s, "project", err);
	p->git_upper = start_dir(s, "git");
	ga_strv_extend(&p->hidden_objects, &s->view.masked_objects);
	if (!p->work)
		return -1;
	if (base) {
		p->git_lower = ga_strdup(base->git);
		p->git_work = start_fresh_dir(s, "git", err);
		if (!p->git_work)
			return -1;
	}
	return add_shared(s, p, err);
}
