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
	ga_look_fire(k, "hidden-instruction", ga_buf_steal(&b));
}

static void check_comments(struct ga_look *k, const char *text)
{
	for (const char *p = text, *end; (p = strstr(p, "<!--")); p = end) {
		cleanup_free char *inside = NULL;

		p += 4;
		end = strstr(p, "-->");
		inside = ga_strndup(p, end ? (size_t)(end - p) : strlen(p));
		if (is_directive(inside)) {
			fire(k, "a comment", inside + strspn(inside, " \t\n"));
			return;
		}
		if (!end)
			return;
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

void ga_text_hidden(struct ga_look *k, const struct ga_buf *added)
{
	cleanup_free char *copy = NULL;
	char *save = NULL;

	if (!ga_text_is_for_agents(k))
		return;
	check_comments(k, added->ptr);
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
