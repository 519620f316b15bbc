/* SPDX-License-Identifier: MIT
 *
 * What simple commands execute.
 */
#include <ctype.h>
#include <string.h>

#include "ga/path.h"
#include "shell.h"

enum { DEPTH_MAX = GA_SHELL_DEPTH_MAX };

static void run_text(struct ga_shell *s, const char *text);

/* Does a word that is executed have a line of a list in it? */
static void note_lines(struct ga_shell *s, const char *word)
{
	for (size_t i = 0; i < s->read.n; i++) {
		const char *at = strstr(word, s->read.v[i]);

		if (at > word && at[-1] == GA_LEX_VARIABLE)
			s->executes_lines = true;
	}
}

static void given(struct ga_shell *s, const char *word)
{
	note_lines(s, word);
	ga_shell_add(s, GA_WORD_GIVEN, word);
}

static void bare(struct ga_shell *s, const char *word)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	const char *value = word[0] == '-' ? strchr(word, '=') : NULL;

	ga_shell_expand(s, value ? value + 1 : word, &all);
	for (size_t i = 0; i < all.n; i++)
		/* globs are arguments of tools, which look at what matches */
		if (ga_word_like_script(all.v[i]) && all.v[i][0] != '-' &&
		    !strpbrk(all.v[i], "*? \t\n"))
			ga_words_add_path(s->out, GA_WORD_BARE, all.v[i], s->home);
}

/* PATH=a:b:$PATH */
static void search_path(struct ga_shell *s, const char *value)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	ga_shell_expand(s, value, &all);
	for (size_t i = 0; i < all.n; i++) {
		char *save = NULL;

		for (char *d = strtok_r(all.v[i], ":", &save); d; d = strtok_r(NULL, ":", &save))
			ga_words_add_path(s->out, GA_WORD_PATH, d, s->home);
	}
}

/* ---- commands -------------------------------------------------------------------- */

static void run_words(struct ga_shell *s, const struct ga_simple *c, size_t at, int depth);

/* What is done with an argument. */
enum how { NOTHING, GIVEN, GIVEN_OR_MORE, BARE, ON_PATH, DIRECTORY, TEXT, CODE, MODULE, PARTS };

static void take(struct ga_shell *s, enum how how, const char *word)
{
	static const char *const ends[] = { ".*", "/index.*", "/__main__.*" };
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	if (how == GIVEN || how == GIVEN_OR_MORE || how == PARTS) {
		cleanup_free char *below = ga_strf("%s/*", word);

		given(s, how == PARTS ? below : word);
	}
	/* "node tools/lint" runs tools/lint.js, or tools/lint/index.js */
	for (size_t i = 0; how == GIVEN_OR_MORE && i < GA_NELEMS(ends); i++) {
		cleanup_free char *more = ga_strf("%s%s", word, ends[i]);

		if (!strchr(ga_path_base(word), '.'))
			ga_shell_add(s, GA_WORD_BARE, more);
	}
	if (how == BARE)
		bare(s, word);
	if (how == ON_PATH)
		search_path(s, word);
	if (how == DIRECTORY)
		ga_strv_push(&s->out->dirs, word);
	if (how == MODULE) {
		cleanup_free char *module = ga_strdup(word);

		for (char *p = module; *p; p++)
			*p = *p == '.' ? '/' : *p;
		ga_words_add(s->out, GA_WORD_MODULE, module, "");
	}
	/* what has blanks in it may be a whole command */
	if (how != TEXT && how != CODE && how != BARE)
		return;
	ga_shell_expand(s, word, &all);
	for (size_t i = 0; i < all.n; i++)
		if (how == CODE)
			ga_words_of_code(all.v[i], s->home, s->out);
		else if (how == TEXT || strpbrk(all.v[i], " \t\n"))
			run_text(s, all.v[i]);
}

/* "-c", or "-ec" */
static bool ends_in_letter(const char *option, const char *letters)
{
	size_t n = strlen(option);

	return n > 1 && n < 6 && option[1] != '-' && strchr(letters, option[n - 1]);
}

/* What is done with the argument behind this option. */
static enum how with_option(enum ga_command_kind kind, const char *name, const char *option)
{
	static const char loads[] = "-c --config --rulesdir --plugin --require -r --load-plugins "
				    "--import --loader --config-file --rcfile --init-hook";
	size_t n = strcspn(option, "=");

	if (kind == GA_COMMAND_SHELL && ends_in_letter(option, "c"))
		return TEXT;
	if (kind == GA_COMMAND_INTERPRETER && ends_in_letter(option, "ceEp"))
		return CODE;
	if (kind == GA_COMMAND_INTERPRETER && !strcmp(option, "-m"))
		return MODULE;
	if (kind == GA_COMMAND_CHECK && ga_has_word_n(loads, option, n))
		return BARE;
	if (kind == GA_COMMAND_OTHER && ga_has_word("-C --prefix --cwd --dir --directory", option))
		return DIRECTORY;
	if (kind == GA_COMMAND_OTHER && ga_has_word("make gmake just ninja", name) &&
	    ends_in_letter(option, "f"))
		return GIVEN;
	return NOTHING;
}

static enum how with_argument(enum ga_command_kind kind)
{
	static const enum how hows[] = {
		[GA_COMMAND_OTHER] = BARE,
		[GA_COMMAND_QUIET] = NOTHING,
		[GA_COMMAND_CHECK] = NOTHING,
		[GA_COMMAND_SHELL] = GIVEN,
		[GA_COMMAND_INTERPRETER] = GIVEN_OR_MORE,
		[GA_COMMAND_SOURCE] = GIVEN,
		[GA_COMMAND_EVAL] = GIVEN,
		[GA_COMMAND_WRAPPER] = NOTHING,
		[GA_COMMAND_XARGS] = NOTHING,
		[GA_COMMAND_PARTS] = PARTS,
		[GA_COMMAND_CD] = DIRECTORY,
		[GA_COMMAND_PATH] = ON_PATH,
		[GA_COMMAND_VALUE] = NOTHING,
	};

	return hows[kind];
}

static void arguments(struct ga_shell *s, const struct ga_simple *c, size_t at,
		      enum ga_command_kind kind, const char *name, int depth)
{
	for (size_t i = at + 1; i < c->words.n; i++) {
		const char *word = c->words.v[i];
		const char *value = *word == '-' ? strchr(word, '=') : NULL;
		enum how how = *word == '-' ? with_option(kind, name, word) : with_argument(kind);

		if (value)
			take(s, how == NOTHING ? with_argument(kind) : how, value + 1);
		else if (*word != '-')
			take(s, how, word);
		else if (how != NOTHING && i + 1 < c->words.n)
			take(s, how, c->words.v[++i]);
		if (kind == GA_COMMAND_EVAL)
			take(s, BARE, word);
		/* "poetry run x", "nix develop -c x" */
		if (kind == GA_COMMAND_OTHER && ga_has_word("-- exec run x dlx -c --call", word))
			run_words(s, c, i + 1, depth + 1);
	}
}

/* Skip options, numbers and assignments in front of the command that a wrapper runs. */
static size_t wrapped(const struct ga_simple *c, size_t at)
{
	while (++at < c->words.n) {
		const char *w = c->words.v[at];

		if (*w != '-' && !isdigit((unsigned char)*w) && !ga_shell_assigned(w))
			break;
	}
	return at;
}

static bool is_quiet_at(const struct ga_simple *c, size_t at)
{
	return at >= c->words.n || ga_command_is_quiet(ga_path_base(c->words.v[at]));
}

/* find DIR -exec COMMAND {} + */
static void run_find(struct ga_shell *s, const struct ga_simple *c, size_t at, int depth)
{
	for (size_t i = at + 1; i < c->words.n; i++) {
		if (!ga_has_word("-exec -execdir -ok -okdir", c->words.v[i]) ||
		    is_quiet_at(c, i + 1))
			continue;
		run_words(s, c, i + 1, depth + 1);
		for (size_t k = at + 1; k < i && c->words.v[k][0] != '-'; k++) {
			cleanup_free char *below = ga_strf("%s/**", c->words.v[k]);

			given(s, below);
		}
	}
}

/* What a command of an .envrc reads without being given it, and the tool that it is. */
static void by_name(struct ga_shell *s, const struct ga_simple *c, size_t at, const char *name)
{
	const char *first = at + 1 < c->words.n ? c->words.v[at + 1] : "";
	const char *files = ga_command_files(name, first);
	cleanup_buf struct ga_buf more = GA_BUF_INIT;
	cleanup_free char *copy = ga_strdup(files ? files : "");
	char *save = NULL;

	for (char *f = strtok_r(copy, " ", &save); f; f = strtok_r(NULL, " ", &save))
		ga_words_add(s->out, GA_WORD_GIVEN, f, "");
	for (size_t i = at + 1; i < c->words.n && more.len < 256; i++)
		if (!strpbrk(c->words.v[i], "\1\2"))
			ga_buf_addf(&more, "%s%s", more.len ? " " : "", c->words.v[i]);
	if (!strchr(name, '/'))
		ga_words_add(s->out, GA_WORD_TOOL, name, more.ptr);
}

/* The command `name`, which stands at `at`. */
static void run_named(struct ga_shell *s, const struct ga_simple *c, size_t at, const char *name,
		      int depth)
{
	enum ga_command_kind kind = ga_command_kind(name);
	bool runs_input = kind == GA_COMMAND_SHELL || kind == GA_COMMAND_INTERPRETER ||
			  (kind == GA_COMMAND_XARGS && !is_quiet_at(c, wrapped(c, at)));

	/* "command -v x" only looks for it */
	if (!strcmp(name, "command") && at + 1 < c->words.n &&
	    ga_has_word("-v -V", c->words.v[at + 1]))
		return;
	arguments(s, c, at, kind, name, depth);
	for (size_t i = 0; runs_input && i < c->inputs.n; i++)
		given(s, c->inputs.v[i]);
	if (kind == GA_COMMAND_WRAPPER || kind == GA_COMMAND_XARGS)
		run_words(s, c, wrapped(c, at), depth + 1);
	else if (kind == GA_COMMAND_VALUE)
		run_words(s, c, at + 1, depth + 1);
	else if (!strcmp(name, "find"))
		run_find(s, c, at, depth);
	if (kind != GA_COMMAND_QUIET)
		by_name(s, c, at, name);
}

/* An assignment's value may be a command that is run later, and names a file that is read then. */
static void run_assignment(struct ga_shell *s, const char *word)
{
	size_t n = ga_shell_assigned(word);
	const char *value = word + n + (word[n] == '+') + 1;
	cleanup_free char *first = ga_strndup(value, strcspn(value, " \t"));
	enum ga_command_kind kind = ga_command_kind(ga_path_base(first));

	if (n == 4 && !strncmp(word, "PATH", 4))
		search_path(s, value);
	else if (kind == GA_COMMAND_SHELL || kind == GA_COMMAND_INTERPRETER)
		run_text(s, value);
	else if (ga_has_word_n(
			 "BASH_ENV ENV PYTHONSTARTUP LD_PRELOAD PERL5OPT RUBYOPT NODE_OPTIONS "
			 "GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF EDITOR PAGER",
			 word, n))
		given(s, value);
}

/* The command whose first word stands at `at`. */
static void run_words(struct ga_shell *s, const struct ga_simple *c, size_t at, int depth)
{
	static const char reserved[] = "if then elif else do while until ! { } time fi done esac "
				       "coproc function and or not begin end @ -";
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	for (; at < c->words.n; at++) {
		const char *w = c->words.v[at];

		if (ga_shell_assigned(w))
			run_assignment(s, w);
		else if (!ga_has_word(reserved, w))
			break;
	}
	if (at >= c->words.n || depth > DEPTH_MAX ||
	    ga_has_word("for case select in", c->words.v[at]))
		return;
	note_lines(s, c->words.v[at]);
	ga_shell_expand(s, c->words.v[at], &all);
	for (size_t i = 0; i < all.n; i++) {
		const char *name = all.v[i] + (s->make ? strspn(all.v[i], "@-+") : 0);

		if (strpbrk(name, " \t\n"))
			run_text(s, name);
		else if (strchr(name, '/'))
			ga_words_add_path(s->out, GA_WORD_BARE, name, s->home);
		run_named(s, c, at, ga_path_base(name), depth);
	}
}

/* ---- pipelines ----------------------------------------------------------------------- */

/* Does the command execute what comes by its input? 1: yes; -1: if it executes the lines that it
 * reads into a variable. */
static int executes_input(const struct ga_simple *c)
{
	enum ga_command_kind kind;
	size_t at = 0;

	while (at < c->words.n && (ga_shell_assigned(c->words.v[at]) ||
				   ga_has_word("sudo env exec command", c->words.v[at])))
		at++;
	if (at >= c->words.n)
		return 0;
	kind = ga_command_kind(ga_path_base(c->words.v[at]));
	if (kind == GA_COMMAND_XARGS)
		return !is_quiet_at(c, wrapped(c, at));
	if (kind == GA_COMMAND_SHELL || kind == GA_COMMAND_INTERPRETER || kind == GA_COMMAND_SOURCE)
		return 1;
	return ga_has_word("while until read mapfile readarray done", c->words.v[at]) ? -1 : 0;
}

static void piped(struct ga_shell *s, const struct ga_simple *c, int how)
{
	for (size_t i = 1; i < c->words.n; i++) {
		if (how > 0)
			given(s, c->words.v[i]);
		else
			ga_strv_push(&s->lists, c->words.v[i]);
	}
	for (size_t i = 0; i < c->inputs.n; i++)
		ga_strv_push(&s->lists, c->inputs.v[i]);
}

/* The values that are assigned anywhere in the text, before any use of them is looked at. */
static void collect(struct ga_shell *s, const struct ga_lexed *x)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct ga_strv *w = &x->v[i].words;
		size_t at = 0;

		while (at < w->n && ga_has_word("do then else while until if { !", w->v[at]))
			at++;
		if (at + 2 < w->n && ga_has_word("for select foreach", w->v[at]))
			for (size_t k = at + 3; k < w->n; k++) {
				cleanup_free char *a = ga_strf("%s=%s", w->v[at + 1], w->v[k]);

				ga_shell_assign(s, a);
			}
		else if (at < w->n && ga_has_word("read mapfile readarray", w->v[at]))
			for (size_t k = at + 1; k < w->n; k++)
				ga_strv_push(&s->read, w->v[k]);
		else
			for (size_t k = at; k < w->n; k++)
				ga_shell_assign(s, w->v[k]);
	}
}

static void run_lexed(struct ga_shell *s, const struct ga_lexed *x)
{
	collect(s, x);
	s->out->cut |= x->cut;
	for (size_t i = 0; i < x->n; i++) {
		int how = executes_input(&x->v[i]);

		run_words(s, &x->v[i], 0, 0);
		for (size_t k = i; how && k-- && x->v[k].piped;)
			piped(s, &x->v[k], how);
		if (how < 0)
			for (size_t k = 0; k < x->v[i].inputs.n; k++)
				ga_strv_push(&s->lists, x->v[i].inputs.v[k]);
	}
	for (size_t i = 0; i < x->substitutions.n; i++)
		run_text(s, x->substitutions.v[i]);
}

static void run_text(struct ga_shell *s, const char *text)
{
	cleanup_lexed struct ga_lexed x = { .v = NULL };

	if (s->depth >= DEPTH_MAX)
		return;
	s->depth++;
	ga_lex(text, s->make, &x);
	run_lexed(s, &x);
	s->depth--;
}

static void run_all(const char *text, const char *home, bool make, struct ga_words *ret)
{
	struct ga_shell s = { .home = home, .make = make, .out = ret };
	cleanup_free char *plain = ga_strdup(text);

	for (char *p = plain; *p; p++)
		if (*p >= GA_LEX_VARIABLE && *p <= GA_WORD_UNKNOWN)
			*p = '?';
	run_text(&s, plain);
	for (size_t i = 0; s.executes_lines && i < s.lists.n; i++)
		given(&s, s.lists.v[i]);
	ga_strv_release(&s.names);
	ga_strv_release(&s.values);
	ga_strv_release(&s.read);
	ga_strv_release(&s.lists);
}

void ga_words_of_shell(const char *text, const char *home, struct ga_words *ret)
{
	run_all(text, home, false, ret);
}

void ga_words_of_make(const char *text, const char *home, struct ga_words *ret)
{
	run_all(text, home, true, ret);
}
