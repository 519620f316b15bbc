/* SPDX-License-Identifier: MIT
 *
 * Words, and paths in the form that words have.
 */
#include <string.h>

#include "ga/reach/reach.h"
#include "words.h"

enum { WORDS_MAX = 20000, UNKNOWN = GA_WORD_UNKNOWN };

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

void ga_words_add_module(struct ga_words *w, const char *name)
{
	struct ga_buf b = GA_BUF_INIT;
	bool path = strchr(name, '/') != NULL;

	/* Python's leading dots are directories */
	if (!path && *name == '.')
		for (ga_buf_adds(&b, "."), name++; *name == '.'; name++)
			ga_buf_adds(&b, b.len > 1 ? "/.." : ".");
	if (b.len && *name)
		ga_buf_addch(&b, '/');
	for (; *name; name++) {
		bool separates = !path && (*name == '.' || *name == ':');

		name += separates && !strncmp(name, "::", 2);
		ga_buf_addch(&b, separates ? '/' : *name);
	}
	if (b.len)
		ga_words_add(w, GA_WORD_MODULE, b.ptr, "");
	ga_buf_release(&b);
}

bool ga_word_like_script(const char *word)
{
	return strchr(word, '/') || ga_reach_is_script(word);
}
