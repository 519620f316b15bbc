/* SPDX-License-Identifier: MIT
 *
 * What a coding agent reads in a file and a person who looks at the rendered page does not.
 */
#include <string.h>

#include "ga/quote.h"
#include "text.h"

/* Words of somebody who wants something done, concealed or overridden. */
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
	size_t n = strlen(text);

	ga_buf_addf(&b, "%s: ", what);
	ga_quote_add(&b, text, n > 100 ? 100 : n);
	if (n > 100)
		ga_buf_adds(&b, "...");
	/* what shows in it is medium, as little as it is meant for agents */
	if (ga_look_fired(k, "issue-templates"))
		ga_look_fire_as(k, "hidden-instruction", GA_HIGH, ga_buf_steal(&b));
	else
		ga_look_fire(k, "hidden-instruction", ga_buf_steal(&b));
}

/* The inside of the next comment from `*pos`; one that does not end goes to the end of the text. */
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

/* A comment as a whole: what is new in it may be a line that begins none. */
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

/* A definition that nothing refers to is not rendered. */
static bool is_definition(const char *line)
{
	static const char *const forms[] = { "[//]: #", "[comment]: #", "[comment]: <>", "[#]: #" };

	for (size_t i = 0; i < GA_NELEMS(forms); i++)
		if (!strncasecmp(line, forms[i], strlen(forms[i])))
			return true;
	return false;
}

/* Keys of a front matter that let the agent run something. */
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
