/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <malloc.h>

#include "on.h"

#define HELP_COLUMN 28 /* where -h says what an option does */

static const struct cli_opt *find_long(const struct cli_command *cmd, const char *name, size_t n)
{
	for (size_t i = 0; i < cmd->n_opts; i++)
		if (strlen(cmd->opts[i].name) == n && !strncmp(cmd->opts[i].name, name, n))
			return &cmd->opts[i];
	return NULL;
}

static const struct cli_opt *find_letter(const struct cli_command *cmd, char c)
{
	for (size_t i = 0; i < cmd->n_opts; i++)
		if (cmd->opts[i].letter == c)
			return &cmd->opts[i];
	return NULL;
}

static int unknown(const struct cli_command *cmd, const char *arg, size_t n, struct ga_error *err)
{
	cleanup_free char *word = ga_strndup(arg, n);
	const char *names[32], *near;
	size_t k = 0;

	for (; k < cmd->n_opts && k < GA_NELEMS(names); k++)
		names[k] = cmd->opts[k].name;
	(void)ga_fail(err, GA_EUSAGE, "unknown option '%s'", word);
	near = strncmp(word, "--", 2) ? NULL : ga_nearest(word + 2, names, k);
	if (near)
		return ga_hint(err, "did you mean '--%s'?", near);
	return ga_hint(err, "'git agent %s -h' lists the options", cmd->name);
}

static void store(const struct cli_opt *o, void *opts, const char *value)
{
	char *at = (char *)opts + o->offset;

	switch (o->kind) {
	case CLI_IS_FLAG:
		*(bool *)at = true;
		break;
	case CLI_IS_VALUE:
		*(const char **)at = value;
		break;
	case CLI_IS_LIST:
		ga_strv_push((struct ga_strv *)at, value);
		break;
	}
}

/* One argument that begins with "--". Returns how many arguments it took. */
static int parse_long(const struct cli_command *cmd, void *opts, char **argv, size_t left,
		      struct ga_error *err)
{
	const char *name = argv[0] + 2, *eq = strchr(name, '=');
	size_t n = eq ? (size_t)(eq - name) : strlen(name);
	const struct cli_opt *o = find_long(cmd, name, n);

	if (!o)
		return unknown(cmd, argv[0], n + 2, err);
	if (o->kind == CLI_IS_FLAG) {
		if (eq)
			return ga_fail(err, GA_EUSAGE, "option '--%s' takes no value", o->name);
		store(o, opts, NULL);
		return 1;
	}
	if (eq) {
		store(o, opts, eq + 1);
		return 1;
	}
	if (left < 2)
		return ga_fail(err, GA_EUSAGE, "option '--%s' needs a value", o->name);
	store(o, opts, argv[1]);
	return 2;
}

/* One argument of single letters, the last of which may take a value. */
static int parse_short(const struct cli_command *cmd, void *opts, char **argv, size_t left,
		       struct ga_error *err)
{
	for (const char *p = argv[0] + 1; *p; p++) {
		const struct cli_opt *o = find_letter(cmd, *p);

		if (!o)
			return unknown(cmd, argv[0], strlen(argv[0]), err);
		if (o->kind == CLI_IS_FLAG) {
			store(o, opts, NULL);
			continue;
		}
		if (p[1]) {
			store(o, opts, p + 1);
			return 1;
		}
		if (left < 2)
			return ga_fail(err, GA_EUSAGE, "option '-%c' needs a value", o->letter);
		store(o, opts, argv[1]);
		return 2;
	}
	return 1;
}

static void print_help(const struct cli_command *cmd)
{
	(void)printf("usage: git agent %s %s\n\n%s\n", cmd->name, cmd->usage, cmd->summary);
	if (cmd->n_opts)
		(void)putchar('\n');
	for (size_t i = 0; i < cmd->n_opts; i++) {
		const struct cli_opt *o = &cmd->opts[i];
		cleanup_free char *left = ga_strf(
			"%c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			o->letter ? ", " : "  ", o->name, o->arg ? " " : "", o->arg ? o->arg : "");

		/* like git, wrap help that does not fit next to its option */
		if (strlen(left) > HELP_COLUMN)
			(void)printf("    %s\n    %*s %s\n", left, HELP_COLUMN, "", o->help);
		else
			(void)printf("    %-*s %s\n", HELP_COLUMN, left, o->help);
	}
}

/* The same with the summary: -h without a manual page. */
static void cli_help(const struct cli_command *cmd)
{
	if (!cli_manual(cmd))
		print_help(cmd);
}

static size_t most_words(const struct cli_command *cmd)
{
	size_t n = 0;

	for (const char *p = cmd->words; p; p = strchr(p + 1, ' '))
		n++;
	return n && ga_ends_in(cmd->words, "...") ? SIZE_MAX : n;
}

/* Parse options into `opts`; `*argv` and `*argc` become what is left. Returns 1
 * if -h was given (help was printed to standard output). */
static int parse(const struct cli_command *cmd, void *opts, size_t *argc, char ***argv,
		 struct ga_error *err)
{
	size_t in = 0, out = 0, n = *argc;
	char **v = *argv;

	while (in < n) {
		int took;

		if (!strcmp(v[in], "--")) {
			in++;
			/* NULL in place of the name that was left out */
			if ((cmd->name_first || cmd->paths_last) && !out)
				v[out++] = NULL;
			break;
		}
		if (v[in][0] != '-' || !v[in][1]) {
			if (cmd->stop_at_word || (cmd->name_first && out))
				break;
			if (cmd->paths_last && out)
				return ga_fail(err, GA_EUSAGE, "too many arguments" GA_HINT
					       "paths come behind '--'");
			v[out++] = v[in++];
			continue;
		}
		if (!strcmp(v[in], "-h") || !strcmp(v[in], "--help")) {
			if (v[in][1] == '-')
				cli_help(cmd);
			else
				print_help(cmd);
			return 1;
		}
		took = v[in][1] == '-' ? parse_long(cmd, opts, v + in, n - in, err)
				       : parse_short(cmd, opts, v + in, n - in, err);
		if (took < 0)
			return -1;
		in += (size_t)took;
	}
	while (in < n)
		v[out++] = v[in++];
	*argc = out;
	if (out < cmd->min_args || out > most_words(cmd)) {
		(void)ga_fail(err, GA_EUSAGE, out < cmd->min_args ? "too few arguments"
								  : "too many arguments");
		return ga_hint(err, "usage: git agent %s %s", cmd->name, cmd->usage);
	}
	return 0;
}

static const struct cli_command *const every_day[] = {
	&cli_start, &cli_list, &cli_review, &cli_land, &cli_resume, &cli_drop,
};
static const struct cli_command *const now_and_then[] = {
	&cli_show, &cli_diff, &cli_attach, &cli_send, &cli_logs, &cli_shell, &cli_wait, &cli_stop,
	&cli_refresh, &cli_push, &cli_fetch, &cli_gc,
};
static const struct cli_command *const setting_up[] = {
	&cli_doctor, &cli_agents, &cli_home, &cli_init, &cli_config, &cli_trust, &cli_shim,
};
static const struct cli_command *const plumbing[] = {
	&cli_capture, &cli_depot, &cli_guard, &cli_rules, &cli_secrets, &cli_version,
};

static const struct cli_group groups[] = {
	{ "every day", every_day, GA_NELEMS(every_day) },
	{ "now and then", now_and_then, GA_NELEMS(now_and_then) },
	{ "setting up", setting_up, GA_NELEMS(setting_up) },
	{ NULL, plumbing, GA_NELEMS(plumbing) },
};

/* Commands of earlier releases, and their new names. */
static const struct {
	const char *old, *words[2];
} renamed[] = {
	{ "log", { "show", "--journal" } },
	{ "version", { "--version", NULL } },
};

/* Commands of other tools, and their equivalents here. */
static const struct {
	const char *word, *here;
} synonyms[] = {
	{ "accept", "review --accept" }, { "apply", "land" },
	{ "create", "start" }, { "delete", "drop" },
	{ "discard", "drop" }, { "exec", "shell" },
	{ "kill", "stop" }, { "login", "home import" },
	{ "ls", "list" }, { "merge", "land" },
	{ "new", "start" }, { "open", "attach" },
	{ "ps", "list" }, { "reject", "review --reject" },
	{ "remove", "drop" }, { "rm", "drop" },
	{ "run", "start" }, { "sessions", "list" },
	{ "status", "list" }, { "switch", "attach" },
	{ "undo", "land --undo" },
};

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < GA_NELEMS(groups); i++)
		for (size_t k = 0; k < groups[i].n; k++)
			if (!strcmp(groups[i].v[k]->name, name))
				return groups[i].v[k];
	return NULL;
}

static void usage(FILE *f, bool all)
{
	(void)fputs("usage: git agent [-c KEY=VALUE] COMMAND [OPTIONS] [ARGUMENTS]\n\n"
		    "Run coding agents in a sandbox; get their work back as commits on "
		    "agent/NAME.\n", f);
	for (size_t i = 0; i < GA_NELEMS(groups) && (groups[i].title || all); i++) {
		(void)fprintf(f, "\n%s\n", groups[i].title ? groups[i].title : "plumbing");
		for (size_t k = 0; k < groups[i].n; k++)
			(void)fprintf(f, "    %-10s %s\n", groups[i].v[k]->name,
				      groups[i].v[k]->summary);
	}
	(void)fputs("\n'git agent COMMAND -h' shows a command's options, 'git agent help COMMAND' "
		    "its manual page,\n'git agent help -a' also lists plumbing.\n", f);
}

static int unknown_command(const char *name, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	const char *near = NULL;

	for (size_t i = 0; i < GA_NELEMS(synonyms); i++)
		if (!strcmp(synonyms[i].word, name))
			near = synonyms[i].here;
	for (size_t i = 0; i < GA_NELEMS(groups); i++)
		for (size_t k = 0; k < groups[i].n; k++)
			ga_strv_push(&names, groups[i].v[k]->name);
	if (!near)
		near = ga_nearest(name, (const char *const *)names.v, names.n);
	(void)ga_fail(err, GA_EUSAGE, "unknown command '%s'", name);
	return near ? ga_hint(err, "did you mean 'git agent %s'?", near)
		    : ga_hint(err, "'git agent -h' lists the commands");
}

/* Replace a first word of an earlier release by its new words. Returns the words, to be freed, or
 * NULL. */
static char **rename_command(size_t *argc, char **argv)
{
	for (size_t i = 0; i < GA_NELEMS(renamed); i++) {
		const char *const *words = renamed[i].words;
		size_t n = words[1] ? 2 : 1;
		char **v;

		if (strcmp(renamed[i].old, argv[0]) != 0)
			continue;
		v = ga_calloc(*argc + 2, sizeof(*v));
		for (size_t k = 0; k < n; k++)
			v[k] = (char *)(uintptr_t)words[k];
		memcpy(v + n, argv + 1, (*argc - 1) * sizeof(*v));
		*argc += n - 1;
		cli_say(ga_strf("warning: 'git agent %s' is now 'git agent %s%s%s'; the old word "
				"goes with the next release", argv[0], words[0],
				words[1] ? " " : "", words[1] ? words[1] : ""));
		return v;
	}
	return NULL;
}

/* git agent help [-a | COMMAND] */
static int help(size_t argc, char **argv, struct ga_error *err)
{
	bool all = argc && (!strcmp(argv[0], "-a") || !strcmp(argv[0], "--all"));
	const struct cli_command *cmd = argc ? find_command(argv[0]) : NULL;

	if (argc && !cmd && !all)
		return unknown_command(argv[0], err);
	if (argc > 1)
		return ga_fail(err, GA_EUSAGE, "too many arguments");
	if (cmd)
		cli_help(cmd);
	else
		usage(stdout, all);
	return 0;
}

/* Take over what git-agent began, and unset the variables that name it: no child must see them. */
static int take_over(struct cli *c, struct ga_error *err)
{
	const char *value = getenv(CLI_BEGUN), *colon = value ? strchr(value, ':') : NULL;
	const char *project = colon ? strchr(colon + 1, ':') : NULL;
	cleanup_free char *word = colon ? ga_strndup(value, (size_t)(colon - value)) : NULL;
	const char *loading = getenv(CLI_LOADING), *keeper = getenv(CLI_KEEPER);
	uint64_t fd;

	if (keeper && ga_parse_u64(keeper, INT32_MAX, &fd) && !fcntl((int)fd, F_SETFD, FD_CLOEXEC))
		c->keeper = (int)fd;
	(void)unsetenv(CLI_KEEPER);
	if (loading && ga_gitconfig_take_over(loading, &c->env.loading, err))
		return -1;
	(void)unsetenv(CLI_LOADING);
	if (!project)
		return 0;
	c->begun_for = ga_strdup(project + 1);
	c->begun_own = !strncmp(colon, ":own:", 5);
	(void)unsetenv(CLI_BEGUN);
	return ga_run_take_over(word, &c->begun, err) ? cli_not_started(err) : 0;
}

static int run(size_t argc, char **argv, int *ret_status, struct ga_error *err)
{
	cleanup_(cli_context_release) struct cli c = { .keeper = -1 };
	const struct cli_command *cmd;
	cleanup_free char **words = NULL;
	cleanup_free void *opts = NULL;
	cleanup_strv struct ga_strv given = GA_STRV_INIT;
	int rc;

	if (take_over(&c, err))
		return -1;
	if (argc && !strcmp(argv[0], "--complete")) {
		cli_complete(&c, groups, GA_NELEMS(groups), argv + 1, argc - 1);
		return 0;
	}
	/* like git */
	for (; argc && !strcmp(argv[0], "-c"); argc -= 2, argv += 2) {
		if (argc < 2)
			return ga_fail(err, GA_EUSAGE, "option '-c' needs KEY=VALUE");
		ga_strv_push(&c.overrides, argv[1]);
	}
	if (argc < 1) {
		usage(stderr, false);
		*ret_status = ga_error_status(GA_EUSAGE);
		return 0;
	}
	if (!strcmp(argv[0], "help"))
		return help(argc - 1, argv + 1, err);
	if (!strcmp(argv[0], "-h") || !strcmp(argv[0], "--help")) {
		usage(stdout, false);
		return 0;
	}
	words = rename_command(&argc, argv);
	if (words)
		argv = words;
	cmd = find_command(argv[0]);
	if (!cmd)
		return unknown_command(argv[0], err);
	argc--;
	argv++;
	for (size_t i = 0; i < argc; i++)
		ga_strv_push(&given, argv[i]);
	opts = ga_calloc(1, cmd->opts_size);
	rc = parse(cmd, opts, &argc, &argv, err);
	if (!rc && cli_context_init(&c, cmd->needs, err))
		rc = cmd->status_is_agents ? cli_not_started(err) : -1;
	else if (!rc)
		rc = cli_on(&c, cmd, &given, &argc, argv, err);
	if (!rc)
		rc = cmd->run(&c, opts, argc, argv, err) || cli_on_after(&c, cmd, argc, argv, err)
			     ? -1 : 0;
	*ret_status = c.status;
	if (c.env.state_dir)
		cli_refresh_guard(&c);
	for (size_t i = 0; i < cmd->n_opts; i++)
		if (cmd->opts[i].kind == CLI_IS_LIST)
			ga_strv_release((struct ga_strv *)((char *)opts + cmd->opts[i].offset));
	return rc < 0 ? -1 : 0;
}

static int flush_output(int status)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	bool failed = fflush(stdout);

	/* a reader that closed the pipe is no error */
	if ((!failed && !ferror(stdout)) || errno == EPIPE || status)
		return status;
	if (failed)
		(void)ga_fail_errno(&err, GA_EFATAL, errno, "cannot write");
	else
		(void)ga_fail(&err, GA_EFATAL, "cannot write all of the output");
	cli_print_error(&err);
	return ga_error_status(err.code);
}

/* Executed only by git-agent, which has opened descriptors 0 to 2. */
int main(int argc, char **argv)
{
	struct ga_error err = GA_ERROR_INIT;
	int status = 0;

	/* keep freed memory: each page returned to the kernel costs a fault */
	(void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
	(void)mallopt(M_TOP_PAD, 1 << 20);
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	(void)signal(SIGPIPE, SIG_IGN);
	cli_scrub_environment();
	cli_default_home();
	ga_trace_set(getenv("GIT_AGENT_TRACE"));
	ga_fault_set(getenv("GIT_AGENT_FAULT"));
	if (run((size_t)argc - 1, argv + 1, &status, &err)) {
		cli_print_error(&err);
		status = ga_error_status(err.code);
	}
	ga_error_release(&err);
	status = flush_output(status);
#ifndef GA_RETURNS /* leak checkers and coverage need a normal return */
	/* skip half a millisecond of libraries' clean-up */
	_exit(status);
#endif
	return status;
}
