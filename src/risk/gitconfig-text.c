/* SPDX-License-Identifier: MIT
 *
 * Git's own grammar of configuration files, character by character: a line may hold several
 * headers and a variable, a value may go on over lines, and both have quotes.
 */
#include <ctype.h>
#include <string.h>

#include "ga/buf.h"
#include "known.h"

enum { NAME_BYTES_MAX = 1000 }; /* of a section, whose name is copied for each of its variables */

struct reader {
	const char *p, *end;
	struct ga_buf base; /* "section" or "section.sub", of the last header */
	void (*each)(void *arg, const struct ga_known_variable *v);
	void *arg;
};

/* The next character, CR LF being one LF. At the end of the text, the end of a line. */
static char next(struct reader *r)
{
	if (r->p == r->end)
		return '\n';
	if (*r->p == '\r' && r->end - r->p > 1 && r->p[1] == '\n')
		r->p++;
	return *r->p++;
}

static char peek(const struct reader *r)
{
	return r->p < r->end ? *r->p : '\n';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_key(char c)
{
	return isalnum((unsigned char)c) || c == '-';
}

static void report(struct reader *r, const char *name, const char *value)
{
	const char *dot = strchr(r->base.ptr, '.');
	cleanup_free char *section = dot ? ga_strndup(r->base.ptr, (size_t)(dot - r->base.ptr)) :
					   ga_strdup(r->base.ptr);
	const struct ga_known_variable v = { section, dot ? dot + 1 : "", name, value };

	r->each(r->arg, &v);
}

/* A carriage return counts as a blank, as for git; one at the end of a line next() has removed. */
static bool is_blank(char c)
{
	return is_space(c) && c != '\n';
}

/* Read what follows a blank in a header: "sub"]. */
static bool subsection(struct reader *r)
{
	char c;

	while (is_blank(c = next(r)))
		;
	if (c != '"')
		return false;
	ga_buf_addch(&r->base, '.');
	while ((c = next(r)) != '"') {
		if (c == '\\')
			c = next(r);
		if (c == '\n' || !c)
			return false;
		ga_buf_addch(&r->base, c);
	}
	return next(r) == ']';
}

/* Read a header, after its opening bracket. */
static bool header(struct reader *r)
{
	char c;

	ga_buf_clear(&r->base);
	while ((c = next(r)) != ']') {
		if (is_blank(c))
			return subsection(r);
		if (!is_key(c) && c != '.')
			return false;
		ga_buf_addch(&r->base, ga_lower(c));
	}
	return true;
}

static char unescaped(char c)
{
	static const char letters[] = "tbn\\\"", bytes[] = "\t\b\n\\\"";
	const char *at = strchr(letters, c);

	return at ? bytes[at - letters] : '\0'; /* git knows no other */
}

/* Read a value to the end of its line, or the last of its lines if it is continued. Carriage
 * returns are kept where git strips them, since what reads the value might not strip them. */
static bool value(struct reader *r, struct ga_buf *out)
{
	bool quoted = false, comment = false;
	size_t kept = 0; /* length of `out` without the blanks at its end */
	char c;

	while ((c = next(r)) != '\n' || quoted) {
		if (c == '\n')
			return false;
		if (comment || (!quoted && !out->len && (c == ' ' || c == '\t')))
			continue;
		if (!quoted && (c == '#' || c == ';')) {
			comment = true;
			continue;
		}
		if (c == '"') {
			quoted = !quoted;
			kept = out->len;
			continue;
		}
		if (c == '\\') {
			c = next(r);
			if (c == '\n')
				continue;
			c = unescaped(c);
			if (!c)
				return false;
			ga_buf_addch(out, c);
			kept = out->len;
			continue;
		}
		ga_buf_addch(out, c);
		if (quoted || (c != ' ' && c != '\t'))
			kept = out->len;
	}
	ga_buf_truncate(out, kept);
	return true;
}

static bool variable(struct reader *r, char first)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT, text = GA_BUF_INIT;
	bool given;

	if (!is_key(first))
		return false;
	ga_buf_addch(&name, ga_lower(first));
	while (is_key(peek(r)))
		ga_buf_addch(&name, ga_lower(next(r)));
	while (peek(r) == ' ' || peek(r) == '\t')
		r->p++;
	given = peek(r) == '=';
	if (given)
		r->p++;
	else if (next(r) != '\n')
		return false;
	if (given && !value(r, &text))
		return false;
	if (r->base.len)
		report(r, name.ptr, given ? text.ptr : NULL);
	return true;
}

static void skip_line(struct reader *r)
{
	while (next(r) != '\n')
		;
}

bool ga_known_config(const struct ga_buf *text,
		     void (*each)(void *arg, const struct ga_known_variable *v), void *arg)
{
	struct reader r = { .p = text->ptr, .end = text->ptr + text->len, .base = GA_BUF_INIT,
			    .each = each, .arg = arg };
	bool whole = text->len <= GA_KNOWN_MAX;

	if (text->len >= 3 && !memcmp(text->ptr, "\xef\xbb\xbf", 3))
		r.p += 3;
	while (whole && r.p < r.end) {
		char c = next(&r);
		bool ok = true;

		if (is_space(c))
			continue;
		if (c == '[') {
			ok = header(&r);
			whole = r.base.len <= NAME_BYTES_MAX;
			if (ok && whole)
				report(&r, NULL, NULL);
		} else if (c == '#' || c == ';') {
			skip_line(&r);
		} else {
			ok = variable(&r, c);
		}
		/* git would reject the file then, but another reader may go on with the next line
		 */
		if (!ok && r.p[-1] != '\n')
			skip_line(&r);
	}
	ga_buf_release(&r.base);
	return whole;
}
