/* SPDX-License-Identifier: MIT
 *
 * What a coding agent reads in a file, but a person who looks at the rendered page does not see.
 */
#include <string.h>

#include "text.h"

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
					    "permissionMode:" };

	for (size_t i = 0; i < GA_NELEMS(keys); i++)
		if (!strncmp(line, keys[i], strlen(keys[i])))
			return true;
	return false;
}

void ga_text_hidden(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text,
		    const struct ga_buf *added)
{
	cleanup_free char *copy = NULL;
	char *save = NULL;

	if (!ga_text_is_for_agents(k))
		return;
	check_comments(k, old, text);
	copy = ga_strdup(added->ptr);
	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strstr(l, "!`"))
			fire(k, "a command that loading it runs", l);
		else if (is_front_matter(l))
			fire(k, "tools or hooks", l);
		else if (is_definition(l) && is_directive(l))
			fire(k, "a definition", l);
	}
}
