/* SPDX-License-Identifier: MIT
 *
 * Patterns with the meaning gitignore(5) gives them, as text: shared by ignore
 * rules and risk rules.
 */
#ifndef GA_WILDMATCH_H
#define GA_WILDMATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Does `text` match `pattern` as git's wildmatch with WM_PATHNAME does: '*' and
 * '?' do not match '/', a whole component "**" matches any number of
 * components, [a-z], [!a], [[:class:]] and backslash work, a leading dot is
 * nothing special? Runs in time linear in the text for each '*' in the
 * pattern, never exponential. */
bool ga_wildmatch(const char *pattern, const char *text, bool icase);

/* Can this be a pattern that somebody configures? As in .gitignore, on one line, of at most 256
 * bytes, but without '!', braces, backslashes and ", ", which lists of them are parted by. */
bool ga_pattern_ok(const char *pattern);

#endif
