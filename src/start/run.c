/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "ga/capture.h"
#include "ga/fd.h"
#include "ga/gitdir.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/sync.h"
#include "ga/trace.h"
#include "ga/worktree.h"
#include "start.h"

/* Long for a command that does nothing, and nothing to what a person would miss. */
#define TICK_MS 1000

static void journal_start(const struct ga_start *st)
{
	const char *event = st->resumed ? "resume" : "start";
	const struct ga_session *s = &st->session;
	json_t *j = json_object();

	ga_json_set_bytes(j, "project", s->project);
	ga_json_set_oid(j, "base", &s->base);
	ga_json_set_oid(j, "onto", &s->onto);
	if (st->resumed)
		ga_json_set_oid(j, "from", &s->under);
	(void)json_object_set_new(j, "command", ga_json_strv(&st->argv));
	(void)json_object_set_new(j, "shared", ga_json_strv(&s->shared));
	(void)json_object_set_new(j, "skipped", ga_json_strv(&s->skipped));
	(void)json_object_set_new(j, "masked", ga_json_strv(&s->masked));
	(void)json_object_set_new(j, "tools", ga_json_strv(&st->spec.tools));
	(void)json_object_set_new(j, "network", json_string(st->spec.network ? "host" : "none"));
	(void)ga_journal(s->dir, event, j);
}

/* What was mounted stays readable wherever it went, so all in the layers is good;
 * what is not in them is beneath. */
static void note_lost(const struct ga_start_env *e, struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	const char *rel = ga_path_below(s->project, e->home);
	cleanup_free char *dir = rel ? ga_path_join(e->agent_home, rel) : NULL;
	cleanup_free char *q = ga_quote(dir ? dir : s->project);

	free(s->incomplete);
	s->incomplete = ga_strf("the project was moved away inside; %s %s",
				dir ? "look for what was written after that in"
				    : "gone is what was written after that to", q);
	(void)ga_journal(s->dir, "lost", json_pack("{s:s}", "incomplete", s->incomplete));
	/* capture goes on from the file, should this process end before */
	(void)ga_session_save(s, &ignored);
}

/* While a session lasts. What start made without waiting for the disk goes there after a while:
 * refs that a power cut left empty would be in git's way. */
struct watch {
	const struct ga_start_env *e;
	const struct ga_session *s;
	struct ga_strv unsynced;
	struct ga_sync_beside *beside;
	const char *full; /* what is on a disk with too little room */
};

static bool tick(void *payload)
{
	struct watch *w = payload;

	if (w->unsynced.n && !w->beside)
		w->beside = ga_sync_beside(&w->unsynced, 1);
	if (ga_disk_below(w->s->dir, w->e->disk_free))
		w->full = w->s->dir;
	else if (ga_disk_below(w->e->agent_home, w->e->disk_free))
		w->full = w->e->agent_home;
	return w->full != NULL;
}

/* What the command was about to write may be missing. */
static void note_full(const struct watch *w, struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *least = ga_size_text(w->e->disk_free), *q = ga_quote(w->full);

	free(s->incomplete);
	s->incomplete = ga_strf("it was ended when less than %s were free for %s (disk_free)",
				least, q);
	(void)ga_journal(s->dir, "disk", json_pack("{s:s}", "incomplete", s->incomplete));
	(void)ga_session_save(s, &ignored);
}

/* Programs inside met EXDEV. That is no reason to refuse a session. */
static void note_no_renames(struct ga_session *s, int errnum)
{
	ga_strv_pushf(&s->skipped, "renaming directories inside: %s", errnum == EBUSY ?
		      "not in a sandbox that announces system calls itself" : errnum == EINVAL ?
		      "Linux 5.19 or newer is needed" : strerror(errnum));
	(void)ga_journal(s->dir, "renames", json_pack("{s:i}", "errno", errnum));
}

static void list_unsynced(struct ga_start_env *e, const struct ga_start *st, struct ga_strv *ret)
{
	const struct ga_session *s = &st->session;
	cleanup_free char *base = ga_session_ref(s, "base");

	ga_ref_paths(e->repo, base, ret);
	ga_ref_paths(e->repo, s->branch, ret);
	ga_strv_take(ret, ga_path_join(s->dir, "session"));
	ga_strv_push(ret, s->dir);
	start_part_paths(st, ret);
}

static int run(struct ga_start_env *e, struct ga_start *st, int *ret_status, struct ga_error *err)
{
	struct ga_session *s = &st->session;
	struct ga_sandbox *sb = st->sandbox;
	struct watch w = { .e = e, .s = s };
	const struct ga_run_command c = {
		.cwd = st->cwd,
		.argv = (const char *const *)st->argv.v,
		.envp = (const char *const *)st->spec.env.v,
		.unfiltered = st->unfiltered,
		.renames = e->renames,
		.tick_ms = TICK_MS,
		.tick = tick,
		.payload = &w,
	};
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	int rc;

	free(s->boot);
	s->boot = ga_boot_id();
	s->state = GA_STATE_RUNNING;
	s->pid = ga_run_pid(sb);
	s->pidns = ga_run_pidns(sb);
	if (start_save_parts(st, err) || ga_session_save(s, err))
		return -1;
	if (ga_fault_stop("start:running", err) ||
	    (st->resumed && ga_worktree_entry_create(e->repo, s, err)))
		return -1;
	if (!st->resumed)
		list_unsynced(e, st, &w.unsynced);
	rc = ga_run_session(sb, &c, ret_status, err);
	/* told after the capture, which syncs the same refs once more */
	if (ga_sync_beside_end(w.beside, rc ? &ignored : err))
		rc = -1;
	ga_strv_release(&w.unsynced);
	if (w.full)
		note_full(&w, s);
	if (ga_run_lost(sb))
		note_lost(e, s);
	if (ga_run_no_renames(sb))
		note_no_renames(s, ga_run_no_renames(sb));
	return rc;
}

/* Is there nothing to capture? In doubt there is. */
static bool is_idle(const struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *upper = start_dir(s, "upper"), *git = start_dir(s, "git");

	return !s->shared.n && !s->submodules.n && ga_dir_is_empty(upper) &&
	       ga_gitdir_untouched(git, s->branch, &ignored) == 1;
}

/* When and how the agent ended: a capture that is killed has the same to go by when it is
 * done again. Not worth failing for; that is what capture itself does on a full disk. */
static void save_if_possible(const struct ga_session *s)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	(void)ga_session_save(s, &ignored);
}

int ga_start_run(struct ga_start_env *e, struct ga_start *st, int *ret_status, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_session *s = &st->session;
	int rc;

	*ret_status = -1;
	journal_start(st);
	rc = st->resumed ? 0 : ga_run_wait_ready(st->sandbox, err);
	if (!rc)
		rc = run(e, st, ret_status, err);
	ga_run_end(st->sandbox);
	if (rc && err->code == GA_ESTART && !st->resumed) {
		cleanup_error struct ga_error second = GA_ERROR_INIT;

		/* no sandbox, or no command in it: nobody wrote anything */
		ga_run_finish(st->sandbox);
		st->sandbox = NULL;
		start_unlock_parts(st);
		s->state = GA_STATE_NEW;
		(void)ga_start_discard(e, s, &second);
		return -1;
	}
	s->finished = (uint64_t)time(NULL);
	s->exit_status = *ret_status;
	(void)ga_journal(s->dir, "exit", json_pack("{s:i}", "status", s->exit_status));
	if (!is_idle(s))
		save_if_possible(s);
	(void)start_save_parts(st, &ignored);
	start_unlock_parts(st);
	return rc;
}

/* The sandbox git runs in during capture: the session's layers again, without
 * network, over a base tree that is there or is made. */
struct capture_sandbox {
	struct ga_start_env *e;
	const struct ga_session *s;
	struct ga_sandbox **ended; /* the layers are still mounted there */
	struct ga_base base;
	struct ga_spec spec;
};

static int open_base(void *payload, const char **ret, struct ga_error *err)
{
	struct capture_sandbox *c = payload;

	if (!c->base.tree && start_get_base(c->e, c->s, &c->base, err))
		return -1;
	*ret = c->base.tree;
	return 0;
}

static int open_sandbox(void *payload, struct ga_sandbox **ret, struct ga_error *err)
{
	struct capture_sandbox *c = payload;
	cleanup_free char *home = NULL;
	const char *lower;
	struct ga_run_paths paths;

	if (!c->e->bwrap && ga_find_bwrap(c->e->path, false, &c->e->bwrap, err))
		return -1;
	paths = (struct ga_run_paths){ c->e->stage, c->e->init, c->e->bwrap };
	if (c->ended) {
		ga_run_finish(*c->ended);
		*c->ended = NULL;
	}
	ga_spec_release(&c->spec);
	if (!c->s->live && open_base(c, &lower, err))
		return -1;
	if (start_make_surroundings(c->e, ga_repo_info(c->e->repo)->workdir, &c->spec, err) ||
	    start_find_tools(c->e, "git", &c->spec, err) ||
	    start_make_trees(c->s, c->s->live ? NULL : &c->base, &c->spec, err))
		return -1;
	start_add_environment(c->e, NULL, &c->spec, c->s);
	/* The agents' home may be closed, or hold a link where the project is to be
	 * mounted, and git needs nothing of it. */
	home = start_fresh_dir(c->s, "home", err);
	if (!home)
		return -1;
	free(c->spec.home_source);
	c->spec.home_source = ga_steal(&home);
	ga_strv_release(&c->spec.tools);
	c->spec.network = false;
	return ga_run_launch(&c->spec, &paths, ret, err);
}

/* Git inside needs no more than this; its configuration is the agent's. A missing
 * object must not make it run the command of a remote the agent made up: what such a
 * command leaves running could write into the answers of the git after it. */
const char *const start_git_env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C",
				       "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
				       "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
				       "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", NULL };

static void capture_env(struct ga_start_env *e, struct capture_sandbox *payload,
			struct ga_capture_env *ret)
{
	*ret = (struct ga_capture_env){ .repo = e->repo,
					.config = &e->config,
					.limits = &e->limits,
					.config_file = e->config_file,
					.open_base = open_base,
					.open_sandbox = open_sandbox,
					.payload = payload,
					.sandbox_env = start_git_env };
}

int start_capture(struct ga_start_env *e, struct ga_session *s, struct ga_sandbox **ended,
		  struct ga_report *ret, struct ga_error *err)
{
	struct capture_sandbox c = { .e = e, .s = s, .ended = ended, .base = GA_BASE_INIT };
	cleanup_(ga_links_release) struct ga_links links = GA_LINKS_INIT;
	struct ga_capture_env ce;
	int rc;

	if (start_capture_parts(e, s, ended, &links, err))
		return -1;
	capture_env(e, &c, &ce);
	ce.links = &links;
	rc = ga_capture(&ce, s, ret, err);
	ga_base_release(&c.base);
	ga_spec_release(&c.spec);
	return rc;
}

int ga_start_capture(struct ga_start_env *e, struct ga_session *s, struct ga_sandbox **ended,
		     struct ga_report *ret, struct ga_error *err)
{
	cleanup_free char *first = NULL;

	if (!start_capture(e, s, ended, ret, err))
		return 0;
	first = ga_steal(&err->hint);
	return ga_hint(err, "%s%sthe agent's work is safe in '%s'; 'git agent capture %s' tries "
			    "again", first ? first : "", first ? "; " : "", s->dir, s->name);
}

int ga_start_peek(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret_tree,
		  struct ga_strv *notes, struct ga_error *err)
{
	struct capture_sandbox c = { .e = e, .s = s, .base = GA_BASE_INIT };
	struct ga_capture_env ce;
	int rc;

	capture_env(e, &c, &ce);
	rc = ga_capture_peek(&ce, s, ret_tree, notes, err);
	ga_base_release(&c.base);
	return rc;
}

int ga_start_discard(struct ga_start_env *e, struct ga_session *s, struct ga_error *err)
{
	static const char *const kinds[] = { "base", "from", "held", "carried", "orig",
					      "report" };
	cleanup_free char *parent = ga_path_parent(s->dir);
	cleanup_close int at = -1;

	if (start_discard_parts(e, s, err) || ga_worktree_entry_remove(e->repo, s, err))
		return -1;
	/* the branch was made for this session and stands where it was made; a user
	 * who moved it keeps it */
	if (ga_ref_delete(e->repo, s->branch, &s->onto, err))
		ga_error_release(err);
	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		cleanup_free char *name = ga_session_ref(s, kinds[i]);
		struct ga_oid oid;
		int rc = ga_ref_read(e->repo, name, &oid, err);

		if (rc < 0 || (!rc && ga_ref_delete(e->repo, name, &oid, err)))
			return -1;
	}
	at = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the sessions' directory");
	return ga_rmtree_at(at, s->name, err);
}

int ga_start_recover(struct ga_start_env *e, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *upper = start_dir(s, "upper");

	if (s->state == GA_STATE_NEW || (s->state == GA_STATE_RUNNING &&
					 !ga_run_alive(s->pid, s->pidns)))
		start_clear_locks(e->repo, s);
	if (s->state == GA_STATE_NEW && ga_dir_is_empty(upper))
		return ga_start_discard(e, s, err) ? -1 : 1;
	/* a power cut took the state that it ran with */
	if (s->state == GA_STATE_NEW)
		s->state = GA_STATE_RUNNING;
	if (s->state != GA_STATE_RUNNING)
		return 0;
	/* init dies with the socket to its supervisor, at once but not before us */
	for (int i = 0; ga_run_alive(s->pid, s->pidns); i++) {
		struct timespec t = { 0, 10000000 };

		if (i == 500) {
			(void)ga_fail(err, GA_EFATAL, "processes of session '%s' are still running",
				      s->name);
			return ga_hint(err, "end them (pid namespace %llu), then try again",
				       (unsigned long long)s->pidns);
		}
		(void)nanosleep(&t, NULL);
	}
	s->state = GA_STATE_INTERRUPTED;
	if (!s->finished) {
		s->finished = (uint64_t)time(NULL);
		save_if_possible(s);
	}
	return 0;
}
