/* SPDX-License-Identifier: MIT
 *
 * Making bytes safe to show. Anything an agent could have chosen (names,
 * messages, link targets) passes through here before it reaches a terminal,
 * a log or an error message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/strv.h"

/* Valid UTF-8 without surrogates, overlong forms or code points over 10FFFF. */
bool ga_utf8_valid(const char *s, size_t n);

/* Decode the code point at `s`, of which `n` > 0 bytes may be read. Returns its length in bytes, 0
 * if the bytes are no valid UTF-8. */
size_t ga_utf8_decode(const char *s, size_t n, uint32_t *ret);

/* Append a code point; nothing for one above 10FFFF. A surrogate is encoded as invalid UTF-8. */
void ga_utf8_put(struct ga_buf *out, uint32_t c);

/* The number of bytes to show, at most `max`, without cutting a character in two. */
size_t ga_utf8_cut(const char *s, size_t n, size_t max);

/* Does this code point look like a space, in any script? Tab counts. */
bool ga_is_blank(uint32_t c);

/* Is the code point invisible, or does it change the writing direction (Unicode's
 * Default_Ignorable_Code_Point)? The rules and the quoting functions have no other list. */
bool ga_is_invisible(uint32_t c);
/* The same, except where text needs it between these neighbours (0: none): joiners between letters
 * of scripts that they shape and between emoji, and emoji selectors. */
bool ga_is_hidden(uint32_t before, uint32_t c, uint32_t after);

/* Append `n` bytes of `s` with everything unsafe written as an escape:
 * C0 and C1 controls and DEL as \n, \t, \e or \xNN; bytes that are no valid
 * UTF-8 as \xNN; invisible code points and line separators as \u{NNNN}; a
 * backslash as \\. Printable text, UTF-8 included, stays as it is. */
void ga_quote_add(struct ga_buf *out, const char *s, size_t n);

/* The same for text of several lines: newline, tab and code points that are invisible but not
 * hidden are kept; a backslash is not doubled. */
void ga_quote_add_text(struct ga_buf *out, const char *s, size_t n);

/* A path or name shown without quotes around it (lists, columns, notes): bare, or in double quotes,
 * with '"' escaped too, if it is empty or contains a space, a quote or anything that ga_quote_add()
 * changes. The caller frees it. */
char *ga_quote(const char *s);
/* At most `max` of the strings, each as by ga_quote(): "a, b and 3 more". The caller frees it. */
char *ga_quote_list(const struct ga_strv *sv, size_t max);
#define GA_LISTED 5 /* what most messages list */

/* A name for a message that puts it in single quotes itself: "cannot open '%s'". The result of
 * ga_quote_add() as a string; the caller frees it. */
char *ga_escape(const char *s);

/* The same two for an argument of a message: they live until the end of the enclosing block, keep
 * errno, and are cut where they are longer than any path. */
#define GA_QUOTED(s) ga_shown((s), ga_quote, (char[GA_SHOWN_MAX]){ 0 })
#define GA_ESCAPED(s) ga_shown((s), ga_escape, (char[GA_SHOWN_MAX]){ 0 })
#define GA_SHOWN_MAX 8192
const char *ga_shown(const char *s, char *(*how)(const char *s), char ret[GA_SHOWN_MAX]);

/* A word of a POSIX shell command line that is shown for copying: bare if it is plain, else in
 * single quotes. The caller frees it. */
char *ga_quote_shell(const char *s);
/* The same for all words of a command, with blanks in between. */
char *ga_quote_shell_words(const struct ga_strv *words);

/* Append `s` as git writes it between double quotes in listings and patches (core.quotePath): for
 * programs, not for a terminal. Returns whether anything was escaped: if not, git leaves the quotes
 * out. */
bool ga_quote_git_add(struct ga_buf *out, const char *s);

/* Base64 (RFC 4648, with padding). The caller frees it. */
char *ga_base64(const void *p, size_t n);

/* Decode base64 and append it to `out`. Accepts only what ga_base64() produces: no blanks, padding
 * in place, unused bits zero. Returns false, appending nothing, for anything else. */
bool ga_base64_decode(const char *s, struct ga_buf *out);
