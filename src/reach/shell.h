/* SPDX-License-Identifier: MIT
 *
 * Shell text while it is looked at.
 */
#ifndef GA_REACH_SHELL_H
#define GA_REACH_SHELL_H

#include "lex.h"
#include "words.h"

enum { GA_SHELL_DEPTH_MAX = 6 };

struct ga_shell {
	const char *home;
	bool make;
	struct ga_words *out;
	struct ga_strv names, values; /* of variables, parallel: one may have several */
	struct ga_strv read;          /* variables that `read` sets */
	struct ga_strv lists;         /* files whose lines such a variable may have */
	bool executes_lines;          /* such a variable is executed */
	int depth;
	size_t work; /* how many words were expanded */
};

/* The length of the name that an assignment begins with; 0: it is none. */
size_t ga_shell_assigned(const char *word);
void ga_shell_assign(struct ga_shell *s, const char *word);
/* All that a word may be, with GA_WORD_UNKNOWN for what is not known. */
void ga_shell_expand(struct ga_shell *s, const char *word, struct ga_strv *ret);
/* Add all paths that it may be. */
void ga_shell_add(struct ga_shell *s, enum ga_word_kind kind, const char *word);

#endif
