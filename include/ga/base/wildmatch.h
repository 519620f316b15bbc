/* SPDX-License-Identifier: MIT
 *
 * Pattern matching as in gitignore(5), on text alone; shared by ignore rules and risk rules.
 */
#pragma once

#include <stdbool.h>

/* Does `text` match `pattern` as in git's wildmatch with WM_PATHNAME: '*' and '?' do not match '/',
 * a whole component "**" matches any number of components, [a-z], [!a], [[:class:]] and backslash
 * work, and a leading dot is not special? The time is linear in the text for each '*' in the
 * pattern, never exponential. */
bool ga_wildmatch(const char *pattern, const char *text, bool icase);

/* Can this pattern be configured? It is a .gitignore pattern on one line, of at most 256 bytes,
 * without '!', braces, backslashes and ", " (the separator of lists). */
bool ga_pattern_ok(const char *pattern);
