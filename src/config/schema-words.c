/* SPDX-License-Identifier: MIT
 *
 * Check the syntax of values.
 */
#include <ctype.h>
#include <string.h>

#include "schema.h"

static size_t name_length(const char *text)
{
	size_t n = 0;

	while (isalpha((unsigned char)text[n]) || text[n] == '_' ||
	       (n && isdigit((unsigned char)text[n])))
		n++;
	return n;
}

/* Environment variables that we always set inside. */
static bool is_reserved(const char *text, size_t n)
{
	static const char names[] =
		"HOME PATH USER LOGNAME SHELL PWD IS_SANDBOX GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR "
		"GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES "
		"GIT_NAMESPACE";

	return ga_has_word_n(names, text, n) || (n >= 10 && !strncmp(text, "GIT_AGENT_", 10));
}

bool config_is_variable(const char *text)
{
	size_t n = name_length(text);

	return n && !is_reserved(text, n) && (!text[n] || !strcmp(text + n, "*"));
}

bool config_is_assignment(const char *text)
{
	size_t n = name_length(text);

	return n && !is_reserved(text, n) && text[n] == '=' && strlen(text) <= (size_t)32 << 10;
}
