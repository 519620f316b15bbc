/* SPDX-License-Identifier: MIT
 *
 * Words of a text that name what it executes. Nothing is interpreted: no branch is chosen, no
 * command is run, and unknown values stay unknown. So there are more words than a run would use,
 * and the set of words is still small.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/buf.h"
#include "ga/base/strv.h"

enum ga_word_kind {
	GA_WORD_GIVEN,  /* a path, given to something that executes it whatever it is */
	GA_WORD_BARE,   /* a path that is executed only if it can be: started, or merely named */
	GA_WORD_PATH,   /* a directory that commands are looked up in */
	GA_WORD_MODULE, /* a module, its name with '/' between components */
	GA_WORD_TOOL,   /* a command by its name; `more`: the words after it, with blanks between */
};

/* Paths are as written, but for what was expanded: relative to anything, or absolute. Parts that
 * are not known are "*", which matches within one component; a glob stays one. */
struct ga_words {
	struct ga_word {
		enum ga_word_kind kind;
		char *text, *more;
	} * v;
	size_t n, cap;
	struct ga_strv dirs; /* directories that it changes to */
	bool cut;            /* the text is longer than the limit */
};
void ga_words_release(struct ga_words *w);
#define cleanup_words cleanup_(ga_words_release)
void ga_words_add(struct ga_words *w, enum ga_word_kind kind, const char *text, const char *more);

/* What is not known of a path that is given to ga_words_add_path(). */
enum { GA_WORD_UNKNOWN = '\4' };
/* Add a path as a word; one that would match anything is left out. */
void ga_words_add_path(struct ga_words *w, enum ga_word_kind kind, const char *path,
		       const char *home);
/* Add a module by the name that a language has for it: "a.b", "..a", "A::B", or a path. */
void ga_words_add_module(struct ga_words *w, const char *name);
/* Does the word look like a path or the name of a script? */
bool ga_word_like_script(const char *word);

/* ---- commands (words.c) ----------------------------------------------------- */

enum ga_command_kind {
	GA_COMMAND_OTHER,
	GA_COMMAND_QUIET,       /* only reads, prints or moves what it is given */
	GA_COMMAND_CHECK,       /* formats or checks it, and may load what options name */
	GA_COMMAND_SHELL,       /* executes a file, or the text after -c */
	GA_COMMAND_INTERPRETER, /* executes a file, or a module */
	GA_COMMAND_SOURCE,      /* executes its arguments in this shell */
	GA_COMMAND_EVAL,   /* executes its arguments as text */
	GA_COMMAND_CODE,   /* the same in another language: an interpreter's -c */
	GA_COMMAND_MODULE, /* imports its arguments: an interpreter's -m */
	GA_COMMAND_WRAPPER, /* a command follows its options */
	GA_COMMAND_XARGS,   /* the same, with arguments from its input */
	GA_COMMAND_PARTS,   /* executes what is in a directory */
	GA_COMMAND_CD,
	GA_COMMAND_PATH,  /* puts its arguments on PATH */
	GA_COMMAND_VALUE, /* its arguments may be assignments */
};
enum ga_command_kind ga_command_kind(const char *name);
/* A file that a command of an .envrc reads without being given one, or NULL: "use flake". */
const char *ga_command_files(const char *name, const char *first);

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
/* The values of a variable; without any, one unknown value. */
void ga_shell_values(const struct ga_shell *s, const char *name, size_t n, struct ga_strv *ret);
/* Parse text, and call ga_shell_run() for each of its commands. */
void ga_shell_text(struct ga_shell *s, const char *text);
/* The command whose first word is at `at`. `input`: what comes by a pipe, or NULL. */
void ga_shell_run(struct ga_shell *s, const struct ga_command *c, size_t at,
		  const struct ga_strv *input);
/* What a command prints may be any of its words from `at` on, or what is in a directory that it
 * lists. Without `all`: only words like paths, unless it prints what it reads. */
void ga_shell_printed(const struct ga_command *c, size_t at, bool all, struct ga_strv *ret);
void ga_command_release(struct ga_command *c);
