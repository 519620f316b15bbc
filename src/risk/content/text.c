/* SPDX-License-Identifier: MIT */
#include "risk/content.h"

#include <ctype.h>
#include <string.h>

#include "ga/base/quote.h"
#include "ga/secret/secret.h"

/* Inspect text that coding agents obey: instructions in it, and parts that a rendered page does not
 * show. */

/* Does it have words that ask for something to be done, concealed or overridden? */
static bool is_directive(const char *text)
{
	static const char *const words[] = {
		"ignore ", "disregard", "override", "instead of", "do not tell", "don't tell",
		"do not mention", "don't mention", "never mention", "without asking",
		"without telling", "silently", "secretly", "system prompt", "you must",
		"you should",
		"always run", "must run", "execute", "curl ", "wget ", "bash", "credential",
		"api key", "api_key", "token", "password", "upload", "send ",
	};

	for (size_t i = 0; i < GA_NELEMS(words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

static void fire_text(struct ga_inspect *k, const char *what, const char *text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_addf(&b, "%s: ", what);
	ga_risk_quote_start(&b, text);
	/* an issue template is not meant for agents: its visible text is only medium */
	if (ga_has_fired(k, "issue-templates"))
		ga_fire_rule_as(k, "hidden-instruction", GA_HIGH, ga_buf_steal(&b));
	else
		ga_fire_rule(k, "hidden-instruction", ga_buf_steal(&b));
}

/* The content of the next comment from `*pos`; one that is not closed goes to the end of the text.
 */
static const char *next_comment(const struct ga_buf *text, size_t *pos, size_t *ret_n)
{
	const char *start = memmem(text->ptr + *pos, text->len - *pos, "<!--", 4), *end;
	size_t left;

	if (!start)
		return NULL;
	start += 4;
	left = text->len - (size_t)(start - text->ptr);
	end = memmem(start, left, "-->", 3);
	*ret_n = end ? (size_t)(end - start) : left;
	*pos = text->len - left + *ret_n;
	return start;
}

/* Check comments as a whole: of one that changed, the new lines need not be those that begin it. */
static void check_comments(struct ga_inspect *k, const struct ga_buf *old,
			   const struct ga_buf *text)
{
	cleanup_strmap struct ga_strmap known = GA_STRMAP_INIT;
	const char *p;
	size_t n, pos = 0;

	while ((p = next_comment(old, &pos, &n)))
		ga_strmap_add(&known, p, n, 0);
	pos = 0;
	while ((p = next_comment(text, &pos, &n))) {
		cleanup_free char *inside = ga_strndup(p, n);

		if (ga_strmap_first(&known, p, n) < 0 && is_directive(inside)) {
			fire_text(k, "a comment", inside + strspn(inside, " \t\n"));
			return;
		}
	}
}

/* Is it a link definition as used for comments? One that nothing refers to is not rendered. */
static bool is_definition(const char *line)
{
	static const char *const forms[] = { "[//]: #", "[comment]: #", "[comment]: <>", "[#]: #" };

	for (size_t i = 0; i < GA_NELEMS(forms); i++)
		if (!strncasecmp(line, forms[i], strlen(forms[i])))
			return true;
	return false;
}

/* Is it a key of a front matter that lets the agent run something? */
static bool is_front_matter(const char *line)
{
	static const char *const keys[] = { "hooks:", "allowed-tools:", "mcpServers:",
					    "permissionMode:", "tools:" };

	for (size_t i = 0; i < GA_NELEMS(keys); i++)
		if (!strncmp(line, keys[i], strlen(keys[i])))
			return true;
	return false;
}

/* Where a line of a document is. */
enum place { PROSE, SHELL, OTHER_CODE };

static void follow_fence(enum place *at, const char *line)
{
	const char *lang = line + strspn(line, " \t>");

	if (strncmp(lang, "```", 3) != 0 && strncmp(lang, "~~~", 3) != 0)
		return;
	lang += strspn(lang, "`~");
	if (*at != PROSE)
		*at = PROSE;
	else
		*at = ga_has_word_n("sh bash shell console zsh fish powershell", lang,
				    strcspn(lang, " {")) ? SHELL : OTHER_CODE;
}

/* The suspicious part of an added line of prose, as text; NULL: none. */
static const char *find_suspicious(const char *line, enum place at)
{
	static const char *const commands[] = { " ./", "`./", "`sh ", "`bash ", "`curl ", "`wget ",
						"`sudo ", "`eval ", "`npx ", "`python", "`node ",
						"`chmod ", "`rm " };
	static const char *const lifting[] = {
		"ignore previous", "ignore all", "ignore any", "disregard", "without asking",
		"without confirm", "do not ask", "don't ask", "never ask", "no need to ask",
		"skip the test", "skip review", "skip hooks", "--no-verify", "auto-approve",
		"dangerously", "bypass", "do not mention", "don't mention", "do not tell",
		"don't tell", "secretly", "silently", "sandbox", "credential", "password",
		"api key", "api_key", "secret key", "access token", "always run", "must run",
		"run this", "execute ",
	};

	if (at == SHELL && line[strspn(line, " \t#")])
		return "a command";
	if (GA_FINDS_ANY(strstr, line, commands) || !strncmp(line + strspn(line, " \t"), "$ ", 2))
		return "a command";
	if (strstr(line, "http://") || strstr(line, "https://"))
		return "an address";
	if (GA_FINDS_ANY(strcasestr, line, lifting))
		return "words that lift a rule";
	return NULL;
}

/* Raise a change of prose to high if a line is suspicious. */
static void check_prose(struct ga_inspect *k, const struct ga_buf *text, const struct ga_buf *added)
{
	cleanup_strmap struct ga_strmap new = GA_STRMAP_INIT;
	enum place at = PROSE;
	const char *s, *what;
	size_t n, pos = 0;

	while ((s = ga_buf_next_line(added, &pos, &n)))
		ga_strmap_add(&new, s, n, 0);
	pos = 0;
	while ((s = ga_buf_next_line(text, &pos, &n))) {
		cleanup_free char *line = ga_strndup(s, n);
		struct ga_buf b = GA_BUF_INIT;

		what = ga_strmap_first(&new, s, n) < 0 ? NULL : find_suspicious(line, at);
		follow_fence(&at, line);
		if (!what)
			continue;
		ga_buf_addf(&b, "%s: ", what);
		ga_risk_quote_start(&b, line + strspn(line, " \t"));
		ga_add_detail(k, "instruction-files", GA_HIGH, ga_buf_steal(&b));
		return;
	}
}

void ga_text_hidden(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text,
		    const struct ga_buf *added)
{
	/* what an agent reads once it is asked to: skills, commands, rules */
	static const char bodies[] = "claude-code-dirs agents-dir gemini opencode codex "
				     "agents-other cursor-rules copilot";
	const char *dot = strrchr(k->base, '.');
	cleanup_free char *copy = NULL;
	char *save = NULL;
	bool runs = false;

	if (!ga_text_is_for_agents(k))
		return;
	check_comments(k, old, text);
	if (ga_has_fired(k, "instruction-files"))
		check_prose(k, text, added);
	copy = ga_strdup(added->ptr);
	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strstr(l, "!`"))
			fire_text(k, "a command that loading it runs", l);
		else if (is_front_matter(l))
			fire_text(k, "tools or hooks", l);
		else if (is_definition(l) && is_directive(l))
			fire_text(k, "a definition", l);
		runs |= strstr(l, "!`") || is_front_matter(l);
	}
	if (!runs && dot && ga_has_word("md mdc txt", dot + 1))
		ga_cap_rules(k, bodies, GA_MEDIUM);
}

enum { TOKEN_MAX = 64, RUN_LOOKED_AT = 256 };

static bool is_bidi(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x61c;
}

static bool is_hidden(uint32_t before, uint32_t c, const char *next, const char *end)
{
	uint32_t after = 0;

	if (!ga_is_invisible(c) || is_bidi(c))
		return false;
	if (next < end && !ga_utf8_decode(next, (size_t)(end - next), &after))
		after = 0;
	return ga_is_hidden(before, c, after);
}

static bool redraws(uint32_t c, const char *next)
{
	return c == 0x1b || c == 0x07 || c == 0x08 || (c >= 0x80 && c <= 0x9f) ||
	       (c == '\r' && *next != '\n' && *next);
}

static bool in_token(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Does the word around byte `at` mix scripts: is it Latin except for letters that only look Latin,
 * or are letters of other scripts next to Latin ones? `*ret_end` is the end of the word, or of the
 * part that is checked. */
static bool disguised(const char *s, size_t n, size_t at, size_t *ret_end)
{
	size_t from = at, to = at, len;
	bool latin = false, all = true, mixed = false;
	unsigned scripts = 0;
	uint32_t c;

	while (from && at - from < TOKEN_MAX && in_token(s[from - 1]))
		from--;
	while (to < n && to - at < TOKEN_MAX && in_token(s[to]))
		to++;
	*ret_end = to;
	for (size_t i = from; i < to; i += len) {
		len = ga_utf8_decode(s + i, to - i, &c);
		if (!len) /* cut in two by the limit */
			return false;
		latin |= isalpha((unsigned char)s[i]) != 0;
		all = all && (len == 1 || ga_lookalike(c));
		scripts = ga_script_of(c) ? scripts | ga_script_of(c) : 0;
		mixed |= scripts == (GA_SCRIPT_LATIN | GA_SCRIPT_OTHER);
	}
	return mixed || (latin && all);
}

void ga_text_characters(struct ga_inspect *k, const struct ga_buf *added)
{
	bool mixed = false;
	size_t looked = 0;
	uint32_t c, before = 0, bidi = 0, hidden = 0, control = 0;
	const char *s = added->ptr;

	for (size_t i = 0, len; i < added->len; i += len, before = c) {
		c = (unsigned char)s[i];
		len = 1;
		if (c >= ' ' && c < 0x7f)
			continue; /* nearly all there is */
		len = ga_utf8_decode(s + i, added->len - i, &c);
		if (!len) {
			len = 1;
			c = 0;
			continue;
		}
		if (!bidi && is_bidi(c))
			bidi = c;
		if (!hidden && is_hidden(before, c, s + i + len, s + added->len))
			hidden = c;
		if (!control && redraws(c, s + i + len))
			control = c;
		if (!mixed && i >= looked && len > 1 &&
		    (ga_lookalike(c) || ga_script_of(c) == GA_SCRIPT_OTHER))
			mixed = disguised(s, added->len, i, &looked);
	}
	if (mixed)
		ga_fire_rule(k, "homoglyph-identifier", NULL);
	if (bidi)
		ga_fire_rule(k, "bidi-controls", ga_strf("U+%04X", (unsigned)bidi));
	if (hidden)
		ga_fire_rule(k, "invisible-chars", ga_strf("U+%04X", (unsigned)hidden));
	if (control)
		ga_fire_rule(k, "control-escape", ga_strf("U+%04X", (unsigned)control));
}

static bool encoded(const char *line, size_t n)
{
	size_t run = 0, solid = 0, blank = 0;

	if (n <= 200)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)line[i];
		bool space = c == ' ' || c == '\t';

		run = isalnum(c) || strchr("+/=_-", c) ? run + 1 : 0;
		solid = space ? 0 : solid + 1;
		if (run >= 512 || (solid == RUN_LOOKED_AT &&
				      /* more than 5.5 bits each: it looks random */
				      ga_secret_entropy(line + i + 1 - solid, solid) >
					      RUN_LOOKED_AT * 5632))
			return true;
		if (!space && blank > 200)
			return true;
		blank = space ? blank + 1 : 0;
	}
	return false;
}

static bool imports_outside(const char *line)
{
	static const char *const forms[] = { "@/", "@~/", "@../" };

	for (size_t i = 0; i < GA_NELEMS(forms); i++)
		for (const char *p = line; (p = strstr(p, forms[i])); p++)
			if (p == line || strchr(" \t(`\"'", p[-1]))
				return true;
	return false;
}

void ga_text_lines(struct ga_inspect *k, const struct ga_buf *added)
{
	static const char *const plugin_keys[] = { "\"plugins\"", "\"extends\"", "node_modules" };
	bool agents = ga_text_is_for_agents(k), tsconfig = !strncmp(k->base, "tsconfig", 8);
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	const char *start;

	for (size_t pos = 0, n; (start = ga_buf_next_line(added, &pos, &n));) {
		if (encoded(start, n))
			ga_fire_rule(k, "obfuscated-blob", NULL);
		ga_buf_clear(&line);
		ga_buf_add(&line, start, n);
		if (!strncmp(line.ptr, "<<<<<<< ", 8) || !strncmp(line.ptr, ">>>>>>> ", 8))
			ga_fire_rule(k, "merge-markers", NULL);
		if (agents && imports_outside(line.ptr))
			ga_text_quote(k, "import-of-outside", line.ptr);
		if (tsconfig && GA_FINDS_ANY(strcasestr, line.ptr, plugin_keys))
			ga_text_quote(k, "ts-plugins", line.ptr);
	}
	ga_text_dangers(k, added);
}

static bool is_modeline(const char *line)
{
	static const char *const editors[] = { "vim:", "vi:", "ex:" };

	for (size_t i = 0; i < GA_NELEMS(editors); i++)
		for (const char *p = line; (p = strstr(p, editors[i])); p++)
			if ((p == line || p[-1] == ' ' || p[-1] == '\t') &&
			    (strchr(p, '=') || strstr(p, "set ") || strstr(p, "se ")))
				return true;
	return strstr(line, "-*-") && strcasestr(line, "eval:");
}

static void check_modeline(struct ga_inspect *k, const struct ga_buf *old, const char *s, size_t n)
{
	cleanup_free char *line = memchr(s, ':', n) ? ga_strndup(s, n) : NULL;

	if (line && is_modeline(line) && (!old->len || !memmem(old->ptr, old->len, s, n)))
		ga_text_quote(k, "editor-modeline", line);
}

void ga_text_modelines(struct ga_inspect *k, const struct ga_buf *old, const struct ga_buf *text)
{
	const char *s = text->ptr, *end = s + text->len;
	const char *tail;

	for (int i = 0; i < 5 && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;

		check_modeline(k, old, s, (size_t)(stop - s));
		s = nl ? nl + 1 : end;
	}
	if (end > text->ptr && end[-1] == '\n')
		end--;
	for (int i = 0; i < 5 && end > s; i++) {
		const char *nl = memrchr(s, '\n', (size_t)(end - s));
		const char *start = nl ? nl + 1 : s;

		check_modeline(k, old, start, (size_t)(end - start));
		end = nl ? nl : s;
	}
	/* Emacs looks for a list of variables in the last 3000 characters */
	tail = text->len > 3000 ? text->ptr + text->len - 3000 : text->ptr;
	tail = strstr(tail, "Local Variables:");
	if (tail && (strstr(tail, "eval:") || strstr(tail, "compile-command:")) &&
	    !(old->len && memmem(old->ptr, old->len, tail, strlen(tail))))
		ga_fire_rule(k, "editor-modeline", ga_strdup("Emacs local variables"));
}
