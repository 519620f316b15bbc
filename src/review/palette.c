/* SPDX-License-Identifier: MIT */
#include "ga/palette.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ga/parse.h"
#include "ga/quote.h"

/* No value needs more words: each attribute and its opposite, and two colours. */
#define WORDS_MAX 16

static const struct {
	const char *name;
	unsigned on, off;
} attributes[] = {
	{ "bold", 1, 22 },  { "dim", 2, 22 },     { "italic", 3, 23 }, { "ul", 4, 24 },
	{ "blink", 5, 25 }, { "reverse", 7, 27 }, { "strike", 9, 29 },
};

static const char *const colours[] = { "black",   "red",  "green", "yellow",
				       "blue",    "magenta", "cyan",  "white" };

struct value {
	char *out;
	size_t len, n;   /* length of `out`; number of codes in it */
	unsigned n_colours;
};

static bool same(const char *word, size_t n, const char *name)
{
	return strlen(name) == n && !strncasecmp(word, name, n);
}

static void put(struct value *v, const char *code)
{
	v->len += (size_t)snprintf(v->out + v->len, GA_SGR_MAX - v->len, "%s%s",
				   v->n++ ? ";" : "\033[", code);
}

static bool put_attribute(struct value *v, const char *word, size_t n)
{
	/* as in git, case matters for attributes but not for colours */
	bool off = n > 2 && !strncmp(word, "no", 2);
	char code[16];

	if (off) {
		size_t prefix = word[2] == '-' ? 3 : 2;

		word += prefix;
		n -= prefix;
	}
	for (size_t i = 0; i < GA_NELEMS(attributes); i++) {
		if (strlen(attributes[i].name) != n || strncmp(word, attributes[i].name, n) != 0)
			continue;
		(void)snprintf(code, sizeof(code), "%u",
			       off ? attributes[i].off : attributes[i].on);
		put(v, code);
		return true;
	}
	return false;
}

/* "#rrggbb", "#rgb" */
static bool parse_rgb(const char *word, size_t n, unsigned rgb[3])
{
	static const char digits[] = "0123456789abcdef";
	size_t each = (n - 1) / 3;

	if (*word != '#' || (n != 7 && n != 4))
		return false;
	rgb[0] = rgb[1] = rgb[2] = 0;
	for (size_t i = 0; i < n - 1; i++) {
		char c = word[1 + i];
		const char *at = memchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c, 16);

		if (!at)
			return false;
		rgb[i / each] = rgb[i / each] * 16 + (unsigned)(at - digits);
	}
	for (size_t i = 0; each == 1 && i < 3; i++)
		rgb[i] *= 17;
	return true;
}

/* A colour's code as foreground: 30 to 37, 90 to 97, or 39; 0 for one that needs no code. */
static bool parse_name(const char *word, size_t n, unsigned *ret)
{
	bool bright = n > 6 && !strncasecmp(word, "bright", 6);

	if (same(word, n, "normal") || same(word, n, "default") || same(word, n, "-1")) {
		*ret = same(word, n, "default") ? 39 : 0;
		return true;
	}
	for (unsigned i = 0; i < GA_NELEMS(colours); i++) {
		if (same(word + (bright ? 6 : 0), n - (bright ? 6 : 0), colours[i])) {
			*ret = i + (bright ? 90 : 30);
			return true;
		}
	}
	return false;
}

static bool parse_number(const char *word, size_t n, unsigned *ret)
{
	char text[4];
	uint64_t u;

	if (!n || n >= sizeof(text))
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	if (!ga_parse_u64(text, 255, &u))
		return false;
	*ret = (unsigned)u;
	return true;
}

static bool put_colour(struct value *v, const char *word, size_t n)
{
	unsigned back = v->n_colours ? 10 : 0, rgb[3], u;
	char code[32] = "";

	if (parse_rgb(word, n, rgb)) {
		(void)snprintf(code, sizeof(code), "%u;2;%u;%u;%u", 38 + back, rgb[0], rgb[1],
			       rgb[2]);
	} else if (parse_name(word, n, &u)) {
		if (u)
			(void)snprintf(code, sizeof(code), "%u", u + back);
	} else if (!parse_number(word, n, &u)) {
		return false;
	} else if (u < 16) {
		(void)snprintf(code, sizeof(code), "%u", (u < 8 ? 30 + u : 82 + u) + back);
	} else {
		(void)snprintf(code, sizeof(code), "%u;5;%u", 38 + back, u);
	}
	if (*code)
		put(v, code);
	return ++v->n_colours <= 2;
}

int ga_palette_parse(const char *value, char ret[GA_SGR_MAX])
{
	struct value v = { .out = ret };
	size_t words = 0;

	ret[0] = '\0';
	for (;;) {
		size_t n;

		value += strspn(value, " \t\n");
		n = strcspn(value, " \t\n");
		if (!n)
			break;
		if (++words > WORDS_MAX)
			return -1;
		if (same(value, n, "reset"))
			put(&v, "");
		else if (!put_attribute(&v, value, n) && !put_colour(&v, value, n))
			return -1;
		value += n;
		if (v.len + 32 > GA_SGR_MAX)
			return -1;
	}
	if (v.n)
		(void)snprintf(ret + v.len, GA_SGR_MAX - v.len, "m");
	return 0;
}

int ga_palette_read(const struct ga_gitconfig *c, struct ga_palette *ret, struct ga_error *err)
{
	static const struct {
		const char *key, *former, *def;
	} slots[GA_PAINTS] = {
		[GA_PAINT_META] = { "color.diff.meta", NULL, "bold" },
		[GA_PAINT_FRAG] = { "color.diff.frag", NULL, "cyan" },
		[GA_PAINT_OLD] = { "color.diff.old", NULL, "red" },
		[GA_PAINT_NEW] = { "color.diff.new", NULL, "green" },
		[GA_PAINT_CONTEXT] = { "color.diff.context", "color.diff.plain", "" },
	};

	for (size_t i = 0; i < GA_PAINTS; i++) {
		const char *v = ga_gitconfig_get(c, slots[i].key);

		if (!v && slots[i].former)
			v = ga_gitconfig_get(c, slots[i].former);
		if (ga_palette_parse(v ? v : slots[i].def, ret->sgr[i])) {
			cleanup_free char *q = ga_escape(v);

			(void)ga_fail(err, GA_EFATAL,
				      "'%s' in git's configuration is not a colour: '%s'",
				      slots[i].key, q);
			return ga_hint(err, "'git config --show-origin %s' says where it is set",
				       slots[i].key);
		}
	}
	return 0;
}
