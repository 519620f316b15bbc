/* SPDX-License-Identifier: MIT */
#include "ga/view/view.h"
#include "cli/on.h"
#include "ga/config/hosts.h"
#include "ga/repo/snapshot.h"
#include "ga/secret/secret.h"

#define FOUND_SHOWN 5
#define NONCE_BYTES 4
#define HOSTS_MAX ((size_t)1 << 16)

struct options {
	struct cli_run_options run;
	const char *on, *name, *base, *dirty, *ignored, *task;
	bool no_setup, dry_run, rm;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(on, "on", 0, "HOST", "run it on another machine, which ssh knows by this name"),
	CLI_VALUE(name, "name", 'n', "NAME",
		  "name the session (default: COMMAND-1, COMMAND-2 ...)"),
	CLI_VALUE(base, "base", 0, "REV",
		  "start from this commit instead of HEAD and your uncommitted work"),
	CLI_VALUE(dirty, "dirty", 0, "carry|ignore|refuse",
		  "what to do with uncommitted work (default: carry)"),
	CLI_VALUE(ignored, "ignored", 0, "share|hide",
		  "whether to show ignored files (default: share)"),
	CLI_VALUE(task, "task", 0, "TEXT|FILE", "give a known agent this as its first task"),
	CLI_FLAG(no_setup, "no-setup", 0, "skip the commands of 'setup'"),
	CLI_FLAG(rm, "rm", 0, "drop the session at its end if it left nothing to land"),
	CLI_FLAG(dry_run, "dry-run", 0, "say what would be done, and do nothing"),
	CLI_RUN_OPTS(run),
};

/* Show the secrets in the history before sending any of it. */
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
	eo.add = &conf.secret.add;
	eo.allow = &conf.secret.allow;
	if (ga_exposure_history(&eo, &x, err))
		return -1;
	ga_exposure_sort(&x);
	for (size_t i = 0; i < x.n; i++) {
		cleanup_free char *reason = ga_secret_reason(&x.v[i].secret);

		if (x.v[i].secret.tier > GA_TIER_NOTE && n++ < FOUND_SHOWN)
			cli_note("  in the history: %s: %s", GA_QUOTED(x.v[i].path), reason);
	}
	if (n > FOUND_SHOWN)
		cli_note("  and %zu more: 'git agent secrets --history'", n - FOUND_SHOWN);
	if (x.incomplete)
		cli_note("  not all of the history could be scanned");
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
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return ga_fail(err, GA_ESTART, "sending this repository to '%s' was not confirmed"
			       GA_HINT "run this once on a terminal, which asks", host);
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
	const struct ga_git g = GA_GIT(.args = args);
	int status;

	return !ga_git_run(r, &g, &status, GA_IGNORED) && !status;
}

/* Refuse repositories that git cannot send completely. */
static int check_repository(struct cli *c, const struct ga_oid *base, struct ga_error *err)
{
	bool shallow = ga_repo_info(c->env.repo)->shallow;
	cleanup_strv struct ga_strv links = GA_STRV_INIT;
	const char *why;

	if (ga_repo_gitlinks(c->env.repo, &links, err))
		return -1;
	why = shallow ? "it is shallow" : ga_repo_is_partial(c->env.repo) ? "it is a partial clone"
	      : links.n ? "it has submodules" : uses_lfs(c->env.repo, base) ? "it uses Git LFS"
	      : NULL;
	if (!why)
		return 0;
	(void)ga_fail(err, GA_ESTART, "this repository cannot be sent to another machine: %s", why);
	return shallow ? ga_hint(err, "'git fetch --unshallow' completes it") : -1;
}

/* The last component of the working tree's path, if it is safe to show. */
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

/* Choose a name that no session, branch or record has: the given one, or COMMAND-1 and so on. */
static int choose_name(struct cli *c, const struct options *o, const char *command, char **ret,
		       struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv taken = GA_STRV_INIT;
	cleanup_free char *stem = ga_session_stem(command);
	cleanup_close int lock = -1;

	if (ga_start_taken_names(&c->env, &taken, err) ||
	    ga_session_create(c->env.state_dir, o->name, stem, &taken, &s, &lock, err))
		return -1;
	*ret = ga_strdup(s.name);
	return ga_session_remove_dir(s.dir, err);
}

static int fill(struct cli *c, const struct options *o, size_t argc, char **argv, struct ga_on *on,
		struct ga_error *err)
{
	unsigned char nonce[NONCE_BYTES];
	cleanup_buf struct ga_buf far = GA_BUF_INIT;

	if (choose_name(c, o, argv[0], &on->name, err) || ga_random(nonce, sizeof(nonce), err))
		return -1;
	ga_buf_addf(&far, "%s-", on->name);
	for (size_t i = 0; i < sizeof(nonce); i++)
		ga_buf_addf(&far, "%02x", nonce[i]);
	if (!ga_session_name_ok(far.ptr))
		return ga_fail(err, GA_EUSAGE, "the name '%s' is too long for a session on another "
			       "machine", on->name);
	on->far = ga_buf_steal(&far);
	on->project = ga_strdup(ga_repo_info(c->env.repo)->id);
	on->directory = directory_of(ga_repo_info(c->env.repo)->workdir);
	on->started = (uint64_t)time(NULL);
	on->runs = true;
	on->trusted = !c->untrusted;
	for (size_t i = 0; i < argc; i++)
		ga_strv_push(&on->command, argv[i]);
	return 0;
}

/* Choose the base, with the user's settings for it. */
static int choose_base(struct cli *c, const struct options *o, const struct ga_config *conf,
		       struct ga_on *on, struct ga_error *err)
{
	cleanup_free char *objects = ga_on_objects(c->env.state_dir, on->name);
	struct ga_start_opts so = { .view.base_rev = o->base };
	cleanup_strv struct ga_strv notes = GA_STRV_INIT;
	struct ga_oid shown;
	struct cli_filter filter;

	if (cli_parse_filter(NULL, true, &filter, err))
		return -1;
	so.view.dirty = (enum ga_dirty)conf->dirty;
	cli_apply_settings(c, conf, &filter, &so);
	if (ga_view_choose(&c->env, &so.view, objects, &on->base, &shown, &notes, err))
		return -1;
	if (!ga_oid_equal(&shown, &on->base))
		on->snapshot = shown;
	for (size_t i = 0; i < notes.n; i++)
		cli_note("agent/%s: %s", on->name, notes.v[i]);
	return 0;
}

/* Collect the options for the remote git-agent; refuse those about local files or the terminal. */
static int remote_options(const struct options *o, const char *task, struct ga_strv *ret,
			  struct ga_error *err)
{
	static const char own[] = "on name base dirty detach quiet verbose task keep";

	for (size_t i = 0; i < GA_NELEMS(opts); i++) {
		const void *at = (const char *)o + opts[i].offset;
		bool flag = opts[i].kind == CLI_IS_FLAG && *(const bool *)at;
		const char *value = opts[i].kind == CLI_IS_VALUE ? *(const char *const *)at : NULL;
		const struct ga_strv *list = opts[i].kind == CLI_IS_LIST ? at : NULL;

		if ((!flag && !value && !(list && list->n)) || ga_has_word(own, opts[i].name))
			continue;
		if (ga_has_word("dry-run rm expose terminal-filter", opts[i].name))
			return ga_fail(err, GA_EUSAGE, "--%s cannot be used with --on",
				       opts[i].name);
		if (flag)
			ga_strv_pushf(ret, "--%s", opts[i].name);
		else if (value)
			ga_strv_pushf(ret, "--%s=%s", opts[i].name, value);
		for (size_t k = 0; list && k < list->n; k++)
			ga_strv_pushf(ret, "--%s=%s", opts[i].name, list->v[k]);
	}
	if (task)
		ga_strv_pushf(ret, "--task=%s", task);
	return 0;
}

static int on_start(struct cli *c, const struct options *o, const char *task, size_t argc,
		    char **argv, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_on struct ga_on on = GA_ON_INIT;
	cleanup_free char *branch = NULL;
	cleanup_close int names = -1;
	struct ga_oid onto;
	int rc;

	c->untrusted = o->run.untrusted;
	if (remote_options(o, task, &on.options, err))
		return -1;
	if (!ga_on_host_ok(o->on))
		return ga_fail(err, GA_EUSAGE, "'%s' is no name of a host", o->on);
	on.host = ga_strdup(o->on);
	if (cli_open(c, CLI_NEED_STATE, err) || ga_env_config(&c->env, err))
		return -1;
	rc = o->base ? ga_repo_resolve(c->env.repo, o->base, &onto, err)
		     : ga_repo_head(c->env.repo, &onto, &branch, err);
	if (rc > 0)
		(void)ga_fail(err, GA_ESTART, "there is no commit yet that could be sent");
	if (rc || cli_settings_to_run(c, &onto, !o->run.detach, &conf, err) ||
	    (o->dirty && ga_config_set_key(&conf, "dirty", o->dirty, err)) ||
	    ga_host_find(&conf.hosts, o->on, &on.way, err) || check_repository(c, &onto, err) ||
	    consent(c, o->on, &onto, err))
		return -1;
	names = ga_on_lock_names(c->env.state_dir, err);
	if (names < 0 || fill(c, o, argc, argv, &on, err) ||
	    choose_base(c, o, &conf, &on, err) ||
	    ga_fault_stop("on:chosen", err) || ga_on_save(c->env.state_dir, &on, err) ||
	    ga_fault_stop("on:recorded", err))
		return -1;
	ga_cleanup_closep(&names);
	names = -1;
	if (!o->run.quiet)
		cli_note("agent/%s: base %.10s goes to '%s'", on.name, GA_HEX(&on.base), on.host);
	if (ga_on_submit(c->env.repo, c->env.state_dir, &on, cli_on_keys(c, &on), err)) {
		if (on.submitted)
			cli_note("agent/%s: it is unknown whether it was started; 'git agent "
				 "resume %s' starts it if it was not", on.name, on.name);
		else
			(void)ga_on_remove(c->env.state_dir, on.name, GA_IGNORED);
		return -1;
	}
	if (o->run.detach || on.way.slurm) {
		(void)printf("%s\n", on.name);
		if (!o->run.quiet)
			cli_note("agent/%s: %s on '%s'; 'git agent attach %s' shows it, "
				 "'git agent review %s' what it did%s", on.name,
				 on.way.slurm ? "is submitted" : "runs", on.host, on.name, on.name,
				 on.way.slurm ? "; a node that is lost loses the session" : "");
		return 0;
	}
	return cli_on_attach(c, &on, err);
}

static void print_plan(const struct ga_start *st)
{
	cleanup_free char *line = ga_quote_shell_words(&st->command.argv);
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;

	ga_quote_add_text(&safe, line, strlen(line));
	(void)printf("session  %s\nbranch   agent/%s\ncommand  %s\n", st->session.name,
		     st->session.name, safe.ptr);
	for (size_t i = 0; i < st->banner.n; i++)
		(void)printf("         %s\n", st->banner.v[i]);
}

/* Start the slowest steps in parallel: reading git's configuration, and the sandbox that git-agent
 * began. */
static void open_early(struct cli *c, struct ga_start *st)
{
	cleanup_free char *guess = c->begun ? ga_strdup(c->begun_for) : ga_repo_guess();

	if (!guess)
		return;
	if (!c->env.loading)
		c->env.loading = ga_gitconfig_guess(guess);
	/* on failure ga_start_prepare() repeats it and reports the error */
	if (c->begun)
		(void)ga_start_begun(&c->env, guess, ga_steal(&c->begun), c->begun_own, st,
				     GA_IGNORED);
}

static int apply_options(struct cli *c, const struct options *o, const struct cli_filter *filter,
			 struct ga_start_opts *so, struct ga_config *conf, struct ga_strv *net,
			 struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	bool ask = !o->run.detach && !o->dry_run;
	struct ga_oid onto;
	int rc = o->base ? ga_repo_resolve(c->env.repo, o->base, &onto, err)
			 : ga_repo_head(c->env.repo, &onto, &branch, err);

	/* rc 1: there is no commit yet, which ga_start_prepare() and ga_start_plan() report */
	if (rc < 0 || cli_settings_to_run(c, rc ? NULL : &onto, ask, conf, err) ||
	    (o->dirty && ga_config_set_key(conf, "dirty", o->dirty, err)) ||
	    (o->ignored && ga_config_set_key(conf, "ignored", o->ignored, err)) ||
	    cli_set_network(&o->run.net, NULL, conf, net, err))
		return -1;
	so->view.dirty = (enum ga_dirty)conf->dirty;
	so->view.hide_ignored = conf->ignored == GA_IGNORED_HIDE;
	cli_apply_settings(c, conf, filter, so);
	cli_apply_network(c, conf, net);
	return 0;
}

static int check_options(const struct options *o, struct ga_error *err)
{
	if (o->rm && o->run.detach)
		return ga_fail(err, GA_EUSAGE, "--rm and --detach cannot be used together" GA_HINT
			       "a detached session is kept for 'list', 'wait' and 'logs'; 'git "
			       "agent drop' drops it");
	if (o->rm && o->run.keep)
		return ga_fail(err, GA_EUSAGE, "--rm and --keep cannot be used together");
	return 0;
}

/* Below the kernel's limit for one argument. */
#define TASK_MAX ((size_t)100 << 10)

static int read_task(const char *task, struct ga_buf *ret, struct ga_error *err)
{
	struct stat st;

	if (stat(task, &st) || !S_ISREG(st.st_mode))
		ga_buf_adds(ret, task);
	else if (ga_read_file_at(AT_FDCWD, task, TASK_MAX, ret, err))
		return -1;
	while (ret->len && strchr(" \t\n", ret->ptr[ret->len - 1]))
		ga_buf_truncate(ret, ret->len - 1);
	if (!ret->len)
		return ga_fail(err, GA_EUSAGE, "the task is empty");
	return ret->len > TASK_MAX || memchr(ret->ptr, '\0', ret->len)
		       ? ga_fail(err, GA_EUSAGE, "the task is no text of at most %zu KiB",
				 TASK_MAX >> 10)
		       : 0;
}

/* Note that options after the command are the agent's, which may have options of the same names. */
static void note_options_behind(const struct cli *c, size_t argc, char **argv)
{
	if (!ga_preset_find(&c->env.agents, argv[0]))
		return;
	for (size_t i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		for (size_t k = 0; k < GA_NELEMS(opts); k++) {
			size_t n = strlen(opts[k].name);

			if (strncmp(argv[i], "--", 2) || strncmp(argv[i] + 2, opts[k].name, n) ||
			    (argv[i][2 + n] && argv[i][2 + n] != '=') ||
			    ga_has_word("name quiet verbose", opts[k].name))
				continue;
			cli_note("note: '--%s' goes to %s; options of 'git agent start' stand "
				 "before it", opts[k].name, argv[0]);
		}
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_(ga_start_release) struct ga_start st = GA_START_INIT;
	struct ga_start_opts so = { .name = o->name,
				    .view = { .base_rev = o->base },
				    .no_setup = o->no_setup, .argv = argv, .argc = argc };
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_strv struct ga_strv expose = GA_STRV_INIT, net = GA_STRV_INIT;
	cleanup_buf struct ga_buf task = GA_BUF_INIT;
	struct cli_filter filter;
	struct cli_detach detach;
	int rc;

	if (check_options(o, err) || (o->task && read_task(o->task, &task, err)))
		return -1;
	so.task = o->task ? task.ptr : NULL;
	if (o->on)
		return on_start(c, o, so.task, argc, argv, err) ? cli_not_started(err) : 0;
	rc = cli_apply_run(c, &o->run, o->dry_run ? NULL : &detach, &so, &filter, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	open_early(c, &st);
	if (cli_open(c, CLI_NEED_STATE, err))
		return cli_not_started(err);
	note_options_behind(c, argc, argv);
	if (apply_options(c, o, &filter, &so, &conf, &net, err) ||
	    cli_find_exposed(c, &o->run.expose, &expose, err))
		return cli_not_started(err);
	so.view.expose = &expose;
	if (o->dry_run) {
		if (ga_start_plan(&c->env, &so, &st, err))
			return cli_not_started(err);
		print_plan(&st);
		return 0;
	}
	c->rm = o->rm;
	cli_before_run(c, o->run.quiet);
	if (ga_start_prepare(&c->env, &so, &st, err))
		return cli_not_started(err);
	return cli_run_and_capture(c, &st, o->run.quiet, err);
}

CLI_COMMAND(start, "[OPTIONS] [--] COMMAND [ARGUMENT...]",
	    "run an agent in a sandbox over the working tree", "COMMAND...",
	    .needs = CLI_NEED_SETTINGS, .stop_at_word = true, .status_is_agents = true,
	    .min_args = 1);
