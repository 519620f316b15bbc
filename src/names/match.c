/* SPDX-License-Identifier: MIT
 *
 * Match paths against many patterns. Each pattern is filed under one literal piece of it: the last
 * component, an extension, a directory, or the first byte of the last component. A path is looked
 * up by its own pieces, and only patterns filed under these are matched. The few patterns without
 * such a piece are tried on every path that has their longest literal text.
 */
#include <string.h>

#include "ga/base/strmap.h"
#include "ga/base/wildmatch.h"
#include "ga/names/names.h"

enum { SEEN_HERE = 8192 }; /* patterns that a search remembers without asking for memory */

struct pattern {
	char *glob;
	const void *of;
	bool exact;   /* being found in the index means that it matches */
	bool on_base; /* matched with the last component only */
	bool link;    /* for links only: it is the beginning of a pattern of paths below ... */
	bool partial; /* ... and that does not cover all paths below */
	char *must;   /* literal text that a matching path has; NULL: it is filed under such */
};

struct ga_matcher {
	struct pattern *v;
	size_t n, cap;
	struct ga_strmap bases, exts, dirs;
	struct ga_strmap firsts; /* first byte of the last component */
	struct rest {
		uint64_t pairs; /* of what a path must have */
		uint32_t index;
	} *rest;
	size_t n_rest, cap_rest;
};

void ga_hits_release(struct ga_hits *h)
{
	free(h->v);
	*h = (struct ga_hits)GA_HITS_INIT;
}

static bool is_wild(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

static bool literal(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_wild(s[i]))
			return false;
	return n > 0;
}

/* There are thousands of patterns, and formatting each would be most of the work. */
static char *joined(const char *a, size_t a_len, const char *b, size_t b_len, const char *rest)
{
	size_t rest_len = strlen(rest);
	char *ret = ga_malloc(a_len + b_len + rest_len + 1);

	memcpy(ret, a, a_len);
	memcpy(ret + a_len, b, b_len);
	memcpy(ret + a_len + b_len, rest, rest_len + 1);
	return ret;
}

/* File `index` under the last literal directory of `body`, if it has one. */
static bool file_by_dir(struct ga_matcher *m, const char *body, uint32_t index)
{
	const char *best = NULL;
	size_t best_len = 0;

	for (const char *p = body, *slash; (slash = strchr(p, '/')); p = slash + 1)
		if (literal(p, (size_t)(slash - p))) {
			best = p;
			best_len = (size_t)(slash - p);
		}
	if (best)
		ga_strmap_add(&m->dirs, best, best_len, index);
	return best != NULL;
}

/* The longest piece without a wildcard, before the first bracket. */
static char *longest_literal(const char *body)
{
	const char *best = body;
	size_t best_len = 0;

	for (const char *p = body; *p;) {
		size_t n = strcspn(p, "*?[\\");

		if (n > best_len) {
			best = p;
			best_len = n;
		}
		if (p[n] == '[')
			break;
		p += n + (p[n] != '\0');
	}
	return ga_strndup(best, best_len);
}

/* The set of neighbours in a text, by a hash of both. */
static uint64_t pairs_of(const char *s)
{
	uint64_t set = 0;

	for (; s[0] && s[1]; s++)
		set |= (uint64_t)1 << (((unsigned char)s[0] * 5 + (unsigned char)s[1]) & 63);
	return set;
}

static void file_pattern(struct ga_matcher *m, struct pattern *p, const char *body, bool anchored)
{
	const char *slash = strrchr(body, '/'), *last = slash ? slash + 1 : body;
	uint32_t index = (uint32_t)m->n;

	if (!strcmp(last, "**")) {
		if (file_by_dir(m, body, index)) {
			p->exact = !anchored && literal(body, strlen(body) - 3) &&
				   !memchr(body, '/', strlen(body) - 3);
			return;
		}
	} else if (literal(last, strlen(last))) {
		ga_strmap_add(&m->bases, last, strlen(last), index);
		p->exact = p->on_base;
		return;
	} else if (file_by_dir(m, body, index)) {
		return;
	} else if (last[0] == '*' && last[1] == '.' && literal(last + 1, strlen(last + 1))) {
		ga_strmap_add(&m->exts, last + 1, strlen(last + 1), index);
		p->exact = p->on_base;
		return;
	} else if (literal(last, 1)) {
		ga_strmap_add(&m->firsts, last, 1, index);
		return;
	}
	p->must = longest_literal(body);
	GA_GROW(m->rest, m->n_rest, m->cap_rest);
	m->rest[m->n_rest++] = (struct rest){ pairs_of(p->must), index };
}

static void add_body(struct ga_matcher *m, const void *of, const char *body, size_t n,
		     bool anchored, bool link, bool partial)
{
	struct pattern *p;

	GA_GROW(m->v, m->n, m->cap);
	p = &m->v[m->n];
	*p = (struct pattern){ .of = of, .link = link, .partial = partial };
	p->on_base = !anchored && !memchr(body, '/', n);
	/* the keys of the index point into the glob, after the prefix that is put here */
	p->glob = joined("**/", anchored || p->on_base ? 0 : 3, body, n, "");
	file_pattern(m, p, p->glob + (anchored || p->on_base ? 0 : 3), anchored);
	m->n++;
}

/* Add a pattern without braces, in lower case, and for symlinks each directory above it. */
static void add_pattern(struct ga_matcher *m, const void *of, const char *pattern)
{
	bool anchored = pattern[0] == '/';
	const char *body = pattern + anchored;

	add_body(m, of, body, strlen(body), anchored, false, false);
	for (const char *p = body, *slash; (slash = strchr(p, '/')); p = slash + 1) {
		if (slash - p == 2 && !memcmp(p, "**", 2))
			break;
		add_body(m, of, body, (size_t)(slash - body), anchored, true,
			 strcmp(slash, "/**") != 0);
	}
}

/* Expand the first pair of braces into its alternatives, and then each of these. */
static void expand(struct ga_matcher *m, const void *of, const char *pattern)
{
	const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;

	if (!close) {
		add_pattern(m, of, pattern);
		return;
	}
	for (const char *p = open + 1; p <= close;) {
		size_t n = strcspn(p, ",}");
		cleanup_free char *one = joined(pattern, (size_t)(open - pattern), p, n, close + 1);

		expand(m, of, one);
		p += n + 1;
	}
}

void ga_matcher_add(struct ga_matcher *m, const char *patterns, const void *of)
{
	cleanup_free char *all = patterns ? ga_strdup(patterns) : NULL;

	for (char *p = all; p && *p; p++)
		*p = ga_lower(*p);
	for (char *p = all; p;) {
		char *end = strstr(p, ", ");

		if (end)
			*end = '\0';
		expand(m, of, p);
		p = end ? end + 2 : NULL;
	}
}

struct ga_matcher *ga_matcher_new(void)
{
	return ga_calloc(1, sizeof(struct ga_matcher));
}

void ga_matcher_free(struct ga_matcher *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].glob);
		free(m->v[i].must);
	}
	free(m->v);
	free(m->rest);
	ga_strmap_release(&m->bases);
	ga_strmap_release(&m->exts);
	ga_strmap_release(&m->dirs);
	ga_strmap_release(&m->firsts);
	free(m);
}

/* ---- looking up ---------------------------------------------------------- */

struct search {
	const struct ga_matcher *m;
	const char *path, *base;
	bool link;
	struct ga_hits *ret;
	uint64_t *seen; /* set of patterns that were tried */
};

/* Was the pattern tried before? It is found once for each equal piece of the path, and a path of
 * the same directory a thousand times would take a million times as long. */
static bool seen_before(struct search *s, uint32_t index)
{
	uint64_t bit = (uint64_t)1 << (index % 64), *word = &s->seen[index / 64];
	bool seen = *word & bit;

	*word |= bit;
	return seen;
}

static unsigned rank_of(const char *body)
{
	unsigned rank = 1;

	for (; *body; body++)
		rank += *body != '*' && *body != '?' && *body != '/';
	return rank;
}

static void try_pattern(struct search *s, uint32_t index)
{
	const struct pattern *p = &s->m->v[index];
	bool whole = !p->partial;
	unsigned rank;

	if ((p->link && !s->link) || seen_before(s, index))
		return;
	if (p->must && !strstr(p->on_base ? s->base : s->path, p->must))
		return;
	s->ret->tried++;
	if (!p->exact && !ga_wildmatch(p->glob, p->on_base ? s->base : s->path, false))
		return;
	rank = rank_of(p->glob);
	for (size_t i = 0; i < s->ret->n; i++) {
		struct ga_hit *h = &s->ret->v[i];

		if (h->of != p->of)
			continue;
		h->whole |= whole;
		if (rank > h->rank)
			h->rank = rank;
		return;
	}
	GA_GROW(s->ret->v, s->ret->n, s->ret->cap);
	s->ret->v[s->ret->n++] = (struct ga_hit){ p->of, rank, whole };
}

static void try_filed(struct search *s, const struct ga_strmap *map, const char *key, size_t len)
{
	for (int32_t i = ga_strmap_first(map, key, len); i >= 0; i = map->nodes[i].next)
		try_pattern(s, map->nodes[i].value);
}

void ga_matcher_find(const struct ga_matcher *m, const char *folded, bool link,
		     struct ga_hits *ret)
{
	uint64_t here[SEEN_HERE / 64] = { 0 };
	const uint64_t pairs = pairs_of(folded);
	/* configured patterns can be more than those of the table */
	cleanup_free uint64_t *seen = m->n > SEEN_HERE ? ga_calloc(m->n / 64 + 1, sizeof(*seen))
						       : NULL;
	struct search s = { .m = m, .path = folded, .base = folded, .link = link, .ret = ret,
			    .seen = seen ? seen : here };

	ret->n = 0;
	for (const char *slash; (slash = strchr(s.base, '/')); s.base = slash + 1)
		try_filed(&s, &m->dirs, s.base, (size_t)(slash - s.base));
	try_filed(&s, &m->bases, s.base, strlen(s.base));
	if (*s.base)
		try_filed(&s, &m->firsts, s.base, 1);
	for (const char *dot = strchr(s.base, '.'); dot; dot = strchr(dot + 1, '.'))
		try_filed(&s, &m->exts, dot, strlen(dot));
	/* most of these have two letters in a row that the path lacks */
	for (size_t i = 0; i < m->n_rest; i++)
		if (!(m->rest[i].pairs & ~pairs))
			try_pattern(&s, m->rest[i].index);
}
