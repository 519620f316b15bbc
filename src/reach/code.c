/* SPDX-License-Identifier: MIT
 *
 * Programs in any language: what their strings name, and what they import.
 */
#include <ctype.h>
#include <string.h>

#include "reach/reach-internal.h"
#include "words.h"

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
