/* SPDX-License-Identifier: MIT
 *
 * Run a session, and recover one whose supervisor is gone: remove it if it never ran, else repair
 * it.
 */
#include <inttypes.h>

#include "ga/capture/capture.h"
#include "ga/repo/gitdir.h"
#include "ga/repo/history.h"
#include "start-internal.h"

/* How long the processes of a sandbox may take to end once its supervisor is gone: each has to be
 * scheduled, and to finish writing to the disk. */
#define GONE_MS 30000
#define GONE_STEP_MS 10

/* Save when and how the agent ended, and what was lost, for a capture that is repeated or done by
 * another process. A failure is ignored: if the disk is full, capture fails itself. */
static void save_if_possible(const struct ga_session *s)
{
	(void)ga_session_save(s, GA_IGNORED);
}

/* Skip a part whose repository is gone. */
static int discard_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	(void)payload;
	return at->s && at->env ? ga_start_discard(at->env, at->s, err) : 0;
}

int ga_start_discard(struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	static const char *const kinds[] = { "base", "from", "held", "orig", "report" };

	if (ga_start_each_part(e, s, true, discard_part, NULL, err) ||
	    ga_worktree_entry_remove(e->repo, s, err))
		return -1;
	/* delete the branch only where the start put it; a user may have moved it */
	if (ga_ref_delete(e->repo, s->id.branch, &s->id.onto, err))
		ga_error_release(err);
	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		cleanup_free char *name = ga_session_ref(s, kinds[i]);
		struct ga_oid oid;
		int rc = ga_ref_read(e->repo, name, &oid, err);

		if (rc < 0 || (!rc && ga_ref_delete(e->repo, name, &oid, err)))
			return -1;
	}
	return ga_session_remove_dir(s->dir, err);
}

/* Is the commit damaged that the report names, or gone, and its ref with it? Of a branch that the
 * user rewrote, git may have removed the former commit. */
static bool is_gone(struct ga_env *e, const struct ga_session *s, const char *ref,
		    const struct ga_oid *oid)
{
	/* test first, as the check removes a damaged object */
	bool here = !ga_oid_is_zero(oid) && ga_object_exists(e->repo, oid);
	struct ga_oid now;

	return !ga_oid_is_zero(oid) && !ga_commit_readable(e->repo, oid, &s->id.onto) &&
	       (here || ga_ref_read(e->repo, ref, &now, GA_IGNORED) > 0);
}

/* Is the report damaged (`rc` of reading it), or what it names? Or gone: the capture of layers that
 * show anything else than the base wrote one. */
static bool has_lost(struct ga_env *e, const struct ga_session *s,
		     const struct ga_report *r, int rc)
{
	cleanup_free char *held = ga_session_ref(s, "held");
	struct ga_oid base;

	if (rc > 0)
		return !ga_commit_tree(e->repo, &s->id.base, &base, GA_IGNORED) &&
		       !ga_oid_equal(&base, &s->view.tree);
	return rc || is_gone(e, s, s->id.branch, &r->tip) || is_gone(e, s, held, &r->held);
}

static int put_back(struct ga_env *e, const char *name, const struct ga_oid *oid,
		    struct ga_error *err)
{
	struct ga_oid is;
	int rc = ga_oid_is_zero(oid) ? 0 : ga_ref_read(e->repo, name, &is, err);

	return rc > 0 ? ga_ref_create(e->repo, name, oid, "agent: repair", err) : rc;
}

/* Fail if there are verdicts, which another capture would undo. 1: there are none. */
static int keep_decided(struct ga_env *e, const struct ga_session *s,
			const struct ga_report *r, struct ga_error *err)
{
	cleanup_free char *held = ga_session_ref(s, "held");

	for (size_t i = 0; i < r->flags.n; i++)
		if (r->flags.v[i].verdict != GA_VERDICT_OPEN)
			return put_back(e, s->id.branch, &r->tip, err) ||
			       put_back(e, held, &r->held, err) ? -1 : 0;
	return 1;
}

/* Refs that lead nowhere go, as they would make git fail. If some did, or what was captured is gone
 * without them, it is captured again from the layers, unless everything with a verdict is there.
 * Nothing is touched while the commit it started from cannot be read either: an object store may be
 * missing for a while. */
static int repair(struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *space = ga_strf(GA_SESSION_REFS "%s", s->name);
	cleanup_free char *upper = ga_session_path(s, "upper"), *git = ga_session_path(s, "git");
	cleanup_report struct ga_report report = GA_REPORT_INIT;
	cleanup_free char *name = ga_session_ref(s, "report");
	cleanup_strv struct ga_strv gone = GA_STRV_INIT;
	bool here = ga_commit_readable(e->repo, &s->id.onto, &s->id.onto), lost;
	struct ga_oid oid;
	int rc;

	ga_session_clear_locks(e->repo, s);
	if (here && ga_refs_repair(e->repo, s->id.branch, space, &s->id.onto, &gone, err))
		return -1;
	rc = ga_report_read(e->repo, s, &report, GA_IGNORED);
	ga_report_copy_result(&report, s);
	if (!here)
		return 0;
	if (rc < 0 && !ga_ref_read(e->repo, name, &oid, err) &&
	    ga_ref_delete(e->repo, name, &oid, err))
		return -1;
	lost = has_lost(e, s, &report, rc);
	if (gone.n)
		(void)ga_journal(s->dir, "damaged",
				 json_pack("{s:o}", "refs", ga_json_strv(&gone)));
	if ((!lost && !gone.n) || s->state != GA_STATE_CAPTURED || s->id.remote ||
	    access(upper, F_OK) || access(git, F_OK) || !ga_oid_is_zero(&s->view.target))
		return 0;
	rc = lost ? 1 : keep_decided(e, s, &report, err);
	if (rc <= 0)
		return rc;
	s->state = GA_STATE_INTERRUPTED;
	s->damaged = true;
	return ga_session_save(s, err);
}

int ga_start_recover(struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *upper = ga_session_path(s, "upper");

	if (s->state == GA_STATE_NEW && ga_dir_is_empty(upper)) {
		ga_session_clear_locks(e->repo, s);
		return ga_start_discard(e, s, err) ? -1 : 1;
	}
	/* it ran, but a power cut lost the state file */
	if (s->state == GA_STATE_NEW)
		s->state = GA_STATE_RUNNING;
	if (s->state != GA_STATE_RUNNING)
		return repair(e, s, err);
	/* init ends soon after the socket to its supervisor closes */
	for (int i = 0; ga_run_alive(s->run.pid, s->run.pidns); i++) {
		struct timespec t = { 0, GONE_STEP_MS * 1000000 };

		if (i == GONE_MS / GONE_STEP_MS)
			return ga_fail(err, GA_EFATAL, "processes of session '%s' are still running"
				       GA_HINT "end them (pid namespace %llu), then try again",
				       s->name, (unsigned long long)s->run.pidns);
		(void)nanosleep(&t, NULL);
	}
	ga_control_remove(s->dir);
	ga_strv_release(&s->run.published);
	if (!s->run.finished) {
		s->run.finished = (uint64_t)time(NULL);
		(void)ga_journal(s->dir, "interrupted", NULL);
		save_if_possible(s);
	}
	/* never stored */
	s->state = GA_STATE_INTERRUPTED;
	return repair(e, s, err);
}

/* Interval of checking limits: cheap, and soon enough. */
#define TICK_MS 1000

/* The project was moved inside, with its mounts, so its layers are valid. Later writes to the old
 * path are not in them, but in the directory beneath. */
static void note_lost(const struct ga_env *e, const struct ga_spec *spec, struct ga_session *s)
{
	const char *rel = ga_path_below(s->id.project, e->home);
	const char *home = spec->home_dir.upper ? spec->home_dir.upper : spec->home_dir.source;
	cleanup_free char *dir = rel ? ga_path_join(home, rel) : NULL;
	cleanup_free char *q = ga_quote(dir ? dir : s->id.project);

	free(s->view.incomplete);
	s->view.incomplete = ga_strf("the project was moved away inside; %s %s",
				dir ? "later writes are in"
				    : "lost: later writes to", q);
	(void)ga_journal(s->dir, "lost", json_pack("{s:s}", "incomplete", s->view.incomplete));
	save_if_possible(s);
}

static void started(void *payload)
{
	const struct start_watch *w = payload;

	if (w->detach->begun)
		w->detach->begun(w->s, w->detach->payload);
}

static void leave(void *payload)
{
	struct start_watch *w = payload;

	w->detach->now = true;
	w->detach->leave(w->s, w->detach->payload);
}

/* Run `setup`, and wait for the services, before the agent. */
static int before(struct start_watch *w, struct ga_start *st, struct ga_error *err)
{
	if (!start_run_setup(w, st, err) && !start_run_update(w, st, err) &&
	    !start_run_services(w, st, err))
		return 0;
	err->code = GA_ESTART;
	return -1;
}

/* Run the agent, with the commands before and after it. */
static int run_all(struct start_watch *w, struct ga_start *st, int *ret_status,
		   struct ga_error *err)
{
	cleanup_free char *remarks = ga_path_join(w->s->dir, GA_REMARKS_FILE);
	bool ended = false;
	int signal = 0;
	const struct ga_run_command c = {
		.cwd = st->cwd,
		.argv = (const char *const *)st->command.argv.v,
		.envp = (const char *const *)st->spec.env.v,
		.unfiltered = st->unfiltered,
		.renames = w->e->conf.inside.rename,
		.tick_ms = TICK_MS,
		.tick = start_watch_tick,
		.payload = w,
		.written = &w->written,
		.started = started,
		.sink = w->recorder ? ga_record_sink(w->recorder) : NULL,
		.control = st->control,
		.signal = &signal,
		.ended = &ended,
		.detached = st->detach.now,
		.columns = st->detach.columns,
		.rows = st->detach.rows,
		.leave = st->detach.leave ? leave : NULL,
	};

	st->stopped = true;
	if (before(w, st, err))
		return -1;
	if (st->told) /* send the remark only once */
		(void)unlink(remarks);
	if (ga_run_session(st->sandbox, &c, ret_status, err))
		return -1;
	st->stopped = ended || signal;
	start_run_finish(w, st, ended);
	return 0;
}

static void note_loose(const struct ga_sandbox *sb, struct ga_session *s)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	ga_run_loose(sb, &dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		const char *rel = ga_path_below(dirs.v[i], "home");
		cleanup_free char *q = ga_escape(rel ? rel : dirs.v[i]);

		if (!rel) {
			ga_strv_pushf(&s->run.remarks,
				      "root's files in '%s' cannot be nobody's here: "
				      "one that is put there while it runs shows inside", q);
			continue;
		}
		ga_strv_pushf(&s->run.remarks,
			      "something is mounted in '~/%s', or no overlay can lie "
			      "over it: a credential file that is put there while it runs shows "
			      "inside", q);
	}
}

/* Set the state to RUNNING, for other commands, and for recovery after a power cut. */
static int begin(struct ga_env *e, struct ga_start *st, struct ga_error *err)
{
	struct ga_session *s = &st->session;

	if (ga_control_open(s->dir, &st->control, err))
		return -1;
	free(s->view.boot);
	s->view.boot = ga_boot_id();
	s->state = GA_STATE_RUNNING;
	s->run.pid = ga_run_facts(st->sandbox)->pid;
	s->run.pidns = ga_run_facts(st->sandbox)->pidns;
	ga_strv_release(&s->run.limits);
	ga_confine_describe(&st->confine, &s->run.limits);
	note_loose(st->sandbox, s);
	if (start_save_parts(st, err) || ga_session_save(s, err) ||
	    ga_fault_stop("start:running", err))
		return -1;
	return st->resumed ? ga_worktree_entry_create(e->repo, s, err) : 0;
}

static void note_end(const struct ga_env *e, struct ga_start *st)
{
	struct ga_session *s = &st->session;
	uint64_t killed = ga_run_oom_kills(st->sandbox, &st->confine);
	int no_renames = ga_run_facts(st->sandbox)->no_renames;

	/* killed processes may not have written everything */
	if (killed && !s->view.incomplete) {
		s->view.incomplete = ga_strf("the kernel ended %" PRIu64 " of its processes for "
					     "want of memory (limits.memory)", killed);
		(void)ga_journal(s->dir, "limit", json_pack("{s:s}", "incomplete",
							    s->view.incomplete));
		save_if_possible(s);
	}
	if (ga_run_facts(st->sandbox)->lost)
		note_lost(e, &st->spec, &st->session);
	if (!no_renames)
		return;
	/* without the helper, renaming a directory inside fails with EXDEV */
	ga_strv_pushf(&s->view.skipped, "renaming directories inside: %s", no_renames == EBUSY ?
		      "not in a sandbox that announces system calls itself" :
		      no_renames == EINVAL ? "Linux 5.19 or newer is needed"
					   : strerror(no_renames));
	(void)ga_journal(s->dir, "renames", json_pack("{s:i}", "errno", no_renames));
}

static int run(struct ga_env *e, struct ga_start *st, int *ret_status, struct ga_error *err)
{
	struct start_watch w = { .e = e, .s = &st->session, .detach = &st->detach };
	cleanup_free char *base = ga_session_ref(&st->session, "base");
	int rc;

	if (begin(e, st, err))
		return -1;
	if (!st->resumed) {
		ga_ref_paths(e->repo, base, &w.unsynced);
		ga_ref_paths(e->repo, st->session.id.branch, &w.unsynced);
		ga_strv_take(&w.unsynced, ga_path_join(st->session.dir, "session"));
		ga_strv_push(&w.unsynced, st->session.dir);
		start_part_paths(st, &w.unsynced);
	}
	w.recorder = start_record(e, st);
	w.relay = st->net.relay;
	w.begun = ga_now_ms();
	rc = run_all(&w, st, ret_status, err);
	start_end_services(st);
	start_record_end(st, w.recorder, &w.noted);
	start_end_network(st, &w.connections);
	if (start_watch_end(&w, &st->session, rc ? GA_IGNORED : err))
		rc = -1;
	note_end(e, st);
	return rc;
}

bool ga_start_is_idle(const struct ga_session *s)
{
	cleanup_free char *upper = ga_session_path(s, "upper"), *git = ga_session_path(s, "git");

	return !s->view.shared.n && !s->id.submodules.n && ga_dir_is_empty(upper) &&
	       ga_gitdir_untouched(git, s->id.branch, GA_IGNORED) == 1;
}

int ga_start_run(struct ga_env *e, struct ga_start *st, int *ret_status, struct ga_error *err)
{
	struct ga_session *s = &st->session;
	int rc;

	*ret_status = -1;
	if (st->command.own) {
		free(st->command.argv.v[0]);
		st->command.argv.v[0] = ga_steal(&st->command.own);
	}
	start_note_begin(e, st);
	/* a resumed session's sandbox is ready: git ran in it to update the layers to the branch */
	rc = st->resumed ? 0 : ga_run_wait_ready(st->sandbox, err) ||
			       ga_start_enter_network(st, err) ? -1 : 0;
	if (!rc)
		rc = ga_run_confine(st->sandbox, &st->confine, err);
	if (!rc)
		rc = run(e, st, ret_status, err);
	/* a terminal that hangs up during the capture must not end us */
	if (s->state == GA_STATE_RUNNING)
		ga_run_ignore_hangup();
	ga_run_end(st->sandbox);
	/* after run() it is closed already */
	ga_strv_release(&s->run.published);
	ga_home_close(e, st->spec.home_dir.source, st->home_lock);
	if (rc && err->code == GA_ESTART && !st->resumed) {
		/* no sandbox or no command: nothing was written */
		ga_run_finish(st->sandbox);
		st->sandbox = NULL;
		start_unlock_parts(st);
		s->state = GA_STATE_NEW;
		(void)ga_start_discard(e, s, GA_IGNORED);
		return -1;
	}
	s->run.finished = (uint64_t)time(NULL);
	s->run.exit_status = *ret_status;
	start_note_exit(st);
	if (!ga_start_is_idle(s))
		save_if_possible(s);
	(void)start_save_parts(st, GA_IGNORED);
	start_unlock_parts(st);
	return rc;
}
