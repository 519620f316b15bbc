/* SPDX-License-Identifier: MIT
 *
 * Find secret values of names, as in INI, YAML, JSON, XML, dotenv, shell and source files, and URLs
 * with a password. No syntax is parsed beyond a name, '=' or ':', and a value. Each value is read
 * once, up to VALUE_MAX bytes.
 */
#include <ctype.h>
#include <string.h>

#include "ga/base/alloc.h"
#include "secret-internal.h"

/* A value, and whether it is a secret: noting it, what looks random, and what takes the place of
 * one. */

#define RANDOM_MIN 12
#define RANDOM_BITS 3584 /* for each character, in 1024ths */

bool secret_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

void secret_add_value(struct ga_secret_marks *m, uint32_t bit, const char *value, size_t n)
{
	uint64_t h = SECRET_HASH ^ bit;

	m->bits |= bit;
	if (m->blot) {
		memset(m->blot + (value - (const char *)m->blot), '*', n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (value[i] != '\r')
			h = (h ^ (unsigned char)value[i]) * 1099511628211u;
	if (m->n_prints < GA_SECRET_PRINTS_MAX)
		m->prints[m->n_prints++] = h;
}

bool ga_secret_within(const struct ga_secret_marks *a, const struct ga_secret_marks *b)
{
	/* there are none to compare, or more than could be remembered */
	if (!a->n_prints || a->n_prints == GA_SECRET_PRINTS_MAX)
		return false;
	for (size_t i = 0; i < a->n_prints; i++) {
		size_t k = 0;

		while (k < b->n_prints && b->prints[k] != a->prints[i])
			k++;
		if (k == b->n_prints)
			return false;
	}
	return true;
}

/* The binary logarithm of a small number, in 1024ths. */
static unsigned log2_of(unsigned n)
{
	unsigned whole = 31 - (unsigned)__builtin_clz(n), frac = 0;
	uint64_t x = (uint64_t)n << (31 - whole); /* 1 <= x / 2^31 < 2 */

	for (int i = 0; i < 10; i++) {
		x = x * x >> 31;
		frac = frac << 1 | (x >> 32 ? 1 : 0);
		x >>= x >> 32 ? 1 : 0;
	}
	return whole * 1024 + frac;
}

/* Shannon's: n log2 n - sum of c log2 c */
unsigned ga_secret_entropy(const char *p, size_t n)
{
	unsigned count[256] = { 0 }, bits = 0;

	for (size_t i = 0; i < n; i++)
		count[(unsigned char)p[i]]++;
	for (size_t i = 0; i < GA_NELEMS(count); i++)
		bits += count[i] ? count[i] * log2_of(count[i]) : 0;
	return n ? (unsigned)n * log2_of((unsigned)n) - bits : 0;
}

bool secret_random(const char *p, size_t n)
{
	if (n < RANDOM_MIN)
		return false;
	n = n > 256 ? 256 : n;
	/* few characters cannot have more entropy: 14 of them have log2 14 bits each at most */
	return ga_secret_entropy(p, n) >= n * (n < 14 ? RANDOM_BITS - 307 : RANDOM_BITS);
}

static bool secret_begins(const char *p, size_t n, const char *with)
{
	return n >= strlen(with) && !strncasecmp(p, with, strlen(with));
}

static bool holds(const char *p, size_t n, const char *what)
{
	for (size_t k = strlen(what); n >= k; p++, n--)
		if (secret_begins(p, n, what))
			return true;
	return false;
}

static bool only(const char *p, size_t n, const char *set)
{
	for (size_t i = 0; i < n; i++)
		if (!p[i] || !strchr(set, p[i]))
			return false;
	return true;
}

bool ga_secret_placeholder(const char *p, size_t n)
{
	static const char *const first[] = {
		"your", "my_", "my-", "the_", "the-", "some", "example", "dummy", "test", "fake",
		"change", "placeholder", "todo", "fixme", "xxx", "none", "null", "nil", "true",
		"false", "undefined", "secret", "password", "passwd", "foobar", "localhost",
		"replace", "insert", "enter", "redacted", "sample", "default", "process.env",
		"os.environ", "os.getenv", "env.", "env[", "env(", "getenv", "system.getenv",
		"config.", "config[", "settings.", "self.", "this.", "vault:", "ref:", "ref+",
		"secretkeyref", "arn:aws:secretsmanager", "op://", "file://", "projects/", "enc[",
		"var.", "local.", "data.", "module.", "secrets.",
	};
	static const char *const anywhere[] = { "example", "changeme", "change_me", "change-me",
						"placeholder", "your_", "your-", "<your", "xxxx",
						"****", "...." };

	if (n < SECRET_MIN || only(p, n, "xX") || only(p, n, "*") || only(p, n, ".") ||
	    only(p, n, "-_=#") || only(p, n, "0123456789."))
		return true;
	/* references: ${X}, $X, {{ x }}, <x>, %X%, %(x)s, #{x}, @x@, [x] */
	if (strchr("$<{%#@[(", *p) && *p)
		return *p != '$' || !memchr(p + 1, '$', n - 1); /* $2y$... is a hash */
	for (size_t i = 0; i < GA_NELEMS(first); i++)
		if (secret_begins(p, n, first[i]))
			return true;
	for (size_t i = 0; i < GA_NELEMS(anywhere); i++)
		if (holds(p, n, anywhere[i]))
			return true;
	return false;
}

bool secret_has_ending(const char *path, const char *list)
{
	const char *dot = strrchr(path, '.');

	return dot && ga_has_word(list, dot + 1);
}

bool ga_secret_is_code(const char *path)
{
	return secret_has_ending(path,
				 "c h cc cpp hpp cs go rs py pyi rb js mjs cjs jsx ts tsx java kt "
				 "scala swift m php pl lua ex exs erl hs ml clj dart vue svelte "
				 "html css scss ps1 tf nix zig sol proto graphql");
}

#define NAME_MAX_BYTES 80
#define VALUE_MAX 512

/* ---- names ------------------------------------------------------------------------ */

/* A name without separators, in lower case: "client-secret", "client_secret" and "clientSecret" are
 * the same. */
static size_t squeeze(const char *p, size_t n, char *out)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (secret_is_word(p[i]) && p[i] != '_')
			out[k++] = ga_lower(p[i]);
	/* SECRET_1, API_KEY_BASE64 */
	while (k && out[k - 1] >= '0' && out[k - 1] <= '9')
		k--;
	out[k] = '\0';
	return k;
}

/* Is it a name that secrets have? */
static bool names_secret(const char *p, size_t n)
{
	static const char *const last[] = {
		"secret", "token", "password", "passwd", "passphrase", "pwd", "apikey", "secretkey",
		"accesskey", "privatekey", "keybase", "authkey", "signingkey", "encryptionkey",
		"masterkey", "sessionkey", "accountkey", "credential", "credentials", "secretvalue",
		"jwtkey", "presharedkey", "securitykey", "pass", "salt", "pepper", "dsn",
		"connectionstring",
	};
	char s[NAME_MAX_BYTES + 1];
	size_t k = squeeze(p, n, s);

	if (ga_has_word("auth pat", s))
		return true;
	for (size_t i = 0; i < GA_NELEMS(last); i++)
		if (ga_ends_in_n(s, k, last[i]))
			return !ga_ends_in_n(s, k, "bypass") && !ga_ends_in_n(s, k, "compass");
	return false;
}

/* ---- values ------------------------------------------------------------------------ */

struct pair {
	const char *name, *value;
	size_t n_name, n_value;
	bool quoted;
};

static bool in_name(char c)
{
	return secret_is_word(c) || c == '-' || c == '.';
}

/* The name before the separator at `at`. */
static bool find_name(const char *line, const char *at, struct pair *ret)
{
	const char *end = at, *p;

	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (end > line && (end[-1] == '"' || end[-1] == '\'' || end[-1] == ']'))
		end--;
	if (end > line && (end[-1] == '"' || end[-1] == '\''))
		end--;
	p = end;
	while (p > line && in_name(p[-1]) && end - p < NAME_MAX_BYTES)
		p--;
	ret->name = p;
	ret->n_name = (size_t)(end - p);
	return end > p;
}

/* The value from `p` on, up to the end of the line, the closing quote or what ends a word. Without
 * quotes, the first `least` bytes can only be ended by a blank. */
static bool find_value(const char *p, const char *end, size_t least, struct pair *ret)
{
	char quote = 0;
	size_t n = 0;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '=' || *p == '>'))
		p++;
	if (p < end && (*p == '"' || *p == '\'' || *p == '`'))
		quote = *p++;
	while (p + n < end && n < VALUE_MAX) {
		char c = p[n];

		if (quote ? c == quote :
			    c == ' ' || c == '\t' ||
				    (n >= least && (c == ',' || c == ';' || c == '"' || c == '\'' ||
						    c == '<' || c == ')' || c == '}')))
			break;
		n++;
	}
	while (n && !quote && (p[n - 1] == '\r' || p[n - 1] == '\\'))
		n--;
	ret->value = p;
	ret->n_value = n;
	ret->quoted = quote != 0;
	return n > 0;
}

/* Is it code that gives the value: a call, an index, a dotted name? */
static bool is_code(const struct pair *v)
{
	bool dotted = false;

	if (v->quoted)
		return false;
	for (size_t i = 0; i < v->n_value; i++) {
		if (strchr("([&|", v->value[i]))
			return true;
		if (v->value[i] == '.')
			dotted = true;
		else if (!secret_is_word(v->value[i]))
			return false;
	}
	return dotted;
}

/* "Password=x;" within the value of a connection string. */
static void look_at_connection(const struct pair *v, struct ga_secret_marks *m)
{
	static const char *const words[] = { "password=", "pwd=", "accountkey=",
					     "sharedaccesskey=" };

	for (size_t i = 0; i < v->n_value; i++)
		for (size_t k = 0; k < GA_NELEMS(words); k++) {
			const char *p = v->value + i;
			size_t skip = strlen(words[k]), n = 0;

			if (!secret_begins(p, v->n_value - i, words[k]))
				continue;
			while (i + skip + n < v->n_value && !strchr(";&\" ", p[skip + n]))
				n++;
			if (!ga_secret_placeholder(p + skip, n))
				secret_add_value(m, GA_MARK_SECRET, p + skip, n);
		}
}

static void look_at_pair(const struct pair *v, bool code, struct ga_secret_marks *m)
{
	if (ga_secret_placeholder(v->value, v->n_value) || (code && is_code(v)))
		return;
	m->bits |= GA_MARK_VALUE;
	if (memchr(v->value, ';', v->n_value))
		look_at_connection(v, m);
	if (!names_secret(v->name, v->n_name) || secret_begins(v->value, v->n_value, "http"))
		return;
	/* prose: "password: at least eight characters" */
	if (v->quoted && memchr(v->value, ' ', v->n_value) && !secret_random(v->value, v->n_value))
		return;
	secret_add_value(m, GA_MARK_SECRET, v->value, v->n_value);
	if (secret_random(v->value, v->n_value))
		m->bits |= GA_MARK_RANDOM;
}

/* ---- URLs, headers, XML --------------------------------------------------------------- */

/* At "://": look for "user:password@" after it. */
static void look_at_url(const char *p, const char *end, struct ga_secret_marks *m)
{
	const char *user = p + 3, *colon = NULL;

	for (p = user; p < end && p - user < VALUE_MAX; p++) {
		if (*p == '@') {
			size_t n = colon ? (size_t)(p - colon - 1) : 0;

			if (n >= 3 && !ga_secret_placeholder(colon + 1, n) &&
			    !(n == (size_t)(colon - user) && !memcmp(user, colon + 1, n)))
				secret_add_value(m, GA_MARK_LOGIN, colon + 1, n);
			return;
		}
		if ((unsigned char)*p <= ' ' || strchr("/\"'<>()`,", *p))
			return;
		if (*p == ':' && !colon)
			colon = p;
	}
}

static void look_at_header(const char *p, const char *end, struct ga_secret_marks *m)
{
	static const char *const kinds[] = { "basic ", "bearer ", "token " };

	while (p < end && strchr(" \t\"':=", *p))
		p++;
	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		size_t skip = strlen(kinds[i]), n = 0;

		if (!secret_begins(p, (size_t)(end - p), kinds[i]))
			continue;
		while (p + skip + n < end && n < VALUE_MAX &&
		       (secret_is_word(p[skip + n]) || strchr("+/=.-", p[skip + n])))
			n++;
		if (n >= 8 && !ga_secret_placeholder(p + skip, n))
			secret_add_value(m, GA_MARK_LOGIN, p + skip, n);
	}
}

struct line {
	const char *p, *end;
	const char *upto; /* the end of the last value: nothing before it is scanned again */
	bool code;
	struct ga_secret_marks *m;
};

/* <password>value</password> */
static void look_at_element(const struct line *l, const char *at)
{
	struct pair v;

	if (!find_name(l->p, at, &v) || v.name == l->p || v.name[-1] != '<')
		return;
	if (find_value(at + 1, l->end, 0, &v))
		look_at_pair(&v, l->code, l->m);
}

static bool word_before(const char *line, const char *at, const char *word)
{
	size_t n = strlen(word);
	const char *end = at;

	while (end > line && strchr(" \t\"'", end[-1]))
		end--;
	return (size_t)(end - line) >= n && secret_begins(end - n, n, word);
}

/* Outside of code a password may begin with what would end a word, as in "PASSWORD=a,b": find such
 * a value again, to the next blank. */
static bool find_rest(const struct line *l, const char *at, struct pair *v)
{
	if (!l->code && *at == '=' && !v->quoted && v->n_value < SECRET_MIN &&
	    names_secret(v->name, v->n_name))
		return find_value(at + 1, l->end, SECRET_MIN, v);
	return v->n_value > 0;
}

/* Scan the name and value around the separator `at`: '=', ':' or '>'. */
static void scan_separator(struct line *l, const char *at)
{
	struct pair v;

	if (*at == ':' && l->end - at > 3 && at[1] == '/' && at[2] == '/') {
		look_at_url(at, l->end, l->m);
		return;
	}
	if (at < l->upto)
		return;
	if (*at == '>') {
		look_at_element(l, at);
		return;
	}
	if (word_before(l->p, at, "authorization") || word_before(l->p, at, "extraheader"))
		look_at_header(at + 1, l->end, l->m);
	/* "==", "!=", "<=" compare */
	if (at > l->p && strchr("=!<>~", at[-1]))
		return;
	if (!find_name(l->p, at, &v))
		return;
	(void)find_value(at + 1, l->end, 0, &v);
	if (!find_rest(l, at, &v))
		return;
	look_at_pair(&v, l->code, l->m);
	l->upto = v.value + v.n_value;
}

/* .netrc has no separators: "machine x login y password z". */
static void look_at_netrc(const struct line *l)
{
	size_t n = (size_t)(l->end - l->p);
	const char *p = memmem(l->p, n, "password ", 9);
	struct pair v = { .name = "password", .n_name = 8 };

	if (p && memmem(l->p, n, "login ", 6) && find_value(p + 9, l->end, SECRET_MIN, &v))
		look_at_pair(&v, l->code, l->m);
}

void secret_scan_lines(const char *p, size_t n, bool code, struct ga_secret_marks *m)
{
	const char *end = p + n;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct line l = { p, stop ? stop : end, p, code, m };

		for (const char *q = p; q < l.end; q++)
			if (*q == '=' || *q == ':' || *q == '>')
				scan_separator(&l, q);
		look_at_netrc(&l);
		p = l.end + 1;
	}
}
