/* SPDX-License-Identifier: MIT
 *
 * Guards that a change takes away: lines that verified something, checks whose failure mattered,
 * tests that ran. Both versions are read as a whole, and such lines are counted: one that was moved
 * or edited has not gone.
 */
#include <string.h>

#include "risk/content.h"

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

/* Lines that were looked for, and the name of what each has: those of one name are counted. */
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
static void compare(struct ga_look *k, const struct found *more, const struct found *less,
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
	ga_look_fire_as(k, rule, GA_HIGH, ga_buf_steal(&b));
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

/* Comments do nothing; "#[" is none. */
static bool is_comment(const char *plain)
{
	return (plain[0] == '#' && plain[1] != '[') || !strncmp(plain, "//", 2);
}

static void look_for(const struct ga_buf *text, const char *patterns, struct found *ret)
{
	cleanup_buf struct ga_buf plain = GA_BUF_INIT;
	const char *s;

	for (size_t pos = 0, n; (s = ga_buf_next_line(text, &pos, &n));) {
		ga_text_canonical(s, n, &plain);
		if (plain.len && !is_comment(plain.ptr) && has_any(plain.ptr, patterns))
			found_add(ret, "", s, n);
	}
}

static void check_lines(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text)
{
	const char *dot = ga_look_fired(k, "test-code") ? strrchr(k->base, '.') : NULL;

	for (size_t i = 0; i < GA_NELEMS(guards); i++) {
		cleanup_found struct found was = { .lines = GA_STRV_INIT }, is = was;
		size_t more = guards[i].more;

		if (more && (!dot || !ga_has_word(guards[i].languages, dot + 1)))
			continue;
		look_for(old, guards[i].patterns, &was);
		look_for(text, guards[i].patterns, &is);
		if (more)
			compare(k, &is, &was, more, "test-weakening", "tests are skipped: ");
		else
			compare(k, &was, &is, 1, "verify-off", "gone: ");
	}
}

/* Note the tool that checks something in `n` bytes of a command. What a recipe, a list, a key or a
 * Dockerfile has before it is skipped. */
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
	tool = ga_reach_check_in(p + strspn(p, before));
	if (tool)
		found_add(ret, tool, line->ptr, line->len);
}

/* Where the status of what stands before no longer matters; NULL: nowhere. */
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

static void look_for_ignored(const struct ga_buf *text, bool make, struct found *ret)
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

void ga_text_guards(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text)
{
	cleanup_found struct found was = { .lines = GA_STRV_INIT }, is = was;
	bool make = ga_look_fired(k, "make");

	if (ga_text_is_prose(k))
		return;
	if (old->len)
		check_lines(k, old, text);
	look_for_ignored(text, make, &is);
	if (is.lines.n)
		look_for_ignored(old, make, &was);
	compare(k, &is, &was, 1, "test-weakening", "whether this fails is ignored: ");
}
