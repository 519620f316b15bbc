/* SPDX-License-Identifier: MIT
 *
 * Find the files that shell commands execute.
 */
#include <ctype.h>
#include <string.h>

#include "reach/reach-internal.h"
#include "ga/base/path.h"
#include "reach-internal.h"
#include "words-internal.h"

static const char blank[] = " \t\n";

/* ---- values ----------------------------------------------------------------------- */

size_t ga_shell_name(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* The length of the name in an assignment; 0: not an assignment. */
static size_t assigned(const char *word)
{
	size_t n = isdigit((unsigned char)*word) ? 0 : ga_shell_name(word);

	return n && (word[n] == '=' || !strncmp(word + n, "+=", 2)) ? n : 0;
}

static void assign(struct ga_shell *s, const char *name, size_t n, const char *value)
{
	if (s->out || s->names.n >= GA_SHELL_VALUES_MAX)
		return;
	ga_strv_push_n(&s->names, name, n);
	ga_strv_push(&s->values, value);
}

void ga_shell_values(const struct ga_shell *s, const char *name, size_t n, struct ga_strv *ret)
{
	static const char unknown[] = { GA_WORD_UNKNOWN, '\0' };

	if (s->home && n == 4 && !strncmp(name, "HOME", 4))
		ga_strv_push(ret, s->home);
	for (size_t i = 0; i < s->names.n && ret->n < GA_SHELL_ALTERNATIVES_MAX; i++)
		if (!strncmp(s->names.v[i], name, n) && !s->names.v[i][n] &&
		    !ga_strv_has(ret, s->values.v[i]))
			ga_strv_push(ret, s->values.v[i]);
	if (!ret->n)
		ga_strv_push(ret, unknown);
}

/* The files that `read` reads a variable from stand for their lines. */
static void bind(struct ga_shell *s, const struct ga_strv *files)
{
	for (size_t i = 0; files && i < s->read.n; i++)
		for (size_t k = 0; k < files->n; k++)
			assign(s, s->read.v[i], strlen(s->read.v[i]), files->v[k]);
}

/* ---- what is executed ------------------------------------------------------------- */

static void put(struct ga_shell *s, enum ga_word_kind kind, const char *path)
{
	if (s->out && *path != '-')
		ga_words_add_path(s->out, kind, path, s->home);
}

static void put_all(struct ga_shell *s, enum ga_word_kind kind, const struct ga_strv *paths)
{
	for (size_t i = 0; paths && i < paths->n; i++)
		put(s, kind, paths->v[i]);
}

/* PATH=a:b:$PATH */
static void search_path(struct ga_shell *s, const char *value)
{
	cleanup_free char *copy = ga_strdup(value);
	char *save = NULL;

	for (char *d = strtok_r(copy, ":", &save); d; d = strtok_r(NULL, ":", &save))
		put(s, GA_WORD_PATH, d);
}

/* "node tools/lint" runs tools/lint.js, or tools/lint/index.js */
static void interpreted(struct ga_shell *s, const char *word)
{
	static const char *const ends[] = { ".*", "/index.*", "/__main__.*" };

	put(s, GA_WORD_GIVEN, word);
	for (size_t i = 0; i < GA_NELEMS(ends) && !strchr(ga_path_base(word), '.'); i++) {
		cleanup_free char *more = ga_strf("%s%s", word, ends[i]);

		put(s, GA_WORD_BARE, more);
	}
}

/* What is done with an argument of a command of this kind. */
static void argument(struct ga_shell *s, enum ga_command_kind kind, const char *word)
{
	cleanup_free char *below = NULL;

	switch (kind) {
	case GA_COMMAND_OTHER:
		/* what has blanks in it may be a whole command; globs are what a tool looks at */
		if (strpbrk(word, blank))
			ga_shell_text(s, word);
		else if (ga_word_like_script(word) && !strpbrk(word, "*?"))
			put(s, GA_WORD_BARE, word);
		return;
	case GA_COMMAND_EVAL:
		ga_shell_text(s, word);
		if (!strpbrk(word, blank))
			put(s, GA_WORD_GIVEN, word);
		return;
	case GA_COMMAND_SHELL:
	case GA_COMMAND_SOURCE:
		put(s, GA_WORD_GIVEN, word);
		return;
	case GA_COMMAND_INTERPRETER:
		interpreted(s, word);
		return;
	case GA_COMMAND_CODE:
		if (s->out)
			ga_words_of_code(word, s->home, s->out);
		return;
	case GA_COMMAND_MODULE:
		if (s->out)
			ga_words_add_module(s->out, word);
		return;
	case GA_COMMAND_PARTS:
		below = ga_strf("%s/*", word);
		put(s, GA_WORD_GIVEN, below);
		return;
	case GA_COMMAND_CD:
		if (s->out)
			ga_strv_push(&s->out->dirs, word);
		return;
	case GA_COMMAND_PATH:
		search_path(s, word);
		return;
	case GA_COMMAND_QUIET:
	case GA_COMMAND_CHECK:
	case GA_COMMAND_WRAPPER:
	case GA_COMMAND_XARGS:
	case GA_COMMAND_VALUE:
		return;
	}
}

/* "-c", or "-ec" */
static bool ends_in_letter(const char *option, const char *letters)
{
	size_t n = strlen(option);

	return n > 1 && n < 6 && option[1] != '-' && strchr(letters, option[n - 1]);
}

/* The kind of command whose argument the one of this option is; QUIET: it has none. */
static enum ga_command_kind option_kind(enum ga_command_kind kind, const char *name,
					const char *option)
{
	static const char loads[] = "-c --config --rulesdir --plugin --require -r --load-plugins "
				    "--import --loader --config-file --rcfile --init-hook";

	if (kind == GA_COMMAND_SHELL && ends_in_letter(option, "c"))
		return GA_COMMAND_EVAL;
	if (kind == GA_COMMAND_INTERPRETER && ends_in_letter(option, "ceEp"))
		return GA_COMMAND_CODE;
	if (kind == GA_COMMAND_INTERPRETER && !strcmp(option, "-m"))
		return GA_COMMAND_MODULE;
	if (kind == GA_COMMAND_CHECK && ga_has_word_n(loads, option, strcspn(option, "=")))
		return GA_COMMAND_OTHER;
	if (kind == GA_COMMAND_OTHER && ga_has_word("-C --prefix --cwd --dir --directory", option))
		return GA_COMMAND_CD;
	if (ga_has_word("make gmake just ninja", name) && ends_in_letter(option, "f"))
		return GA_COMMAND_SOURCE;
	return GA_COMMAND_QUIET;
}

static void arguments(struct ga_shell *s, const struct ga_command *c, size_t at,
		      enum ga_command_kind kind, const char *name)
{
	enum ga_command_kind next = kind;

	for (size_t i = at + 1; i < c->n; i++) {
		const char *word = c->v[i].v[0], *value = *word == '-' ? strchr(word, '=') : NULL;

		if (*word == '-' && !value) {
			next = option_kind(kind, name, word);
			next = next == GA_COMMAND_QUIET ? kind : next;
		} else if (value) {
			next = option_kind(kind, name, word);
			argument(s, next == GA_COMMAND_QUIET ? kind : next, value + 1);
			next = kind;
		} else {
			for (size_t k = 0; k < c->v[i].n; k++)
				argument(s, next, c->v[i].v[k]);
			next = kind;
		}
		/* "poetry run x", "nix develop -c x" */
		if (kind == GA_COMMAND_OTHER && ga_has_word("-- exec run x dlx -c --call", word))
			ga_shell_run(s, c, i + 1, NULL);
	}
}

void ga_shell_printed(const struct ga_command *c, size_t at, bool all, struct ga_strv *ret)
{
	const char *name = c->n ? c->v[at ? at - 1 : 0].v[0] : "";
	bool lists = ga_has_word("ls find", name), any = false;

	all |= ga_command_kind(name) == GA_COMMAND_QUIET && strcmp(name, "git") != 0;
	for (size_t i = at; i < c->n && ret->n < GA_SHELL_VALUES_MAX; i++) {
		const char *word = c->v[i].v[0];

		if (any && *word == '-' && !strcmp(name, "find"))
			break; /* its conditions */
		if (*word == '-' || (!all && !strpbrk(word, "/.*")))
			continue;
		any = i > 0;
		ga_strv_extend(ret, &c->v[i]);
		for (size_t k = 0; lists && any && k < c->v[i].n; k++)
			ga_strv_pushf(ret, "%s/**", c->v[i].v[k]);
	}
	ga_strv_extend(ret, &c->inputs);
}

/* Where the command is that a wrapper runs: behind options, numbers and assignments. */
static size_t wrapped(const struct ga_command *c, size_t at)
{
	while (++at < c->n) {
		const char *w = c->v[at].v[0];

		if (*w != '-' && !isdigit((unsigned char)*w) && !assigned(w))
			break;
	}
	return at;
}

/* Does the command at `at` only read or check what it is given? */
static bool is_quiet_at(const struct ga_command *c, size_t at)
{
	enum ga_command_kind kind =
		at < c->n ? ga_command_kind(ga_path_base(c->v[at].v[0])) : GA_COMMAND_QUIET;

	return kind == GA_COMMAND_QUIET || kind == GA_COMMAND_CHECK;
}

/* find DIR -exec COMMAND {} + */
static void find(struct ga_shell *s, const struct ga_command *c, size_t at)
{
	cleanup_strv struct ga_strv found = GA_STRV_INIT;

	ga_shell_printed(c, at + 1, false, &found);
	for (size_t i = at + 1; i < c->n; i++)
		if (ga_has_word("-exec -execdir -ok -okdir", c->v[i].v[0]) &&
		    !is_quiet_at(c, i + 1)) {
			ga_shell_run(s, c, i + 1, NULL);
			put_all(s, GA_WORD_GIVEN, &found);
		}
}

/* The tool that it is, and what a command of an .envrc reads without being given it. */
static void by_name(struct ga_shell *s, const struct ga_command *c, size_t at, const char *name)
{
	const char *files = ga_command_files(name, at + 1 < c->n ? c->v[at + 1].v[0] : "");
	cleanup_free char *copy = ga_strdup(files ? files : "");
	cleanup_buf struct ga_buf more = GA_BUF_INIT;
	char *save = NULL;

	for (char *f = strtok_r(copy, " ", &save); f; f = strtok_r(NULL, " ", &save))
		put(s, GA_WORD_GIVEN, f);
	for (size_t i = at + 1; i < c->n && more.len < 256; i++)
		if (!strchr(c->v[i].v[0], GA_WORD_UNKNOWN))
			ga_buf_addf(&more, "%s%s", more.len ? " " : "", c->v[i].v[0]);
	if (s->out && *name && *name != GA_WORD_UNKNOWN)
		ga_words_add(s->out, GA_WORD_TOOL, name, more.ptr);
}

/* The command at `at`, if it is `called`. `input`: what comes by a pipe. */
static void run_as(struct ga_shell *s, const struct ga_command *c, size_t at, const char *called,
		   const struct ga_strv *input)
{
	const char *name = ga_path_base(called);
	enum ga_command_kind kind = ga_command_kind(name);
	bool executes = kind == GA_COMMAND_SHELL || kind == GA_COMMAND_INTERPRETER ||
			kind == GA_COMMAND_SOURCE ||
			(kind == GA_COMMAND_XARGS && !is_quiet_at(c, wrapped(c, at)));

	if (strpbrk(called, blank))
		ga_shell_text(s, called);
	else if (strchr(called, '/'))
		put(s, GA_WORD_BARE, called);
	/* "command -v x" only looks for it */
	if (!strcmp(name, "command") && at + 1 < c->n && ga_has_word("-v -V", c->v[at + 1].v[0]))
		return;
	arguments(s, c, at, kind, name);
	if (executes) {
		put_all(s, GA_WORD_GIVEN, input);
		put_all(s, GA_WORD_GIVEN, &c->inputs);
	}
	if (kind == GA_COMMAND_WRAPPER || kind == GA_COMMAND_XARGS)
		ga_shell_run(s, c, wrapped(c, at), input);
	else if (kind == GA_COMMAND_VALUE)
		ga_shell_run(s, c, at + 1, input);
	else if (!strcmp(name, "find"))
		find(s, c, at);
	if (ga_has_word("read mapfile readarray", name)) {
		for (size_t i = at + 1; i < c->n && !s->out; i++)
			ga_strv_push(&s->read, c->v[i].v[0]);
		bind(s, input);
		bind(s, &c->inputs);
	}
	if (kind != GA_COMMAND_QUIET)
		by_name(s, c, at, name);
}

/* An assignment's value may be a command that is run later, and names a file that is read then. */
static void run_assignment(struct ga_shell *s, const char *word)
{
	static const char files[] = "BASH_ENV ENV PYTHONSTARTUP LD_PRELOAD PERL5OPT RUBYOPT "
				    "NODE_OPTIONS GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF "
				    "EDITOR PAGER";
	size_t n = assigned(word);
	const char *value = word + n + (word[n] == '+') + 1;
	cleanup_free char *first = ga_strndup(value, strcspn(value, blank));
	enum ga_command_kind kind = ga_command_kind(ga_path_base(first));

	assign(s, word, n, value);
	if (n == 4 && !strncmp(word, "PATH", 4))
		search_path(s, value);
	else if (kind == GA_COMMAND_SHELL || kind == GA_COMMAND_INTERPRETER)
		ga_shell_text(s, value);
	else if (ga_has_word_n(files, word, n))
		put(s, GA_WORD_GIVEN, value);
}

void ga_shell_run(struct ga_shell *s, const struct ga_command *c, size_t at,
		  const struct ga_strv *input)
{
	static const char reserved[] = "if then elif else do while until ! { } time fi done esac "
				       "coproc function and or not begin end @ -";
	const char *first = "";

	for (; at < c->n; at++) {
		first = c->v[at].v[0];
		if (!strcmp(first, "done"))
			bind(s, &c->inputs);
		if (!assigned(first) && !ga_has_word(reserved, first))
			break;
		for (size_t i = 0; assigned(first) && i < c->v[at].n; i++)
			run_assignment(s, c->v[at].v[i]);
	}
	s->cut |= s->depth >= GA_SHELL_DEPTH_MAX;
	if (at >= c->n || s->cut)
		return;
	if (ga_has_word("for select foreach", first))
		for (size_t i = at + 3; i < c->n; i++)
			for (size_t k = 0; k < c->v[i].n; k++)
				assign(s, c->v[at + 1].v[0], strlen(c->v[at + 1].v[0]),
				       c->v[i].v[k]);
	if (ga_has_word("for select foreach case in", first))
		return;
	s->depth++;
	for (size_t i = 0; i < c->v[at].n && !s->cut; i++) {
		const char *name = c->v[at].v[i] + strspn(c->v[at].v[i], "@+");

		s->cut |= ++s->work > GA_SHELL_WORK_MAX;
		/* "$(Q)sh": what is in front may be nothing */
		run_as(s, c, at, name + (*name == GA_WORD_UNKNOWN && name[1] != '/'), input);
	}
	s->depth--;
}

void ga_command_release(struct ga_command *c)
{
	for (size_t i = 0; i < c->n; i++)
		ga_strv_release(&c->v[i]);
	free(c->v);
	ga_strv_release(&c->inputs);
	*c = (struct ga_command){ .v = NULL };
}

static void shell_release(struct ga_shell *s)
{
	s->out->cut |= s->cut;
	ga_strv_release(&s->names);
	ga_strv_release(&s->values);
	ga_strv_release(&s->read);
}

void ga_words_of_shell(const char *shell, const char *home, struct ga_words *ret)
{
	struct ga_shell s = { .home = home };

	/* values first, which a function before them may use */
	ga_shell_text(&s, shell);
	s.out = ret;
	ga_shell_text(&s, shell);
	shell_release(&s);
}

/* The same of one command, as code has it in a list. */
static void ga_words_of_command(const struct ga_strv *words, const char *home, struct ga_words *ret)
{
	struct ga_shell s = { .home = home, .out = ret };
	struct ga_command c = { .v = NULL };

	for (size_t i = 0; i < words->n; i++) {
		GA_GROW(c.v, c.n, c.cap);
		c.v[c.n] = (struct ga_strv)GA_STRV_INIT;
		ga_strv_push(&c.v[c.n++], words->v[i]);
	}
	ga_shell_run(&s, &c, 0, NULL);
	ga_command_release(&c);
	shell_release(&s);
}

/* ---- programs in other languages ---- */

enum { STRING_MAX = 4096, IDENT_MAX = 32 };

struct code {
	const char *home;
	struct ga_words *out;
	struct ga_strv list; /* strings of the same list or call */
};

/* What a template puts in is not known. */
static char *without_templates(const char *s)
{
	struct ga_buf b = GA_BUF_INIT;

	while (*s) {
		size_t skip = strspn(s, "$#%");
		const char *end = s[skip] == '{' ? strchr(s + skip, '}') : NULL;

		if (!end) {
			ga_buf_addch(&b, *s++);
			continue;
		}
		ga_buf_addch(&b, GA_WORD_UNKNOWN);
		s = end + 1;
	}
	return ga_buf_steal(&b);
}

static void end_list(struct code *c)
{
	ga_words_of_command(&c->list, c->home, c->out);
	ga_strv_release(&c->list);
}

/* `ident`: the word that the string is an argument of. */
static void one_string(struct code *c, const char *ident, const char *text, size_t n)
{
	static const char loads[] = "load include include_once require_once dofile do source "
				    "execfile run_path loadfile instance_eval";
	cleanup_free char *raw = ga_strndup(text, n), *s = without_templates(raw);

	if (!n || n > STRING_MAX)
		return;
	ga_strv_push(&c->list, s);
	if (strpbrk(s, " \t\n"))
		return;
	if (!strncmp(s, "./", 2) || !strncmp(s, "../", 3) ||
	    ga_has_word("require require_relative import from", ident))
		ga_words_add_module(c->out, s);
	/* whatever the list's first string would do with it */
	if (ga_has_word(loads, ident))
		ga_words_add_path(c->out, GA_WORD_GIVEN, s, c->home);
	else if (ga_word_like_script(s) && !strpbrk(s, "*?<>|"))
		ga_words_add_path(c->out, GA_WORD_BARE, s, c->home);
}

/* The end of a string whose opening quote is at `s`; NULL: it has none on its line. */
static const char *string_end(const char *s)
{
	char quote = *s++;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (*s == quote)
			return s;
		else if (*s == '\n' && quote != '`')
			return NULL;
	}
	return NULL;
}

/* import a.b, c; from a.b import c; use A::B */
static void import_line(struct code *c, const char *line, size_t n)
{
	static const char name[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789_.:";
	cleanup_free char *copy = ga_strndup(line, n);
	char *save = NULL, *word = strtok_r(copy, " \t,;()", &save), *from = NULL;

	if (!word || !ga_has_word("import from use", word))
		return;
	for (char *w; (w = strtok_r(NULL, " \t,;()", &save));) {
		cleanup_free char *both = from ? ga_strf("%s.%s", from, w) : ga_strdup(w);

		if (ga_has_word("as import from", w) || w[strspn(w, name)])
			continue;
		/* "from . import x" */
		ga_words_add_module(c->out, both + (from && from[strspn(from, ".")] == '\0'));
		from = strcmp(word, "from") != 0 || from ? from : w;
	}
}

/* The word before a string, if only what opens a list or call is between. */
static void ident_before(const char *text, const char *at, char ret[IDENT_MAX])
{
	const char *start;
	size_t n;

	while (at > text && strchr("([, \t", at[-1]))
		at--;
	for (start = at; start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_');)
		start--;
	n = (size_t)(at - start) < IDENT_MAX ? (size_t)(at - start) : 0;
	memcpy(ret, start, n);
	ret[n] = '\0';
}

void ga_words_of_code(const char *text, const char *home, struct ga_words *ret)
{
	struct code c = { .home = home, .out = ret };
	const char *last = text; /* the end of the string before */

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		import_line(&c, line + strspn(line, " \t"), strcspn(line, "\n"));
	for (const char *p = text; *p; p++) {
		const char *end = strchr("'\"`", *p) ? string_end(p) : NULL;
		char ident[IDENT_MAX];

		if (!end)
			continue;
		/* another list, or another call */
		if (last + strspn(last, ", \t\n") != p)
			end_list(&c);
		last = end + 1;
		ident_before(text, p, ident);
		/* the key of a map names nothing */
		if (end[1 + strspn(end + 1, " \t")] != ':')
			one_string(&c, ident, p + 1, (size_t)(end - p - 1));
		p = end;
	}
	end_list(&c);
}
