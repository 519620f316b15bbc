/* SPDX-License-Identifier: MIT
 *
 * Shell text as simple commands. Quotes are removed and parts that depend on a run are marked.
 */
#ifndef GA_REACH_LEX_H
#define GA_REACH_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/strv.h"

/* In a word: a variable's name, or the text of a substitution, between a mark and GA_LEX_END. */
enum { GA_LEX_VARIABLE = '\1', GA_LEX_SUBSTITUTION = '\2', GA_LEX_END = '\3' };

struct ga_simple {
	struct ga_strv words, inputs; /* `inputs`: files that "<" names */
	bool piped;                   /* its output goes to the next */
};
struct ga_lexed {
	struct ga_simple *v;
	size_t n, cap;
	struct ga_strv substitutions; /* their texts: "$(...)", "`...`", "<(...)" */
	bool cut;
};
void ga_lexed_release(struct ga_lexed *x);
#define cleanup_lexed cleanup_(ga_lexed_release)
/* `text` has none of the marks. `make`: "$(NAME)" is a variable, and "$$" a dollar. */
void ga_lex(const char *text, bool make, struct ga_lexed *ret);

#endif
