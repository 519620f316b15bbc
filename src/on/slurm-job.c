/* SPDX-License-Identifier: MIT
 *
 * The session in its job: claimed, started in a depot of its own on a disk of the node, ended at
 * the latest when Slurm says so, and its result pushed before the job ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
#include "ga/json.h"
#include "ga/path.h"
#include "ga/process.h"
#include "ga/quote.h"
#include "ga/session.h"
#include "on-internal.h"

#define STOP_TIME "8s"
#define TRIES 3          /* a signal for all processes of the job ends what runs for us, too */
#define LEAVE_MS 10000   /* for the steps that are in it */
#define PUSHED_MS 60000
#define POLL_US 100000
#define PART_MAX ((size_t)256 << 20)

struct job {
	struct depot *d;     /* what was submitted, and the result */
	struct depot own;    /* on the node */
	json_t *input;
	char id[32];
	char *dir;
	bool told;           /* to end */
};

/* ---- the depot ------------------------------------------------------------------------------- */

static char *ref_of(const struct job *j, const char *what)
{
	return ga_strf("refs/agent-on/%s/%s", j->d->name, what);
}

static int add_blob(const struct job *j, const struct ga_buf *text, struct ga_buf *ret,
		    struct ga_error *err)
{
	if (GIT_OUT(j->d, text, ret, err, "hash-object", "-w", "--stdin"))
		return -1;
	ga_buf_truncate(ret, strcspn(ret->ptr, "\n"));
	return 0;
}

/* Takes over `state`. */
static int add_state(const struct job *j, json_t *state, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	cleanup_free char *text = NULL;

	ga_json_set(state, "job", json_string(j->id));
	ga_json_set_bytes(state, "dir", j->dir);
	text = json_dumps(state, JSON_COMPACT);
	json_decref(state);
	ga_buf_adds(&in, text ? text : "");
	return add_blob(j, &in, ret, err);
}

/* The claim and the first state are one transaction: whoever has no state lost. */
static int claim(const struct job *j, struct ga_error *err)
{
	cleanup_buf struct ga_buf state = GA_BUF_INIT, base = GA_BUF_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *of_base = ref_of(j, "base");

	if (add_state(j, json_pack("{s:s}", "state", "running"), &state, err) ||
	    GIT_OUT(j->d, NULL, &base, err, "rev-parse", "--verify", of_base))
		return -1;
	ga_buf_addf(&text, "create refs/agent-on/%s/claim %.*s\ncreate refs/agent-on/%s/state %s\n",
		    j->d->name, (int)strcspn(base.ptr, "\n"), base.ptr, j->d->name, state.ptr);
	return GIT_OUT(j->d, &text, NULL, err, "update-ref", "--stdin");
}

/* The last state, which is over, and with it what commands print of the session; `parts` may be
 * empty. Takes over `state`. */
static int put_result(const struct job *j, json_t *state, const struct ga_strv *parts,
		      struct ga_error *err)
{
	cleanup_buf struct ga_buf id = GA_BUF_INIT, text = GA_BUF_INIT;

	if (add_state(j, state, &id, err))
		return -1;
	ga_buf_addf(&text, "update refs/agent-on/%s/state %s\n", j->d->name, id.ptr);
	for (size_t i = 0; i < parts->n; i++)
		ga_buf_addf(&text, "update refs/agent-on/%s/%s\n", j->d->name, parts->v[i]);
	return GIT_OUT(j->d, &text, NULL, err, "update-ref", "--stdin");
}

/* ---- here ------------------------------------------------------------------------------------ */

static int read_input(struct job *j, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *ref = ref_of(j, "slurm");
	const char *id = ga_env_get("SLURM_JOB_ID");

	if (!id || !slurm_id_ok(id))
		return ga_fail(err, GA_EUSAGE, "this is no job of Slurm");
	memcpy(j->id, id, strlen(id) + 1);
	if (GIT_OUT(j->d, NULL, &text, err, "cat-file", "blob", ref))
		return -1;
	j->input = json_loadb(text.ptr, text.len, 0, NULL);
	return j->input ? 0 : ga_fail(err, GA_EFATAL, "what was submitted is damaged");
}

/* A directory of its own, which nobody else can have made. */
static int make_dir(struct job *j, struct ga_error *err)
{
	const char *scratch = depot_text(j->input, "scratch");

	j->dir = ga_path_join(*scratch == '/' ? scratch : "/tmp", "git-agent-XXXXXX");
	if (mkdtemp(j->dir))
		return 0;
	return ga_fail_errno(err, GA_EFATAL, errno, "cannot make '%s' on the node", j->dir);
}

static void open_own(struct job *j)
{
	j->own.self = ga_strdup(j->d->self);
	j->own.state = ga_strf("state_dir=%s/state", j->dir);
	depot_at(&j->own, j->dir, j->d->name, ga_path_base(j->d->tree));
}

static int start(struct job *j, struct ga_error *err)
{
	cleanup_free char *refs = ga_strf("+refs/agent-on/%s/*:refs/agent-on/%s/*", j->d->name,
					  j->d->name);

	return depot_make(&j->own, err) ||
	       GIT(&j->own, err, "fetch", "--quiet", "--no-tags", j->d->git, refs) ||
	       depot_start(&j->own, j->input, 0, err) ? -1 : 0;
}

/* ---- until it ends --------------------------------------------------------------------------- */

static void agent(const struct job *j, struct ga_strv *ret, const char *command, const char *a,
		  const char *b, const char *c)
{
	depot_agent(&j->own, ret);
	ga_strv_push_many(ret, command, a, b, c, NULL);
}

/* What it is now; NULL: that cannot be told. New reference. */
static json_t *session(const struct depot *own)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	json_t *all = depot_sessions(own, own->tree, &ignored), *one, *ret = NULL;
	size_t i;

	json_array_foreach(all, i, one)
		if (!strcmp(depot_text(one, "name"), own->name))
			ret = json_incref(one);
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
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	j->told = true;
	agent(j, &words, "stop", "-q", "--timeout=" STOP_TIME, j->d->name);
	(void)depot_run(&words, DEPOT_RUN(.cwd = j->own.tree), NULL, &ignored);
}

/* What asks for the end waits to be taken, as does the end of what runs for us. */
static void block(sigset_t *ret)
{
	struct sigaction sa = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };

	(void)sigaction(SIGCHLD, &sa, NULL);
	(void)sigemptyset(ret);
	(void)sigaddset(ret, SIGCHLD);
	(void)sigaddset(ret, SIGTERM);
	(void)sigaddset(ret, SIGHUP);
	(void)sigaddset(ret, SIGINT);
	(void)sigprocmask(SIG_BLOCK, ret, NULL);
}

/* Wait for its end, with `git agent wait`, or for a signal that asks for it. */
static int wait_once(struct job *j, const sigset_t *signals, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_process p = GA_PROCESS_INIT;
	struct ga_process_job *wait = NULL;
	const struct timespec now = { 0, 0 };
	sigset_t child;
	int n, status;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	while (sigtimedwait(&child, NULL, &now) > 0)
		;
	agent(j, &words, "wait", j->d->name, NULL, NULL);
	p.argv = (const char *const *)words.v;
	p.cwd = j->own.tree;
	p.errout = &why;
	if (ga_process_begin(&p, &wait, err))
		return -1;
	do
		n = sigwaitinfo(signals, NULL);
	while (n < 0 && errno == EINTR);
	if (n == SIGCHLD)
		return ga_process_end(wait, &status, err);
	ga_process_abandon(wait);
	stop(j);
	return 0;
}

/* Returns what it is then; NULL: it cannot be ended, or be told. New reference. */
static json_t *wait_end(struct job *j, const sigset_t *signals)
{
	for (int i = 0; i < TRIES; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		int rc = wait_once(j, signals, &ignored);
		json_t *now = session(&j->own);

		if (has_ended(now))
			return now;
		json_decref(now);
		/* what waited was ended by a signal that was for all processes */
		if (!rc && !j->told)
			stop(j);
	}
	return NULL;
}

/* ---- its result ------------------------------------------------------------------------------ */

static int push(const struct job *j, struct ga_error *err)
{
	cleanup_free char *branch = ga_strf(GA_SESSION_BRANCHES "%s", j->d->name);
	cleanup_free char *held = ga_strf(GA_SESSION_REFS "%s/held", j->d->name);
	cleanup_buf struct ga_buf refs = GA_BUF_INIT;
	cleanup_strv struct ga_strv args = GA_STRV_INIT;
	char *save = NULL;

	if (GIT_OUT(&j->own, NULL, &refs, err, "for-each-ref", "--format=%(refname)", branch, held))
		return -1;
	if (!refs.len)
		return 0;
	ga_strv_push_many(&args, "push", "--quiet", "--no-verify", "--atomic", j->d->git, NULL);
	ga_buf_addch(&refs, '\0');
	for (char *r = strtok_r(refs.ptr, "\n", &save); r; r = strtok_r(NULL, "\n", &save))
		ga_strv_pushf(&args, "+%s:%s", r, r);
	return depot_git(&j->own, &args, NULL, NULL, err);
}

/* Only of a part that is `needed` it is an error if there is none: else that is what it says. */
static int add_part(const struct job *j, const char *what, const struct ga_strv *words,
		    bool needed, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT, id = GA_BUF_INIT;
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	if (depot_run(words, DEPOT_RUN(.cwd = j->own.tree, .out_max = PART_MAX), &out, &none)) {
		if (needed)
			return ga_error_move(err, &none);
		ga_buf_truncate(&out, 0);
		ga_buf_addf(&out, "%s\n", none.msg);
	}
	if (add_blob(j, &out, &id, err))
		return -1;
	ga_strv_pushf(ret, "%s %s", what, id.ptr);
	return 0;
}

/* What commands would print there, for when there is nothing any more. */
static int add_parts(const struct job *j, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv log = GA_STRV_INIT, show = GA_STRV_INIT, diff = GA_STRV_INIT;
	cleanup_free char *snapshot = ref_of(j, "snapshot");
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	agent(j, &log, "show", "--text", j->d->name, NULL);
	agent(j, &show, "show", j->d->name, NULL, NULL);
	agent(j, &diff, "diff", "--uncommitted", j->d->name, NULL);
	if (add_part(j, "log", &log, false, ret, err) ||
	    add_part(j, "show", &show, false, ret, err))
		return -1;
	return GIT(&j->own, &none, "rev-parse", "--quiet", "--verify", snapshot)
		       ? 0 : add_part(j, "patch", &diff, true, ret, err);
}

/* Why it was told to end, as Slurm says it. */
static const char *reason(const struct job *j)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (!j->told)
		return "";
	ga_strv_push_many(&words, "squeue", "--noheader", "--format=%r", NULL);
	ga_strv_pushf(&words, "--jobs=%s", j->id);
	(void)depot_run(&words, DEPOT_RUN(.timeout_ms = 3000), &out, &ignored);
	return out.len >= 9 && !strncmp(out.ptr, "TimeLimit", 9) ? "time limit" : "cancelled";
}

static int give(const struct job *j, const json_t *session, struct ga_error *err)
{
	cleanup_strv struct ga_strv parts = GA_STRV_INIT;

	return push(j, err) || add_parts(j, &parts, err) ||
	       put_result(j, json_pack("{s:O, s:O?, s:O?, s:O?, s:s}", "state",
				       json_object_get(session, "state"), "tip",
				       json_object_get(session, "tip"), "held",
				       json_object_get(session, "held"), "exit",
				       json_object_get(session, "exit_status"), "why",
				       reason(j)), &parts, err) ? -1 : 0;
}

static int give_result(const struct job *j, const json_t *session, struct ga_error *err)
{
	for (int i = 1;; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		if (!give(j, session, &one))
			return 0;
		if (i == TRIES)
			return ga_error_move(err, &one);
	}
}

/* ---- the job --------------------------------------------------------------------------------- */

/* It is over without a result, which says why. The error stays for the job's output. */
static void give_up(const struct job *j, const struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_strv struct ga_strv none = GA_STRV_INIT;
	cleanup_free char *why = ga_escape(err->msg);

	(void)put_result(j, json_pack("{s:s, s:s}", "state", "lost", "why", why), &none, &ignored);
}

/* Steps that are in the directory have some time to say what they have to. */
static void clean(struct job *j)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int fd = open(j->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t deadline = ga_now_ms() + LEAVE_MS;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && ga_now_ms() < deadline)
		(void)usleep(POLL_US);
	(void)ga_rmtree_at(AT_FDCWD, j->dir, &ignored);
}

static int work(struct job *j, const sigset_t *signals, struct ga_error *err)
{
	json_t *end = NULL;
	int rc = start(j, err);

	if (!rc && !(end = wait_end(j, signals)))
		rc = ga_fail(err, GA_EFATAL, "the session did not end");
	rc = rc ? rc : give_result(j, end, err);
	if (rc)
		give_up(j, err);
	json_decref(end);
	return rc;
}

/* It was submitted more than once, requeued, or is not to run: that is no error. */
static int lost_claim(const struct job *j, struct ga_error *err)
{
	cleanup_free char *ref = ref_of(j, "claim");
	cleanup_error struct ga_error none = GA_ERROR_INIT;

	if (GIT(j->d, &none, "rev-parse", "--quiet", "--verify", ref))
		return -1;
	ga_error_release(err);
	return 0;
}

int slurm_job(struct depot *d, json_t *ret, struct ga_error *err)
{
	struct job j = { .d = d };
	sigset_t signals;
	int rc;

	(void)ret;
	block(&signals);
	rc = read_input(&j, err) || make_dir(&j, err) ? -1 : 0;
	if (!rc && !claim(&j, err)) {
		open_own(&j);
		rc = work(&j, &signals, err);
	} else if (!rc) {
		rc = lost_claim(&j, err);
	}
	if (j.dir)
		clean(&j);
	json_decref(j.input);
	free(j.dir);
	depot_release(&j.own);
	return rc;
}

/* ---- a step in it ---------------------------------------------------------------------------- */

/* Whoever saw it end, or ended it, goes on with its result. */
static void wait_for_result(const struct depot *d, const struct depot *own)
{
	int64_t deadline = ga_now_ms() + PUSHED_MS;
	json_t *now = session(own);
	bool ended = has_ended(now), over = false;

	json_decref(now);
	while (ended && !over && ga_now_ms() < deadline) {
		json_t *state = slurm_state(d);

		over = slurm_is_over(state);
		json_decref(state);
		(void)usleep(over ? 0 : POLL_US);
	}
}

int slurm_inside(struct depot *d, json_t *ret, struct ga_error *err)
{
	json_t *state = slurm_state(d);
	cleanup_free char *dir = ga_strdup(depot_text(state, "dir"));
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	cleanup_depot struct depot own = { .request = d->request, .self = ga_strdup(d->self) };
	cleanup_close int fd = *dir == '/' ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int rc;

	(void)ret;
	json_decref(state);
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB))
		return ga_fail(err, GA_EFATAL, "session '%s' has ended", d->name);
	own.state = ga_strf("state_dir=%s/state", dir);
	/* as srun has it where it holds nothing back */
	own.relays = !json_is_true(json_object_get(d->request, "terminal"));
	depot_at(&own, dir, d->name, ga_path_base(d->tree));
	depot_agent(&own, &words);
	ga_json_words(json_object_get(d->request, "words"), &words);
	rc = depot_connect(&own, &words, own.tree, err);
	d->status = own.status;
	d->ready = own.ready;
	if (!rc && ga_has_word("attach stop", words.v[3]))
		wait_for_result(d, &own);
	return rc;
}
