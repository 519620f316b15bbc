/* SPDX-License-Identifier: MIT
 *
 * List candidates for shell completion (docs/completion), from the tables of commands and options.
 */
#include "cli.h"
#include "ga/on/on.h"

#define PATHS_MAX 2000 /* of one session */

/* Tells the completion scripts to complete file names. */
static const char file_line[] = ":file\n";

/* Print a candidate on a line of its own: `before` is what the word has before the part that is
 * completed, `end` what follows the candidate; then a tab and the help. */
static void print_candidate(const char *before, const char *word, const char *end, const char *help)
{
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return; /* a shell would split it */
	(void)printf("%s%s%s\t%s\n", before, word, end, help);
}

/* `elsewhere`: sessions on other machines, too. */
static void print_sessions(struct cli *c, const char *before, const char *prefix, bool elsewhere)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_refs struct ga_refs l = GA_REFS_INIT;

	if (ga_refs_list(c->env.repo, prefix, &l, GA_IGNORED))
		return;
	for (size_t i = 0; i < l.n; i++) {
		const char *name = l.v[i].name + strlen(prefix), *base = strchr(name, '/');

		/* every session has this ref, and listing refs captures nothing */
		if (base && !strcmp(base, "/base"))
			ga_strv_take(&names, ga_strndup(name, (size_t)(base - name)));
	}
	if (elsewhere && !cli_context_init(c, CLI_NEED_STATE, GA_IGNORED))
		ga_on_names(c->env.state_dir, &names);
	for (size_t i = 0; i < names.n; i++)
		print_candidate(before, names.v[i], "", "session");
}

static void print_revisions(struct cli *c, const char *before)
{
	static const char *const kinds[] = { "refs/heads/", "refs/tags/", "refs/remotes/" };
	cleanup_refs struct ga_refs l = GA_REFS_INIT;

	print_candidate(before, "HEAD", "", "");
	if (ga_session_host_refs(c->env.repo, &l, GA_IGNORED))
		return;
	for (size_t i = 0; i < l.n; i++)
		for (size_t k = 0; k < GA_NELEMS(kinds); k++)
			if (!strncmp(l.v[i].name, kinds[k], strlen(kinds[k])))
				print_candidate(before, l.v[i].name + strlen(kinds[k]), "", "");
}

static void print_remotes(struct cli *c, const char *before)
{
	static const char section[] = "remote.", key[] = ".url";
	cleanup_(ga_gitconfig_release) struct ga_gitconfig conf = GA_GITCONFIG_INIT;

	if (ga_gitconfig_load(c->env.repo, &conf, GA_IGNORED))
		return;
	for (size_t i = 0; i < conf.n; i++) {
		const char *k = conf.v[i].key;
		size_t n = strlen(k);

		if (!strncmp(k, section, strlen(section)) && n > strlen(section) + strlen(key) &&
		    !strcmp(k + n - strlen(key), key)) {
			cleanup_free char *word = ga_strndup(
				k + strlen(section), n - strlen(section) - strlen(key));

			print_candidate(before, word, "", "remote");
		}
	}
}

/* `known`: without the shell preset, which is no agent. */
static void print_agents(struct cli *c, const char *before, bool known)
{
	const struct ga_preset *p;

	if (!c->settings.from.user_file)
		(void)cli_context_init(c, CLI_NEED_SETTINGS, GA_IGNORED);

	for (size_t i = 0; (p = ga_preset_at(&c->env.agents, i)); i++)
		if (!known || p->login)
			print_candidate(before, p->name, "", "agent");
}

/* Open the repository of the current directory, if any. */
static bool in_repository(struct cli *c)
{
	return c->env.repo || !cli_context_init(c, CLI_NEED_REPO, GA_IGNORED);
}

/* Check a name chosen by an agent, which the shell would insert into a command line. */
static bool is_safe(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_./+,@:-";

	return *path != '-' && !path[strspn(path, plain)];
}

/* Print the paths that a session changed; if none is known, any file. */
static void print_changed(struct cli *c, const char *name)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	const struct ga_oid *to;

	if (cli_context_init(c, CLI_NEED_STATE, GA_IGNORED) ||
	    ga_session_load(c->env.state_dir, name, &s, GA_IGNORED) ||
	    ga_report_read(c->env.repo, &s, &r, GA_IGNORED))
		to = &ga_oid_none;
	else
		to = ga_oid_is_zero(&r.held) ? &r.tip : &r.held;
	if (!ga_oid_is_zero(to))
		(void)ga_tree_diff(c->env.repo, &r.base, to, &all, GA_IGNORED);
	for (size_t i = 0; i < all.n && i < PATHS_MAX; i++)
		if (is_safe(all.v[i].path))
			print_candidate("", all.v[i].path, "", "changed");
	if (!all.n)
		(void)fputs(file_line, stdout);
}

/* Print candidates for one alternative of struct cli_command.words, `n` bytes at `kinds`: a literal
 * word, or a kind of word. `after` is the previous word, for "WORD:". `dropped`: list sessions in
 * the trash. */
static void print_kind(struct cli *c, const char *before, const char *kinds, size_t n,
		       const char *after, bool dropped)
{
	cleanup_free char *word = ga_strndup(kinds, n);
	char *colon = strchr(word, ':');
	const char *kind = colon ? colon + 1 : word;

	if (colon && (strncmp(after, word, (size_t)(colon - word)) || after[colon - word]))
		return;
	if (!strcmp(kind, "FILE") || !strcmp(kind, "PATH"))
		(void)fputs(file_line, stdout);
	else if (!strcmp(kind, "SESSION") && in_repository(c))
		print_sessions(c, before, dropped ? GA_TRASH_REFS : GA_SESSION_REFS, !dropped);
	else if (!strcmp(kind, "REV") && in_repository(c))
		print_revisions(c, before);
	else if (!strcmp(kind, "REMOTE") && in_repository(c))
		print_remotes(c, before);
	else if (!strcmp(kind, "AGENT"))
		print_agents(c, before, true);
	else if (n && kind[0] >= 'a' && kind[0] <= 'z')
		print_candidate(before, kind, "", "");
}

static void print_kinds(struct cli *c, const char *before, const char *kinds, size_t n,
			const char *after, bool dropped)
{
	for (const char *p = kinds, *end = kinds + n; p <= end; p++) {
		size_t len = strcspn(p, "| ");

		if (len > (size_t)(end - p))
			len = (size_t)(end - p);
		print_kind(c, before, p, len, after, dropped);
		p += len;
	}
}

static void print_options(const struct cli_command *cmd, char **words, size_t n)
{
	for (size_t i = 0; i < cmd->n_opts; i++) {
		const struct cli_opt *o = &cmd->opts[i];
		cleanup_free char *word = ga_strf("--%s", o->name);
		bool given = false;

		for (size_t k = 1; k < n && o->kind == CLI_IS_FLAG; k++)
			given |= !strcmp(words[k], word);
		if (!given)
			print_candidate("", word, o->kind == CLI_IS_FLAG ? "" : "=", o->help);
	}
}

/* The option `word` if its value is the next word, else NULL. */
static const struct cli_opt *takes_next(const struct cli_command *cmd, const char *word)
{
	for (size_t i = 0; i < cmd->n_opts; i++) {
		const struct cli_opt *o = &cmd->opts[i];

		if (o->kind == CLI_IS_FLAG)
			continue;
		if (!strncmp(word, "--", 2) && !strcmp(word + 2, o->name))
			return o;
		if (o->letter && word[0] == '-' && word[1] == o->letter && !word[2])
			return o;
	}
	return NULL;
}

/* Position of the last of `n` words; words[0] is the command's name. */
struct place {
	const char *first;          /* the first word that is no option, or NULL */
	size_t index;               /* counting only words that are no options */
	bool behind;                /* options ended before it */
	const struct cli_opt *of;   /* it is the value of this option, or NULL */
	size_t line;                /* first word of a nested command line */
};

static void find_place(const struct cli_command *cmd, char **words, size_t n, struct place *ret)
{
	*ret = (struct place){ .line = n - 1 };
	for (size_t i = 1; i + 1 < n; i++) {
		const char *w = words[i];

		if (!ret->behind && !strcmp(w, "--")) {
			ret->behind = true;
			/* the name was left out */
			if ((cmd->name_first || cmd->paths_last) && !ret->index)
				ret->index = 1;
			continue;
		}
		if (!ret->behind && w[0] == '-' && w[1]) {
			const struct cli_opt *o = takes_next(cmd, w);

			if (o && i + 2 == n)
				ret->of = o;
			i += o != NULL;
			continue;
		}
		if (!ret->first)
			ret->first = w;
		if (cmd->stop_at_word || (cmd->name_first && ret->index))
			ret->behind = true;
		if (ret->behind && ret->line == n - 1 && (cmd->stop_at_word || ret->index))
			ret->line = i;
		ret->index++;
	}
}

/* The item of struct cli_command.words for word number `at`, or NULL. */
static const char *kinds_at(const char *words, size_t at, size_t *ret_n)
{
	const char *p = words ? words : "";

	for (;;) {
		*ret_n = strcspn(p, " .");
		if (!at-- || p[*ret_n] == '.')
			return p;
		p += *ret_n;
		if (!*p++)
			return NULL;
	}
}

static void complete(struct cli *c, const struct cli_command *cmd, char **words, size_t n,
		     size_t before)
{
	const char *last = words[n - 1], *eq = strchr(last, '='), *kinds;
	bool dropped = false;
	struct place at;
	size_t len;

	find_place(cmd, words, n, &at);
	for (size_t i = 1; i + 1 < n; i++)
		dropped |= !strcmp(words[i], "--restore");
	if (at.of) {
		print_kinds(c, "", at.of->arg, strlen(at.of->arg), "", false);
		return;
	}
	if (!at.behind && last[0] == '-') {
		cleanup_free char *name = eq ? ga_strndup(last, (size_t)(eq - last)) : NULL;
		cleanup_free char *prefix = name ? ga_strf("%s=", name) : NULL;
		const struct cli_opt *o = name ? takes_next(cmd, name) : NULL;

		if (o)
			print_kinds(c, prefix, o->arg, strlen(o->arg), "", false);
		else
			print_options(cmd, words, n);
		return;
	}
	kinds = kinds_at(cmd->words, at.index, &len);
	if (!kinds)
		return;
	if (!strncmp(kinds, "CHANGED", strlen("CHANGED")) && at.first) {
		print_changed(c, cli_plain_name(at.first));
		return;
	}
	if (strncmp(kinds, "COMMAND", strlen("COMMAND")) != 0) {
		print_kinds(c, "", kinds, len, n > 1 ? words[n - 2] : "", dropped);
		return;
	}
	/* a nested command line: the shell completes it from its first word */
	if (at.line == n - 1)
		print_agents(c, "", false);
	(void)printf(":command %zu\n", before + at.line);
}

void cli_complete(struct cli *c, const struct cli_group *groups, size_t n_groups, char **words,
		  size_t n)
{
	size_t skip = 0;

	for (; n - skip >= 2 && !strcmp(words[skip], "-c"); skip += 2)
		if (n - skip == 2) {
			for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
				print_candidate("", ga_config_key(i), "=", ga_config_help(i));
			return;
		}
	if (n - skip == 1)
		print_candidate("", "help", "", "show the manual page of a command");
	if (n - skip == 2 && !strcmp(words[skip], "help")) /* by their names too */
		skip++;
	for (const struct cli_group *g = groups; g < groups + n_groups; g++)
		for (size_t i = 0; i < g->n; i++) {
			if (n - skip == 1 && g->title)
				print_candidate("", g->v[i]->name, "", g->v[i]->summary);
			else if (n - skip > 1 && !strcmp(g->v[i]->name, words[skip]))
				complete(c, g->v[i], words + skip, n - skip, skip);
		}
}
