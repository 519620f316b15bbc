/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/agents/agents.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/home/home.h"
#include "ga/on/on.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/run/live.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/view/base.h"
#include "ga/view/spec.h"
#include "run-step.h"
#include "start-internal.h"
#include "submodule-sessions.h"

int ga_start_taken_names(const struct ga_env *e, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_ons struct ga_ons elsewhere = GA_ONS_INIT;

	if (ga_session_taken_names(e->repo, ret, err) || ga_on_list(e->state_dir, &elsewhere, err))
		return -1;
	for (size_t i = 0; i < elsewhere.n; i++)
		ga_strv_push(ret, elsewhere.v[i].name);
	return 0;
}

void ga_start_take_commands(const struct ga_env *e, const struct ga_start_opts *o,
			    struct ga_start *st)
{
	const struct ga_strv *const from[] = { o->no_setup ? NULL : &e->conf.beside.setup,
					       o->no_services ? NULL : &e->conf.beside.services,
					       o->no_finish ? NULL : &e->conf.beside.finish };
	struct ga_start_commands *c = &st->commands;
	struct ga_strv *const to[] = { &c->setup, &c->services, &c->finish };

	for (size_t i = 0; i < GA_NELEMS(from); i++)
		if (from[i])
			ga_strv_extend(to[i], from[i]);
	st->unfiltered = o->unfiltered;
	st->quiet = o->quiet;
}

/* Refs and worktree entry are made while the sandbox comes up, which takes as long
 * and needs nothing of them. */
static int prepare(struct ga_env *e, const struct ga_start_opts *o,
		   struct ga_view_base *b, struct ga_start *st, struct ga_error *err)
{
	cleanup_refs struct ga_refs visible = GA_REFS_INIT;
	struct ga_session *s = &st->session;
	cleanup_free char *objects = ga_wip_objects(s);

	if (ga_session_host_refs(e->repo, &visible, err) ||
	    ga_view_take_snapshot(e, objects, b, err) ||
	    start_make_session(e, o, b, &visible, st, err))
		return -1;
	ga_view_add_environment(e, st->command.preset, &st->spec, s);
	if (ga_start_answer(e, b, NULL, st, err) ||
	    ga_home_keep_conversations(e, s, &st->spec, err) ||
	    ga_home_add_layer(e, s, &st->spec, st->sandbox, err) ||
	    ga_start_make_network(e, st, err) || ga_start_show_texts(e, st, err) ||
	    ga_home_run_trees(e, &st->spec, st->sandbox, err) ||
	    start_make_refs(e, s, &visible, err))
		return -1;
	st->cwd = ga_agents_cwd(s->id.project);
	st->carried = b->carried;
	start_describe(e, o, b, st);
	if (ga_fault("start:prepared"))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot prepare session '%s'", s->name);
	return 0;
}

/* Lock and make the home of the session, and write into it what the agent is told. */
static int open_home(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	if (ga_home_open_session(e, &st->home_lock, &st->banner, err))
		return -1;
	ga_agents_describe_login(e, st->command.preset, &st->banner);
	ga_home_fill(e, st->command.preset, &st->spec, &st->banner);
	return 0;
}

int ga_start_begin_home(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	const char *project = ga_repo_info(e->repo)->workdir;
	bool other = st->sandbox && !start_has_network(e, st), same = true;

	if (st->sandbox && ga_view_has_mounts(e, &st->spec, &same, err))
		return -1;
	if (other)
		start_note_guess(e);
	if (other || (st->sandbox && (!same || strcmp(st->spec.project, project) ||
				      st->spec.nested != e->conf.inside.nested ||
				      !ga_run_wait_told(st->sandbox)))) {
		ga_run_finish(st->sandbox);
		st->sandbox = NULL;
		ga_spec_release(&st->spec);
	}
	if ((!st->sandbox && ga_start_begin(e, project, st, err)) ||
	    open_home(e, st, err) ||
	    ga_view_find_tools(e, st->command.own ? "node" : st->command.argv.v[0], &st->spec,
			       err))
		return -1;
	/* an overlay needs the session's layer, which is not there yet: ga_home_add_layer() */
	return e->conf.home_mode == GA_HOME_OVERLAY ? 0 :
	       ga_home_run(e, &st->spec, st->sandbox, err);
}

static int check_host(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *st,
		      struct ga_error *err)
{
	ga_agents_make_command(e, o->argv, o->argc, false, &st->command);
	if (o->task && ga_agents_add_task(o->task, &st->command, err))
		return -1;
	return ga_view_check_project(e, err) || ga_agents_check_command(e, &st->command, err) ? -1
											    : 0;
}

/* Are there refs of a session `name`, in the repository or in that of a submodule? 1 yes. */
static int has_refs(struct ga_env *e, struct ga_start *st, const char *name, struct ga_error *err)
{
	cleanup_free char *base = ga_strf(GA_SESSION_REFS "%s/base", name);
	struct ga_oid oid;
	int rc = ga_ref_read(e->repo, base, &oid, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; rc && i < st->parts.n; i++) {
		struct ga_part *p = &st->parts.v[i];
		int found = has_refs(&p->env, &p->start, name, err);

		if (found < 0)
			return -1;
		rc = !found;
	}
	return !rc;
}

/* Refs of a session stay behind if the state directory was removed, or another one is configured
 * now, and may be all that is left of its work. So a `name` that has some is refused, and numbers
 * that do are passed over (added to `taken`). */
static int check_left_refs(struct ga_env *e, const struct ga_start_opts *o, const char *stem,
			   struct ga_start *st, struct ga_strv *taken, struct ga_error *err)
{
	cleanup_free char *sessions = ga_path_join(e->state_dir, "sessions");
	cleanup_close int at = open(sessions, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (unsigned i = ga_session_first_number(e->state_dir, stem);; i++) {
		cleanup_free char *name = o->name ? ga_strdup(o->name) : ga_strf("%s-%u", stem, i);
		int rc;

		if (!ga_session_name_ok(name))
			return 0;
		if (!faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) || ga_strv_has(taken, name)) {
			if (o->name)
				return 0;
			continue;
		}
		rc = has_refs(e, st, name, err);
		if (rc <= 0)
			return rc;
		if (o->name) {
			(void)ga_fail(err, GA_ESTART, "an earlier session '%s' left refs", name);
			return ga_hint(err, "choose another --name, or delete what 'git "
					    "for-each-ref " GA_SESSION_REFS "%s/' lists", name);
		}
		ga_strv_push(taken, name);
	}
}

int ga_start_prepare(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		     struct ga_error *err)
{
	cleanup_(ga_view_base_release) struct ga_view_base b = { 0 };
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *stem = ga_session_stem(o->argv[0]);

	ga_start_take_commands(e, o, ret);
	if (o->detach)
		ret->detach = *o->detach;
	if (check_host(e, o, ret, err) || ga_start_begin_home(e, ret, err) ||
	    ga_start_check_room(e, err) || ga_start_plan_limits(e, ret, err) ||
	    ga_view_choose_base(e, &o->view, false, &b, err) ||
	    ga_start_taken_names(e, &taken, err) ||
	    start_open_parts(e, o, &b, ret, &taken, err) ||
	    check_left_refs(e, o, stem, ret, &taken, err) ||
	    ga_session_create(e->state_dir, o->name, stem, &taken, &ret->session, &ret->lock, err))
		return -1;
	if (prepare(e, o, &b, ret, err)) {
		cleanup_error struct ga_error second = GA_ERROR_INIT;

		/* nothing ran yet, so nobody's work is lost */
		ga_run_finish(ret->sandbox);
		ret->sandbox = NULL;
		start_unlock_parts(ret);
		(void)ga_start_discard(e, &ret->session, &second);
		return !ga_explain_full(err, e->state_dir) ? -1 :
			ga_hint(err, "free some space, or set XDG_STATE_HOME or state_dir to a "
				     "directory elsewhere");
	}
	return 0;
}

int ga_start_plan(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		  struct ga_error *err)
{
	cleanup_(ga_view_base_release) struct ga_view_base b = { 0 };
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *stem = ga_session_stem(o->argv[0]);

	if (check_host(e, o, ret, err) ||
	    (!e->bwrap && ga_find_bwrap(e->path, false, &e->bwrap, err)) ||
	    ga_view_add_mounts(e, ga_repo_info(e->repo)->workdir, &ret->spec, err) ||
	    ga_start_plan_limits(e, ret, err) || ga_view_choose_base(e, &o->view, true, &b, err) ||
	    ga_start_taken_names(e, &taken, err) ||
	    start_open_parts(e, o, &b, ret, &taken, err) ||
	    (o->name && check_left_refs(e, o, stem, ret, &taken, err)) ||
	    start_check_identity(e, err))
		return -1;
	if (o->name && ga_session_name_check(e->state_dir, o->name, &taken, err))
		return -1;
	start_fill_session(e, o, &b, ret);
	if (ga_start_answer(e, &b, NULL, ret, err))
		return -1;
	ret->session.name = o->name ? ga_strdup(o->name) : ga_strf("%s-N", stem);
	ga_strv_extend(&ret->session.view.shared, &b.scan.ignored_dirs);
	ret->carried = b.carried;
	start_describe_network(e, ret);
	start_describe(e, o, &b, ret);
	ga_start_take_commands(e, o, ret);
	start_describe_commands(ret);
	return 0;
}
