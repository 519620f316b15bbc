/* SPDX-License-Identifier: MIT
 *
 * Programs in any language: what their strings name, and what they import.
 */
#include <ctype.h>
#include <string.h>

#include "ga/path.h"
#include "words.h"

enum { STRING_MAX = 4096, IDENT_MAX = 32 };

struct code {
	const char *home;
	struct ga_words *out;
	char ident[IDENT_MAX]; /* the word before the string, if only "([, " are between */
	struct ga_buf last;    /* the string before it, in the same list or call */
	char before;           /* the character in front of the string */
};

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

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

static void add_module(struct code *c, const char *name, const char *separator)
{
	struct ga_buf b = GA_BUF_INIT;

	/* Python's leading dots are directories */
	if (*separator == '.' && *name == '.')
		for (ga_buf_adds(&b, "."), name++; *name == '.'; name++)
			ga_buf_adds(&b, b.len > 1 ? "/.." : ".");
	if (b.len && *name)
		ga_buf_addch(&b, '/');
	while (*name) {
		size_t n = strlen(separator);

		if (!strncmp(name, separator, n)) {
			ga_buf_addch(&b, '/');
			name += n;
		} else {
			ga_buf_addch(&b, *name++);
		}
	}
	if (b.len)
		ga_words_add(c->out, GA_WORD_MODULE, b.ptr, "");
	ga_buf_release(&b);
}

static bool is_interpreter(const char *name)
{
	enum ga_command_kind kind = ga_command_kind(ga_path_base(name));

	return kind == GA_COMMAND_SHELL || kind == GA_COMMAND_INTERPRETER;
}

/* A string that is one word. */
static void one_word(struct code *c, const char *s)
{
	static const char loads[] = "load include include_once require_once dofile do source "
				    "execfile run_path loadfile instance_eval";

	if (!strncmp(s, "./", 2) || !strncmp(s, "../", 3) ||
	    ga_has_word("require require_relative import from", c->ident))
		add_module(c, s, strchr(s, '/') ? "\n" : ".");
	if (is_interpreter(c->last.ptr) || ga_has_word(loads, c->ident))
		ga_words_add_path(c->out, GA_WORD_GIVEN, s, c->home);
	else if (ga_word_like_script(s) && !strpbrk(s, "*?<>|"))
		ga_words_add_path(c->out, GA_WORD_BARE, s, c->home);
	else if (c->before == '[' || c->before == '(' || c->before == ':')
		ga_words_add(c->out, GA_WORD_TOOL, s, "");
	/* ["npm", "test"] */
	if (c->last.len && c->before != '[' && c->before != '(')
		ga_words_add(c->out, GA_WORD_TOOL, c->last.ptr, s);
}

static void one_string(struct code *c, const char *text, size_t n)
{
	cleanup_free char *raw = ga_strndup(text, n), *s = without_templates(raw);

	if (!n || n > STRING_MAX)
		return;
	if (strpbrk(s, " \t\n"))
		ga_words_of_shell(s, c->home, c->out);
	else
		one_word(c, s);
	ga_buf_clear(&c->last);
	ga_buf_adds(&c->last, s);
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
	cleanup_free char *copy = ga_strndup(line, n);
	char *save = NULL, *word = strtok_r(copy, " \t,;()", &save), *from = NULL;
	bool perl = word && !strcmp(word, "use");

	if (!word || !ga_has_word("import from use", word))
		return;
	for (char *w = strtok_r(NULL, " \t,;()", &save); w; w = strtok_r(NULL, " \t,;()", &save)) {
		if (!strcmp(w, "as") && strtok_r(NULL, " \t,;()", &save))
			continue;
		if (!strcmp(w, "import") ||
		    strspn(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstu"
			      "vwxyz0123456789_.:") != strlen(w))
			continue;
		if (!strcmp(word, "from") && !from) {
			from = w;
			add_module(c, w, ".");
		} else if (from) {
			cleanup_free char *both = ga_strf(
				"%s%s%s", from, from[strlen(from) - 1] == '.' ? "" : ".", w);

			add_module(c, both, ".");
		} else {
			add_module(c, w, perl ? "::" : ".");
		}
		if (perl)
			return;
	}
}

static void remember_ident(struct code *c, const char *text, const char *at)
{
	const char *end = at, *start;

	while (end > text && strchr("([, \t", end[-1]))
		end--;
	for (start = end; start > text && is_ident(start[-1]);)
		start--;
	c->ident[0] = '\0';
	if ((size_t)(end - start) < IDENT_MAX) {
		memcpy(c->ident, start, (size_t)(end - start));
		c->ident[end - start] = '\0';
	}
	for (end = at; end > text && strchr(" \t\n", end[-1]);)
		end--;
	c->before = end > text ? end[-1] : '\0';
	/* another list, or another call */
	if (c->before != ',')
		ga_buf_clear(&c->last);
}

void ga_words_of_code(const char *text, const char *home, struct ga_words *ret)
{
	struct code c = { .home = home, .out = ret, .last = GA_BUF_INIT };

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		import_line(&c, line + strspn(line, " \t"), strcspn(line, "\n"));
	for (const char *p = text; *p; p++) {
		const char *end;

		if (!strchr("'\"`", *p))
			continue;
		end = string_end(p);
		if (!end)
			continue;
		remember_ident(&c, text, p);
		/* the key of a map names nothing */
		if (end[1 + strspn(end + 1, " \t")] != ':')
			one_string(&c, p + 1, (size_t)(end - p - 1));
		p = end;
	}
	ga_buf_release(&c.last);
}
