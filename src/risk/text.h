/* SPDX-License-Identifier: MIT
 *
 * Rules about added text, whatever file it is in.
 */
#ifndef GA_RISK_TEXT_H
#define GA_RISK_TEXT_H

#include "internal.h"

/* Characters that deceive a reader or a terminal. */
void ga_text_characters(struct ga_look *k, const struct ga_buf *added);
/* Lines that hide something, or pull something in. `added` holds no NUL. */
void ga_text_lines(struct ga_look *k, const struct ga_buf *added);
/* dangers.c: lines that do what a person has to look at. */
void ga_text_dangers(struct ga_look *k, const struct ga_buf *added);
/* A line as patterns of dangers.def are written, and whether it has one of them (`len` bytes). */
void ga_text_canonical(const char *line, size_t n, struct ga_buf *out);
bool ga_text_finds(const char *text, const char *pattern, size_t len);
/* Append the lines from `next` on that continue the command of a shell. */
void ga_text_join(struct ga_buf *line, const struct ga_buf *text, size_t next);
/* guards.c: guards that were in the old version, and no longer are. */
void ga_text_guards(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text);
/* Prose says such things to people; what agents read may be done. */
bool ga_text_is_prose(const struct ga_look *k);
/* Fire a rule with the beginning of a line, once for a change. */
void ga_text_quote(struct ga_look *k, const char *rule, const char *line);
/* Do coding agents read the file as instructions, by what fired on its path? */
bool ga_text_is_for_agents(const struct ga_look *k);
/* If they do: instructions that a rendered page does not show. `added` holds no NUL. */
void ga_text_hidden(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text,
		    const struct ga_buf *added);
/* Settings that an editor takes from the first and last lines of the file. */
void ga_text_modelines(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text);

#endif
