/* SPDX-License-Identifier: MIT
 *
 * Run a session in its job: claim it, start it in a depot on a disk of the node, stop it when Slurm
 * requires, and push its result before the job ends.
 */
#include <signal.h>

#include "on-internal.h"

#define STOP_TIME "8s"
#define TRIES 3          /* a signal to all processes of the job ends our commands, too */
#define PAUSE_S 1
#define LEAVE_MS 10000   /* for the steps that are in it */
#define PUSHED_MS 60000
#define POLL_US 100000

struct job {
	struct depot *d;     /* the submitted session, and the result */
	struct depot own;    /* on the node */
	char id[32];
	char *dir;
	bool told;           /* to end */
	bool kept;           /* the node has the only copy */
};

/* ---- the depot ------------------------------------------------------------------------------- */

/* Set its state (taken over). */
static int put_state(const struct job *j, json_t *state, bool once, struct ga_error *err)
{
	ga_json_set(state, "job", json_string(j->id));
	ga_json_set_bytes(state, "dir", j->dir);
	return slurm_put(j->d, "state", state, once, err);
}

/* ---- the job's depot ------------------------------------------------------------------------- */

/* Set the paths of the depot in the job's directory. */
static void open_own(struct depot *own, const struct depot *d, const char *dir)
{
	own->state = ga_strf("state_dir=%s/state", dir);
	depot_at(own, dir, d->name, ga_path_base(d->tree));
}

static int start(struct job *j, struct ga_error *err)
{
	cleanup_free char *refs = ga_strf("+" DEPOT_REFS "%s/*:" DEPOT_REFS "%s/*", j->d->name,
					  j->d->name);

	return depot_make(&j->own, err) ||
	       GIT(&j->own, err, "fetch", "--quiet", "--no-tags", j->d->git, refs) ||
	       depot_start(&j->own, 0, err) ? -1 : 0;
}

/* ---- until it ends --------------------------------------------------------------------------- */

/* The words of a command about it; `option` may be NULL. */
static void agent(const struct job *j, struct ga_strv *ret, const char *command, const char *option)
{
	depot_agent(&j->own, ret);
	ga_strv_push_many(ret, command, j->own.name, option, NULL);
}

/* Its state; NULL: unknown. New reference. */
static json_t *session(const struct depot *own)
{
	json_t *all = depot_sessions(own, GA_IGNORED);
	json_t *ret = json_incref(json_object_get(all, own->name));

	json_decref(all);
	return ret;
}

static bool has_ended(const json_t *session)
{
	enum ga_state state;

	return ga_state_parse(depot_text(session, "state"), &state) && state >= GA_STATE_CAPTURED;
}

static void stop(struct job *j)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	j->told = true;
	agent(j, &words, "stop", "--timeout=" STOP_TIME);
	(void)depot_run(&words, DEPOT_RUN(.cwd = j->own.tree), NULL, GA_IGNORED);
}

/* Wait until it has ended, ignores the order to end, or cannot be captured. Returns its state, or
 * NULL. New reference. */
static json_t *wait_end(struct job *j, const sigset_t *signals, struct ga_error *err)
{
	const struct timespec pause = { .tv_sec = PAUSE_S };

	for (int left = TRIES; left;) {
		json_t *now = session(&j->own);

		if (has_ended(now))
			return now;
		left -= j->told || !strcmp(depot_text(now, "state"), "interrupted");
		json_decref(now);
		if (sigtimedwait(signals, NULL, &pause) > 0)
			stop(j);
	}
	(void)ga_fail(err, GA_EFATAL, "the session did not end");
	return NULL;
}

/* ---- its result ------------------------------------------------------------------------------ */

static int push(const struct job *j, struct ga_error *err)
{
	return GIT(&j->own, err, "push", "--quiet", "--no-verify", "--atomic", j->d->git,
		   "+" GA_SESSION_BRANCHES "*:" GA_SESSION_BRANCHES "*",
		   "+" GA_SESSION_REFS "*/held:" GA_SESSION_REFS "*/held");
}

/* Save the output of commands for after the job. Only a `needed` part must not fail; otherwise the
 * error is saved. */
static int put_parts(const struct job *j, struct ga_error *err)
{
	static const struct {
		const char *what, *command, *option;
		bool needed;
	} parts[] = {
		{ "log", "show", "--text", false }, { "show", "show", NULL, false },
		{ "patch", "diff", "--uncommitted", true },
	};
	size_t n = GA_NELEMS(parts) - (depot_has(&j->own, DEPOT_REFS, "snapshot") ? 0 : 1);

	for (size_t i = 0; i < n; i++) {
		cleanup_strv struct ga_strv words = GA_STRV_INIT;
		cleanup_buf struct ga_buf out = GA_BUF_INIT;
		cleanup_error struct ga_error none = GA_ERROR_INIT;
		const struct depot_run how = { .cwd = j->own.tree, .out_max = ON_PATCH_MAX };

		agent(j, &words, parts[i].command, parts[i].option);
		if (depot_run(&words, &how, &out, &none)) {
			if (parts[i].needed)
				return ga_error_move(err, &none);
			ga_buf_truncate(&out, 0);
			ga_buf_addf(&out, "%s\n", none.msg);
		}
		if (slurm_put_text(j->d, parts[i].what, &out, false, err))
			return -1;
	}
	return 0;
}

/* Why Slurm ended it. */
static const char *reason(const struct job *j)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (!j->told)
		return "";
	ga_strv_push_many(&words, "squeue", "--noheader", "--format=%r", NULL);
	ga_strv_pushf(&words, "--jobs=%s", j->id);
	(void)depot_run(&words, DEPOT_RUN(.timeout_ms = 10000), &out, GA_IGNORED);
	return out.len >= 9 && !strncmp(out.ptr, "TimeLimit", 9) ? "time limit" : "cancelled";
}

static int push_result(const struct job *j, const json_t *session, struct ga_error *err)
{
	for (int i = 1;; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		/* push the final state last: whoever sees it finds the rest */
		if (!push(j, &one) && !put_parts(j, &one)) {
			json_t *state = json_deep_copy(session);

			ga_json_set(state, "why", json_string(reason(j)));
			if (!put_state(j, state, false, &one))
				return 0;
		}
		if (i == TRIES)
			return ga_error_move(err, &one);
	}
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Give steps in the directory some time to finish their output. */
static void clean(struct job *j)
{
	cleanup_close int fd = open(j->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t deadline = ga_now_ms() + LEAVE_MS;

	while (fd >= 0 && ga_flock(fd, true, false, GA_IGNORED) > 0 && ga_now_ms() < deadline)
		(void)usleep(POLL_US);
	(void)ga_rmtree_at(AT_FDCWD, j->dir, GA_IGNORED);
}

static int work(struct job *j, const sigset_t *signals, struct ga_error *err)
{
	json_t *end = NULL;
	int rc = start(j, err);

	if (!rc && (!(end = wait_end(j, signals, err)) || push_result(j, end, err))) {
		rc = ga_error_wrap(err, "what it left stays in '%s' on its node", j->dir);
		j->kept = true;
	}
	/* the error stays for the job's output */
	if (rc)
		(void)put_state(j, slurm_state("lost", err->msg), false, GA_IGNORED);
	json_decref(end);
	return rc;
}

int slurm_job(struct depot *d, struct ga_error *err)
{
	const char *id = ga_env_get("SLURM_JOB_ID"), *scratch;
	struct job j = { .d = d };
	sigset_t signals;
	int rc = 0;

	/* requests to end stay pending */
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGHUP);
	(void)sigaddset(&signals, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	if (!id || !slurm_id_ok(id))
		return ga_fail(err, GA_EUSAGE, "this is no job of Slurm");
	memcpy(j.id, id, strlen(id) + 1);
	j.own.input = slurm_get(d, "slurm");
	scratch = depot_text(j.own.input, "scratch");
	j.dir = ga_path_join(*scratch == '/' ? scratch : "/tmp", "git-agent-XXXXXX");
	if (!j.own.input)
		rc = ga_fail(err, GA_EFATAL, "what was submitted is damaged");
	else if (!mkdtemp(j.dir))
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot make '%s' on the node", j.dir);
	if (!rc && !(rc = put_state(&j, slurm_state("running", ""), true, err))) {
		open_own(&j.own, d, j.dir);
		rc = work(&j, &signals, err);
	} else if (depot_has(d, DEPOT_REFS, "state")) {
		/* submitted more than once, requeued, or not to run: that is no error */
		ga_error_release(err);
		rc = 0;
	}
	if (!j.kept && j.dir)
		clean(&j);
	free(j.dir);
	depot_release(&j.own);
	return rc;
}

/* ---- a step in the job
 * ---------------------------------------------------------------------------- */

/* After its end, continue with its result. */
static void wait_for_result(const struct depot *d, const struct depot *own)
{
	int64_t deadline = ga_now_ms() + PUSHED_MS;
	json_t *now = session(own);
	bool ended = has_ended(now), over = false;

	json_decref(now);
	while (ended && !over && ga_now_ms() < deadline) {
		json_t *state = slurm_get(d, "state");

		over = slurm_is_over(state);
		json_decref(state);
		(void)usleep(over ? 0 : POLL_US);
	}
}

int slurm_inside(struct depot *d, struct ga_error *err)
{
	json_t *state = slurm_get(d, "state");
	cleanup_free char *dir = ga_strdup(depot_text(state, "dir"));
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_depot struct depot own = { .request = json_incref(d->request) };
	cleanup_close int fd = *dir == '/' ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int rc;

	json_decref(state);
	if (fd < 0 || ga_flock(fd, false, false, GA_IGNORED))
		return ga_fail(err, GA_EFATAL, "session '%s' has ended", d->name);
	open_own(&own, d, dir);
	depot_agent(&own, &words);
	ga_json_words(json_object_get(d->request, "words"), &words);
	rc = depot_connect(&own, &words, own.tree, err);
	d->status = own.status;
	d->ready = own.ready;
	if (!rc && ga_has_word("attach stop", words.v[3]))
		wait_for_result(d, &own);
	return rc;
}
