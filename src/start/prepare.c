/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/on/on.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/run/live.h"
#include "ga/session/wip.h"
#include "ga/session/worktree.h"
#include "ga/sys/fd.h"
#include "base.h"
#include "home.h"
#include "layers.h"
#include "parts.h"
#include "ssh.h"
#include "start.h"
#include "step.h"

void ga_start_release(struct ga_start *s)
{
	ga_run_leave(s->sandbox);
	ga_relay_close(s->relay);
	ga_net_plan_release(&s->plan);
	ga_cleanup_closep(&s->ports);
	ga_session_release(&s->session);
	/* before the lock, which says that the socket is ours: whoever sees the socket close waits
	 * for the lock */
	ga_live_close(s->live);
	ga_cleanup_closep(&s->lock);
	ga_base_release(&s->base);
	ga_cleanup_closep(&s->home_lock);
	start_parts_release(s);
	ga_spec_release(&s->spec);
	ga_confine_release(&s->confine);
	ga_strv_release(&s->argv);
	ga_strv_release(&s->setup);
	ga_strv_release(&s->services);
	ga_strv_release(&s->finish);
	free(s->cwd);
	free(s->transcript);
	free(s->own);
	free(s->update);
	ga_strv_release(&s->banner);
	ga_strv_release(&s->notes);
	*s = (struct ga_start)GA_START_INIT;
}

int start_taken_names(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	struct ga_oid oid;
	int rc = ga_ref_read(r, "refs/heads/agent", &oid, err);

	if (rc < 0)
		return -1;
	if (!rc) {
		(void)ga_fail(err, GA_EFATAL,
			      "branch 'agent' leaves no room for branches below 'agent/'");
		return ga_hint(err, "'git branch -m agent NAME' gives it another name");
	}
	if (ga_refs_list(r, GA_SESSION_BRANCHES, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		const char *name = refs.v[i].name + strlen(GA_SESSION_BRANCHES);
		/* where there is a branch agent/x/y there can be no agent/x */
		cleanup_free char *first = ga_strndup(name, strcspn(name, "/"));

		ga_strv_push(ret, first);
	}
	return 0;
}

int ga_start_taken_names(const struct ga_start_env *e, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_ons struct ga_ons elsewhere = GA_ONS_INIT;

	if (start_taken_names(e->repo, ret, err) || ga_on_list(e->state_dir, &elsewhere, err))
		return -1;
	for (size_t i = 0; i < elsewhere.n; i++)
		ga_strv_push(ret, elsewhere.v[i].name);
	return 0;
}

void start_take_commands(const struct ga_start_env *e, const struct ga_start_opts *o,
			 struct ga_start *st)
{
	const struct ga_strv *const from[] = { o->no_setup ? NULL : &e->conf.beside.setup,
					       o->no_services ? NULL : &e->conf.beside.services,
					       o->no_finish ? NULL : &e->conf.beside.finish };
	struct ga_strv *const to[] = { &st->setup, &st->services, &st->finish };

	for (size_t i = 0; i < GA_NELEMS(from); i++)
		if (from[i])
			ga_strv_extend(to[i], from[i]);
	st->unfiltered = o->unfiltered;
	st->quiet = o->quiet;
}

void start_describe_paths(const char *what, const struct ga_strv *paths, struct ga_strv *banner)
{
	cleanup_free char *named = ga_quote_list(paths, 6);

	if (paths->n)
		ga_strv_pushf(banner, "%s: %s", what, named);
}

int start_plan_limits(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err)
{
	/* in a dry run there is no sandbox, and nothing else has set it */
	st->spec.nested = e->conf.inside.nested;
	if (e->conf.inside.nested && geteuid() == 0) {
		(void)ga_fail(err, GA_ESTART, "no sandbox can be made inside one of root's: the "
			      "kernel maps uid 0 no further");
		return ga_hint(err, "start the session as an ordinary user, or with "
				    "'git agent -c sandbox.nested=false start'");
	}
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

/* Files instead of a control group: that of a session may be made only once its sandbox is there,
 * or not at all, and the host's says nothing about it. */
static int show_limits(struct ga_start *st, struct ga_error *err)
{
	const struct ga_confine *c = &st->confine;

	return show_limit(st, "memory.max", c->memory ? c->limits.memory : 0, "", err) ||
	       show_limit(st, "pids.max", c->tasks ? c->limits.tasks : 0, "", err) ||
	       show_limit(st, "cpu.max", c->cpu ? c->limits.cpu * 1000 : 0, " 100000", err) ?
	       -1 : 0;
}

int start_show_texts(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err)
{
	return show_limits(st, err) || start_show_user(st, err) || start_show_ssh(e, st, err) ||
	       start_add_host_files(e, st, err) ? -1 : 0;
}

/* The default limit of tasks, which nobody asked for, is not worth a line. */
void start_describe_limits(struct ga_start *st)
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

static void describe(const struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct start_base *b, struct ga_start *st)
{
	const struct ga_session *s = &st->session;
	const char *branch = o->base_rev ? NULL : ga_ref_branch(b->onto_ref);
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
	if (o->live)
		ga_strv_push(&st->banner,
			     "the working tree itself lies beneath: changes you make show inside");
	start_describe_paths("shared", &s->view.shared, &st->banner);
	start_describe_paths("submodules", &s->id.submodules, &st->banner);
	start_describe_mounts(e, st);
	start_describe_secrets(b, st);
	start_describe_limits(st);
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

static void fill_session(struct ga_start_env *e, const struct ga_start_opts *o,
			 const struct start_base *b, struct ga_start *st)
{
	const struct ga_repo_info *info = ga_repo_info(e->repo);
	struct ga_session *s = &st->session;

	s->state = GA_STATE_NEW;
	s->id.project = ga_strdup(info->workdir);
	s->id.gitdir = ga_strdup(info->gitdir);
	s->id.onto_ref = b->onto_ref ? ga_strdup(b->onto_ref) : NULL;
	s->id.onto = b->onto;
	s->id.base = b->base;
	s->id.live = o->live;
	s->id.trusted = b->trusted;
	s->id.message = o->message ? ga_strdup(o->message) : NULL;
	s->id.started = (uint64_t)time(NULL);
	for (size_t i = 0; i < o->argc; i++)
		ga_strv_push(&s->id.command, o->argv[i]);
	ga_strv_extend(&s->view.skipped, &b->scan.skipped);
	ga_strv_extend(&s->view.masked, &b->hidden);
	if (o->expose)
		ga_strv_extend(&s->view.exposed, o->expose);
	ga_strv_extend(&s->view.masked_objects, &b->objects);
	for (size_t i = 0; i < st->n_parts; i++) {
		ga_strv_push(&s->id.submodules, st->parts[i].path);
		ga_strv_push(&s->id.part_ids, ga_repo_info(st->parts[i].env.repo)->id);
	}
}

/* The objects an agent stands on must outlive a `git branch -D` and `git gc` on
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
int start_make_refs(struct ga_start_env *e, const struct ga_session *s,
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

/* Where the agent starts. */
char *ga_start_cwd(const char *project)
{
	cleanup_free char *cwd = getcwd(NULL, 0);
	const char *rel = cwd ? ga_path_below(cwd, project) : NULL;

	/* not in .git, which is another one inside */
	return rel && !ga_path_inside(rel, ".git") ? ga_steal(&cwd) : ga_strdup(project);
}

int ga_start_config(struct ga_start_env *e, struct ga_error *err)
{
	return e->loading ? ga_gitconfig_end(ga_steal(&e->loading), &e->config, err) : 0;
}

/* Capture will need an identity for its commits: fail now rather than after hours of work. */
static int check_identity(struct ga_start_env *e, struct ga_error *err)
{
	cleanup_free char *who = NULL;

	return ga_start_config(e, err) ? -1 : ga_repo_identity(e->repo, &e->config, &who, err);
}

/* Make the session's directory and all that is mounted from it. */
static void describe_attributes(const struct ga_base *b, struct ga_strv *notes)
{
	cleanup_free char *q = b->attributed ? ga_quote(b->attributed) : NULL;

	if (q)
		ga_strv_pushf(notes, "%zu tracked file%s with an access list or attributes, which "
				     "git does not keep: %s%s",
			      b->n_attributed, b->n_attributed == 1 ? "" : "s", q,
			      b->n_attributed == 1 ? "" : " first");
}

int start_make_session(struct ga_start_env *e, const struct ga_start_opts *o,
		       const struct start_base *b, const struct ga_refs *visible,
		       struct ga_start *st, struct ga_error *err)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	struct ga_session *s = &st->session;

	fill_session(e, o, b, st);
	if (start_note_live(s, err) || ga_session_save(s, err) ||
	    start_make_layers(e, s, b, &st->notes, err) || check_identity(e, err))
		return -1;
	/* a part has no home of its own: it uses its superproject's */
	if (st->spec.home_source && home_bring_git(st->spec.home_source, &e->config, &odd))
		ga_strv_pushf(&st->notes, "git's configuration for the agent: %s", odd.msg);
	if (!o->live && start_get_base(e, s, &st->base, err))
		return -1;
	describe_attributes(&st->base, &st->notes);
	if (start_make_gitdir(e, s, b, &st->base, visible, err))
		return -1;
	return start_make_trees(s, o->live ? NULL : &st->base, &st->spec, err) ||
	       start_make_parts(o, st, err) ? -1 : 0;
}

/* Refs and worktree entry are made while the sandbox comes up, which takes as long
 * and needs nothing of them. */
static int prepare(struct ga_start_env *e, const struct ga_start_opts *o,
		   struct start_base *b, struct ga_start *st, struct ga_error *err)
{
	cleanup_refs struct ga_refs visible = GA_REFS_INIT;
	struct ga_session *s = &st->session;
	cleanup_free char *objects = ga_wip_objects(s);

	if (ga_session_host_refs(e->repo, &visible, err) ||
	    start_take_snapshot(e, objects, b, err) ||
	    start_make_session(e, o, b, &visible, st, err))
		return -1;
	start_add_environment(e, st->preset, &st->spec, s);
	if (start_answer(e, b, NULL, st, err) ||
	    start_keep_conversations(e, st, err) || start_layer_home(e, st, err) ||
	    start_make_network(e, st, err) ||
	    start_show_texts(e, st, err) ||
	    start_run_trees(e, st, err) ||
	    start_make_refs(e, s, &visible, err))
		return -1;
	st->cwd = ga_start_cwd(s->id.project);
	st->carried = b->carried;
	describe(e, o, b, st);
	if (ga_fault("start:prepared"))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot prepare session '%s'", s->name);
	return 0;
}

int start_begin(struct ga_start_env *e, const char *command, struct ga_start *st,
		struct ga_error *err)
{
	const char *project = ga_repo_info(e->repo)->workdir;
	bool other = st->sandbox && !start_has_network(e, st), same = true;

	if (st->sandbox && start_has_mounts(e, &st->spec, &same, err))
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
	    start_open_home(e, st, err) ||
	    start_find_tools(e, st->own ? "node" : command, &st->spec, err))
		return -1;
	/* an overlay needs the session's layer, which is not there yet: start_layer_home() */
	return e->conf.home_mode == GA_HOME_OVERLAY ? 0 : start_run_home(e, st, err);
}

int start_add_task(const char *task, struct ga_start *st, struct ga_error *err)
{
	const struct ga_preset *p = st->preset;

	if (!p || !p->task) {
		(void)ga_fail(err, GA_EUSAGE, "cannot give '%s' a task: its way to take one is not "
			      "known", st->argv.v[0]);
		return ga_hint(err, "put the task after the command, as the program itself takes "
				    "it");
	}
	if (*task == '-')
		return ga_fail(err, GA_EUSAGE, "the task begins with '-', which '%s' takes for an "
			       "option", p->name);
	if (*p->task)
		ga_strv_push(&st->argv, p->task);
	ga_strv_push(&st->argv, task);
	return 0;
}

static int check_host(struct ga_start_env *e, const struct ga_start_opts *o, struct ga_start *st,
		      struct ga_error *err)
{
	start_make_argv(e, o->argv, o->argc, false, st);
	if (o->task && start_add_task(o->task, st, err))
		return -1;
	return start_check_project(e, err) || start_check_command(e, st->argv.v[0], st, err) ? -1
											     : 0;
}

const char *start_full_place(const struct ga_start_env *e, const char *dir)
{
	return ga_disk_below(dir, e->conf.disk_free) ? dir
	       : ga_disk_below(e->agent_home, e->conf.disk_free) ? e->agent_home : NULL;
}

/* Fails if the disk is so full that the session would be ended at once. */
int start_check_room(const struct ga_start_env *e, struct ga_error *err)
{
	const char *dir = start_full_place(e, e->state_dir);
	cleanup_free char *least = NULL, *q = NULL;

	if (!dir)
		return 0;
	least = ga_size_text(e->conf.disk_free);
	q = ga_escape(dir);
	(void)ga_fail(err, GA_ESTART, "less than %s is free for '%s'", least, q);
	return ga_hint(err, "free some space, or set XDG_STATE_HOME, state_dir or home to a "
			    "directory elsewhere, or disk_free to less");
}

/* Are there refs of a session `name`, in the repository or in that of a submodule? 1 yes. */
static int has_refs(struct ga_start_env *e, struct ga_start *st, const char *name,
		    struct ga_error *err)
{
	cleanup_free char *base = ga_strf(GA_SESSION_REFS "%s/base", name);
	struct ga_oid oid;
	int rc = ga_ref_read(e->repo, base, &oid, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; rc && i < st->n_parts; i++) {
		struct ga_part *p = &st->parts[i];
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
static int check_left_refs(struct ga_start_env *e, const struct ga_start_opts *o, const char *stem,
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

int ga_start_prepare(struct ga_start_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		     struct ga_error *err)
{
	cleanup_(start_base_release) struct start_base b = { 0 };
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *stem = ga_session_stem(o->argv[0]);

	start_take_commands(e, o, ret);
	if (o->detach)
		ret->detach = *o->detach;
	if (check_host(e, o, ret, err) || start_begin(e, ret->argv.v[0], ret, err) ||
	    start_check_room(e, err) || start_plan_limits(e, ret, err) ||
	    start_choose_base(e, o, false, &b, err) || ga_start_taken_names(e, &taken, err) ||
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

int ga_start_plan(struct ga_start_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		  struct ga_error *err)
{
	cleanup_(start_base_release) struct start_base b = { 0 };
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *stem = ga_session_stem(o->argv[0]);

	if (check_host(e, o, ret, err) ||
	    (!e->bwrap && ga_find_bwrap(e->path, false, &e->bwrap, err)) ||
	    start_add_mounts(e, ga_repo_info(e->repo)->workdir, &ret->spec, err) ||
	    start_plan_limits(e, ret, err) || start_choose_base(e, o, true, &b, err) ||
	    ga_start_taken_names(e, &taken, err) ||
	    start_open_parts(e, o, &b, ret, &taken, err) ||
	    (o->name && check_left_refs(e, o, stem, ret, &taken, err)) || check_identity(e, err))
		return -1;
	if (o->name && ga_session_name_check(e->state_dir, o->name, &taken, err))
		return -1;
	fill_session(e, o, &b, ret);
	if (start_answer(e, &b, NULL, ret, err))
		return -1;
	ret->session.name = o->name ? ga_strdup(o->name) : ga_strf("%s-N", stem);
	ga_strv_extend(&ret->session.view.shared, &b.scan.ignored_dirs);
	ret->carried = b.carried;
	start_describe_network(e, ret);
	describe(e, o, &b, ret);
	start_take_commands(e, o, ret);
	start_describe_commands(ret);
	return 0;
}
