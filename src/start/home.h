/* SPDX-License-Identifier: MIT
 *
 * What the files about the agents' home share.
 */
#ifndef START_HOME_H
#define START_HOME_H

#include <sys/types.h>

#include "ga/agents.h"
#include "ga/error.h"
#include "ga/start.h"

/* Replace or make the file `rel` beneath the directory `home`, with what is on the way (0700). No
 * link is followed; one in place of the file itself is replaced. Not waited for. */
int home_write(int home, const char *rel, const void *p, size_t n, mode_t mode,
	       struct ga_error *err);

/* home.c: the home of e->home_mode made if it is not there, and its lock held shared. */
int home_open(const struct ga_start_env *e, int *ret_lock, struct ga_error *err);
/* The same, of the one that sessions share. */
int home_open_shared(const struct ga_start_env *e, int *ret_lock, struct ga_error *err);

/* agents.c: the directory outside the agents' reach where it is noted what the user installed. */
char *agents_notes(const struct ga_start_env *e);
/* Is there a program of that name that agents installed? */
bool agents_own(const struct ga_start_env *e, const char *name);
/* Is there anything of the agent's in the home of sessions? */
bool agents_has_state(const struct ga_start_env *e, const struct ga_preset *p);
/* Fill what of `ret` is about logging in. */
void agents_look_at_login(const struct ga_start_env *e, const struct ga_preset *p,
			  struct ga_agents_found *ret);

/* home-logins.c: of each login that the agents' home and another have, the one that changed last
 * becomes the other's, too; what one lacks it gets. */
int home_share_logins(const struct ga_start_env *e, const char *other, struct ga_error *err);

/* home-notes.c: what tells agents where they are, in the home `dir`: a file of our own, and if
 * the agent (NULL: it is none) reads one before each task, that, unless somebody wrote it. */
#define HOME_NOTES ".git-agent-notes.md"
int home_write_notes(const char *dir, const struct ga_preset *p, struct ga_error *err);

/* home-versions.c: the versions of tools that the user's own home says, into the home `dir` as far
 * as it has none. */
int home_bring_versions(const char *user, const char *dir, struct ga_error *err);

/* Git's identity and habits from the user's configuration, if the home `dir` has no configuration
 * of git's. */
int home_bring_git(const char *dir, const struct ga_gitconfig *c, struct ga_error *err);

#endif
