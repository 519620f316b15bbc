/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli.h"
#include "ga/base/nearest.h"
#include "ga/base/quote.h"

#define HELP_COLUMN 28 /* where -h says what an option does */

/* Options that had another name in an earlier release. */
static const struct {
	const char *old, *name;
} renamed[] = {
	{ "left-behind", "leftovers" },
};

static const struct cli_opt *find_long(const struct cli_command *cmd, const char *name, size_t n)
{
	for (size_t i = 0; i < GA_NELEMS(renamed); i++) {
		if (strlen(renamed[i].old) != n || strncmp(renamed[i].old, name, n) != 0)
			continue;
		cli_note("warning: '--%s' is now '--%s'; the old word goes with the next release",
			 renamed[i].old, renamed[i].name);
		name = renamed[i].name;
		n = strlen(name);
	}
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
	cleanup_free char *word = ga_strndup(arg, n), *q = ga_escape(word);
	const char *names[32], *near;
	size_t k = 0;

	for (; k < cmd->n_opts && k < GA_NELEMS(names); k++)
		names[k] = cmd->opts[k].name;
	(void)ga_fail(err, GA_EUSAGE, "unknown option '%s'", q);
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

		/* as git has it: what does not fit beside its option stands below */
		if (strlen(left) > HELP_COLUMN)
			(void)printf("    %s\n    %*s %s\n", left, HELP_COLUMN, "", o->help);
		else
			(void)printf("    %-*s %s\n", HELP_COLUMN, left, o->help);
	}
}

void cli_help(const struct cli_command *cmd)
{
	if (!cli_manual(cmd))
		print_help(cmd);
}

int cli_parse(const struct cli_command *cmd, void *opts, size_t *argc, char ***argv,
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
	if (out < cmd->min_args || out > cmd->max_args) {
		(void)ga_fail(err, GA_EUSAGE, out < cmd->min_args ? "too few arguments"
								  : "too many arguments");
		return ga_hint(err, "usage: git agent %s %s", cmd->name, cmd->usage);
	}
	return 0;
}

void cli_release(const struct cli_command *cmd, void *opts)
{
	for (size_t i = 0; i < cmd->n_opts; i++)
		if (cmd->opts[i].kind == CLI_IS_LIST)
			ga_strv_release((struct ga_strv *)((char *)opts + cmd->opts[i].offset));
}
