/* SPDX-License-Identifier: MIT
 *
 * Text that coding agents obey: what it has them do, and what a person who looks at the rendered
 * page does not see.
 */
#include <string.h>

#include "risk/content.h"

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

static void fire(struct ga_look *k, const char *what, const char *text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_addf(&b, "%s: ", what);
	ga_risk_quote_start(&b, text);
	/* an issue template is not meant for agents: its visible text is only medium */
	if (ga_look_fired(k, "issue-templates"))
		ga_look_fire_as(k, "hidden-instruction", GA_HIGH, ga_buf_steal(&b));
	else
		ga_look_fire(k, "hidden-instruction", ga_buf_steal(&b));
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
static void check_comments(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text)
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
			fire(k, "a comment", inside + strspn(inside, " \t\n"));
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

/* Where a line of a document stands. */
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

/* What an added line of prose has that asks for a look: NULL if nothing. */
static const char *telling(const char *line, enum place at)
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

/* Make what changed in prose high if a line of it asks for a look. */
static void check_prose(struct ga_look *k, const struct ga_buf *text, const struct ga_buf *added)
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

		what = ga_strmap_first(&new, s, n) < 0 ? NULL : telling(line, at);
		follow_fence(&at, line);
		if (!what)
			continue;
		ga_buf_addf(&b, "%s: ", what);
		ga_risk_quote_start(&b, line + strspn(line, " \t"));
		ga_look_say(k, "instruction-files", GA_HIGH, ga_buf_steal(&b));
		return;
	}
}

void ga_text_hidden(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text,
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
	if (ga_look_fired(k, "instruction-files"))
		check_prose(k, text, added);
	copy = ga_strdup(added->ptr);
	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strstr(l, "!`"))
			fire(k, "a command that loading it runs", l);
		else if (is_front_matter(l))
			fire(k, "tools or hooks", l);
		else if (is_definition(l) && is_directive(l))
			fire(k, "a definition", l);
		runs |= strstr(l, "!`") || is_front_matter(l);
	}
	if (!runs && dot && ga_has_word("md mdc txt", dot + 1))
		ga_look_cap(k, bodies, GA_MEDIUM);
}
