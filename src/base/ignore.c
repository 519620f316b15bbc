/* SPDX-License-Identifier: MIT */
#include "ga/base/ignore.h"

#include <string.h>
#include <strings.h>

#include "ga/base/alloc.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/wildmatch.h"

#define REASON_MAX 200 /* bytes of a pattern that a reason shows */

struct pattern {
	char *text;     /* without '!', leading and trailing slash */
	size_t len;
	size_t literal; /* bytes before the first wildcard */
	bool negated;
	bool dir_only;
	bool base_only; /* no slash inside: matched against the last component */
};

struct ga_ignore_list {
	char *dir;
	size_t dir_len;
	bool own; /* belongs to no directory: the user's excludes */
	struct pattern *v;
	size_t n, cap;
};

static void list_release(struct ga_ignore_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].text);
	free(l->v);
	free(l->dir);
}

void ga_ignore_pop(struct ga_ignore *ig, size_t n)
{
	while (ig->n > n)
		list_release(&ig->v[--ig->n]);
}

void ga_ignore_release(struct ga_ignore *ig)
{
	ga_ignore_pop(ig, 0);
	free(ig->v);
	ig->v = NULL;
	ig->cap = 0;
}

/* Trailing spaces are ignored unless a backslash precedes them. A line that ends in a lone
 * backslash keeps its spaces; it matches nothing anyway. */
static size_t trimmed(const char *s, size_t n)
{
	size_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == ' ')
			continue;
		if (s[i] == '\\' && ++i == n)
			return n;
		end = i + 1;
	}
	return end;
}

static size_t literal_length(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && !strchr("*?[\\", s[i]))
		i++;
	return i;
}

static void add_line(struct ga_ignore_list *l, const char *s, size_t n)
{
	struct pattern p = { 0 };

	n = strnlen(s, n); /* a NUL ends the pattern, as it does for git */
	n = trimmed(s, n);
	if (n && s[0] == '!') {
		p.negated = true;
		s++, n--;
	}
	if (n && s[n - 1] == '/') {
		p.dir_only = true;
		n--;
	}
	p.base_only = !memchr(s, '/', n);
	if (n && s[0] == '/')
		s++, n--;
	if (!n)
		return;
	p.text = ga_strndup(s, n);
	p.len = n;
	p.literal = literal_length(s, n);
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = p;
}

void ga_ignore_push(struct ga_ignore *ig, const char *dir, const char *text, size_t n)
{
	struct ga_ignore_list l = { 0 };

	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3, n -= 3;
	while (n) {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n;
		size_t next = nl ? len + 1 : n;

		if (len && text[0] != '#')
			add_line(&l, text, len - (text[len - 1] == '\r'));
		text += next;
		n -= next;
	}
	if (!l.n)
		return;
	l.own = !dir;
	l.dir = ga_strdup(dir ? dir : "");
	l.dir_len = strlen(l.dir);
	GA_GROW(ig->v, ig->n, ig->cap);
	ig->v[ig->n++] = l;
}

/* The literal prefix is compared first and the rest as a wildcard pattern: "a**" is thus an "a" and
 * then "**", as in git, and most patterns cost one comparison. */
static bool match(const struct pattern *p, const char *name, size_t len, bool icase)
{
	if (p->literal > len ||
	    (icase ? strncasecmp(p->text, name, p->literal) : memcmp(p->text, name, p->literal)))
		return false;
	if (p->literal == p->len)
		return len == p->len;
	if (p->base_only)
		return ga_wildmatch(p->text, name, icase);
	return ga_wildmatch(p->text + p->literal, name + p->literal, icase);
}

static const char *below(const struct ga_ignore_list *l, const char *path, bool icase)
{
	if (!l->dir_len)
		return path;
	if ((icase ? strncasecmp(path, l->dir, l->dir_len) : strncmp(path, l->dir, l->dir_len)) ||
	    path[l->dir_len] != '/')
		return NULL;
	return path + l->dir_len + 1;
}

/* The deciding pattern and its list; NULL: none. */
static const struct pattern *find(const struct ga_ignore *ig, const char *path, bool is_dir,
				  const struct ga_ignore_list **ret_list)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t base_len = strlen(base);

	for (size_t i = ig->n; i--;) {
		const struct ga_ignore_list *l = &ig->v[i];
		const char *rel = below(l, path, ig->icase);
		size_t rel_len;

		if (!rel)
			continue;
		rel_len = base_len + (size_t)(base - rel);
		for (size_t k = l->n; k--;) {
			const struct pattern *p = &l->v[k];

			if (p->dir_only && !is_dir)
				continue;
			if (p->base_only ? match(p, base, base_len, ig->icase)
					 : match(p, rel, rel_len, ig->icase))
				return *ret_list = l, p;
		}
	}
	return NULL;
}

enum ga_ignore_verdict ga_ignore_check(const struct ga_ignore *ig, const char *path, bool is_dir)
{
	const struct ga_ignore_list *l;
	const struct pattern *p = ig->n ? find(ig, path, is_dir, &l) : NULL;

	return !p ? GA_IGNORE_UNDECIDED : p->negated ? GA_IGNORE_NO : GA_IGNORE_YES;
}

char *ga_ignore_reason(const struct ga_ignore *ig, const char *path, bool is_dir)
{
	const struct ga_ignore_list *l;
	const struct pattern *p = find(ig, path, is_dir, &l);
	cleanup_free char *text = NULL, *line = NULL, *file = NULL, *where = NULL;

	if (!p)
		return NULL;
	/* a line can be as long as the file, and ignore any number of paths */
	text = ga_strf("%s%s%.*s%s", p->negated ? "!" : "",
		       !p->base_only && !strchr(p->text, '/') ? "/" : "", REASON_MAX, p->text,
		       strlen(p->text) > REASON_MAX ? "..." : p->dir_only ? "/" : "");
	line = ga_escape(text);
	file = ga_path_join(l->dir, ".gitignore");
	where = ga_escape(file);
	return l->own ? ga_strf("'%s' of your own excludes", line)
		      : ga_strf("'%s' of '%s'", line, where);
}
