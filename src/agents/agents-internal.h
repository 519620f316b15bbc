/* SPDX-License-Identifier: MIT
 *
 * What files of this folder share.
 */
#ifndef AGENTS_INTERNAL_H
#define AGENTS_INTERNAL_H

#include "ga/agents/agents.h"

/* agents.c: the directory, out of reach of agents, with notes of which versions the user
 * installed. */
char *agents_notes(const struct ga_env *e);
/* Does the home have a program of that name that agents installed? */
bool agents_own(const struct ga_env *e, const char *name);
/* Where a command is on the host, or NULL. An agent is also looked for where installers put it; if
 * it is there, `*ret_place` (`ret_place` may be NULL) is that directory. Caller frees both. */
char *agents_find_command(const struct ga_env *e, const char *command, char **ret_place);
/* Fill the members of `ret` about logging in. */
void agents_look_at_login(const struct ga_env *e, const struct ga_preset *p,
			  struct ga_agents_found *ret);

#endif
