/* SPDX-License-Identifier: MIT
 *
 * What is run: which program a command word means, and its arguments.
 */
#ifndef GA_COMMAND_H
#define GA_COMMAND_H

#include "ga/view/env.h"

struct ga_agents_command {
	const struct ga_preset *preset; /* the command's preset, or NULL; belongs to ga_env or
					 * is built in */
	struct ga_strv argv;    /* command with the preset's flags */
	size_t own_words;       /* number of words of `argv` before the user's own */
	bool at_prompt;         /* as far as its words tell, it begins by waiting for the user, or
				 * with a prompt and then waiting */
	char *own;              /* the program inside to run instead of argv's first word; NULL:
				 * look that up in PATH */
};
void ga_agents_command_release(struct ga_agents_command *c);
/* Fill preset and argv: the command with the words of its preset; with `again` those that resume an
 * agent. */
void ga_agents_make_command(const struct ga_env *e, char *const *argv, size_t argc,
			    bool again, struct ga_agents_command *ret);
/* Add a first task to the arguments of the agent, as it takes one. */
int ga_agents_add_task(const char *task, struct ga_agents_command *c, struct ga_error *err);
/* Fail early, on the host, for a command that is nowhere: a session made for nothing would have to
 * be cleaned up. If an agent is found outside of PATH, its directory is added to e->path; if the
 * user installed it in the agents' home, it is c->own. */
int ga_agents_check_command(struct ga_env *e, struct ga_agents_command *c, struct ga_error *err);
/* Where the agent starts: the user's current directory if it is in the project, else the project's
 * root. The caller frees it. */
char *ga_agents_cwd(const char *project);

#endif
