/* SPDX-License-Identifier: MIT
 *
 * Find added lines that match the table of dangers.def.
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

/* Patterns by three bytes that a matching line contains in a row. Most lines have none. */
struct ga_sieve {
	unsigned short first[GRAMS]; /* by a hash of the three: 1 + an index into `v`, or 0 */
	struct pattern {
		char *text;
		size_t row;          /* GA_NELEMS(table): a source, see is_piped_to_interpreter() */
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

/* Set in `may`, a byte for each pattern, which ones the line may match. Returns whether any. */
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

static void ga_text_canonical(const char *line, size_t n, struct ga_buf *out)
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

/* Like memmem(3), but with less setup, since most patterns do not match. */
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

/* A line as patterns of dangers.def are written, and whether it has one of them (`len` bytes). */
static bool ga_text_finds(const char *text, const char *pattern, size_t len)
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

/* Is the output of the source at `from` piped into an interpreter? */
static bool is_piped_to_interpreter(const char *from)
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

bool ga_text_is_for_agents(const struct ga_inspect *k)
{
	return ga_has_fired(k, "instruction-files claude-code-dirs cursor-rules copilot "
			       "agents-dir gemini opencode codex agents-other issue-templates");
}

void ga_text_quote(struct ga_inspect *k, const char *rule, const char *line)
{
	struct ga_buf b = GA_BUF_INIT;

	if (ga_has_fired(k, rule))
		return; /* the first line speaks for all */
	ga_risk_quote_start(&b, line + strspn(line, " \t"));
	ga_fire_rule(k, rule, ga_buf_steal(&b));
}

/* Prose for users is harmless, but agents may follow instructions. */
static bool ga_text_is_prose(const struct ga_inspect *k)
{
	const char *dot = strrchr(k->base, '.');

	return dot && ga_has_word("md markdown mdx rst adoc txt", dot + 1) &&
	       !ga_text_is_for_agents(k);
}

static void fire_line(struct ga_inspect *k, const char *rule, const char *line)
{
	if (!ga_text_is_prose(k)) {
		ga_text_quote(k, rule, line);
		return;
	}
	ga_fire_rule_as(k, rule, GA_LOW, ga_strdup("in prose"));
}

/* Does a shell continue the command in the next line? */
static bool is_continued(const char *line, size_t n)
{
	while (n && strchr(" \t\r", line[n - 1]))
		n--;
	return n && (line[n - 1] == '\\' || line[n - 1] == '|');
}

/* Append the lines from `next` on that continue the command of a shell. */
static void ga_text_join(struct ga_buf *line, const struct ga_buf *text, size_t next)
{
	const char *start;
	size_t n;

	for (int i = 0; i < JOINED_LINES && (start = ga_buf_next_line(text, &next, &n)); i++) {
		if (!is_continued(line->ptr, line->len) || line->len + n > JOINED_MAX)
			return;
		while (line->len && strchr(" \t\r\\", line->ptr[line->len - 1]))
			ga_buf_truncate(line, line->len - 1);
		ga_buf_addch(line, ' ');
		ga_buf_add(line, start, n);
	}
}

/* `may`: the patterns to try; `seen`: rows whose first part was on an earlier line. */
static void look_at_line(struct ga_inspect *k, const char *plain, const char *shown,
			 const bool *may, bool *seen)
{
	const struct ga_sieve *s = k->sieve;
	bool piped = false;

	for (const bool *at = may; (at = memchr(at, 1, (size_t)(may + s->n - at))); at++) {
		const struct pattern *p = &s->v[at - may];

		if ((p->second && !seen[p->row]) || !ga_text_finds(plain, p->text, strlen(p->text)))
			continue;
		if (p->row == GA_NELEMS(table))
			piped |= is_piped_to_interpreter(strstr(plain, p->text));
		else if (*table[p->row].seconds && !p->second)
			seen[p->row] = true;
		else
			fire_line(k, table[p->row].rule, shown);
	}
	if (piped)
		fire_line(k, "download-exec", shown);
	if (numeric_host(plain))
		fire_line(k, "exfil-endpoint", shown);
}

void ga_text_dangers(struct ga_inspect *k, const struct ga_buf *added)
{
	cleanup_buf struct ga_buf line = GA_BUF_INIT, plain = GA_BUF_INIT;
	bool seen[GA_NELEMS(table)] = { false }, may[PATTERNS_MAX] = { false };
	const char *start;

	if (!k->sieve)
		k->sieve = sieve_new();
	for (size_t pos = 0, n; (start = ga_buf_next_line(added, &pos, &n));) {
		ga_text_canonical(start, n, &plain);
		if (!sieve_line(k->sieve, &plain, may) && !is_continued(start, n))
			continue;
		ga_buf_clear(&line);
		ga_buf_add(&line, start, n);
		ga_text_join(&line, added, pos);
		ga_text_canonical(line.ptr, line.len, &plain);
		if (sieve_line(k->sieve, &plain, may))
			look_at_line(k, plain.ptr, line.ptr, may, seen);
	}
}

/* Guards that a change takes away: lines that verified something, checks whose failure mattered,
 * tests that ran. Both versions are read as a whole, and such lines are counted: one that was moved
 * or edited has not gone. */

enum { FOUND_MAX = 1000, COMMAND_MAX = 4096, LOOKED_MAX = 20000 };

static const struct {
	size_t more; /* 0: there are fewer of them */
	const char *languages, *patterns;
} guards[] = {
#define GONE(patterns) { 0, "", patterns },
#define SKIPPED(more, languages, patterns) { more, languages, patterns },
#include "guards.def"
#undef GONE
#undef SKIPPED
};

/* Matching lines and the names of their checks, counted by name. */
struct found {
	struct ga_strv names, lines;
};
#define cleanup_found cleanup_(found_release)

static void found_release(struct found *f)
{
	ga_strv_release(&f->names);
	ga_strv_release(&f->lines);
}

static void found_add(struct found *f, const char *name, const char *line, size_t n)
{
	if (f->lines.n >= FOUND_MAX)
		return;
	ga_strv_push(&f->names, name);
	ga_strv_push_n(&f->lines, line, n);
}

static size_t count(const struct found *f, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < f->names.n; i++)
		n += !strcmp(f->names.v[i], name);
	return n;
}

/* If `more` has so many more of a name than `less`, fire with a line of that: if possible, one that
 * `less` has not. */
static void compare(struct ga_inspect *k, const struct found *more, const struct found *less,
		    size_t by, const char *rule, const char *intro)
{
	struct ga_buf b = GA_BUF_INIT;
	const char *line = NULL;
	bool own = false;

	for (size_t i = 0; !own && i < more->lines.n; i++) {
		const char *name = more->names.v[i];

		if (count(more, name) < count(less, name) + by)
			continue;
		own = ga_strv_find(&less->lines, more->lines.v[i]) < 0;
		line = own || !line ? more->lines.v[i] : line;
	}
	if (!line)
		return;
	ga_buf_adds(&b, intro);
	ga_risk_quote_start(&b, line + strspn(line, " \t"));
	ga_fire_rule_as(k, rule, GA_HIGH, ga_buf_steal(&b));
}

static bool has_any(const char *plain, const char *patterns)
{
	size_t n;

	for (const char *p = patterns; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (*p == '^' ? !strncmp(plain, p + 1, n - 1) : ga_text_finds(plain, p, n))
			return true;
	}
	return false;
}

/* Is it a comment? "#[" is not. */
static bool is_comment(const char *plain)
{
	return (plain[0] == '#' && plain[1] != '[') || !strncmp(plain, "//", 2);
}

static void find_patterns(const struct ga_buf *text, const char *patterns, struct found *ret)
{
	cleanup_buf struct ga_buf plain = GA_BUF_INIT;
	const char *s;

	for (size_t pos = 0, n; (s = ga_buf_next_line(text, &pos, &n));) {
		ga_text_canonical(s, n, &plain);
		if (plain.len && !is_comment(plain.ptr) && has_any(plain.ptr, patterns))
			found_add(ret, "", s, n);
	}
}

static void check_lines(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text)
{
	const char *dot = ga_has_fired(k, "test-code") ? strrchr(k->base, '.') : NULL;

	for (size_t i = 0; i < GA_NELEMS(guards); i++) {
		cleanup_found struct found was = { .lines = GA_STRV_INIT }, is = was;
		size_t more = guards[i].more;

		if (more && (!dot || !ga_has_word(guards[i].languages, dot + 1)))
			continue;
		find_patterns(old, guards[i].patterns, &was);
		find_patterns(text, guards[i].patterns, &is);
		if (more)
			compare(k, &is, &was, more, "test-weakening", "tests are skipped: ");
		else
			compare(k, &was, &is, 1, "verify-off", "gone: ");
	}
}

/* Record the checker in `n` bytes of a command, after the prefix of a recipe, a list, a key or a
 * Dockerfile. */
static void note_check(struct found *ret, const struct ga_buf *line, size_t n)
{
	static const char before[] = " \t@-+\"'";
	cleanup_free char *text = ga_strndup(line->ptr, n < COMMAND_MAX ? n : COMMAND_MAX),
			  *tool = NULL;
	const char *p = text + strspn(text, before), *last = strrchr(text, ';');
	size_t word = strcspn(p, " \t");
	const char *next = p + word + strspn(p + word, " \t");

	if (last)
		p = last + 1;
	else if ((word && p[word - 1] == ':') || !strncmp(p, "RUN ", 4))
		p = next;
	else if (next[0] == '=' && next[1] == ' ')
		p = next + 2;
	tool = ga_reach_find_check(p + strspn(p, before));
	if (tool)
		found_add(ret, tool, line->ptr, line->len);
}

/* The place where the exit status of the command is discarded; NULL: none. */
static const char *ignored_from(const char *line)
{
	static const char *const ends[] = { "true", ":", "/bin/true", "exit 0", "echo", "printf" };

	for (const char *p = line; (p = strpbrk(p, "|;")); p++) {
		bool either = p[0] == '|' && p[1] == '|';
		const char *word = p + 1 + either + strspn(p + 1 + either, " \t");

		for (size_t i = 0; (either || *p == ';') && i < (either ? GA_NELEMS(ends) : 1); i++)
			if (!strncmp(word, ends[i], strlen(ends[i])) &&
			    strchr(" \t\"');", word[strlen(ends[i])]) &&
			    (i < 4 || !strstr(word, "exit")))
				return p;
	}
	return NULL;
}

/* `lenient`: after "set +e", if no status is read. */
static bool ignores_all(const char *line, bool make, bool lenient)
{
	static const char *const used[] = { "||", "&&", "if " };

	/* "-x" of a recipe, also behind "@" */
	return strstr(line, "--exit-zero") || (lenient && !GA_FINDS_ANY(strstr, line, used)) ||
	       (make && *line == '\t' && memchr(line, '-', 1 + strspn(line + 1, "@-+")));
}

static void find_ignored(const struct ga_buf *text, bool make, struct found *ret)
{
	static const char *const strict[] = { "set -e", "run:" };
	static const char *const reads[] = { "$?", "PIPESTATUS" };
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	bool lenient = false, reading = GA_FINDS_ANY(strstr, text->ptr, reads);
	size_t looked = 0;
	const char *s, *end;

	for (size_t pos = 0, n; (s = ga_buf_next_line(text, &pos, &n));) {
		ga_buf_clear(&line);
		ga_buf_add(&line, s, n);
		if (line.ptr[strspn(line.ptr, " \t")] == '#')
			continue;
		ga_text_join(&line, text, pos);
		if (strstr(line.ptr, "set +e"))
			lenient = !reading;
		else if (lenient)
			lenient = !GA_FINDS_ANY(strstr, line.ptr, strict);
		end = ignored_from(line.ptr);
		if (!end && !ignores_all(line.ptr, make, lenient))
			continue;
		/* what is beyond may be any check */
		if (++looked > LOOKED_MAX) {
			found_add(ret, "", line.ptr, line.len);
			return;
		}
		note_check(ret, &line, end ? (size_t)(end - line.ptr) : line.len);
	}
}

void ga_text_guards(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text)
{
	cleanup_found struct found was = { .lines = GA_STRV_INIT }, is = was;
	bool make = ga_has_fired(k, "make");

	if (ga_text_is_prose(k))
		return;
	if (old->len)
		check_lines(k, old, text);
	find_ignored(text, make, &is);
	if (is.lines.n)
		find_ignored(old, make, &was);
	compare(k, &is, &was, 1, "test-weakening", "whether this fails is ignored: ");
}
