/* SPDX-License-Identifier: MIT
 *
 * Sessions that are jobs of Slurm, seen from where they are submitted. Slurm is asked by its
 * commands only, what runs is found by the job's name, and what became of it is in the depot: a job
 * whose result is not there, and which Slurm does not know, is lost.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
#include "ga/json.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/session.h"
#include "on-internal.h"

#define SQUEUE_MAX ((size_t)4 << 20)
#define QUICK_MS 3000
#define SQUEUE_MS 20000
#define WHY_MAX 64
#define LOG_TAIL 400
#define POLL_US 500000
#define SQUEUE_EVERY_MS 20000
#define ENDS_MS 60000

/* A job of the user's that has not ended. */
struct row {
	char *name, *why;
	bool waits;
};
struct rows {
	struct row *v;
	size_t n, cap;
};
#define cleanup_rows cleanup_(rows_release)
static void rows_release(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].name);
		free(r->v[i].why);
	}
	free(r->v);
}

/* ---- what the depot knows -------------------------------------------------------------------- */

static char *ref_of(const char *name, const char *what)
{
	return ga_strf("refs/agent-on/%s/%s", name, what);
}

static bool has(const struct depot *d, const char *name, const char *what)
{
	cleanup_free char *ref = ref_of(name, what);
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	return !GIT(d, &none, "rev-parse", "--quiet", "--verify", ref);
}

bool slurm_has(const struct depot *d)
{
	return has(d, d->name, "slurm");
}

static json_t *state_of(const struct depot *d, const char *name)
{
	cleanup_free char *ref = ref_of(name, "state");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	return GIT_OUT(d, NULL, &out, &none, "cat-file", "blob", ref) || !out.len
		       ? NULL : json_loadb(out.ptr, out.len, 0, NULL);
}

json_t *slurm_state(const struct depot *d)
{
	return state_of(d, d->name);
}

bool slurm_is_over(const json_t *state)
{
	return state && strcmp(depot_text(state, "state"), "running") != 0;
}

bool slurm_id_ok(const char *id)
{
	return *id && strlen(id) < 32 && strspn(id, "0123456789_") == strlen(id);
}

/* Take the claim, so that no job of it ever begins. Returns 1 if one has begun, or never can. */
static int forbid(const struct depot *d, struct ga_error *err)
{
	cleanup_free char *claim = ref_of(d->name, "claim"), *base = ref_of(d->name, "base");
	cleanup_error struct ga_error lost = GA_ERROR_INIT;

	if (!GIT(d, &lost, "update-ref", claim, base, "0000000000000000000000000000000000000000"))
		return 0;
	return has(d, d->name, "claim") ? 1 : ga_error_move(err, &lost);
}

/* ---- what Slurm says ------------------------------------------------------------------------- */

static bool waits(const char *state, size_t n)
{
	return ga_has_word_n("PENDING REQUEUED REQUEUE_FED REQUEUE_HOLD SPECIAL_EXIT", state, n);
}

/* STATE|REASON|NAME */
static void add_row(struct rows *r, const char *line)
{
	size_t state = strcspn(line, "|");
	const char *why = line[state] ? line + state + 1 : "", *name = strchr(why, '|');
	size_t n = strspn(why, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			       " ,._:-");

	if (!name || !ga_session_name_ok(name + 1))
		return;
	n = why + n == name && n <= WHY_MAX ? n : 0;
	GA_GROW(r->v, r->n, r->cap);
	r->v[r->n++] = (struct row){ .name = ga_strdup(name + 1),
				     .why = ga_strndup(why, n),
				     .waits = waits(line, state) };
}

static int ask(bool quick, struct rows *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	char *save = NULL;

	ga_strv_push_many(&words, "squeue", "--noheader", "--format=%T|%r|%j", NULL);
	ga_strv_pushf(&words, "--user=%u", (unsigned)geteuid());
	if (depot_run(&words, DEPOT_RUN(.out_max = SQUEUE_MAX,
					.timeout_ms = quick ? QUICK_MS : SQUEUE_MS), &out, err))
		return -1;
	ga_buf_addch(&out, '\0');
	for (char *line = strtok_r(out.ptr, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add_row(ret, line);
	return 0;
}

/* Its job: one that runs before one that waits. */
static const struct row *row_of(const struct rows *r, const char *name)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->v[i].name, name) && (!found || found->waits))
			found = &r->v[i];
	return found;
}

/* By name: so also what was submitted twice. */
static int cancel(const struct depot *d, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_strv_push(&words, "scancel");
	ga_strv_pushf(&words, "--name=%s", d->name);
	ga_strv_pushf(&words, "--user=%u", (unsigned)geteuid());
	return depot_run(&words, DEPOT_RUN(.timeout_ms = SQUEUE_MS), NULL, err);
}

/* ---- states ---------------------------------------------------------------------------------- */

static json_t *saying(const char *state, const char *why)
{
	return json_pack("{s:s, s:s}", "state", state, "why", why ? why : "");
}

static char *log_of(const struct depot *d, const char *name)
{
	return ga_strf("%s/jobs/%s", d->dir, name);
}

/* The job has ended and never began the session: what it said last. */
static json_t *absent(const struct depot *d, const char *name)
{
	cleanup_free char *log = log_of(d, name), *line = NULL;
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf said = GA_BUF_INIT;

	(void)ga_read_file_at(AT_FDCWD, log, SQUEUE_MAX, &said, &none);
	line = ga_git_last_line(&said);
	if (line && strlen(line) > LOG_TAIL)
		line[LOG_TAIL] = '\0';
	return saying("absent", line);
}

/* What it is, by the depot and then by what Slurm said after that: NULL if this should be looked
 * at again, as things may have changed in between. */
static json_t *judge(const struct depot *d, const char *name, json_t *state, bool claimed,
		     const struct rows *r, bool last)
{
	const struct row *row = row_of(r, name);

	if (slurm_is_over(state) || (state && row && !row->waits))
		return json_incref(state);
	if (claimed && !state)
		return saying("cancelled", NULL);
	if (row && !state)
		return saying("pending", row->waits ? row->why : "starting");
	if (!last)
		return NULL;
	return state ? saying("lost", "its job is gone, and left no result") : absent(d, name);
}

static json_t *look(const struct depot *d, const char *name, const struct rows *r)
{
	json_t *ret = NULL;

	for (int i = 0; i < 2 && !ret; i++) {
		bool claimed = has(d, name, "claim");
		json_t *state = claimed ? state_of(d, name) : NULL;

		ret = judge(d, name, state, claimed, r, i);
		json_decref(state);
	}
	return ret;
}

/* The names of those that were submitted, and did not end as far as the depot knows. */
static int read_depot(const struct depot *d, struct ga_strv *all, bool *ret_open,
		      struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	char *save = NULL;

	if (GIT_OUT(d, NULL, &out, err, "for-each-ref", "--format=%(refname)", "refs/agent-on/"))
		return -1;
	ga_buf_addch(&out, '\0');
	for (char *ref = strtok_r(out.ptr, "\n", &save); ref; ref = strtok_r(NULL, "\n", &save)) {
		char *name = ref + strlen("refs/agent-on/"), *what = strchr(name, '/');
		json_t *state;

		if (!what || strcmp(what, "/slurm") != 0)
			continue;
		*what = '\0';
		state = state_of(d, name);
		*ret_open |= !slurm_is_over(state);
		json_decref(state);
		ga_strv_push(all, name);
	}
	return 0;
}

int slurm_list(struct depot *d, json_t *states, struct ga_error *err)
{
	bool quick = json_is_true(json_object_get(d->request, "quick")), open = false;
	cleanup_error struct ga_error silent = GA_ERROR_INIT;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_rows struct rows rows = { 0 };
	int rc;

	if (read_depot(d, &names, &open, err))
		return -1;
	rc = open ? ask(quick, &rows, &silent) : 0;
	for (size_t i = 0; i < names.n; i++) {
		json_t *state = rc ? state_of(d, names.v[i]) : NULL, *one;

		one = !rc ? look(d, names.v[i], &rows) : slurm_is_over(state) ? json_incref(state)
		      : saying("unknown", silent.msg);
		json_decref(state);
		ga_json_set(states, names.v[i], one);
	}
	return 0;
}

/* ---- submitting ------------------------------------------------------------------------------ */

/* The environment of jobs and steps is this one, and nothing of whoever submits. */
static void add_env(struct ga_strv *ret)
{
	static const char *const names[] = { "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG",
					     "TERM", "SLURM_CONF", "XDG_CONFIG_HOME",
					     "XDG_DATA_HOME", "XDG_CACHE_HOME" };

	ga_strv_push(ret, "/usr/bin/env");
	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (ga_env_get(names[i]))
			ga_strv_pushf(ret, "%s=%s", names[i], ga_env_get(names[i]));
}

/* The same request with another action, as words that carry it out. */
static void add_request(const struct depot *d, const char *action, struct ga_strv *ret)
{
	json_t *request = json_deep_copy(d->request);
	cleanup_free char *word = NULL;

	ga_json_set(request, "do", json_string(action));
	word = on_pack(request);
	json_decref(request);
	add_env(ret);
	ga_strv_push_many(ret, d->self, "depot", word, NULL);
}

/* The file that a job writes to, as a pattern of sbatch's. */
static int make_log(const struct depot *d, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free char *log = log_of(d, d->name), *dir = ga_path_parent(log);

	for (const char *p = log; *p; p++)
		ga_buf_addf(ret, *p == '%' ? "%%%%" : "%c", *p);
	return ga_mkdir_p(dir, 0700, err);
}

static int sbatch(const struct depot *d, const json_t *input, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT, does = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT, log = GA_BUF_INIT;
	cleanup_buf struct ga_buf script = GA_BUF_INIT;
	cleanup_free char *line = NULL;

	if (make_log(d, &log, err))
		return -1;
	ga_strv_push_many(&words, "sbatch", "--parsable", "--no-requeue", "--export=NIL",
			  "--chdir=/", NULL);
	ga_strv_pushf(&words, "--output=%s", log.ptr);
	ga_json_words(json_object_get(input, "sbatch"), &words);
	ga_strv_pushf(&words, "--job-name=%s", d->name);
	add_request(d, "job", &does);
	line = ga_quote_shell_words(&does);
	ga_buf_addf(&script, "#!/bin/sh\nexec %s\n", line);
	return depot_run(&words, DEPOT_RUN(.in = &script, .timeout_ms = ENDS_MS), &out, err);
}

/* What is submitted is in the depot, as it may be longer than a word of a command. */
static int note(const struct depot *d, const json_t *input, struct ga_error *err)
{
	cleanup_free char *ref = ref_of(d->name, "slurm"), *text = json_dumps(input, JSON_COMPACT);
	cleanup_buf struct ga_buf id = GA_BUF_INIT, in = GA_BUF_INIT;

	ga_buf_adds(&in, text ? text : "");
	if (GIT_OUT(d, &in, &id, err, "hash-object", "-w", "--stdin"))
		return -1;
	ga_buf_truncate(&id, strcspn(id.ptr, "\n"));
	return GIT(d, err, "update-ref", ref, id.ptr);
}

int slurm_submit(struct depot *d, json_t *input, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	(void)json_object_del(input, "keys");
	if (!has(d, d->name, "base"))
		return ga_fail(err, GA_EFATAL, "the base of the session is not there");
	if (has(d, d->name, "claim"))
		return 1;
	if (note(d, input, err))
		return -1;
	if (!sbatch(d, input, err))
		return 0;
	/* it may have been submitted all the same, and then must not run unseen */
	if (forbid(d, &ignored) > 0)
		return 0;
	(void)cancel(d, &ignored);
	return -1;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int fail_state(const char *name, const json_t *state, struct ga_error *err)
{
	const char *why = depot_text(state, "why");

	return ga_fail(err, GA_EFATAL, "session '%s' is %s%s%s", name, depot_text(state, "state"),
		       *why ? ": " : "", why);
}

static json_t *look_now(const struct depot *d, struct ga_error *err)
{
	cleanup_rows struct rows rows = { 0 };

	return ask(false, &rows, err) ? NULL : look(d, d->name, &rows);
}

/* Print what the job left. */
static int print_left(struct depot *d, const char *what, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	ga_strv_push(&words, "git");
	ga_strv_pushf(&words, "--git-dir=%s", d->git);
	ga_strv_push_many(&words, "cat-file", "blob", NULL);
	ga_strv_pushf(&words, "refs/agent-on/%s/%s", d->name, what);
	return depot_connect(d, &words, "/", err);
}

static int exit_as(struct depot *d, const json_t *state, struct ga_error *err)
{
	const json_t *status = json_object_get(state, "exit");

	if (!json_is_integer(status))
		return fail_state(d->name, state, err);
	d->status = (int)json_integer_value(status);
	return 0;
}

/* Of one that has ended: its node has nothing of it any more. */
static int do_ended(struct depot *d, const json_t *state, const struct ga_strv *words,
		    struct ga_error *err)
{
	const char *command = words->v[0];

	if (!strcmp(command, "wait"))
		return exit_as(d, state, err);
	if (strcmp(depot_text(state, "state"), "lost") != 0) {
		if (!strcmp(command, "diff") && ga_strv_has(words, "--uncommitted"))
			return print_left(d, "patch", err);
		if (!strcmp(command, "logs") || ga_strv_has(words, "--text") ||
		    ga_strv_has(words, "--replay"))
			return print_left(d, "log", err);
		if (!strcmp(command, "show"))
			return print_left(d, "show", err);
	}
	return fail_state(d->name, state, err);
}

/* The milliseconds of --timeout, -1: there is none. */
static int timeout_of(const struct ga_strv *words)
{
	static const char option[] = "--timeout";
	uint64_t n;

	for (size_t i = 0; i < words->n; i++) {
		const char *w = words->v[i];

		if (!strncmp(w, "--timeout=", sizeof(option)))
			w += sizeof(option);
		else if (!strcmp(w, option) && i + 1 < words->n)
			w = words->v[i + 1];
		else
			continue;
		return ga_parse_seconds(w, 1000000, &n) ? (int)n * 1000 : 0;
	}
	return -1;
}

/* Until the depot has its end, or Slurm does not know it any more. */
static int do_wait(struct depot *d, int ms, struct ga_error *err)
{
	int64_t deadline = ms < 0 ? INT64_MAX : ga_now_ms() + ms, next = 0;

	for (;; (void)usleep(POLL_US)) {
		bool due = ga_now_ms() >= next;
		json_t *state = due ? look_now(d, err) : slurm_state(d);
		bool over = slurm_is_over(state) &&
			    strcmp(depot_text(state, "state"), "pending") != 0;
		int rc = due && !state ? -1 : over ? exit_as(d, state, err) : 0;

		json_decref(state);
		if (over || rc)
			return rc;
		if (due)
			next = ga_now_ms() + SQUEUE_EVERY_MS;
		if (ga_now_ms() >= deadline)
			return ga_fail(err, GA_ETIME, "session '%s' still runs", d->name);
	}
}

/* Do it in a step of the job, which says what is to be said. */
static int do_inside(struct depot *d, const json_t *state, struct ga_error *err)
{
	bool terminal = json_is_true(json_object_get(d->request, "terminal"));
	const char *id = depot_text(state, "job");
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	if (!slurm_id_ok(id))
		return ga_fail(err, GA_EFATAL, "the state of session '%s' is damaged", d->name);
	ga_strv_push_many(&words, "srun", "--quiet", "--unbuffered", "--overlap", "--export=NONE",
			  "--ntasks=1", "--nodes=1", "--chdir=/", NULL);
	ga_strv_pushf(&words, "--jobid=%s", id);
	if (terminal)
		ga_strv_push(&words, "--pty");
	add_request(d, "inside", &words);
	d->passes = true;
	return depot_connect(d, &words, "/", err);
}

/* Of one that has not begun. Returns 1 if it has, meanwhile. */
static int do_pending(struct depot *d, const struct ga_strv *words, struct ga_error *err)
{
	json_t *state;
	int rc;

	if (!strcmp(words->v[0], "stop")) {
		rc = forbid(d, err);
		return rc ? rc : cancel(d, err);
	}
	state = look_now(d, err);
	rc = !state ? -1 : *depot_text(state, "job") ? 1
	     : fail_state(d->name, state, err);
	json_decref(state);
	return rc;
}

int slurm_do(struct depot *d, const struct ga_strv *words, struct ga_error *err)
{
	json_t *state = slurm_state(d);
	int rc = 1;

	if (!slurm_is_over(state) && !strcmp(words->v[0], "wait")) {
		rc = do_wait(d, timeout_of(words), err);
	} else if (!state) {
		rc = do_pending(d, words, err);
		state = rc == 1 ? slurm_state(d) : NULL;
	}
	if (rc == 1)
		rc = slurm_is_over(state) ? do_ended(d, state, words, err)
		     : state ? do_inside(d, state, err)
		     : ga_fail(err, GA_EFATAL, "session '%s' was cancelled before it began",
			       d->name);
	json_decref(state);
	return rc;
}

/* ---- dropping -------------------------------------------------------------------------------- */

static int remove_refs(const struct depot *d, struct ga_error *err)
{
	cleanup_free char *on = ref_of(d->name, ""), *held = ga_strf(GA_SESSION_REFS "%s", d->name);
	cleanup_free char *branch = ga_strf(GA_SESSION_BRANCHES "%s", d->name);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	on[strlen(on) - 1] = '\0';
	return GIT_OUT(d, NULL, &out, err, "for-each-ref", "--format=delete %(refname)", on, held,
		       branch) ||
	       (out.len && GIT_OUT(d, &out, NULL, err, "update-ref", "--stdin")) ? -1 : 0;
}

/* What a job that is being cancelled still pushes comes before it is removed. */
int slurm_drop(struct depot *d, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *log = log_of(d, d->name);
	int64_t deadline = ga_now_ms() + ENDS_MS;
	int rc = forbid(d, err);
	json_t *state = rc > 0 ? slurm_state(d) : NULL;
	bool runs = state && !slurm_is_over(state);

	json_decref(state);
	if (rc < 0 || ((runs || !rc) && cancel(d, err)))
		return -1;
	while (runs && ga_now_ms() < deadline) {
		state = look_now(d, &ignored);
		runs = !slurm_is_over(state);
		json_decref(state);
		(void)usleep(runs ? POLL_US : 0);
	}
	(void)unlink(log);
	return remove_refs(d, err);
}
