/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "context.h"
#include "ga/nearest.h"
#include "ga/quote.h"
#include "ga/trace.h"
#include "host.h"

/* In the order of the help text. */
static const struct cli_command *const commands[] = {
	&cli_start, &cli_resume, &cli_attach, &cli_shell, &cli_logs, &cli_wait, &cli_stop,
	&cli_refresh, &cli_list, &cli_show, &cli_log, &cli_diff, &cli_review, &cli_land, &cli_drop,
	&cli_gc, &cli_guard, &cli_push, &cli_fetch, &cli_capture, &cli_rules, &cli_secrets,
	&cli_agents, &cli_home, &cli_config, &cli_init, &cli_trust, &cli_shim, &cli_doctor,
	&cli_version,
};

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void usage(FILE *f)
{
	(void)fputs("usage: git agent [-c KEY=VALUE] COMMAND [OPTIONS] [ARGUMENTS]\n\n"
		    "Run coding agents in a sandbox; get their work back as commits on "
		    "agent/NAME.\n\n", f);
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		(void)fprintf(f, "    %-10s %s\n", commands[i]->name, commands[i]->summary);
	(void)fputs("\n'git agent COMMAND -h' shows a command's options, "
		    "'git agent help COMMAND' its manual page.\n", f);
}

static int unknown_command(const char *name, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(name);
	const char *names[GA_NELEMS(commands)], *near;

	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		names[i] = commands[i]->name;
	(void)ga_fail(err, GA_EUSAGE, "unknown command '%s'", q);
	near = ga_nearest(name, names, GA_NELEMS(names));
	if (near)
		return ga_hint(err, "did you mean 'git agent %s'?", near);
	return ga_hint(err, "'git agent -h' lists the commands");
}

/* git agent help [COMMAND] */
static int help(size_t argc, char **argv, struct ga_error *err)
{
	const struct cli_command *cmd = argc ? find_command(argv[0]) : NULL;

	if (argc && !cmd)
		return unknown_command(argv[0], err);
	if (argc > 1)
		return ga_fail(err, GA_EUSAGE, "too many arguments");
	if (cmd)
		cli_help(cmd);
	else
		usage(stdout);
	return 0;
}

/* Take over what git-agent has begun. The variables that say so are removed: no child must see
 * them. */
static int take_over(struct cli *c, struct ga_error *err)
{
	const char *value = getenv(CLI_BEGUN), *colon = value ? strchr(value, ':') : NULL;
	const char *project = colon ? strchr(colon + 1, ':') : NULL;
	cleanup_free char *word = colon ? ga_strndup(value, (size_t)(colon - value)) : NULL;
	const char *loading = getenv(CLI_LOADING);

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
	cleanup_(cli_context_release) struct cli c = { 0 };
	const struct cli_command *cmd;
	cleanup_free void *opts = NULL;
	int rc;

	if (take_over(&c, err))
		return -1;
	if (argc && !strcmp(argv[0], "--complete")) {
		cli_complete(&c, commands, GA_NELEMS(commands), argv + 1, argc - 1);
		return 0;
	}
	/* as git has it */
	for (; argc && !strcmp(argv[0], "-c"); argc -= 2, argv += 2) {
		if (argc < 2)
			return ga_fail(err, GA_EUSAGE, "option '-c' needs KEY=VALUE");
		ga_strv_push(&c.overrides, argv[1]);
	}
	if (argc < 1) {
		usage(stderr);
		*ret_status = ga_error_status(GA_EUSAGE);
		return 0;
	}
	if (!strcmp(argv[0], "help"))
		return help(argc - 1, argv + 1, err);
	if (!strcmp(argv[0], "-h") || !strcmp(argv[0], "--help")) {
		usage(stdout);
		return 0;
	}
	cmd = find_command(strcmp(argv[0], "--version") ? argv[0] : "version");
	if (!cmd)
		return unknown_command(argv[0], err);
	argc--;
	argv++;
	opts = ga_calloc(1, cmd->opts_size);
	rc = cli_parse(cmd, opts, &argc, &argv, err);
	if (!rc && cli_context_init(&c, cmd->needs, err))
		rc = cmd->status_is_agents ? cli_not_started(err) : -1;
	else if (!rc)
		rc = cmd->run(&c, opts, argc, argv, err);
	*ret_status = c.status;
	if (c.env.state_dir)
		cli_refresh_guard(&c);
	cli_release(cmd, opts);
	return rc < 0 ? -1 : 0;
}

int cli_not_started(struct ga_error *err)
{
	if (err->code == GA_EFATAL)
		err->code = GA_ESTART;
	return -1;
}

void cli_print_error(const struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	/* whoever made the message quoted what is an agent's; this catches anything else */
	ga_buf_adds(&b, "git-agent: ");
	ga_quote_add_text(&b, err->msg, strlen(err->msg));
	for (size_t i = 0; i < b.len; i++)
		if (b.ptr[i] == '\n')
			b.ptr[i] = ' ';
	ga_buf_addch(&b, '\n');
	if (err->hint) {
		ga_buf_adds(&b, "hint: ");
		ga_quote_add_text(&b, err->hint, strlen(err->hint));
		ga_buf_addch(&b, '\n');
	}
	(void)fputs(b.ptr, stderr);
}

void cli_tell(const struct ga_error *err, int *status)
{
	int own = ga_error_status(err->code);

	cli_print_error(err);
	if (own > *status)
		*status = own;
}

void cli_say(char *line)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_quote_add_text(&b, line, strlen(line));
	(void)fprintf(stderr, "%s\n", b.ptr);
	free(line);
}

static int flush_output(int status)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	bool failed = fflush(stdout);

	/* a reader that went away wants no more: no error */
	if ((!failed && !ferror(stdout)) || errno == EPIPE || status)
		return status;
	if (failed)
		(void)ga_fail_errno(&err, GA_EFATAL, errno, "cannot write");
	else
		(void)ga_fail(&err, GA_EFATAL, "cannot write all of the output");
	cli_print_error(&err);
	return ga_error_status(err.code);
}

/* Keep freed memory: it is soon needed again, and each page given back costs a fault then. */
static void keep_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
	(void)mallopt(M_TOP_PAD, 1 << 20);
}

/* Executed by git-agent alone, which has seen to it that descriptors 0 to 2 are open. */
int main(int argc, char **argv)
{
	struct ga_error err = GA_ERROR_INIT;
	int status = 0;

	keep_memory();
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
#ifndef GA_RETURNS /* leak checkers and coverage do their work when a program returns */
	/* a dozen libraries would take half a millisecond to free what ends with us anyway */
	_exit(status);
#endif
	return status;
}
