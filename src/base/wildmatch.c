/* SPDX-License-Identifier: MIT */
#include "ga/base/wildmatch.h"

#include <ctype.h>
#include <string.h>

#include "ga/base/alloc.h"

typedef unsigned char uchar;

/* Is `c` in the class named by the `n` bytes at `name`? -1: no such class. */
static int in_class(const uchar *name, size_t n, uchar c, bool icase)
{
	static const struct {
		const char *name;
		int (*is)(int);
	} classes[] = {
		{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
		{ "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph },
		{ "lower", islower }, { "print", isprint }, { "punct", ispunct },
		{ "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strlen(classes[i].name) != n || memcmp(classes[i].name, name, n) != 0)
			continue;
		/* Git knows these classes for ASCII only, whatever the locale. */
		if (c >= 0x80)
			return 0;
		if (icase && classes[i].is == isupper)
			return isalpha(c) != 0;
		return classes[i].is(c) != 0;
	}
	return -1;
}

static bool in_range(uchar c, uchar first, uchar last, bool icase)
{
	uchar upper = c >= 'a' && c <= 'z' ? (uchar)(c - 32) : c;

	return (c >= first && c <= last) || (icase && upper >= first && upper <= last);
}

/* One item of a bracket at `*pp`, which is moved behind it. `*prev` is the
 * character a following '-' would make a range of, 0 if none.
 * Returns 1 if `c` is in it, 0 if not, -1 if the bracket is malformed. */
static int bracket_item(const uchar **pp, uchar *prev, uchar c, bool icase)
{
	const uchar *p = *pp;
	uchar first = *prev;
	int in;

	if (p[0] == '-' && first && p[1] && p[1] != ']') {
		p++;
		if (*p == '\\')
			p++;
		if (!*p)
			return -1;
		*prev = 0;
		*pp = p + 1;
		return in_range(c, first, *p, icase);
	}
	if (p[0] == '[' && p[1] == ':') {
		const uchar *end = p + 2;

		while (*end && *end != ']')
			end++;
		if (!*end)
			return -1;
		/* Without its ":]" the '[' is an ordinary member. */
		if (end > p + 2 && end[-1] == ':') {
			in = in_class(p + 2, (size_t)(end - 1 - (p + 2)), c, icase);
			*prev = 0;
			*pp = end + 1;
			return in;
		}
	} else if (*p == '\\') {
		p++;
	}
	if (!*p)
		return -1;
	*prev = *p;
	*pp = p + 1;
	return c == *p;
}

/* Match `c` against the bracket whose '[' is at `p`. Returns what follows the
 * bracket, or NULL if it does not match or is malformed. */
static const uchar *match_bracket(const uchar *p, uchar c, bool icase)
{
	bool negated = false, matched = false;
	uchar prev = 0;

	p++;
	if (*p == '!' || *p == '^') {
		negated = true;
		p++;
	}
	do { /* a ']' that comes first is a member */
		int in;

		if (!*p)
			return NULL;
		in = bracket_item(&p, &prev, c, icase);
		if (in < 0)
			return NULL;
		matched |= in != 0;
	} while (*p != ']');
	return matched != negated && c != '/' ? p + 1 : NULL;
}

/* Match one character of text, not the terminator, against the element of the pattern at `p`, which
 * is not '*'. Returns what follows the element, NULL if it does not match. */
static const uchar *match_one(const uchar *p, uchar c, bool icase)
{
	if (icase)
		c = (uchar)ga_lower((char)c);
	switch (*p) {
	case '\0':
		return NULL;
	case '?':
		return c != '/' ? p + 1 : NULL;
	case '[':
		return match_bracket(p, c, icase);
	case '\\':
		p++;
		break;
	default:
		break;
	}
	return *p && c == (icase ? (uchar)ga_lower((char)*p) : *p) ? p + 1 : NULL;
}

/* Is the run of stars from `p` to `end` a whole component of at least two? */
static bool is_globstar(const uchar *pattern, const uchar *p, const uchar *end)
{
	return end - p >= 2 && (p == pattern || p[-1] == '/') &&
	       (!end[0] || end[0] == '/' || (end[0] == '\\' && end[1] == '/'));
}

/* Two points to backtrack to are enough. A '*' never crosses a '/', and among the stars of one
 * component only the last needs retrying: had an earlier one matched more, the rest would have less
 * text for the same pattern. The same holds for the last "**" among components. So nothing is tried
 * twice from the same pair of points, and the time is polynomial whatever the pattern. */
bool ga_wildmatch(const char *pattern, const char *text, bool icase)
{
	const uchar *start = (const uchar *)pattern, *p = start;
	const uchar *t = (const uchar *)text;
	const uchar *star_p = NULL, *star_t = NULL; /* pattern behind the '*'; text it has not
						     * consumed */
	const uchar *deep_p = NULL, *deep_t = NULL; /* the same for a "**" with its slash */
	const uchar *next;

	for (;;) {
		if (*p == '*') {
			const uchar *end = p;

			while (*end == '*')
				end++;
			if (!is_globstar(start, p, end)) {
				star_p = p = end;
				star_t = t;
				continue;
			}
			if (!*end)
				return true;
			star_p = NULL;
			deep_t = t;
			deep_p = p = end + (*end == '/' ? 1 : 2);
			/* Git lets only an unescaped slash stand for no component at all. */
			if (*end == '/')
				continue;
		} else if (!*t && !*p) {
			return true;
		} else if (*t && (next = match_one(p, *t, icase))) {
			if (*t == '/')
				star_p = NULL;
			p = next;
			t++;
			continue;
		}
		if (star_p && *star_t && *star_t != '/') {
			p = star_p;
			t = ++star_t;
			continue;
		}
		star_p = NULL;
		if (!deep_p)
			return false;
		while (*deep_t && *deep_t != '/')
			deep_t++;
		if (!*deep_t)
			return false;
		p = deep_p;
		t = ++deep_t;
	}
}

bool ga_pattern_ok(const char *p)
{
	size_t n = strlen(p);

	if (!n || n > 256 || *p == '!' || !strcmp(p, "/") || strpbrk(p, "{}\\") ||
	    strstr(p, ", ") || strstr(p, "//"))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f)
			return false;
	return true;
}
