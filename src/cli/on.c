/* SPDX-License-Identifier: MIT
 *
 * Commands that name a session on another machine.
 */
#include "on.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "ga/exposure.h"
#include "ga/fd.h"
#include "ga/fetch.h"
#include "ga/json.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/snapshot.h"
#include "ga/trace.h"
#include "host.h"
#include "sessions.h"

#define LOOK_MS 4000    /* for all hosts together */
#define FOUND_SHOWN 5
#define NONCE_BYTES 4
#define PATCH_MAX ((size_t)256 << 20)
#define HOSTS_MAX ((size_t)1 << 16)

/* ---- where it is ----------------------------------------------------------------------------- */

/* Ask what it does now. */
static int look(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	if (!ga_on_look(o, err))
		return ga_on_save(c->env.state_dir, o, err);
	return ga_error_wrap(err, "what agent/%s does is unknown", o->name);
}

static bool ran(const struct ga_on *o)
{
	enum ga_state state;

	return o->state && ga_state_parse(o->state, &state) && state >= GA_STATE_CAPTURED;
}

static bool is_absent(const struct ga_on *o)
{
	return o->state && !strcmp(o->state, "absent");
}

int cli_on_look(struct cli *c, struct ga_ons *ret, struct ga_error *err)
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
	for (size_t i = 0; i < n; i++)
		if (ga_on_save(c->env.state_dir, &ret->v[i], err))
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

/* Fetch what the session has on its branch there, as a session of that name here. */
static int fetch(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	bool carries = !ga_oid_is_zero(&o->snapshot);
	cleanup_free char *objects = ga_on_objects(c->env.state_dir, o->name);
	cleanup_strv struct ga_strv diff = GA_STRV_INIT;
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

	ga_strv_push_many(&diff, "diff", "--uncommitted", o->far, NULL);
	if (carries && ga_on_output(o, &diff, PATCH_MAX, &patch, err))
		return -1;
	if (ga_oid_is_zero(&o->tip) && ga_oid_is_zero(&o->held) && !patch.len) {
		(void)ga_fail(err, GA_ENEGATIVE, "agent/%s changed nothing on '%s'", o->name,
			      o->host);
		return ga_hint(err, "'git agent drop --force %s' drops it", o->name);
	}
	rc = ga_fetch_session(&c->env, &fo, &from, o->name, &s, &lock, &r, err);
	if (rc < 0 || ga_fault_stop("on:fetched", err))
		return -1;
	o->runs = false;
	return ga_on_save(c->env.state_dir, o, err);
}

/* Is there a session of that name here, its result as it was fetched last? */
static int is_here(struct cli *c, const struct ga_on *o, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	int rc = ga_session_load(c->env.state_dir, o->name, &s, err);

	return rc < 0 ? -1 : !rc;
}

static int fail_runs(const struct ga_on *o, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "agent/%s is %s on '%s'", o->name, o->state, o->host);
	return ga_hint(err, "'git agent attach %s' shows it, 'git agent stop %s' ends it", o->name,
		       o->name);
}

/* What was fetched before it was dropped there stays. */
static int take_absent(struct cli *c, struct ga_on *o, struct ga_error *err)
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
		      "there" : "agent/%s was not started on '%s'", o->name, o->host);
	return ga_hint(err, "'git agent resume %s' starts it, 'git agent drop --force %s' forgets "
			    "it", o->name, o->name);
}

/* Have its result here; fails while it runs. */
static int need_result(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	if (!o->runs)
		return 0;
	if (look(c, o, err))
		return -1;
	return is_absent(o) ? take_absent(c, o, err) : !ran(o) ? fail_runs(o, err) : fetch(c, o, err);
}

/* ---- there ----------------------------------------------------------------------------------- */

/* The words, with the name that the session has there in place of the first that names it. */
static void words_there(const struct ga_on *o, const struct ga_strv *words, struct ga_strv *ret)
{
	bool named = false;

	for (size_t i = 0; i < words->n; i++) {
		bool name = !named && !strcmp(cli_plain_name(words->v[i]), o->name);

		ga_strv_push(ret, name ? o->far : words->v[i]);
		named |= name;
	}
}

static int run_there(struct cli *c, const struct ga_on *o, const char *command,
		     const struct ga_strv *words, bool terminal, struct ga_error *err)
{
	cleanup_strv struct ga_strv there = GA_STRV_INIT;
	json_t *more = json_object();

	ga_strv_push(&there, command);
	words_there(o, words, &there);
	ga_json_set(more, "words", ga_json_strv(&there));
	return ga_on_run(o, more, terminal, &c->status, err);
}

/* After a command that may have seen its end: say what it left. */
static int sum_up(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;

	if (look(c, o, err) || (is_absent(o) && take_absent(c, o, err)))
		return -1;
	if (!ran(o) && o->runs) {
		cli_note("agent/%s: %s on '%s'; 'git agent attach %s' returns to it", o->name,
			 o->state, o->host, o->name);
		return 0;
	}
	return (o->runs && fetch(c, o, err)) || cli_read_session(c, o->name, &s, &lock, err) ||
	       ga_report_read(c->env.repo, &s, &r, err) < 0 ||
	       cli_summary(c, &s, &r, stderr, err) ? -1 : 0;
}

static int attach(struct cli *c, struct ga_on *o, struct ga_error *err)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		(void)ga_fail(err, GA_EUSAGE, "attaching needs a terminal, and there is none here");
		return ga_hint(err, "'git agent logs -f %s' shows the output", o->name);
	}
	ga_strv_push_many(&words, "-q", o->name, NULL);
	if (run_there(c, o, "attach", &words, true, err))
		return -1;
	status = c->status;
	if (sum_up(c, o, err))
		return -1;
	c->status = status;
	return 0;
}

/* The agent that it runs; says which keys go there. */
static const struct ga_preset *say_keys(struct cli *c, const struct ga_on *o)
{
	const struct ga_preset *p = ga_preset_find(&c->env.agents, o->command.v[0]);

	for (size_t i = 0; p && p->keys[i]; i++)
		if (*(ga_env_get(p->keys[i]) ? ga_env_get(p->keys[i]) : ""))
			cli_note("agent/%s: %s goes to '%s'", o->name, p->keys[i], o->host);
	return p;
}

/* The session there knows nothing of what was decided here, and its next result could not be
 * fetched: that is said before it runs. */
static int check_decided(struct cli *c, const struct ga_on *o, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	int rc = ga_session_load(c->env.state_dir, o->name, &s, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = ga_fetch_touched(&c->env, &s, err);
	if (rc <= 0)
		return rc;
	(void)ga_fail(err, GA_ELOSE, "agent/%s has landed or has verdicts here, which the session "
		      "on '%s' does not know", o->name, o->host);
	return ga_hint(err, "'git agent start --on %s' starts another from your branch", o->host);
}

/* Run it again there, in the background. */
static int resume(struct cli *c, struct ga_on *o, const struct ga_strv *words, struct ga_error *err)
{
	const struct ga_preset *agent = say_keys(c, o);
	cleanup_strv struct ga_strv there = GA_STRV_INIT;
	bool again;

	words_there(o, words, &there);
	if (o->runs && look(c, o, err))
		return -1;
	if (o->runs && !ran(o) && !is_absent(o))
		return fail_runs(o, err);
	if (check_decided(c, o, err))
		return -1;
	again = !(o->runs && is_absent(o));
	o->runs = true;
	if (ga_on_save(c->env.state_dir, o, err) ||
	    (again ? ga_on_resume(o, &there, agent, err)
		   : ga_on_submit(c->env.repo, c->env.state_dir, o, agent, err)))
		return -1;
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return attach(c, o, err);
	cli_note("agent/%s: running on '%s'", o->name, o->host);
	return 0;
}

/* Drop it there, and the record of it. */
static int drop_there(struct cli *c, const struct ga_on *o, bool force, struct ga_error *err)
{
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	json_t *answer = NULL;
	int rc = ga_fault_stop("on:dropping", err) ||
		 ga_on_call(o, "drop", NULL, NULL, &answer, force ? &why : err);

	json_decref(answer);
	if ((rc && !force) || ga_fault_stop("on:dropped", err))
		return -1;
	if (rc) {
		cli_print_error(&why);
		cli_note("agent/%s: forgotten here; what there is of it on '%s' stays", o->name,
			 o->host);
	}
	return ga_on_remove(c->env.state_dir, o->name, err);
}

static bool has_word(const struct ga_strv *words, const char *a, const char *b)
{
	return ga_strv_has(words, a) || ga_strv_has(words, b);
}

/* Returns 1 if there is nothing that would be dropped here. */
static int drop(struct cli *c, struct ga_on *o, const struct ga_strv *words, struct ga_error *err)
{
	bool force = has_word(words, "--force", "-f");
	int here = is_here(c, o, err);

	if (here < 0 || ga_strv_has(words, "--restore"))
		return here < 0 ? -1 : 0;
	if (ga_strv_has(words, "--dry-run")) {
		(void)printf("would drop session '%s' on '%s'\n", o->name, o->host);
		return !here;
	}
	if (o->runs && !force && (o->submitted || here))
		return need_result(c, o, err);
	/* what was not fetched anew goes there, and what is here as any other session */
	if (here && !o->runs)
		return 0;
	if (drop_there(c, o, force || !o->submitted, err))
		return -1;
	return !here;
}

int cli_on_after(struct cli *c, const struct cli_command *cmd, struct ga_error *err)
{
	cleanup_ons struct ga_ons l = GA_ONS_INIT;

	if (!ga_has_word("drop gc land", cmd->name) || !c->env.state_dir)
		return 0;
	if (ga_on_list(c->env.state_dir, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		cleanup_error struct ga_error why = GA_ERROR_INIT;
		int here = l.v[i].runs ? 1 : is_here(c, &l.v[i], &why);

		if (here > 0 || (!here && !drop_there(c, &l.v[i], false, &why)))
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

/* Returns 1 if nothing is left to be done about this session. */
static int act(struct cli *c, const char *name, struct ga_on *o, const struct ga_strv *words,
	       struct ga_error *err)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int rc;

	if (!strcmp(name, "drop"))
		return drop(c, o, words, err);
	if (!strcmp(name, "refresh"))
		return ga_fail(err, GA_EUSAGE, "'refresh' is for sessions on this machine: "
			       "agent/%s is on '%s'", o->name, o->host);
	if (!strcmp(name, "attach"))
		rc = attach(c, o, err);
	else if (!strcmp(name, "resume"))
		rc = resume(c, o, words, err);
	else if (ga_has_word("logs wait stop send shell", name))
		rc = run_there(c, o, name, words, terminal && !strcmp(name, "shell"), err);
	else if (ga_has_word("show diff", name) && o->runs && !look(c, o, err) && !ran(o) &&
		 !is_absent(o))
		rc = run_there(c, o, name, words, false, err);
	else
		return err->msg || need_result(c, o, err) ? -1 : 0;
	return rc ? -1 : 1;
}

/* Without a name: the only session, if it is elsewhere. */
static int act_on_only(struct cli *c, const char *command, const struct ga_strv *words,
		       struct ga_error *err)
{
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_strv struct ga_strv named = GA_STRV_INIT;
	cleanup_on struct ga_on o = GA_ON_INIT;
	cleanup_free char *name = NULL;
	int rc = cli_pick_only(c, true, &name, &none) ? 1
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

/* The words without the names but this one. */
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

/* ---- start ----------------------------------------------------------------------------------- */

/* What the history of this repository has of secrets is shown before any of it leaves. */
static int show_history(struct cli *c, const struct ga_oid *base, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_exposure struct ga_exposure x = GA_EXPOSURE_INIT;
	cleanup_scan struct ga_scan scan = GA_SCAN_INIT;
	struct ga_exposure_opts eo = { .repo = c->env.repo, .state_dir = c->env.state_dir,
				       .scan = &scan };
	size_t n = 0;

	if (cli_settings(c, base, &conf, err))
		return -1;
	eo.add = &conf.secrets_add;
	eo.allow = &conf.secrets_allow;
	if (ga_exposure_history(&eo, &x, err))
		return -1;
	ga_exposure_sort(&x);
	for (size_t i = 0; i < x.n; i++) {
		cleanup_free char *reason = ga_secret_reason(&x.v[i].secret);
		cleanup_free char *q = ga_quote(x.v[i].path);

		if (x.v[i].secret.tier > GA_TIER_NOTE && n++ < FOUND_SHOWN)
			cli_note("  in the history: %s: %s", q, reason);
	}
	if (n > FOUND_SHOWN)
		cli_note("  and %zu more: 'git agent secrets --history'", n - FOUND_SHOWN);
	if (x.incomplete)
		cli_note("  not all of the history could be looked at");
	return 0;
}

/* Once for each repository and host. */
static int consent(struct cli *c, const char *host, const struct ga_oid *base, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(c->env.state_dir, "on-hosts");
	cleanup_free char *line = ga_strf("\n%s\n", host);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	char letter;

	ga_buf_adds(&text, "\n");
	if (!access(path, F_OK) && ga_read_file_at(AT_FDCWD, path, HOSTS_MAX, &text, err))
		return -1;
	if (strstr(text.ptr, line))
		return 0;
	cli_note("'%s' gets the history of this repository, with all that was ever committed to "
		 "it; your account there and its root can read that, and the logins and keys that "
		 "agents have there", host);
	if (show_history(c, base, err))
		return -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		(void)ga_fail(err, GA_ESTART, "nobody has agreed to send this repository to '%s'",
			      host);
		return ga_hint(err, "run this once on a terminal, which asks");
	}
	letter = (char)cli_ask("send it [y,N]? ", false, err);
	if (letter != 'y')
		return err->msg ? -1 : ga_fail(err, GA_ESTART, "nothing was sent to '%s'", host);
	ga_buf_adds(&text, line + 1);
	return ga_write_atomic(AT_FDCWD, path, text.ptr + 1, text.len - 1, 0600, err);
}

static bool uses_lfs(const struct ga_repo *r, const struct ga_oid *base)
{
	cleanup_free char *hex = ga_strdup(GA_HEX(base));
	const char *const args[] = { "grep", "-q", "-e", "filter=lfs", hex, "--",
				     ":(glob)**/.gitattributes", NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	const struct ga_git g = GA_GIT(.args = args);
	int status;

	return !ga_git_run(r, &g, &status, &ignored) && !status;
}

/* Repositories that git cannot send as they are. */
static int check_repository(struct cli *c, const struct ga_oid *base, struct ga_error *err)
{
	const struct ga_repo_info *info = ga_repo_info(c->env.repo);
	cleanup_free char *shallow = ga_path_join(info->commondir, "shallow");
	cleanup_strv struct ga_strv links = GA_STRV_INIT;
	const char *why = NULL;

	if (ga_repo_gitlinks(c->env.repo, &links, err))
		return -1;
	if (!access(shallow, F_OK))
		why = "it is shallow: 'git fetch --unshallow' completes it";
	else if (ga_repo_is_partial(c->env.repo))
		why = "it is a partial clone";
	else if (links.n)
		why = "it has submodules";
	else if (uses_lfs(c->env.repo, base))
		why = "it uses Git LFS";
	if (why)
		return ga_fail(err, GA_ESTART, "this repository cannot be sent to another machine: "
			       "%s", why);
	return 0;
}

/* The last component of the working tree's path, as far as it may be shown anywhere. */
static char *directory_of(const char *workdir)
{
	char *name = ga_strdup(ga_path_base(workdir));

	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *p) || (p == name && strchr(".-", *p)))
			*p = '_';
	if (strlen(name) > GA_SESSION_NAME_MAX)
		name[GA_SESSION_NAME_MAX] = '\0';
	return name;
}

/* A name that no session, branch or record has: the one that was given, or COMMAND-1 and so on. */
static int choose_name(struct cli *c, const struct cli_on_start *o, char **ret,
		       struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *stem = ga_session_stem(o->argv[0]);
	cleanup_close int lock = -1;

	if (ga_start_taken_names(&c->env, &taken, err) ||
	    ga_session_create(c->env.state_dir, o->name, stem, &taken, &s, &lock, err))
		return -1;
	*ret = ga_strdup(s.name);
	return ga_session_remove_dir(s.dir, err);
}

static int fill(struct cli *c, const struct cli_on_start *o, struct ga_on *on, struct ga_error *err)
{
	unsigned char nonce[NONCE_BYTES];
	cleanup_buf struct ga_buf far = GA_BUF_INIT;

	if (choose_name(c, o, &on->name, err) || ga_random(nonce, sizeof(nonce), err))
		return -1;
	ga_buf_addf(&far, "%s-", on->name);
	for (size_t i = 0; i < sizeof(nonce); i++)
		ga_buf_addf(&far, "%02x", nonce[i]);
	if (!ga_session_name_ok(far.ptr))
		return ga_fail(err, GA_EUSAGE, "the name '%s' is too long for a session on another "
			       "machine", on->name);
	on->far = ga_buf_steal(&far);
	on->project = ga_strdup(ga_repo_info(c->env.repo)->id);
	on->host = ga_strdup(o->host);
	on->directory = directory_of(ga_repo_info(c->env.repo)->workdir);
	on->started = (uint64_t)time(NULL);
	on->runs = true;
	on->trusted = !c->untrusted;
	ga_strv_extend(&on->options, o->options);
	for (size_t i = 0; i < o->argc; i++)
		ga_strv_push(&on->command, o->argv[i]);
	return 0;
}

/* What the session is based on, with the user's settings for that. */
static int choose_base(struct cli *c, const struct cli_on_start *o, const struct ga_config *conf,
		       struct ga_on *on, struct ga_error *err)
{
	cleanup_free char *objects = ga_on_objects(c->env.state_dir, on->name);
	struct ga_start_opts so = { .base_rev = o->base, .argv = o->argv, .argc = o->argc };
	cleanup_strv struct ga_strv notes = GA_STRV_INIT;
	struct ga_oid shown;
	struct cli_filter filter;

	if (cli_parse_filter(NULL, true, &filter, err))
		return -1;
	so.dirty = (enum ga_dirty)conf->dirty;
	cli_apply_settings(c, conf, &filter, &so);
	if (ga_start_choose(&c->env, &so, objects, &on->base, &shown, &notes, err))
		return -1;
	if (!ga_oid_equal(&shown, &on->base))
		on->snapshot = shown;
	for (size_t i = 0; i < notes.n; i++)
		cli_note("agent/%s: %s", on->name, notes.v[i]);
	return 0;
}

int cli_on_start(struct cli *c, const struct cli_on_start *o, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_on struct ga_on on = GA_ON_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid onto;
	int rc;

	if (!ga_on_host_ok(o->host))
		return ga_fail(err, GA_EUSAGE, "'%s' is no name of a host", o->host);
	rc = o->base ? ga_repo_resolve(c->env.repo, o->base, &onto, err)
		     : ga_repo_head(c->env.repo, &onto, &branch, err);
	if (rc > 0)
		(void)ga_fail(err, GA_ESTART, "there is no commit yet that could be sent");
	if (rc || cli_settings_to_run(c, &onto, !o->detach, &conf, err) ||
	    (o->dirty && ga_config_set_key(&conf, "dirty", o->dirty, err)) ||
	    check_repository(c, &onto, err) || consent(c, o->host, &onto, err) ||
	    fill(c, o, &on, err) || choose_base(c, o, &conf, &on, err) ||
	    ga_fault_stop("on:chosen", err) || ga_on_save(c->env.state_dir, &on, err) ||
	    ga_fault_stop("on:recorded", err))
		return -1;
	if (ga_on_submit(c->env.repo, c->env.state_dir, &on, say_keys(c, &on), err)) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;

		if (on.submitted)
			cli_note("agent/%s: it is unknown whether it was started; 'git agent "
				 "resume %s' starts it if it was not", on.name, on.name);
		else
			(void)ga_on_remove(c->env.state_dir, on.name, &ignored);
		return -1;
	}
	if (o->detach) {
		(void)printf("%s\n", on.name);
		return 0;
	}
	return attach(c, &on, err);
}

/* ---- list ------------------------------------------------------------------------------------ */

const char *cli_on_describe(const struct ga_on *o)
{
	return !o->answers ? "unknown" : !o->submitted ? "not started" : o->state;
}
