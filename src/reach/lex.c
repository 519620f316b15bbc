/* SPDX-License-Identifier: MIT */
#include "lex.h"

#include <ctype.h>
#include <string.h>

#include "ga/buf.h"

enum { COMMANDS_MAX = 20000, NESTED_MAX = 64 };

struct lexer {
	const char *at;
	bool make;
	struct ga_lexed *out;
	struct ga_buf word;
	bool have_word; /* "" is a word as well */
	bool input;     /* the next word is a file that "<" names */
	bool output;    /* ... or one that is written */
	char *array;    /* "NAME=" while its elements are read: each is taken for a value */
};

void ga_lexed_release(struct ga_lexed *x)
{
	for (size_t i = 0; i < x->n; i++) {
		ga_strv_release(&x->v[i].words);
		ga_strv_release(&x->v[i].inputs);
	}
	free(x->v);
	ga_strv_release(&x->substitutions);
	*x = (struct ga_lexed){ .v = NULL };
}

static struct ga_simple *command(struct lexer *l)
{
	if (!l->out->n) {
		GA_GROW(l->out->v, l->out->n, l->out->cap);
		l->out->v[l->out->n++] = (struct ga_simple){ .piped = false };
	}
	return &l->out->v[l->out->n - 1];
}

static void end_word(struct lexer *l)
{
	struct ga_simple *c = command(l);

	if (!l->have_word)
		return;
	if (!l->output)
		ga_strv_take(l->input ? &c->inputs : &c->words,
			     ga_strf("%s%s", l->array ? l->array : "", l->word.ptr));
	ga_buf_clear(&l->word);
	l->have_word = l->input = l->output = false;
}

static void end_command(struct lexer *l, bool piped)
{
	struct ga_simple *c;

	end_word(l);
	l->input = l->output = false;
	c = command(l);
	if (!c->words.n && !c->inputs.n)
		return;
	c->piped = piped;
	if (l->out->n >= COMMANDS_MAX) {
		l->out->cut = true;
		return;
	}
	GA_GROW(l->out->v, l->out->n, l->out->cap);
	l->out->v[l->out->n++] = (struct ga_simple){ .piped = false };
}

static void add(struct lexer *l, char c)
{
	ga_buf_addch(&l->word, c);
	l->have_word = true;
}

static void add_mark(struct lexer *l, char mark, const char *s, size_t n)
{
	ga_buf_addch(&l->word, mark);
	ga_buf_add(&l->word, s, n);
	ga_buf_addch(&l->word, GA_LEX_END);
	l->have_word = true;
}

/* The end of what is open at `s`, past its first character: a closing one that is not quoted. */
static const char *closing(const char *s, char open, char close)
{
	char quote = '\0';
	int depth = 1;

	for (; *s; s++) {
		if (*s == '\\' && quote != '\'' && s[1])
			s++;
		else if (quote)
			quote = *s == quote ? '\0' : quote;
		else if (*s == '\'' || *s == '"')
			quote = *s;
		else if (*s == close && !--depth)
			return s;
		else if (*s == open && ++depth > NESTED_MAX)
			break;
	}
	return s + strlen(s);
}

static void substitution(struct lexer *l, const char *s, size_t n)
{
	if (l->out->substitutions.n >= COMMANDS_MAX) {
		l->out->cut = true;
		return;
	}
	ga_strv_push_n(&l->out->substitutions, s, n);
	add_mark(l, GA_LEX_SUBSTITUTION, s, n);
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* "${NAME...}": what comes after the name is not looked at, but a default may run something. */
static void braces(struct lexer *l)
{
	const char *from = l->at + 1, *end = closing(from, '{', '}');
	size_t n = name_length(from);

	if (memmem(from, (size_t)(end - from), "$(", 2))
		substitution(l, from, (size_t)(end - from));
	else
		add_mark(l, GA_LEX_VARIABLE, from, n);
	l->at = *end ? end + 1 : end;
}

static void parentheses(struct lexer *l)
{
	const char *from = l->at + 1, *end = closing(from, '(', ')');
	size_t n = (size_t)(end - from), name = name_length(from);

	if (l->make && name && name == n)
		add_mark(l, GA_LEX_VARIABLE, from, n);
	else if (l->make && !strncmp(from, "shell ", 6))
		substitution(l, from + 6, n - 6);
	else if (*from != '(') /* "$((1 + 2))" is a number */
		substitution(l, from, n);
	l->have_word = true;
	l->at = *end ? end + 1 : end;
}

/* `l->at` is behind a '$'. */
static void dollar(struct lexer *l)
{
	size_t n = name_length(l->at);

	if (l->make && *l->at == '$') {
		l->at++;
		l->make = false;
		dollar(l);
		l->make = true;
	} else if (*l->at == '{') {
		braces(l);
	} else if (*l->at == '(') {
		parentheses(l);
	} else if (n) {
		if (l->make || isdigit((unsigned char)*l->at))
			n = 1;
		add_mark(l, GA_LEX_VARIABLE, l->at, n);
		l->at += n;
	} else if (*l->at && strchr("@*#?!-$<^+%", *l->at)) {
		add_mark(l, GA_LEX_VARIABLE, l->at++, 1);
	}
}

static void backquotes(struct lexer *l)
{
	const char *end = strchr(l->at, '`');
	size_t n = end ? (size_t)(end - l->at) : strlen(l->at);

	substitution(l, l->at, n);
	l->at += n + (end != NULL);
}

static void quoted(struct lexer *l, char quote)
{
	l->have_word = true;
	while (*l->at && *l->at != quote) {
		char c = *l->at++;

		if (quote == '"' && c == '$')
			dollar(l);
		else if (quote == '"' && c == '`')
			backquotes(l);
		else if (quote == '"' && c == '\\' && *l->at)
			add(l, *l->at++);
		else
			add(l, c);
	}
	if (*l->at)
		l->at++;
}

static void redirection(struct lexer *l, char c)
{
	/* "2>x": the number is no word */
	if (l->have_word && strspn(l->word.ptr, "0123456789") == l->word.len) {
		ga_buf_clear(&l->word);
		l->have_word = false;
	}
	end_word(l);
	if (c == '<' && *l->at == '(') {
		const char *from = l->at + 1, *end = closing(from, '(', ')');

		substitution(l, from, (size_t)(end - from));
		l->at = *end ? end + 1 : end;
		return;
	}
	/* a here-document's lines are taken for commands, its word for nothing */
	l->output = c == '>' || *l->at == '<';
	l->input = !l->output;
	while (*l->at && strchr("<>&|-", *l->at))
		l->at++;
}

static void array(struct lexer *l, char c)
{
	if (c == '(') {
		l->array = ga_strdup(l->word.ptr);
		ga_buf_clear(&l->word);
		l->have_word = false;
		return;
	}
	end_word(l);
	if (c == ')') {
		free(l->array);
		l->array = NULL;
	}
}

static void step(struct lexer *l, char c)
{
	bool assigns = l->word.len && l->word.ptr[l->word.len - 1] == '=';

	if ((c == '(' && assigns) || (l->array && (c == ')' || c == '\n'))) {
		array(l, c);
	} else if (c == '\\') {
		if (*l->at && *l->at != '\n')
			add(l, *l->at);
		l->at += *l->at != '\0';
	} else if (c == '\'' || c == '"') {
		quoted(l, c);
	} else if (c == '$') {
		dollar(l);
	} else if (c == '`') {
		backquotes(l);
	} else if (c == '#' && !l->have_word) {
		l->at += strcspn(l->at, "\n");
	} else if (c == ' ' || c == '\t' || c == '\r') {
		end_word(l);
	} else if (c == '<' || (c == '>')) {
		redirection(l, c);
	} else if (c == '|' && *l->at != '|') {
		l->at += *l->at == '&';
		end_command(l, true);
	} else if (strchr("\n;&|()", c)) {
		end_command(l, false);
	} else {
		add(l, c);
	}
}

void ga_lex(const char *text, bool make, struct ga_lexed *ret)
{
	struct lexer l = { .at = text, .make = make, .out = ret, .word = GA_BUF_INIT };

	while (*l.at && !ret->cut)
		step(&l, *l.at++);
	end_command(&l, false);
	ga_buf_release(&l.word);
	free(l.array);
}
