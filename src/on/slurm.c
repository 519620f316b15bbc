/* SPDX-License-Identifier: MIT
 *
 * Submit, query and cancel sessions as jobs of Slurm, with Slurm's commands. Running jobs are found
 * by name, results in the depot: a job with neither is lost. The ref `state` is also the claim: of
 * all jobs and cancellers of a session, only one creates it.
 */
#include "on-internal.h"

#define SQUEUE_MAX ((size_t)4 << 20)
#define SQUEUE_MS 20000
#define LOG_TAIL 400
#define POLL_US 500000
#define ENDS_MS 60000

/* ---- states in the depot --------------------------------------------------------------------- */

json_t *slurm_get(const struct depot *d, const char *what)
{
	cleanup_free char *ref = depot_ref(d, what);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	return GIT_OUT(d, NULL, &out, GA_IGNORED, "cat-file", "blob", ref)
		       ? NULL : json_loadb(out.ptr, out.len, 0, NULL);
}

int slurm_put_text(const struct depot *d, const char *what, const struct ga_buf *text, bool once,
		   struct ga_error *err)
{
	cleanup_free char *ref = depot_ref(d, what);
	cleanup_buf struct ga_buf id = GA_BUF_INIT;

	if (GIT_OUT(d, text, &id, err, "hash-object", "-w", "--stdin"))
		return -1;
	ga_buf_chomp(&id);
	return GIT(d, err, "update-ref", ref, id.ptr, once ? "" : NULL);
}

int slurm_put(const struct depot *d, const char *what, json_t *j, bool once, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	ga_json_add_text(j, &text);
	json_decref(j);
	return slurm_put_text(d, what, &text, once, err);
}

json_t *slurm_state(const char *state, const char *why)
{
	cleanup_free char *safe = ga_escape(why);

	return json_pack("{s:s, s:s}", "state", state, "why", safe);
}

static bool is(const json_t *state, const char *words)
{
	return ga_has_word(words, depot_text(state, "state"));
}

bool slurm_is_over(const json_t *state)
{
	return json_is_object(state) && !is(state, "running pending unknown");
}

bool slurm_id_ok(const char *id)
{
	return *id && strlen(id) < 32 && strspn(id, "0123456789_") == strlen(id);
}

/* Take the claim, so that no job of it ever starts. Returns 1 if one has started, or never can. */
static int forbid(const struct depot *d, struct ga_error *err)
{
	cleanup_error struct ga_error lost = GA_ERROR_INIT;

	if (!slurm_put(d, "state", slurm_state("cancelled", ""), true, &lost))
		return 0;
	return depot_has(d, DEPOT_REFS, "state") ? 1 : ga_error_move(err, &lost);
}

/* The states that jobs left, by name; null for a session without a started job. `name` may be a
 * pattern. New reference; NULL: unknown. */
static json_t *states_left(const struct depot *d, const char *name, struct ga_error *err)
{
	cleanup_free char *slurm = ga_strf(DEPOT_REFS "%s/slurm", name);
	cleanup_free char *states = ga_strf(DEPOT_REFS "%s/state", name);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0, n;
	json_t *ret;

	if (GIT_OUT(d, NULL, &out, err, "for-each-ref", "--format=%(refname:lstrip=2) %(raw)",
		    slurm, states))
		return NULL;
	ret = json_object();
	while ((line = ga_buf_next_line(&out, &pos, &n))) {
		cleanup_free char *one = ga_strndup(line, n);
		char *what = strchr(one, '/');
		bool begun = what && !strncmp(what, "/state ", 7);

		if (what)
			*what = '\0';
		ga_json_set(ret, one, begun ? json_loads(what + 7, 0, NULL) : json_null());
	}
	return ret;
}

/* ---- states in Slurm ------------------------------------------------------------------------- */

/* The jobs of the user that have not ended, as states by their names. */
static json_t *ask(struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	json_t *ret = json_object();
	char *save = NULL;

	ga_strv_push_many(&words, "squeue", "--noheader", "--format=%j|%T|%r", NULL);
	ga_strv_pushf(&words, "--user=%u", (unsigned)geteuid());
	if (depot_run(&words, DEPOT_RUN(.out_max = SQUEUE_MAX, .timeout_ms = SQUEUE_MS), &out,
		      err)) {
		json_decref(ret);
		return NULL;
	}
	/* NAME|STATE|REASON; of jobs with the same name a running one counts */
	for (char *line = out.ptr; (line = strtok_r(line, "\n", &save)); line = NULL) {
		char *rest = NULL, *name = strtok_r(line, "|", &rest);
		char *state = strtok_r(NULL, "|", &rest);
		bool waits = state && ga_has_word("PENDING REQUEUED REQUEUE_FED REQUEUE_HOLD "
						  "SPECIAL_EXIT", state);

		if (name && !is(json_object_get(ret, name), "running"))
			ga_json_set(ret, name, slurm_state(waits ? "pending" : "running", rest));
	}
	return ret;
}

/* By name, to include jobs submitted twice. */
static int cancel(const struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_strv_push(&words, "scancel");
	ga_strv_pushf(&words, "--name=%s", d->name);
	ga_strv_pushf(&words, "--user=%u", (unsigned)geteuid());
	return depot_run(&words, DEPOT_RUN(.timeout_ms = SQUEUE_MS), NULL, err);
}

/* ---- states ---------------------------------------------------------------------------------- */

static char *log_of(const struct depot *d, const char *name)
{
	return ga_strf("%s/jobs/%s", d->dir, name);
}

/* The job has ended without a result: its last message. */
static json_t *ended_state(const struct depot *d, const char *name, const char *state)
{
	cleanup_free char *log = log_of(d, name), *line = NULL;
	cleanup_buf struct ga_buf said = GA_BUF_INIT;

	(void)ga_read_file_at(AT_FDCWD, log, SQUEUE_MAX, &said, GA_IGNORED);
	line = ga_git_last_line(&said);
	if (line)
		line[strnlen(line, LOG_TAIL)] = '\0';
	return slurm_state(state, line ? line : "its job is gone, and left no result");
}

/* The state of a session without a result in the depot, from its state `before` Slurm was queried
 * and `now`, null if there was none, and Slurm's answer `row`. */
static json_t *judge(const struct depot *d, const char *name, const json_t *before, json_t *now,
		     json_t *row)
{
	if (!json_is_object(now))
		return is(row, "pending") ? json_incref(row)
		       : row ? slurm_state("pending", "starting") : ended_state(d, name, "absent");
	/* it started in between, or is running */
	if (!json_is_object(before) || is(row, "running"))
		return json_incref(now);
	return ended_state(d, name, "lost");
}

/* Their states by name, as in states_left(). */
static json_t *query(const struct depot *d, const char *name, struct ga_error *err)
{
	json_t *before = states_left(d, name, err), *rows = NULL, *ret = NULL, *one;
	cleanup_error struct ga_error silent = GA_ERROR_INIT;
	bool open = false;
	const char *key;

	json_object_foreach(before, key, one)
		open |= !slurm_is_over(one);
	if (!open)
		return before;
	rows = ask(&silent);
	ret = states_left(d, name, err);
	json_object_foreach(ret, key, one)
		if (!slurm_is_over(one))
			ga_json_set(ret, key, !rows ? slurm_state("unknown", silent.msg)
				    : judge(d, key, json_object_get(before, key), one,
					    json_object_get(rows, key)));
	json_decref(rows);
	json_decref(before);
	return ret;
}

/* The same for one session. */
static json_t *query_one(const struct depot *d, struct ga_error *err)
{
	json_t *all = query(d, d->name, err);
	json_t *ret = json_incref(json_object_get(all, d->name));

	if (all && !ret)
		(void)ga_fail(err, GA_EFATAL, "session '%s' was dropped", d->name);
	json_decref(all);
	return ret;
}

int slurm_list(struct depot *d, json_t *states, struct ga_error *err)
{
	json_t *jobs = query(d, "*", err);
	int rc = jobs ? json_object_update(states, jobs) : -1;

	json_decref(jobs);
	return rc;
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* A command for the same request with another action. */
static void add_request(const struct depot *d, const char *action, struct ga_strv *ret)
{
	static const char *const names[] = { "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG",
					     "TERM", "SLURM_CONF", "XDG_CONFIG_HOME",
					     "XDG_DATA_HOME", "XDG_CACHE_HOME" };
	json_t *request = json_deep_copy(d->request);
	cleanup_free char *word = NULL;

	ga_json_set(request, "do", json_string(action));
	word = on_pack(request);
	json_decref(request);
	/* jobs and steps get this environment, nothing of the submitter's */
	ga_strv_push(ret, "/usr/bin/env");
	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (ga_env_get(names[i]))
			ga_strv_pushf(ret, "%s=%s", names[i], ga_env_get(names[i]));
	ga_strv_push_many(ret, d->self, "depot", word, NULL);
}

static int sbatch(const struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT, does = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT, script = GA_BUF_INIT;
	cleanup_free char *dir = ga_path_join(d->dir, "jobs"), *line = NULL;

	if (ga_mkdir_p(dir, 0700, err))
		return -1;
	/* output relative to the job's directory, whose '%' would be a pattern */
	ga_strv_push_many(&words, "sbatch", "--parsable", "--no-requeue", "--export=NIL",
			  "--chdir", dir, "--output", d->name, NULL);
	ga_json_words(json_object_get(d->input, "sbatch"), &words);
	ga_strv_pushf(&words, "--job-name=%s", d->name);
	add_request(d, "job", &does);
	line = ga_quote_shell_words(&does);
	ga_buf_addf(&script, "#!/bin/sh\nexec %s\n", line);
	return depot_run(&words, DEPOT_RUN(.in = &script, .timeout_ms = ENDS_MS), &out, err);
}

int slurm_submit(struct depot *d, struct ga_error *err)
{
	(void)json_object_del(d->input, "keys");
	if (depot_has(d, DEPOT_REFS, "state"))
		return 1;
	/* the script may be longer than one argument */
	if (slurm_put(d, "slurm", json_incref(d->input), false, err))
		return -1;
	if (!sbatch(d, err))
		return 0;
	/* it may have been submitted nevertheless: cancel it */
	if (forbid(d, GA_IGNORED) > 0)
		return 0;
	if (!cancel(d, GA_IGNORED))
		(void)depot_forget(d, GA_IGNORED);
	return -1;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int fail_state(const char *name, const json_t *state, struct ga_error *err)
{
	const char *why = depot_text(state, "why");

	return ga_fail(err, GA_EFATAL, "session '%s' is %s%s%s", name, depot_text(state, "state"),
		       *why ? ": " : "", why);
}

static int print_saved(struct depot *d, const char *what, struct ga_error *err)
{
	cleanup_free char *ref = depot_ref(d, what);
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_strv_push_many(&words, "git", "--git-dir", d->git, "cat-file", "blob", ref, NULL);
	return depot_connect(d, &words, "/", err);
}

/* Handle a session that is not running: its node has no copy. */
static int do_ended(struct depot *d, const json_t *state, const struct ga_strv *words,
		    struct ga_error *err)
{
	const char *command = words->v[0];

	if (is(state, "absent unknown " GA_ON_STATES))
		return fail_state(d->name, state, err);
	if (!strcmp(command, "logs") || ga_strv_has(words, "--text") ||
	    ga_strv_has(words, "--replay"))
		return print_saved(d, "log", err);
	return !strcmp(command, "show") ? print_saved(d, "show", err)
					: fail_state(d->name, state, err);
}

/* Run the action in a step of the job, which prints the answer. */
static int do_inside(struct depot *d, const json_t *state, struct ga_error *err)
{
	const char *id = depot_text(state, "job");
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	if (!slurm_id_ok(id))
		return ga_fail(err, GA_EFATAL, "the state of session '%s' is damaged", d->name);
	ga_strv_push_many(&words, "srun", "--quiet", "--unbuffered", "--overlap", "--export=NONE",
			  "--ntasks=1", "--nodes=1", "--chdir=/", NULL);
	ga_strv_pushf(&words, "--jobid=%s", id);
	if (json_is_true(json_object_get(d->request, "terminal")))
		ga_strv_push(&words, "--pty");
	else /* a terminal though none was asked for, as srun else holds back: no program gets it */
		ga_strv_push_many(&words, "/bin/sh", "-c", "\"$@\" | cat", "sh", NULL);
	add_request(d, "inside", &words);
	d->passes = true;
	return depot_connect(d, &words, "/", err);
}

int slurm_do(struct depot *d, const struct ga_strv *words, struct ga_error *err)
{
	json_t *state;
	int rc = !strcmp(words->v[0], "stop") ? forbid(d, err) : 1;

	if (rc <= 0)
		return rc ? -1 : cancel(d, err);
	state = query_one(d, err);
	rc = !state ? -1 : is(state, "running") ? do_inside(d, state, err)
	     : do_ended(d, state, words, err);
	json_decref(state);
	return rc;
}

/* Wait for the last push of a cancelled job before removing it. */
int slurm_drop(struct depot *d, struct ga_error *err)
{
	cleanup_free char *log = log_of(d, d->name);
	int64_t deadline = ga_now_ms() + ENDS_MS;
	int rc = forbid(d, err);
	json_t *state = rc > 0 ? slurm_get(d, "state") : NULL;
	bool runs = is(state, "running");

	json_decref(state);
	if (rc < 0 || ((runs || !rc) && cancel(d, err)))
		return -1;
	while (runs && ga_now_ms() < deadline) {
		state = query_one(d, GA_IGNORED);
		runs = !slurm_is_over(state);
		json_decref(state);
		(void)usleep(runs ? POLL_US : 0);
	}
	(void)unlink(log);
	return depot_forget(d, err);
}
