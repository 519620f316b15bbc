/* SPDX-License-Identifier: MIT
 *
 * What the host executes of a repository by itself: by its git hooks, the git configuration,
 * direnv, and the user's own environment. Only files of the host are read, as they are in its
 * working tree.
 *
 * Nothing is interpreted. Every word that is given to be executed is a pattern, and so is every
 * name that is met and could be started; so more is reached than would run, and nothing less. Files
 * that match are read for more words, in HEAD's tree, by the same rule. Bounded; where something is
 * not followed to its end, everything is reached.
 */
#ifndef GA_REACH_H
#define GA_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/strmap.h"
#include "ga/repo/repo.h"

/* The moment at which it takes effect. */
enum ga_reach_when {
	GA_REACH_PUSH,   /* when something is pushed or sent */
	GA_REACH_COMMIT, /* when the user commits */
	GA_REACH_GIT,    /* by any git command, or without one */
};

enum ga_reach_what {
	GA_REACH_FILE,   /* this path, and what is put in the place of a directory above it */
	GA_REACH_BELOW,  /* this directory, and everything beneath it; "": everything */
	GA_REACH_GIVEN,  /* every path that ends in this pattern (ga/base/wildmatch.h) at a '/' */
	GA_REACH_BARE,   /* the same, if the file can be started */
	GA_REACH_RULE,   /* the files of this rule (ga/risk/risk.h) */
	GA_REACH_SCRIPT, /* the script of this name of any package.json */
	GA_REACH_SAID,   /* nothing more: a hook runs tests or the program, as `why` says */
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

/* Add one, unless it is there already at that moment or a worse one. */
void ga_reach_add(struct ga_reach *h, enum ga_reach_what what, enum ga_reach_when when,
		  const char *rule, const char *text, const char *why);

/* Gather all of it, except for .envrc files below the top. `c`: the repository's configuration. */
int ga_reach_gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_reach *ret,
		    struct ga_error *err);
/* Gather what the .envrc files above changed paths reach, but for the top's. */
int ga_reach_envrc(struct ga_repo *r, const struct ga_changes *changes, struct ga_reach *ret,
		   struct ga_error *err);

/* Add what another repository's reach says of a submodule of it at `path`. */
void ga_reach_extend(struct ga_reach *h, const struct ga_reach *of, const char *path);

/* Does the path end in the pattern, from the beginning of a component on? */
bool ga_reach_ends_so(const char *path, const char *pattern);
/* Is it a script by its name's end, so that something may start it without a mode? */
bool ga_reach_is_script(const char *path);
/* The first tool that shell text calls to check something, or to run tests; owned. NULL: none. */
char *ga_reach_check_in(const char *text);

/* The moment at which a hook of this name runs; false: git has no such hook on the client's side.
 */
bool ga_reach_hook(const char *name, enum ga_reach_when *ret);

#endif
