/* SPDX-License-Identifier: MIT
 *
 * Shell text while it is read (text.c) and its commands (shell.c).
 */
#ifndef GA_REACH_SHELL_H
#define GA_REACH_SHELL_H

#include "words.h"

enum { GA_SHELL_DEPTH_MAX = 12, GA_SHELL_ALTERNATIVES_MAX = 32, GA_SHELL_VALUES_MAX = 20000,
       GA_SHELL_WORK_MAX = 200000 };

struct ga_shell {
	const char *home;
	struct ga_words *out; /* NULL: only values are collected */
	struct ga_strv names, values; /* of variables, parallel: one may have several */
	struct ga_strv read; /* variables that `read` sets */
	int nested, depth;
	size_t work;
	bool cut;
};
struct ga_command {
	struct ga_strv *v; /* words, each all that it may be */
	size_t n, cap;
	struct ga_strv inputs; /* files that "<" names */
};

/* The length of a variable's name. */
size_t ga_shell_name(const char *s);
/* The values of a variable; one that is not known if there is none. */
void ga_shell_values(const struct ga_shell *s, const char *name, size_t n, struct ga_strv *ret);
/* Look at text: ga_shell_run() is called for each of its commands. */
void ga_shell_text(struct ga_shell *s, const char *text);
/* The command whose first word stands at `at`. `input`: what comes by a pipe, or NULL. */
void ga_shell_run(struct ga_shell *s, const struct ga_command *c, size_t at,
		  const struct ga_strv *input);
/* What a command prints may be any of its words from `at` on, or what is in a directory that it
 * lists. Without `all`: only words like paths, unless it prints what it reads. */
void ga_shell_printed(const struct ga_command *c, size_t at, bool all, struct ga_strv *ret);
void ga_command_release(struct ga_command *c);

#endif
