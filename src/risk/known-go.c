/* SPDX-License-Identifier: MIT
 *
 * go.mod: directives by line, some in blocks with parentheses.
 */
#include <string.h>

#include "known.h"

struct mod {
	struct ga_strv lines; /* "directive arguments", with single blanks */
	char *block;          /* the directive of the current block, or NULL */
	bool odd;             /* something was not understood */
};

static void mod_release(struct mod *m)
{
	ga_strv_release(&m->lines);
	free(m->block);
}

/* Append the words of `s` with single blanks between them. */
static void put_words(struct ga_buf *out, char *s)
{
	char *save = NULL;

	for (char *w = strtok_r(s, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		if (out->len)
			ga_buf_addch(out, ' ');
		ga_buf_adds(out, w);
	}
}

static void mod_line(void *arg, char *line)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	struct mod *m = arg;
	char *comment = strstr(line, "//");

	/* a string may have what looks like a comment */
	m->odd |= strpbrk(line, "\"`") || strstr(line, "/*");
	if (comment)
		*comment = '\0';
	if (m->block)
		ga_buf_adds(&words, m->block);
	put_words(&words, line);
	if (m->block && words.len == strlen(m->block))
		return;
	if (words.len > 1 && !strcmp(words.ptr + words.len - 1, ")") && m->block) {
		free(m->block);
		m->block = NULL;
		return;
	}
	if (words.len > 2 && !strcmp(words.ptr + words.len - 2, " (") && !m->block) {
		m->block = ga_strndup(words.ptr, words.len - 2);
		m->odd |= strchr(m->block, ' ') != NULL;
		return;
	}
	if (words.len)
		ga_strv_push(&m->lines, words.ptr);
}

static bool mod_read(const struct ga_buf *text, struct mod *ret)
{
	if (text->len > GA_KNOWN_MAX || memchr(text->ptr, '\0', text->len))
		return false;
	ga_known_lines(text, mod_line, ret);
	ga_strv_sort_unique(&ret->lines);
	return !ret->odd && !ret->block;
}

/* Add what only `v` has, after `mark`; `other` is sorted. */
static void only_in(const struct ga_strv *v, const struct ga_strv *other, char mark,
		    struct ga_strv *ret)
{
	for (size_t i = 0; i < v->n; i++)
		if (ga_strv_find(other, v->v[i]) < 0)
			ga_strv_pushf(ret, "%c%s", mark, v->v[i]);
}

static bool is_go_version(const char *change)
{
	const char *version = change + strlen("+go ");

	return !strncmp(change + 1, "go ", 3) && *version &&
	       version[strspn(version, "0123456789.")] == '\0';
}

void ga_known_gomod(const struct ga_known *f)
{
	cleanup_(mod_release) struct mod a = { .block = NULL }, b = { .block = NULL };
	cleanup_strv struct ga_strv changes = GA_STRV_INIT;
	bool harmless = true;

	if (!mod_read(f->old, &a) || !mod_read(f->text, &b))
		return;
	only_in(&b.lines, &a.lines, '+', &changes);
	only_in(&a.lines, &b.lines, '-', &changes);
	if (!changes.n && !f->old->len)
		return;
	for (size_t i = 0; i < changes.n; i++)
		harmless &= is_go_version(changes.v[i]);
	if (harmless) {
		ga_look_lower(f->k, "go-build",
			      changes.n ? "only the version of the language changes" :
					  "only its layout and comments change");
		return;
	}
	ga_known_say(f->k, "go-build", GA_LOW, "", &changes);
}
