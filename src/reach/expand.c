/* SPDX-License-Identifier: MIT
 *
 * What words of a shell may be, and paths in the form that words have.
 */
#include <ctype.h>
#include <string.h>

#include "ga/reach.h"
#include "shell.h"

enum { ALTERNATIVES_MAX = 32, WORDS_MAX = 20000, WORK_MAX = 200000, UNKNOWN = GA_WORD_UNKNOWN };

static const char unknown[] = { UNKNOWN, '\0' };

void ga_words_release(struct ga_words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].text);
		free(w->v[i].more);
	}
	free(w->v);
	ga_strv_release(&w->dirs);
	*w = (struct ga_words){ .v = NULL };
}

void ga_words_add(struct ga_words *w, enum ga_word_kind kind, const char *text, const char *more)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].kind == kind && !strcmp(w->v[i].text, text) &&
		    !strcmp(w->v[i].more, more))
			return;
	if (w->n >= WORDS_MAX) {
		w->cut = true;
		return;
	}
	GA_GROW(w->v, w->n, w->cap);
	w->v[w->n++] = (struct ga_word){ kind, ga_strdup(text), ga_strdup(more) };
}

/* ---- values ------------------------------------------------------------------- */

static void expand(struct ga_shell *s, const char *word, int depth, struct ga_strv *ret);

size_t ga_shell_assigned(const char *word)
{
	size_t n = 0;

	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	if (!n || isdigit((unsigned char)*word))
		return 0;
	return word[n] == '=' || !strncmp(word + n, "+=", 2) ? n : 0;
}

void ga_shell_assign(struct ga_shell *s, const char *word)
{
	size_t n = ga_shell_assigned(word);

	if (!n || s->names.n >= WORDS_MAX)
		return;
	ga_strv_push_n(&s->names, word, n);
	ga_strv_push(&s->values, word + n + (word[n] == '+') + 1);
}

/* What a command prints may be what it was given, and what is in a directory that it lists. */
static void expand_arguments(struct ga_shell *s, const struct ga_simple *c, int depth,
			     struct ga_strv *ret)
{
	bool lists = c->words.n && ga_has_word("ls find", c->words.v[0]);

	for (size_t i = 0; i < c->words.n; i++) {
		const char *w = c->words.v[i];
		bool printed = i && ga_has_word("cat echo printf", c->words.v[0]);
		cleanup_free char *below = lists && i ? ga_strf("%s/**", w) : NULL;

		if (*w == '-' || (!strpbrk(w, "/.*") && !below && !printed))
			continue;
		expand(s, w, depth + 1, ret);
		if (below)
			expand(s, below, depth + 1, ret);
	}
	for (size_t i = 0; i < c->inputs.n; i++)
		expand(s, c->inputs.v[i], depth + 1, ret);
}

static void expand_output(struct ga_shell *s, const char *text, int depth, struct ga_strv *ret)
{
	cleanup_lexed struct ga_lexed x = { .v = NULL };

	ga_strv_push(ret, unknown);
	ga_lex(text, s->make, &x);
	for (size_t i = 0; i < x.n; i++)
		expand_arguments(s, &x.v[i], depth, ret);
}

static void expand_variable(struct ga_shell *s, const char *name, int depth, struct ga_strv *ret)
{
	size_t before = ret->n;

	if (!strcmp(name, "HOME") && s->home)
		ga_strv_push(ret, s->home);
	for (size_t i = 0; i < s->names.n && ret->n < ALTERNATIVES_MAX; i++)
		if (!strcmp(s->names.v[i], name))
			expand(s, s->values.v[i], depth + 1, ret);
	if (ret->n == before)
		ga_strv_push(ret, unknown);
}

/* Append each of `more` to each of `heads`. */
static void product(struct ga_strv *heads, const struct ga_strv *more)
{
	struct ga_strv both = GA_STRV_INIT;

	for (size_t i = 0; i < heads->n; i++)
		for (size_t k = 0; k < more->n && both.n < ALTERNATIVES_MAX; k++)
			ga_strv_take(&both, ga_strf("%s%s", heads->v[i], more->v[k]));
	ga_strv_release(heads);
	*heads = both;
}

/* All that a word may be, with UNKNOWN for what is not known. */
static void expand(struct ga_shell *s, const char *word, int depth, struct ga_strv *ret)
{
	static const char marks[] = { GA_LEX_VARIABLE, GA_LEX_SUBSTITUTION, '\0' };
	static const char end[] = { GA_LEX_END, '\0' };
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	if (depth > GA_SHELL_DEPTH_MAX || ++s->work > WORK_MAX) {
		s->out->cut |= s->work > WORK_MAX;
		ga_strv_push(ret, unknown);
		return;
	}
	ga_strv_push(&all, "");
	for (const char *p = word; *p;) {
		cleanup_strv struct ga_strv part = GA_STRV_INIT;
		cleanup_free char *inner = NULL;
		size_t n = strcspn(p, marks);

		if (n) {
			ga_strv_push_n(&part, p, n);
		} else {
			char mark = *p++;

			n = strcspn(p, end);
			inner = ga_strndup(p, n);
			n += p[n] != '\0';
			if (mark == GA_LEX_VARIABLE)
				expand_variable(s, inner, depth, &part);
			else
				expand_output(s, inner, depth, &part);
		}
		product(&all, &part);
		p += n;
	}
	for (size_t i = 0; i < all.n && ret->n < ALTERNATIVES_MAX; i++)
		ga_strv_push(ret, all.v[i]);
}

/* ---- paths --------------------------------------------------------------------- */

/* One component as a pattern: what is not known, and "{a,b}", is "*". */
static char *component(const char *s, size_t n)
{
	struct ga_buf b = GA_BUF_INIT;
	int braces = 0;

	for (size_t i = 0; i < n; i++) {
		bool open = s[i] == '{' && memchr(s + i, '}', n - i);

		braces += open;
		if ((s[i] == UNKNOWN || open) && (!b.len || b.ptr[b.len - 1] != '*'))
			ga_buf_addch(&b, '*');
		else if (s[i] != UNKNOWN && !braces)
			ga_buf_addch(&b, s[i]);
		braces -= braces && s[i] == '}';
	}
	return ga_buf_steal(&b);
}

/* Bring an expanded path into a form that can be matched; NULL: it says nothing. */
static char *pattern(const char *home, const char *path)
{
	bool at_home = home && path[0] == '~' && (path[1] == '/' || !path[1]), absolute;
	cleanup_free char *full = at_home ? ga_strf("%s%s", home, path + 1) : ga_strdup(path);
	cleanup_strv struct ga_strv parts = GA_STRV_INIT;
	struct ga_buf b = GA_BUF_INIT;
	bool says = false, open = false;
	size_t n;

	absolute = full[0] == '/';
	for (const char *p = full; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (!n || (n == 1 && *p == '.') || (n == 2 && !memcmp(p, "..", 2) && !parts.n))
			continue;
		if (n == 2 && !memcmp(p, "..", 2)) {
			free(parts.v[--parts.n]);
			parts.v[parts.n] = NULL;
			continue;
		}
		/* "$dir/x" may be anywhere; "$x" beside a name may be anything there */
		if (n == 1 && *p == UNKNOWN && !parts.n) {
			absolute = false;
			open = true;
			continue;
		}
		open |= memchr(p, UNKNOWN, n) != NULL;
		ga_strv_take(&parts, component(p, n));
	}
	for (size_t i = 0; i < parts.n; i++) {
		ga_buf_addf(&b, "%s%s", i || absolute ? "/" : "", parts.v[i]);
		says |= parts.v[i][strspn(parts.v[i], "*?.")] != '\0';
	}
	/* "$dir/$name.sh" would be any script */
	if (!says || (open && parts.n == 1 && strchr(parts.v[0], '*')))
		ga_buf_release(&b);
	return b.len ? ga_buf_steal(&b) : NULL;
}

void ga_words_add_path(struct ga_words *w, enum ga_word_kind kind, const char *path,
		       const char *home)
{
	cleanup_free char *p = strstr(path, "://") ? NULL : pattern(home, path);

	if (p)
		ga_words_add(w, kind, p, "");
}

void ga_shell_expand(struct ga_shell *s, const char *word, struct ga_strv *ret)
{
	expand(s, word, 0, ret);
}

void ga_shell_add(struct ga_shell *s, enum ga_word_kind kind, const char *word)
{
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	expand(s, word, 0, &all);
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i][0] != '-')
			ga_words_add_path(s->out, kind, all.v[i], s->home);
}

bool ga_word_like_script(const char *word)
{
	return strchr(word, '/') || ga_reach_is_script(word);
}
