/* SPDX-License-Identifier: MIT
 *
 * A pattern is taken apart into elements first; then every way to match is tried, each pair of
 * places once.
 */
#include "model-wildmatch.h"

#include <stdint.h>
#include <string.h>

#include "fuzz.h"

/* One byte out of a set; as many as there are without a slash; any number of whole
 * components; all that is left; all up to a slash, which stays; or nothing at all. */
enum kind { BYTE, STAR, COMPONENTS, REST, REST_TO_SLASH, NEVER };

struct element {
	enum kind kind;
	bool set[256];
};

struct model {
	struct element v[MODEL_MAX + 1];
	size_t n;
	const unsigned char *text;
	size_t len;
	unsigned char seen[MODEL_MAX + 2][MODEL_MAX + 2];
};

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

static bool is_upper(unsigned char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(unsigned char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool class_has(const char *name, size_t n, unsigned char c, bool *known)
{
	bool alpha = is_upper(c) || is_lower(c), graph = c > ' ' && c < 0x7f;
	const struct {
		const char *name;
		bool in;
	} classes[] = {
		{ "alpha", alpha }, { "digit", is_digit(c) }, { "alnum", alpha || is_digit(c) },
		{ "upper", is_upper(c) }, { "lower", is_lower(c) },
		{ "blank", c == ' ' || c == '\t' }, { "space", c == ' ' || (c >= 9 && c <= 13) },
		{ "cntrl", c < ' ' || c == 0x7f }, { "graph", graph },
		{ "print", graph || c == ' ' },
		{ "punct", graph && !alpha && !is_digit(c) },
		{ "xdigit", is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f') },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strlen(classes[i].name) == n && !memcmp(classes[i].name, name, n)) {
			*known = true;
			return classes[i].in;
		}
	}
	return false;
}

/* Members are written down for a byte as the text has it. Without case, the text is lowered;
 * a single member is not, a range and [:upper:] hold for both. */
static void add_range(struct element *e, unsigned first, unsigned last, bool icase)
{
	for (unsigned c = first; c <= last; c++) {
		e->set[c] = true;
		if (icase && is_upper((unsigned char)c))
			e->set[lower((unsigned char)c)] = true;
	}
}

static bool add_class(struct element *e, const char *name, size_t n, bool icase)
{
	bool known = false, in[256];

	for (unsigned c = 0; c < 256; c++)
		in[c] = class_has(name, n, (unsigned char)c, &known);
	for (unsigned c = 0; c < 256; c++)
		e->set[c] |= in[c] || (icase && n == 5 && !memcmp(name, "upper", 5) && is_lower((unsigned char)c));
	return known;
}

/* From behind the '['; NULL if it does not end, or has a class nobody knows. */
static const char *parse_bracket(const char *p, struct element *e, bool icase)
{
	bool negated = *p == '!' || *p == '^', first = true;
	int before = -1;

	p += negated;
	for (; first || *p != ']'; first = false) {
		const char *end = p[0] == '[' && p[1] == ':' ? strchr(p + 2, ']') : NULL;

		if (!*p || (p[0] == '[' && p[1] == ':' && !end))
			return NULL;
		if (end && end > p + 2 && end[-1] == ':') {
			if (!add_class(e, p + 2, (size_t)(end - p) - 3, icase))
				return NULL;
			p = end + 1;
			before = -1;
		} else if (*p == '-' && before > 0 && p[1] && p[1] != ']') {
			p += p[1] == '\\' ? 2 : 1;
			if (!*p)
				return NULL;
			add_range(e, (unsigned)before, (unsigned char)*p++, icase);
			before = -1;
		} else {
			p += *p == '\\';
			if (!*p)
				return NULL;
			before = (unsigned char)*p++;
			e->set[before] = true;
		}
	}
	for (unsigned c = 0; c < 256; c++)
		e->set[c] = e->set[c] != negated;
	e->set['/'] = false;
	return p + 1;
}

static const char *parse_stars(const char *p, const char *start, struct element *e)
{
	bool begins = p == start || p[-1] == '/';
	size_t n = strspn(p, "*");

	p += n;
	e->kind = STAR;
	if (n < 2 || !begins)
		return p;
	if (!*p)
		e->kind = REST;
	else if (*p == '/')
		e->kind = COMPONENTS, p++;
	else if (p[0] == '\\' && p[1] == '/')
		e->kind = REST_TO_SLASH;
	return p;
}

static const char *parse_byte(const char *p, struct element *e, bool icase)
{
	unsigned char c;

	if (*p == '[') {
		const char *end = parse_bracket(p + 1, e, icase);

		if (!end)
			e->kind = NEVER;
		return end ? end : p + 1;
	}
	if (*p == '?') {
		memset(e->set, 1, sizeof(e->set));
		e->set['/'] = false;
		return p + 1;
	}
	p += *p == '\\';
	c = (unsigned char)*p;
	if (!c) {
		e->kind = NEVER;
		return p;
	}
	e->set[icase ? lower(c) : c] = true;
	return p + 1;
}

/* Does the text from `t` on match the elements from `i` on? */
static bool match(struct model *m, size_t i, size_t t, bool icase)
{
	const struct element *e = &m->v[i];
	unsigned char c = t < m->len ? m->text[t] : 0;

	if (i == m->n)
		return t == m->len;
	if (m->seen[i][t]++)
		return false; /* it was tried, and did not */
	switch (e->kind) {
	case NEVER:
		return false;
	case REST:
		return true;
	case BYTE:
		return t < m->len && e->set[icase ? lower(c) : c] && match(m, i + 1, t + 1, icase);
	case STAR:
		for (;; t++) {
			if (match(m, i + 1, t, icase))
				return true;
			if (t == m->len || m->text[t] == '/')
				return false;
		}
	case COMPONENTS:
		if (match(m, i + 1, t, icase))
			return true;
		for (; t < m->len; t++)
			if (m->text[t] == '/' && match(m, i + 1, t + 1, icase))
				return true;
		return false;
	case REST_TO_SLASH:
		for (; t < m->len; t++)
			if (m->text[t] == '/' && match(m, i + 1, t, icase))
				return true;
		return false;
	}
	return false;
}

bool model_wildmatch(const char *pattern, const char *text, bool icase)
{
	static struct model m;
	const char *p = pattern;

	memset(&m, 0, sizeof(m));
	m.text = (const unsigned char *)text;
	m.len = strlen(text);
	CHECK(m.len <= MODEL_MAX && strlen(pattern) <= MODEL_MAX);
	while (*p) {
		struct element *e = &m.v[m.n++];

		p = *p == '*' ? parse_stars(p, pattern, e) : parse_byte(p, e, icase);
	}
	return match(&m, 0, 0, icase);
}
