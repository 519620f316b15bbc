/* SPDX-License-Identifier: MIT
 *
 * Parse shell text into commands. A word is the set of its possible values: a variable has each
 * value that the text assigns anywhere, a substitution the words of its commands.
 */
#include <ctype.h>
#include <string.h>

#include "words-internal.h"

enum { NESTED_MAX = 64 };

/* Text up to what closes it. */
struct reader {
	struct ga_shell *s;
	const char *at;
	char close; /* ')', '}', '`', or NUL: the end */
	int parens; /* of subshells that are open */
	struct ga_strv *prints; /* where its words go; NULL: nowhere */
	bool list; /* all words: elements of an array, or a default */
	struct ga_buf literal; /* the end of the word, */
	struct ga_strv word; /* and what it may have before it */
	bool have, input, output; /* a word is open; it is a file that "<" or ">" names */
	struct ga_command c;
	struct ga_strv pipe; /* what the commands before a "|" print */
};

/* Each of what the word may be, with each of `more` behind it. */
static void multiply(struct reader *r, const struct ga_strv *more)
{
	struct ga_strv both = GA_STRV_INIT;

	for (size_t i = 0; i < r->word.n || (!i && !r->word.n); i++)
		for (size_t k = 0; k < more->n && both.n < GA_SHELL_ALTERNATIVES_MAX; k++)
			ga_strv_pushf(&both, "%s%s", r->word.n ? r->word.v[i] : "", more->v[k]);
	ga_strv_release(&r->word);
	r->word = both;
	r->s->work += both.n;
}

static void end_literal(struct reader *r)
{
	cleanup_strv struct ga_strv one = GA_STRV_INIT;

	if (!r->literal.len && r->word.n)
		return;
	ga_strv_push(&one, r->literal.ptr);
	ga_buf_clear(&r->literal);
	multiply(r, &one);
}

static void add_any(struct reader *r, const struct ga_strv *more)
{
	r->have = true;
	end_literal(r);
	if (more->n)
		multiply(r, more);
}

static void add(struct reader *r, char c)
{
	r->have = true;
	ga_buf_addch(&r->literal, c);
}

static void end_word(struct reader *r)
{
	if (!r->have)
		return;
	end_literal(r);
	if (r->input) {
		ga_strv_extend(&r->c.inputs, &r->word);
	} else if (!r->output) {
		GA_GROW(r->c.v, r->c.n, r->c.cap);
		r->c.v[r->c.n++] = r->word;
		r->word = (struct ga_strv)GA_STRV_INIT;
	}
	ga_strv_release(&r->word);
	r->have = r->input = r->output = false;
}

static void end_command(struct reader *r, char c)
{
	end_word(r);
	r->input = r->output = false;
	if (!r->c.n && !r->c.inputs.n)
		return;
	ga_shell_run(r->s, &r->c, 0, &r->pipe);
	if (r->prints)
		ga_shell_printed(&r->c, !r->list, r->list, r->prints);
	if (c == '|' || c == ')')
		ga_shell_printed(&r->c, 1, true, &r->pipe);
	else
		ga_strv_release(&r->pipe);
	ga_command_release(&r->c);
	r->s->cut |= ++r->s->work > GA_SHELL_WORK_MAX;
}

static const char *read_text(struct ga_shell *s, const char *at, char close, bool list,
			     struct ga_strv *prints);

/* What is open at `r->at` is part of the word: what its commands name, or only what they do. */
static void nested(struct reader *r, char close, bool list, struct ga_strv *prints)
{
	r->s->cut |= r->s->nested >= NESTED_MAX;
	if (r->s->cut)
		return;
	r->s->nested++;
	r->at = read_text(r->s, r->at, close, list, prints);
	r->s->nested--;
}

static void substitution(struct reader *r, char close)
{
	cleanup_strv struct ga_strv prints = GA_STRV_INIT;

	ga_shell_values(r->s, "", 0, &prints);
	nested(r, close, false, &prints);
	add_any(r, &prints);
}

/* "${NAME...}": a default is one more value. */
static void braces(struct reader *r)
{
	cleanup_strv struct ga_strv values = GA_STRV_INIT;
	size_t n = ga_shell_name(r->at);
	bool other = r->at[n] && strchr(":-=+", r->at[n]);

	ga_shell_values(r->s, r->at, n, &values);
	r->at += n + (other ? strspn(r->at + n, ":-=+") : 0);
	nested(r, '}', true, other ? &values : NULL);
	add_any(r, &values);
}

/* `r->at` is behind a '$'. */
static void dollar(struct reader *r)
{
	size_t n = isdigit((unsigned char)*r->at) ? 1 : ga_shell_name(r->at);
	cleanup_strv struct ga_strv values = GA_STRV_INIT;

	if (*r->at == '{') {
		r->at++;
		braces(r);
	} else if (*r->at == '(') {
		r->at++;
		substitution(r, ')');
	} else if (n || (*r->at && strchr("@*#?!-$<^+%", *r->at))) {
		n = n ? n : 1;
		ga_shell_values(r->s, r->at, n, &values);
		r->at += n;
		add_any(r, &values);
	}
}

static void quoted(struct reader *r, char quote)
{
	r->have = true;
	while (*r->at && *r->at != quote) {
		char c = *r->at++;

		if (quote == '"' && c == '$')
			dollar(r);
		else if (quote == '"' && c == '`')
			substitution(r, '`');
		else if (quote == '"' && c == '\\' && *r->at)
			add(r, *r->at++);
		else
			add(r, c);
	}
	r->at += *r->at != '\0';
}

static void redirection(struct reader *r, char c)
{
	/* "2>x": the number is no word */
	if (r->literal.len && strspn(r->literal.ptr, "0123456789") == r->literal.len) {
		ga_buf_clear(&r->literal);
		r->have = r->word.n > 0;
	}
	end_word(r);
	/* a here-document's lines are taken for commands, its word for nothing */
	r->output = c == '>' || *r->at == '<';
	r->input = !r->output;
	r->at += strspn(r->at, "<>&|-");
}

static void parenthesis(struct reader *r)
{
	cleanup_strv struct ga_strv elements = GA_STRV_INIT;

	if (!r->have) {
		end_command(r, '(');
		r->parens++;
		return;
	}
	/* NAME=(a b) */
	nested(r, ')', true, &elements);
	add_any(r, &elements);
}

static void read_char(struct reader *r, char c)
{
	if (c == '\\') {
		if (*r->at && *r->at != '\n')
			add(r, *r->at);
		r->at += *r->at != '\0';
	} else if (c == '\'' || c == '"') {
		quoted(r, c);
	} else if (c == '$') {
		dollar(r);
	} else if (c == '`') {
		substitution(r, c);
	} else if (c == '#' && !r->have) {
		r->at += strcspn(r->at, "\n");
	} else if (c == ' ' || c == '\t' || c == '\r') {
		end_word(r);
	} else if (c == '<' && *r->at == '(') {
		r->at++;
		substitution(r, ')');
	} else if (c == '<' || c == '>') {
		redirection(r, c);
	} else if (c == '(') {
		parenthesis(r);
	} else if (strchr("\n;&|)", c)) {
		r->parens -= c == ')' && r->parens;
		end_command(r, c == '|' && *r->at == '|' ? ';' : c);
	} else {
		add(r, c);
	}
}

/* Read to what closes it. Returns where the text continues. */
static const char *read_text(struct ga_shell *s, const char *at, char close, bool list,
			     struct ga_strv *prints)
{
	struct reader r = { .s = s, .at = at, .close = close, .list = list, .prints = prints,
			    .literal = GA_BUF_INIT };

	while (*r.at && !s->cut && (*r.at != close || r.parens))
		read_char(&r, *r.at++);
	end_command(&r, '\n');
	ga_buf_release(&r.literal);
	ga_strv_release(&r.pipe);
	return r.at + (*r.at && *r.at == close);
}

void ga_shell_text(struct ga_shell *s, const char *shell)
{
	s->cut |= s->depth >= GA_SHELL_DEPTH_MAX;
	if (s->cut)
		return;
	s->depth++;
	(void)read_text(s, shell, '\0', false, NULL);
	s->depth--;
}
