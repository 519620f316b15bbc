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
