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
};

/* The preset of a command word (exactly its name, no path), or NULL. */
const struct ga_preset *ga_preset_find(const char *command);
/* All of them, one after the other; NULL behind the last. */
const struct ga_preset *ga_preset_at(size_t i);

#endif
