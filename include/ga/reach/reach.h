/* SPDX-License-Identifier: MIT
 *
 * Files of a repository that the host executes automatically: through git hooks, git configuration,
 * direnv and the user's environment. Only files in the host's working tree are read.
 *
 * Nothing is interpreted. Every word in an executed position is a pattern, and so is every name
 * that could be started; so more is reached than would run, never less. Files that match are read
 * for more words, in HEAD's tree, by the same rule. Bounded; where a limit is hit, everything
 * counts as reached.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/strmap.h"
#include "ga/repo/repo.h"

/* The moment at which it takes effect. */
enum ga_reach_when {
	GA_REACH_PUSH,   /* on a push, or when patches are sent */
	GA_REACH_COMMIT, /* when the user commits */
	GA_REACH_GIT,    /* on any git command, or without one */
};

enum ga_reach_what {
	GA_REACH_FILE,   /* this path, and whatever replaces a parent directory */
	GA_REACH_BELOW,  /* this directory, and everything beneath it; "": everything */
	GA_REACH_GIVEN,  /* every path that ends in this pattern (ga/base/wildmatch.h) at a '/' */
	GA_REACH_BARE,   /* the same, if the file can be started */
	GA_REACH_RULE,   /* the files of this rule (ga/risk/risk.h) */
	GA_REACH_SCRIPT, /* the script of this name of any package.json */
	GA_REACH_PROJECT,   /* no path: a hook runs tests or the program, see `why` */
};

struct ga_reached {
	enum ga_reach_what what;
	enum ga_reach_when when;
	const char *rule; /* the rule that says so: static */
	char *text;       /* owned */
	char *why;        /* owned; quoted, one line */
};
struct ga_reach {
	struct ga_reached *v;
	size_t n, cap;
	struct ga_strmap by_text; /* index into `v` */
};
#define GA_REACH_INIT                                                                              \
	{                                                                                          \
		.v = NULL                                                                          \
	}
void ga_reach_release(struct ga_reach *h);
#define cleanup_reach cleanup_(ga_reach_release)

/* Add one, unless it is listed already with the same or a worse moment. */
void ga_reach_add(struct ga_reach *h, enum ga_reach_what what, enum ga_reach_when when,
		  const char *rule, const char *text, const char *why);

/* Gather everything except .envrc files below the top. `c`: the repository's configuration. */
int ga_reach_gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_reach *ret,
		    struct ga_error *err);
/* Gather what the .envrc files above changed paths reach, except the one at the top. */
int ga_reach_envrc(struct ga_repo *r, const struct ga_changes *changes, struct ga_reach *ret,
		   struct ga_error *err);

/* Add what a superproject's reach `of` contains beneath its submodule at `path`. */
void ga_reach_extend(struct ga_reach *h, const struct ga_reach *of, const char *path);

/* Does the pattern match the last components of the path? */
bool ga_reach_matches_end(const char *path, const char *pattern);
/* Does its extension make it a script, which can be started without an executable bit? */
bool ga_reach_is_script(const char *path);
/* The first checker or test runner that shell text calls; owned. NULL: none. */
char *ga_reach_find_check(const char *text);

/* The moment at which a hook of this name runs; false if git has no such client-side hook.
 */
bool ga_reach_hook(const char *name, enum ga_reach_when *ret);
