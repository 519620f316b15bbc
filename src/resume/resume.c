/* SPDX-License-Identifier: MIT
 *
 * Resume a captured session over its layers. Until it runs, its state file is unchanged (but see
 * note() in inside.c), and every step can be repeated.
 */
#include "resume-internal.h"
#include "ga/home/home.h"
#include "ga/resume/resume.h"
#include "ga/view/view.h"

static void only_new(struct ga_strv *paths, const struct ga_session *s)
{
	struct ga_strv rest = GA_STRV_INIT;

	for (size_t i = 0; i < paths->n; i++)
		if (!ga_strv_has(&s->view.masked, paths->v[i]))
			ga_strv_push(&rest, paths->v[i]);
	ga_strv_release(paths);
	*paths = rest;
}

/* Remove from `extras` the files of a path that is hidden now: a start's copy of an ignored file,
 * or leftovers of a killed resume. No agent writes to this layer. */
static void remove_copies(const struct ga_view_base *b, int extras)
{
	for (size_t i = 0; i < b->hidden.n; i++) {
		cleanup_free char *parent = ga_path_parent(b->hidden.v[i]);
		cleanup_close int at = *parent ? ga_openat_beneath(extras, parent,
								   O_RDONLY | O_DIRECTORY, 0)
					       : fcntl(extras, F_DUPFD_CLOEXEC, 3);

		if (at >= 0)
			(void)unlinkat(at, ga_path_base(b->hidden.v[i]), 0);
	}
}

static int mask_project(struct ga_env *e, const struct ga_session *s,
			const struct ga_view_base *b, int project, struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(s, "extras");
	cleanup_close int extras = -1;
	struct ga_oid tree;

	/* without the layer there are no copies, and no whiteouts are needed */
	if (!b->clear.n && access(dir, F_OK))
		return 0;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a layer of session '%s'",
				     s->name);
	extras = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (extras < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open a layer of session '%s'",
				     s->name);
	remove_copies(b, extras);
	return ga_commit_tree(e->repo, &s->id.base, &tree, err) ||
	       ga_view_mask_project(e, s, b, &tree, project, extras, err) ? -1 : 0;
}

/* Hide new secrets by layers of the session, and record them in `s`. */
static int mask_again(struct ga_env *e, const struct ga_start_opts *o, const struct resume_point *p,
		      struct ga_session *s, struct ga_view_base *b, struct ga_error *err)
{
	cleanup_close int project = open(s->id.project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (project < 0)
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot open the project of session '%s'", s->name);
	/* files that the session has seen stay visible */
	ga_strv_extend(&s->view.exposed, o->view.expose);
	ga_strv_sort_unique(&s->view.exposed);
	if (ga_view_rescan(e, &o->view, s, &p->branch_base, b, err))
		return -1;
	ga_strv_extend(&s->view.masked_objects, &b->objects);
	ga_strv_sort_unique(&s->view.masked_objects);
	only_new(&b->hidden, s);
	only_new(&b->clear, s);
	for (size_t i = 0; b->hidden.n && i < s->view.shared.n; i++) {
		cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);

		if (ga_view_mask_shared(b, project, s->view.shared.v[i], mask, err))
			return -1;
	}
	if (b->hidden.n && mask_project(e, s, b, project, err))
		return -1;
	ga_strv_extend(&s->view.masked, &b->hidden);
	ga_strv_sort_unique(&s->view.masked);
	return 0;
}

static int check_state(const struct ga_session *s, struct ga_error *err)
{
	if (s->state != GA_STATE_CAPTURED && s->state != GA_STATE_LANDED)
		return ga_fail(err, GA_EFATAL, "session '%s' is %s" GA_HINT "only a session that "
			       "was captured can be resumed", s->name, ga_state_name(s->state));
	if (s->id.within) {
		(void)ga_fail(err, GA_EFATAL, "session '%s' is part of a superproject's session",
			      s->name);
		return resume_anew_hint(s, err);
	}
	if (s->id.submodules.n) {
		(void)ga_fail(err, GA_EFATAL, "session '%s' has submodules: it cannot be resumed",
			      s->name);
		return resume_anew_hint(s, err);
	}
	if (ga_oid_is_zero(&s->view.tree)) {
		(void)ga_fail(err, GA_EFATAL, "session '%s' was captured by an earlier git-agent",
			      s->name);
		return resume_anew_hint(s, err);
	}
	return 0;
}

static int check_place(const struct ga_env *e, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(s->id.project);
	cleanup_free char *git = ga_path_join(s->id.project, ".git");

	if (!strcmp(ga_repo_info(e->repo)->workdir, s->id.project))
		return 0;
	if (access(git, F_OK))
		return ga_fail(err, GA_EFATAL, "the project of session '%s' is not at '%s' any more"
			       GA_HINT "move it back; or 'git agent start --base agent/%s COMMAND' "
			       "begins a new session here", s->name, s->id.project, s->name);
	return ga_fail(err, GA_EFATAL, "session '%s' belongs to the working tree '%s'" GA_HINT
		       "cd %s", s->name, s->id.project, word);
}

static int check_layers(const struct ga_session *s, struct ga_error *err)
{
	static const char *const layers[] = { "upper", "git" };

	for (size_t i = 0; i < GA_NELEMS(layers); i++) {
		cleanup_free char *dir = ga_session_path(s, layers[i]);

		if (!access(dir, F_OK))
			continue;
		(void)ga_fail(err, GA_EFATAL, "the layers of session '%s' are gone: '%s'", s->name,
			      dir);
		return resume_anew_hint(s, err);
	}
	return 0;
}

/* Below the kernel's limit for one argument. */
#define PROMPT_MAX ((size_t)100 << 10)
#define FEEDBACK_MAX ((size_t)1 << 20)

/* Pass the user's remarks of a rejection to the agent: as a file that is shown inside without a
 * layer, and as the first prompt, which may be to read it. */
static int give_feedback(const struct ga_start_opts *o, struct ga_start *st, struct ga_error *err)
{
	static const char where[] = "Read " GA_FEEDBACK_INSIDE " first: what was rejected of your "
				    "work, and why.";
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	cleanup_close int dir = open(st->session.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct ga_preset *p = st->command.preset;
	const char *text;

	if (faccessat(dir, GA_REMARKS_FILE, F_OK, 0))
		return 0;
	if (ga_read_file_at(dir, GA_REMARKS_FILE, FEEDBACK_MAX, &all, err))
		return -1;
	st->told = true;
	if (!all.len)
		return 0;
	if (ga_write_atomic(dir, "feedback", all.ptr, all.len, 0400, err))
		return -1;
	st->spec.feedback = ga_session_path(&st->session, "feedback");
	if (o->argc || !p || !p->task || !p->resume[0])
		return 0;
	text = all.len <= PROMPT_MAX && *all.ptr != '-' && !memchr(all.ptr, '\0', all.len) ?
		       all.ptr : where;
	return ga_agents_add_task(text, &st->command, err);
}

static int choose_command(const struct ga_env *e, const struct ga_start_opts *o,
			  struct ga_start *st, struct ga_error *err)
{
	struct ga_session *s = &st->session;

	if (!o->argc && !s->id.command.n)
		return ga_fail(err, GA_EUSAGE, "session '%s' has no command: give one", s->name);
	if (o->argc)
		ga_agents_make_command(e, o->argv, o->argc, false, &st->command);
	else
		ga_agents_make_command(e, s->id.command.v, s->id.command.n, true, &st->command);
	ga_strv_release(&s->run.resumed_with);
	for (size_t i = 0; i < o->argc; i++)
		ga_strv_push(&s->run.resumed_with, o->argv[i]);
	return 0;
}

static void fill_session(const struct ga_start_opts *o, const struct resume_point *p,
			 struct ga_session *s)
{
	free(s->id.message);
	s->id.message = o->message ? ga_strdup(o->message) : NULL;
	free(s->view.incomplete);
	s->view.incomplete = NULL;
	if (!ga_oid_is_zero(&s->view.agent_base) &&
	    !ga_oid_equal(&s->view.agent_base, &s->view.branch_base) &&
	    !ga_oid_equal(&s->view.agent_base, &p->agent_base))
		ga_strv_push(&s->view.former_bases, GA_HEX(&s->view.agent_base));
	s->view.branch_base = p->branch_base;
	s->view.agent_base = p->agent_base;
	s->result.base_report = p->base_report;
	s->view.tree = p->view;
	s->view.full = p->full;
	s->view.target = s->view.target_full = (struct ga_oid){ 0 };
	s->run.resumed = (uint64_t)time(NULL);
	ga_strv_release(&s->run.checks);
	ga_strv_release(&s->run.remarks);
	s->run.finished = 0;
	s->run.exit_status = -1;
}

/* Merge the branch that the session began on, or else HEAD, into it. */
static int find_update(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	cleanup_free char *head = NULL;
	struct ga_session *s = &st->session;
	const char *name = s->id.onto_ref;
	int rc = name ? ga_ref_read(e->repo, name, &s->view.update, err) : 1;

	if (rc > 0) {
		rc = ga_repo_head(e->repo, &s->view.update, &head, err);
		name = head ? head : "HEAD";
	}
	if (rc > 0)
		return ga_fail(err, GA_ESTART, "there is no commit to merge");
	st->update = rc ? NULL : ga_quote(ga_ref_branch(name));
	return rc;
}

static void describe(const struct ga_env *e, const struct ga_view_base *b,
		     const struct resume_point *p, struct ga_start *st)
{
	char hex[GA_OID_HEXSZ + 1];

	(void)ga_oid_hex(&p->branch_base, hex);
	hex[10] = '\0';
	ga_strv_pushf(&st->banner, "continues from %s", hex);
	if (p->apply.n)
		ga_strv_pushf(&st->banner, "applied from the branch: %zu path%s", p->apply.n,
			      p->apply.n == 1 ? "" : "s");
	if (st->update)
		ga_strv_pushf(&st->banner, "merges %s into it first", st->update);
	ga_view_describe_mounts(e, &st->spec, &st->banner);
	ga_start_describe_secrets(b, st);
	ga_start_describe_limits(st);
	ga_strv_extend(&st->banner, &st->notes);
}

static int mount_layers(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	struct ga_session *s = &st->session;

	/* work directories of former mounts: the kernel refuses to remount a volatile overlay with
	 * them, as data may be lost, which resume_find_doubt() has checked */
	ga_session_remove_work(s->dir);
	if (ga_env_config(e, err) || ga_view_get_base(e, s, &st->base, err) ||
	    ga_view_make_trees(s, &st->base, &st->spec, err))
		return -1;
	ga_view_add_environment(e, st->command.preset, &st->spec, s);
	if (st->spec.feedback)
		ga_strv_push(&st->spec.env, "GIT_AGENT_FEEDBACK=" GA_FEEDBACK_INSIDE);
	if (ga_home_keep_conversations(e, s, &st->spec, err) ||
	    ga_home_add_layer(e, s, &st->spec, st->sandbox, err) ||
	    ga_start_make_network(e, st, err) || ga_start_show_texts(e, st, err) ||
	    ga_home_run_trees(e, &st->spec, st->sandbox, err) ||
	    ga_run_wait_ready(st->sandbox, err) || ga_start_enter_network(st, err))
		return -1;
	st->cwd = ga_agents_cwd(s->id.project);
	return 0;
}

static int prepare(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *st,
		   struct ga_error *err)
{
	cleanup_(ga_view_base_release) struct ga_view_base b = { 0 };
	cleanup_(resume_point_release) struct resume_point p = { 0 };
	struct ga_session *s = &st->session;
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *from = ga_session_ref(s, "from"), *update = ga_session_ref(s, "update");
	cleanup_free char *reason = ga_strf("agent: resume %s", s->name);

	if (ga_wip_use(e->repo, s, err) || ga_view_check_project(e, err) ||
	    check_place(e, s, err) || check_layers(s, err) ||
	    choose_command(e, o, st, err) || ga_agents_check_command(e, &st->command, err) ||
	    ga_start_begin_home(e, st, err) || ga_start_check_room(e, err) ||
	    ga_start_plan_limits(e, st, err) || ga_env_config(e, err) ||
	    resume_find_point(e, s, &p, err) || resume_find_doubt(e, s, &p, err) ||
	    mask_again(e, o, &p, s, &b, err) || give_feedback(o, st, err))
		return -1;
	if (ga_fault_stop("resume:begin", err) || mount_layers(e, st, err) ||
	    ga_start_answer(e, &b, &p.view, st, err) || resume_move_to_point(e, st, &p, err))
		return -1;
	fill_session(o, &p, s);
	if (o->update && find_update(e, st, err))
		return -1;
	describe(e, &b, &p, st);
	/* refs keep its branch and what is merged as long as the session exists */
	ga_ref_updates_add(&u, from, NULL, &s->view.branch_base);
	if (!ga_oid_is_zero(&s->view.update))
		ga_ref_updates_add(&u, update, NULL, &s->view.update);
	return ga_refs_update(e->repo, &u, reason, err) || ga_fault_stop("resume:prepared", err)
		       ? -1 : 0;
}

int ga_resume(struct ga_env *e, const struct ga_start_opts *o, struct ga_session *s,
	      int *lock, struct ga_start *ret, struct ga_error *err)
{
	ret->resumed = true;
	ga_start_take_commands(e, o, ret);
	if (o->detach)
		ret->detach = *o->detach;
	ret->session = *s;
	*s = (struct ga_session)GA_SESSION_INIT;
	ret->lock = ga_steal_fd(lock);
	if (!check_state(&ret->session, err) && !prepare(e, o, ret, err))
		return 0;
	ga_run_finish(ret->sandbox);
	ret->sandbox = NULL;
	return -1;
}
