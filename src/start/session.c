/* SPDX-License-Identifier: MIT
 *
 * Making a session with all that is mounted from its directory, and with its parts.
 */
#include <time.h>

#include "ga/base/quote.h"
#include "ga/home/home.h"
#include "ga/repo/refs.h"
#include "ga/run/live.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/view/base.h"
#include "ga/view/layers.h"
#include "start-internal.h"
#include "submodule-sessions.h"

static void parts_release(struct ga_start *st)
{
	for (size_t i = 0; i < st->parts.n; i++)
		start_part_release(&st->parts.v[i]);
	free(st->parts.v);
	st->parts = (struct ga_parts){ NULL, 0, 0 };
}

void ga_start_release(struct ga_start *s)
{
	ga_run_leave(s->sandbox);
	ga_relay_close(s->net.relay);
	ga_net_plan_release(&s->net.plan);
	ga_cleanup_closep(&s->net.ports);
	ga_session_release(&s->session);
	/* before the lock, which says that the socket is ours: whoever sees the socket close waits
	 * for the lock */
	ga_live_close(s->live);
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

void start_part_release(struct ga_part *p)
{
	free(p->path);
	ga_start_release(&p->start);
	ga_view_base_release(&p->base);
	start_part_env_release(&p->env);
}

void start_fill_session(struct ga_env *e, const struct ga_start_opts *o,
			const struct ga_view_base *b, struct ga_start *st)
{
	const struct ga_repo_info *info = ga_repo_info(e->repo);
	struct ga_session *s = &st->session;

	s->state = GA_STATE_NEW;
	s->id.project = ga_strdup(info->workdir);
	s->id.gitdir = ga_strdup(info->gitdir);
	s->id.onto_ref = b->onto_ref ? ga_strdup(b->onto_ref) : NULL;
	s->id.onto = b->onto;
	s->id.base = b->base;
	s->id.live = o->view.live;
	s->id.trusted = b->trusted;
	s->id.message = o->message ? ga_strdup(o->message) : NULL;
	s->id.started = (uint64_t)time(NULL);
	for (size_t i = 0; i < o->argc; i++)
		ga_strv_push(&s->id.command, o->argv[i]);
	ga_strv_extend(&s->view.skipped, &b->scan.skipped);
	ga_strv_extend(&s->view.masked, &b->hidden);
	if (o->view.expose)
		ga_strv_extend(&s->view.exposed, o->view.expose);
	ga_strv_extend(&s->view.masked_objects, &b->objects);
	for (size_t i = 0; i < st->parts.n; i++) {
		ga_strv_push(&s->id.submodules, st->parts.v[i].path);
		ga_strv_push(&s->id.part_ids, ga_repo_info(st->parts.v[i].env.repo)->id);
	}
}

/* The objects that an agent needs must outlive a `git branch -D` and `git gc` on
 * the host while it runs. */
static int pin(struct ga_repo *r, const char *name, const struct ga_refs *refs,
	       struct ga_error *err)
{
	cleanup_free struct ga_oid *oids = ga_calloc(refs->n, sizeof(*oids));

	for (size_t i = 0; i < refs->n; i++)
		oids[i] = refs->v[i].oid;
	return ga_reflog_pin(r, name, oids, refs->n, err);
}

/* Make the branch, the ref `base`, whose reflog keeps what the session sees, and the worktree
 * entry, which makes git protect the branch. */
int start_make_refs(struct ga_env *e, const struct ga_session *s,
		    const struct ga_refs *visible, struct ga_error *err)
{
	cleanup_free char *base = ga_session_ref(s, "base");
	cleanup_free char *reason = ga_strf("agent: start %s", s->name);

	if (ga_ref_create(e->repo, base, &s->id.onto, reason, err) ||
	    ga_ref_create(e->repo, s->id.branch, &s->id.onto, reason, err) ||
	    pin(e->repo, base, visible, err) || ga_worktree_entry_create(e->repo, s, err)) {
		cleanup_free char *q = ga_escape(ga_repo_info(e->repo)->commondir);

		return ga_hint(err, "a session needs to write in '%s'", q);
	}
	return 0;
}

int start_check_identity(struct ga_env *e, struct ga_error *err)
{
	cleanup_free char *who = NULL;

	return ga_env_config(e, err) ? -1 : ga_repo_identity(e->repo, &e->config, &who, err);
}

static void describe_attributes(const struct ga_base *b, struct ga_strv *notes)
{
	cleanup_free char *q = b->attributed ? ga_quote(b->attributed) : NULL;

	if (q)
		ga_strv_pushf(notes, "%zu tracked file%s with an access list or attributes, which "
				     "git does not keep: %s%s",
			      b->n_attributed, b->n_attributed == 1 ? "" : "s", q,
			      b->n_attributed == 1 ? "" : " first");
}

static int make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err);

int start_make_session(struct ga_env *e, const struct ga_start_opts *o,
		       const struct ga_view_base *b, const struct ga_refs *visible,
		       struct ga_start *st, struct ga_error *err)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	const char *home = st->spec.home_dir.source;
	struct ga_session *s = &st->session;

	start_fill_session(e, o, b, st);
	if (ga_view_note_live(s, err) || ga_session_save(s, err) ||
	    ga_view_make_layers(e, s, b, &st->notes, err) || start_check_identity(e, err))
		return -1;
	/* a part has no home of its own: it uses its superproject's */
	if (home && ga_home_bring_git(home, &e->config, &odd))
		ga_strv_pushf(&st->notes, "git's configuration for the agent: %s", odd.msg);
	if (!o->view.live && ga_view_get_base(e, s, &st->base, err))
		return -1;
	describe_attributes(&st->base, &st->notes);
	if (ga_view_make_gitdir(e, s, b, &st->base, visible, err))
		return -1;
	return ga_view_make_trees(s, o->view.live ? NULL : &st->base, &st->spec, err) ||
	       make_parts(o, st, err) ? -1 : 0;
}

static int make_part(const struct ga_start_opts *o, struct ga_part *p, const struct ga_session *of,
		     struct ga_error *err)
{
	static const struct ga_strv none = GA_STRV_INIT;
	cleanup_refs struct ga_refs visible = GA_REFS_INIT;
	struct ga_session *s = &p->start.session;
	struct ga_start_opts own = *o;

	/* its working tree need not be at the commit that the superproject names: never live */
	own.view.live = false;
	if (ga_session_create(p->env.state_dir, of->name, NULL, &none, s, &p->start.lock, err))
		return -1;
	s->id.within = ga_strdup(of->dir);
	p->start.spec.project = ga_strdup(ga_repo_info(p->env.repo)->workdir);
	if (ga_repo_object_dirs(p->env.repo, &p->start.spec.object_dirs, err) ||
	    ga_session_host_refs(p->env.repo, &visible, err) ||
	    start_make_session(&p->env, &own, &p->base, &visible, &p->start, err))
		return -1;
	return start_make_refs(&p->env, s, &visible, err);
}

static int make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err)
{
	struct ga_spec *spec = &st->spec;

	spec->parts = ga_calloc(st->parts.n + 1, sizeof(*spec->parts));
	for (size_t i = 0; i < st->parts.n; i++) {
		struct ga_part *p = &st->parts.v[i];

		if (make_part(o, p, &st->session, err)) {
			cleanup_free char *q = ga_escape(p->path);

			return ga_error_wrap(err, "submodule '%s'", q);
		}
		spec->parts[spec->n_parts++] = p->start.spec;
		p->start.spec = (struct ga_spec)GA_SPEC_INIT;
	}
	return 0;
}
