/* SPDX-License-Identifier: MIT
 *
 * What is known about common agents: flags that suit a sandbox, the keys they need from the
 * environment, and what they keep in a home.
 */
#ifndef GA_PRESET_H
#define GA_PRESET_H

#include <stdbool.h>

#include "ga/strv.h"

struct ga_preset {
	const char *name;
	const char *const *flags; /* NULL-terminated; go between the command and its arguments */
	const char *const *resume; /* the same, before those: to go on with the last conversation;
				    * empty if it has no such words */
	bool resume_args;         /* they may be followed by any arguments; else by none */
	/* NULL-terminated names of environment variables it may see: those of which one does for a
	 * login, and others */
	const char *const *keys, *const *pass;
	const char *const *set;   /* NULL-terminated NAME=VALUE */
	/* paths below home, NULL-terminated: all that is its own ... */
	const char *const *state;
	const char *const *logins; /* ... and the files of it that are a login and nothing else */
	const char *login;        /* words on how to log in; NULL: there is nothing to log in to */
	const char *notes;        /* the file below home that it reads before every task, or NULL */
	/* HOST:PORT that it needs to work, NULL-terminated, as the lists of `network.allow` have
	 * them: exact names, or "*.NAME" for all below one */
	const char *const *hosts;
	const char *package;      /* as npm calls it; NULL: npm does not have it */
	const char *program;      /* what is run; NULL: what is called like it */
};

/* Agents of the user's own, from the words of the setting `agents`: "NAME", or "NAME MEMBER: VALUE"
 * for each value of a member. */
struct ga_presets {
	struct ga_own_preset *v;
	size_t n, cap;
};
#define GA_PRESETS_INIT { NULL, 0, 0 }
#define GA_PRESETS_MAX 32
void ga_presets_release(struct ga_presets *p);
/* Is it such a word? `ga_preset_members` has the names of members, NULL behind the last. */
bool ga_preset_word_ok(const char *word);
extern const char *const ga_preset_members[];
/* From words that are ok; of what there can be one of the later counts. False if there are more
 * than GA_PRESETS_MAX names. */
bool ga_presets_parse(const struct ga_strv *words, struct ga_presets *ret);

/* The preset of a command word (exactly its name, no path), or NULL. The user's own (NULL: none)
 * come before what is built in. */
const struct ga_preset *ga_preset_find(const struct ga_presets *own, const char *command);
/* All of them, one after the other; NULL behind the last. */
const struct ga_preset *ga_preset_at(const struct ga_presets *own, size_t i);
const char *ga_preset_program(const struct ga_preset *p);

#endif
