/* SPDX-License-Identifier: MIT
 *
 * Commands that name a session on another machine.
 */
#include <poll.h>

#include "cli/on.h"
#include "ga/transfer/transfer.h"

#define LOOK_MS 4000    /* for all hosts together */
#define PAUSE_MIN_MS 200 /* interval of polling a session */
#define PAUSE_MAX_MS 10000
#define LOST_MS 15000    /* answers in a row that a job is gone, before it counts as lost */

/* ---- where it is ----------------------------------------------------------------------------- */

static int query(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	if (!ga_on_query(o, err))
		return ga_on_note(c->env.state_dir, o, err);
	return ga_error_wrap(err, "what agent/%s does is unknown", o->name);
}

static bool ran(const struct ga_on *o)
{
	enum ga_state state;

	return o->state && ga_state_parse(o->state, &state) && state >= GA_STATE_CAPTURED;
}

static bool is_state(const struct ga_on *o, const char *state)
{
	return o->state && !strcmp(o->state, state);
}

/* Fail for a job that neither runs nor has run, with its state and reason. */
static int fail_state(const struct ga_on *o, struct ga_error *err)
{
	bool why = o->why && *o->why;

	(void)ga_fail(err, GA_EFATAL, "agent/%s is %s on '%s'%s%s", o->name, o->state, o->host,
		      why ? ": " : "", why ? o->why : "");
	if (is_state(o, "pending"))
		return ga_hint(err, "'git agent list' shows when it runs, 'git agent stop %s' "
				    "cancels it", o->name);
	return ga_hint(err, "'git agent drop --force %s' drops it", o->name);
}

int cli_on_query(struct cli *c, struct ga_ons *ret, struct ga_error *err)
{
	size_t n = 0;

	if (ga_on_list(c->env.state_dir, ret, err))
		return -1;
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->v[i].runs)
			ret->v[n++] = ret->v[i];
		else
			ga_on_release(&ret->v[i]);
	}
	ret->n = n;
	if (n)
		ga_on_ask(ret, LOOK_MS);
	(void)ga_fault("on:asked");
	for (size_t i = 0; i < n; i++)
		if (ga_on_note(c->env.state_dir, &ret->v[i], err))
			return -1;
	return 0;
}

/* ---- its result ------------------------------------------------------------------------------ */

static int risk_at(void *payload, const struct ga_oid *onto, struct ga_risk_paths *ret,
		   struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (cli_settings(payload, onto, &conf, err))
		return -1;
	cli_risk_paths(&conf, ret);
	return 0;
}

/* Is the session of that name here its last fetched result? */
static int is_here(struct cli *c, const struct ga_on *o, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	int rc = ga_session_load(c->env.state_dir, o->name, &s, err);

	return rc < 0 ? -1 : !rc;
}

/* Fetch the session's branch as a session of that name. Returns 1 if it changed nothing. */
static int fetch(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	bool carries = !ga_oid_is_zero(&o->snapshot);
	cleanup_free char *objects = ga_on_objects(c->env.state_dir, o->name);
	cleanup_buf struct ga_buf patch = GA_BUF_INIT;
	const struct ga_remote_session from = { .name = o->far, .tip = o->tip, .held = o->held };
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_free char *url = ga_on_url(o);
	const struct ga_fetch_opts fo = { .remote = url, .label = o->host, .base = &o->base,
					  .snapshot = carries ? &o->snapshot : NULL,
					  .objects = objects, .patch = &patch,
					  .risk = risk_at, .payload = c };
	cleanup_close int lock = -1;
	int rc;

	if (carries && ga_on_patch(o, &patch, err))
		return -1;
	if (ga_oid_is_zero(&o->tip) && ga_oid_is_zero(&o->held) && !patch.len) {
		rc = is_here(c, o, err);
		if (rc <= 0)
			return rc ? -1 : 1;
	}
	rc = ga_fetch_session(&c->env, &fo, &from, o->name, &s, &lock, &r, err);
	if (rc < 0 || ga_fault_stop("on:fetched", err))
		return -1;
	o->runs = false;
	if (o->why && *o->why)
		cli_note("agent/%s: its job ended early: %s", o->name, o->why);
	return ga_on_save(c->env.state_dir, o, err);
}

static int fail_runs(const struct ga_on *o, struct ga_error *err)
{
	if (ga_has_word(GA_ON_STATES, o->state))
		return fail_state(o, err);
	return ga_fail(err, GA_EFATAL, "agent/%s is %s on '%s'" GA_HINT "'git agent attach %s' "
		       "shows it, 'git agent stop %s' ends it", o->name, o->state, o->host, o->name,
		       o->name);
}

/* It was dropped there: keep the fetched result. */
static int keep_fetched(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	int here = is_here(c, o, err);

	if (here < 0)
		return -1;
	if (here) {
		cli_note("agent/%s is not on '%s' any more: this is what was fetched before",
			 o->name, o->host);
		o->runs = false;
		return ga_on_save(c->env.state_dir, o, err);
	}
	(void)ga_fail(err, GA_EFATAL, o->submitted ? "agent/%s never began on '%s', or was dropped "
		      "there%s%s" : "agent/%s was not started on '%s'%s%s", o->name, o->host,
		      o->why && *o->why ? ": " : "", o->why ? o->why : "");
	return ga_hint(err, "'git agent resume %s' starts it, 'git agent drop --force %s' forgets "
			    "it", o->name, o->name);
}

/* Fetch its result; fails while it is running. Returns 1 if it changed nothing. */
static int get_result(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	cleanup_close int held = -1;
	cleanup_on struct ga_on now = GA_ON_INIT;

	if (!o->runs)
		return 0;
	/* one command fetches at a time, others find the result */
	held = ga_on_lock_names(c->env.state_dir, err);
	if (held < 0 || ga_on_read(c->env.state_dir, o->name, &now, err) < 0)
		return -1;
	o->runs = !now.name || now.runs;
	if (!o->runs)
		return 0;
	if (query(c, o, err))
		return -1;
	if (is_state(o, "absent"))
		return keep_fetched(c, o, err);
	if (is_state(o, "cancelled"))
		return 1;
	return ran(o) ? fetch(c, o, err) : fail_runs(o, err);
}

static int need_result(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	int rc = get_result(c, o, err);

	if (rc <= 0)
		return rc;
	return ga_fail(err, GA_ENEGATIVE, "agent/%s %s on '%s'" GA_HINT "'git agent drop %s' drops "
		       "it, 'git agent show %s' shows it there", o->name,
		       is_state(o, "cancelled") ? "was cancelled before it began"
						: "changed nothing", o->host, o->name, o->name);
}

/* ---- there ----------------------------------------------------------------------------------- */

/* Copy the words, with the first that names the session replaced by its remote name. */
static void replace_name(const struct ga_on *o, const struct ga_strv *words, struct ga_strv *ret)
{
	bool named = false;

	for (size_t i = 0; i < words->n; i++) {
		bool name = !named && !strcmp(cli_plain_name(words->v[i]), o->name);

		ga_strv_push(ret, name ? o->far : words->v[i]);
		named |= name;
	}
}

static int run_remote(struct cli *c, const struct ga_on *o, const char *command,
		      const struct ga_strv *words, bool terminal, struct ga_error *err)
{
	cleanup_strv struct ga_strv there = GA_STRV_INIT;
	json_t *more = json_object();

	ga_strv_push(&there, command);
	replace_name(o, words, &there);
	ga_json_set(more, "words", ga_json_strv(&there));
	return ga_on_run(o, more, terminal, &c->status, err);
}

static int handle_exit(const struct ga_on *o, int *ret_status, struct ga_error *err)
{
	if (o->exit < 0)
		return ga_fail(err, GA_EFATAL, "agent/%s was interrupted on '%s': how its command "
			       "ended is not known", o->name, o->host);
	*ret_status = o->exit;
	return 0;
}

/* After a command that may have ended it: print its result. */
static int sum_up(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;
	int rc;

	if (!ran(o) && !is_state(o, "absent")) {
		cli_note("agent/%s: %s on '%s'; 'git agent attach %s' returns to it", o->name,
			 o->state, o->host, o->name);
		return 0;
	}
	rc = get_result(c, o, err);
	if (rc > 0)
		cli_note("agent/%s: changed nothing on '%s'; 'git agent drop %s' drops it",
			 o->name, o->host, o->name);
	if (rc)
		return rc < 0 ? -1 : 0;
	return cli_read_session(c, o->name, &s, &lock, err) ||
	       ga_report_read(c->env.repo, &s, &r, err) < 0 ||
	       cli_summary(c, &s, &r, stderr, err) ? -1 : 0;
}

/* After a first answer, poll until the session has ended, even if the host stops answering. A job
 * that is gone may still push its result. */
int cli_on_wait(struct cli *c, const char *name, int64_t deadline, int *ret_status,
		struct ga_error *err)
{
	cleanup_on struct ga_on o = GA_ON_INIT;
	int64_t began = ga_now_ms(), now = began, lost = 0;
	int rc = ga_on_read(c->env.state_dir, cli_plain_name(name), &o, err);
	bool told = false;

	if (rc || query(c, &o, err))
		return rc > 0 ? 1 : -1;
	for (;; now = ga_now_ms()) {
		cleanup_error struct ga_error why = GA_ERROR_INIT;
		int64_t pause = PAUSE_MIN_MS + (now - began) / 8;

		lost = !is_state(&o, "lost") ? 0 : lost ? lost : now;
		if (o.answers && !ga_has_word("new running pending", o.state) &&
		    (!lost || now - lost >= LOST_MS))
			break;
		if (deadline && now >= deadline)
			return 2;
		(void)poll(NULL, 0, (int)(pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS));
		if (ga_on_query(&o, &why) && !told) {
			told = true;
			(void)ga_error_wrap(&why, "agent/%s is asked about again", o.name);
			cli_print_error(&why);
		}
	}
	if (is_state(&o, "absent"))
		return keep_fetched(c, &o, err);
	return ran(&o) ? handle_exit(&o, ret_status, err) : fail_state(&o, err);
}

int cli_on_attach(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ga_fail(err, GA_EUSAGE, "attaching needs a terminal, and there is none here"
			       GA_HINT "'git agent logs -f %s' shows the output", o->name);
	if (query(c, o, err))
		return -1;
	if (is_state(o, "absent"))
		return keep_fetched(c, o, err);
	if (ga_has_word(GA_ON_STATES, o->state))
		return fail_state(o, err);
	ga_strv_push(&words, o->name);
	if (ran(o)) {
		cli_note("agent/%s has ended on '%s'", o->name, o->host);
	} else {
		ga_strv_push(&words, "-q");
		if (run_remote(c, o, "attach", &words, true, err) || query(c, o, err))
			return -1;
	}
	/* exit status of a session that ended before it had a terminal */
	if (ran(o) && (words.n == 1 || c->status == ga_error_status(GA_EFATAL)) &&
	    handle_exit(o, &c->status, err))
		return -1;
	status = c->status;
	if (sum_up(c, o, err))
		return -1;
	c->status = status;
	return 0;
}

static bool has_word(const struct ga_strv *words, const char *a, const char *b)
{
	return ga_strv_has(words, a) || ga_strv_has(words, b);
}

/* An attached terminal may fetch the result: only say that it ended. */
static int stop(struct cli *c, struct ga_on *o, const struct ga_strv *words, struct ga_error *err)
{
	bool quiet = has_word(words, "-q", "--quiet");
	cleanup_strv struct ga_strv there = GA_STRV_INIT;

	ga_strv_push(&there, "-q");
	ga_strv_extend(&there, words);
	if (run_remote(c, o, "stop", &there, false, err) || c->status || quiet)
		return err->msg ? -1 : 0;
	if (query(c, o, err))
		return -1;
	(void)printf("agent/%s: %s on '%s'\n  next: git agent %s %s\n", o->name, o->state,
		     o->host, is_state(o, "cancelled") ? "drop" : "review", o->name);
	return 0;
}

const char *const *cli_on_keys(struct cli *c, const struct ga_on *o)
{
	const struct ga_preset *p = ga_preset_find(&c->env.agents, o->command.v[0]);

	for (size_t i = 0; p && p->keys[i]; i++)
		if (ga_env_get(p->keys[i]))
			cli_note(o->way.slurm ? "agent/%s: %s does not go to '%s': log in there"
					  : "agent/%s: %s goes to '%s'", o->name, p->keys[i],
				 o->host);
	return p && !o->way.slurm ? p->keys : NULL;
}

/* Refuse if it has verdicts here: the remote session does not know them, and its next result could
 * not be fetched. */
static int check_decided(struct cli *c, const struct ga_on *o, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	int rc = ga_session_load(c->env.state_dir, o->name, &s, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = ga_fetch_touched(&c->env, &s, err);
	if (rc <= 0)
		return rc;
	return ga_fail(err, GA_ELOSE, "agent/%s has landed or has verdicts here, which the session "
		       "on '%s' does not know" GA_HINT "'git agent start --on %s' starts another "
		       "from your branch", o->name, o->host, o->host);
}

/* Run it again there, in the background. */
static int resume(struct cli *c, struct ga_on *o, const struct ga_strv *words, struct ga_error *err)
{
	const char *const *keys = cli_on_keys(c, o);
	cleanup_strv struct ga_strv there = GA_STRV_INIT;
	bool again;

	replace_name(o, words, &there);
	if (o->runs && query(c, o, err))
		return -1;
	if (o->runs && !ran(o) && !is_state(o, "absent"))
		return fail_runs(o, err);
	if (o->way.slurm && !(o->runs && is_state(o, "absent")))
		return ga_fail(err, GA_EUSAGE, "agent/%s was a job on '%s', and its node has "
			       "nothing of it" GA_HINT "start a session from its branch: 'git "
			       "agent start --on %s --base agent/%s COMMAND'", o->name, o->host,
			       o->host, o->name);
	if (check_decided(c, o, err))
		return -1;
	again = !(o->runs && is_state(o, "absent"));
	o->runs = true;
	if (ga_on_save(c->env.state_dir, o, err) ||
	    (again ? ga_on_resume(o, &there, keys, err)
		   : ga_on_submit(c->env.repo, c->env.state_dir, o, keys, err)))
		return -1;
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !o->way.slurm)
		return cli_on_attach(c, o, err);
	cli_note("agent/%s: %s on '%s'", o->name, o->way.slurm ? "submitted" : "running", o->host);
	return 0;
}

static int drop_remote(struct cli *c, const struct ga_on *o, bool force, struct ga_error *err)
{
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	int rc = ga_fault_stop("on:dropping", err) ||
		 ga_on_call(o, "drop", NULL, NULL, force ? &why : err);

	if ((rc && !force) || ga_fault_stop("on:dropped", err))
		return -1;
	if (rc) {
		cli_print_error(&why);
		cli_note("agent/%s: forgotten here; what there is of it on '%s' stays", o->name,
			 o->host);
	}
	return ga_on_remove(c->env.state_dir, o->name, err);
}

/* Returns 1 if there is nothing to drop here. */
static int drop(struct cli *c, struct ga_on *o, const struct ga_strv *words, struct ga_error *err)
{
	bool force = has_word(words, "--force", "-f");
	int here = is_here(c, o, err);

	if (here < 0 || ga_strv_has(words, "--restore"))
		return here < 0 ? -1 : 0;
	if (ga_strv_has(words, "--dry-run")) {
		if (!here)
			(void)printf("would drop session '%s' on '%s'\n", o->name, o->host);
		return !here;
	}
	if (o->runs && !force && (o->submitted || here)) {
		int rc = get_result(c, o, err);

		if (rc <= 0)
			return rc;
	} else if (here && !o->runs) {
		return 0;
	}
	/* the local copy is dropped like any session */
	return drop_remote(c, o, force || !o->submitted, err) ? -1 : !here;
}

int cli_on_after(struct cli *c, const struct cli_command *cmd, size_t argc, char **argv,
		 struct ga_error *err)
{
	bool all = !strcmp(cmd->name, "gc");
	cleanup_ons struct ga_ons l = GA_ONS_INIT;

	if (!ga_has_word("drop gc land", cmd->name) || !c->env.state_dir)
		return 0;
	if (ga_on_list(c->env.state_dir, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		cleanup_error struct ga_error why = GA_ERROR_INIT;
		int here = l.v[i].runs ? 1 : is_here(c, &l.v[i], &why);
		bool meant = all;

		for (size_t k = 0; k < argc; k++)
			meant |= !strcmp(cli_plain_name(argv[k]), l.v[i].name);
		if (!meant || here > 0 || (!here && !drop_remote(c, &l.v[i], false, &why)))
			continue;
		if (!strcmp(cmd->name, "drop"))
			cli_tell(&why, &c->status);
		else
			cli_print_error(&why);
		cli_note("agent/%s: 'git agent drop %s' drops it on '%s' as well", l.v[i].name,
			 l.v[i].name, l.v[i].host);
	}
	return 0;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Returns 1 if the session is done. */
static int act(struct cli *c, const char *name, struct ga_on *o, const struct ga_strv *words,
	       struct ga_error *err)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int rc;

	if (!strcmp(name, "drop"))
		return drop(c, o, words, err);
	if (!strcmp(name, "wait"))
		return 0;
	if (!strcmp(name, "refresh"))
		return ga_fail(err, GA_EUSAGE, "'refresh' is for sessions on this machine: "
			       "agent/%s is on '%s'", o->name, o->host);
	if (!strcmp(name, "attach"))
		rc = cli_on_attach(c, o, err);
	else if (!strcmp(name, "resume"))
		rc = resume(c, o, words, err);
	else if (!strcmp(name, "stop"))
		rc = stop(c, o, words, err);
	else if (!strcmp(name, "show") && (o->runs || has_word(words, "--text", "--replay")))
		rc = run_remote(c, o, name, words, false, err);
	else if (ga_has_word("logs send shell", name))
		rc = run_remote(c, o, name, words, terminal && !strcmp(name, "shell"), err);
	else if (!strcmp(name, "diff") && o->runs && !query(c, o, err) && is_state(o, "running"))
		rc = run_remote(c, o, name, words, false, err);
	else
		return err->msg ? -1 : need_result(c, o, err);
	return rc ? -1 : 1;
}

/* Without a name: the default session, if it is on another machine. */
static int act_on_only(struct cli *c, const char *command, const struct ga_strv *words,
		       struct ga_error *err)
{
	cleanup_strv struct ga_strv named = GA_STRV_INIT;
	cleanup_on struct ga_on o = GA_ON_INIT;
	cleanup_free char *name = NULL;
	int rc = cli_pick_only(c, true, &name, GA_IGNORED) ? 1
		 : ga_on_read(c->env.state_dir, name, &o, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	ga_strv_push(&named, name);
	ga_strv_extend(&named, words);
	return act(c, command, &o, &named, err);
}

static int act_on_named(struct cli *c, const char *command, const struct ga_strv *words,
			const char *name, struct ga_error *err)
{
	cleanup_on struct ga_on o = GA_ON_INIT;
	int rc = ga_on_read(c->env.state_dir, cli_plain_name(name), &o, err);

	return rc ? (rc < 0 ? -1 : 0) : act(c, command, &o, words, err);
}

/* Copy the words with only this one of the names. */
static void words_of(const struct ga_strv *words, const char *name, size_t n, char **names,
		     struct ga_strv *ret)
{
	for (size_t i = 0; i < words->n; i++) {
		bool other = false;

		for (size_t k = 0; k < n; k++)
			other |= !strcmp(words->v[i], names[k]) && strcmp(names[k], name) != 0;
		if (!other)
			ga_strv_push(ret, words->v[i]);
	}
}

int cli_on(struct cli *c, const struct cli_command *cmd, const struct ga_strv *words, size_t *argc,
	   char **argv, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char **rest = ga_calloc(*argc + 1, sizeof(*rest));
	size_t left = 0;

	if (c->env.state_dir)
		ga_on_names(c->env.state_dir, &names);
	if (!names.n || !cmd->words || strncmp(cmd->words, "SESSION", 7) != 0)
		return 0;
	if (!*argc)
		return cmd->words[7] == '.' ? 0 : act_on_only(c, cmd->name, words, err);
	if (cmd->words[7] != '.')
		return act_on_named(c, cmd->name, words, argv[0], err);
	for (size_t i = 0; i < *argc; i++) {
		cleanup_error struct ga_error why = GA_ERROR_INIT;
		cleanup_strv struct ga_strv mine = GA_STRV_INIT;
		int rc;

		words_of(words, argv[i], *argc, argv, &mine);
		rc = act_on_named(c, cmd->name, &mine, argv[i], &why);
		if (rc < 0 && *argc == 1)
			return ga_error_move(err, &why);
		if (rc < 0)
			cli_tell(&why, &c->status);
		if (!rc)
			rest[left++] = argv[i];
	}
	memcpy(argv, rest, left * sizeof(*argv));
	*argc = left;
	return !left;
}

/* ---- list ------------------------------------------------------------------------------------ */

const char *cli_on_describe(const struct ga_on *o)
{
	return !o->answers ? "unknown" : !o->submitted ? "not started" : o->state;
}
