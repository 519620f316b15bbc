/* SPDX-License-Identifier: MIT
 *
 * Added lines that do what a person has to look at: the table of dangers.def.
 */
#include <string.h>

#include "risk/content.h"

enum { JOINED_LINES = 8, JOINED_MAX = 8192, GRAMS = 1 << 14, PATTERNS_MAX = 1024 };

static const struct {
	const char *rule, *patterns, *seconds; /* `seconds`: on another line of the same file */
} table[] = {
#define DANGER(rule, patterns) { rule, patterns, "" },
#define PAIR(rule, first, seconds) { rule, first, seconds },
#include "dangers.def"
#undef DANGER
#undef PAIR
};

/* What comes from elsewhere, or is decoded. */
static const char sources[] = "curl wget fetch iwr invoke-webrequest base64 xxd openssl ://";

/* What is looked for, by three bytes that a line with it has in a row. Most lines have none. */
struct ga_sieve {
	unsigned short first[GRAMS]; /* by a hash of the three: 1 + an index into `v`, or 0 */
	struct pattern {
		char *text;
		size_t row;          /* GA_NELEMS(table): a source, see runs_what_is_piped() */
		unsigned short next; /* the next of that hash, as in `first` */
		bool second;         /* counts if another one of its row came earlier */
	} * v;
	size_t n, cap;
};

static unsigned hash(const char *p)
{
	return (((unsigned char)p[0] * 2654435761u) ^ ((unsigned char)p[1] * 40503u) ^
		((unsigned char)p[2] * 7919u)) >>
		       3 &
	       (GRAMS - 1);
}

static void sieve_add(struct ga_sieve *s, const char *words, size_t row, bool second)
{
	size_t n;

	for (const char *p = words; *p; p += n + (p[n] == ' ')) {
		size_t part = strcspn(p, "~ ");
		unsigned h = hash(part < 3 && p[part] == '~' ? p + part + 1 : p);

		n = strcspn(p, " ");
		if (s->n == PATTERNS_MAX)
			GA_BUG("more patterns than there is room for");
		GA_GROW(s->v, s->n, s->cap);
		s->v[s->n++] = (struct pattern){ ga_strndup(p, n), row, s->first[h], second };
		s->first[h] = (unsigned short)s->n;
	}
}

static struct ga_sieve *sieve_new(void)
{
	struct ga_sieve *s = ga_calloc(1, sizeof(*s));

	for (size_t i = 0; i < GA_NELEMS(table); i++) {
		sieve_add(s, table[i].patterns, i, false);
		sieve_add(s, table[i].seconds, i, true);
	}
	sieve_add(s, sources, GA_NELEMS(table), false);
	return s;
}

void ga_sieve_free(struct ga_sieve *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free(s->v[i].text);
	if (s)
		free(s->v);
	free(s);
}

/* Note in `may`, of a byte for each pattern, which the line may have. Returns whether any. */
static bool sieve_line(const struct ga_sieve *s, const struct ga_buf *line, bool *may)
{
	bool any = false;

	for (size_t i = 0; i + 2 < line->len; i++)
		for (size_t j = s->first[hash(line->ptr + i)]; j; j = s->v[j - 1].next) {
			if (!any)
				memset(may, 0, PATTERNS_MAX * sizeof(*may));
			any = may[j - 1] = true;
		}
	return any;
}

static bool is_dropped(char c)
{
	return !c || c == ' ' || c == '\t' || c == '\r' || c == '"' || c == '\'' || c == '\\' ||
	       c == '+';
}

void ga_text_canonical(const char *line, size_t n, struct ga_buf *out)
{
	char *to;

	ga_buf_clear(out);
	to = ga_buf_reserve(out, n);
	for (size_t i = 0; i < n; i++) {
		char c = line[i];

		if (c == '$' && n - i >= 6 && !memcmp(line + i, "${IFS}", 6))
			i += 5;
		else if (!is_dropped(c))
			*to++ = ga_lower(c);
	}
	*to = '\0';
	out->len = (size_t)(to - out->ptr);
}

/* Like memmem(3), which takes its time to begin: most of what is looked for is not there. */
static const char *find(const char *text, const char *end, const char *what, size_t n)
{
	while (n && (text = memchr(text, *what, (size_t)(end - text)))) {
		if ((size_t)(end - text) < n)
			return NULL;
		if (!memcmp(text, what, n))
			return text;
		text++;
	}
	return n ? NULL : text;
}

bool ga_text_finds(const char *text, const char *pattern, size_t len)
{
	const char *end = text + strlen(text);

	for (;;) {
		const char *gap = memchr(pattern, '~', len);
		size_t n = gap ? (size_t)(gap - pattern) : len;

		text = find(text, end, pattern, n);
		if (!text || n == len)
			return text != NULL;
		text += n;
		pattern += n + 1;
		len -= n + 1;
	}
}

/* Does what is here, which begins with a source, go through a pipe into an interpreter? */
static bool runs_what_is_piped(const char *from)
{
	static const char *const prefixes[] = { "sudo",      "env",   "exec", "/usr/bin/env",
						"/usr/bin/", "/bin/", "-e" };
	static const char names[] =
		"sh bash zsh dash ksh fish python python3 perl ruby node php iex "
		"invoke-expression pwsh powershell source";

	for (const char *p = from; (p = strchr(p, '|')); p++) {
		const char *word = p + 1 + strspn(p + 1, "&");

		for (size_t i = 0; i < GA_NELEMS(prefixes); i++)
			if (!strncmp(word, prefixes[i], strlen(prefixes[i])))
				word += strlen(prefixes[i]);
		/* arguments follow without a blank: "sh-s", "python3-" */
		if (ga_has_word_n(names, word,
				  strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789")) ||
		    !strncmp(word, "invoke-expression", 17))
			return true;
	}
	return false;
}

/* A URL whose host is written in numbers. */
static bool numeric_host(const char *line)
{
	for (const char *p = line; (p = strstr(p, "://")); p += 3) {
		size_t n = strspn(p + 3, "0123456789.");
		const char *end = p + 3 + n;

		if (n >= 7 && (*end == '/' || *end == ':' || !*end || strchr("`)", *end)) &&
		    strncmp(p + 3, "127.", 4) != 0 && strncmp(p + 3, "0.0.0.0", 7) != 0)
			return true;
	}
	return false;
}

bool ga_text_is_for_agents(const struct ga_look *k)
{
	return ga_look_fired(k, "instruction-files claude-code-dirs cursor-rules copilot "
				"agents-dir gemini opencode codex agents-other issue-templates");
}

void ga_text_quote(struct ga_look *k, const char *rule, const char *line)
{
	struct ga_buf b = GA_BUF_INIT;

	if (ga_look_fired(k, rule))
		return; /* the first line stands for all */
	ga_risk_quote_start(&b, line + strspn(line, " \t"));
	ga_look_fire(k, rule, ga_buf_steal(&b));
}

bool ga_text_is_prose(const struct ga_look *k)
{
	const char *dot = strrchr(k->base, '.');

	return dot && ga_has_word("md markdown mdx rst adoc txt", dot + 1) &&
	       !ga_text_is_for_agents(k);
}

static void fire(struct ga_look *k, const char *rule, const char *line)
{
	if (!ga_text_is_prose(k)) {
		ga_text_quote(k, rule, line);
		return;
	}
	ga_look_fire_as(k, rule, GA_LOW, ga_strdup("in prose"));
}

/* Does a shell continue the command in the next line? */
static bool goes_on(const char *line, size_t n)
{
	while (n && strchr(" \t\r", line[n - 1]))
		n--;
	return n && (line[n - 1] == '\\' || line[n - 1] == '|');
}

void ga_text_join(struct ga_buf *line, const struct ga_buf *text, size_t next)
{
	const char *start;
	size_t n;

	for (int i = 0; i < JOINED_LINES && (start = ga_buf_next_line(text, &next, &n)); i++) {
		if (!goes_on(line->ptr, line->len) || line->len + n > JOINED_MAX)
			return;
		while (line->len && strchr(" \t\r\\", line->ptr[line->len - 1]))
			ga_buf_truncate(line, line->len - 1);
		ga_buf_addch(line, ' ');
		ga_buf_add(line, start, n);
	}
}

/* `may`: of which patterns to look; `seen`: rows of which the first part was on an earlier line. */
static void look_at_line(struct ga_look *k, const char *plain, const char *shown, const bool *may,
			 bool *seen)
{
	const struct ga_sieve *s = k->sieve;
	bool piped = false;

	for (const bool *at = may; (at = memchr(at, 1, (size_t)(may + s->n - at))); at++) {
		const struct pattern *p = &s->v[at - may];

		if ((p->second && !seen[p->row]) || !ga_text_finds(plain, p->text, strlen(p->text)))
			continue;
		if (p->row == GA_NELEMS(table))
			piped |= runs_what_is_piped(strstr(plain, p->text));
		else if (*table[p->row].seconds && !p->second)
			seen[p->row] = true;
		else
			fire(k, table[p->row].rule, shown);
	}
	if (piped)
		fire(k, "download-exec", shown);
	if (numeric_host(plain))
		fire(k, "exfil-endpoint", shown);
}

void ga_text_dangers(struct ga_look *k, const struct ga_buf *added)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT, plain = GA_BUF_INIT;
	bool seen[GA_NELEMS(table)] = { false }, may[PATTERNS_MAX] = { false };
	const char *start;

	if (!k->sieve)
		k->sieve = sieve_new();
	for (size_t pos = 0, n; (start = ga_buf_next_line(added, &pos, &n));) {
		ga_text_canonical(start, n, &plain);
		if (!sieve_line(k->sieve, &plain, may) && !goes_on(start, n))
			continue;
		ga_buf_clear(&line);
		ga_buf_add(&line, start, n);
		ga_text_join(&line, added, pos);
		ga_text_canonical(line.ptr, line.len, &plain);
		if (sieve_line(k->sieve, &plain, may))
			look_at_line(k, plain.ptr, line.ptr, may, seen);
	}
}
