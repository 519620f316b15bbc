/* SPDX-License-Identifier: MIT
 *
 * Prepare a session: limits, decisions, and the order of a start.
 */
#include "ga/agents/agents.h"
#include "ga/on/on.h"
#include "ga/session/session.h"
#include "start-internal.h"

/* Fill in a new session, which has no directory yet. */
static void fill_session(struct ga_env *e, const struct ga_start_opts *o,
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

/* Make the branch, the ref `base`, whose reflog keeps what the session sees, and the worktree
 * entry, which makes git protect the branch. */
static int make_refs(struct ga_env *e, const struct ga_session *s, const struct ga_refs *visible,
		     struct ga_error *err)
{
	cleanup_free char *base = ga_session_ref(s, "base");
	cleanup_free char *reason = ga_strf("agent: start %s", s->name);
	cleanup_free struct ga_oid *oids = ga_calloc(visible->n, sizeof(*oids));

	/* the agent's commits must survive `git branch -D` and `git gc` on the host */
	for (size_t i = 0; i < visible->n; i++)
		oids[i] = visible->v[i].oid;
	if (ga_ref_create(e->repo, base, &s->id.onto, reason, err) ||
	    ga_ref_create(e->repo, s->id.branch, &s->id.onto, reason, err) ||
	    ga_reflog_pin(e->repo, base, oids, visible->n, err) ||
	    ga_worktree_entry_create(e->repo, s, err))
		return ga_hint(err, "a session needs to write in '%s'",
			       ga_repo_info(e->repo)->commondir);
	return 0;
}

/* Capture will need an identity for its commits: fail now rather than after hours of work. */
static int check_identity(struct ga_env *e, struct ga_error *err)
{
	cleanup_free char *who = NULL;

	return ga_env_config(e, err) ? -1 : ga_repo_identity(e->repo, &e->config, &who, err);
}

static int make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err);

static int make_session(struct ga_env *e, const struct ga_start_opts *o,
			const struct ga_view_base *b, const struct ga_refs *visible,
			struct ga_start *st, struct ga_error *err)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	const char *home = st->spec.home_dir.source;
	struct ga_session *s = &st->session;

	fill_session(e, o, b, st);
	if (ga_session_save(s, err) || ga_view_make_layers(e, s, b, &st->notes, err) ||
	    check_identity(e, err))
		return -1;
	/* a part has no home of its own: it uses its superproject's */
	if (home && ga_home_copy_git(home, &e->config, &odd))
		ga_strv_pushf(&st->notes, "git's configuration for the agent: %s", odd.msg);
	if (ga_view_get_base(e, s, &st->base, err))
		return -1;
	if (st->base.attributed)
		ga_strv_pushf(&st->notes, "%zu tracked file%s with an access list or attributes, "
			      "which git does not keep: %s%s", st->base.n_attributed,
			      st->base.n_attributed == 1 ? "" : "s", GA_QUOTED(st->base.attributed),
			      st->base.n_attributed == 1 ? "" : " first");
	if (ga_view_make_gitdir(e, s, b, &st->base, visible, err))
		return -1;
	return ga_view_make_trees(s, &st->base, &st->spec, err) || make_parts(o, st, err) ? -1 : 0;
}

static int make_part(const struct ga_start_opts *o, struct ga_part *p, const struct ga_session *of,
		     struct ga_error *err)
{
	static const struct ga_strv none = GA_STRV_INIT;
	cleanup_refs struct ga_refs visible = GA_REFS_INIT;
	struct ga_session *s = &p->start.session;

	if (ga_session_create(p->env.state_dir, of->name, NULL, &none, s, &p->start.lock, err))
		return -1;
	s->id.within = ga_strdup(of->dir);
	p->start.spec.project = ga_strdup(ga_repo_info(p->env.repo)->workdir);
	if (ga_repo_object_dirs(p->env.repo, &p->start.spec.object_dirs, err) ||
	    ga_session_host_refs(p->env.repo, &visible, err) ||
	    make_session(&p->env, o, &p->base, &visible, &p->start, err))
		return -1;
	return make_refs(&p->env, s, &visible, err);
}

static int make_parts(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err)
{
	struct ga_spec *spec = &st->spec;

	spec->parts = ga_calloc(st->parts.n + 1, sizeof(*spec->parts));
	for (size_t i = 0; i < st->parts.n; i++) {
		struct ga_part *p = &st->parts.v[i];

		if (make_part(o, p, &st->session, err))
			return ga_error_wrap(err, "submodule '%s'", p->path);
		spec->parts[spec->n_parts++] = p->start.spec;
		p->start.spec = (struct ga_spec)GA_SPEC_INIT;
	}
	return 0;
}

int ga_start_plan_limits(const struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	/* a dry run has no sandbox, which sets it otherwise */
	st->spec.nested = e->conf.inside.nested;
	if (e->conf.inside.nested && geteuid() == 0)
		return ga_fail(err, GA_ESTART, "no sandbox can be made inside one of root's: the "
			       "kernel maps uid 0 no further" GA_HINT "start the session as an "
			       "ordinary user, or with 'git agent -c sandbox.nested=false start'");
	ga_confine_release(&st->confine);
	return ga_confine_plan(&e->use, e->environ, e->path, &st->confine, err);
}

static int show_limit(struct ga_start *st, const char *name, uint64_t value, const char *rest,
		      struct ga_error *err)
{
	cleanup_free char *at = ga_path_join("/sys/fs/cgroup", name);
	cleanup_free char *text = value ? ga_strf("%llu%s\n", (unsigned long long)value, rest)
					: ga_strf("max%s\n", rest);

	return ga_spec_show_text(&st->spec, at, text, strlen(text), err);
}

int ga_start_show_texts(const struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	const struct ga_confine *c = &st->confine;

	/* files instead of the control group: the session's may be made only after its sandbox, or
	 * not at all, and the host's does not apply */
	return show_limit(st, "memory.max", c->memory ? c->limits.memory : 0, "", err) ||
	       show_limit(st, "pids.max", c->tasks ? c->limits.tasks : 0, "", err) ||
	       show_limit(st, "cpu.max", c->cpu ? c->limits.cpu * 1000 : 0, " 100000", err) ||
	       ga_view_show_user(&st->spec, err) ||
	       ga_view_show_ssh(e, &st->spec, &st->notes, err) ||
	       ga_view_add_host_files(e, &st->spec, &st->notes, err) ? -1 : 0;
}

/* Do not report the default limit of tasks. */
void ga_start_describe_limits(struct ga_start *st)
{
	cleanup_strv struct ga_strv limits = GA_STRV_INIT;
	cleanup_buf struct ga_buf line = GA_BUF_INIT;

	ga_confine_describe(&st->confine, &limits);
	for (size_t i = 0; i < limits.n; i++)
		if (strncmp(limits.v[i], "tasks ", 6) != 0 || !st->confine.limits.tasks_default)
			ga_buf_addf(&line, "%s%s", line.len ? ", " : "limits: ", limits.v[i]);
	if (line.len)
		ga_strv_push(&st->banner, line.ptr);
	if (st->spec.nested)
		ga_strv_push(&st->banner, "programs inside may make sandboxes of their own");
}

int ga_start_check_room(const struct ga_env *e, struct ga_error *err)
{
	const char *dir = start_full_place(e, e->state_dir);
	cleanup_free char *least = NULL;

	if (!dir)
		return 0;
	least = ga_size_text(e->conf.disk_free);
	return ga_fail(err, GA_ESTART, "less than %s is free for '%s'" GA_HINT "free some space, "
		       "or set XDG_STATE_HOME, state_dir or home to a directory elsewhere, or "
		       "disk_free to less", least, dir);
}

struct told {
	struct ga_strv masked, stored;
	size_t n_seen, n_committed;
	bool incomplete;
};

static void report_limits(const struct ga_view_base *b, const struct ga_start *st, const char *at,
			  struct told *t)
{
	t->incomplete |= b->secrets.incomplete;
	for (size_t i = 0; i < b->secrets.n; i++) {
		const struct ga_exposed *x = &b->secrets.v[i];

		if (x->secret.tier <= GA_TIER_NOTE)
			continue;
		if (x->view == GA_VIEW_MASKED) {
			ga_strv_take(&t->masked, ga_path_join(at, x->path));
		} else {
			t->n_seen++;
			t->n_committed += x->as == GA_EXPOSED_COMMITTED;
		}
	}
	for (size_t i = 0; i < b->stored.n; i++)
		ga_strv_take(&t->stored, ga_path_join(at, b->stored.v[i]));
	for (size_t i = 0; i < st->parts.n; i++) {
		cleanup_free char *sub = ga_path_join(at, st->parts.v[i].path);

		report_limits(&st->parts.v[i].base, &st->parts.v[i].start, sub, t);
	}
}

void ga_start_describe_secrets(const struct ga_view_base *b, struct ga_start *st)
{
	struct told t = { .masked = GA_STRV_INIT, .stored = GA_STRV_INIT };

	report_limits(b, st, "", &t);
	ga_view_describe_paths("secrets kept out (--expose PATH shows one)", &t.masked,
			       &st->banner);
	ga_view_describe_paths("kept out, but git has stored it (commit, stash or index), where it "
			       "can be read", &t.stored, &st->banner);
	if (t.n_seen)
		ga_strv_pushf(&st->banner, "%zu file%s with secrets can be read inside, %zu of "
			      "them committed: 'git agent secrets'", t.n_seen,
			      t.n_seen == 1 ? "" : "s", t.n_committed);
	if (t.incomplete)
		ga_strv_push(&st->banner, "not everything could be searched for secrets");
	ga_strv_release(&t.masked);
	ga_strv_release(&t.stored);
}

static void describe(const struct ga_env *e, const struct ga_start_opts *o,
		     const struct ga_view_base *b, struct ga_start *st)
{
	const struct ga_session *s = &st->session;
	const char *branch = o->view.base_rev ? NULL : ga_ref_branch(b->onto_ref);
	char hex[GA_OID_HEXSZ + 1];

	(void)ga_oid_hex(&b->onto, hex);
	hex[10] = '\0';
	if (!b->carried)
		ga_strv_pushf(&st->banner, "base %s%s%s", hex, branch ? " of " : "",
			      branch ? branch : "");
	else
		ga_strv_pushf(&st->banner,
			      "base %s and %zu uncommitted path%s, kept off the branch", hex,
			      b->carried, b->carried == 1 ? "" : "s");
	ga_view_describe_paths("shared", &s->view.shared, &st->banner);
	ga_view_describe_paths("submodules", &s->id.submodules, &st->banner);
	ga_view_describe_mounts(e, &st->spec, &st->banner);
	ga_start_describe_secrets(b, st);
	ga_start_describe_limits(st);
	for (size_t i = 0; i < s->view.skipped.n; i++) {
		if (i == 5) {
			ga_strv_pushf(&st->banner, "left out: %zu more ('git agent show %s')",
				      s->view.skipped.n - 5, s->name);
			break;
		}
		ga_strv_pushf(&st->banner, "left out: %s", s->view.skipped.v[i]);
	}
	ga_strv_extend(&st->banner, &st->notes);
}

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

/* Make refs and worktree entry while the sandbox comes up, which does not need them. */
static int prepare(struct ga_env *e, const struct ga_start_opts *o,
		   struct ga_view_base *b, struct ga_start *st, struct ga_error *err)
{
	cleanup_refs struct ga_refs visible = GA_REFS_INIT;
	struct ga_session *s = &st->session;
	cleanup_free char *objects = ga_wip_objects(s);

	if (ga_session_host_refs(e->repo, &visible, err) ||
	    ga_view_take_snapshot(e, objects, b, err) ||
	    make_session(e, o, b, &visible, st, err))
		return -1;
	ga_view_add_environment(e, st->command.preset, &st->spec, s);
	if (ga_start_answer(e, b, NULL, st, err) ||
	    ga_home_keep_conversations(e, s, &st->spec, err) ||
	    ga_home_add_layer(e, s, &st->spec, st->sandbox, err) ||
	    ga_start_make_network(e, st, err) || ga_start_show_texts(e, st, err) ||
	    ga_home_run_trees(e, &st->spec, st->sandbox, err) ||
	    make_refs(e, s, &visible, err))
		return -1;
	st->cwd = ga_agents_cwd(s->id.project);
	st->carried = b->carried;
	describe(e, o, b, st);
	if (ga_fault("start:prepared"))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot prepare session '%s'", s->name);
	return 0;
}

int ga_start_begin_home(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	const char *project = ga_repo_info(e->repo)->workdir;
	bool other = st->sandbox && st->spec.network != (e->net.mode == GA_NETWORK_HOST);
	bool same = true;

	if (st->sandbox && ga_view_has_mounts(e, &st->spec, &same, err))
		return -1;
	if (other)
		start_note_guess(e);
	if (other || (st->sandbox && (!same || strcmp(st->spec.project, project) ||
				      st->spec.nested != e->conf.inside.nested ||
				      !ga_run_wait_sent(st->sandbox)))) {
		ga_run_finish(st->sandbox);
		st->sandbox = NULL;
		ga_spec_release(&st->spec);
	}
	if ((!st->sandbox && ga_start_begin(e, project, st, err)) ||
	    ga_home_open_session(e, &st->home_lock, &st->banner, err))
		return -1;
	ga_agents_describe_login(e, st->command.preset, &st->banner);
	ga_home_fill(e, st->command.preset, &st->spec, &st->banner);
	if (ga_view_find_tools(e, st->command.own ? "node" : st->command.argv.v[0], &st->spec,
			       err))
		return -1;
	/* an overlay needs the session's layer, which ga_home_add_layer() makes later */
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

/* Refs outlive a removed or reconfigured state directory, and may be all that remains of a
 * session's work. So refuse a `name` that has some, and skip such numbers (added to `taken`). */
static int check_leftover_refs(struct ga_env *e, const struct ga_start_opts *o, const char *stem,
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
		if (o->name)
			return ga_fail(err, GA_ESTART, "an earlier session '%s' left refs" GA_HINT
				       "choose another --name, or delete what 'git for-each-ref "
				       GA_SESSION_REFS "%s/' lists", name, name);
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
	    check_leftover_refs(e, o, stem, ret, &taken, err) ||
	    ga_session_create(e->state_dir, o->name, stem, &taken, &ret->session, &ret->lock, err))
		return -1;
	if (prepare(e, o, &b, ret, err)) {
		/* nothing ran yet, so no work is lost */
		ga_run_finish(ret->sandbox);
		ret->sandbox = NULL;
		start_unlock_parts(ret);
		(void)ga_start_discard(e, &ret->session, GA_IGNORED);
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
	    (o->name && check_leftover_refs(e, o, stem, ret, &taken, err)) ||
	    check_identity(e, err))
		return -1;
	if (o->name && ga_session_name_check(e->state_dir, o->name, &taken, err))
		return -1;
	fill_session(e, o, &b, ret);
	if (ga_start_answer(e, &b, NULL, ret, err))
		return -1;
	ret->session.name = o->name ? ga_strdup(o->name) : ga_strf("%s-N", stem);
	ga_strv_extend(&ret->session.view.shared, &b.scan.ignored_dirs);
	ret->carried = b.carried;
	start_describe_network(e, ret);
	describe(e, o, &b, ret);
	ga_start_take_commands(e, o, ret);
	start_describe_commands(ret);
	return 0;
}
